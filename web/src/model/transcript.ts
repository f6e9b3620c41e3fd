/**
 * One conversation as the app knows it: `fold(transcript, event)` and nothing else changes it.
 *
 * Durable events are numbered densely. One that we have is ignored, the next one is folded, a later one means that
 * something was missed: the answer says `gap`, and whoever owns the connection reads the conversation again.
 */
import type {
  ActivityState,
  ApiRetry,
  ClaudeEvent,
  ClaudeEventMessage,
  ConversationStatus,
  ModelShare,
  PauseReason,
  RewoundStretch,
  StateUpdate,
  TextDelta,
  ToolComplete,
} from "@/gen";
import { complete, fromBlocks, type OpenText, place } from "./deltas";
import {
  append,
  changeTool,
  changeToolAnywhere,
  type Entries,
  type Entry,
  NO_ENTRIES,
  type ToolEntry,
} from "./entries";
import type { Refusal } from "./refusal";
import { remarkOf } from "./remarks";

export type Load = "empty" | "loading" | "ready" | "failed";

export interface Transcript {
  load: Load;
  /** Why it could not be read. */
  refusal?: Refusal;
  epoch?: number;
  /** The newest durable event folded. */
  head: number;
  entries: Entries;
  open: readonly OpenText[];
  status: ConversationStatus;
  activity?: { state: ActivityState; since: number };
  /** When the turn under way began. */
  workSince?: number;
  /** A request failed, and the next try comes at `until`. */
  retry?: ApiRetry & { until?: number };
  /** When anything was last heard of it. */
  heardAt?: number;
  model?: string;
  tools: readonly string[];
  /** The process was stopped; `canResume` says whether the next message goes on where it was. */
  paused?: { reason: PauseReason; idleMinutes: number; canResume: boolean; at: number };
  idleStopAt?: number;
  /** Commands that a message may begin with, once the CLI has said so. */
  commands?: readonly string[];
  /** Whether older entries exist that were not read. */
  hasMore: boolean;
  total: number;
  /** Messages that wait until the agent is free, by their id. */
  waiting: readonly string[];
  /** What was taken back by rewinds: the agent does not know it any more. */
  rewound: readonly RewoundStretch[];
  /** We came in the middle, and the machine will say what is being written; pieces before that are in it. */
  expectsSnapshot: boolean;
  /** A page was read, and pieces of what is in it may still be on their way: nothing is written until something new comes. */
  mayRepeat: boolean;
  /** When this was seen, if it is what an earlier visit kept and the machine has not answered yet. */
  keptAt?: number;
  /** A block of text whose beginning was missed; its complete text repairs it, reading again does not. */
  missed?: string;
}

export const EMPTY: Transcript = {
  load: "empty",
  head: 0,
  entries: NO_ENTRIES,
  open: [],
  status: "idle",
  tools: [],
  hasMore: false,
  total: 0,
  waiting: [],
  rewound: [],
  expectsSnapshot: false,
  mayRepeat: false,
};

/** Stretches that were taken back, with some more; a longer one swallows those inside it. */
export function withStretches(
  known: readonly RewoundStretch[],
  more: readonly RewoundStretch[],
): readonly RewoundStretch[] {
  return more.reduce((list, one) => {
    const isInside = (other: RewoundStretch) => other.fromSeq >= one.fromSeq && other.toSeq <= one.toSeq;
    return [...list.filter((other) => !isInside(other)), one];
  }, known);
}

/** Whether an entry was taken back. */
export function isRewound(transcript: Transcript, entry: Entry): boolean {
  const { seq } = entry;
  return seq !== undefined && transcript.rewound.some((one) => seq >= one.fromSeq && seq < one.toSeq);
}

export type Folded = { transcript: Transcript; outcome: "folded" | "known" | "gap" };

