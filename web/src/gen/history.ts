// Made by `cargo xtask gen` from crates/proto. Do not edit.

import type { Author } from "./address";
import type { ConversationStatus, ProcessState } from "./conversations";
import type { ErrorCode, Retry } from "./error";
import type { InterruptedMessage, ModelShare, ToolImage } from "./events";
import type { ClientMessageId, ConversationId, DeviceId, Epoch, RequestId, Seq, Timestamp, ToolUseId, WorkspaceId } from "./ids";
import type { Json } from "./json";
import type { Cause } from "./plan";

/**
 * A turn was broken off.
 */
export type HistoryAborted = { 
/**
 * `user`, or `session_ended` when the process was gone.
 */
reason: string, 
/**
 * When.
 */
timestamp: Timestamp, 
/**
 * The messages it was working on when the process was gone, oldest first.
 */
messages?: Array<InterruptedMessage>, 
/**
 * Its number.
 */
seq?: Seq, };

/**
 * Something failed.
 */
export type HistoryError = { 
/**
 * What.
 */
content: string, 
/**
 * When.
 */
timestamp: Timestamp, 
/**
 * Its number.
 */
seq?: Seq, 
/**
 * Always `system`.
 */
role?: Role, 
/**
 * What, for a program.
 */
errorCode?: ErrorCode, 
/**
 * The exit code, if the process ended.
 */
exitCode?: number, 
/**
 * Why the turn failed, if one did.
 */
cause?: Cause, 
/**
 * The HTTP status of the request that failed, if it was one.
 */
apiStatus?: number, };

/**
 * An entry of history.
 */
export type HistoryMessage = { "type": "text" } & HistoryText | { "type": "thinking" } & HistoryThinking | { "type": "tool_start" } & HistoryToolStart | { "type": "tool_complete" } & HistoryToolComplete | { "type": "result" } & HistoryTurnResult | { "type": "error" } & HistoryError | { "type": "claudeAborted" } & HistoryAborted | { "type": "user_response" } & HistoryUserResponse | { "type": "system" } & HistorySystem;

/**
 * Asks for a page of history.
 */
