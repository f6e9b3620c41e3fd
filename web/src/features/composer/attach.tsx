/** Ways by which files come to a message: a button, the clipboard, a drop. What they become is in `attached.tsx`. */
import { Camera, Paperclip } from "lucide-react";
import { type ClipboardEvent, type DragEvent, useEffect, useMemo, useRef, useState } from "react";
import type { Catalogue } from "@/i18n";
import type { Place } from "@/model/fleet";
import { ofConversation, type Uploads } from "@/model/uploads";
import { useRight } from "@/store/rights";
import { useText } from "@/store/text";
import { attach, useUploads } from "@/store/uploads";
import { IconButton } from "@/ui/button";
import { Menu } from "@/ui/menu";
import { problemText } from "./attach-words";

/** The files for the next message of a conversation. */
export function useAttached(conversationId: string): Uploads {
  const uploads = useUploads((state) => state.uploads);
  return useMemo(() => ofConversation(uploads, conversationId), [uploads, conversationId]);
}

export function AttachButton({ place }: { place: Place }) {
  const text = useText();
  const mayWrite = useRight("prompt");
  const chooser = useRef<HTMLInputElement>(null);
  const camera = useRef<HTMLInputElement>(null);
  const [isTouch] = useState(() => matchMedia("(pointer: coarse)").matches);
  const input = (more: React.InputHTMLAttributes<HTMLInputElement>, ref: React.Ref<HTMLInputElement>) => (
    <input
      ref={ref}
      type="file"
      hidden
      onChange={({ target }) => {
        attach(place, [...(target.files ?? [])]);
        // So that the same file can be chosen again.
        target.value = "";
      }}
      {...more}
    />
  );
  const button = (props: React.ButtonHTMLAttributes<HTMLButtonElement>) => (
    <IconButton
      label={text.attach.button}
      disabled={!mayWrite}
      className={isTouch ? "lg:size-11!" : "lg:size-10!"}
      {...props}
    >
      <Paperclip size={19} />
    </IconButton>
  );
  return (
    <>
      {input({ multiple: true, id: chooserId(place) }, chooser)}
      {isTouch && input({ accept: "image/*", capture: "environment" }, camera)}
      {isTouch ? (
        <Menu
          label={text.attach.button}
          side="up"
          align="left"
          items={[
            { label: text.attach.files, icon: <Paperclip size={17} />, act: () => chooser.current?.click() },
            { label: text.attach.camera, icon: <Camera size={17} />, act: () => camera.current?.click() },
          ]}
          button={button}
        />
      ) : (
        button({ onClick: () => chooser.current?.click() })
      )}
    </>
  );
}

/** By which name a chip finds the field for files, to let one be chosen again. */
export function chooserId({ conversation }: Place): string {
  return `files-${conversation.conversationId}`;
}

/** Takes pictures and files out of the clipboard; where it has words as well, those are meant. */
export function pasteFiles(place: Place, event: ClipboardEvent): void {
  const { files, types } = event.clipboardData;
  if (files.length === 0 || types.includes("text/plain")) return;
  event.preventDefault();
  attach(place, [...files]);
}

/** Tells those who cannot see it what arrived and what did not. */
export function AttachNews({ uploads }: { uploads: Uploads }) {
  const text = useText();
  const known = useRef(new Map<string, string>());
  const [news, setNews] = useState("");
  useEffect(() => {
    const isNews = ({ key, state }: Uploads[number]) => known.current.has(key) && known.current.get(key) !== state;
    const fresh = uploads.filter(isNews);
    known.current = new Map(uploads.map((one) => [one.key, one.state]));
    const words = fresh.flatMap((one) => newsOf(text, one));
    if (words.length > 0) setNews(words.join(" "));
  }, [uploads, text]);
  return (
    <div aria-live="polite" className="sr-only">
      {news}
    </div>
  );
}

function newsOf(text: Catalogue, upload: Uploads[number]): string[] {
  if (upload.state === "ready") return [text.attach.ready(upload.name)];
  return upload.state === "failed" ? [text.attach.failed(upload.name, problemText(text, upload))] : [];
}

export interface Drop {
  isOver: boolean;
  /** For what takes the drop, which is everything on the screen of a conversation. */
  zone: Pick<React.HTMLAttributes<HTMLElement>, "onDragEnter" | "onDragOver" | "onDragLeave" | "onDrop">;
}

/** Files that are dragged from elsewhere; words that are dragged go their usual way. */
export function useDrop(place: Place | undefined): Drop {
  const [isOver, setOver] = useState(false);
  const mayWrite = useRight("prompt");
  const isMeant = (event: DragEvent) => mayWrite && place !== undefined && event.dataTransfer.types.includes("Files");
  const over = (event: DragEvent) => {
    if (!isMeant(event)) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "copy";
    setOver(true);
  };
  return {
    isOver,
    zone: {
      onDragEnter: over,
      onDragOver: over,
      onDragLeave: (event) => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOver(false);
      },
      onDrop: (event) => {
        setOver(false);
        if (!isMeant(event) || !place) return;
        event.preventDefault();
        attach(place, [...event.dataTransfer.files]);
      },
    },
  };
}

export function DropHint() {
  const text = useText();
  return (
    <div
      aria-hidden
      className="pointer-events-none absolute inset-2 z-30 flex items-center justify-center rounded-lg border-2 border-accent border-dashed bg-raised/90 text-[17px] font-semibold"
    >
      {text.attach.drop}
    </div>
  );
}
