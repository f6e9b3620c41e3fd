/** What belongs to no place of its own: shown for a while, or until it was read if it is about money, at the edge, over nothing that can be pressed. */
import { X } from "lucide-react";
import { useEffect } from "react";
import type { BudgetWarning } from "@/gen";
import type { Catalogue } from "@/i18n";
import type { Formats } from "@/i18n/format";
import { subjectOf } from "@/model/budgets";
import type { Fleet } from "@/model/fleet";
import type { Notice } from "@/model/notices";
import { dismissNotice } from "@/store/acts";
import { useApp } from "@/store/app";
import { useFormats, useText } from "@/store/text";
import { IconButton } from "@/ui/button";
import { refusalText } from "@/ui/label";
import { Plain } from "@/ui/plain";

const SHOWN_MS = 8_000;

export function Notices() {
  const text = useText();
  const notices = useApp((app) => app.world.notices);
  const fleet = useApp((app) => app.world.fleet);
  const formats = useFormats();
  const words = (one: Notice) => (one.budget ? budgetWords(text, formats, fleet, one.budget) : refusalText(text, one));
  const first = notices.find((one) => !one.budget)?.id;
  useEffect(() => {
    if (first === undefined) return;
    const timer = setTimeout(() => dismissNotice(first), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [first]);
  return (
    <div role="status" className="pointer-events-none fixed top-14 right-3 z-40 flex w-80 max-w-[90vw] flex-col gap-2">
      {notices.map((one) => (
        <div
          key={one.id}
          className="rise pointer-events-auto flex items-start gap-2 rounded-md border border-line-strong bg-raised py-1.5 pr-1 pl-4 text-[14px]"
        >
          <span dir="auto" className="min-w-0 flex-1 py-1.5 [overflow-wrap:anywhere]">
            <Plain text={words(one)} />
          </span>
          <IconButton label={text.nav.close} onClick={() => dismissNotice(one.id)}>
            <X size={15} />
          </IconButton>
        </div>
      ))}
    </div>
  );
}

function budgetWords(
  text: Catalogue,
  formats: Formats,
  fleet: Fleet,
  { deviceId, line, budget }: BudgetWarning,
): string {
  const { spentUsd, softUsd, hardUsd } = budget;
  const { conversation, task } = subjectOf(fleet, budget);
  const machine = fleet.find((one) => one.deviceId === deviceId)?.name ?? "";
  const amount = formats.money((line === "hard" ? hardUsd : softUsd) ?? spentUsd);
  const spent = formats.money(spentUsd);
  if (task !== undefined) {
    const name = text.budget.taskOf(task, conversation);
    return line === "hard" ? text.budget.taskSpent(name, spent, amount) : text.budget.taskWarned(name, spent, amount);
  }
  const name = conversation ?? text.budget.dayOf(machine);
  return line === "hard" ? text.budget.nowSpent(name, spent, amount) : text.budget.nowWarned(name, spent, amount);
}
