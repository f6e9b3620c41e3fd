/** Sets a rule: which calls, what becomes of them, and where. */
import { useState } from "react";
import type { RuleEffect } from "@/gen";
import type { Machine } from "@/model/fleet";
import { useText } from "@/store/text";
import { Button } from "@/ui/button";
import { FIELD } from "./field";

const EFFECTS: RuleEffect[] = ["allow", "ask", "deny"];

export interface NewRuleProps {
  machine: Machine;
  add: (rule: string, effect: RuleEffect, workspaceId: string | undefined) => Promise<boolean>;
}

export function NewRule({ machine, add }: NewRuleProps) {
  const text = useText();
  const [rule, setRule] = useState("");
  const [effect, setEffect] = useState<RuleEffect>("ask");
  const [where, setWhere] = useState("");
  return (
    <form
      className="flex flex-wrap items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        void add(rule.trim(), effect, where || undefined).then((isDone) => isDone && setRule(""));
      }}
    >
      <label className="flex min-w-0 flex-[2_1_14rem] flex-col gap-1 text-[13px] text-muted">
        {text.rules.rule}
        <input
          value={rule}
          onChange={(event) => setRule(event.target.value)}
          placeholder="Bash(git push:*)"
          spellCheck={false}
          autoCapitalize="off"
          className={`${FIELD} font-mono placeholder:text-faint`}
        />
      </label>
      <label className="flex min-w-32 flex-1 flex-col gap-1 text-[13px] text-muted">
        {text.rules.effect}
        <select value={effect} onChange={(event) => setEffect(event.target.value as RuleEffect)} className={FIELD}>
          {EFFECTS.map((one) => (
            <option key={one} value={one}>
              {text.rules[one as "allow" | "ask" | "deny"]}
            </option>
          ))}
        </select>
      </label>
      <label className="flex min-w-32 flex-1 flex-col gap-1 text-[13px] text-muted">
        {text.rules.where}
        <select value={where} onChange={(event) => setWhere(event.target.value)} className={FIELD}>
          <option value="">{text.rules.everywhere}</option>
          {machine.workspaces.map((one) => (
            <option key={one.workspaceId} value={one.workspaceId}>
              {one.name}
            </option>
          ))}
        </select>
      </label>
      <Button kind="main" type="submit" disabled={rule.trim() === ""}>
        {text.rules.add}
      </Button>
    </form>
  );
}
