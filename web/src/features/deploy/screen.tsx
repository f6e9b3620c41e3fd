/** A new build for the machines: prepared, confirmed and put in place from here, with everything it says on the way. */
import { Rocket } from "lucide-react";
import { useState } from "react";
import type { Machine } from "@/model/fleet";
import { useApp } from "@/store/app";
import { useDeploy } from "@/store/deploy-acts";
import { useText } from "@/store/text";
import { MachineAway } from "@/ui/away";
import { errorText } from "@/ui/label";
import { MachineChoice } from "@/ui/machine-choice";
import { MachineWords } from "@/ui/machine-words";
import { Page } from "@/ui/page";
import { Plain } from "@/ui/plain";
import { EmptyState, Skeleton } from "@/ui/states";
import { WorkTabs } from "@/ui/work-tabs";
import { Acks } from "./acks";
import { Acts } from "./acts";
import { Log } from "./log";
import { Steps } from "./steps";

export function DeployScreen() {
  const text = useText();
  const fleet = useApp((app) => app.world.fleet);
  const [chosen, choose] = useState<number | null>(null);
  const machine = fleet.find((one) => one.deviceId === chosen) ?? fleet.find((one) => one.isOnline) ?? fleet[0] ?? null;
  return (
    <Page title={text.deploy.title}>
      <WorkTabs />
      <p className="text-[14px] text-muted">{text.deploy.help}</p>
      {machine ? (
        <>
          <MachineChoice machines={fleet} chosen={machine.deviceId} choose={choose} />
          <MachineDeploy key={machine.deviceId} machine={machine} />
        </>
      ) : (
        <EmptyState icon={<Rocket size={30} />} title={text.fleet.noMachines} help={text.fleet.noMachinesHelp} />
      )}
    </Page>
  );
}

function MachineDeploy({ machine: { deviceId, isOnline } }: { machine: Machine }) {
  const text = useText();
  const { deploy, error, again } = useDeploy(deviceId, isOnline);
  if (!deploy && !isOnline) return <MachineAway help={text.deploy.offline} />;
  if (!deploy && error !== null) {
    return (
      <p role="alert" className="text-[13.5px] text-red">
        {errorText(text, error)}
      </p>
    );
  }
  if (!deploy) return <Skeleton label={text.tool.loading} rows={5} />;
  const { version, commitHash, runningVersion, runningCommit } = deploy;
  const isOver = deploy.phase === "idle";
  return (
    <>
      <section
        aria-label={text.deploy.state}
        className="flex flex-col gap-3 rounded-lg border border-line bg-surface p-4"
      >
        <div role="status" className="flex flex-col gap-0.5">
          <p className="text-[16px] font-semibold">{isOnline ? text.deploy.phase[deploy.phase] : text.deploy.away}</p>
          <p className="text-[13.5px] text-muted">
            {isOnline ? text.deploy.phaseHelp[deploy.phase] : text.deploy.offline}
          </p>
        </div>
        <dl className="grid gap-x-6 gap-y-1 text-[13.5px] sm:grid-cols-2">
          <Build label={text.deploy.runs} version={runningVersion} commit={runningCommit} />
          {!isOver && <Build label={text.deploy.builds} version={version} commit={commitHash} />}
        </dl>
        {deploy.failure && (
          <p role="alert" className="rounded-md bg-red-soft px-3 py-2 text-[13.5px] text-red">
            {text.deploy.failed}
            <MachineWords words={deploy.failure} />
          </p>
        )}
        <Acts deploy={deploy} isOnline={isOnline} again={again} />
      </section>
      {deploy.acks.length > 0 && <Acks acks={deploy.acks} />}
      <Steps tasks={deploy.tasks} />
      <Log lines={deploy.log} />
    </>
  );
}

function Build({ label, version, commit }: { label: string; version?: string; commit?: string }) {
  const text = useText();
  return (
    <div className="flex gap-2">
      <dt className="text-muted">{label}</dt>
      <dd className="min-w-0 truncate font-mono text-[12.5px] leading-6">
        <Plain text={[version, commit?.slice(0, 10)].filter(Boolean).join(" · ") || text.deploy.unknown} />
      </dd>
    </div>
  );
}
