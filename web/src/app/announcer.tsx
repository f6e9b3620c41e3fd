/**
 * What a screen reader is told without looking: new decisions at once, finished texts when it is quiet.
 *
 * The list itself is not live: streamed text would be read letter by letter.
 */
import { useEffect, useRef, useState } from "react";
import { headline } from "@/features/decisions/card";
import { toolTarget, toolView } from "@/model/tools";
import { useApp } from "@/store/app";
import { useText } from "@/store/text";

/** Nobody listens to more at once; the whole of it is in the list, to be read there. */
const MOST_READ = 2_000;

export function Announcer() {
  const text = useText();
  const decisions = useApp((app) => app.world.decisions);
  const said = useApp((app) => {
    const id = app.world.viewing;
    const last = id ? app.world.transcripts[id]?.entries.top.at(-1) : undefined;
    return last?.kind === "text" ? last : undefined;
  });
  const known = useRef(new Set<string>());
  const [urgent, setUrgent] = useState("");
  useEffect(() => {
    const fresh = decisions.find((one) => !known.current.has(one.toolUseId));
    known.current = new Set(decisions.map((one) => one.toolUseId));
    if (!fresh) return;
    setUrgent(
      text.decision.announcement(`${headline(text, fresh)} ${toolTarget(toolView(fresh.toolName, fresh.input))}`),
    );
  }, [decisions, text]);
  return (
    <>
      <div aria-live="assertive" className="sr-only">
        {urgent}
      </div>
      <div aria-live="polite" className="sr-only">
        {said?.text.slice(0, MOST_READ)}
      </div>
    </>
  );
}
