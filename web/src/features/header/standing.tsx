/** How a conversation stands, in words and with the reason. */
import { glance, type Place } from "@/model/fleet";
import { useApp } from "@/store/app";
import { useNow } from "@/store/clock";
import { useFormats, useText } from "@/store/text";
import { stateLabel } from "@/ui/label";
import { StateDot } from "@/ui/state-dot";

const COLOURS = { needed: "text-amber", working: "text-blue", unread: "", offline: "text-faint", idle: "" } as const;

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
  const words = () => {
    if (state === "idle" && transcript?.paused) {
      const { reason, idleMinutes } = transcript.paused;
      if (reason === "idle_timeout") return text.state.pausedIdle(idleMinutes);
      return reason === "manual" ? text.state.pausedManual : text.state.pausedShutdown;
    }
    if (transcript?.idleStopAt !== undefined && transcript.idleStopAt > now) {
      return text.state.idleStops(formats.duration(transcript.idleStopAt - now));
    }
    const since = state === "working" ? transcript?.workSince : undefined;
    return since === undefined
      ? stateLabel(text, state)
      : `${stateLabel(text, state)} ${text.state.forTime(formats.duration(now - since))}`;
  };
  return (
    <span className={`flex shrink-0 items-center gap-1 ${COLOURS[state]}`}>
      <StateDot state={state} label="" />
      {words()}
    </span>
  );
}
