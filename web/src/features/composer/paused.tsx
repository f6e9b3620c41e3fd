/** Says what a message will do while the process is stopped: go on where it was, or begin anew. */
import { Pause } from "lucide-react";
import { useApp } from "@/store/app";
import { useText } from "@/store/text";

export function PausedNote({ conversationId }: { conversationId: string }) {
  const text = useText();
  const paused = useApp((app) => {
    const transcript = app.world.transcripts[conversationId];
    return transcript?.load === "ready" && transcript.status === "idle" ? transcript.paused : undefined;
  });
  if (!paused) return null;
  return (
    <p role="status" className="flex items-center gap-2 px-3 pb-2 text-[13px] text-muted">
      <Pause size={14} className="shrink-0 text-faint" />
      {paused.canResume ? text.state.pausedResumes : text.state.pausedFresh}
    </p>
  );
}
