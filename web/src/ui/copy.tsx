/** A button that copies a text and says so. */
import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { useText } from "@/store/text";
import { IconButton } from "./button";

const SHOWN_MS = 1_500;

export interface CopyButtonProps {
  /** The text, or how to make it when it is wanted. */
  value: string | (() => string);
  /** What is copied, where it is not plain to see. */
  label?: string;
  className?: string;
}

export function CopyButton({ value, label, className }: CopyButtonProps) {
  const text = useText();
  const [isDone, setDone] = useState(false);
  useEffect(() => {
    if (!isDone) return;
    const timer = setTimeout(() => setDone(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isDone]);
  const copy = () => {
    const whole = typeof value === "string" ? value : value();
    void navigator.clipboard?.writeText(whole).then(() => setDone(true));
  };
  return (
    <IconButton label={isDone ? text.talk.copied : (label ?? text.talk.copy)} onClick={copy} className={className}>
      {isDone ? <Check size={15} className="text-green" /> : <Copy size={15} />}
    </IconButton>
  );
}
