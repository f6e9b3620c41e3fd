/** The opened card of a call: what it was given and what came of it, in the form that fits the tool. */
import type { ReactNode } from "react";
import type { ToolEntry } from "@/model/entries";
import type { Place } from "@/model/fleet";
import type { ToolView } from "@/model/tools";
import { useText } from "@/store/text";
import { DiffView } from "@/ui/diff";
import { languageOfPath } from "@/ui/highlight";
import { Markdown } from "@/ui/markdown";
import { Plain } from "@/ui/plain";
import { Command, JsonView, Todo, Whole } from "@/ui/tool-input";
import { ToolImages } from "./tool-images";
import { ToolOutput } from "./tool-output";

export interface ToolBodyProps {
  tool: ToolEntry;
  view: ToolView;
  place: Place;
  /** What a sub-agent said and did, between what it was asked and what it answered. */
  children?: ReactNode;
}

export function ToolBody({ tool, view, place, children }: ToolBodyProps) {
  const text = useText();
  const isQuiet = view.type === "edit" || view.type === "write" || view.type === "notebook";
  return (
    <>
      {tool.input === undefined ? (
        <p className="text-[13px] text-faint">{text.tool.startUnseen}</p>
      ) : (
        <Given view={view} />
      )}
      {children}
      {tool.end?.images && <ToolImages tool={tool} place={place} />}
      {view.type !== "todo" && <ToolOutput tool={tool} place={place} isQuiet={isQuiet} />}
    </>
  );
}

function Given({ view }: { view: ToolView }) {
  const text = useText();
  switch (view.type) {
    case "command":
      return <Command view={view} />;
    case "edit":
      return (
        <>
          <Path>{view.path}</Path>
          {view.parts.map((part, index) => (
            <DiffView key={index} diff={part.diff} />
          ))}
        </>
      );
    case "write":
      return (
        <>
          <Path>{view.path}</Path>
          <Whole text={view.content} language={languageOfPath(view.path) ?? ""} />
        </>
      );
    case "notebook":
      return (
        <>
          <Path>{view.path}</Path>
          <Whole text={view.source} language="python" />
        </>
      );
    case "read":
      return (
        <Path>
          {view.path}
          {view.range && ` (${view.range})`}
        </Path>
      );
    case "search":
      return (
        <Path>
          {view.what}
          {view.where && ` · ${view.where}`}
          {view.filter && ` · ${view.filter}`}
        </Path>
      );
    case "fetch":
      return (
        <>
          <Path>{view.url}</Path>
          {view.prompt && <p className="text-[13.5px] text-muted">{view.prompt}</p>}
        </>
      );
    case "query":
      return <Path>{view.query}</Path>;
    case "todo":
      return <Todo items={view.items} />;
    case "agent":
      return view.prompt ? (
        <details className="text-[13.5px]">
          <summary className="cursor-pointer text-faint">{text.tool.prompt}</summary>
          <div className="mt-2 border-l border-line pl-3 text-muted">
            <Markdown source={view.prompt} />
          </div>
        </details>
      ) : null;
    case "plan":
      return <Markdown source={view.plan} />;
    case "question":
      return null;
    case "mcp":
    case "other":
      return <JsonView value={view.input} />;
  }
}

function Path({ children }: { children: ReactNode }) {
  const parts = Array.isArray(children) ? children : [children];
  return (
    <p className="font-mono text-[12.5px] text-muted [overflow-wrap:anywhere]">
      {parts.map((part, index) => (typeof part === "string" ? <Plain key={index} text={part} /> : part))}
    </p>
  );
}
