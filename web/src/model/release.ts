/** What a published build is against the one that runs. Pure. */

export type Standing = "same" | "other" | "unknown";

/** Versions are compared as they are written: a machine that runs something else is told so, not judged. */
export function standingOf(running: string | undefined, published: string | null): Standing {
  if (!running || !published) return "unknown";
  return bare(running) === bare(published) ? "same" : "other";
}

/** `YYYYMMDDHHmmss` of a build as a moment, or undefined if it is not written so. */
export function buildMoment(written: string | null): number | undefined {
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(written ?? "");
  if (!parts) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts.slice(1).map(Number);
  const at = Date.UTC(year, month - 1, day, hour, minute, second);
  const isReal = new Date(at).getUTCMonth() === month - 1 && new Date(at).getUTCDate() === day;
  return isReal ? at : undefined;
}

function bare(version: string): string {
  return version.trim().replace(/^v/, "");
}
