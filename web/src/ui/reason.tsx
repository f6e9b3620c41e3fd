/** Why the policy decided as it did, in the reader's language, with the rule that matches as it is written. */
import type { PolicyReason } from "@/gen";
import { useText } from "@/store/text";
import { reasonWords } from "./label";
import { Plain } from "./plain";

export interface ReasonProps {
  /** The machine's own words, for what it knows no code for. */
  reason?: string;
  why?: PolicyReason;
}

export function Reason({ reason, why }: ReasonProps) {
  const text = useText();
  const told = why && reasonWords(text, why);
  const words = told?.words ?? reason;
  if (!words) return null;
  return (
    <span dir="auto" className="block text-[13.5px] text-muted [overflow-wrap:anywhere]">
      <Plain text={words} />
      {told?.rule !== undefined && (
        <>
          {" "}
          <code dir="ltr" className="font-mono text-[12.5px] text-ink">
            <Plain text={told.rule} />
          </code>
        </>
      )}
    </span>
  );
}
