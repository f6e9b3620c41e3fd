/** Sets what may be spent: on the day or a conversation, where to warn and where nothing more begins. */
import { useState } from "react";
import { type Lines, linesOf } from "@/model/budgets";
import type { Machine } from "@/model/fleet";
import { useText } from "@/store/text";
import { Button } from "@/ui/button";

const FIELD = "min-h-11 w-full min-w-0 rounded-md border border-line-strong bg-bg px-3 text-[14px] text-ink lg:min-h-9";

export interface NewBudgetProps {
  machine: Machine;
  set: (conversationId: string | undefined, lines: Lines) => Promise<boolean>;
}

export function NewBudget({ machine, set }: NewBudgetProps) {
  const text = useText();
  const [where, setWhere] = useState("");
  const [soft, setSoft] = useState("");
  const [hard, setHard] = useState("");
  const lines = linesOf(soft, hard);
  const isSlip = typeof lines === "string";
  return (
    <form
      aria-label={text.budget.set}
      className="flex flex-wrap items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (isSlip) return;
        void set(where || undefined, lines).then((isDone) => {
          if (!isDone) return;
          setSoft("");
          setHard("");
        });
      }}
    >
      <label className="flex min-w-32 flex-[2_1_12rem] flex-col max-sm:basis-full gap-1 text-[13px] text-muted">
        {text.budget.what}
        <select value={where} onChange={(event) => setWhere(event.target.value)} className={FIELD}>
          <option value="">{text.budget.day}</option>
          {machine.workspaces.map((workspace) => (
            <optgroup key={workspace.workspaceId} label={workspace.name}>
              {workspace.conversations.map((one) => (
                <option key={one.conversationId} value={one.conversationId}>
                  {one.name}
                </option>
              ))}
            </optgroup>
          ))}
        </select>
      </label>
      <Amount label={text.budget.soft} value={soft} change={setSoft} />
      <Amount label={text.budget.hard} value={hard} change={setHard} />
      <Button kind="main" type="submit" disabled={isSlip}>
        {text.budget.set}
      </Button>
      {isSlip && lines !== "none" && (
        <p role="status" className="basis-full text-[13px] text-red">
          {lines === "order" ? text.budget.wrongOrder : text.budget.noAmount}
        </p>
      )}
    </form>
  );
}

function Amount({ label, value, change }: { label: string; value: string; change: (value: string) => void }) {
  return (
    <label className="flex min-w-24 flex-1 flex-col gap-1 text-[13px] text-muted">
      {label}
      <input
        value={value}
        onChange={(event) => change(event.target.value)}
        inputMode="decimal"
        placeholder="$"
        className={`${FIELD} tabular-nums placeholder:text-faint`}
      />
    </label>
  );
}
