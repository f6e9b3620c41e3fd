/**
 * Which files a turn has changed, as the agent's own calls tell: edits and writes that succeeded, sub-agents' included.
 *
 * What commands did to files is not known here.
 */
import type { Entries, Entry, ToolEntry } from "./entries";
import { toolView } from "./tools";

export interface FileChange {
  path: string;
  /** The calls that changed it, in order. */
  tools: ToolEntry[];
  added: number;
  removed: number;
}

/** The changes of the turn that ends with an entry, by file, in the order in which they were first touched. */
export function changesOf(entries: Entries, key: string): FileChange[] {
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
  return [...files.values()];
}

function note(files: Map<string, FileChange>, tool: ToolEntry): void {
  const view = toolView(tool.toolName, tool.input);
  if (view.type !== "edit" && view.type !== "write" && view.type !== "notebook") return;
  const known = files.get(view.path) ?? { path: view.path, tools: [], added: 0, removed: 0 };
  known.tools.push(tool);
  known.added += view.type === "edit" ? view.added : view.type === "write" ? view.lines : 0;
  known.removed += view.type === "edit" ? view.removed : 0;
  files.set(view.path, known);
}
