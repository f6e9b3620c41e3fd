/** What the list shows, in order: entries, text that is being written, messages on their way, and what goes on. Pure. */
import type { OpenText } from "@/model/deltas";
import type { Entry, ResultEntry } from "@/model/entries";
import type { Outbox, Outgoing } from "@/model/outbox";
import type { Transcript } from "@/model/transcript";

export type Row =
  | { type: "head"; key: string }
  | { type: "entry"; key: string; entry: Entry }
  | { type: "open"; key: string; open: OpenText }
  | { type: "outgoing"; key: string; message: Outgoing }
  | { type: "activity"; key: string };

export function rowsOf(transcript: Transcript, outbox: Outbox, conversationId: string): Row[] {
  const rows: Row[] = [{ type: "head", key: "head" }];
  for (const entry of transcript.entries.top) rows.push({ type: "entry", key: entry.key, entry });
  transcript.open.forEach((open, index) => {
    if (open.parent === undefined) rows.push({ type: "open", key: `open${index}`, open });
  });
  for (const message of outbox) {
    if (message.conversationId === conversationId)
      rows.push({ type: "outgoing", key: `o${message.clientMessageId}`, message });
  }
  if (transcript.status !== "idle") rows.push({ type: "activity", key: "activity" });
  return rows;
}

/** The row that has an event, or the nearest one before it: what a sub-agent did is below its call. */
export function rowAt(rows: readonly Row[], seq: number): number {
  let found = 0;
  rows.forEach((row, index) => {
    if (row.type === "entry" && row.entry.seq !== undefined && row.entry.seq <= seq) found = index;
  });
  return found;
}

/** Sums over the turns that were read. */
export function totals(entries: readonly Entry[]): { costUsd: number; durationMs: number; turns: number } {
  const results = entries.filter((entry): entry is ResultEntry => entry.kind === "result");
  return {
    costUsd: results.reduce((sum, one) => sum + (one.costUsd ?? 0), 0),
    durationMs: results.reduce((sum, one) => sum + one.durationMs, 0),
    turns: results.length,
  };
}
