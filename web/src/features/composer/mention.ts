/** A file that is being named with `@` in a message: where it stands, and what fits. Pure. */
import type { FileEntry } from "@/gen";

const MOST = 8;

export interface Mention {
  /** Where the `@` is. */
  from: number;
  /** The folder that was typed so far, with its slash at the end; empty at the top. */
  folder: string;
  /** What was typed of the name. */
  part: string;
}

/** The mention that the caret stands at the end of, or null. */
export function mentionAt(value: string, caret: number): Mention | null {
  const before = value.slice(0, caret);
  const found = /(?:^|[\s(])@(?:"([^"\n]*)|([^\s"@]*))$/.exec(before);
  if (!found) return null;
  const path = found[1] ?? found[2] ?? "";
  // Outside the folder nobody may look, and a web address is no file.
  if (path.startsWith("/") || path.split("/").includes("..") || path.includes("://")) return null;
  const end = path.lastIndexOf("/") + 1;
  return { from: before.lastIndexOf("@"), folder: path.slice(0, end), part: path.slice(end) };
}

/** Names that begin with what was typed, then those that hold it; folders first, hidden ones only when asked for. */
export function fittingFiles(entries: readonly FileEntry[], part: string): FileEntry[] {
  const wanted = part.toLowerCase();
  const isFolder = (one: FileEntry) => (one.targetKind ?? one.kind) === "folder";
  const shown = entries.filter(({ name }) => name !== ".git" && (wanted.startsWith(".") || !name.startsWith(".")));
  const rank = (one: FileEntry) => {
    const at = one.name.toLowerCase().indexOf(wanted);
    return at < 0 ? null : (at === 0 ? 0 : 2) + (isFolder(one) ? 0 : 1);
  };
  return shown
    .map((one) => ({ one, rank: rank(one) }))
    .filter((held): held is { one: FileEntry; rank: number } => held.rank !== null)
    .sort((a, b) => a.rank - b.rank || a.one.name.localeCompare(b.one.name))
    .slice(0, MOST)
    .map(({ one }) => one);
}

/** The message with the name in it, and where the caret is then: behind it, or inside a folder to go on. */
export function withMention(
  value: string,
  caret: number,
  { from, folder }: Mention,
  entry: FileEntry,
): { value: string; caret: number } {
  const isFolder = (entry.targetKind ?? entry.kind) === "folder";
  const path = `${folder}${entry.name}${isFolder ? "/" : ""}`;
  const isSpaced = /\s/.test(path);
  const named = isSpaced ? `@"${path}${isFolder ? "" : '" '}` : `@${path}${isFolder ? "" : " "}`;
  const rest = value.slice(caret).replace(/^ /, isFolder ? " " : "");
  return { value: value.slice(0, from) + named + rest, caret: from + named.length };
}
