/** The place in a conversation that somebody wants to see, from a search until the list shows it. */
import { create } from "zustand";

export interface Wanted {
  conversationId: string;
  seq: number;
}

export const useWanted = create<{ wanted: Wanted | null }>(() => ({ wanted: null }));

export function reveal(conversationId: string, seq: number): void {
  useWanted.setState({ wanted: { conversationId, seq } });
}

export function isRevealed(): void {
  useWanted.setState({ wanted: null });
}
