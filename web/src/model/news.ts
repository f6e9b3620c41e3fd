/** What is worth telling somebody who does not look: a new decision, or the end of a turn. Pure. */
import { places } from "./fleet";
import type { World } from "./world";

export interface News {
  kind: "decision" | "finished";
  conversationId: string;
  name: string;
}

/** Hours in which nobody is told, as `HH:MM`; they may go over midnight. */
export interface QuietHours {
  from: string;
  until: string;
}

export function isQuiet(quiet: QuietHours | null, now: Date): boolean {
  if (!quiet) return false;
  const time = `${String(now.getHours()).padStart(2, "0")}:${String(now.getMinutes()).padStart(2, "0")}`;
  const { from, until } = quiet;
  return from <= until ? from <= time && time < until : from <= time || time < until;
}

/** What happened between two moments, without the conversations that are to be silent. */
export function newsBetween(before: World, after: World, muted: readonly string[]): News[] {
  if (before.fleet === after.fleet && before.decisions === after.decisions) return [];
  const was = new Map(places(before.fleet).map(({ conversation }) => [conversation.conversationId, conversation]));
  const asked = new Set(before.decisions.map((one) => one.toolUseId));
  const fresh = new Set(after.decisions.filter((one) => !asked.has(one.toolUseId)).map((one) => one.conversationId));
  return places(after.fleet).flatMap(({ conversation }): News[] => {
    const { conversationId, name } = conversation;
    if (muted.includes(conversationId)) return [];
    if (fresh.has(conversationId)) return [{ kind: "decision", conversationId, name }];
    const isOver = was.get(conversationId)?.status === "working" && conversation.status === "idle";
    return isOver ? [{ kind: "finished", conversationId, name }] : [];
  });
}