export function fold(transcript: Transcript, message: ClaudeEventMessage, now: number): Folded {
  const { seq, epoch, event } = message;
  if (seq !== undefined) {
    if (epoch !== undefined && transcript.epoch !== undefined && epoch !== transcript.epoch) return gap(transcript);
    if (seq <= transcript.head)
      return { transcript: { ...transcript, open: closed(transcript.open, event) }, outcome: "known" };
    if ((transcript.load === "ready" || transcript.head > 0) && seq > transcript.head + 1) return gap(transcript);
  }
  const at = message.timestamp ?? now;
  const key = seq === undefined ? `p${at}-${transcript.entries.top.length}` : `s${seq}`;
  const isPiece = event.type === "text" || event.type === "thinking";
  const placed = isPiece ? onPiece(transcript, event) : apply(transcript, event, { key, seq, at });
  if (placed === null) return gap(transcript);
  const numbered =
    seq === undefined ? placed : { ...placed, head: seq, epoch: epoch ?? placed.epoch, mayRepeat: false };
  // Whatever comes after a failed try comes because a later one went well, or because it was given up.
  const isTold = event.type === "apiRetry" || event.type === "limits" || event.type === "stateUpdate";
  const retry = isTold ? numbered.retry : undefined;
  return { transcript: { ...numbered, retry, heardAt: now }, outcome: "folded" };
}

/** What is still being written after an event whose entry is there already: a page may have come before it. */
function closed(open: readonly OpenText[], event: ClaudeEvent): readonly OpenText[] {
  if (open.length === 0) return open;
  switch (event.type) {
    case "textComplete":
      return complete(open, event.parentToolUseId).open;
    case "thinkingComplete":
      return complete(open, event.parentToolUseId, "thinking").open;
    case "result":
    case "claudeAborted":
      return [];
    case "state":
      return event.state === "idle" ? [] : open;
    default:
      return open;
  }
}

interface Stamp {
  key: string;
  seq?: number;
  at: number;
}

function gap(transcript: Transcript): Folded {
  return { transcript, outcome: "gap" };
}

type Piece = Extract<ClaudeEvent, { type: "text" | "thinking" }>;

function onPiece(transcript: Transcript, piece: Piece): Transcript | null {
  if (transcript.mayRepeat) return transcript;
  const placed = place(transcript.open, piece, transcript.head, piece.type);
  if (placed.type === "applied") return { ...transcript, open: placed.open };
  if (placed.type === "ignored" || transcript.expectsSnapshot) return transcript;
  return transcript.missed === blockOf(piece) ? transcript : null;
}

/** Names the block that a piece belongs to. */
export function blockOf(delta: Pick<TextDelta, "parentToolUseId" | "generation" | "block">): string {
  return `${delta.parentToolUseId ?? ""}/${delta.generation}/${delta.block}`;
}

