// Made by `cargo xtask gen` from crates/proto. Do not edit.

import type { ClientMessageId, DeviceId } from "./ids";

/**
 * A message was taken back before the agent got it.
 */
export type MessageCancelled = { 
/**
 * Which.
 */
clientMessageId: ClientMessageId, 
/**
 * Which device took it back.
 */
deviceId?: DeviceId, };

/**
 * The messages that wait are these, and no others.
 */
export type Waiting = { 
/**
 * Oldest first.
 */
messages: Array<WaitingMessage>, };

/**
 * A message that waits.
 */
export type WaitingMessage = { 
/**
 * What.
 */
content: string, 
/**
 * The id the sender gave it, by which it is taken back.
 */
clientMessageId?: ClientMessageId, 
/**
 * Which device sent it.
 */
deviceId?: DeviceId, };
