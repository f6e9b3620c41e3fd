/** What is always allowed, never allowed or always asked about, per machine; and changing it. */
import { ShieldCheck, Trash2 } from "lucide-react";
import { useEffect, useState } from "react";
import type { PermissionRule, RuleEffect } from "@/gen";
import type { Machine } from "@/model/fleet";
import { useApp } from "@/store/app";
import { useRight } from "@/store/rights";
import { changeRule, loadRules, type Rules } from "@/store/rules";
import { useText } from "@/store/text";
import { Button, IconButton } from "@/ui/button";
import { errorText } from "@/ui/label";
import { Page } from "@/ui/page";
import { Plain } from "@/ui/plain";
import { EmptyState, Skeleton } from "@/ui/states";

const EFFECTS: RuleEffect[] = ["allow", "ask", "deny"];
const COLOURS: Record<string, string> = { allow: "text-green", ask: "text-amber", deny: "text-red" };
const FIELD = "min-h-11 rounded-md border border-line-strong bg-bg px-3 text-[14px] text-ink lg:min-h-9";

export function RulesScreen() {
  const text = useText();
  const fleet = useApp((app) => app.world.fleet);
  const online = fleet.filter((machine) => machine.isOnline);
  return (
    <Page title={text.rules.title}>
      <p className="text-[14px] text-muted">{text.rules.help}</p>
      {online.length === 0 && (
        <EmptyState icon={<ShieldCheck size={30} />} title={text.fleet.noMachines} help={text.talk.offline} />
      )}
      {online.map((machine) => (
        <MachineRules key={machine.deviceId} machine={machine} />
      ))}
    </Page>
  );
}

function MachineRules({ machine }: { machine: Machine }) {
  const text = useText();
  const isAdmin = useRight("admin");
  const [known, setKnown] = useState<Rules | null>(null);
  const [error, setError] = useState<string | null>(null);
  const { deviceId } = machine;
  const take = (work: Promise<Rules>) =>
    work.then(
      (rules) => {
        setKnown(rules);
        setError(null);
      },
      (failure: unknown) => setError(errorText(text, failure)),
    );
  // biome-ignore lint/correctness/useExhaustiveDependencies: another machine is the only reason to ask again.
  useEffect(() => void take(loadRules(deviceId)), [deviceId]);
  const nameOf = (rule: PermissionRule) =>
    machine.workspaces.find((one) => one.workspaceId === rule.workspaceId)?.name ?? rule.workspaceId;
  return (
    <section aria-label={machine.name} className="flex flex-col gap-3">
      <h2 className="text-[14px] font-semibold">
        {machine.icon} <Plain text={machine.name} />
      </h2>
      {known === null && error === null && <Skeleton label={text.tool.loading} rows={3} />}
      {error && (
        <p role="alert" className="text-[13.5px] text-red">
          {error}
        </p>
      )}
      {known?.warning && <p className="rounded-md bg-amber-soft px-3 py-2 text-[13.5px]">{known.warning}</p>}
      {known?.rules.length === 0 && <p className="text-[13.5px] text-muted">{text.rules.none}</p>}
      {known && known.rules.length > 0 && (
        <ul className="overflow-hidden rounded-lg border border-line">
          {known.rules.map((rule) => (
            <li
              key={`${rule.workspaceId ?? ""} ${rule.rule}`}
              className="flex min-h-11 items-center gap-3 border-b border-line bg-surface px-3 py-1 text-[14px] last:border-0"
            >
              <span className={`w-24 shrink-0 text-[13px] font-medium ${COLOURS[rule.effect] ?? ""}`}>
                {text.rules[rule.effect as "allow" | "ask" | "deny"] ?? rule.effect}
              </span>
              <code className="min-w-0 flex-1 font-mono text-[13px] [overflow-wrap:anywhere]">
                <Plain text={rule.rule} />
              </code>
              <span className="max-w-[30%] truncate text-[12.5px] text-faint">
                {rule.workspaceId ? nameOf(rule) : text.rules.everywhere}
              </span>
              {isAdmin && (
                <IconButton
                  label={text.rules.remove(rule.rule)}
                  onClick={() => void take(changeRule(deviceId, rule.rule, undefined, rule.workspaceId))}
                >
                  <Trash2 size={15} />
                </IconButton>
              )}
            </li>
          ))}
        </ul>
      )}
      {isAdmin ? (
        <NewRule machine={machine} add={(...rule) => take(changeRule(deviceId, ...rule))} />
      ) : (
        <p className="text-[13px] text-faint">{text.rules.noRight}</p>
      )}
    </section>
  );
}

interface NewRuleProps {
  machine: Machine;
  add: (rule: string, effect: RuleEffect, workspaceId: string | undefined) => Promise<unknown>;
}

function NewRule({ machine, add }: NewRuleProps) {
  const text = useText();
  const [rule, setRule] = useState("");
  const [effect, setEffect] = useState<RuleEffect>("ask");
  const [where, setWhere] = useState("");
  return (
    <form
      className="flex flex-wrap items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        void add(rule.trim(), effect, where || undefined).then(() => setRule(""));
      }}
    >
      <label className="flex min-w-0 flex-[2_1_14rem] flex-col gap-1 text-[13px] text-muted">
        {text.rules.rule}
        <input
          value={rule}
          onChange={(event) => setRule(event.target.value)}
          placeholder="Bash(git push:*)"
          spellCheck={false}
          className={`${FIELD} font-mono`}
        />
      </label>
      <label className="flex flex-1 flex-col gap-1 text-[13px] text-muted">
        {text.rules.effect}
        <select value={effect} onChange={(event) => setEffect(event.target.value as RuleEffect)} className={FIELD}>
          {EFFECTS.map((one) => (
            <option key={one} value={one}>
              {text.rules[one as "allow" | "ask" | "deny"]}
            </option>
          ))}
        </select>
      </label>
      <label className="flex flex-1 flex-col gap-1 text-[13px] text-muted">
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
