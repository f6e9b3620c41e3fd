/** What a turn has changed, file by file, to be read in one go. */
import { useMemo } from "react";
import type { FileChange } from "@/model/changes";
import type { ToolEntry } from "@/model/entries";
import type { Place } from "@/model/fleet";
import { toolView } from "@/model/tools";
import { useText } from "@/store/text";
import { useWholeInput } from "@/store/whole-input";
import { Dialog } from "@/ui/dialog";
import { DiffView } from "@/ui/diff";
import { languageOfPath } from "@/ui/highlight";
import { Plain } from "@/ui/plain";
import { Whole } from "@/ui/tool-input";

export interface TurnChangesProps {
  changes: FileChange[];
  place: Place;
  close: () => void;
}

export function TurnChanges({ changes, place, close }: TurnChangesProps) {
  const text = useText();
  return (
    <Dialog title={text.result.changed} onClose={close} width="max-w-4xl">
      <div className="flex flex-col gap-5 p-4">
        {changes.map((change) => (
          <section key={change.path} aria-label={change.path} className="flex flex-col gap-2">
            <h3 className="flex items-baseline gap-3 font-mono text-[13px]">
              <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
                <Plain text={inside(change.path, place.workspace.workingDir)} />
              </span>
              <Counts change={change} />
            </h3>
            {change.tools.map((tool) => (
              <Change key={tool.key} tool={tool} place={place} />
            ))}
          </section>
        ))}
      </div>
    </Dialog>
  );
}

function Counts({ change }: { change: Pick<FileChange, "added" | "removed"> }) {
  return (
    <span className="shrink-0 font-mono text-[12px]">
      <span className="text-green">+{change.added}</span> <span className="text-red">−{change.removed}</span>
    </span>
  );
}

/** History cuts long inputs; the whole one is asked for when somebody looks. */
function Change({ tool, place }: { tool: ToolEntry; place: Place }) {
  const input = useWholeInput(place, tool) ?? tool.input;
  const view = useMemo(() => toolView(tool.toolName, input), [tool.toolName, input]);
  if (view.type === "edit") return view.parts.map((part, index) => <DiffView key={index} diff={part.diff} />);
  if (view.type === "notebook") return <Whole text={view.source} language="python" />;
  return view.type === "write" ? <Whole text={view.content} language={languageOfPath(view.path) ?? ""} /> : null;
}

/** Paths inside the workspace are read without it. */
function inside(path: string, folder: string): string {
  return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path;
}
