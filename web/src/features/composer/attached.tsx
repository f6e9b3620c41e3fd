/** The files for the next message, above the field: how far each came, and what can be done with it. */
import { File as FileIcon, RotateCcw, TriangleAlert, X } from "lucide-react";
import { useEffect, useState } from "react";
import type { Catalogue } from "@/i18n";
import type { Formats } from "@/i18n/format";
import type { Place } from "@/model/fleet";
import type { Upload, Uploads } from "@/model/uploads";
import { useFormats, useText } from "@/store/text";
import { fileOf, removeUpload, retryUpload } from "@/store/upload-acts";
import { IconButton } from "@/ui/button";
import { Plain } from "@/ui/plain";
import { chooserId } from "./attach";
import { problemText } from "./attach-words";

export function Attached({ place, uploads }: { place: Place; uploads: Uploads }) {
  const text = useText();
  const isBlocked = uploads.some((one) => one.state === "failed" || one.state === "lost");
  const isWhole = uploads.every((one) => one.state === "ready");
  return (
    <div className="mb-1.5">
      <ul aria-label={text.attach.list} className="flex max-h-[30dvh] flex-wrap gap-1.5 overflow-y-auto">
        {uploads.map((upload) => (
          <Chip key={upload.key} upload={upload} place={place} />
        ))}
      </ul>
      {!isWhole && (
        <p role="status" className="px-1 pt-1 text-[13px] text-muted">
          {isBlocked ? text.attach.blocked : text.attach.hold}
        </p>
      )}
    </div>
  );
}

function Chip({ upload, place }: { upload: Upload; place: Place }) {
  const text = useText();
  const formats = useFormats();
  const { key, name, state } = upload;
  const isBroken = state === "failed" || state === "lost";
  return (
    <li
      className={`flex min-w-0 max-w-full items-center gap-2 rounded-md border bg-surface pl-2 ${isBroken ? "w-full border-red/50" : "border-line-strong"}`}
    >
      <Picture upload={upload} isBroken={isBroken} />
      <div className="min-w-0 flex-1 py-1.5">
        <p className={`text-[13.5px] leading-tight ${isBroken ? "[overflow-wrap:anywhere]" : "max-w-52 truncate"}`}>
          <bdi>
            <Plain text={name} />
          </bdi>
        </p>
        <p className={`text-[12px] leading-tight ${isBroken ? "text-red" : "text-muted"}`}>
          {standing(text, formats, upload, place.machine.isOnline)}
        </p>
        {state === "sending" && <Bar upload={upload} />}
      </div>
      {state === "failed" && (
        <Again label={text.attach.retry} act={() => retryUpload(key)} icon={<RotateCcw size={15} />} />
      )}
      {state === "lost" && (
        <Again label={text.attach.choose} act={() => document.getElementById(chooserId(place))?.click()} />
      )}
      <IconButton label={text.attach.remove(name)} onClick={() => removeUpload(key)}>
        <X size={16} />
      </IconButton>
    </li>
  );
}

function standing(text: Catalogue, formats: Formats, upload: Upload, isOnline: boolean): string {
  const size = formats.bytes(upload.size);
  switch (upload.state) {
    case "ready":
      return size;
    case "sending":
      return `${size} · ${formats.percent(part(upload))}`;
    case "waiting":
      return `${size} · ${isOnline ? text.attach.waiting : text.attach.offline}`;
    case "lost":
      return text.attach.lost;
    case "failed":
      return problemText(text, upload);
  }
}

function part({ sent, size }: Upload): number {
  return size === 0 ? 0 : sent / size;
}

function Bar({ upload }: { upload: Upload }) {
  const text = useText();
  return (
    <progress
      max={100}
      value={Math.floor(part(upload) * 100)}
      aria-label={text.attach.progress(upload.name)}
      className="mt-1 block h-1 w-full accent-accent"
    />
  );
}

function Again({ label, act, icon }: { label: string; act: () => void; icon?: React.ReactNode }) {
  return (
    <button
      type="button"
      onClick={act}
      className="flex min-h-11 shrink-0 items-center gap-1.5 rounded-md px-2 text-[13px] text-accent hover:bg-hover lg:min-h-9"
    >
      {icon}
      {label}
    </button>
  );
}

/** Pictures that a browser draws by itself; all others are shown by a sign. */
const DRAWN = /^image\/(png|jpeg|gif|webp|avif)$/;

function Picture({ upload, isBroken }: { upload: Upload; isBroken: boolean }) {
  const url = usePicture(upload);
  if (isBroken) return <TriangleAlert size={17} className="shrink-0 text-red" />;
  if (url === null) return <FileIcon size={17} className="shrink-0 text-faint" />;
  return <img src={url} alt="" className="size-9 shrink-0 rounded-sm object-cover" />;
}

/** An address for the file on this page, which ends with the chip. */
function usePicture({ key, mimeType }: Upload): string | null {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    const file = DRAWN.test(mimeType) ? fileOf(key) : undefined;
    if (!file) return;
    const made = URL.createObjectURL(file);
    setUrl(made);
    return () => {
      URL.revokeObjectURL(made);
      setUrl(null);
    };
  }, [key, mimeType]);
  return url;
}
