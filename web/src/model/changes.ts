/**
 * Which files a turn has changed, as the agent's own calls tell: edits and writes that succeeded, sub-agents' included.
 *
 * What commands did to files is not known here.
 */
import type { DiffLine } from "./diff";
import type { Entries, Entry, ToolEntry } from "./entries";
import { toolView } from "./tools";

export interface FileChange {
  path: string;
  /** The calls that changed it, in order. */
  tools: ToolEntry[];
  added: number;
  removed: number;
}

export interface TurnFiles {
  /** In the order in which they were first touched. */
  files: FileChange[];
  /** Whether the beginning of the turn is among the entries; else only the machine knows all of it. */
  isWhole: boolean;
}

/** The changes of the turn that ends with an entry, by file. */
export function changesOf(entries: Entries, key: string): TurnFiles {
  const end = entries.top.findLastIndex((entry) => entry.key === key);
  const begin = entries.top.findLastIndex((entry, index) => index < end && entry.kind === "user");
  const files = new Map<string, FileChange>();
  const visit = (list: readonly Entry[]) => {
    for (const entry of list) {
      if (entry.kind !== "tool") continue;
      if (entry.end?.success) note(files, entry);
      if (entry.toolUseId !== undefined) visit(entries.below.get(entry.toolUseId) ?? []);
    }
  };
  if (end >= 0) visit(entries.top.slice(begin + 1, end));
  return { files: [...files.values()], isWhole: begin >= 0 };
}

/**
 * The lines of a change as the machine tells it: a hunk for each call, behind a line of its own. Every other line begins
 * with its mark, so that none is taken for that.
 */
export function hunksOf(diff: string): DiffLine[][] {
  const hunks: DiffLine[][] = [];
  for (const line of diff.split("\n")) {
    if (line === "@@ @@") hunks.push([]);
    else if (line !== "") hunks.at(-1)?.push({ type: TYPES[line.charAt(0)] ?? "same", text: line.slice(1) });
  }
  return hunks;
}

const TYPES: Record<string, DiffLine["type"]> = { "+": "added", "-": "removed" };

function note(files: Map<string, FileChange>, tool: ToolEntry): void {
  const view = toolView(tool.toolName, tool.input);
  if (view.type !== "edit" && view.type !== "write" && view.type !== "notebook") return;
  const known = files.get(view.path) ?? { path: view.path, tools: [], added: 0, removed: 0 };
  known.tools.push(tool);
  known.added += view.type === "edit" ? view.added : view.type === "write" ? view.lines : 0;
  known.removed += view.type === "edit" ? view.removed : 0;
  files.set(view.path, known);
}
