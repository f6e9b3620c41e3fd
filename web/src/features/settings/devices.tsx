/** The machines and apps that are connected, the devices of the realm, and how to add one. */
import { useApp } from "@/store/app";
import { useRight } from "@/store/rights";
import { useFormats, useText } from "@/store/text";
import { CopyButton } from "@/ui/copy";
import { Plain } from "@/ui/plain";
import { Members } from "./members";
import { Section } from "./section";

export function Devices() {
  const text = useText();
  const isAdmin = useRight("admin");
  return (
    <Section title={text.settings.devices}>
      <Connected />
      {isAdmin ? <Members /> : <p className="text-[13.5px] text-muted">{text.settings.membersNoRight}</p>}
      <h3 className="pt-2 text-[13.5px] font-medium">{text.settings.addDevice}</h3>
      <p className="text-[13.5px] text-muted">{text.settings.addDeviceHelp}</p>
      <p className="flex items-center justify-between rounded-md border border-line bg-code pl-3 font-mono text-[13.5px]">
        {text.pairing.command}
        <CopyButton value={text.pairing.command} />
      </p>
    </Section>
  );
}

function Connected() {
  const text = useText();
  const formats = useFormats();
  const devices = useApp((app) => app.world.devices);
  const fleet = useApp((app) => app.world.fleet);
  const me = useApp((app) => app.world.me?.deviceId);
  return (
    <>
      <h3 className="text-[13.5px] text-muted">{text.settings.machines}</h3>
      <ul className="overflow-hidden rounded-md border border-line">
        {devices.map((device) => {
          const since = Date.parse(device.connectedAt);
          const status = fleet.find((machine) => machine.deviceId === device.deviceId)?.status;
          return (
            <li
              key={device.deviceId}
              className="flex min-h-11 flex-wrap items-center gap-x-3 border-b border-line bg-surface px-3 py-1.5 text-[14px] last:border-0"
            >
              <span aria-hidden="true">{device.icon}</span>
              <span className="min-w-0 flex-1">
                <span className="block truncate">
                  <Plain text={device.name} />
                  {device.deviceId === me && (
                    <span className="ml-2 text-[12.5px] text-accent">{text.settings.thisDevice}</span>
                  )}
                </span>
                <span className="block text-[12.5px] text-faint">
                  {!Number.isNaN(since) && text.settings.since(formats.moment(since))}
                  {status?.version && ` · ${text.settings.version} ${status.version}`}
                </span>
              </span>
              {status?.hostConnected === false && (
                <span className="w-full text-[12.5px] text-amber">{text.settings.hostAway}</span>
              )}
            </li>
          );
        })}
      </ul>
    </>
  );
}
