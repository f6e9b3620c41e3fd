/** A button that copies a text and says so. */
import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { useText } from "@/store/text";
import { IconButton } from "./button";

const SHOWN_MS = 1_500;

export function CopyButton({ value, className }: { value: string; className?: string }) {
  const text = useText();
  const [isDone, setDone] = useState(false);
  useEffect(() => {
    if (!isDone) return;
    const timer = setTimeout(() => setDone(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isDone]);
  const copy = () => void navigator.clipboard?.writeText(value).then(() => setDone(true));
  return (
    <IconButton label={isDone ? text.talk.copied : text.talk.copy} onClick={copy} className={className}>
      {isDone ? <Check size={15} className="text-green" /> : <Copy size={15} />}
    </IconButton>
  );
}
