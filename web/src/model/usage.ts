/** What was used, from all machines together: rows with the same key are one row. Pure. */
import type { UsageRow } from "@/gen";

export interface UsageTotals {
  costUsd: number;
  tokens: number;
  cachedTokens: number;
}

export function merge(lists: readonly (readonly UsageRow[])[]): UsageRow[] {
  const rows = new Map<string, UsageRow>();
  for (const row of lists.flat()) {
    const known = rows.get(row.key);
    rows.set(row.key, known ? sum(known, row) : row);
  }
  return [...rows.values()];
}

export function totals(rows: readonly UsageRow[]): UsageTotals {
  return {
    costUsd: rows.reduce((all, row) => all + row.costUsd, 0),
    tokens: rows.reduce((all, row) => all + tokensOf(row), 0),
    cachedTokens: rows.reduce((all, row) => all + row.cacheReadTokens, 0),
  };
}

export function tokensOf(row: UsageRow): number {
  return row.inputTokens + row.outputTokens + row.cacheReadTokens + row.cacheCreationTokens;
}

/** The last days up to `today`, those without use included, oldest first. Keys are `YYYY-MM-DD`. */
export function days(rows: readonly UsageRow[], today: string, count: number): UsageRow[] {
  const known = new Map(rows.map((row) => [row.key, row]));
  const end = Date.parse(`${today}T00:00:00Z`);
  return Array.from({ length: count }, (_, index) => {
    const key = new Date(end - (count - 1 - index) * 86_400_000).toISOString().slice(0, 10);
    return (
      known.get(key) ?? { key, costUsd: 0, inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheCreationTokens: 0 }
    );
  });
}

function sum(a: UsageRow, b: UsageRow): UsageRow {
  return {
    key: a.key,
    costUsd: a.costUsd + b.costUsd,
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheCreationTokens: a.cacheCreationTokens + b.cacheCreationTokens,
  };
}
