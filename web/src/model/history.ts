/**
 * Pages of history: rows become the same entries that live events make, and pages join what is there.
 *
 * The newest page either continues what we have, or replaces it; an older page goes before it. No row shows twice.
 */
import type { HistoryMessage, HistoryResult } from "@/gen";
import {
  append,
  changeTool,
  changeToolAnywhere,
  type Entries,
  type Entry,
  NO_ENTRIES,
  prepend,
  type ToolAnswer,
} from "./entries";
import { refusalOf } from "./refusal";
import { remarkOf } from "./remarks";
import { modelsOf, type Transcript, withStretches } from "./transcript";

/** The answer to selecting a conversation: the newest page, and how the conversation stands. */
export function openWith(transcript: Transcript, page: HistoryResult, now: number): Transcript {
  if (!page.success) return { ...transcript, load: "failed", refusal: refusalOf(page) };
  const status = page.currentStatus ?? (page.hasActiveSession ? "working" : "idle");
  const standing = {
    load: "ready" as const,
    refusal: undefined,
    keptAt: undefined,
    open: [],
    status,
    activity: status === "idle" ? undefined : transcript.activity,
    workSince: status === "idle" ? undefined : (page.workStartTime ?? transcript.workSince ?? now),
    waiting: [],
    paused: pausedOf(page, now),
    expectsSnapshot: status !== "idle",
    mayRepeat: true,
    total: page.totalCount,
    epoch: page.epoch,
  };
  const rows = page.messages;
  const newest = page.headSeq ?? rows.reduce((most, row) => Math.max(most, row.seq ?? 0), 0);
  if (continues(transcript, page)) {
    const fresh = rows.filter((row) => row.seq !== undefined && row.seq > transcript.head);
    const entries = fresh.reduce((list, row) => addRow(list, row), transcript.entries);
    const rewound = withStretches(transcript.rewound, page.rewound ?? []);
    return { ...transcript, ...standing, entries, rewound, head: Math.max(newest, transcript.head) };
  }
  const rewound = page.rewound ?? [];
  return { ...transcript, ...standing, entries: fromRows(rows), rewound, head: newest, hasMore: page.hasMore };
}

/** Whether the process is stopped, as the machine keeps it. */
function pausedOf({ process }: HistoryResult, now: number): Transcript["paused"] {
  return process?.paused && { ...process.paused, at: now };
}

/** An older page, asked for by scrolling up. */
export function extendBack(transcript: Transcript, page: HistoryResult): Transcript {
  if (!page.success) return transcript;
  if (page.epoch !== undefined && transcript.epoch !== undefined && page.epoch !== transcript.epoch) return transcript;
  const entries = prepend(fromRows(page.messages), transcript.entries);
  const rewound = withStretches(transcript.rewound, page.rewound ?? []);
  return { ...transcript, entries, rewound, hasMore: page.hasMore, total: page.totalCount };
}

/** The number before which older rows are to be read. */
export function oldestSeq(transcript: Transcript): number | undefined {
  let oldest: number | undefined;
  for (const list of [transcript.entries.top, ...transcript.entries.below.values()]) {
    const first = list.find((entry) => entry.seq !== undefined)?.seq;
    if (first !== undefined && (oldest === undefined || first < oldest)) oldest = first;
  }
  return oldest;
}

function continues(transcript: Transcript, page: HistoryResult): boolean {
  if (transcript.head === 0 || transcript.entries.top.length === 0) return false;
  if (page.epoch !== transcript.epoch) return false;
  const numbers = page.messages.map((row) => row.seq).filter((seq) => seq !== undefined);
  if (numbers.length !== page.messages.length) return false;
  const first = numbers[0];
  return first === undefined ? (page.headSeq ?? 0) <= transcript.head : first <= transcript.head + 1;
}

export function fromRows(rows: readonly HistoryMessage[]): Entries {
  return rows.reduce((entries, row, index) => addRow(entries, row, index), NO_ENTRIES);
}

