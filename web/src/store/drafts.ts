/**
 * What was typed and not sent, per conversation; kept on the device.
 *
 * Tabs share the drafts: each conversation has a name of its own, and what was typed last counts.
 */
import { followOthers, load, loadEach, save } from "./storage";

const NAME = "draft.";

// Once all of them were kept under one name.
for (const [id, text] of Object.entries(load<Record<string, string>>("drafts", {}))) save(NAME + id, text);
save("drafts", null);

const drafts = loadEach<string>(NAME);
const unsaved = new Set<string>();
let timer: ReturnType<typeof setTimeout> | undefined;

/** Writing at every key press would be waste; a moment later is soon enough. */
const DELAY_MS = 300;

export function draftOf(conversationId: string): string {
  return drafts.get(conversationId) ?? "";
}

export function saveDraft(conversationId: string, text: string): void {
  if (text === draftOf(conversationId)) return;
  set(conversationId, text);
  unsaved.add(conversationId);
  clearTimeout(timer);
  timer = setTimeout(flushDrafts, DELAY_MS);
}

/** Keeps what was typed a moment ago, for a page that goes. */
export function flushDrafts(): void {
  for (const id of unsaved) save(NAME + id, drafts.get(id));
  unsaved.clear();
}

function set(conversationId: string, text: string): void {
  if (text === "") drafts.delete(conversationId);
  else drafts.set(conversationId, text);
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

/** Takes what is typed in other tabs, and keeps what is typed here when the page goes. */
export function shareDrafts(): void {
  followOthers<string>(NAME, (conversationId, text) => {
    set(conversationId, text ?? "");
    unsaved.delete(conversationId);
    fields.get(conversationId)?.(text ?? "");
  });
  addEventListener("pagehide", flushDrafts);
}
