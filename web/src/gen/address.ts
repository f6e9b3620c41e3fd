// Made by `cargo xtask gen` from crates/proto. Do not edit.

import type { DeviceId, DeviceKey } from "./ids";

/**
 * The paired device that something came from. The number of a connection is another one after every reconnect; this
 * stays, and tells the name that the device had then also when it is gone.
 */
export type Author = { 
/**
 * Which device.
 */
deviceKey: DeviceKey, 
/**
 * Its name then, for people.
 */
name: string, };

/**
 * A group of devices of the sender's realm. An unknown word names a device type.
 */
export type Broadcast = "all" | "pylons" | "clients" | "app";

/**
 * What a device is.
 */
export type DeviceType = "pylon" | "app";

/**
 * What a device may do. Rights do not include each other.
 */
export type Right = "view" | "prompt" | "approve" | "terminal" | "admin";

/**
 * Who sent a message, as the relay knows it.
 */
export type Sender = { 
/**
 * Which device.
 */
deviceId: DeviceId, 
/**
 * What it is.
 */
deviceType: DeviceType, 
/**
 * Its name, for people.
 */
name: string, 
/**
 * Its icon, for people.
 */
icon?: string, 
/**
 * What it may do in the realm.
 */
rights?: Array<Right>, 
/**
 * The paired device behind the connection, the same after every reconnect; Pylons have none.
 */
deviceKey?: DeviceKey, };

/**
 * One addressee.
 */
export type Target = { 
/**
 * Which device.
 */
deviceId: DeviceId, 
/**
 * Deliver only if the device is of this type.
 */
deviceType?: DeviceType, };

/**
 * The addressees of a message: at least one, at most [`limits::MAX_TARGETS`].
 *
 * Read from an object, a number, a numeric string, or an array of these. Written as an object for one device
 * and as an array for several, in which a device without a type is just its number.
 */
export type To = Target | number | string | Array<Target | number | string>;
