/** What a person said: shown as typed, with who and when if it was somebody else, or how far it is on its way. */
import { Check, Clock, Ellipsis, TriangleAlert } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import type { UserEntry } from "@/model/entries";
import type { Place } from "@/model/fleet";
import type { Outgoing } from "@/model/outbox";
import { dropMessage, retryMessage, takeBack } from "@/store/acts";
import { useApp } from "@/store/app";
import { useFormats, useText } from "@/store/text";
import { IconButton } from "@/ui/button";
import { refusalText } from "@/ui/label";
import { Plain } from "@/ui/plain";

const MessageSheet = lazy(() => import("./message-sheet").then((file) => ({ default: file.MessageSheet })));

export function UserMessage({ entry, place }: { entry: UserEntry; place: Place }) {
  const text = useText();
  const formats = useFormats();
  const me = useApp((app) => app.world.me?.deviceId);
  const name = useApp((app) => app.world.devices.find((device) => device.deviceId === entry.deviceId)?.name);
  const id = entry.clientMessageId;
  const isWaiting = useApp(
    (app) => id !== undefined && app.world.transcripts[place.conversation.conversationId]?.waiting.includes(id),
  );
  const [isOpen, setOpen] = useState(false);
  const isOther = entry.deviceId !== undefined && me !== undefined && entry.deviceId !== me;
  return (
    <article aria-label={text.talk.you} className="flex flex-col items-end">
      <Bubble text={entry.text} />
      <p className="flex items-center text-[12px] text-faint">
        {isOther && <span>{text.talk.otherDevice(name ?? text.tool.device(entry.deviceId ?? 0))}&nbsp;·&nbsp;</span>}
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
      <Bubble text={message.text} isFaint={!isFailed} />
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

function Bubble({ text, isFaint = false }: { text: string; isFaint?: boolean }) {
  return (
    <div
      dir="auto"
      className={`max-w-[88%] whitespace-pre-wrap rounded-lg rounded-br-sm bg-accent-soft px-4 py-2.5 [overflow-wrap:anywhere] ${isFaint ? "opacity-70" : ""}`}
    >
      <Plain text={text} />
    </div>
  );
}
