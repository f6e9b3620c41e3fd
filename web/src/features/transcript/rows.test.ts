import { expect, it } from "vitest";
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
  const done = said(thought, { type: "textComplete", text: "Good morning" }, 8);
  expect(keys(writing)).toEqual(keys(done));
  expect(new Set(keys(done)).size).toBe(keys(done).length);
});
