/** Sessions that the agent has saved in a folder, also those that were made without Estelle. */
import type { HistoryMessage, SavedSession } from "@/gen";
import { ask } from "./app";

/** A workspace of a machine. */
export interface Shelf {
  deviceId: number;
  workspaceId: string;
}

export interface Part<T> {
  items: T[];
  /** Where the next part begins; absent at the end. */
  next?: number;
}

/** Newest first. */
export function listSaved({ deviceId, workspaceId }: Shelf, offset?: number): Promise<Part<SavedSession>> {
  return ask(
    deviceId,
    (requestId) => ({ type: "saved_list", payload: { workspaceId, offset, requestId } }),
    (frame) =>
      frame.type === "saved_list_result"
        ? { value: { items: frame.payload.sessions, next: frame.payload.nextOffset } }
        : null,
  );
}

/** What was said in one, from its beginning or since it was last summed up. */
export function readSaved(
  { deviceId, workspaceId }: Shelf,
  claudeSessionId: string,
  offset?: number,
): Promise<Part<HistoryMessage>> {
  return ask(
    deviceId,
    (requestId) => ({ type: "saved_read", payload: { workspaceId, claudeSessionId, offset, requestId } }),
    (frame) =>
      frame.type === "saved_read_result"
        ? { value: { items: frame.payload.messages, next: frame.payload.nextOffset } }
        : null,
  );
}

/** Makes a conversation that goes on from a copy of one, and says which; the session itself stays as it is. */
export function continueSaved({ deviceId, workspaceId }: Shelf, claudeSessionId: string): Promise<string> {
  return ask(
    deviceId,
    (requestId) => ({ type: "saved_continue", payload: { workspaceId, claudeSessionId, requestId } }),
    (frame) =>
      frame.type === "conversation_create_result" ? { value: frame.payload.conversation?.conversationId ?? "" } : null,
  );
}
