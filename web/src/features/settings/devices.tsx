/** What is connected, which devices belong to the realm and may do what, and how to add one. */
import { useCallback, useEffect, useState } from "react";
import type { PairedDevice } from "@/gen";
import { listPaired, revokeDevice, tell } from "@/store/acts";
import { useApp } from "@/store/app";
import { useFormats, useText } from "@/store/text";
import { Button } from "@/ui/button";
import { CopyButton } from "@/ui/copy";
import { errorText } from "@/ui/label";
import { Plain } from "@/ui/plain";
import { Section } from "./section";

export function Devices() {
  const text = useText();
  const formats = useFormats();
  const devices = useApp((app) => app.world.devices);
  const me = useApp((app) => app.world.me?.deviceId);
  const isAdmin = useApp((app) => app.phase.name === "online" && app.phase.rights.includes("admin"));
  return (
    <Section title={text.settings.devices}>
      <h3 className="text-[13.5px] text-muted">{text.settings.machines}</h3>
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
      {isAdmin && <Members me={me} />}
      <h3 className="pt-2 text-[13.5px] font-medium">{text.settings.addDevice}</h3>
      <p className="text-[13.5px] text-muted">{text.settings.addDeviceHelp}</p>
      <p className="flex items-center justify-between rounded-md border border-line bg-code pl-3 font-mono text-[13.5px]">
        {text.pairing.command}
        <CopyButton value={text.pairing.command} />
      </p>
    </Section>
  );
}

function Members({ me }: { me: number | undefined }) {
  const text = useText();
  const [members, setMembers] = useState<PairedDevice[]>([]);
  const load = useCallback(() => listPaired().then(setMembers, () => undefined), []);
  useEffect(() => void load(), [load]);
  if (members.length === 0) return null;
  const revoke = (device: PairedDevice) =>
    revokeDevice(device.deviceKey)
      .then(load)
      .catch((error: unknown) => tell(errorText(text, error)));
  return (
    <>
      <h3 className="pt-2 text-[13.5px] text-muted">{text.settings.members}</h3>
      <ul className="overflow-hidden rounded-md border border-line">
        {members.map((device) => (
          <Member
            key={device.deviceKey}
            device={device}
            isMe={device.connected.some((id) => id === me)}
            revoke={revoke}
          />
        ))}
      </ul>
    </>
  );
}

function Member({
  device,
  isMe,
  revoke,
}: {
  device: PairedDevice;
  isMe: boolean;
  revoke: (device: PairedDevice) => void;
}) {
  const text = useText();
  const formats = useFormats();
  const [isSure, setSure] = useState(false);
  const seen = () => {
    if (device.connected.length > 0) return text.settings.now;
    return device.lastSeenAt === undefined
      ? text.settings.never
      : text.settings.lastSeen(formats.moment(device.lastSeenAt));
  };
  return (
    <li className="flex flex-col gap-2 border-b border-line bg-surface px-3 py-2 text-[14px] last:border-0">
      <div className="flex items-center gap-3">
        <div className="min-w-0 flex-1">
          <p className="truncate">
            <Plain text={device.name} />
            {isMe && <span className="ml-2 text-[12.5px] text-accent">{text.settings.thisDevice}</span>}
          </p>
          <p className="text-[12.5px] text-faint">
            {seen()} · {device.rights.map((right) => text.right[right]).join(", ")}
          </p>
        </div>
        {!isMe && !isSure && (
          <Button kind="quiet" onClick={() => setSure(true)}>
            {text.settings.revoke}
          </Button>
        )}
      </div>
      {isSure && (
        <div className="flex flex-wrap items-center justify-end gap-2">
          <span className="mr-auto text-[13.5px]">{text.settings.revokeSure(device.name)}</span>
          <Button onClick={() => setSure(false)}>{text.create.cancel}</Button>
          <Button kind="danger" onClick={() => revoke(device)}>
            {text.settings.revoke}
          </Button>
        </div>
      )}
    </li>
  );
}
