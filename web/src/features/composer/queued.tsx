/** Messages that wait until Claude is free, always in sight, each to be taken back until it is its turn. */
import { Clock } from "lucide-react";
import { useMemo } from "react";
import { useShallow } from "zustand/react/shallow";
import type { UserEntry } from "@/model/entries";
import type { Place } from "@/model/fleet";
import { EMPTY } from "@/model/transcript";
import { takeBack, tell } from "@/store/acts";
import { useApp } from "@/store/app";
import { useText } from "@/store/text";
import { errorText } from "@/ui/label";
import { useOnce } from "@/ui/once";
import { Plain } from "@/ui/plain";

export function Queued({ place }: { place: Place }) {
  const text = useText();
  const { conversationId } = place.conversation;
  const [waiting, top] = useApp(
    useShallow((app) => {
      const { waiting, entries } = app.world.transcripts[conversationId] ?? EMPTY;
      return [waiting, entries.top] as const;
    }),
  );
  const messages = useMemo(() => {
    if (waiting.length === 0) return [];
    const isWaiting = new Set(waiting);
    return top.filter(
      (entry): entry is UserEntry =>
        entry.kind === "user" && entry.clientMessageId !== undefined && isWaiting.has(entry.clientMessageId),
    );
  }, [waiting, top]);
  if (messages.length === 0) return null;
  return (
    <ul aria-label={text.composer.queued} className="mb-1.5 flex flex-col rounded-lg border border-line bg-surface">
      {messages.map((message) => (
        <Message key={message.key} message={message} place={place} />
      ))}
    </ul>
  );
}

function Message({ message, place }: { message: UserEntry; place: Place }) {
  const text = useText();
  const { isBusy, once } = useOnce();
  const id = message.clientMessageId ?? "";
  const cancel = () => once(() => takeBack(place, id).catch((error: unknown) => tell(errorText(text, error))));
  return (
    <li className="flex items-center gap-2 border-b border-line pl-3 text-[13.5px] last:border-0">
      <Clock size={14} className="shrink-0 text-faint" />
      <span dir="auto" className="min-w-0 flex-1 truncate">
        <Plain text={message.text.split("\n")[0] ?? ""} />
      </span>
      <button
        type="button"
        disabled={isBusy || !place.machine.isOnline}
        onClick={cancel}
        className="min-h-11 shrink-0 rounded-md px-3 text-[13px] text-accent hover:bg-hover disabled:opacity-50 lg:min-h-9"
      >
        {text.talk.takeBack}
      </button>
    </li>
  );
}
