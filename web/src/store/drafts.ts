/** What was typed and not sent, per conversation; kept on the device. */
import { load, save } from "./storage";

const drafts: Record<string, string> = load("drafts", {});
let timer: ReturnType<typeof setTimeout> | undefined;

/** Writing at every key press would be waste; a moment later is soon enough. */
const DELAY_MS = 300;

export function draftOf(conversationId: string): string {
  return drafts[conversationId] ?? "";
}

export function saveDraft(conversationId: string, text: string): void {
  if (text === "") delete drafts[conversationId];
  else drafts[conversationId] = text;
  clearTimeout(timer);
  timer = setTimeout(() => save("drafts", drafts), DELAY_MS);
}

const fields = new Map<string, (text: string) => void>();

/** Puts a text into the field of a conversation, also if it is on the screen. */
export function putDraft(conversationId: string, text: string): void {
  saveDraft(conversationId, text);
  fields.get(conversationId)?.(text);
}

/** Tells the field on the screen what is put into it. */
export function followDraft(conversationId: string, set: (text: string) => void): () => void {
  fields.set(conversationId, set);
  return () => void fields.delete(conversationId);
}
