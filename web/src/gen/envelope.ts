// Made by `cargo xtask gen` from crates/proto. Do not edit.

import type { Broadcast, Sender, To } from "./address";
import type { RequestId } from "./ids";

/**
 * What an envelope has beside `type` and `payload`: a frame is one of the tables of messages and this.
 */
export type Addresses = { 
/**
 * Addressed devices.
 */
to?: To, 
/**
 * Addressed group; `to` wins.
 */
broadcast?: Broadcast, 
/**
 * Who sent it; put in by the relay.
 */
from?: Sender, 
/**
 * The request's id, outside the payload.
 */
requestId?: RequestId, };
