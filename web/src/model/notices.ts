/** What has to be said and belongs to no place of its own; the newest last, and only a little of it. */
import type { BudgetWarning } from "@/gen";
import { keyOf } from "./budgets";
import type { Refusal } from "./refusal";

export interface Notice extends Refusal {
  id: number;
  /** A line of a budget that was passed. It stays until somebody has read it. */
  budget?: BudgetWarning;
}

export type Notices = readonly Notice[];

const KEPT = 3;

/** The world, or any part of it, with one notice more. */
export function notice<T extends { notices: Notices }>(world: T, said: Omit<Notice, "id">): T {
  const id = (world.notices.at(-1)?.id ?? 0) + 1;
  return { ...world, notices: [...world.notices, { id, ...said }].slice(-KEPT) };
}

/** A budget has passed a line: what was said of it before is old. */
export function warnOfBudget<T extends { notices: Notices }>(world: T, budget: BudgetWarning): T {
  const isOf = (said: BudgetWarning) =>
    said.deviceId === budget.deviceId && keyOf(said.budget) === keyOf(budget.budget);
  const notices = world.notices.filter((one) => !one.budget || !isOf(one.budget));
  return notice({ ...world, notices }, { words: "", budget });
}
