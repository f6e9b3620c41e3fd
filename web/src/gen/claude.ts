// Made by `cargo xtask gen` from crates/proto. Do not edit.

import type { ErrorCode, Retry } from "./error";
import type { ClaudeEvent } from "./events";
import type { ClientMessageId, ConversationId, DeviceId, Epoch, FileId, Prompt, RequestId, Seq, Timestamp, WorkspaceId } from "./ids";

/**
 * Steers a conversation.
 */
export type ClaudeControl = { 
/**
 * In which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * Which conversation.
 */
conversationId: ConversationId, 
/**
 * What to do.
 */
action: ControlAction, 
/**
 * Which message; only for `cancel_message`.
 */
clientMessageId?: ClientMessageId, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Whether it was done.
 */
export type ClaudeControlResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * Which conversation.
 */
conversationId: ConversationId, 
/**
 * What was asked for.
 */
action: ControlAction, 
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
 * An event of the agent.
 */
export type ClaudeEventMessage = { 
/**
 * In which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * In which conversation.
 */
conversationId: ConversationId, 
/**
 * What happened.
 */
event: ClaudeEvent, 
/**
 * Which Pylon.
 */
deviceId?: DeviceId, 
/**
 * The number of a durable event; passing events have none.
 */
seq?: Seq, 
/**
 * The epoch of `seq`.
 */
epoch?: Epoch, 
/**
 * When it happened.
 */
timestamp?: Timestamp, };

/**
 * Says something to the agent.
 */
export type ClaudeSend = { 
/**
 * In which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * In which conversation.
 */
conversationId: ConversationId, 
/**
 * What.
 */
message: Prompt, 
/**
 * The same id runs once.
 */
clientMessageId?: ClientMessageId, 
/**
 * What to do while a turn is under way; absent means the setting.
 */
onBusy?: OnBusy, 
/**
 * Files that go with it, as `blob_end_result` named them; at most 10.
 */
attachedFileIds?: Array<FileId>, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Whether a message was accepted. An accepted one survives whatever dies afterwards.
 */
export type ClaudeSendResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * In which conversation.
 */
conversationId: ConversationId, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * The id the client gave it.
 */
clientMessageId?: ClientMessageId, 
/**
 * The number it got.
 */
seq?: Seq, 
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
 * Changes the model of a conversation, from the next turn on.
 */
export type ClaudeSetModel = { 
/**
 * In which conversation.
 */
conversationId: ConversationId, 
/**
 * Which model; absent means the agent's default.
 */
model?: string, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * The model from the next turn on.
 */
export type ClaudeSetModelResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * In which conversation.
 */
conversationId: ConversationId, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * Which model; absent means the agent's default.
 */
model?: string, 
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
 * Changes how permissions are judged.
 */
export type ClaudeSetPermissionMode = { 
/**
 * How.
 */
mode: PermissionMode, 
/**
 * In which conversation; absent means the default of the Pylon.
 */
conversationId?: ConversationId, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * How permissions are judged now.
 */
export type ClaudeSetPermissionModeResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * How.
 */
mode: PermissionMode, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * In which conversation; absent means the default of the Pylon.
 */
conversationId?: ConversationId, 
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
 * What `claude_control` can do.
 */
export type ControlAction = "stop" | "new_session" | "clear" | "cancel_message";

/**
 * What happens to a message that comes while a turn is under way.
 */
export type OnBusy = "inject" | "queue" | "interrupt";

/**
 * How permissions are judged.
 */
export type PermissionMode = "default" | "acceptEdits" | "bypassPermissions" | "plan";
