/** Offers to tell the person, at the moment in which it would help: something works, and they may want to go away. Once. */
import { BellRing } from "lucide-react";
import { useEffect, useState } from "react";
import type { ConversationStatus } from "@/gen";
import { changeSettings, useSettings } from "@/store/settings";
import { useText } from "@/store/text";
import { Button } from "@/ui/button";
import { wantTelling } from "@/ui/push";

/** A turn that is over at once is no reason to go away. */
const LONG_MS = 8_000;

export function Offer({ status }: { status: ConversationStatus }) {
  const text = useText();
  const isSettled = useSettings((settings) => settings.notifies || settings.declined);
  const [isLong, setLong] = useState(false);
  const canAsk = "Notification" in globalThis && Notification.permission === "default";
  const isWanted = status === "working" && !isSettled && canAsk;
  useEffect(() => {
    if (!isWanted) return;
    const timer = setTimeout(() => setLong(true), LONG_MS);
    return () => clearTimeout(timer);
  }, [isWanted]);
  if (!isLong || isSettled || !canAsk) return null;
  const decline = () => changeSettings({ declined: true });
  return (
    <div
      role="status"
      className="flex flex-wrap items-center gap-x-3 gap-y-1 border-t border-line bg-surface px-4 py-2 text-[13.5px]"
    >
      <BellRing size={17} className="text-accent" />
      <span className="min-w-0 flex-1 basis-52">{text.notify.offer}</span>
      <Button kind="quiet" onClick={decline}>
        {text.notify.no}
      </Button>
      <Button onClick={() => void wantTelling().then((isGranted) => isGranted || decline())}>{text.notify.yes}</Button>
    </div>
  );
}
