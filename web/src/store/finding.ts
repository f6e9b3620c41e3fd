/** In which conversation somebody looks for words. */
import { create } from "zustand";

export const useFinding = create<{ conversationId: string | null }>(() => ({ conversationId: null }));

export function startFinding(conversationId: string): void {
  useFinding.setState({ conversationId });
}

export function endFinding(): void {
  useFinding.setState({ conversationId: null });
}
