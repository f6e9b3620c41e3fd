import { expect, it } from "vitest";
import { addDecided, type Decided, foldDecided, resultDecided } from "./decided";
import type { Decision } from "./decisions";

const open = (toolUseId: string, answer?: "allow"): Decision => ({
  deviceId: 1,
  workspaceId: "ws",
  conversationId: "c",
  toolUseId,
  kind: "permission",
  toolName: "Bash",
  questions: [],
  askedAt: 1,
  answer,
});

it("the first word about a decision counts, whether it is the event or the result", () => {
  const mine = [open("a", "allow")];
  const taken = resultDecided([], mine, { conversationId: "c", toolUseId: "a", success: true }, { deviceId: 7 }, 10);
  expect(taken).toEqual([{ decision: mine[0], answer: "allow", deviceId: 7, at: 10 }]);
  const event = { type: "decisionAnswered", toolUseId: "a", state: "answered", deviceId: 8 } as const;
  expect(foldDecided(taken, mine, "c", event, 11)).toBe(taken);
  const late = { type: "decisionAnswered", toolUseId: "b", state: "answered", decision: "deny", deviceId: 8 } as const;
  expect(foldDecided(taken, [open("b")], "c", late, 12)[0]).toMatchObject({ answer: "deny", deviceId: 8, at: 12 });
});

it("somebody who was faster is named, and what became void is said to be", () => {
  const result = { conversationId: "c", toolUseId: "a", success: false, answeredBy: 9, answeredAt: 5 };
  expect(resultDecided([], [open("a", "allow")], result, { deviceId: 7 }, 10)).toMatchObject([{ deviceId: 9, at: 5 }]);
  const gone = { type: "decisionAnswered", toolUseId: "a", state: "void" } as const;
  expect(foldDecided([], [open("a")], "c", gone, 3)).toMatchObject([{ isVoid: true, at: 3 }]);
});

it("nothing is said of what was never shown, and only the newest are kept", () => {
  const event = { type: "decisionAnswered", toolUseId: "x", state: "answered" } as const;
  expect(foldDecided([], [open("a")], "c", event, 1)).toEqual([]);
  expect(foldDecided([], [open("x")], "other", event, 1)).toEqual([]);
  const many = Array.from({ length: 40 }, (_, at): Decided => ({ decision: open(`t${at}`), at }));
  const list = many.reduce(addDecided, [] as readonly Decided[]);
  expect([list.length, list[0]?.at]).toEqual([20, 39]);
});
