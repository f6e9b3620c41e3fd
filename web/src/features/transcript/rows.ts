/** What the list shows, in order: entries, text that is being written, messages on their way, and what goes on. Pure. */
import type { OpenText } from "@/model/deltas";
import type { Entry } from "@/model/entries";
import type { Outbox, Outgoing } from "@/model/outbox";
import { isRewound, type Transcript } from "@/model/transcript";

export type Row =
  | { type: "head"; key: string }
  | { type: "entry"; key: string; entry: Entry; isRewound: boolean }
  | { type: "open"; key: string; open: OpenText }
  | { type: "outgoing"; key: string; message: Outgoing }
  | { type: "activity"; key: string };

export function rowsOf(transcript: Transcript, outbox: Outbox, conversationId: string): Row[] {
  const rows: Row[] = [...saidRows(transcript)];
  for (const open of transcript.open) if (open.parent === undefined) rows.push({ type: "open", key: open.key, open });
  for (const message of outbox) {
    if (message.conversationId === conversationId)
      rows.push({ type: "outgoing", key: `o${message.clientMessageId}`, message });
  }
  if (transcript.status !== "idle") rows.push({ type: "activity", key: "activity" });
  return rows;
}

/** Rows of what was said, by its list: a text that grows does not change them, and there may be ten thousand. */
const known = new WeakMap<readonly Entry[], { rewound: Transcript["rewound"]; rows: readonly Row[] }>();

function saidRows(transcript: Transcript): readonly Row[] {
  const { rewound, entries } = transcript;
  const kept = known.get(entries.top);
  if (kept?.rewound === rewound) return kept.rows;
  const rows: Row[] = [{ type: "head", key: "head" }];
  for (const entry of entries.top)
    rows.push({ type: "entry", key: entry.key, entry, isRewound: isRewound(transcript, entry) });
  known.set(entries.top, { rewound, rows });
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

/** What the agent said in the turn that ends with an entry, without what it thought and did. */
export function answerBefore(entries: readonly Entry[], key: string): string {
  const end = entries.findIndex((entry) => entry.key === key);
  const begin = entries.findLastIndex((entry, index) => index < end && entry.kind === "user");
  const said = entries.slice(begin + 1, Math.max(end, 0)).filter((entry) => entry.kind === "text");
  return said.map((entry) => entry.text).join("\n\n");
}
