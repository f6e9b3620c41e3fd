/** What goes on right now, since when, and whether it still gives signs of life. */
import type { Place } from "@/model/fleet";
import { EMPTY, type Transcript } from "@/model/transcript";
import { useApp } from "@/store/app";
import { useNow } from "@/store/clock";
import { useFormats, useText } from "@/store/text";
import { toolLabel } from "@/ui/label";
import { Star } from "@/ui/star";

/** Silence shorter than this is normal and not worth a word. */
const QUIET_MS = 8_000;

export function Activity({ place }: { place: Place }) {
  const text = useText();
  const formats = useFormats();
  const now = useNow();
  const { conversationId } = place.conversation;
  const transcript = useApp((app) => app.world.transcripts[conversationId]) ?? EMPTY;
  const { activity, status, workSince, heardAt, retry } = transcript;
  const isNeeded = status === "permission";
  // The card below says it, with all it is about.
  const isAsked = useApp((app) => app.world.decisions.some((one) => one.conversationId === conversationId));
  if (isNeeded && isAsked) return null;
  const words = () => {
    if (isNeeded) return text.state.needed;
    if (activity?.state.type === "tool") return text.state.tool(toolLabel(text, activity.state.toolName ?? ""));
    return activity?.state.type === "responding" ? text.state.responding : text.state.thinking;
  };
  if (retry && !isNeeded) return <Retrying retry={retry} now={now} />;
  const since = activity?.since ?? workSince;
  const isQuiet = heardAt !== undefined && now - heardAt > QUIET_MS && !isNeeded;
  return (
    <p className={`flex items-center gap-2.5 text-[13.5px] ${isNeeded ? "text-amber" : "text-muted"}`}>
      <Star size={18} state={isNeeded ? "needed" : "working"} />
      <span>
        {words()}
        {since !== undefined && now - since > 1_500 && ` ${text.state.forTime(formats.duration(now - since))}`}
        {isQuiet && <span className="text-faint"> · {text.state.lastHeard(formats.duration(now - heardAt))}</span>}
      </span>
    </p>
  );
}

/** A request failed and comes again by itself: why, which try, and when. */
function Retrying({ retry, now }: { retry: NonNullable<Transcript["retry"]>; now: number }) {
  const text = useText();
  const formats = useFormats();
  const { cause, attempt, maxRetries, apiStatus, until } = retry;
  const facts = [
    maxRetries === undefined ? null : text.plan.tryOf(attempt, maxRetries),
    until !== undefined && until > now ? text.plan.inTime(formats.duration(until - now + 999)) : null,
    apiStatus === undefined ? null : text.plan.status(apiStatus),
  ].filter((fact) => fact !== null);
  return (
    <p className="flex items-center gap-2.5 text-[13.5px] text-amber">
      <Star size={18} state="working" />
      <span>
        {text.plan.retrying(text.cause[cause] ?? text.cause.other)}
        {facts.length > 0 && <span className="text-muted"> · {facts.join(" · ")}</span>}
      </span>
    </p>
  );
}
