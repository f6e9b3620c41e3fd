/** A change to a file, line by line, whole: what is not shown cannot be approved. */
import { memo } from "react";
import type { DiffLine } from "@/model/diff";
import { useGradually } from "./long";
import { Plain } from "./plain";

const MARKS = { same: " ", added: "+", removed: "−" } as const;
const LOOK = { same: "", added: "bg-green-soft", removed: "bg-red-soft" } as const;
const MARK_LOOK = { same: "text-faint", added: "text-green", removed: "text-red" } as const;

/** So many lines are one part for the browser, which lays it out only near the screen; so many parts are drawn at once. */
const PART = 200;
const PARTS_AT_ONCE = 5;

export const DiffView = memo(function DiffView({ diff }: { diff: readonly DiffLine[] }) {
  const shown = useGradually(Math.ceil(diff.length / PART), PARTS_AT_ONCE);
  return (
    <div
      dir="ltr"
      aria-busy={shown * PART < diff.length || undefined}
      className="overflow-hidden rounded-md border border-line bg-code font-mono text-[12.5px] leading-[1.6]"
    >
      {Array.from({ length: shown }, (_, index) => (
        <Part key={index} diff={diff} from={index * PART} />
      ))}
    </div>
  );
});

const Part = memo(function Part({ diff, from }: { diff: readonly DiffLine[]; from: number }) {
  return (
    <div className="[contain-intrinsic-size:auto_4000px] [content-visibility:auto]">
      {diff.slice(from, from + PART).map((line, index) => (
        <div key={index} className={`flex ${LOOK[line.type]}`}>
          <span className="w-9 shrink-0 select-none pr-2 text-right text-faint" aria-hidden="true">
            {line.after ?? line.before}
          </span>
          <span className={`w-4 shrink-0 select-none ${MARK_LOOK[line.type]}`}>{MARKS[line.type]}</span>
          <span className="min-w-0 flex-1 whitespace-pre-wrap break-words pr-2 [overflow-wrap:anywhere]">
            <Plain text={line.text} />
          </span>
        </div>
      ))}
    </div>
  );
});
