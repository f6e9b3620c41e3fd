// Made by `cargo xtask gen` from crates/proto. Do not edit.

import type { Right } from "./address";
import type { PairedDevice } from "./devices";
import type { ErrorCode, Retry } from "./error";
import type { DeviceKey, Name, PairId, RequestId, Timestamp, Token } from "./ids";

/**
 * An offer ended without a decision.
 */
export type PairClosed = { 
/**
 * The offer.
 */
pairId: PairId, 
/**
 * Why.
 */
reason: PairEnd, };

/**
 * The decision of the person at the machine.
 */
export type PairConfirm = { 
/**
 * The offer.
 */
pairId: PairId, 
/**
 * The decision.
 */
decision: PairDecision, 
/**
 * What the device may do; absent means view, prompt and approve.
 */
rights?: Array<Right>, 
/**
 * Another name for it.
 */
name?: Name, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * The decision was carried out.
 */
export type PairConfirmResult = { 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * The device that was let in.
 */
device?: PairedDevice, 
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
 * What the person at the machine said.
 */
export type PairDecision = "accept" | "reject";

/**
 * Why an offer ended without a decision.
 */
export type PairEnd = "expired" | "guessed" | "left";

/**
 * Asks for a secret with which one new device may join.
 */
export type PairOffer = { 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * The secret to show to the new device.
 */
export type PairOfferResult = { 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * Names the offer; only on success.
 */
pairId?: PairId, 
/**
 * What the new device must know; only on success. Never log it.
 */
secret?: Token, 
/**
 * When the offer ends; only on success.
 */
expiresAt?: Timestamp, 
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
 * A new device wants to join. Sent instead of `auth`, on a connection of its own.
 */
export type PairRequest = { 
/**
 * The offer.
 */
pairId: PairId, 
/**
 * Its secret.
 */
secret: Token, 
/**
 * What the device calls itself; shown at the machine.
 */
name: Name, 
/**
 * Chosen by the sender; the result echoes it.
 */
requestId?: RequestId, };

/**
 * Whether the secret was right. If so the device waits for the person at the machine.
 */
export type PairRequestResult = { 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * Six digits that the machine shows too; only on success.
 */
code?: string, 
/**
 * When the offer ends; only on success.
 */
expiresAt?: Timestamp, 
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
 * A new device knew the secret: show it and ask.
 */
export type PairRequested = { 
/**
 * The offer.
 */
pairId: PairId, 
/**
 * What the device calls itself.
 */
name: Name, 
/**
 * Six digits that the device shows too.
 */
code: string, 
/**
 * When the offer ends.
 */
expiresAt: Timestamp, 
/**
 * The network address it came from.
 */
address?: string, };

/**
 * What became of the request. On success the device keeps the token and sends `auth` with it.
 */
export type PairResult = { 
/**
 * Whether the request was carried out.
 */
success: boolean, 
/**
 * The secret of the device; only on success. It is shown this once.
 */
token?: Token, 
/**
 * Names the device in the realm; only on success.
 */
deviceKey?: DeviceKey, 
/**
 * What it may do; only on success.
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
