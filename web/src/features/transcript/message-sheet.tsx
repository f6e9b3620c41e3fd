/** What can be done with a message of a person, in a window that a thumb reaches. */
import { Copy, GitBranch, Undo2 } from "lucide-react";
import type { ReactNode } from "react";
import { useState } from "react";
import { useLocation } from "wouter";
import { splitAttached } from "@/model/attached";
import type { UserEntry } from "@/model/entries";
import type { Place } from "@/model/fleet";
import { forkConversation, rewindConversation } from "@/store/acts";
import { putDraft } from "@/store/drafts";
import { useRight } from "@/store/rights";
import { useText } from "@/store/text";
import { Dialog } from "@/ui/dialog";
import { errorText } from "@/ui/label";
import { useOnce } from "@/ui/once";
import { Plain } from "@/ui/plain";

export interface MessageSheetProps {
  entry: UserEntry;
  place: Place;
  close: () => void;
}

export function MessageSheet({ entry, place, close }: MessageSheetProps) {
  const text = useText();
  const [, go] = useLocation();
  const { isBusy, once } = useOnce();
  const [error, setError] = useState<string | null>(null);
  const { seq } = entry;
  const { words } = splitAttached(entry.text);
  const [isSure, setSure] = useState(false);
  const attempt = (work: () => Promise<void>) =>
    once(async () => {
      try {
        await work();
        close();
      } catch (failure) {
        setError(errorText(text, failure));
      }
    });
  const branch = (beforeSeq: number) =>
    attempt(async () => {
      const id = await forkConversation(place, beforeSeq);
      putDraft(id, words);
      go(`/c/${encodeURIComponent(id)}`);
    });
  const rewind = (beforeSeq: number) =>
    attempt(async () => {
      await rewindConversation(place, beforeSeq);
      putDraft(place.conversation.conversationId, words);
    });
  const mayWrite = useRight("prompt");
  const isReady = !isBusy && place.machine.isOnline && mayWrite;
  const help = (what: string) =>
    mayWrite ? (place.machine.isOnline ? what : text.talk.offline) : text.composer.noRight;
  return (
    <Dialog title={text.message.title} onClose={close} width="max-w-md" isSheet>
      <p className="line-clamp-3 whitespace-pre-wrap border-b border-line px-5 py-3 text-[13.5px] text-muted [overflow-wrap:anywhere]">
        <Plain text={words} />
      </p>
      <div className="flex flex-col p-1.5">
        <Act
          icon={<Copy size={17} />}
          label={text.message.copy}
          act={() => {
            void navigator.clipboard?.writeText(words);
            close();
          }}
        />
        {seq !== undefined && (
          <>
            <Act
              icon={<GitBranch size={17} />}
              label={text.message.branch}
              help={help(text.message.branchHelp)}
              isDisabled={!isReady}
              act={() => branch(seq)}
            />
            <Act
              icon={<Undo2 size={17} />}
              label={isSure ? text.message.rewindSure : text.message.rewind}
              help={help(text.message.rewindHelp)}
              isDanger={isSure}
              isDisabled={!isReady}
              act={() => (isSure ? rewind(seq) : setSure(true))}
            />
          </>
        )}
      </div>
      {error && (
        <p role="alert" className="px-5 pb-4 text-[13.5px] text-red">
          {error}
        </p>
      )}
    </Dialog>
  );
}

interface ActProps {
  icon: ReactNode;
  label: string;
  help?: string;
  isDanger?: boolean;
  isDisabled?: boolean;
  act: () => void;
}

function Act({ icon, label, help, isDanger = false, isDisabled = false, act }: ActProps) {
  return (
    <button
      type="button"
      disabled={isDisabled}
      onClick={act}
      className={`flex min-h-12 items-start gap-3 rounded-md px-3.5 py-3 text-left text-[15px] leading-snug disabled:opacity-50 ${isDanger ? "bg-red-soft text-red" : "hover:bg-hover"}`}
    >
      <span className="mt-0.5 shrink-0 text-muted">{icon}</span>
      <span>
        {label}
        {help && <span className="mt-0.5 block text-[13px] text-muted">{help}</span>}
      </span>
    </button>
  );
}
