/** What is always allowed, never allowed or always asked about, per machine; changing it, and trying it out. */
import { ShieldCheck, Trash2 } from "lucide-react";
import { useEffect, useState } from "react";
import type { PermissionRule } from "@/gen";
import type { Machine } from "@/model/fleet";
import { useApp } from "@/store/app";
import { useRight } from "@/store/rights";
import { changeRule, loadRules, type Rules, revokeTool } from "@/store/rules";
import { useFormats, useText } from "@/store/text";
import { IconButton } from "@/ui/button";
import { errorText } from "@/ui/label";
import { Page } from "@/ui/page";
import { Plain } from "@/ui/plain";
import { EmptyState, Skeleton } from "@/ui/states";
import { EffectWords } from "./effect";
import { Granted } from "./granted";
import { NewRule } from "./new-rule";
import { TryCall } from "./try-call";

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
  const mayDecide = useRight("approve");
  const [known, setKnown] = useState<Rules | null>(null);
  const [error, setError] = useState<string | null>(null);
  const { deviceId } = machine;
  const take = (work: Promise<Rules>) =>
    work.then(
      (rules) => {
        setKnown(rules);
        setError(null);
        return true;
      },
      (failure: unknown) => {
        setError(errorText(text, failure));
        return false;
      },
    );
  // biome-ignore lint/correctness/useExhaustiveDependencies: another machine is the only reason to ask again.
  useEffect(() => void take(loadRules(deviceId)), [deviceId]);
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
            <RuleRow
              key={`${rule.workspaceId ?? ""} ${rule.rule}`}
              rule={rule}
              machine={machine}
              remove={
                isAdmin ? () => void take(changeRule(deviceId, rule.rule, undefined, rule.workspaceId)) : undefined
              }
            />
          ))}
        </ul>
      )}
      {known && (
        <Granted
          granted={known.granted}
          machine={machine}
          revoke={mayDecide ? (granted) => void take(revokeTool(deviceId, granted)) : undefined}
        />
      )}
      {isAdmin ? (
        <NewRule machine={machine} add={(...rule) => take(changeRule(deviceId, ...rule))} />
      ) : (
        <p className="text-[13px] text-faint">{text.rules.noRight}</p>
      )}
      <TryCall machine={machine} />
    </section>
  );
}

interface RuleRowProps {
  rule: PermissionRule;
  machine: Machine;
  remove?: () => void;
}

function RuleRow({ rule, machine, remove }: RuleRowProps) {
  const text = useText();
  const formats = useFormats();
  const place = machine.workspaces.find((one) => one.workspaceId === rule.workspaceId)?.name ?? rule.workspaceId;
  return (
    <li className="flex min-h-11 items-center gap-3 border-b border-line bg-surface py-1.5 pr-1 pl-3 text-[14px] last:border-0">
      <EffectWords effect={rule.effect} className="w-16 shrink-0" />
      <span className="min-w-0 flex-1">
        <code className="block font-mono text-[13px] [overflow-wrap:anywhere]">
          <Plain text={rule.rule} />
        </code>
        <span className="block text-[12.5px] text-faint">
          {place ?? text.rules.everywhere}
          {rule.since !== undefined && ` · ${text.settings.since(formats.moment(rule.since))}`}
        </span>
      </span>
      {remove && (
        <IconButton label={text.rules.remove(rule.rule)} onClick={remove}>
          <Trash2 size={15} />
        </IconButton>
      )}
    </li>
  );
}
