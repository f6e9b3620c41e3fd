/** What goes on right now, since when, and whether it still gives signs of life. */
import type { Place } from "@/model/fleet";
import { EMPTY } from "@/model/transcript";
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
  const transcript = useApp((app) => app.world.transcripts[place.conversation.conversationId]) ?? EMPTY;
  const { activity, status, workSince, heardAt } = transcript;
  const isNeeded = status === "permission";
  const words = () => {
    if (isNeeded) return text.state.needed;
    if (activity?.state.type === "tool") return text.state.tool(toolLabel(text, activity.state.toolName ?? ""));
    return activity?.state.type === "responding" ? text.state.responding : text.state.thinking;
  };
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
