/** A picture that lies on a machine: fetched when it is to be seen, and drawn from what came. */
import { useEffect, useState } from "react";
import { useText } from "@/store/text";
import { Button } from "./button";
import { useLoaded } from "./loaded";
import { Skeleton } from "./states";

/** What every browser draws and nothing of which is executed. */
const DRAWN = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** The kind of a picture by the name of its file; nothing if it is no picture that is drawn here. */
export function pictureKind(path: string): string | undefined {
  const ending = /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase();
  return DRAWN.find((kind) => kind === `image/${ending === "jpg" ? "jpeg" : ending}`);
}

export interface PictureProps {
  /** For those who do not see it. */
  label: string;
  mimeType: string;
  /** Its bytes in Base64; must be the same for as long as the same picture is wanted. */
  load: () => Promise<string>;
}

export function Picture({ label, mimeType, load }: PictureProps) {
  const text = useText();
  const { value, error, again } = useLoaded(load);
  const [isWhole, setWhole] = useState(false);
  const [isBroken, setBroken] = useState(false);
  const url = useAddress(value, mimeType);
  if (error) {
    return (
      <p className="flex items-center gap-3 text-[12.5px] text-faint">
        {error}
        <Button onClick={again}>{text.connection.retry}</Button>
      </p>
    );
  }
  if (isBroken) return <p className="text-[12.5px] text-faint">{text.tool.brokenPicture}</p>;
  if (url === null) return <Skeleton label={text.tool.loading} />;
  return (
    <button
      type="button"
      aria-expanded={isWhole}
      onClick={() => setWhole(!isWhole)}
      className="block max-w-full self-start overflow-hidden rounded-md border border-line bg-code"
    >
      <img
        src={url}
        alt={label}
        onError={() => setBroken(true)}
        className={isWhole ? "max-w-full" : "max-h-72 max-w-full object-contain"}
      />
    </button>
  );
}

/** An address for the picture on this page, which ends with what shows it. */
function useAddress(base64: string | null, mimeType: string): string | null {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    if (base64 === null) return;
    const made = URL.createObjectURL(new Blob([bytesOf(base64)], { type: drawnKind(mimeType) }));
    setUrl(made);
    return () => {
      URL.revokeObjectURL(made);
      setUrl(null);
    };
  }, [base64, mimeType]);
  return url;
}

/** A kind that is not drawn is never given to the browser under its own name. */
function drawnKind(mimeType: string): string {
  return DRAWN.includes(mimeType) ? mimeType : "application/octet-stream";
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) bytes[index] = text.charCodeAt(index);
  return bytes;
}