function apply(transcript: Transcript, event: Exclude<ClaudeEvent, Piece>, stamp: Stamp): Transcript {
  const add = (parent: string | undefined, entry: Entry) => added(transcript, parent, entry);
  switch (event.type) {
    case "userMessage": {
      const { content: text, clientMessageId, deviceId, author } = event;
      const entry: Entry = { ...stamp, at: event.timestamp, kind: "user", text, clientMessageId, deviceId, author };
      return { ...add(undefined, entry), paused: undefined };
    }
    case "init":
      return {
        ...transcript,
        model: event.model,
        tools: event.tools,
        commands: event.slashCommands,
        paused: undefined,
      };
    case "stateUpdate":
      return onStateUpdate(transcript, event, stamp.at);
    case "textComplete": {
      const parent = event.parentToolUseId;
      const { open, key = stamp.key } = complete(transcript.open, parent);
      return added({ ...transcript, open, missed: undefined }, parent, {
        ...stamp,
        key,
        kind: "text",
        text: event.text,
      });
    }
    case "thinkingComplete": {
      const parent = event.parentToolUseId;
      const { open, key = stamp.key } = complete(transcript.open, parent, "thinking");
      const thought: Entry = { ...stamp, key, kind: "thought", text: event.text };
      return added({ ...transcript, open, missed: undefined }, parent, thought);
    }
    case "toolInfo": {
      const { toolName, input, toolUseId, parentToolUseId } = event;
      const key = toolUseId ? `t${toolUseId}` : stamp.key;
      return add(parentToolUseId, { ...stamp, key, kind: "tool", toolName, input, toolUseId });
    }
    case "toolComplete":
      return onToolComplete(transcript, event, stamp);
    case "decisionAnswered": {
      const { state, decision, deviceId, author, answeredAt: at } = event;
      // Later steps of the same decision say only how far it is; who answered stays.
      const answered = (tool: ToolEntry): ToolEntry => ({
        ...tool,
        answer: {
          state,
          decision: decision ?? tool.answer?.decision,
          deviceId: deviceId ?? tool.answer?.deviceId,
          author: author ?? tool.answer?.author,
          at: tool.answer?.at ?? at,
        },
      });
      const entries = changeToolAnywhere(transcript.entries, event.toolUseId, answered);
      return entries ? { ...transcript, entries } : transcript;
    }
    case "state":
      return onState(transcript, event.state, stamp.at);
    case "result":
      return { ...add(undefined, resultEntry(stamp, event, transcript.model)), open: [] };
    case "error":
      return add(undefined, {
        ...stamp,
        kind: "error",
        text: event.error,
        code: event.errorCode,
        exitCode: event.exitCode,
        cause: event.cause,
        apiStatus: event.apiStatus,
      });
    case "claudeAborted":
      return {
        ...add(undefined, { ...stamp, kind: "aborted", reason: event.reason, messages: event.messages }),
        open: [],
      };
    case "taskUpdate":
      return onTask(transcript, event, stamp);
    case "journalDamage":
      return add(undefined, { ...stamp, kind: "remark", subtype: "damage", text: `${event.from}–${event.to}` });
    case "remark":
      return add(undefined, { ...stamp, kind: "remark", ...remarkOf(event.subtype, event.text) });
    case "process_paused": {
      const paused = { reason: event.reason, idleMinutes: event.idleMinutes, canResume: event.canResume, at: stamp.at };
      const entry: Entry = { ...stamp, kind: "remark", subtype: `paused_${event.reason}`, text: "" };
      return { ...add(undefined, entry), paused, idleStopAt: undefined, open: [] };
    }
    case "process_resumed": {
      const subtype = event.resumedWithHistory ? "resumed" : "resumed_fresh";
      return { ...add(undefined, { ...stamp, kind: "remark", subtype, text: "" }), paused: undefined };
    }
    case "sessionReset": {
      const subtype = event.reason === "resume_failed" ? "divider_lost" : "divider";
      return { ...add(undefined, { ...stamp, kind: "remark", subtype, text: "" }), open: [] };
    }
    case "waiting": {
      const waiting = event.messages.map((one) => one.clientMessageId).filter((id) => id !== undefined);
      return { ...transcript, waiting };
    }
    case "messageCancelled": {
      const waiting = transcript.waiting.filter((id) => id !== event.clientMessageId);
      return { ...add(undefined, { ...stamp, kind: "remark", subtype: "cancelled", text: "" }), waiting };
    }
    case "rewound": {
      const stretch = { fromSeq: event.beforeSeq, toSeq: stamp.seq ?? transcript.head + 1 };
      const marked = { ...transcript, rewound: withStretches(transcript.rewound, [stretch]) };
      return { ...added(marked, undefined, { ...stamp, kind: "remark", subtype: "rewound", text: "" }), open: [] };
    }
    case "idleWarning":
      return { ...transcript, idleStopAt: stamp.at + event.secondsLeft * 1_000 };
    case "apiRetry": {
      const { type: _type, ...retry } = event;
      return {
        ...transcript,
        retry: { ...retry, until: retry.delayMs === undefined ? undefined : stamp.at + retry.delayMs },
      };
    }
    case "limits":
      // What the plan allows is a matter of the machine, in `fleet.ts`.
      return transcript;
    case "permission_request":
    case "askQuestion":
      // Open decisions are kept for all conversations together, in `decisions.ts`.
      return transcript;
    default:
      return unknown(transcript, event);
  }
}

