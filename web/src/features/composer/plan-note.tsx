/** Says that a limit of the plan is reached or near, and when it begins anew, before somebody writes in vain. */
import { Hourglass } from "lucide-react";
import { useEffect } from "react";
import type { PlanLimit } from "@/gen";
import type { Catalogue } from "@/i18n";
import type { Formats } from "@/i18n/format";
import type { Place } from "@/model/fleet";
import { isOverage, tightest } from "@/model/plan";
import { continueLater, tell } from "@/store/acts";
import { useApp } from "@/store/app";
import { useNow } from "@/store/clock";
import { useRight } from "@/store/rights";
import { useFormats, useText } from "@/store/text";
import { Button } from "@/ui/button";
import { errorText } from "@/ui/label";
import { useOnce } from "@/ui/once";

export function PlanNote({ place }: { place: Place }) {
  const text = useText();
  const formats = useFormats();
  const now = useNow();
  const limit = tightest(place.machine.limits, now);
  const isShut = limit?.status === "rejected" && !isOverage(limit);
  return (
    <>
      {limit && (
        <p
          role="status"
          className={`flex items-start gap-2 px-3 pb-2 text-[13px] ${isShut ? "text-red" : "text-muted"}`}
        >
          <Hourglass size={14} className={`mt-0.5 shrink-0 ${isShut ? "" : "text-amber"}`} />
          <span>{limitWords(text, formats, limit, now)}</span>
        </p>
      )}
      <GoOn place={place} isShut={isShut} />
    </>
  );
}

/** Lets the conversation go on by itself once the limit is over, and says when that is. */
function GoOn({ place, isShut }: { place: Place; isShut: boolean }) {
  const text = useText();
  const formats = useFormats();
  const { isBusy, once } = useOnce();
  const mayWrite = useRight("prompt");
  const { isOnline } = place.machine;
  const { conversationId } = place.conversation;
  const known = useApp((app) => app.world.continuations[conversationId]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the place is made anew all the time.
  useEffect(() => {
    // An older machine knows nothing of it; then nothing is offered.
    if (isShut && isOnline) continueLater(place).catch(() => undefined);
  }, [isShut, isOnline, conversationId]);
  if (!known || !(isShut || known.at !== undefined || known.failure !== undefined)) return null;
  const wish = (enabled: boolean) =>
    once(() => continueLater(place, { enabled }).catch((error: unknown) => tell(errorText(text, error))));
  const words = (): string | null => {
    if (known.at !== undefined) return text.plan.goesOnAt(formats.moment(known.at));
    if (known.failure !== undefined) return text.plan.didNotGoOn(known.failure);
    return known.isEnabled ? text.plan.goesOn : null;
  };
  return (
    <div className="flex flex-wrap items-center justify-between gap-x-3 px-3 pb-2 text-[13px] text-muted">
      <p role="status" className="min-w-0 [overflow-wrap:anywhere] empty:hidden">
        {words()}
      </p>
      <Button
        className="px-3! text-[13px]!"
        disabled={isBusy || !isOnline || !mayWrite}
        onClick={() => wish(!known.isEnabled)}
      >
        {known.isEnabled ? text.plan.goOnOff : text.plan.goOn}
      </Button>
    </div>
  );
}

/** A day further away is told by its date, a nearer one by the clock alone. */
const DAY_MS = 86_400_000;

function limitWords(text: Catalogue, formats: Formats, limit: PlanLimit, now: number): string {
  const name = nameOf(text, limit.window);
  const { status, utilization, resetsAt } = limit;
  const standing =
    status === "rejected"
      ? text.plan.reached(name)
      : utilization === undefined
        ? text.plan.nearly(name)
        : text.plan.near(name, formats.percent(utilization));
  const moment = (at: number) => (at - now < DAY_MS ? formats.clock(at) : formats.moment(at));
  const parts = [
    standing,
    resetsAt === undefined ? null : text.plan.resets(moment(resetsAt), formats.duration(resetsAt - now)),
    isOverage(limit) ? text.plan.overage : null,
  ];
  return parts.filter((part) => part !== null).join(" · ");
}

function nameOf(text: Catalogue, window: string): string {
  if (window === "five_hour") return text.plan.fiveHours;
  return window.startsWith("seven_day") ? text.plan.sevenDays : text.plan.other(window);
}
