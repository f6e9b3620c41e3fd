/** Inputs of tools in the form that fits them, always whole: cards that ask for permission use the same parts. */
import { Circle, CircleCheck, CircleDot } from "lucide-react";
import type { TodoItem, ToolView } from "@/model/tools";
import { useText } from "@/store/text";
import { Coloured } from "./code";
import { Plain } from "./plain";

export function Command({ view }: { view: Extract<ToolView, { type: "command" }> }) {
  const text = useText();
  return (
    <div className="flex flex-col gap-1.5">
      {view.description && (
        <p dir="auto" className="text-[13.5px] text-muted">
          <Plain text={view.description} />
        </p>
      )}
      <pre
        dir="ltr"
        className="whitespace-pre-wrap rounded-md border border-line bg-code p-3 font-mono text-[13px] leading-[1.6] [overflow-wrap:anywhere]"
      >
        <span className="mr-2 select-none text-faint">$</span>
        <Coloured code={view.command} language="bash" />
      </pre>
      {(view.isBackground || view.isUnsandboxed) && (
        <p className="flex gap-2 text-[12.5px]">
          {view.isBackground && <span className="text-blue">{text.tool.background}</span>}
          {view.isUnsandboxed && <span className="font-semibold text-red">{text.tool.unsandboxed}</span>}
        </p>
      )}
    </div>
  );
}

export function Whole({ text, language }: { text: string; language: string }) {
  return (
    <pre
      dir="ltr"
      tabIndex={0}
      className="max-h-96 overflow-auto whitespace-pre-wrap rounded-md border border-line bg-code p-3 font-mono text-[12.5px] leading-[1.6] [overflow-wrap:anywhere]"
    >
      <Coloured code={text} language={language} />
    </pre>
  );
}

export function JsonView({ value }: { value: unknown }) {
  return <Whole text={JSON.stringify(value, null, 2) ?? ""} language="json" />;
}

export function Todo({ items }: { items: readonly TodoItem[] }) {
  return (
    <ul className="flex flex-col gap-1.5 text-[13.5px]">
      {items.map((item, index) => (
        <li key={index} className="flex items-start gap-2">
          {item.status === "completed" ? (
            <CircleCheck size={15} className="mt-[3px] shrink-0 text-green" />
          ) : item.status === "in_progress" ? (
            <CircleDot size={15} className="mt-[3px] shrink-0 text-blue" />
          ) : (
            <Circle size={15} className="mt-[3px] shrink-0 text-faint" />
          )}
          <span
            className={
              item.status === "completed"
                ? "text-faint line-through"
                : item.status === "in_progress"
                  ? "font-medium"
                  : "text-muted"
            }
          >
            <Plain text={item.text} />
          </span>
        </li>
      ))}
    </ul>
  );
}
