/** What the whole of Estelle is at: whether somebody is needed, how often, and whether anything works. */
import { places } from "@/model/fleet";
import type { World } from "@/model/world";
import { useApp } from "@/store/app";

/** Open decisions, and conversations that need somebody for a reason we have not been told yet. */
export function neededCount(world: World): number {
  const known = new Set(world.decisions.map((one) => one.conversationId));
  const unseen = places(world.fleet).filter(
    ({ conversation }) => conversation.status === "permission" && !known.has(conversation.conversationId),
  );
  return world.decisions.length + unseen.length;
}

export function useNeeded(): number {
  return useApp((app) => neededCount(app.world));
}

export function starState(world: World): "still" | "working" | "needed" {
  if (neededCount(world) > 0) return "needed";
  const isWorking = places(world.fleet).some(
    ({ machine, conversation }) => machine.isOnline && conversation.status === "working",
  );
  return isWorking ? "working" : "still";
}

export function useStarState(): "still" | "working" | "needed" {
  return useApp((app) => starState(app.world));
}
