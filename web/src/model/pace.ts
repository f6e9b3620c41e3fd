/**
 * How fast an app may send: the relay ends the connection of one that sends more than 1 MiB a second in the long run.
 *
 * Pure. A file takes less than that, so that what else the app says has room.
 */
const BYTES_PER_SECOND = 768 * 1024;
/** How much may go out at once after a rest. */
const AT_ONCE = 6 * 1024 * 1024;

export interface Pace {
  /** What may go out at once; less than nothing is a debt. */
  left: number;
  at: number;
}

export const RESTED: Pace = { left: AT_ONCE, at: 0 };

/** Takes so many bytes, and says for how long they should wait. */
export function take(pace: Pace, bytes: number, now: number): { pace: Pace; waitMs: number } {
  const passed = Math.max(0, now - pace.at) / 1_000;
  const left = Math.min(AT_ONCE, pace.left + passed * BYTES_PER_SECOND) - bytes;
  return { pace: { left, at: now }, waitMs: left < 0 ? Math.ceil((-left / BYTES_PER_SECOND) * 1_000) : 0 };
}
