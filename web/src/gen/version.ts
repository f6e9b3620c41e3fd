// Made by `cargo xtask gen` from crates/proto. Do not edit.

import type { ErrorCode, Retry } from "./error";
import type { RequestId } from "./ids";

/**
 * Asks where to get the newest app.
 */
export type AppUpdateRequest = { 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Where to get the newest app.
 */
export type AppUpdateResult = { 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * Its version; only on success.
 */
version?: string, 
/**
 * Its commit; only on success.
 */
commit?: string, 
/**
 * Where the phone app is; only on success.
 */
apkUrl?: string, 
/**
 * Where the desktop app is; only on success.
 */
exeUrl?: string, 
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
 * Asks which build is published.
 */
export type VersionCheckRequest = { 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * The published build. Unknown values are `null`.
 */
export type VersionCheckResult = { 
/**
 * Whether the release could be read.
 */
success: boolean, 
/**
 * Its version.
 */
version: string | null, 
/**
 * Its commit.
 */
commit: string | null, 
/**
 * When it was built, `YYYYMMDDHHmmss`.
 */
buildTime: string | null, 
/**
 * Where the phone app is.
 */
apkUrl: string | null, 
/**
 * Where the desktop app is.
 */
exeUrl: string | null, 
/**
 * Why the release could not be read.
 */
error: string | null, 
/**
 * The same, for a program.
 */
errorCode?: ErrorCode, 
/**
 * Whether trying again can help.
 */
retry?: Retry, 
/**
 * The `requestId` of the request, if it had one.
 */
requestId?: RequestId, };
