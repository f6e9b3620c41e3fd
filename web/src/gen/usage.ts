// Made by `cargo xtask gen` from crates/proto. Do not edit.

import type { ErrorCode, Retry } from "./error";
import type { DeviceId, IsoTime, RequestId } from "./ids";
import type { NotificationHealth } from "./notifications";
import type { PlanLimit } from "./plan";

/**
 * Everything a Pylon has used.
 */
export type ClaudeUsage = { 
/**
 * Its cost.
 */
totalCostUsd: number, 
/**
 * Tokens read.
 */
totalInputTokens: number, 
/**
 * Tokens written.
 */
totalOutputTokens: number, 
/**
 * Tokens read from the cache.
 */
totalCacheReadTokens: number, 
/**
 * Tokens written to the cache.
 */
totalCacheCreationTokens: number, 
/**
 * Distinct sessions of Claude seen.
 */
sessionCount: number, 
/**
 * When it last grew.
 */
lastUpdated: IsoTime, };

/**
 * How a Pylon is.
 */
export type PylonStatus = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * What it has used.
 */
claudeUsage: ClaudeUsage, 
/**
 * Whether a prepared deploy waits for confirm or go.
 */
deployReady: boolean, 
/**
 * Whether the host answers.
 */
hostConnected?: boolean, 
/**
 * The build of the Pylon.
 */
version?: string, 
/**
 * The windows of the plan, as the CLI last told them.
 */
limits?: Array<PlanLimit>, 
/**
 * How notifications fare; absent when nobody is notified and nothing waits.
 */
notifications?: NotificationHealth, };

/**
 * What one row of usage stands for.
 */
export type UsageGroup = "day" | "conversation" | "model";

/**
 * Asks for usage in rows.
 */
export type UsageRequest = { 
/**
 * What one row stands for.
 */
groupBy: UsageGroup, 
/**
 * First day, `YYYY-MM-DD`.
 */
from?: string, 
/**
 * Last day, `YYYY-MM-DD`.
 */
until?: string, 
/**
 * `nextCursor` of the page before.
 */
cursor?: string, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * A page of usage.
 */
export type UsageResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * What one row stands for.
 */
groupBy: UsageGroup, 
/**
 * The rows, newest or largest first.
 */
rows: Array<UsageRow>, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * Where the next page begins; absent at the end.
 */
nextCursor?: string, 
/**
 * The windows of the plan, as the CLI last told them.
 */
limits?: Array<PlanLimit>, 
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
 * What was used in one day, conversation or model.
 */
export type UsageRow = { 
/**
 * Which one.
 */
key: string, 
/**
 * Its cost.
 */
costUsd: number, 
/**
 * Tokens read.
 */
inputTokens: number, 
/**
 * Tokens written.
 */
outputTokens: number, 
/**
 * Tokens read from the cache.
 */
cacheReadTokens: number, 
/**
 * Tokens written to the cache.
 */
cacheCreationTokens: number, };
