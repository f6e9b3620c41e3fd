/** What a person said: shown as typed, with who and when if it was somebody else, or how far it is on its way. */
import { Check, Clock, Ellipsis, Paperclip, TriangleAlert } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { type AttachedFile, splitAttached } from "@/model/attached";
import type { UserEntry } from "@/model/entries";
import type { Place } from "@/model/fleet";
import type { Outgoing } from "@/model/outbox";
import { dropMessage, retryMessage, takeBack } from "@/store/acts";
import { useApp } from "@/store/app";
import { useWho } from "@/store/device-name";
import { useFormats, useText } from "@/store/text";
import { IconButton } from "@/ui/button";
import { refusalText } from "@/ui/label";
import { Long } from "@/ui/long";
import { Plain } from "@/ui/plain";

const MessageSheet = lazy(() => import("./message-sheet").then((file) => ({ default: file.MessageSheet })));

export function UserMessage({ entry, place }: { entry: UserEntry; place: Place }) {
  const text = useText();
  const formats = useFormats();
  const who = useWho(entry);
  const id = entry.clientMessageId;
  const isWaiting = useApp(
    (app) => id !== undefined && app.world.transcripts[place.conversation.conversationId]?.waiting.includes(id),
  );
  const [isOpen, setOpen] = useState(false);
  return (
    <article aria-label={text.talk.you} className="flex flex-col items-end">
      <Bubble {...splitAttached(entry.text)} />
      <p className="flex flex-wrap items-center justify-end text-[12px] text-faint *:whitespace-nowrap">
        {who?.type === "named" && <span>{text.talk.otherDevice(who.name)}&nbsp;·&nbsp;</span>}
        <time dateTime={new Date(entry.at).toISOString()} title={formats.moment(entry.at)}>
          {formats.clock(entry.at)}
        </time>
        {isWaiting && id !== undefined && (
          <span>
            &nbsp;· {text.talk.inLine}{" "}
            <button
              type="button"
              className="min-h-11 px-2 underline lg:min-h-8"
              onClick={() => void takeBack(place, id).catch(() => undefined)}
            >
              {text.talk.takeBack}
            </button>
          </span>
        )}
        <IconButton label={text.message.title} onClick={() => setOpen(true)} className="-mr-3 lg:-mr-2 lg:h-7!">
          <Ellipsis size={16} />
        </IconButton>
      </p>
      {isOpen && (
        <Suspense fallback={null}>
          <MessageSheet entry={entry} place={place} close={() => setOpen(false)} />
        </Suspense>
      )}
    </article>
  );
}

export function OutgoingMessage({ message }: { message: Outgoing }) {
  const text = useText();
  const words = {
    waiting: text.talk.waiting,
    sent: text.talk.sending,
    accepted: text.talk.accepted,
    failed: text.talk.notSent,
  };
  const isFailed = message.state === "failed";
  return (
    <article aria-label={text.talk.you} className="flex flex-col items-end">
      <Bubble words={message.text} files={message.files} isFaint={!isFailed} />
      <p className={`mt-1 flex items-center gap-1.5 text-[12px] ${isFailed ? "text-red" : "text-faint"}`}>
        {isFailed ? (
          <TriangleAlert size={13} />
        ) : message.state === "accepted" ? (
          <Check size={13} />
        ) : (
          <Clock size={13} />
        )}
        {words[message.state]}
        {isFailed && message.refusal && <span>: {refusalText(text, message.refusal)}</span>}
        {(isFailed || message.state === "waiting") && (
          <button
            type="button"
            className="min-h-11 px-2 underline lg:min-h-8"
            onClick={() => dropMessage(message.clientMessageId)}
          >
            {text.talk.discard}
          </button>
        )}
        {isFailed && (
          <button
            type="button"
            className="min-h-11 px-2 underline lg:min-h-8"
            onClick={() => retryMessage(message.clientMessageId)}
          >
            {text.talk.sendAgain}
          </button>
        )}
      </p>
    </article>
  );
}

interface BubbleProps {
  words: string;
  files?: readonly AttachedFile[];
  isFaint?: boolean;
}

function Bubble({ words, files = [], isFaint = false }: BubbleProps) {
  return (
    <div
      dir="auto"
      className={`max-w-[88%] whitespace-pre-wrap rounded-lg rounded-br-sm bg-accent-soft px-4 py-2.5 [overflow-wrap:anywhere] ${isFaint ? "opacity-70" : ""}`}
    >
      <Long text={words} />
      {files.length > 0 && <Files files={files} />}
    </div>
  );
}

/** The names of what went with it; where each is on the machine is told on request. */
function Files({ files }: { files: readonly AttachedFile[] }) {
  const text = useText();
  const formats = useFormats();
  return (
    <ul aria-label={text.attach.sent} className="mt-2 flex flex-col gap-1 text-[13.5px]">
      {files.map(({ name, size, path }, index) => (
        <li key={index} title={path} className="flex items-baseline gap-2">
          <Paperclip size={13} className="shrink-0 self-center text-muted" />
          <bdi className="min-w-0">
            <Plain text={name} />
          </bdi>
          <span className="shrink-0 text-[12px] text-muted">{formats.bytes(size)}</span>
        </li>
      ))}
    </ul>
  );
}
