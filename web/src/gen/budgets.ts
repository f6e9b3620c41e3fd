// Made by `cargo xtask gen` from crates/proto. Do not edit.

import type { ErrorCode, Retry } from "./error";
import type { ConversationId, DeviceId, RequestId } from "./ids";

/**
 * A budget and what was spent of it.
 */
export type Budget = { 
/**
 * What for.
 */
scope: BudgetScope, 
/**
 * What was spent, in US dollars.
 */
spentUsd: number, 
/**
 * Which conversation, or that in which the task is carried out; absent for the day.
 */
conversationId?: ConversationId, 
/**
 * Which task.
 */
taskId?: string, 
/**
 * Where people are warned.
 */
softUsd?: number, 
/**
 * Where nothing begins any more.
 */
hardUsd?: number, };

/**
 * Which line was passed.
 */
export type BudgetLine = "soft" | "hard";

/**
 * Asks for all budgets.
 */
export type BudgetRequest = { 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * All budgets.
 */
export type BudgetResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * The day's first, then conversations, then tasks.
 */
budgets: Array<Budget>, 
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
 * What a budget is for.
 */
export type BudgetScope = "conversation" | "task" | "day";

/**
 * Sets a budget: both lines as they are given, an absent one is none.
 */
export type BudgetSet = { 
/**
 * Of which conversation; absent is the day.
 */
conversationId?: ConversationId, 
/**
 * Where people are warned.
 */
softUsd?: number, 
/**
 * Where nothing begins any more.
 */
hardUsd?: number, 
/**
 * Whether it is removed instead.
 */
remove?: boolean, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * A line was passed.
 */
export type BudgetWarning = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * Which line.
 */
line: BudgetLine, 
/**
 * The budget, with what was spent.
 */
budget: Budget, };
