// Made by `cargo xtask gen` from crates/proto. Do not edit.

import type { Right } from "./address";
import type { ErrorCode, Retry } from "./error";
import type { DeviceId, DeviceKey, Name, RequestId, Timestamp, Token } from "./ids";

/**
 * Adds a device without pairing.
 */
export type DeviceAdd = { 
/**
 * Its name.
 */
name: Name, 
/**
 * What it may do.
 */
rights: Array<Right>, 
/**
 * When it stops being let in; absent: never.
 */
expiresAt?: Timestamp, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * The device that was added.
 */
export type DeviceAddResult = { 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * The device; only on success.
 */
device?: PairedDevice, 
/**
 * Its secret; only on success. It is shown this once.
 */
token?: Token, 
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
 * Takes a device out of the realm. Its connections are closed within a second.
 */
export type DeviceRevoke = { 
/**
 * Which device.
 */
deviceKey: DeviceKey, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Whether the device is out.
 */
export type DeviceRevokeResult = { 
/**
 * Which device.
 */
deviceKey: DeviceKey, 
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
 * Changes what a device may do, from its next message on.
 */
export type DeviceRights = { 
/**
 * Which device.
 */
deviceKey: DeviceKey, 
/**
 * All that it may do.
 */
rights: Array<Right>, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Whether the rights were changed.
 */
export type DeviceRightsResult = { 
/**
 * Which device.
 */
deviceKey: DeviceKey, 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * What it may do now; only on success.
 */
rights?: Array<Right>, 
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
 * A device that belongs to the realm.
 */
export type PairedDevice = { 
/**
 * Names it, the same after every reconnect.
 */
deviceKey: DeviceKey, 
/**
 * Its name, for people.
 */
name: Name, 
/**
 * What it may do.
 */
rights: Array<Right>, 
/**
 * When it joined.
 */
createdAt: Timestamp, 
/**
 * Its connections now, by the ids they have.
 */
connected: Array<DeviceId>, 
/**
 * When it was last connected; absent: not since the relay started.
 */
lastSeenAt?: Timestamp, 
/**
 * When it stops being let in.
 */
expiresAt?: Timestamp, };

/**
 * Asks which devices belong to the realm.
 */
export type PairedList = { 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * The devices of the realm, Pylons excepted, oldest first.
 */
export type PairedListResult = { 
/**
 * All of them.
 */
devices: Array<PairedDevice>, 
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
 * What this device may do was changed.
 */
export type RightsChanged = { 
/**
 * All that it may do now.
 */
rights: Array<Right>, };
