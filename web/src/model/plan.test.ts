import { expect, it } from "vitest";
import { isOverage, tightest, withLimits } from "./plan";

const NOW = 1_000_000;

it("shows the window that refuses, and of several the one that does so longest", () => {
  const warns = { window: "seven_day", status: "allowed_warning" as const, resetsAt: NOW + 9_000 };
  const refuses = { window: "five_hour", status: "rejected" as const, resetsAt: NOW + 5 };
  const later = { window: "seven_day_opus", status: "rejected" as const, resetsAt: NOW + 50 };
  expect(tightest([warns, refuses, later], NOW)).toBe(later);
  expect(tightest([warns, refuses], NOW)).toBe(refuses);
  expect(tightest([warns], NOW)).toBe(warns);
});

it("says nothing of windows that are free or have begun anew", () => {
  const free = { window: "five_hour", status: "allowed" as const };
  const past = { window: "seven_day", status: "rejected" as const, resetsAt: NOW };
  expect(tightest([free, past], NOW)).toBeUndefined();
  expect(tightest(undefined, NOW)).toBeUndefined();
});

it("replaces what was told of a window, and keeps the others", () => {
  const old = { window: "five_hour", status: "rejected" as const };
  const other = { window: "seven_day", status: "allowed" as const };
  const fresh = { window: "five_hour", status: "allowed" as const };
  expect(withLimits([old, other], [fresh])).toEqual([other, fresh]);
});

it("knows when more was paid for", () => {
  expect(isOverage({ window: "five_hour", status: "rejected", overageStatus: "allowed" })).toBe(true);
  expect(isOverage({ window: "five_hour", status: "rejected" })).toBe(false);
});
