/** Exactly what a decision is about: the whole command, the whole change. Wrapped, never cut. */
import type { Decision } from "@/model/decisions";
import { find, folderOf } from "@/model/fleet";
import { restOf, type ToolView } from "@/model/tools";
import { useApp } from "@/store/app";
import { useText } from "@/store/text";
import { Coloured } from "@/ui/code";
import { DiffView } from "@/ui/diff";
import { languageOfPath } from "@/ui/highlight";
import { Markdown } from "@/ui/markdown";
import { Plain } from "@/ui/plain";
import { Command, JsonView, Whole } from "@/ui/tool-input";

export interface ShownProps {
  decision: Decision;
  view: ToolView;
  /** The whole input of the call. */
  input: unknown;
}

export function Shown({ decision, view, input }: ShownProps) {
  const rest = decision.kind === "trust" ? null : restOf(view, input);
  return (
    <>
      <Main decision={decision} view={view} input={input} />
      {rest && <JsonView value={rest} />}
    </>
  );
}

function Main({ decision, view, input }: ShownProps) {
  const text = useText();
  const folder = useApp((app) => {
    const place = find(app.world.fleet, decision.conversationId);
    return place && folderOf(place);
  });
  if (decision.kind === "trust") {
    return (
      <>
        <p className="text-[14px]">{text.decision.trustHelp}</p>
        {folder && <Mono text={folder} />}
        <JsonView value={input} />
      </>
    );
  }
  switch (view.type) {
    case "command":
      return (
        <>
          <Command view={view} />
          {folder && (
            <p className="font-mono text-[12.5px] text-faint [overflow-wrap:anywhere]">
              <Plain text={text.decision.folder(folder)} />
            </p>
          )}
        </>
      );
    case "edit":
      return (
        <>
          <Mono text={view.path} />
          {view.parts.map((part, index) => (
            <div key={index} className="flex flex-col gap-1">
              {part.replacesAll && <p className="text-[12.5px] text-amber">{text.tool.replacesAll}</p>}
              <DiffView diff={part.diff} />
            </div>
          ))}
        </>
      );
    case "write":
      return (
        <>
          <Mono text={view.path} />
          <pre
            dir="ltr"
            className="whitespace-pre-wrap rounded-md border border-line bg-green-soft p-3 font-mono text-[12.5px] leading-[1.6] [overflow-wrap:anywhere]"
          >
            <Coloured code={view.content} language={languageOfPath(view.path) ?? ""} />
          </pre>
        </>
      );
    case "notebook":
      return (
        <>
          <Mono text={view.path} />
          <Whole text={view.source} language="python" />
        </>
      );
    case "read":
      return <Mono text={view.path} />;
    case "fetch":
      return <Mono text={view.url} />;
    case "query":
      return <Mono text={view.query} />;
    case "plan":
      return <Markdown source={view.plan} />;
    case "search":
    case "todo":
    case "agent":
    case "question":
      return <JsonView value={input} />;
    case "mcp":
      return (
        <>
          <Mono text={`${view.server} · ${view.tool}`} />
          <JsonView value={view.input} />
        </>
      );
    case "other":
      return <JsonView value={view.input} />;
  }
}

function Mono({ text }: { text: string }) {
  return (
    <p dir="ltr" className="font-mono text-[13px] [overflow-wrap:anywhere]">
      <Plain text={text} />
    </p>
  );
}
