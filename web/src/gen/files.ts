// Made by `cargo xtask gen` from crates/proto. Do not edit.

import type { ErrorCode, Retry } from "./error";
import type { ConversationId, DeviceId, PathText, RequestId, Timestamp, WorkspaceId } from "./ids";

/**
 * How the contents of a file are written in a message.
 */
export type FileEncoding = "text" | "base64";

/**
 * A name in a folder.
 */
export type FileEntry = { 
/**
 * The name.
 */
name: string, 
/**
 * What it is.
 */
kind: FileKind, 
/**
 * Bytes; only of files.
 */
size?: number, 
/**
 * When it was last changed.
 */
modifiedAt?: Timestamp, 
/**
 * What a link leads to; absent if that is not there or lies outside.
 */
targetKind?: FileKind, };

/**
 * What a name in a folder stands for.
 */
export type FileKind = "file" | "folder" | "link" | "other";

/**
 * Asks what is in a folder of a workspace.
 */
export type FileList = { 
/**
 * In which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * In the folder of this conversation; absent means the workspace's.
 */
conversationId?: ConversationId, 
/**
 * Which folder, relative; absent means the whole.
 */
path?: PathText, 
/**
 * The most entries; at most 500.
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
 * What is in a folder, sorted by name.
 */
export type FileListResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * In which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * The entries of this page.
 */
entries: Array<FileEntry>, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * Which folder, relative, with links resolved; absent means the whole.
 */
path?: PathText, 
/**
 * Entries of the folder, on all pages.
 */
total?: number, 
/**
 * Names that are left out because they are no text.
 */
unnamed?: number, 
/**
 * Whether the folder has more names than are looked at.
 */
truncated?: boolean, 
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
 * Asks for the contents of a file of a workspace.
 */
export type FileRead = { 
/**
 * In which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * Which file, relative.
 */
path: PathText, 
/**
 * In the folder of this conversation; absent means the workspace's.
 */
conversationId?: ConversationId, 
/**
 * Bytes to leave out at the beginning; `nextOffset` of the chunk before.
 */
offset?: number, 
/**
 * The most bytes; at most 128 KiB.
 */
limit?: number, 
/**
 * How the contents are to be written; absent means as text, if they are text.
 */
encoding?: FileEncoding, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * A chunk of a file.
 */
export type FileReadResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * In which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * Which file, relative; on success with links resolved.
 */
path: PathText, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * Bytes of the whole file.
 */
size?: number, 
/**
 * When it was last changed.
 */
modifiedAt?: Timestamp, 
/**
 * Whether it is no text; then there are contents only if they were asked for in Base64.
 */
binary?: boolean, 
/**
 * How `content` is written.
 */
encoding?: FileEncoding, 
/**
 * The chunk; text is never cut inside a character.
 */
content?: string, 
/**
 * Bytes of the file before this chunk.
 */
offset?: number, 
/**
 * Where the next chunk begins; absent at the end.
 */
nextOffset?: number, 
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
