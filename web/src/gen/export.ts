// Made by `cargo xtask gen` from crates/proto. Do not edit.

import type { ErrorCode, Retry } from "./error";
import type { ConversationId, DeviceId, RequestId } from "./ids";

/**
 * The form of a document.
 */
export type ExportFormat = "markdown" | "json";

/**
 * Asks for a piece of a conversation as a document.
 */
export type HistoryExport = { 
/**
 * Which conversation.
 */
conversationId: ConversationId, 
/**
 * In which form.
 */
format: ExportFormat, 
/**
 * `nextCursor` of the piece before; the beginning if absent.
 */
cursor?: string, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * A piece of the document.
 */
export type HistoryExportResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * Which conversation.
 */
conversationId: ConversationId, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * Its text: at most 128 KiB, never cut inside a character.
 */
text?: string, 
/**
 * Entries in the whole document.
 */
totalCount?: number, 
/**
 * Where the next piece begins; absent at the end.
 */
nextCursor?: string, 
/**
 * Why not, for a person to read; only on failure.
 */
error?: string, 
/**
 * Why not, for a program; only on failure.
 */
errorCode?: ErrorCode, 
/**
 * Whether trying again can help; only on failure.
 */
retry?: Retry, 
/**
 * The `requestId` of the request, if it had one.
 */
requestId?: RequestId, };
