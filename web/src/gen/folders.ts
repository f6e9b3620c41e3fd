// Made by `cargo xtask gen` from crates/proto. Do not edit.

import type { ErrorCode, Retry } from "./error";
import type { DeviceId, PathText, RequestId } from "./ids";

/**
 * A place to begin.
 */
export type Drive = { 
/**
 * Where.
 */
path: PathText, 
/**
 * What it is called.
 */
label: string, 
/**
 * Whether there are folders in it.
 */
hasChildren: boolean, };

/**
 * Makes a folder.
 */
export type FolderCreate = { 
/**
 * In which one.
 */
path: PathText, 
/**
 * What it is called; at most 255 bytes.
 */
name: string, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Whether a folder was made.
 */
export type FolderCreateResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * Where it is.
 */
path?: PathText, 
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
 * What the system is called: `linux`, `macos`.
 */
platform?: string, 
/**
 * Where one can begin: the configured roots, or the root of the file system.
 */
drives?: Array<Drive>, 
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
 * Gives a folder another name, where it is.
 */
export type FolderRename = { 
/**
 * Which one.
 */
path: PathText, 
/**
 * What it is called from now on; at most 255 bytes.
 */
newName: string, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Whether a folder was renamed.
 */
export type FolderRenameResult = { 
/**
 * Which Pylon.
 */
deviceId: DeviceId, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * Where it is now.
 */
path?: PathText, 
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
