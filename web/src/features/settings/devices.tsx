/** What is connected now, and how to add a device. */
import { useApp } from "@/store/app";
import { useFormats, useText } from "@/store/text";
import { CopyButton } from "@/ui/copy";
import { Plain } from "@/ui/plain";
import { Section } from "./settings";

export function Devices() {
  const text = useText();
  const formats = useFormats();
  const devices = useApp((app) => app.world.devices);
  const me = useApp((app) => app.world.me?.deviceId);
  return (
    <Section title={text.settings.devices}>
      <p className="text-[13.5px] text-muted">{text.settings.devicesHelp}</p>
      <ul className="overflow-hidden rounded-md border border-line">
        {devices.map((device) => {
          const since = Date.parse(device.connectedAt);
          return (
            <li
              key={device.deviceId}
              className="flex min-h-11 items-center gap-3 border-b border-line bg-surface px-3 text-[14px] last:border-0"
            >
              <span aria-hidden="true">{device.icon}</span>
              <span className="min-w-0 flex-1 truncate">
                <Plain text={device.name} />
                {device.deviceId === me && (
                  <span className="ml-2 text-[12.5px] text-accent">{text.settings.thisDevice}</span>
                )}
              </span>
              {!Number.isNaN(since) && (
                <span className="shrink-0 text-[12.5px] text-faint">{text.settings.since(formats.moment(since))}</span>
              )}
            </li>
          );
        })}
      </ul>
      <h3 className="pt-2 text-[13.5px] font-medium">{text.settings.addDevice}</h3>
      <p className="text-[13.5px] text-muted">{text.settings.addDeviceHelp}</p>
      <p className="flex items-center justify-between rounded-md border border-line bg-code pl-3 font-mono text-[13.5px]">
        {text.pairing.command}
        <CopyButton value={text.pairing.command} />
      </p>
    </Section>
  );
}
