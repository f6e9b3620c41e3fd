/** What would become of a call, and why: judged by the machine as the agent's own calls are, and never made. */
import { useState } from "react";
import type { CallVerdict, PermissionMode } from "@/gen";
import type { Machine } from "@/model/fleet";
import { tryCall } from "@/store/rules";
import { useText } from "@/store/text";
import { Button } from "@/ui/button";
import { errorText, toolLabel } from "@/ui/label";
import { Reason } from "@/ui/reason";
import { EffectWords } from "./effect";
import { FIELD } from "./field";
import { inputOf, TRIED, type Tried } from "./try-input";

const MODES: PermissionMode[] = ["default", "acceptEdits", "plan", "bypassPermissions"];
const HINTS: Record<(typeof TRIED)[Tried], string> = {
  command: "git push origin main",
  file_path: ".env",
  url: "https://example.com",
  query: "weather",
};

export function TryCall({ machine }: { machine: Machine }) {
  const text = useText();
  const [tool, setTool] = useState<Tried>("Bash");
  const [typed, setTyped] = useState("");
  const [where, setWhere] = useState(machine.workspaces[0]?.workspaceId ?? "");
  const [mode, setMode] = useState<PermissionMode>("default");
  const [verdict, setVerdict] = useState<CallVerdict | null>(null);
  const [error, setError] = useState<string | null>(null);
  const forget = () => {
    setVerdict(null);
    setError(null);
  };
  const judge = () => {
    forget();
    const workspace = machine.workspaces.find((one) => one.workspaceId === where);
    const call = { toolName: tool, input: inputOf(tool, typed), workingDir: workspace?.workingDir, mode };
    tryCall(machine.deviceId, call, workspace?.workspaceId).then(setVerdict, (failure: unknown) =>
      setError(errorText(text, failure)),
    );
  };
  return (
    <form
      aria-label={text.rules.try}
      className="flex flex-col gap-3 rounded-lg border border-line bg-surface p-3"
      onSubmit={(event) => {
        event.preventDefault();
        judge();
      }}
    >
      <div>
        <h3 className="text-[14px] font-medium">{text.rules.try}</h3>
        <p className="text-[13px] text-muted">{text.rules.tryHelp}</p>
      </div>
      <div className="flex flex-wrap gap-2">
        <Choice
          label={text.rules.tool}
          value={tool}
          options={Object.keys(TRIED).map((one) => [one, toolLabel(text, one)])}
          choose={(one) => {
            setTool(one as Tried);
            forget();
          }}
        />
        <Choice
          label={text.menu.mode}
          value={mode}
          options={MODES.map((one) => [one, text.mode[one]])}
          choose={(one) => {
            setMode(one as PermissionMode);
            forget();
          }}
        />
        <Choice
          label={text.rules.where}
          value={where}
          options={machine.workspaces.map((one) => [one.workspaceId, one.name])}
          choose={(one) => {
            setWhere(one);
            forget();
          }}
        />
      </div>
      <div className="flex items-end gap-2">
        <label className="flex min-w-0 flex-1 flex-col gap-1 text-[13px] text-muted">
          {text.rules.tryField[TRIED[tool]]}
          <input
            value={typed}
            onChange={(event) => {
              setTyped(event.target.value);
              forget();
            }}
            placeholder={HINTS[TRIED[tool]]}
            spellCheck={false}
            autoCapitalize="off"
            className={`${FIELD} font-mono placeholder:text-faint`}
          />
        </label>
        <Button type="submit" disabled={typed.trim() === ""}>
          {text.rules.judge}
        </Button>
      </div>
      <div role="status" className="text-[14px] empty:hidden">
        {verdict && (
          <p className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
            <EffectWords effect={verdict.effect} />
            <span className="min-w-0 text-muted [overflow-wrap:anywhere]">
              <Reason reason={verdict.reason} why={verdict.why} />
            </span>
          </p>
        )}
        {error && <p className="text-red">{error}</p>}
      </div>
    </form>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  options: string[][];
  choose: (value: string) => void;
}

function Choice({ label, value, options, choose }: ChoiceProps) {
  return (
    <label className="flex min-w-28 flex-1 flex-col gap-1 text-[13px] text-muted">
      {label}
      <select value={value} onChange={(event) => choose(event.target.value)} className={FIELD}>
        {options.map(([key, words]) => (
          <option key={key} value={key}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}
