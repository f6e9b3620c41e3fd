/** Whether it is known which machines are connected. Pure. */
import type { Phase } from "./connection";
import type { World } from "./world";

/** The page has just begun to connect, and nobody has said yet which machines are there: that none is would be a guess. */
export function isUnsure(phase: Phase, { devices }: Pick<World, "devices">): boolean {
  if (devices.length > 0) return false;
  if (phase.name === "connecting" || phase.name === "authenticating") return phase.failures === 0;
  return phase.name === "online";
}
