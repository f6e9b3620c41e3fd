/** A conversation that shows no entries: new, or not to be had. */
import { CloudOff } from "lucide-react";
import type { Place } from "@/model/fleet";
import type { Refusal } from "@/model/refusal";
import { retryNow } from "@/store/app";
import { useText } from "@/store/text";
import { Button } from "@/ui/button";
import { refusalText } from "@/ui/label";
import { Star } from "@/ui/star";
import { EmptyState } from "@/ui/states";

export function Blank({ place }: { place: Place }) {
  const text = useText();
  return (
    <div className="h-[55dvh]">
      <EmptyState
        icon={<Star size={40} />}
        title={text.talk.empty}
        help={text.talk.emptyHelp(place.workspace.workingDir)}
      />
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
      <EmptyState icon={<CloudOff size={32} />} title={text.talk.offline} help={text.talk.offlineHelp}>
        <Button onClick={retryNow}>{text.connection.retry}</Button>
      </EmptyState>
    </div>
  );
}
