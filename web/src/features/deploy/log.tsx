/** What a deploy says, newest last. It follows its end until somebody scrolls up. */
import { useEffect, useRef } from "react";
import type { DeployLine } from "@/gen";
import { useText } from "@/store/text";
import { CopyButton } from "@/ui/copy";
import { Plain } from "@/ui/plain";

/** As close to the end as counts as being there, in pixels. */
const NEAR = 24;

export function Log({ lines }: { lines: readonly DeployLine[] }) {
  const text = useText();
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: every new line is a reason to follow.
  useEffect(() => {
    if (isAtEnd.current) box.current?.scrollTo({ top: box.current.scrollHeight });
  }, [lines]);
  if (lines.length === 0) return null;
  return (
    <section>
      <div className="flex items-center justify-between pb-1">
        <h2 className="text-[14px] font-semibold">{text.deploy.log}</h2>
        <CopyButton value={() => lines.map((one) => one.line).join("\n")} />
      </div>
      <div
        ref={box}
        role="log"
        aria-label={text.deploy.log}
        tabIndex={0}
        onScroll={({ currentTarget: at }) => {
          isAtEnd.current = at.scrollHeight - at.scrollTop - at.clientHeight < NEAR;
        }}
        className="max-h-80 overflow-auto rounded-md border border-line bg-code p-3 font-mono text-[12.5px] leading-5"
      >
        {lines.map(({ line, timestamp }, index) => (
          <div key={`${timestamp} ${index}`} className="whitespace-pre-wrap [overflow-wrap:anywhere]">
            <Plain text={line} />
          </div>
        ))}
      </div>
    </section>
  );
}
