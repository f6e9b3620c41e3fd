/**
 * What a conversation shows: one entry per thing that was said or done, oldest first.
 *
 * Entries are plain values. They come from live events and from pages of history alike; the same happening gives the
 * same entry either way. What belongs to a sub-agent hangs below the call that started it.
 */
import type { Author, Cause, DecisionState, InterruptedMessage, PermissionDecision, ToolImage } from "@/gen";

interface Base {
  /** Stable for as long as the entry exists. */
  key: string;
  /** Number of the durable event it stands for. */
  seq?: number;
  /** Unix time in milliseconds. */
  at: number;
}

export interface UserEntry extends Base {
  kind: "user";
  text: string;
  clientMessageId?: string;
  deviceId?: number;
  author?: Author;
}

export interface TextEntry extends Base {
  kind: "text";
  text: string;
}

export interface ThoughtEntry extends Base {
  kind: "thought";
  text: string;
}

/** How a call ended. */
export interface ToolEnd {
  success: boolean;
  output: string;
  error?: string;
  /** The machine has more output than this. */
  isCut?: boolean;
  /** The pictures that the machine has of it. */
  images?: readonly ToolImage[];
  at: number;
}

/** What somebody answered to the question whether a call may run. */
export interface ToolAnswer {
  state?: DecisionState;
  decision?: PermissionDecision;
  content?: string;
  deviceId?: number;
  author?: Author;
  at?: number;
}

/** A background task that a call started. */
export interface ToolTask {
  taskId: string;
  status: string;
  summary?: string;
}

export interface ToolEntry extends Base {
  kind: "tool";
  toolName: string;
  /** Absent when only the end of the call was seen. */
  input?: unknown;
  /** History has cut the input; the machine has all of it. */
  isShortened?: boolean;
  toolUseId?: string;
  end?: ToolEnd;
  answer?: ToolAnswer;
  task?: ToolTask;
}

export interface ResultEntry extends Base {
  kind: "result";
  subtype: string;
  durationMs: number;
  costUsd?: number;
  turns?: number;
  stopReason?: string;
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  /** Why it failed; absent if it went well. */
  cause?: Cause;
  apiStatus?: number;
  /** Which models answered, the one that did most first, as far as that was told. */
  models?: readonly string[];
}

export interface ErrorEntry extends Base {
  kind: "error";
  text: string;
  code?: string;
  exitCode?: number;
  cause?: Cause;
  apiStatus?: number;
}

export interface AbortedEntry extends Base {
  kind: "aborted";
  reason: string;
  /** The messages it was working on when the process was gone, oldest first, as far as they begin. */
  messages?: readonly InterruptedMessage[];
}

/** A remark of Estelle: a divider, a pause, a resume, a damaged line, a task that nobody is known to have started. */
export interface RemarkEntry extends Base {
  kind: "remark";
  subtype: string;
  text: string;
}

export type Entry =
  | UserEntry
  | TextEntry
  | ThoughtEntry
  | ToolEntry
  | ResultEntry
  | ErrorEntry
  | AbortedEntry
  | RemarkEntry;

/** Entries of the agent itself, and those of each sub-agent by its call. */
export interface Entries {
  top: readonly Entry[];
  below: ReadonlyMap<string, readonly Entry[]>;
}

export const NO_ENTRIES: Entries = { top: [], below: new Map() };

export function append(entries: Entries, parent: string | undefined, entry: Entry): Entries {
  return change(entries, parent, (list) => [...list, entry]);
}

/** Replaces the newest call that `matches`, or says with null that there is none. */
export function changeTool(
  entries: Entries,
  parent: string | undefined,
  matches: (tool: ToolEntry) => boolean,
  apply: (tool: ToolEntry) => ToolEntry,
): Entries | null {
  const list = listOf(entries, parent);
  for (let index = list.length - 1; index >= 0; index--) {
    const entry = list[index];
    if (entry?.kind !== "tool" || !matches(entry)) continue;
    return change(entries, parent, () => list.with(index, apply(entry)));
  }
  return null;
}

/** Looks for a call in all lists; the newest of the agent itself first. */
export function changeToolAnywhere(
  entries: Entries,
  toolUseId: string,
  apply: (tool: ToolEntry) => ToolEntry,
): Entries | null {
  const matches = (tool: ToolEntry) => tool.toolUseId === toolUseId;
  const top = changeTool(entries, undefined, matches, apply);
  if (top) return top;
  for (const parent of entries.below.keys()) {
    const changed = changeTool(entries, parent, matches, apply);
    if (changed) return changed;
  }
  return null;
}

export function findTool(entries: Entries, toolUseId: string): ToolEntry | undefined {
  for (const list of [entries.top, ...entries.below.values()]) {
    for (let index = list.length - 1; index >= 0; index--) {
      const entry = list[index];
      if (entry?.kind === "tool" && entry.toolUseId === toolUseId) return entry;
    }
  }
  return undefined;
}

/** Puts an older page before what is there, joining calls whose end was seen without their start. */
export function prepend(older: Entries, newer: Entries): Entries {
  const below = new Map(newer.below);
  for (const [parent, list] of older.below) below.set(parent, joined(list, newer.below.get(parent) ?? []));
  return { top: joined(older.top, newer.top), below };
}

function joined(older: readonly Entry[], newer: readonly Entry[]): readonly Entry[] {
  const known = new Set(older.map((entry) => entry.key));
  const ends = new Map<string, ToolEntry>();
  for (const entry of newer) if (entry.kind === "tool" && known.has(entry.key)) ends.set(entry.key, entry);
  const started = older.map((entry) => {
    const later = ends.get(entry.key);
    return entry.kind === "tool" && later
      ? { ...entry, end: later.end ?? entry.end, answer: later.answer ?? entry.answer }
      : entry;
  });
  // A text that was seen growing kept its key from then; its number says that it is the same.
  const numbers = new Set(older.map((entry) => entry.seq).filter((seq) => seq !== undefined));
  const isNew = (entry: Entry) => !known.has(entry.key) && (entry.seq === undefined || !numbers.has(entry.seq));
  return [...started, ...newer.filter(isNew)];
}

function listOf(entries: Entries, parent: string | undefined): readonly Entry[] {
  return parent === undefined ? entries.top : (entries.below.get(parent) ?? []);
}

function change(
  entries: Entries,
  parent: string | undefined,
  apply: (list: readonly Entry[]) => readonly Entry[],
): Entries {
  if (parent === undefined) return { ...entries, top: apply(entries.top) };
  const below = new Map(entries.below);
  below.set(parent, apply(listOf(entries, parent)));
  return { ...entries, below };
}
