/** What a turn has changed, file by file, to be read in one go. */
import { useCallback, useMemo } from "react";
import type { TurnFile } from "@/gen";
import { type FileChange, hunksOf } from "@/model/changes";
import type { ToolEntry } from "@/model/entries";
import { folderOf, type Place } from "@/model/fleet";
import { toolView } from "@/model/tools";
import { loadTurnChanges } from "@/store/file-acts";
import { useText } from "@/store/text";
import { useWholeInput } from "@/store/whole-input";
import { Dialog } from "@/ui/dialog";
import { DiffView } from "@/ui/diff";
import { languageOfPath } from "@/ui/highlight";
import { useLoaded } from "@/ui/loaded";
import { Plain } from "@/ui/plain";
import { Skeleton } from "@/ui/states";
import { Whole } from "@/ui/tool-input";

export interface TurnChangesProps {
  /** What is known here: shown when the machine cannot be asked. */
  changes: FileChange[];
  /** The number of the turn's end. */
  seq: number | undefined;
  place: Place;
  close: () => void;
}

export function TurnChanges({ changes, seq, place, close }: TurnChangesProps) {
  const text = useText();
  return (
    <Dialog title={text.result.changed} onClose={close} width="max-w-4xl">
      <div className="flex flex-col gap-5 p-4">
        {seq === undefined ? <Known changes={changes} place={place} /> : <Told {...{ changes, seq, place }} />}
      </div>
    </Dialog>
  );
}

/** What the machine says of the turn. It knows all of it, however little of the conversation is loaded here. */
function Told({ changes, seq, place }: { changes: FileChange[]; seq: number; place: Place }) {
  const text = useText();
  const id = place.conversation.conversationId;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another turn is the only reason to ask again.
  const load = useCallback(() => loadTurnChanges(place, seq), [id, seq]);
  const { value, error } = useLoaded(load);
  if (error) {
    return (
      <>
        <p role="status" className="text-[13px] text-amber">
          {text.result.onlyLoaded}
        </p>
        <Known changes={changes} place={place} />
      </>
    );
  }
  if (!value) return <Skeleton label={text.tool.loading} />;
  return (
    <>
      {value.files.length === 0 && <p className="text-[14px] text-muted">{text.result.noFiles}</p>}
      {value.files.map((file) => (
        <ToldFile key={file.path} file={file} />
      ))}
      {value.otherCalls !== undefined && value.otherCalls > 0 && (
        <p className="text-[13px] text-muted">{text.result.otherCalls(value.otherCalls)}</p>
      )}
      {value.truncated && <p className="text-[13px] text-muted">{text.files.more}</p>}
    </>
  );
}

function ToldFile({ file }: { file: TurnFile }) {
  const text = useText();
  const hunks = useMemo(() => hunksOf(file.diff ?? ""), [file.diff]);
  return (
    <section aria-label={file.path} className="flex flex-col gap-2">
      <FileHead path={file.path} added={file.insertions} removed={file.deletions} />
      {file.withheld && <p className="text-[13px] text-amber">{text.files.withheld}</p>}
      {hunks.map((hunk, index) => (
        <DiffView key={index} diff={hunk} />
      ))}
      {file.truncated && <p className="text-[13px] text-muted">{text.tool.cut}</p>}
    </section>
  );
}

/** What the calls that are loaded here have changed. */
function Known({ changes, place }: { changes: FileChange[]; place: Place }) {
  return changes.map((change) => (
    <section key={change.path} aria-label={change.path} className="flex flex-col gap-2">
      <FileHead path={inside(change.path, folderOf(place))} added={change.added} removed={change.removed} />
      {change.tools.map((tool) => (
        <Change key={tool.key} tool={tool} place={place} />
      ))}
    </section>
  ));
}

function FileHead({ path, added, removed }: { path: string; added: number; removed: number }) {
  return (
    <h3 className="flex items-baseline gap-3 font-mono text-[13px]">
      <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
        <Plain text={path} />
      </span>
      <span className="shrink-0 font-mono text-[12px]">
        <span className="text-green">+{added}</span> <span className="text-red">−{removed}</span>
      </span>
    </h3>
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
