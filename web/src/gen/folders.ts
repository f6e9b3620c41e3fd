// Made by `cargo xtask gen` from crates/proto. Do not edit.

import type { ErrorCode, Retry } from "./error";
import type { DeviceId, PathText, RequestId } from "./ids";

/**
 * Asks for the folders in a folder.
 */
export type FolderList = { 
/**
 * Which one; absent means where workspaces usually are.
 */
path?: PathText, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * The folders in a folder, sorted by name.
 */
export type FolderListResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * The folder, resolved.
 */
path: PathText, 
/**
 * The names in it; at most 5000.
 */
folders: Array<string>, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * Whether there were more.
 */
truncated?: boolean, 
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
