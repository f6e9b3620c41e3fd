/** A block of code: its language, a copy button, and colours once they are there. Nothing moves when they come. */
import { memo, type RefObject, useEffect, useRef, useState } from "react";
import { useText } from "@/store/text";
import { CopyButton } from "./copy";
import { highlight, type Piece } from "./highlight";
import { Long } from "./long";
import { Plain } from "./plain";

export interface CodeProps {
  code: string;
  language: string;
  /** Text that still grows is not coloured: the colours would flicker. */
  isOpen?: boolean;
}

export const CodeBlock = memo(function CodeBlock({ code, language, isOpen = false }: CodeProps) {
  const text = useText();
  return (
    <figure className="group overflow-hidden rounded-md border border-line bg-code">
      <figcaption className="flex h-9 items-center justify-between border-b border-line pl-3 text-[12px] text-faint">
        <span className="truncate">
          <Plain text={language || text.markdown.code} />
        </span>
        <CopyButton value={code} className="-my-1 lg:my-0 lg:size-8!" />
      </figcaption>
      <pre dir="ltr" tabIndex={0} className="overflow-x-auto p-3 font-mono text-[13px] leading-[1.6]">
        <Coloured code={code} language={isOpen ? "" : language} />
      </pre>
    </figure>
  );
});

/** Code without a frame. */
export function Coloured({ code, language }: { code: string; language: string }) {
  const place = useRef<HTMLElement>(null);
  const lines = useUnselected(place, useHighlight(code, language));
  if (!lines) {
    return (
      <code ref={place}>
        <Long text={code} isExact />
      </code>
    );
  }
  return (
    <code ref={place}>
      {lines.map((line, index) => (
        <span key={index}>
          {line.map((piece, at) => (
            <span key={at} style={{ color: piece.color }}>
              <Plain text={piece.text} />
            </span>
          ))}
          {index < lines.length - 1 && "\n"}
        </span>
      ))}
    </code>
  );
}

/** Colours replace the letters, so they wait until nothing of the code is selected. */
function useUnselected(place: RefObject<HTMLElement | null>, lines: Piece[][] | null): Piece[][] | null {
  const [shown, setShown] = useState<Piece[][] | null>(null);
  useEffect(() => {
    const show = () => {
      if (isSelected(place.current)) return;
      document.removeEventListener("selectionchange", show);
      setShown(lines);
    };
    document.addEventListener("selectionchange", show);
    show();
    return () => document.removeEventListener("selectionchange", show);
  }, [place, lines]);
  return lines === null ? null : shown;
}

function isSelected(element: HTMLElement | null): boolean {
  const selection = getSelection();
  return element !== null && selection !== null && !selection.isCollapsed && selection.containsNode(element, true);
}

export function useHighlight(code: string, language: string): Piece[][] | null {
  const [result, setResult] = useState<{ code: string; language: string; lines: Piece[][] | null } | null>(null);
  useEffect(() => {
    if (language === "") return;
    let isCurrent = true;
    void highlight(code, language).then((lines) => isCurrent && setResult({ code, language, lines }));
    return () => {
      isCurrent = false;
    };
  }, [code, language]);
  return result?.code === code && result.language === language ? result.lines : null;
}
