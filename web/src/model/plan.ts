/** Windows of the plan: what each machine was last told, and which of them a person has to know of. Pure. */
import type { PlanLimit } from "@/gen";

/** What was told anew takes the place of what was told of the same window before. */
export function withLimits(known: readonly PlanLimit[] = [], news: readonly PlanLimit[]): readonly PlanLimit[] {
  const windows = new Set(news.map((one) => one.window));
  return [...known.filter((one) => !windows.has(one.window)), ...news];
}

/**
 * The window that stands most in the way now, if one does: one that refuses before one that warns, and of those the one
 * that does so longest. A window whose time is over has begun anew, whatever was told of it.
 */
export function tightest(limits: readonly PlanLimit[] = [], now: number): PlanLimit | undefined {
  const open = limits.filter(
    ({ status, resetsAt }) => status !== "allowed" && (resetsAt === undefined || resetsAt > now),
  );
  const weight = (one: PlanLimit) => (one.status === "rejected" ? 1 : 0);
  return open.toSorted((a, b) => weight(b) - weight(a) || (b.resetsAt ?? 0) - (a.resetsAt ?? 0))[0];
}

/** Whether requests go through although the window is used up, because more was paid for. */
export function isOverage(limit: PlanLimit): boolean {
  return limit.isUsingOverage === true || (limit.status === "rejected" && limit.overageStatus === "allowed");
}
