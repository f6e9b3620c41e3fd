/** The other machines: who follows, who does not and why, and of whom nothing was heard yet. */
import type { DeployAck } from "@/gen";
import { useApp } from "@/store/app";
import { useText } from "@/store/text";
import { Plain } from "@/ui/plain";

export function Acks({ acks }: { acks: readonly DeployAck[] }) {
  const text = useText();
  const fleet = useApp((app) => app.world.fleet);
  return (
    <section>
      <h2 className="pb-2 text-[14px] font-semibold">{text.deploy.others}</h2>
      <ul className="flex flex-col gap-1.5">
        {acks.map(({ deviceId, success, error }) => {
          const machine = fleet.find((one) => one.deviceId === deviceId);
          const colour = success === undefined ? "text-blue" : success ? "text-green" : "text-red";
          const words =
            success === undefined ? text.deploy.building : success ? text.deploy.follows : text.deploy.staysBehind;
          return (
            <li key={deviceId} className="rounded-md border border-line bg-surface px-3 py-2 text-[14px]">
              <span className="flex items-baseline justify-between gap-3">
                <span>
                  {machine?.icon} <Plain text={machine?.name ?? String(deviceId)} />
                </span>
                <span className={`text-[12.5px] ${colour}`}>{words}</span>
              </span>
              {error && (
                <span className="block text-[13px] text-red [overflow-wrap:anywhere]">
                  <Plain text={error} />
                </span>
              )}
            </li>
          );
        })}
      </ul>
    </section>
  );
}
