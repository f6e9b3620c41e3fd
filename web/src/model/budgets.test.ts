import { describe, expect, it } from "vitest";
import type { Budget } from "@/gen";
import { amountOf, keyOf, levelOf, linesOf, partOf, subjectOf } from "./budgets";
import type { Fleet } from "./fleet";
import { type Notices, warnOfBudget } from "./notices";

describe("an amount as it is typed", () => {
  it("takes both marks for decimals, and a sign of the currency", () => {
    expect(["5", " 0.5 ", "2,75", "$3"].map(amountOf)).toEqual([5, 0.5, 2.75, 3]);
  });

  it("tells nothing from nonsense", () => {
    expect(amountOf("  ")).toBe(undefined);
    expect(["0", "-1", "many", "1.2.3", "1e9", "1000001", "NaN"].map(amountOf)).toEqual(Array(7).fill(null));
  });
});

it("takes one line or two, and not a warning behind the end", () => {
  expect(linesOf("", "5")).toEqual({ softUsd: undefined, hardUsd: 5 });
  expect(linesOf("4", "5")).toEqual({ softUsd: 4, hardUsd: 5 });
  expect([linesOf("", ""), linesOf("x", "5"), linesOf("6", "5")]).toEqual(["none", "amount", "order"]);
});

it("knows how far a budget is used", () => {
  const day = (spentUsd: number): Budget => ({ scope: "day", spentUsd, softUsd: 2, hardUsd: 4 });
  expect([1, 2, 4, 9].map((spent) => levelOf(day(spent)))).toEqual(["fine", "warned", "spent", "spent"]);
  expect([1, 9].map((spent) => partOf(day(spent)))).toEqual([0.25, 1]);
  expect(levelOf({ scope: "day", spentUsd: 9 })).toBe("fine");
});

describe("a task's budget beside that of its conversation", () => {
  const talk: Budget = { scope: "conversation", conversationId: "c1", spentUsd: 3, hardUsd: 9 };
  const task: Budget = { scope: "task", conversationId: "c1", taskId: "t1", spentUsd: 1, hardUsd: 1 };
  const workspace = {
    conversations: [{ conversationId: "c1", name: "Worker" }],
    tasks: [{ id: "t1", title: "Tidy the parser", status: "running" }],
  };
  const fleet = [{ deviceId: 1, workspaces: [workspace] }] as unknown as Fleet;

  it("is another one, and is called after the task", () => {
    const day: Budget = { scope: "day", spentUsd: 0 };
    const keys = [day, talk, task, { ...task, taskId: "t2" }].map(keyOf);
    expect(new Set(keys).size).toBe(4);
    expect(subjectOf(fleet, task)).toEqual({ conversation: "Worker", task: "Tidy the parser" });
    expect(subjectOf(fleet, { ...task, taskId: "gone" })).toEqual({ conversation: "Worker", task: "gone" });
    expect(subjectOf([], task)).toEqual({ conversation: "c1", task: "t1" });
    expect(subjectOf(fleet, talk)).toEqual({ conversation: "Worker" });
    expect(subjectOf(fleet, day)).toEqual({ conversation: undefined });
  });

  it("does not take the place of its warning, only of an older one of its own", () => {
    const warned = (world: { notices: Notices }, budget: Budget, line: "soft" | "hard") =>
      warnOfBudget(world, { deviceId: 1, line, budget });
    const first = warned(warned({ notices: [] }, talk, "soft"), task, "soft");
    expect(first.notices.map((one) => one.budget?.budget)).toEqual([talk, task]);
    const second = warned(first, task, "hard");
    expect(second.notices.map((one) => one.budget?.line)).toEqual(["soft", "hard"]);
  });
});
