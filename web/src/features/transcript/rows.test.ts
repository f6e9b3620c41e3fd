import { expect, it } from "vitest";
import type { ClaudeEvent } from "@/gen";
import type { Entry } from "@/model/entries";
import { EMPTY, fold, type Transcript } from "@/model/transcript";
import { answerBefore, rowsOf } from "./rows";

const user = (key: string): Entry => ({ key, at: 0, kind: "user", text: `asks ${key}` });
const text = (key: string): Entry => ({ key, at: 0, kind: "text", text: `says ${key}` });
const aborted = (key: string): Entry => ({ key, at: 0, kind: "aborted", reason: "user" });

it("an answer is what was said since the last message of a person, and nothing else", () => {
  const entries = [user("a"), text("b"), aborted("c"), user("d"), text("e"), aborted("f"), text("g"), aborted("h")];
  expect(answerBefore(entries, "h")).toBe("says e\n\nsays g");
  expect(answerBefore(entries, "c")).toBe("says b");
  expect(answerBefore(entries, "unknown")).toBe("");
});

it("keeps the row of a text when it is complete, so that what is selected in it stays", () => {
  const keys = (transcript: Transcript) => rowsOf(transcript, [], "c").map((row) => row.key);
  const said = (transcript: Transcript, event: Parameters<typeof fold>[1]["event"], seq?: number) =>
    fold(transcript, { workspaceId: "w", conversationId: "c", event, seq, epoch: seq && 1 }, 0).transcript;
  const begun: Transcript = { ...EMPTY, load: "ready", head: 6, epoch: 1 };
  const thinking = said(begun, { type: "thinking", content: "Hm", generation: 1, block: 0, at: 0 });
  const writing = said(thinking, { type: "text", content: "Good mor", generation: 1, block: 1, at: 0 });
  const thought = said(writing, { type: "thinkingComplete", text: "Hm" }, 7);
  // Other things happen while a text is written: another message comes, a call of a sub-agent ends.
  const asked = said(thought, { type: "userMessage", content: "And?", timestamp: 1 }, 8);
  const done = said(asked, { type: "textComplete", text: "Good morning" }, 9);
  const [, thoughtKey, textKey] = keys(writing);
  expect(keys(asked)).toEqual(["head", thoughtKey, "s8", textKey]);
  expect(keys(done)).toEqual(["head", thoughtKey, "s8", textKey]);
});

it("never gives two texts the same row, also when a machine counts its texts anew", () => {
  const message = (event: ClaudeEvent, seq?: number) => ({
    workspaceId: "w",
    conversationId: "c",
    event,
    seq,
    epoch: 1,
  });
  const once = (transcript: Transcript, seq: number) => {
    const piece = { type: "text" as const, content: "Hel", generation: 1, block: 0, at: 0 };
    const written = fold(transcript, message(piece), 0).transcript;
    return fold(written, message({ type: "textComplete", text: "Hello" }, seq), 0).transcript;
  };
  const twice = once(once({ ...EMPTY, load: "ready", head: 1, epoch: 1 }, 2), 3);
  const keys = rowsOf(twice, [], "c").map((row) => row.key);
  expect(keys).toHaveLength(3);
  expect(new Set(keys).size).toBe(3);
});

it("keeps the key of a text that the machine repeats from its beginning", () => {
  const message = (event: ClaudeEvent) => ({ workspaceId: "w", conversationId: "c", event });
  const piece = { type: "text" as const, content: "Hel", generation: 1, block: 0, at: 0 };
  const written = fold({ ...EMPTY, load: "ready", head: 4 }, message(piece), 0).transcript;
  const open = [{ kind: "text" as const, generation: 1, block: 0, content: "Hello" }];
  const repeated = fold(
    { ...written, head: 5 },
    message({ type: "stateUpdate", state: { type: "responding" }, partialText: "Hello", open }),
    0,
  ).transcript;
  expect(repeated.open.map(({ key, text }) => [key, text])).toEqual([[written.open[0]?.key, "Hello"]]);
});
