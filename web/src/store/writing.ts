/** Where somebody is about to write: in what they have just made. Only where a keyboard is at hand; on a phone it would jump up. */
let wanted: string | null = null;

export function writeIn(conversationId: string): void {
  wanted = matchMedia("(pointer: fine)").matches ? conversationId : null;
}

/** Whether the field of a conversation is to take the keyboard now; once. */
export function takeWriting(conversationId: string): boolean {
  if (wanted !== conversationId) return false;
  wanted = null;
  return true;
}
