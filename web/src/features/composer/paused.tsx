/** Says what a message will do while nothing runs that should: go on where it was, or begin anew; and goes on by a press. */
import { CircleStop, Pause, Play } from "lucide-react";
import type { Place } from "@/model/fleet";
import type { Transcript } from "@/model/transcript";
import { sendMessage } from "@/store/acts";
import { useApp } from "@/store/app";
import { useRight } from "@/store/rights";
import { useText } from "@/store/text";
import { Button } from "@/ui/button";

type Rest = "resumes" | "fresh" | "stopped";

export function PausedNote({ place }: { place: Place }) {
  const text = useText();
  const id = place.conversation.conversationId;
  const mayWrite = useRight("prompt");
  const rest = useApp((app) => restOf(app.world.transcripts[id]));
  const isSaid = useApp((app) => app.world.outbox.some((one) => one.conversationId === id));
  // What was written here goes on with it already.
  if (!rest || isSaid) return null;
  const words = {
    resumes: text.state.pausedResumes,
    fresh: text.state.pausedFresh,
    stopped: text.composer.stopped,
  }[rest];
  const Icon = rest === "stopped" ? CircleStop : Pause;
  return (
    <div role="status" className="flex items-center gap-2 px-3 pb-2 text-[13px] text-muted">
      <Icon size={14} className="shrink-0 text-faint" />
      <span className="min-w-0 flex-1">{words}</span>
      {mayWrite && rest !== "fresh" && (
        <Button onClick={() => sendMessage(place, text.composer.resumeWords, undefined)}>
          <Play size={14} /> {text.composer.resume}
        </Button>
      )}
    </div>
  );
}

/** Why nothing runs, if something was under way before. */
function restOf(transcript: Transcript | undefined): Rest | null {
  if (transcript?.load !== "ready" || transcript.status !== "idle") return null;
  if (transcript.paused) return transcript.paused.canResume ? "resumes" : "fresh";
  return transcript.entries.top.at(-1)?.kind === "aborted" ? "stopped" : null;
}
