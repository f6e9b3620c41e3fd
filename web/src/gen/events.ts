// Made by `cargo xtask gen` from crates/proto. Do not edit.

import type { Author } from "./address";
import type { ConversationStatus } from "./conversations";
import type { DecisionKind, DecisionState, PermissionDecision, PolicyReason, Question } from "./decisions";
import type { ErrorCode } from "./error";
import type { ClaudeSessionId, ClientMessageId, DeviceId, Generation, Timestamp, ToolUseId } from "./ids";
import type { Json } from "./json";
import type { ApiRetry, Cause, LimitsTold } from "./plan";
import type { IdleWarning, JournalDamage, ProcessPaused, ProcessResumed, Remark, Rewound, SessionReset, TaskUpdate } from "./runs";
import type { MessageCancelled, Waiting } from "./waiting";
import type { OpenBlock, ThinkingComplete, ThinkingDelta } from "./writing";

/**
 * What the agent is at, while it works.
 */
export type Activity = "thinking" | "responding" | "tool";

/**
 * The activity, with the tool it may be about.
 */
export type ActivityState = { 
/**
 * What the agent is at.
 */
type: Activity, 
/**
 * Which tool.
 */
toolName?: string, };

/**
 * The turn was broken off.
 */
export type ClaudeAborted = { 
/**
 * `user`, or `session_ended` when the process was gone.
 */
reason: string, 
/**
 * The messages it was working on when the process was gone, oldest first.
 */
messages?: Array<InterruptedMessage>, };

/**
 * What the agent does.
 */
export type ClaudeEvent = { "type": "userMessage" } & UserMessage | { "type": "init" } & Init | { "type": "stateUpdate" } & StateUpdate | { "type": "text" } & TextDelta | { "type": "textComplete" } & TextComplete | { "type": "thinking" } & ThinkingDelta | { "type": "thinkingComplete" } & ThinkingComplete | { "type": "toolInfo" } & ToolInfo | { "type": "toolComplete" } & ToolComplete | { "type": "permission_request" } & PermissionAsked | { "type": "askQuestion" } & QuestionAsked | { "type": "decisionAnswered" } & DecisionAnswered | { "type": "state" } & StateChanged | { "type": "result" } & TurnResult | { "type": "error" } & ErrorEvent | { "type": "claudeAborted" } & ClaudeAborted | { "type": "taskUpdate" } & TaskUpdate | { "type": "journalDamage" } & JournalDamage | { "type": "remark" } & Remark | { "type": "process_paused" } & ProcessPaused | { "type": "process_resumed" } & ProcessResumed | { "type": "idleWarning" } & IdleWarning | { "type": "sessionReset" } & SessionReset | { "type": "waiting" } & Waiting | { "type": "messageCancelled" } & MessageCancelled | { "type": "rewound" } & Rewound | { "type": "limits" } & LimitsTold | { "type": "apiRetry" } & ApiRetry;

/**
 * A decision is no longer open: somebody answered first, or the process that asked is gone.
 */
export type DecisionAnswered = { 
/**
 * Which call it was about.
 */
toolUseId: ToolUseId, 
/**
 * `answered`, `delivered`, `settled` or `void`.
 */
state: DecisionState, 
/**
 * The word of the answer; absent for questions and when void.
 */
decision?: PermissionDecision, 
/**
 * Which device answered; absent when a rule did.
 */
deviceId?: DeviceId, 
/**
 * The paired device behind that, with the name it had then.
 */
author?: Author, 
/**
 * When.
 */
answeredAt?: Timestamp, };

/**
 * Something failed.
 */
