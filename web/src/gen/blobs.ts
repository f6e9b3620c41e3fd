// Made by `cargo xtask gen` from crates/proto. Do not edit.

import type { ErrorCode, Retry } from "./error";
import type { BlobId, ConversationId, DeviceId, FileId, PathText, RequestId, WorkspaceId } from "./ids";

/**
 * A piece of a file.
 */
export type BlobChunk = { 
/**
 * With a message of which conversation it goes.
 */
conversationId: ConversationId, 
/**
 * Which file.
 */
blobId: BlobId, 
/**
 * Which piece, from 0.
 */
index: number, 
/**
 * Its bytes, base64.
 */
data: string, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * A piece was written, or was there before.
 */
export type BlobChunkResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * Which file.
 */
blobId: BlobId, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * The number of the chunk that is wanted next.
 */
nextChunk?: number, 
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
 * All of a file was sent.
 */
export type BlobEnd = { 
/**
 * With a message of which conversation it goes.
 */
conversationId: ConversationId, 
/**
 * Which file.
 */
blobId: BlobId, 
/**
 * `sha256:` and 64 hexadecimal digits.
 */
checksum: string, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * A file is there, whatever dies now.
 */
export type BlobEndResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * With a message of which conversation it goes.
 */
conversationId: ConversationId, 
/**
 * Which file.
 */
blobId: BlobId, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * What to name in `attachedFileIds`.
 */
fileId?: FileId, 
/**
 * Where it is on the machine of the Pylon.
 */
path?: PathText, 
/**
 * What it is called there.
 */
filename?: string, 
/**
 * How many bytes it has.
 */
size?: number, 
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
 * Begins to send a file, or asks how far it came.
 */
export type BlobStart = { 
/**
 * In which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * With a message of which conversation it goes.
 */
conversationId: ConversationId, 
/**
 * Chosen by the client, the same when it begins again.
 */
blobId: BlobId, 
/**
 * What it is called, without any folder; at most 255 bytes.
 */
filename: string, 
/**
 * What it is: `image/png`; at most 255 bytes.
 */
mimeType: string, 
/**
 * How many bytes it has; at most 64 MiB.
 */
totalSize: number, 
/**
 * How many bytes a chunk has, but for the last one; 65536 if absent, which is also the most.
 */
chunkSize?: number, 
/**
 * How many chunks there are, to be checked.
 */
totalChunks?: number, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * How far a file came.
 */
export type BlobStartResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * Which file.
 */
blobId: BlobId, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * The number of the chunk that is wanted next, from 0; that of all chunks when nothing is missing.
 */
nextChunk?: number, 
/**
 * Its id, if it is there already.
 */
fileId?: FileId, 
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
