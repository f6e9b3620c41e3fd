/**
 * Whether something that was asked for is there already: an answer may come late or never, and nobody wants it twice.
 */
import type { Conversation } from "@/gen";
import type { Fleet } from "./fleet";

export interface Wish {
  deviceId: number;
  /** In this workspace; absent when the workspace itself is asked for. */
  workspaceId?: string;
  name: string;
}

/** The conversations that a machine has now, to be compared with later. */
export function idsOf(fleet: Fleet, deviceId: number): ReadonlySet<string> {
  return new Set(spaces(fleet, { deviceId, name: "" }).flatMap(({ conversations }) => conversations.map(idOf)));
}

/** The conversation that came of a wish since `before`. */
export function grantedSince(before: ReadonlySet<string>, fleet: Fleet, wish: Wish): string | undefined {
  const named = ({ name }: { name: string }) => name === wish.name;
  const isWorkspace = wish.workspaceId === undefined;
  const within = spaces(fleet, wish).filter((one) => !isWorkspace || named(one));
  const fresh = within.flatMap(({ conversations }) => conversations).filter((one) => !before.has(one.conversationId));
  return fresh.find((one) => isWorkspace || named(one))?.conversationId;
}

function spaces(fleet: Fleet, { deviceId, workspaceId }: Wish) {
  const all = fleet.find((machine) => machine.deviceId === deviceId)?.workspaces ?? [];
  return all.filter((one) => workspaceId === undefined || one.workspaceId === workspaceId);
}

function idOf({ conversationId }: Conversation): string {
  return conversationId;
}
