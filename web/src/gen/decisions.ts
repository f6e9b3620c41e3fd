// Made by `cargo xtask gen` from crates/proto. Do not edit.

import type { Answer } from "./answer";
import type { ErrorCode, Retry } from "./error";
import type { ConversationId, DeviceId, RequestId, Timestamp, ToolUseId, WorkspaceId } from "./ids";

/**
 * Answers questions.
 */
export type ClaudeAnswer = { 
/**
 * In which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * In which conversation.
 */
conversationId: ConversationId, 
/**
 * Which call.
 */
toolUseId: ToolUseId, 
/**
 * The answers.
 */
answer: Answer, 
/**
 * The hash of the input that was shown; an answer to anything else is refused.
 */
inputHash?: string, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Whether this answer was the first.
 */
export type ClaudeAnswerResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * In which conversation.
 */
conversationId: ConversationId, 
/**
 * Which call.
 */
toolUseId: ToolUseId, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * Who answered first, if not this one.
 */
answeredBy?: DeviceId, 
/**
 * When.
 */
answeredAt?: Timestamp, 
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
 * Allows or denies a call.
 */
export type ClaudePermission = { 
/**
 * In which workspace.
 */
workspaceId: WorkspaceId, 
/**
 * In which conversation.
 */
conversationId: ConversationId, 
/**
 * Which call.
 */
toolUseId: ToolUseId, 
/**
 * The answer.
 */
decision: PermissionDecision, 
/**
 * What to tell the agent when denying.
 */
message?: string, 
/**
 * The hash of the input that was shown; an answer to anything else is refused.
 */
inputHash?: string, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Whether this answer was the first.
 */
export type ClaudePermissionResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * In which conversation.
 */
conversationId: ConversationId, 
/**
 * Which call.
 */
toolUseId: ToolUseId, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * Who answered first, if not this one.
 */
answeredBy?: DeviceId, 
/**
 * When.
 */
answeredAt?: Timestamp, 
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
 * What has to be decided.
 */
export type DecisionKind = "permission" | "question" | "plan" | "trust" | "elicitation" | "dialog";

/**
 * How far a decision is. It goes one way.
 */
export type DecisionState = "open" | "answered" | "delivered" | "settled" | "void";

/**
 * The answer to a permission.
 */
export type PermissionDecision = "allow" | "allowAll" | "deny";

/**
 * Why the policy decided as it did, for programs: the sentence beside it says the same in English.
 */
export type PolicyReason = { 
/**
 * What decided.
 */
code: ReasonCode, 
/**
 * What kind of thing that is.
 */
source: ReasonSource, 
/**
 * The rule or the pattern that matches, as it is written.
 */
rule?: string, 
/**
 * Where the rule stands: `global` or `workspace`.
 */
scope?: string, 
/**
 * What it is about: the path, the command or the tool.
 */
subject?: string, 
/**
 * What is not known, with `unclear`.
 */
doubt?: string, };

/**
 * A question of the agent.
 */
export type Question = { 
/**
 * The question itself; answers may name it.
 */
question: string, 
/**
 * A word or two above it.
 */
header: string, 
/**
 * What can be chosen; free text is always possible.
 */
options: Array<QuestionOption>, 
/**
 * Whether several may be chosen.
 */
multiSelect: boolean, };

/**
 * A choice.
 */
export type QuestionOption = { 
/**
 * What is chosen.
 */
label: string, 
/**
 * What that means.
 */
description: string, };

/**
 * What decided about a call, or why nothing did.
 */
export type ReasonCode = "alwaysAsks" | "dataFolder" | "userMessage" | "protectedFile" | "dangerousCommand" | "userRule" | "unclear" | "readOnly" | "sandboxDisabled" | "mode" | "autoAllowed" | "remembered" | "noRule";

/**
 * What kind of thing decided.
 */
export type ReasonSource = "list" | "rule" | "mode" | "person" | "doubt" | "nothing";
