import { expect, it } from "vitest";
import type { ClaudeEventMessage, HistoryMessage, HistoryResult } from "@/gen";
import type { Entry } from "./entries";
import { openWith } from "./history";
import { fromKept, KEPT_CHARACTERS, KEPT_ROWS, keptOf } from "./kept";
import { EMPTY, type Transcript } from "./transcript";
import { EMPTY_WORLD, onFrame, view } from "./world";

const said = (seq: number, text = `said ${seq}`): Entry => ({ key: `s${seq}`, seq, at: seq, kind: "text", text });
const row = (seq: number): HistoryMessage => ({
  ...{ type: "text", role: "assistant", content: `said ${seq}`, timestamp: seq, seq },
});
const talk = (top: Entry[], below = new Map<string, Entry[]>()): Transcript => ({
  ...{ ...EMPTY, load: "ready", head: top.length },
  entries: { top, below },
});
const page = (from: number, to: number): HistoryResult => ({
  ...{ deviceId: 1, workspaceId: "w", conversationId: "c", success: true, epoch: 1, headSeq: to, offset: 0 },
  ...{ totalCount: to, hasMore: from > 1, messages: Array.from({ length: to - from + 1 }, (_, at) => row(from + at)) },
});
const again = (transcript: Transcript) => {
  const kept = keptOf(transcript, 5);
  return kept && fromKept(JSON.parse(JSON.stringify(kept)));
};

it("keeps the end, in rows and in characters", () => {
  const many = Array.from({ length: 300 }, (_, at) => said(at + 1));
  expect(again(talk(many))?.entries.top).toEqual(many.slice(-KEPT_ROWS));
  const long = many.map((_, at) => said(at + 1, "x".repeat(KEPT_CHARACTERS / 4)));
  expect(again(talk(long))?.entries.top).toEqual(long.slice(-3));
  expect(keptOf(talk([said(1, "x".repeat(KEPT_CHARACTERS))]), 5)).toBeNull();
  expect(keptOf(EMPTY, 5)).toBeNull();
});

it("keeps what sub-agents did below their call", () => {
  const call: Entry = { key: "t1", seq: 1, at: 1, kind: "tool", toolName: "Task", toolUseId: "1" };
  const below = new Map([["1", [said(2)]]]);
  expect(again(talk([call], below))?.entries.below).toEqual(below);
});

it("what the machine says takes the place of what was kept, and nothing is there twice", () => {
  const kept = again(talk([said(1), said(2), said(3)]));
  if (!kept) throw new Error("nothing was kept");
  expect(kept.keptAt).toBe(5);
  const opened = openWith({ ...kept, load: "loading" }, page(2, 6), 9);
  expect(opened.entries.top.map(({ key }) => key)).toEqual(["s2", "s3", "s4", "s5", "s6"]);
  expect([opened.keptAt, opened.hasMore, opened.head]).toEqual([undefined, true, 6]);
});

it("shows nothing live in what is old: what comes before the page waits for it", () => {
  const kept = again(talk([said(1), said(2)]));
  if (!kept) throw new Error("nothing was kept");
  const { world } = view({ ...EMPTY_WORLD, transcripts: { c: kept } }, "c");
  const event: ClaudeEventMessage = {
    ...{ conversationId: "c", workspaceId: "w", seq: 3, epoch: 1, timestamp: 3 },
    event: { type: "textComplete", text: "said 3" },
  };
  const early = onFrame(world, { type: "claude_event", payload: event }, 8).world;
  expect(early.transcripts.c?.entries.top).toHaveLength(2);
  const { world: opened } = onFrame(early, { type: "history_result", payload: page(1, 2) }, 9);
  expect(opened.transcripts.c?.entries.top.map((one) => one.seq)).toEqual([1, 2, 3]);
});
