// Made by `cargo xtask gen` from crates/proto. Do not edit.

import type { ErrorCode, Retry } from "./error";
import type { ConversationId, DeviceId, QueryText, RequestId, Seq, Timestamp, ToolUseId, WorkspaceId } from "./ids";

/**
 * Searches the history of all conversations.
 */
export type HistorySearch = { 
/**
 * The words.
 */
query: QueryText, 
/**
 * Only in this workspace.
 */
workspaceId?: WorkspaceId, 
/**
 * Only in this conversation.
 */
conversationId?: ConversationId, 
/**
 * The most hits; at most 100.
 */
limit?: number, 
/**
 * `nextCursor` of the page before.
 */
cursor?: string, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Where the words were found: whole words before beginnings of words, the newest first.
 */
export type HistorySearchResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * The hits of this page.
 */
hits: Array<SearchHit>, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * Where the next page begins; absent at the end.
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

/**
 * A place where the words were found.
 */
export type SearchHit = { 
/**
 * In which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * In which conversation.
 */
conversationId: ConversationId, 
/**
 * At which entry.
 */
seq: Seq, 
/**
 * The text around the words.
 */
snippet: string, 
/**
 * When it was said.
 */
timestamp: Timestamp, 
/**
 * Whether it was taken back by a rewind.
 */
rewound?: boolean, };

/**
 * Asks for the whole input of a call, and for its output up to 1,048,576 characters. What a tool gave beyond that is
 * kept by nobody but the agent itself.
 */
export type ToolDetail = { 
/**
 * In which conversation.
 */
conversationId: ConversationId, 
/**
 * Which call.
 */
toolUseId: ToolUseId, 
/**
 * Asks for one chunk alone: empty for the first, then `nextCursor` of the one before. Whoever reads slowly asks
 * so; without it all chunks come one after another.
 */
cursor?: string, 
/**
 * Asks for this picture of the output alone, from 0, in the order of `images`; chunks of it come as `image`.
 */
image?: number, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * A chunk of the input or output of a call. Chunks of a part come in order; the input comes first.
 */
export type ToolDetailResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * In which conversation.
 */
conversationId: ConversationId, 
/**
 * Which call.
 */
toolUseId: ToolUseId, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * Which side.
 */
part?: ToolPart, 
/**
 * At most 64 KiB, never cut inside a character.
 */
chunk?: string, 
/**
 * Bytes of the part before this chunk.
 */
offset?: number, 
/**
 * Bytes of the whole part.
 */
totalBytes?: number, 
/**
 * Whether nothing follows, of either part.
 */
last?: boolean, 
/**
 * Where the next chunk is, if they are asked for one by one and one follows.
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

/**
 * Which side of a call.
 */
export type ToolPart = "input" | "output" | "image";
