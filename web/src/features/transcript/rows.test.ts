import { expect, it } from "vitest";
import type { Entry } from "@/model/entries";
import { answerBefore } from "./rows";

const user = (key: string): Entry => ({ key, at: 0, kind: "user", text: `asks ${key}` });
const text = (key: string): Entry => ({ key, at: 0, kind: "text", text: `says ${key}` });
const aborted = (key: string): Entry => ({ key, at: 0, kind: "aborted", reason: "user" });

it("an answer is what was said since the last message of a person, and nothing else", () => {
  const entries = [user("a"), text("b"), aborted("c"), user("d"), text("e"), aborted("f"), text("g"), aborted("h")];
  expect(answerBefore(entries, "h")).toBe("says e\n\nsays g");
  expect(answerBefore(entries, "c")).toBe("says b");
  expect(answerBefore(entries, "unknown")).toBe("");
});
