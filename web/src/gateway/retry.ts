/**
 * The one rule for lost connections, of the app to its relay and of the gateway's client to a session.
 *
 * When a lost WebSocket is tried again: at once, then after 1, 2, 4, 8 and 16 seconds, then no more.
 *
 * Each wait is up to a fifth shorter, by chance, so that those who were cut off together do not all come back in the same
 * moment; it is never longer.
 *
 * Pure. A connection that stood counts as a success and begins the count anew, but only once it lasted: one that breaks
 * as soon as it stands is no better than one that never did.
 */
export const FIRST_MS = 100;
export const DELAYS_MS: readonly number[] = [1_000, 2_000, 4_000, 8_000, 16_000];
/** A connection that lasted so long was a good one. */
export const LASTED_MS = 5_000;

export type Wait = { after: number } | "rest";

/** The part of a wait that chance may take away. */
export const JITTER = 0.2;

/** How long to wait after so many failures in a row, the first one counted as one. `chance` is from 0 to 1; 0 is the whole wait. */
export function waitAfter(failures: number, chance = 0): Wait {
  const after = failures <= 1 ? FIRST_MS : DELAYS_MS[failures - 2];
  return after === undefined ? "rest" : { after: after * (1 - JITTER * chance) };
}

/** The failures in a row, after a connection that stood for so long; none if it never stood. */
export function failuresAfter(before: number, stoodMs: number | null): number {
  return stoodMs !== null && stoodMs >= LASTED_MS ? 1 : before + 1;
}
