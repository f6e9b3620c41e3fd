/** A call of a tool: one informative line until it is opened. */
import { ChevronRight } from "lucide-react";
import { memo, type ReactNode, useMemo, useState } from "react";
import type { Entry, ToolEntry } from "@/model/entries";
import type { Place } from "@/model/fleet";
import { toolTarget, toolView } from "@/model/tools";
import { useApp } from "@/store/app";
import { useDeviceName } from "@/store/device-name";
import { useFormats, useText } from "@/store/text";
import { useWholeInput } from "@/store/whole-input";
import { answerWords, toolLabel } from "@/ui/label";
import { Plain } from "@/ui/plain";
import { ToolIcon } from "@/ui/tool-icon";
import { taskWords } from "./remarks";
import { ToolBody } from "./tool-body";

export interface ToolCardProps {
  tool: ToolEntry;
  place: Place;
  /** Draws what a sub-agent said and did. */
  renderEntry: (entry: Entry, place: Place) => ReactNode;
}

export const ToolCard = memo(function ToolCard({ tool, place, renderEntry }: ToolCardProps) {
  const text = useText();
  const [isOpen, setOpen] = useState(tool.toolName === "TodoWrite");
  const whole = useWholeInput(place, isOpen ? tool : undefined);
  const input = whole ?? tool.input;
  const view = useMemo(() => toolView(tool.toolName, input), [tool.toolName, input]);
  const below = useBelow(place, tool.toolUseId);
  const isRunning = !tool.end;
  const last = below?.findLast((entry) => entry.kind === "tool") as ToolEntry | undefined;
  return (
    <div className="overflow-hidden rounded-md border border-line bg-surface">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="flex min-h-11 w-full items-center gap-2.5 px-3 py-1.5 text-left text-[13.5px] hover:bg-hover lg:min-h-9"
      >
        <span className={isRunning ? "text-blue" : "text-faint"}>
          <ToolIcon view={view} />
        </span>
        <span className="shrink-0 font-medium">{toolLabel(text, tool.toolName)}</span>
        <span className="min-w-0 flex-1 truncate font-mono text-[12.5px] text-muted">
          <Plain text={toolTarget(view).split("\n")[0] ?? ""} />
        </span>
        <ToolEndWords tool={tool} />
        <ChevronRight
          size={15}
          className={`shrink-0 text-faint transition-transform duration-150 ${isOpen ? "rotate-90" : ""}`}
        />
      </button>
      {!isOpen && isRunning && last && (
        <p className="truncate border-t border-line px-3 py-1.5 text-[12.5px] text-faint">
          {toolLabel(text, last.toolName)}{" "}
          <span className="font-mono">{toolTarget(toolView(last.toolName, last.input))}</span>
        </p>
      )}
      {isOpen && (
        <div className="flex flex-col gap-3 border-t border-line p-3">
          <AnswerWords tool={tool} />
          <ToolBody tool={tool} view={view} place={place}>
            {below && below.length > 0 && (
              <div className="flex flex-col gap-2 border-l-2 border-line pl-3">
                {below.map((entry) => renderEntry(entry, place))}
              </div>
            )}
          </ToolBody>
        </div>
      )}
    </div>
  );
});

function useBelow(place: Place, toolUseId: string | undefined): readonly Entry[] | undefined {
  return useApp((app) => {
    const entries = app.world.transcripts[place.conversation.conversationId]?.entries;
    return toolUseId ? entries?.below.get(toolUseId) : undefined;
  });
}

function ToolEndWords({ tool }: { tool: ToolEntry }) {
  const text = useText();
  const formats = useFormats();
  const view = useMemo(() => toolView(tool.toolName, tool.input), [tool.toolName, tool.input]);
  const counts =
    view.type === "edit" ? (
      <span className="shrink-0 font-mono text-[12px]">
        <span className="text-green">+{view.added}</span> <span className="text-red">−{view.removed}</span>
      </span>
    ) : view.type === "write" && view.lines > 0 ? (
      <span className="shrink-0 font-mono text-[12px] text-green">+{view.lines}</span>
    ) : view.type === "todo" ? (
      <span className="shrink-0 text-[12px] text-faint">{text.tool.progress(view.done, view.items.length)}</span>
    ) : null;
  const took = tool.end ? tool.end.at - tool.at : 0;
  const isAsked = useApp((app) => app.world.decisions.some((one) => one.toolUseId === tool.toolUseId));
  return (
    <>
      {counts}
      {tool.task && tool.task.status !== "completed" && (
        <span className="shrink-0 text-[12px] text-blue">{taskWords(text, tool.task.status)}</span>
      )}
      {!tool.end && !isAsked && <span className="shrink-0 text-[12px] text-blue">{text.tool.running}</span>}
      {!tool.end && isAsked && <span className="shrink-0 text-[12px] text-amber">{text.state.needed}</span>}
      {tool.end && !tool.end.success && (
        <span className="shrink-0 text-[12px] text-red">
          {tool.answer?.decision === "deny" ? text.tool.denied : text.tool.failed}
        </span>
      )}
      {tool.end?.success && took >= 1_000 && (
        <span className="shrink-0 text-[12px] text-faint">{formats.duration(took)}</span>
      )}
    </>
  );
}

function AnswerWords({ tool }: { tool: ToolEntry }) {
  const text = useText();
  const formats = useFormats();
  const name = useDeviceName(tool.answer);
  const answer = tool.answer;
  if (!answer) return null;
  return (
    <p className="text-[12.5px] text-faint">
      {answerWords(text, answer.decision, name ?? text.tool.byRule)}
      {answer.at && ` · ${formats.moment(answer.at)}`}
      {answer.content && <span className="text-muted"> · {answer.content}</span>}
    </p>
  );
}
