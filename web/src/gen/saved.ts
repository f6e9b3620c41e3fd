// Made by `cargo xtask gen` from crates/proto. Do not edit.

import type { ErrorCode, Retry } from "./error";
import type { HistoryMessage } from "./history";
import type { ClaudeSessionId, ConversationId, DeviceId, Name, RequestId, Timestamp, WorkspaceId } from "./ids";

/**
 * Makes a conversation that goes on from a copy of a saved session; answered by `conversation_create_result`.
 */
export type SavedContinue = { 
/**
 * In which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * Which session.
 */
claudeSessionId: ClaudeSessionId, 
/**
 * The name of the conversation; absent means the title of the session.
 */
name?: Name, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Asks for the saved sessions of a folder.
 */
export type SavedList = { 
/**
 * Of which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * The most sessions; at most 100.
 */
limit?: number, 
/**
 * Sessions to leave out at the beginning: those of the pages before.
 */
offset?: number, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Saved sessions, newest first.
 */
export type SavedListResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * Of which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * The sessions of this page.
 */
sessions: Array<SavedSession>, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * Where the next page begins; absent at the end.
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

/**
 * Asks what was said in a saved session.
 */
export type SavedRead = { 
/**
 * Of which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * Which session.
 */
claudeSessionId: ClaudeSessionId, 
/**
 * Messages to leave out at the beginning: those of the pages before.
 */
offset?: number, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * What was said, from the beginning or the last time it was made shorter. Long texts are cut.
 */
export type SavedReadResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * Of which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * Which session.
 */
claudeSessionId: ClaudeSessionId, 
/**
 * The entries of this page.
 */
messages: Array<HistoryMessage>, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * Where the next page begins; absent at the end.
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

/**
 * A session that the agent has saved.
 */
export type SavedSession = { 
/**
 * Which.
 */
claudeSessionId: ClaudeSessionId, 
/**
 * When something was last said in it.
 */
updatedAt: Timestamp, 
/**
 * Its size on the disk.
 */
bytes: number, 
/**
 * What to call it: its title, or what was asked.
 */
title?: string, 
/**
 * What was asked first.
 */
firstPrompt?: string, 
/**
 * When it began.
 */
createdAt?: Timestamp, 
/**
 * The branch that was checked out last.
 */
branch?: string, 
/**
 * Whether a program began it, and not a person in a terminal.
 */
programmatic?: boolean, 
/**
 * The conversation of Estelle that it belongs to.
 */
conversationId?: ConversationId, };
