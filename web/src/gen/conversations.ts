// Made by `cargo xtask gen` from crates/proto. Do not edit.

import type { PermissionMode } from "./claude";
import type { ErrorCode, Retry } from "./error";
import type { ActivityState } from "./events";
import type { ClaudeSessionId, ConversationId, DeviceId, Name, PathText, RequestId, Seq, Timestamp, WorkspaceId } from "./ids";
import type { ProcessStatus } from "./ipc";
import type { Cause } from "./plan";
import type { ProcessPaused } from "./runs";
import type { WorktreeWish } from "./worktrees";

/**
 * A conversation in the list.
 */
export type Conversation = { 
/**
 * Which conversation.
 */
conversationId: ConversationId, 
/**
 * Its name.
 */
name: Name, 
/**
 * What it is for.
 */
skillType: SkillType, 
/**
 * Its state.
 */
status: ConversationStatus, 
/**
 * Claude's session, if one was started.
 */
claudeSessionId: ClaudeSessionId | null, 
/**
 * Whether something happened that this device has not seen.
 */
unread?: boolean, 
/**
 * Its own permission mode; absent means the Pylon's default.
 */
permissionMode?: PermissionMode, 
/**
 * Its own model; absent means the agent's default.
 */
model?: string, 
/**
 * Whether it is the active one.
 */
isActive?: boolean, 
/**
 * When it was made.
 */
createdAt?: Timestamp, 
/**
 * When something last happened in it.
 */
updatedAt?: Timestamp, 
/**
 * The folder in which the agent works, if that is not the one of the workspace.
 */
workingDir?: PathText, 
/**
 * The branch of its worktree, if it has one.
 */
branch?: string, 
/**
 * How its process is, where that is more than `status` says.
 */
process?: ProcessState, 
/**
 * What the agent is at, while it works.
 */
activity?: ActivityState, };

/**
 * Makes a conversation and selects it for the sender.
 */
export type ConversationCreate = { 
/**
 * In which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * Its name.
 */
name: Name, 
/**
 * What it is for.
 */
skillType: SkillType, 
/**
 * Its own model.
 */
model?: string, 
/**
 * Its own permission mode; needs the right `admin`, as changing it does.
 */
permissionMode?: PermissionMode, 
/**
 * Let it work in a worktree of its own.
 */
worktree?: WorktreeWish, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * The new conversation; also the answer to `conversation_fork`.
 */
export type ConversationCreateResult = { 
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
 * The conversation; only on success.
 */
conversation?: CreatedConversation, 
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
 * Stops and deletes a conversation with its history.
 */
export type ConversationDelete = { 
/**
 * In which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * Which one.
 */
conversationId: ConversationId, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Whether a conversation was deleted.
 */
export type ConversationDeleteResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * In which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * Which one.
 */
conversationId: ConversationId, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
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
 * Makes a new conversation from an old one up to, and without, one of its user messages.
 */
export type ConversationFork = { 
/**
 * In which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * The old conversation.
 */
conversationId: ConversationId, 
/**
 * The `seq` of a user message.
 */
beforeSeq: Seq, 
/**
 * The name of the new one.
 */
name?: Name, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Renames a conversation.
 */
export type ConversationRename = { 
/**
 * In which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * Which one.
 */
conversationId: ConversationId, 
/**
 * Its new name.
 */
newName: Name, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Whether a conversation was renamed.
 */
export type ConversationRenameResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * In which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * Which one.
 */
conversationId: ConversationId, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
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
 * Lets a conversation go on from before one of its user messages. What came after it stays in the history, marked.
 */
export type ConversationRewind = { 
/**
 * In which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * Which one.
 */
conversationId: ConversationId, 
/**
 * The `seq` of a user message.
 */
beforeSeq: Seq, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Whether a conversation was rewound.
 */
export type ConversationRewindResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * In which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * Which one.
 */
conversationId: ConversationId, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
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
 * Views a conversation; answered by `history_result`.
 */
export type ConversationSelect = { 
/**
 * In which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * Which one.
 */
conversationId: ConversationId, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * The coarse state of a conversation. `permission` means that a person is needed.
 */
export type ConversationStatus = "idle" | "working" | "permission";

/**
 * The state of a conversation changed. To all clients, viewing or not.
 */
export type ConversationStatusUpdate = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * Which conversation.
 */
conversationId: ConversationId, 
/**
 * Its state now.
 */
status: ConversationStatus, 
/**
 * In which workspace.
 */
workspaceId?: WorkspaceId, 
/**
 * Whether something happened that the addressee has not seen.
 */
unread?: boolean, 
/**
 * The newest event the state takes into account.
 */
seq?: Seq, 
/**
 * How its process is, where that is more than `status` says.
 */
process?: ProcessState, 
/**
 * What the agent is at, while it works.
 */
activity?: ActivityState, };

/**
 * A conversation as the result of making it.
 */
export type CreatedConversation = { 
/**
 * Which conversation.
 */
conversationId: ConversationId, 
/**
 * Its name.
 */
name: Name, 
/**
 * What it is for.
 */
skillType: SkillType, 
/**
 * Its state.
 */
status?: ConversationStatus, 
/**
 * When it was made.
 */
createdAt?: Timestamp, };

/**
 * How the process of a conversation is when it is neither at work nor simply ready, and why.
 */
export type ProcessState = { 
/**
 * `error`, `stopped` or `suspect`.
 */
status: ProcessStatus, 
/**
 * Why it was stopped, and whether the next message goes on where it was.
 */
paused?: ProcessPaused, 
/**
 * The exit code of a process that ended by itself.
 */
exitCode?: number, 
/**
 * Why its turn failed.
 */
cause?: Cause, 
/**
 * What is known of it, in words: of an `error` what it said last, of a `suspect` which facts contradict each
 * other.
 */
why?: string, };

/**
 * What a conversation is for; decides the persona.
 */
export type SkillType = "general" | "planner" | "worker";
