/** A conversation that shows no entries: new, or not to be had. */
import { CloudOff } from "lucide-react";
import { useEffect, useState } from "react";
import { folderOf, type Place } from "@/model/fleet";
import type { Refusal } from "@/model/refusal";
import { retryNow } from "@/store/app";
import { useFormats, useText } from "@/store/text";
import { MachineAway } from "@/ui/away";
import { Button } from "@/ui/button";
import { refusalText } from "@/ui/label";
import { Star } from "@/ui/star";
import { EmptyState } from "@/ui/states";

export function Blank({ place }: { place: Place }) {
  const text = useText();
  return (
    <div className="h-[55dvh]">
      <EmptyState icon={<Star size={40} />} title={text.talk.empty} help={text.talk.emptyHelp(folderOf(place))} />
    </div>
  );
}

export function LoadFailed({ refusal }: { refusal?: Refusal }) {
  const text = useText();
  return (
    <div className="min-h-0 flex-1">
      <EmptyState icon={<CloudOff size={32} />} title={text.talk.failed} help={refusal && refusalText(text, refusal)}>
        <Button onClick={retryNow}>{text.connection.retry}</Button>
      </EmptyState>
    </div>
  );
}

export function Away() {
  const text = useText();
  return (
    <div className="min-h-0 flex-1">
      <MachineAway icon={<CloudOff size={32} />} help={text.talk.offlineHelp}>
        <Button onClick={retryNow}>{text.connection.retry}</Button>
      </MachineAway>
    </div>
  );
}

/** A machine that answers within this time needs no words. */
const PATIENCE_MS = 700;

/** Says that what is shown is from an earlier visit, if it stays so for more than a moment. */
export function Old({ at }: { at: number }) {
  const text = useText();
  const formats = useFormats();
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, []);
  if (!isShown) return null;
  return (
    <p
      role="status"
      className="rise absolute top-2 left-1/2 -translate-x-1/2 whitespace-nowrap rounded-full border border-line-strong bg-raised px-3.5 py-1 text-[12.5px] text-muted"
    >
      {text.talk.kept(formats.moment(at))}
    </p>
  );
}
