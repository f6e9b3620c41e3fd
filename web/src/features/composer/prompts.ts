/** Earlier prompts of a conversation, walked through with the arrow keys from an empty field. */
import { useRef } from "react";
import { splitAttached } from "@/model/attached";
import type { UserEntry } from "@/model/entries";
import { useApp } from "@/store/app";

export interface Prompts {
  /** The prompt to show, or null if the key should do what it always does. */
  move(direction: "back" | "forward"): string | null;
  reset(): void;
}

export function usePrompts(conversationId: string, value: string): Prompts {
  const at = useRef<number | null>(null);
  const shown = useRef<string | null>(null);
  return {
    move(direction) {
      const isOwn = value === "" || value === shown.current;
      if (!isOwn) return null;
      const entries = useApp.getState().world.transcripts[conversationId]?.entries.top ?? [];
      const list = entries
        .filter((entry): entry is UserEntry => entry.kind === "user")
        .map((entry) => splitAttached(entry.text).words);
      const from = at.current ?? list.length;
      const to = direction === "back" ? from - 1 : from + 1;
      if (to < 0 || (from === list.length && direction === "forward")) return null;
      at.current = to >= list.length ? null : to;
      shown.current = list[to] ?? "";
      return shown.current;
    },
    reset() {
      at.current = null;
      shown.current = null;
    },
  };
}
