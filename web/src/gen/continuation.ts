// Made by `cargo xtask gen` from crates/proto. Do not edit.

import type { ErrorCode, Retry } from "./error";
import type { ConversationId, DeviceId, RequestId, Timestamp, WorkspaceId } from "./ids";

/**
 * Turns it on or off for a conversation, or takes back what waits.
 */
export type ContinuationSet = { 
/**
 * In which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * Which conversation.
 */
conversationId: ConversationId, 
/**
 * Whether it goes on by itself. Turning it off takes back what waits.
 */
enabled?: boolean, 
/**
 * Whether what waits is taken back, once.
 */
cancel?: boolean, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * How it is now.
 */
export type ContinuationSetResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * Which conversation.
 */
conversationId: ConversationId, 
/**
 * Whether it goes on by itself.
 */
enabled: boolean, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * When it goes on, if it waits for that.
 */
at?: Timestamp, 
/**
 * Why it last did not go on.
 */
failure?: string, 
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
 * How it is now, for everybody.
 */
export type ContinuationStatus = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * Which conversation.
 */
conversationId: ConversationId, 
/**
 * Whether it goes on by itself.
 */
enabled: boolean, 
/**
 * When it goes on, if it waits for that.
 */
at?: Timestamp, 
/**
 * Why it last did not go on.
 */
failure?: string, };
