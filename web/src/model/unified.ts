/** A difference in git's unified form, cut into files and hunks with numbered lines. Pure; nothing in it is trusted. */
import type { DiffLine } from "./diff";

export interface FileDiff {
  /** What git says about the file before its first hunk: new, deleted, renamed, binary. */
  notes: string[];
  hunks: Hunk[];
}

export interface Hunk {
  /** Where it is, as git writes it behind the numbers: the function or the heading around it. */
  around: string;
  lines: DiffLine[];
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/;
const NOTE = /^(?:new file|deleted file|old mode|new mode|similarity|rename |copy |Binary files)/;

export function parseUnified(diff: string): FileDiff[] {
  const files: FileDiff[] = [];
  let open: { hunk: Hunk; before: number; after: number; left: [before: number, after: number] } | null = null;
  for (const line of diff.split("\n")) {
    if (open && (open.left[0] > 0 || open.left[1] > 0)) {
      take(open, line);
      continue;
    }
    if (line.startsWith("diff --git ")) {
      files.push({ notes: [], hunks: [] });
      open = null;
      continue;
    }
    const file = files.at(-1);
    const found = HUNK.exec(line);
    if (found && file) {
      const [, before, beforeCount = "1", after, afterCount = "1", around = ""] = found;
      const hunk: Hunk = { around, lines: [] };
      file.hunks.push(hunk);
      open = { hunk, before: Number(before), after: Number(after), left: [Number(beforeCount), Number(afterCount)] };
    } else if (file && file.hunks.length === 0 && NOTE.test(line)) file.notes.push(line);
  }
  return files;
}

/** A line of a hunk. How many there are stands in its head, so that no line of a file is taken for a head. */
function take(
  open: { hunk: Hunk; before: number; after: number; left: [before: number, after: number] },
  line: string,
): void {
  const text = line.slice(1);
  if (line.startsWith("+")) {
    open.hunk.lines.push({ type: "added", text, after: open.after++ });
    open.left[1]--;
  } else if (line.startsWith("-")) {
    open.hunk.lines.push({ type: "removed", text, before: open.before++ });
    open.left[0]--;
  } else if (!line.startsWith("\\")) {
    open.hunk.lines.push({ type: "same", text, before: open.before++, after: open.after++ });
    open.left[0]--;
    open.left[1]--;
  }
}
