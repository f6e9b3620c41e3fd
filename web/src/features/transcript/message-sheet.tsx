/** What can be done with a message of a person, in a window that a thumb reaches. */
import { Copy, GitBranch } from "lucide-react";
import type { ReactNode } from "react";
import { useState } from "react";
import { useLocation } from "wouter";
import type { UserEntry } from "@/model/entries";
import type { Place } from "@/model/fleet";
import { forkConversation } from "@/store/acts";
import { saveDraft } from "@/store/drafts";
import { useText } from "@/store/text";
import { Dialog } from "@/ui/dialog";
import { errorText } from "@/ui/label";
import { Plain } from "@/ui/plain";

export interface MessageSheetProps {
  entry: UserEntry;
  place: Place;
  close: () => void;
}

export function MessageSheet({ entry, place, close }: MessageSheetProps) {
  const text = useText();
  const [, go] = useLocation();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const { seq } = entry;
  const branch = async () => {
    if (seq === undefined) return;
    setBusy(true);
    try {
      const id = await forkConversation(place, seq);
      saveDraft(id, entry.text);
      close();
      go(`/c/${encodeURIComponent(id)}`);
    } catch (failure) {
      setError(errorText(text, failure));
      setBusy(false);
    }
  };
  return (
    <Dialog title={text.message.title} onClose={close} width="max-w-md" isSheet>
      <p className="line-clamp-3 whitespace-pre-wrap border-b border-line px-5 py-3 text-[13.5px] text-muted [overflow-wrap:anywhere]">
        <Plain text={entry.text} />
      </p>
      <div className="flex flex-col p-1.5">
        <Act
          icon={<Copy size={17} />}
          label={text.message.copy}
          act={() => {
            void navigator.clipboard?.writeText(entry.text);
            close();
          }}
        />
        {seq !== undefined && (
          <Act
            icon={<GitBranch size={17} />}
            label={text.message.branch}
            help={place.machine.isOnline ? text.message.branchHelp : text.talk.offline}
            isDisabled={isBusy || !place.machine.isOnline}
            act={() => void branch()}
          />
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
  isDisabled?: boolean;
  act: () => void;
}

function Act({ icon, label, help, isDisabled = false, act }: ActProps) {
  return (
    <button
      type="button"
      disabled={isDisabled}
      onClick={act}
      className="flex min-h-12 items-start gap-3 rounded-md px-3.5 py-3 text-left text-[15px] leading-snug hover:bg-hover disabled:opacity-50"
    >
      <span className="mt-0.5 shrink-0 text-muted">{icon}</span>
      <span>
        {label}
        {help && <span className="mt-0.5 block text-[13px] text-muted">{help}</span>}
      </span>
    </button>
  );
}