export type HistoryRequest = { 
/**
 * In which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * Which conversation.
 */
conversationId: ConversationId, 
/**
 * The most entries; 50 if absent, at most 200.
 */
limit?: number, 
/**
 * How many of the newest entries to leave out; 0 if absent.
 */
offset?: number, 
/**
 * Only entries before this one; wins over `offset`.
 */
beforeSeq?: Seq, 
/**
 * Only entries after this one, oldest first; wins over both.
 */
afterSeq?: Seq, 
/**
 * The epoch that the cursor belongs to.
 */
epoch?: Epoch, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * A page of history, oldest entry first.
 */
export type HistoryResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * In which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * Which conversation.
 */
conversationId: ConversationId, 
/**
 * The entries.
 */
messages: Array<HistoryMessage>, 
/**
 * How many newer entries were left out.
 */
offset: number, 
/**
 * All entries of the conversation.
 */
totalCount: number, 
/**
 * Whether there are more in the direction of reading.
 */
hasMore: boolean, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * The epoch of the `seq`s in it.
 */
epoch?: Epoch, 
/**
 * The newest `seq` of the conversation: live events go on from here.
 */
headSeq?: Seq, 
/**
 * Whether a turn is under way.
 */
hasActiveSession?: boolean, 
/**
 * Since when.
 */
workStartTime?: Timestamp, 
/**
 * The state now.
 */
currentStatus?: ConversationStatus, 
/**
 * How its process is, where that is more than the state says.
 */
process?: ProcessState, 
/**
 * Which entries of the page were taken back, in order; absent if none were.
 */
rewound?: Array<RewoundStretch>, 
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
 * A remark of Estelle: a new session began, the log was damaged, a run resumed without its history.
 */
export type HistorySystem = { 
/**
 * What.
 */
content: string, 
/**
 * When.
 */
timestamp: Timestamp, 
/**
 * Its number.
 */
seq?: Seq, 
/**
 * What kind of remark, for programs: `divider`, `damage`, `resume`, `resumed`, `paused_` with the reason.
 */
subtype?: string, };

/**
 * Something said.
 */
export type HistoryText = { 
/**
 * By whom.
 */
role: Role, 
/**
 * What.
 */
content: string, 
/**
 * When.
 */
timestamp: Timestamp, 
/**
 * Its number.
 */
seq?: Seq, 
/**
 * The call of the sub-agent that said it.
 */
parentToolUseId?: ToolUseId, 
/**
 * The id the client gave it.
 */
clientMessageId?: ClientMessageId, 
/**
 * The device that sent it.
 */
deviceId?: DeviceId, 
/**
 * The paired device behind that, with the name it had then.
 */
author?: Author, };

/**
 * Something thought.
 */
export type HistoryThinking = { 
/**
 * What.
 */
content: string, 
/**
 * When.
 */
timestamp: Timestamp, 
/**
 * Its number.
 */
seq?: Seq, 
/**
 * The call of the sub-agent that thought it.
 */
parentToolUseId?: ToolUseId, };

/**
 * A tool came back. A row of its own, joined to its start by `toolUseId`.
 */
export type HistoryToolComplete = { 
/**
 * Which tool.
 */
toolName: string, 
/**
 * Whether it worked.
 */
success: boolean, 
/**
 * What it gave; long texts are cut, `tool_detail` has them whole.
 */
output: string, 
/**
 * When.
 */
timestamp: Timestamp, 
/**
 * Why it failed.
 */
error?: string, 
/**
 * Its number.
 */
seq?: Seq, 
/**
 * Which call.
 */
toolUseId?: ToolUseId, 
/**
 * The call of the sub-agent that made it.
 */
parentToolUseId?: ToolUseId, 
/**
 * Whether something was cut, so that `tool_detail` has more.
 */
truncated?: boolean, 
/**
 * The pictures it gave, in order; `tool_detail` has them.
 */
images?: Array<ToolImage>, };

/**
 * A tool was called.
 */
export type HistoryToolStart = { 
/**
 * Which tool.
 */
toolName: string, 
/**
 * With what; long texts are cut, `tool_detail` has them whole.
 */
toolInput: Json, 
/**
 * When.
 */
timestamp: Timestamp, 
/**
 * Its number.
 */
seq?: Seq, 
/**
 * Which call.
 */
toolUseId?: ToolUseId, 
/**
 * The call of the sub-agent that made it.
 */
parentToolUseId?: ToolUseId, 
/**
 * Whether something was cut, so that `tool_detail` has more.
 */
truncated?: boolean, };

/**
 * A turn ended.
 */
export type HistoryTurnResult = { 
/**
 * How long it took, in milliseconds.
 */
duration_ms: number, 
/**
 * What it used.
 */
usage: HistoryUsage, 
/**
 * When.
 */
timestamp: Timestamp, 
/**
 * Its number.
 */
seq?: Seq, 
/**
 * How it ended, in the SDK's word.
 */
subtype?: string, 
/**
 * Why the model stopped.
 */
stop_reason?: string, 
/**
 * What it cost.
 */
total_cost_usd?: number, 
/**
 * Its turns with the model.
 */
num_turns?: number, 
/**
 * Why it failed; absent if it went well.
 */
cause?: Cause, 
/**
 * What each model has of it; absent where that was not told.
 */
models?: Array<ModelShare>, };

/**
 * Tokens of a turn, as history keeps them.
 */
export type HistoryUsage = { 
/**
 * Read.
 */
inputTokens: number, 
/**
 * Written.
 */
outputTokens: number, 
/**
 * Read from the cache.
 */
cacheReadInputTokens: number, 
/**
 * Written to the cache.
 */
cacheCreationInputTokens?: number, };

/**
 * A decision was answered.
 */
export type HistoryUserResponse = { 
/**
 * Which call it was about.
 */
toolUseId: ToolUseId, 
/**
 * What was answered, in words.
 */
content: string, 
/**
 * When.
 */
timestamp: Timestamp, 
/**
 * Its number.
 */
seq?: Seq, 
/**
 * Which device answered; absent when a rule did.
 */
deviceId?: DeviceId, 
/**
 * The paired device behind that, with the name it had then.
 */
author?: Author, };

/**
 * A stretch of the history that was taken back: the agent does not know it any more.
 */
export type RewoundStretch = { 
/**
 * The first `seq` of it, a user message.
 */
fromSeq: Seq, 
/**
 * The first `seq` behind it: the event that took it back.
 */
toSeq: Seq, };

/**
 * Who speaks.
 */
export type Role = "user" | "assistant" | "system";
