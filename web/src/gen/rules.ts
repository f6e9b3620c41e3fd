// Made by `cargo xtask gen` from crates/proto. Do not edit.

import type { ErrorCode, Retry } from "./error";
import type { ConversationId, DeviceId, RequestId, RuleText, WorkspaceId } from "./ids";
import type { CallVerdict, GrantedTool, PermissionRule, RuleEffect, TriedCall } from "./ipc";

/**
 * Sets a rule, or takes it away.
 */
export type RuleChange = { 
/**
 * Which calls, as the CLI writes it: `Bash(git push:*)`.
 */
rule: RuleText, 
/**
 * What becomes of them; absent takes the rule away.
 */
effect?: RuleEffect, 
/**
 * Where it holds; absent means everywhere on the machine.
 */
workspaceId?: WorkspaceId, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Asks for the rules of a machine.
 */
export type RulesRequest = { 
/**
 * Those of the machine and of this workspace; absent means all.
 */
workspaceId?: WorkspaceId, 
/**
 * A call to judge by them. Nothing runs.
 */
attempt?: TriedCall, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * The rules that are in force now.
 */
export type RulesResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * The rules, in the order in which they were set.
 */
rules: Array<PermissionRule>, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * Why the rules are not known; then everything is asked about.
 */
warning?: string, 
/**
 * What would become of the call that was tried.
 */
verdict?: CallVerdict, 
/**
 * Tools that people have allowed for conversations, until their processes end.
 */
granted?: Array<GrantedTool>, 
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
 * A tool that was allowed for a conversation is asked about again. One that is not allowed is no failure.
 */
export type ToolRevoke = { 
/**
 * In which conversation.
 */
conversationId: ConversationId, 
/**
 * Which tool.
 */
toolName: string, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };
