/**
 * When a lost WebSocket is tried again: at once, then after 1, 2, 4, 8 and 16 seconds, then no more.
 *
 * Pure. A connection that stood counts as a success and begins the count anew, but only once it lasted: one that breaks
 * as soon as it stands is no better than one that never did.
 */
export const FIRST_MS = 100;
export const DELAYS_MS: readonly number[] = [1_000, 2_000, 4_000, 8_000, 16_000];
/** A connection that lasted so long was a good one. */
export const LASTED_MS = 5_000;

export type Wait = { after: number } | "rest";

/** How long to wait after so many failures in a row, the first one counted as one. */
export function waitAfter(failures: number): Wait {
  if (failures <= 1) return { after: FIRST_MS };
  const after = DELAYS_MS[failures - 2];
  return after === undefined ? "rest" : { after };
}

/** The failures in a row, after a connection that stood for so long; none if it never stood. */
export function failuresAfter(before: number, stoodMs: number | null): number {
  return stoodMs !== null && stoodMs >= LASTED_MS ? 1 : before + 1;
}
