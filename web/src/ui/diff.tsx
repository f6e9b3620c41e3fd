/** A change to a file, line by line, whole: what is not shown cannot be approved. */
import { memo } from "react";
import type { DiffLine } from "@/model/diff";
import { Plain } from "./plain";

const MARKS = { same: " ", added: "+", removed: "−" } as const;
const LOOK = { same: "", added: "bg-green-soft", removed: "bg-red-soft" } as const;
const MARK_LOOK = { same: "text-faint", added: "text-green", removed: "text-red" } as const;

export const DiffView = memo(function DiffView({ diff }: { diff: readonly DiffLine[] }) {
  return (
    <div
      dir="ltr"
      className="overflow-hidden rounded-md border border-line bg-code font-mono text-[12.5px] leading-[1.6]"
    >
      {diff.map((line, index) => (
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
