// Made by `cargo xtask gen` from crates/proto. Do not edit.

import type { ErrorCode, Retry } from "./error";
import type { ConversationId, DeviceId, PathText, RequestId, WorkspaceId } from "./ids";

/**
 * How a file differs from the last commit.
 */
export type ChangeKind = "modified" | "added" | "deleted" | "renamed" | "copied" | "type_changed" | "untracked" | "conflicted";

/**
 * A file that differs from the last commit.
 */
export type ChangedFile = { 
/**
 * Which file, relative.
 */
path: PathText, 
/**
 * How it differs.
 */
kind: ChangeKind, 
/**
 * Whether something of it will be in the next commit.
 */
staged: boolean, 
/**
 * Whether something of it will not.
 */
unstaged: boolean, 
/**
 * The name it had.
 */
oldPath?: PathText, 
/**
 * Lines that came; absent if not text or not counted.
 */
insertions?: number, 
/**
 * Lines that went.
 */
deletions?: number, 
/**
 * Whether it is no text.
 */
binary?: boolean, 
/**
 * Whether its contents are not shown because it holds secrets.
 */
withheld?: boolean, };

/**
 * Asks what is not committed.
 */
export type ChangesRequest = { 
/**
 * In which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * In the folder of this conversation; absent means the workspace's.
 */
conversationId?: ConversationId, 
/**
 * The most files; at most 500.
 */
limit?: number, 
/**
 * Files to leave out at the beginning: those of the pages before.
 */
offset?: number, 
/**
 * What it is compared with; absent is the last commit.
 */
since?: Since, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * What is not committed, sorted by path.
 */
export type ChangesResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * In which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * The files of this page.
 */
files: Array<ChangedFile>, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * The branch; absent if none is checked out.
 */
branch?: string, 
/**
 * The last commit; absent if there is none.
 */
head?: string, 
/**
 * The branch it follows.
 */
upstream?: string, 
/**
 * Commits that the upstream does not have.
 */
ahead?: number, 
/**
 * Commits that only the upstream has.
 */
behind?: number, 
/**
 * All files that differ.
 */
total?: number, 
/**
 * Lines that came, in all files that were counted.
 */
insertions?: number, 
/**
 * Lines that went.
 */
deletions?: number, 
/**
 * Whether there are more changes than are looked at.
 */
truncated?: boolean, 
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
 * Asks for the diff from the last commit to the folder.
 */
export type DiffRequest = { 
/**
 * In which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * In the folder of this conversation; absent means the workspace's.
 */
conversationId?: ConversationId, 
/**
 * Only this file or folder, relative.
 */
path?: PathText, 
/**
 * Bytes to leave out at the beginning; `nextOffset` of the chunk before.
 */
offset?: number, 
/**
 * `digest` of the chunk before, so that no two diffs are mixed.
 */
digest?: string, 
/**
 * What it is compared with; absent is the last commit.
 */
since?: Since, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * A chunk of a diff in git's unified form. Files that git does not know are in it as new ones.
 */
export type DiffResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * In which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * The chunk, never cut inside a character. Bytes that are no text are shown as replacement characters.
 */
diff?: string, 
/**
 * Bytes of the diff before this chunk.
 */
offset?: number, 
/**
 * Bytes of the whole diff.
 */
totalBytes?: number, 
/**
 * Names the whole diff.
 */
digest?: string, 
/**
 * Where the next chunk begins; absent at the end.
 */
nextOffset?: number, 
/**
 * Files whose contents are left out because they hold secrets.
 */
withheld?: number, 
/**
 * Whether the diff is larger than is made.
 */
truncated?: boolean, 
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
 * What a folder is compared with.
 */
export type Since = "head" | "base";