function addRow(entries: Entries, row: HistoryMessage, index = 0): Entries {
  const key = row.seq === undefined ? `h${row.timestamp}-${index}` : `s${row.seq}`;
  const stamp = { key, seq: row.seq, at: row.timestamp };
  switch (row.type) {
    case "text": {
      const { content: text, clientMessageId, deviceId, author } = row;
      if (row.role === "user")
        return append(entries, undefined, { ...stamp, kind: "user", text, clientMessageId, deviceId, author });
      if (row.role === "system") return append(entries, undefined, { ...stamp, kind: "remark", subtype: "text", text });
      return append(entries, row.parentToolUseId, { ...stamp, kind: "text", text });
    }
    case "thinking":
      return append(entries, row.parentToolUseId, { ...stamp, kind: "thought", text: row.content });
    case "tool_start": {
      const { toolName, toolInput: input, toolUseId, truncated: isShortened } = row;
      return append(entries, row.parentToolUseId, {
        ...stamp,
        key: toolKey(row, key),
        kind: "tool",
        toolName,
        input,
        toolUseId,
        isShortened,
      });
    }
    case "tool_complete": {
      const { toolName, toolUseId, parentToolUseId: parent } = row;
      const { success, output, error, truncated: isCut, images } = row;
      const end = { success, output, error, isCut, images, at: row.timestamp };
      const ended = changeTool(
        entries,
        parent,
        (tool) => (toolUseId ? tool.toolUseId === toolUseId : !tool.end && tool.toolName === toolName),
        (tool) => ({ ...tool, end }),
      );
      return (
        ended ?? append(entries, parent, { ...stamp, key: toolKey(row, key), kind: "tool", toolName, toolUseId, end })
      );
    }
    case "result":
      return append(entries, undefined, resultEntry(stamp, row));
    case "error":
      return append(entries, undefined, {
        ...stamp,
        kind: "error",
        text: row.content,
        code: row.errorCode,
        exitCode: row.exitCode,
        cause: row.cause,
        apiStatus: row.apiStatus,
      });
    case "claudeAborted":
      return append(entries, undefined, { ...stamp, kind: "aborted", reason: row.reason, messages: row.messages });
    case "user_response": {
      const { deviceId, author, timestamp: at } = row;
      const answer = { ...answerOf(row.content), deviceId, author, at };
      return changeToolAnywhere(entries, row.toolUseId, (tool) => ({ ...tool, answer })) ?? entries;
    }
    case "system":
      return append(entries, undefined, { ...stamp, kind: "remark", ...remarkOf(row.subtype ?? "text", row.content) });
    default:
      return unknown(entries, row);
  }
}

function unknown(entries: Entries, _row: never): Entries {
  return entries;
}

/** History tells an answer in words; those that have a meaning of their own get it back. */
function answerOf(content: string): ToolAnswer {
  if (content === "allowed") return { decision: "allow" };
  if (content === "denied") return { decision: "deny" };
  if (content.startsWith("allowed, with all")) return { decision: "allowAll" };
  return content === "answered" ? {} : { content };
}

function toolKey(row: { toolUseId?: string }, key: string): string {
  return row.toolUseId ? `t${row.toolUseId}` : key;
}

function resultEntry(
  stamp: { key: string; seq?: number; at: number },
  row: Extract<HistoryMessage, { type: "result" }>,
): Entry {
  return {
    ...stamp,
    kind: "result",
    subtype: row.subtype ?? "success",
    durationMs: row.duration_ms,
    costUsd: row.total_cost_usd,
    turns: row.num_turns,
    stopReason: row.stop_reason,
    inputTokens: row.usage.inputTokens + (row.usage.cacheCreationInputTokens ?? 0),
    outputTokens: row.usage.outputTokens,
    cacheReadTokens: row.usage.cacheReadInputTokens,
    cause: row.cause,
    models: modelsOf(row.models),
  };
}
