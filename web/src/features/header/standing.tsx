/** How a conversation stands, in words and with the reason. */
import { type Glance, glance, type Place } from "@/model/fleet";
import { useApp } from "@/store/app";
import { useNow } from "@/store/clock";
import { useUnsure } from "@/store/presence";
import { useFormats, useText } from "@/store/text";
import { pausedLabel, standingLabel, stateLabel } from "@/ui/label";
import { Plain } from "@/ui/plain";
import { StateDot } from "@/ui/state-dot";

const COLOURS: Record<Glance, string> = {
  needed: "text-amber",
  error: "text-red",
  suspect: "text-amber",
  working: "text-blue",
  unread: "",
  offline: "text-faint",
  stopped: "",
  idle: "",
};

export function Standing({ place }: { place: Place }) {
  const text = useText();
  const formats = useFormats();
  const now = useNow();
  const transcript = useApp((app) => app.world.transcripts[place.conversation.conversationId]);
  const live =
    transcript?.load === "ready"
      ? { ...place.conversation, status: transcript.status, unread: false }
      : place.conversation;
  const state = glance({ ...place, conversation: live });
  const isUnsure = useUnsure();
  const words = () => {
    if (isUnsure && state === "offline") return text.connection.connecting;
    if ((state === "idle" || state === "stopped") && transcript?.paused) return pausedLabel(text, transcript.paused);
    if (transcript?.idleStopAt !== undefined && transcript.idleStopAt > now) {
      return text.state.idleStops(formats.duration(transcript.idleStopAt - now));
    }
    const since = state === "working" ? transcript?.workSince : undefined;
    return since === undefined
      ? standingLabel(text, state, live)
      : `${stateLabel(text, state)} ${text.state.forTime(formats.duration(now - since))}`;
  };
  return (
    <span className={`flex shrink-0 items-center gap-1 ${COLOURS[state]}`}>
      <StateDot state={state} label="" />
      <Plain text={words()} />
    </span>
  );
}
