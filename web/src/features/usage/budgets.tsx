/** What may be spent on a machine: the day, conversations and tasks, how much of it is used, and setting it. */
import { Trash2 } from "lucide-react";
import { useEffect, useState } from "react";
import type { Budget } from "@/gen";
import { keyOf, levelOf, partOf, subjectOf } from "@/model/budgets";
import type { Machine } from "@/model/fleet";
import { useApp } from "@/store/app";
import { loadBudgets, removeBudget, setBudget } from "@/store/budget-acts";
import { useRight } from "@/store/rights";
import { useFormats, useText } from "@/store/text";
import { IconButton } from "@/ui/button";
import { errorText } from "@/ui/label";
import { Plain } from "@/ui/plain";
import { NewBudget } from "./new-budget";

/** The budgets of every machine that is there. */
export function Budgets() {
  const fleet = useApp((app) => app.world.fleet);
  const online = fleet.filter((machine) => machine.isOnline);
  return online.map((machine) => <MachineBudgets key={machine.deviceId} machine={machine} />);
}

function MachineBudgets({ machine }: { machine: Machine }) {
  const text = useText();
  const isAdmin = useRight("admin");
  const [known, setKnown] = useState<Budget[] | null>(null);
  const [error, setError] = useState<string | null>(null);
  const { deviceId } = machine;
  const take = (work: Promise<Budget[]>) =>
    work.then(
      (budgets) => {
        setKnown(budgets);
        setError(null);
        return true;
      },
      (failure: unknown) => {
        setError(errorText(text, failure));
        return false;
      },
    );
  // biome-ignore lint/correctness/useExhaustiveDependencies: another machine is the only reason to ask again.
  useEffect(() => void take(loadBudgets(deviceId)), [deviceId]);
  if (known === null && error === null) return null;
  return (
    <section aria-label={text.budget.title(machine.name)} className="flex flex-col gap-3">
      <h2 className="text-[14px] font-semibold">
        <Plain text={text.budget.title(machine.name)} />
      </h2>
      <p className="text-[13.5px] text-muted">{known?.length === 0 ? text.budget.none : text.budget.help}</p>
      {error && (
        <p role="alert" className="text-[13.5px] text-red">
          {error}
        </p>
      )}
      {known && known.length > 0 && (
        <ul className="overflow-hidden rounded-lg border border-line">
          {known.map((budget) => (
            <BudgetRow
              key={keyOf(budget)}
              budget={budget}
              // The lines of a task stand in its file; removing them here would remove those of its conversation.
              remove={
                isAdmin && budget.scope !== "task"
                  ? () => void take(removeBudget(deviceId, budget.conversationId))
                  : undefined
              }
            />
          ))}
        </ul>
      )}
      {isAdmin ? (
        <NewBudget machine={machine} set={(id, lines) => take(setBudget(deviceId, id, lines))} />
      ) : (
        <p className="text-[13px] text-faint">{text.budget.noRight}</p>
      )}
    </section>
  );
}

const COLOURS = { fine: "bg-accent", warned: "bg-amber", spent: "bg-red" };

function BudgetRow({ budget, remove }: { budget: Budget; remove?: () => void }) {
  const text = useText();
  const formats = useFormats();
  const fleet = useApp((app) => app.world.fleet);
  const { softUsd, hardUsd } = budget;
  const { conversation, task } = subjectOf(fleet, budget);
  const name = task === undefined ? (conversation ?? text.budget.day) : text.budget.taskOf(task, conversation);
  const level = levelOf(budget);
  const lines = [
    softUsd !== undefined && text.budget.warnsAt(formats.money(softUsd)),
    hardUsd !== undefined && text.budget.endsAt(formats.money(hardUsd)),
  ].filter(Boolean);
  return (
    <li className="flex min-h-11 items-center gap-3 border-b border-line bg-surface py-2 pr-1 pl-3 text-[14px] last:border-0">
      <div className="min-w-0 flex-1">
        <div className="flex items-baseline gap-3">
          <span className="min-w-0 flex-1 truncate">
            <Plain text={name} />
          </span>
          <span className="tabular-nums">{text.budget.spent(formats.money(budget.spentUsd))}</span>
        </div>
        <div className="my-1.5 h-1.5 overflow-hidden rounded-full bg-bg">
          <div style={{ width: `${partOf(budget) * 100}%` }} className={`h-full rounded-full ${COLOURS[level]}`} />
        </div>
        <p className="text-[12.5px] text-muted">
          {lines.join(" · ")}
          {level === "warned" && ` · ${text.budget.warned}`}
          {level === "spent" && ` · ${text.budget.reached}`}
          {task !== undefined && ` · ${text.budget.inFile}`}
        </p>
      </div>
      {remove && (
        <IconButton label={text.budget.remove(name)} onClick={remove}>
          <Trash2 size={15} />
        </IconButton>
      )}
    </li>
  );
}
