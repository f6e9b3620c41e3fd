/** Each machine and how it tells this device: by push, or only while the page is open, with the reason and a test. */
import { useState } from "react";
import type { Machine } from "@/model/fleet";
import { isReached } from "@/model/push";
import { useApp } from "@/store/app";
import { useTelling } from "@/store/notify-acts";
import { useText } from "@/store/text";
import { Button } from "@/ui/button";
import { errorText } from "@/ui/label";
import { useOnce } from "@/ui/once";
import { Plain } from "@/ui/plain";
import { canPush, testTelling } from "@/ui/push";

export function Machines() {
  const text = useText();
  const fleet = useApp((app) => app.world.fleet);
  return (
    <>
      {!canPush() && <p className="text-[13px] text-muted">{text.notify.noPush}</p>}
      <ul className="flex flex-col gap-2">
        {fleet.map((machine) => (
          <Row key={machine.deviceId} machine={machine} />
        ))}
      </ul>
    </>
  );
}

function Row({ machine: { deviceId, name, icon, isOnline } }: { machine: Machine }) {
  const text = useText();
  const known = useTelling((telling) => telling.known[deviceId]);
  const trouble = useTelling((telling) => telling.troubles[deviceId]);
  const { isBusy, once } = useOnce();
  const [said, setSaid] = useState<{ words: string; isBad: boolean } | null>(null);
  const own = known?.subscriptions.find((one) => one.isOwn);
  const isPushed = known !== undefined && isReached(known);
  const test = () =>
    once(async () => {
      try {
        await testTelling(deviceId);
        setSaid({ words: text.notify.tested, isBad: false });
      } catch (failure) {
        setSaid({ words: errorText(text, failure), isBad: true });
      }
    });
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 rounded-md border border-line bg-surface px-3 py-2 text-[14px]">
      <span className="min-w-0 flex-1 basis-48">
        <span className="block">
          {icon} <Plain text={name} />
        </span>
        <span className="block text-[12.5px] text-muted">
          {isOnline ? (isPushed ? text.notify.byPush : text.notify.byPage) : text.fleet.offline}
          {own && ` · ${own.service}`}
        </span>
        {trouble !== undefined && !isPushed && (
          <span className="block text-[12.5px] text-amber">{errorText(text, trouble)}</span>
        )}
        {own?.error && (
          <span className="block text-[12.5px] text-amber [overflow-wrap:anywhere]">
            <Plain text={own.error} />
          </span>
        )}
        {known && known.lost.length > 0 && (
          <span className="block text-[12.5px] text-amber">{text.notify.lost(known.lost.length)}</span>
        )}
      </span>
      {isPushed && (
        <Button disabled={!isOnline || isBusy} onClick={test}>
          {text.notify.test}
        </Button>
      )}
      {said && (
        <p role="status" className={`basis-full text-[13px] ${said.isBad ? "text-red" : "text-muted"}`}>
          {said.words}
        </p>
      )}
    </li>
  );
}
