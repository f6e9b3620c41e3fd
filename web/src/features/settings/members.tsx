/** The devices that belong to the realm: what each may do, when it was seen, and how to change that or end it. */
import { useCallback, useEffect, useState } from "react";
import type { PairedDevice, Right } from "@/gen";
import { listPaired, revokeDevice, setRights, tell } from "@/store/acts";
import { useApp } from "@/store/app";
import { useFormats, useText } from "@/store/text";
import { Confirm } from "@/ui/ask";
import { Button } from "@/ui/button";
import { errorText } from "@/ui/label";
import { Plain } from "@/ui/plain";

const RIGHTS: Right[] = ["view", "prompt", "approve", "terminal", "admin"];

export function Members() {
  const text = useText();
  const me = useApp((app) => app.world.me?.deviceId);
  // Whoever comes or goes changes what is shown of the members.
  const devices = useApp((app) => app.world.devices);
  const [members, setMembers] = useState<PairedDevice[]>([]);
  const load = useCallback(() => listPaired().then(setMembers, () => undefined), []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the devices are a reason to ask again.
  useEffect(() => void load(), [load, devices]);
  if (members.length === 0) return null;
  const attempt = (work: Promise<void>) => work.then(load).catch((error: unknown) => tell(errorText(text, error)));
  return (
    <>
      <h3 className="pt-2 text-[13.5px] text-muted">{text.settings.members}</h3>
      <ul className="overflow-hidden rounded-md border border-line">
        {members.map((device) => (
          <Member
            key={device.deviceKey}
            device={device}
            isMe={device.connected.some((id) => id === me)}
            attempt={attempt}
          />
        ))}
      </ul>
    </>
  );
}

interface MemberProps {
  device: PairedDevice;
  isMe: boolean;
  attempt: (work: Promise<void>) => Promise<unknown>;
}

function Member({ device, isMe, attempt }: MemberProps) {
  const text = useText();
  const formats = useFormats();
  const [open, setOpen] = useState<"rights" | "revoke" | null>(null);
  const close = () => setOpen(null);
  const seen = () => {
    if (device.connected.length > 0) return text.settings.now;
    return device.lastSeenAt === undefined
      ? text.settings.never
      : text.settings.lastSeen(formats.moment(device.lastSeenAt));
  };
  return (
    <li className="flex flex-col gap-2 border-b border-line bg-surface px-3 py-2 text-[14px] last:border-0">
      <div className="flex flex-wrap items-center gap-x-1">
        <div className="min-w-60 flex-1">
          <p className="truncate">
            <Plain text={device.name} />
            {isMe && <span className="ml-2 text-[12.5px] text-accent">{text.settings.thisDevice}</span>}
          </p>
          <p className="text-[12.5px] text-faint">
            {text.settings.may(device.rights.map((right) => text.right[right]).join(", "))} · {seen()}
          </p>
        </div>
        {!isMe && (
          <div className="-mr-2 ml-auto flex">
            <Button
              kind="quiet"
              className="px-3!"
              aria-expanded={open === "rights"}
              onClick={() => setOpen(open === "rights" ? null : "rights")}
            >
              {text.settings.rights}
            </Button>
            <Button kind="quiet" className="px-3! text-red!" onClick={() => setOpen("revoke")}>
              {text.settings.revoke}
            </Button>
          </div>
        )}
      </div>
      {open === "rights" && (
        <RightsForm
          device={device}
          close={close}
          save={(rights) => {
            close();
            void attempt(setRights(device.deviceKey, rights));
          }}
        />
      )}
      {open === "revoke" && (
        <Confirm
          title={text.settings.revoke}
          question={text.settings.revokeSure(device.name)}
          yes={text.settings.revoke}
          close={close}
          act={() => attempt(revokeDevice(device.deviceKey))}
        />
      )}
    </li>
  );
}

interface RightsFormProps {
  device: PairedDevice;
  close: () => void;
  save: (rights: Right[]) => void;
}

/** Nobody can give what they do not have themselves. */
function RightsForm({ device, close, save }: RightsFormProps) {
  const text = useText();
  const [chosen, setChosen] = useState<readonly Right[]>(device.rights);
  const mine = useApp((app) => (app.phase.name === "online" ? app.phase.rights : []));
  const offered = RIGHTS.filter((right) => mine.includes(right) || device.rights.includes(right));
  return (
    <form
      className="flex flex-col gap-1"
      onSubmit={(event) => {
        event.preventDefault();
        save(RIGHTS.filter((right) => chosen.includes(right)));
      }}
    >
      {offered.map((right) => (
        <label key={right} className="flex min-h-11 items-center gap-3 lg:min-h-8">
          <input
            type="checkbox"
            checked={chosen.includes(right)}
            onChange={(event) =>
              setChosen(event.target.checked ? [...chosen, right] : chosen.filter((one) => one !== right))
            }
            className="size-4 accent-[var(--accent)]"
          />
          <span>
            {text.right[right]}
            <span className="ml-2 text-[13px] text-muted">{text.rightHelp[right]}</span>
          </span>
        </label>
      ))}
      <div className="flex justify-end gap-2">
        <Button onClick={close}>{text.create.cancel}</Button>
        <Button kind="main" type="submit" disabled={chosen.length === 0}>
          {text.menu.save}
        </Button>
      </div>
    </form>
  );
}
