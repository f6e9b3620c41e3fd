// Made by `cargo xtask gen` from crates/proto. Do not edit.

import type { Timestamp } from "./ids";

/**
 * A request to the API failed, and the CLI tries again by itself.
 */
export type ApiRetry = { 
/**
 * Which try failed, from 1.
 */
attempt: number, 
/**
 * Why.
 */
cause: Cause, 
/**
 * How many tries there are.
 */
maxRetries?: number, 
/**
 * Milliseconds until the next.
 */
delayMs?: number, 
/**
 * The HTTP status; absent when there was no answer.
 */
apiStatus?: number, };

/**
 * Why a turn failed, for programs.
 */
export type Cause = "usage_limit" | "rate_limit" | "unauthorized" | "billing" | "overloaded" | "server" | "network" | "invalid_request" | "model_not_found" | "budget" | "max_turns" | "aborted" | "other";

/**
 * Whether a window lets requests through.
 */
export type LimitStatus = "allowed" | "allowed_warning" | "rejected";

/**
 * The CLI said how windows of the plan are. Only those it named.
 */
export type LimitsTold = { 
/**
 * Which, and how.
 */
limits: Array<PlanLimit>, };

/**
 * A window of the plan.
 */
export type PlanLimit = { 
/**
 * Which, in the CLI's word: `five_hour`, `seven_day` and their like.
 */
window: string, 
/**
 * Whether it lets requests through.
 */
status: LimitStatus, 
/**
 * When it begins anew.
 */
resetsAt?: Timestamp, 
/**
 * How much of it is used, from 0 to 1.
 */
utilization?: number, 
/**
 * Whether use beyond the plan lets requests through.
 */
overageStatus?: LimitStatus, 
/**
 * When that begins anew.
 */
overageResetsAt?: Timestamp, 
/**
 * Whether requests are charged beyond the plan now.
 */
isUsingOverage?: boolean, 
/**
 * When the CLI said so.
 */
toldAt?: Timestamp, };