export type ErrorEvent = { 
/**
 * What, for a person to read.
 */
error: string, 
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
 * The agent started or changed its session.
 */
export type Init = { 
/**
 * Claude's id of the session.
 */
session_id: ClaudeSessionId, 
/**
 * The model.
 */
model: string, 
/**
 * The tools it has.
 */
tools: Array<string>, 
/**
 * Which run.
 */
generation?: Generation, 
/**
 * Commands that a message may begin with, without their slash.
 */
slashCommands?: Array<string>, };

/**
 * A message on which work was broken off by the end of the process. It is not sent again by itself.
 */
export type InterruptedMessage = { 
/**
 * How it begins.
 */
content: string, 
/**
 * The id the sender gave it.
 */
clientMessageId?: ClientMessageId, };

/**
 * What one model has of a turn.
 */
export type ModelShare = { 
/**
 * Which model.
 */
model: string, 
/**
 * What it cost.
 */
costUsd: number, 
/**
 * What it used.
 */
usage: Usage, };

/**
 * A person must allow a call.
 */
export type PermissionAsked = { 
/**
 * Which tool.
 */
toolName: string, 
/**
 * With what.
 */
toolInput: Json, 
/**
 * Which call; the answer names it.
 */
toolUseId: ToolUseId, 
/**
 * What kind of decision; absent means `permission`.
 */
kind?: DecisionKind, 
/**
 * The hash of the input, which binds the answer to what was shown.
 */
inputHash?: string, 
/**
 * Why nobody else could decide.
 */
reason?: string, 
/**
 * The same for a program: what decided, to be told in any language.
 */
why?: PolicyReason, 
/**
 * The call of the sub-agent that asks.
 */
parentToolUseId?: ToolUseId, };

/**
 * A person must answer questions.
 */
export type QuestionAsked = { 
/**
 * Which call; the answer names it.
 */
toolUseId: ToolUseId, 
/**
 * The questions.
 */
questions: Array<Question>, 
/**
 * The call of the sub-agent that asks.
 */
parentToolUseId?: ToolUseId, 
/**
 * The hash of the input, which binds the answer to what was shown.
 */
inputHash?: string, };

/**
 * The coarse state changed.
 */
export type StateChanged = { 
/**
 * The state now.
 */
state: ConversationStatus, };

/**
 * The activity changed.
 */
export type StateUpdate = { 
/**
 * What the agent is at.
 */
state: ActivityState, 
/**
 * The text of the open message so far, without what is complete.
 */
partialText: string, 
/**
 * The call of the sub-agent it belongs to.
 */
parentToolUseId?: ToolUseId, 
/**
 * Everything that is being written, by the agent and its sub-agents. For somebody who begins to look, or who
 * missed pieces: it replaces what they have, and the next pieces go on where it ends.
 */
open?: Array<OpenBlock>, };

/**
 * A text is complete and replaces its pieces.
 */
export type TextComplete = { 
/**
 * All of it.
 */
text: string, 
/**
 * The call of the sub-agent it belongs to.
 */
parentToolUseId?: ToolUseId, };

/**
 * A piece of text. Apply it if `at` equals the length of what is there, ignore it if less, resynchronise if more.
 */
export type TextDelta = { 
/**
 * The piece.
 */
content: string, 
/**
 * Which run.
 */
generation?: Generation, 
/**
 * Which block of the open message.
 */
block?: number, 
/**
 * Length of the block before this piece, in UTF-16 code units.
 */
at?: number, 
/**
 * The call of the sub-agent it belongs to.
 */
parentToolUseId?: ToolUseId, };

/**
 * A tool came back.
 */
export type ToolComplete = { 
/**
 * Which tool; `Unknown` if its start was not seen.
 */
toolName: string, 
/**
 * Whether it worked.
 */
success: boolean, 
/**
 * What it gave, cut at 1000 characters.
 */
result: string, 
/**
 * Why it failed, cut at 200 characters; only on failure.
 */
error?: string, 
/**
 * Which call.
 */
toolUseId?: ToolUseId, 
/**
 * The call of the sub-agent that made it.
 */
parentToolUseId?: ToolUseId, 
/**
 * Whether `result` was cut, so that `tool_detail` has more.
 */
truncated?: boolean, 
/**
 * The pictures it gave, in order; what is no such picture or too large is named in `result` alone.
 */
images?: Array<ToolImage>, };

/**
 * A picture that a tool gave; `tool_detail` has it.
 */
export type ToolImage = { 
/**
 * `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
 */
mimeType: string, 
/**
 * Its bytes.
 */
size: number, };

/**
 * A tool was called.
 */
export type ToolInfo = { 
/**
 * Which tool.
 */
toolName: string, 
/**
 * With what.
 */
input: Json, 
/**
 * Which call.
 */
toolUseId?: ToolUseId, 
/**
 * The call of the sub-agent that made it.
 */
parentToolUseId?: ToolUseId, };

/**
 * A turn ended. Several may come for one message.
 */
export type TurnResult = { 
/**
 * How it ended, in the SDK's word.
 */
subtype: string, 
/**
 * How long it took, in milliseconds.
 */
duration_ms: number, 
/**
 * What it cost; not a sum over earlier turns.
 */
total_cost_usd: number, 
/**
 * Its turns with the model.
 */
num_turns: number, 
/**
 * What it used.
 */
usage: Usage, 
/**
 * Why the model stopped, where known.
 */
stop_reason?: string, 
/**
 * Which run.
 */
generation?: Generation, 
/**
 * Why it failed, for a program; absent if it did not.
 */
cause?: Cause, 
/**
 * The HTTP status of the request that failed, if it was one.
 */
apiStatus?: number, 
/**
 * What each model has of it, with those of sub-agents and of the agent's own small requests; absent where the
 * CLI does not tell.
 */
models?: Array<ModelShare>, };

/**
 * Tokens of a turn.
 */
export type Usage = { 
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
cacheCreationInputTokens: number, };

/**
 * A person wrote something. To every client that may see the conversation, the sender included.
 */
export type UserMessage = { 
/**
 * What.
 */
content: string, 
/**
 * When.
 */
timestamp: Timestamp, 
/**
 * The id the sender gave it, by which it finds its own row.
 */
clientMessageId?: ClientMessageId, 
/**
 * Which device sent it.
 */
deviceId?: DeviceId, 
/**
 * The paired device behind that, with the name it had then.
 */
author?: Author, };
