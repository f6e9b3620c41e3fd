/**
 * Text exactly as it is, with characters that hide or reorder it made visible.
 *
 * A command that is shown for approval must look like what will run, whatever control characters it carries.
 */
import { Fragment, useLayoutEffect, useRef } from "react";
import { hasHidden, splitHidden } from "@/model/hidden";

export function Plain({ text }: { text: string }) {
  if (!hasHidden(text)) return <>{text}</>;
  const parts = splitHidden(text);
  return (
    <>
      {parts.map((part, index) => {
        if (index % 2 === 0) return <Fragment key={index}>{part}</Fragment>;
        const code = `U+${(part.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
        return (
          <mark key={index} className="rounded-sm bg-red-soft px-1 font-mono text-[0.85em] text-red" title={code}>
            {code}
          </mark>
        );
      })}
    </>
  );
}

/** The same for text that grows: its letters are added to, never replaced, so that what is selected in them stays. */
export function GrowingText({ text }: { text: string }) {
  return hasHidden(text) ? <Plain text={text} /> : <Added text={text} />;
}

function Added({ text }: { text: string }) {
  const place = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    const span = place.current;
    if (!span) return;
    if (!(span.firstChild instanceof Text)) span.append(new Text());
    const letters = span.firstChild as Text;
    const kept = sameBeginning(letters.data, text);
    letters.replaceData(kept, letters.data.length - kept, text.slice(kept));
  }, [text]);
  return <span ref={place} />;
}

/** How many letters two texts begin with alike. */
function sameBeginning(one: string, other: string): number {
  if (other.startsWith(one)) return one.length;
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  return at;
}
