/** What a call gave. Long output comes cut; the rest is one tap away. */
import { useState } from "react";
import type { ToolEntry } from "@/model/entries";
import type { Place } from "@/model/fleet";
import { toolDetail } from "@/store/acts";
import { useText } from "@/store/text";
import { Long } from "@/ui/long";
import { withoutMarks } from "./tool-images";

/** Terminal colours and cursor moves, which have no meaning here. */
const ANSI = /\u001b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\))/g;

export interface ToolOutputProps {
  tool: ToolEntry;
  place: Place;
  /** Successful output that only repeats the input is left out. */
  isQuiet?: boolean;
}

export function ToolOutput({ tool, place, isQuiet = false }: ToolOutputProps) {
  const text = useText();
  const [whole, setWhole] = useState<string | null>(null);
  const [state, setState] = useState<"idle" | "loading" | "failed">("idle");
  const end = tool.end;
  if (!end || (isQuiet && end.success)) return null;
  const shown = withoutMarks(whole ?? (end.output || end.error || ""), end.images?.length ?? 0);
  const isCut = whole === null && end.isCut === true && tool.toolUseId !== undefined;
  const load = async () => {
    if (!tool.toolUseId) return;
    setState("loading");
    try {
      const detail = await toolDetail(place, tool.toolUseId);
      setWhole(detail.output);
      setState("idle");
    } catch {
      setState("failed");
    }
  };
  if (shown === "" && end.images) return null;
  if (shown === "") return <p className="text-[12.5px] text-faint">{text.tool.noOutput}</p>;
  return (
    <div className={`overflow-hidden rounded-md border bg-code ${end.success ? "border-line" : "border-red/40"}`}>
      <pre
        tabIndex={0}
        className={`max-h-96 overflow-auto whitespace-pre-wrap p-3 font-mono text-[12.5px] leading-[1.55] [overflow-wrap:anywhere] ${end.success ? "text-muted" : "text-red"}`}
      >
        <Long text={shown.replace(ANSI, "")} isExact />
      </pre>
      {isCut && (
        <p className="flex items-center justify-between gap-3 border-t border-line py-1 pr-1 pl-3 text-[12.5px] text-faint">
          <span>{state === "failed" ? text.tool.notLoaded : text.tool.cut}</span>
          <button
            type="button"
            disabled={state === "loading"}
            onClick={load}
            className="min-h-11 rounded-sm px-3 text-accent hover:bg-hover lg:min-h-9"
          >
            {state === "loading" ? text.tool.loading : text.tool.showAll}
          </button>
        </p>
      )}
    </div>
  );
}
