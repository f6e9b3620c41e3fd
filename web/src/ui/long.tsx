/**
 * Text of any length as it is: all of it is there, and the browser lays out what is near the screen.
 *
 * Short text is a text and nothing else.
 */
import { useEffect, useMemo, useState } from "react";
import { piecesOf } from "@/model/pieces";
import { Plain } from "./plain";

/** Longer text is worth pieces. */
const LONG = 50_000;

/** What is not near the screen is taken for this high. */
export const SKIPPED = "block [content-visibility:auto] [contain-intrinsic-size:auto_5000px]";

/** `isExact` text has no line break but its own: commands, files. */
export function Long({ text, isExact = false }: { text: string; isExact?: boolean }) {
  const pieces = useMemo(() => (text.length > LONG ? piecesOf(text, isExact) : null), [text, isExact]);
  if (!pieces) return <Plain text={text} />;
  return pieces.map((piece, index) => (
    <span key={index} className={SKIPPED}>
      <Plain text={piece} />
    </span>
  ));
}

/** How many of many things are drawn: a few at once, and as many again with each picture, so that the page stays awake. */
export function useGradually(count: number, step: number): number {
  const [shown, setShown] = useState(step);
  useEffect(() => {
    if (shown >= count) return;
    const frame = requestAnimationFrame(() => setShown((known) => known + step));
    return () => cancelAnimationFrame(frame);
  }, [shown, count, step]);
  return Math.min(shown, count);
}
