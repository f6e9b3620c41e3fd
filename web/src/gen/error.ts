// Made by `cargo xtask gen` from crates/proto. Do not edit.

import type { RequestId } from "./ids";

/**
 * A failure, for programs and people.
 */
export type ApiError = { 
/**
 * What went wrong.
 */
code: ErrorCode, 
/**
 * The same in words, with what to do about it.
 */
message: string, 
/**
 * Whether trying again can help.
 */
retry: Retry, };

/**
 * What went wrong, for programs. Each code has one meaning everywhere.
 */
export type ErrorCode = "invalid_message" | "unknown_type" | "too_large" | "not_authenticated" | "auth_failed" | "forbidden" | "rate_limited" | "undeliverable" | "unknown_workspace" | "unknown_conversation" | "unknown_device" | "unknown_terminal" | "unknown_tool_use" | "unknown_task" | "unknown_decision" | "already_answered" | "decision_void" | "duplicate_id" | "conflict" | "not_configured" | "bad_path" | "no_repository" | "uncommitted_work" | "unknown_worktree" | "branch_taken" | "unknown_session" | "git_failed" | "agent_unavailable" | "host_unavailable" | "protocol_mismatch" | "stale_cursor" | "unknown_upload" | "disk_full" | "budget_exceeded" | "internal";

/**
 * `error`: a message that could not be handled and has no result of its own. Sent to its sender alone.
 */
export type ErrorReport = { 
/**
 * What went wrong, for a person to read.
 */
error: string, 
/**
 * What went wrong, for a program.
 */
errorCode?: ErrorCode, 
/**
 * Whether trying again can help.
 */
retry?: Retry, 
/**
 * The `type` of the message.
 */
about?: string, 
/**
 * Its `requestId`, if it had one.
 */
requestId?: RequestId, };

/**
 * Whether trying again can help.
 */
export type Retry = "never" | "now" | "later";
