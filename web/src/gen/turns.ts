// Made by `cargo xtask gen` from crates/proto. Do not edit.

import type { ErrorCode, Retry } from "./error";
import type { ConversationId, DeviceId, PathText, RequestId, Seq, WorkspaceId } from "./ids";

/**
 * Asks what the tools of a turn changed.
 */
export type TurnChanges = { 
/**
 * In which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * Of which conversation.
 */
conversationId: ConversationId, 
/**
 * Of the turn that has this event.
 */
seq: Seq, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * What the tools of a turn changed, in the order in which the files were first changed.
 */
export type TurnChangesResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * In which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * Of which conversation.
 */
conversationId: ConversationId, 
/**
 * The files.
 */
files: Array<TurnFile>, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * The first entry of the turn.
 */
fromSeq?: Seq, 
/**
 * Its last entry so far.
 */
toSeq?: Seq, 
/**
 * Whether the turn goes on, so that there may be more.
 */
running?: boolean, 
/**
 * Calls that may have changed files in ways that are not seen here.
 */
otherCalls?: number, 
/**
 * Whether there was more than is looked at.
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
 * A file that the tools of a turn changed.
 */
export type TurnFile = { 
/**
 * Which file: relative to the folder of the conversation, absolute outside of it.
 */
path: PathText, 
/**
 * Calls that changed it.
 */
calls: number, 
/**
 * Lines that came.
 */
insertions: number, 
/**
 * Lines that went.
 */
deletions: number, 
/**
 * What changed, one hunk for each change in the order of the calls; without numbers of lines, which are not known.
 */
diff?: string, 
/**
 * Whether it was written whole, at least once.
 */
written?: boolean, 
/**
 * Whether the diff is cut.
 */
truncated?: boolean, 
/**
 * Whether the diff is left out because the file holds secrets.
 */
withheld?: boolean, };
