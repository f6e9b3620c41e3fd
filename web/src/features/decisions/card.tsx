/** One decision, whole: what is asked, exactly what would happen, and the answers. */
import { Bot, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import type { Catalogue } from "@/i18n";
import type { Decision } from "@/model/decisions";
import { findTool } from "@/model/entries";
import { hidesSomething } from "@/model/hidden";
import { toolView } from "@/model/tools";
import { useApp } from "@/store/app";
import { useNow } from "@/store/clock";
import { useSteady } from "@/store/docked";
import { usePlace } from "@/store/place";
import { useFormats, useText } from "@/store/text";
import { useWholeInput } from "@/store/whole-input";
import { toolLabel } from "@/ui/label";
import { Reason } from "@/ui/reason";
import { ToolIcon } from "@/ui/tool-icon";
import { Answers } from "./answers";
import { Questions } from "./questions";
import { Shown } from "./shown";

export interface DecisionCardProps {
  decision: Decision;
  /** What stands at the end of the heading: place in the row, enlarge. */
  tools?: ReactNode;
  /** Whether the body scrolls inside the card, so that the answers stay in reach. */
  isDocked?: boolean;
  /** What moves the card when it changes, apart from the card itself: those before it in a list. */
  around?: string;
}

export function DecisionCard({ decision, tools, isDocked = false, around = "" }: DecisionCardProps) {
  const text = useText();
  const isSteady = useSteady(`${decision.conversationId} ${decision.toolUseId} ${decision.inputHash} ${around}`);
  const input = useInput(decision);
  const view = toolView(decision.toolName, input);
  const isQuestion = decision.kind === "question";
  return (
    <section aria-label={headline(text, decision)} className="flex min-h-0 flex-1 flex-col">
      <header className="flex items-center gap-2.5 py-2 pr-2 pl-4">
        <span className="text-amber">
          <ToolIcon view={view} size={18} />
        </span>
        <div className="flex min-w-0 flex-1 flex-col sm:flex-row sm:items-baseline sm:gap-2">
          <h3 className="text-[15px] font-semibold leading-snug">{headline(text, decision)}</h3>
          <Where decision={decision} />
        </div>
        {tools}
      </header>
      <div
        tabIndex={isDocked ? 0 : undefined}
        className={`flex flex-col gap-3 px-4 pb-3 ${isDocked ? "min-h-0 flex-1 overflow-y-auto" : ""}`}
      >
        {decision.parent && (
          <p className="flex items-center gap-1.5 text-[13px] text-muted">
            <Bot size={14} /> {text.decision.bySubAgent}
          </p>
        )}
        <Reason reason={decision.reason} why={decision.why} />
        {hidesSomething([input, decision.questions]) && (
          <p className="flex items-center gap-1.5 text-[13px] text-red">
            <TriangleAlert size={14} /> {text.decision.hidden}
          </p>
        )}
        {isQuestion ? (
          <Questions key={decision.toolUseId} decision={decision} isSteady={isSteady} />
        ) : (
          <Shown decision={decision} view={view} input={input} />
        )}
      </div>
      {!isQuestion && <Answers key={decision.toolUseId} decision={decision} isSteady={isSteady} />}
    </section>
  );
}

/** Instead of a card that cannot be drawn: what cannot be seen cannot be answered here. */
export function BrokenCard() {
  const text = useText();
  return <p className="px-4 py-3 text-[14px] text-muted">{text.broken.card}</p>;
}

export function headline(text: Catalogue, decision: Decision): string {
  switch (decision.kind) {
    case "permission": {
      const isChange =
        decision.toolName === "NotebookEdit" ||
        decision.toolName === "Edit" ||
        decision.toolName === "Write" ||
        decision.toolName === "MultiEdit";
      return isChange ? text.decision.permissionEdit : text.decision.permission;
    }
    case "question":
      return text.decision.question;
    case "plan":
      return text.decision.plan;
    case "trust":
      return text.decision.trust;
    case "elicitation":
      return text.decision.elicitation;
    case "dialog":
      return text.decision.dialog;
  }
}

function Where({ decision }: { decision: Decision }) {
  const text = useText();
  const formats = useFormats();
  const now = useNow();
  const name = toolLabel(text, decision.toolName);
  const waited = now - decision.askedAt;
  return (
    <span className="font-normal text-[13px] text-muted">
      {decision.kind === "permission" && `${name} · `}
      {text.decision.waitsFor(formats.duration(waited))}
    </span>
  );
}

/** Some requests come without their input; then the call itself, which the conversation shows, has it. */
function useInput(decision: Decision): unknown {
  const called = useApp((app) => {
    const entries = app.world.transcripts[decision.conversationId]?.entries;
    return entries ? findTool(entries, decision.toolUseId) : undefined;
  });
  const place = usePlace(decision.conversationId);
  const isEmpty =
    typeof decision.input !== "object" || decision.input === null || Object.keys(decision.input).length === 0;
  const whole = useWholeInput(place, isEmpty ? called : undefined);
  return isEmpty ? (whole ?? called?.input ?? decision.input) : decision.input;
}
