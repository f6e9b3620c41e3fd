/**
 * What a machine says in its own words, which are English: beside a sentence in the reader's language, never instead of it.
 */
import { useText } from "@/store/text";
import { Plain } from "./plain";

export function MachineWords({ words, className = "" }: { words: string | undefined; className?: string }) {
  const text = useText();
  if (!words) return null;
  return (
    <span className={`block text-[12.5px] text-muted [overflow-wrap:anywhere] ${className}`}>
      {text.broken.machineSays}{" "}
      <span dir="auto" lang="en">
        <Plain text={words} />
      </span>
    </span>
  );
}
