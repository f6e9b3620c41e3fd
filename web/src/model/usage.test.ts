import { expect, it } from "vitest";
import { days, merge, totals } from "./usage";

const row = (key: string, costUsd: number) => ({
  key,
  costUsd,
  inputTokens: 1,
  outputTokens: 2,
  cacheReadTokens: 3,
  cacheCreationTokens: 4,
});

it("adds up the same day of two machines", () => {
  const rows = merge([[row("2026-11-14", 1)], [row("2026-11-14", 2), row("2026-11-15", 4)]]);
  expect(rows.map((one) => [one.key, one.costUsd])).toEqual([
    ["2026-11-14", 3],
    ["2026-11-15", 4],
  ]);
  expect(totals(rows)).toEqual({ costUsd: 7, tokens: 30, cachedTokens: 9 });
});

it("shows days without use as such, also over the end of a month", () => {
  const shown = days([row("2026-03-01", 5)], "2026-03-02", 4);
  expect(shown.map((one) => [one.key, one.costUsd])).toEqual([
    ["2026-02-27", 0],
    ["2026-02-28", 0],
    ["2026-03-01", 5],
    ["2026-03-02", 0],
  ]);
});