/** A newer Pylon may say things we do not know; they are left out, not guessed. */
function unknown(transcript: Transcript, _event: never): Transcript {
  return transcript;
}

function added(transcript: Transcript, parent: string | undefined, entry: Entry): Transcript {
  return { ...transcript, entries: append(transcript.entries, parent, entry), total: transcript.total + 1 };
}

function onStateUpdate(transcript: Transcript, event: StateUpdate, at: number): Transcript {
  const parent = event.parentToolUseId;
  const open = event.open ? fromBlocks(event.open, transcript.head, transcript.open) : transcript.open;
  const expectsSnapshot = transcript.expectsSnapshot && !event.open;
  const known = transcript.activity?.state;
  const isSame = known?.type === event.state.type && known.toolName === event.state.toolName;
  const activity = parent !== undefined || isSame ? transcript.activity : { state: event.state, since: at };
  const mayRepeat = transcript.mayRepeat && !event.open;
  return { ...transcript, open, activity, expectsSnapshot, mayRepeat };
}

function onToolComplete(transcript: Transcript, event: ToolComplete, stamp: Stamp): Transcript {
  const { toolUseId, parentToolUseId: parent, toolName } = event;
  const { success, result: output, error, truncated: isCut, images } = event;
  const end = { success, output, error, isCut, images, at: stamp.at };
  const matches = (tool: ToolEntry) =>
    toolUseId ? tool.toolUseId === toolUseId : !tool.end && tool.toolName === toolName && !tool.toolUseId;
  const entries = changeTool(transcript.entries, parent, matches, (tool) => ({ ...tool, end }));
  if (entries) return { ...transcript, entries };
  const key = toolUseId ? `t${toolUseId}` : stamp.key;
  return added(transcript, parent, { ...stamp, key, kind: "tool", toolName, toolUseId, end });
}

function onState(transcript: Transcript, status: ConversationStatus, at: number): Transcript {
  if (status === "idle") {
    return { ...transcript, status, activity: undefined, workSince: undefined, open: [], idleStopAt: undefined };
  }
  return { ...transcript, status, workSince: transcript.workSince ?? at };
}

function onTask(transcript: Transcript, event: Extract<ClaudeEvent, { type: "taskUpdate" }>, stamp: Stamp): Transcript {
  const { taskId, status, summary, toolUseId } = event;
  const apply = (tool: ToolEntry): ToolEntry => ({
    ...tool,
    task: { taskId, status, summary: summary ?? tool.task?.summary },
  });
  const entries = toolUseId
    ? changeToolAnywhere(transcript.entries, toolUseId, apply)
    : changeTool(transcript.entries, undefined, (tool) => tool.task?.taskId === taskId, apply);
  if (entries) return { ...transcript, entries };
  if (status === "running") return transcript;
  return added(transcript, undefined, { ...stamp, kind: "remark", subtype: `task_${status}`, text: summary ?? taskId });
}

/** Those that had a share of a turn, the largest first; the CLI's own word of the beginning is only a guess beside it. */
export function modelsOf(shares: readonly ModelShare[] | undefined): string[] | undefined {
  if (!shares || shares.length === 0) return undefined;
  return [...shares].sort((a, b) => b.costUsd - a.costUsd).map((share) => share.model);
}

function resultEntry(stamp: Stamp, event: Extract<ClaudeEvent, { type: "result" }>, model: string | undefined): Entry {
  return {
    ...stamp,
    kind: "result",
    subtype: event.subtype,
    durationMs: event.duration_ms,
    costUsd: event.total_cost_usd,
    turns: event.num_turns,
    stopReason: event.stop_reason,
    inputTokens: event.usage.inputTokens + event.usage.cacheCreationInputTokens,
    outputTokens: event.usage.outputTokens,
    cacheReadTokens: event.usage.cacheReadInputTokens,
    cause: event.cause,
    apiStatus: event.apiStatus,
    models: modelsOf(event.models) ?? (model === undefined ? undefined : [model]),
  };
}
