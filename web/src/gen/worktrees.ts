// Made by `cargo xtask gen` from crates/proto. Do not edit.

import type { ErrorCode, Retry } from "./error";
import type { ConversationId, DeviceId, PathText, RequestId, Timestamp, WorkspaceId } from "./ids";

/**
 * A worktree.
 */
export type Worktree = { 
/**
 * In which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * The conversation it was made for.
 */
conversationId: ConversationId, 
/**
 * Its folder.
 */
path: PathText, 
/**
 * The branch that was made for it.
 */
branch: string, 
/**
 * How it is.
 */
state: WorktreeState, 
/**
 * The branch from which it began, and into which it is merged; absent if there was none.
 */
baseBranch?: string, 
/**
 * The commit from which it began.
 */
base?: string, 
/**
 * Its last commit.
 */
head?: string, 
/**
 * Whether another branch than its own, or none, is checked out.
 */
detached?: boolean, 
/**
 * Files with changes that are in no commit.
 */
uncommitted?: number, 
/**
 * Commits that the branch it began from does not have.
 */
ahead?: number, 
/**
 * Commits that came there since.
 */
behind?: number, 
/**
 * Lines that came since it began, committed or not.
 */
insertions?: number, 
/**
 * Lines that went.
 */
deletions?: number, 
/**
 * Bytes on the disk, without git's own.
 */
diskBytes?: number, 
/**
 * When it was made.
 */
createdAt?: Timestamp, 
/**
 * Why not all of this is known.
 */
problem?: string, };

/**
 * Asks for all worktrees.
 */
export type WorktreeList = { 
/**
 * Only of this workspace, which may be gone.
 */
workspaceId?: WorkspaceId, 
/**
 * `nextCursor` of the page before.
 */
cursor?: ConversationId, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Worktrees, in the order in which they were made.
 */
export type WorktreeListResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * The worktrees of this page; at most 20.
 */
worktrees: Array<Worktree>, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * Where the next page begins; absent at the end.
 */
nextCursor?: ConversationId, 
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
 * Merges the branch of a worktree into the one it began from.
 */
export type WorktreeMerge = { 
/**
 * In which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * The conversation it was made for.
 */
conversationId: ConversationId, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Whether a worktree was merged.
 */
export type WorktreeMergeResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * In which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * The conversation it was made for.
 */
conversationId: ConversationId, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * The last commit of the branch it was merged into.
 */
head?: string, 
/**
 * Commits that came; none if it was merged before.
 */
commits?: number, 
/**
 * Files that do not merge by themselves; only on failure, at most 100.
 */
conflicts?: Array<string>, 
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
 * Removes a worktree. Its conversation stays, and cannot go on.
 */
export type WorktreeRemove = { 
/**
 * In which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * The conversation it was made for.
 */
conversationId: ConversationId, 
/**
 * Remove it even if changes in it are in no commit.
 */
discard?: boolean, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Whether a worktree was removed.
 */
export type WorktreeRemoveResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * In which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * The conversation it was made for.
 */
conversationId: ConversationId, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * Branches that stay because they have commits that are merged nowhere.
 */
keptBranches?: Array<string>, 
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
 * How a worktree is.
 */
export type WorktreeState = "making" | "ready" | "removing" | "removed" | "missing";

/**
 * Asks for a worktree of its own.
 */
export type WorktreeWish = { 
/**
 * The name of the new branch; absent means one made from the name of the conversation.
 */
branch?: string, 
/**
 * The commit or branch to begin from; absent means what the workspace has checked out.
 */
base?: string, };
