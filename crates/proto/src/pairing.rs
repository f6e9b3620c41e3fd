//! Machine, new device ↔ relay: how a device joins a realm.
//!
//! ```text
//! pylon                          relay                            new device
//!   │ ── pair_offer ─────────────► │                                   │
//!   │ ◄─ pair_offer_result ─────── │    shown as QR and link:          │
//!   │      {pairId, secret}        │    https://app/#pair=id.secret    │
//!   │                              │ ◄────────────── pair_request ──── │  instead of `auth`
//!   │ ◄─ pair_requested ────────── │ ─────────── pair_request_result ► │  both show the same `code`
//!   │ ── pair_confirm {rights} ──► │                                   │  a person confirms at the machine
//!   │ ◄─ pair_confirm_result ───── │ ─────────── pair_result {token} ► │  which then sends `auth`
//!   │ ◄─ pair_closed ───────────── │                                   │  if it ended in another way
//! ```
//!
//! The secret has 256 bits, lives two minutes and serves one device; the third wrong guess ends the offer. Only a Pylon
//! may offer, and only the Pylon that offered may confirm: whoever scans a stranger's code gives the stranger nothing.
//! The secret stands in the fragment of the link, which no browser sends to a server.
//!
//! # Failures
//!
//! | what | answer |
//! |---|---|
//! | an offer that never was, has ended or is taken; a wrong secret | `pair_request_result` with `auth_failed`, the same for all, then a close |
//! | `pair_offer` or `pair_confirm` from a client | the result, with `forbidden` |
//! | `pair_confirm` without a waiting device | `pair_confirm_result` with `conflict` |
//! | more offers than the realm may have open | `pair_offer_result` with `rate_limited` |

use crate::devices::PairedDevice;
use crate::{DeviceKey, Name, PairId, Right, Timestamp, Token};

request! {
    /// Asks for a secret with which one new device may join.
    pub struct PairOffer {}
}

reply! {
    /// The secret to show to the new device.
    pub struct PairOfferResult {
        optional {
            /// Names the offer; only on success.
            pair_id: PairId,
            /// What the new device must know; only on success. Never log it.
            secret: Token,
            /// When the offer ends; only on success.
            expires_at: Timestamp,
        }
    }
}

request! {
    /// A new device wants to join. Sent instead of `auth`, on a connection of its own.
    pub struct PairRequest {
        required {
            /// The offer.
            pair_id: PairId,
            /// Its secret.
            secret: Token,
            /// What the device calls itself; shown at the machine.
            name: Name,
        }
    }
}

reply! {
    /// Whether the secret was right. If so the device waits for the person at the machine.
    pub struct PairRequestResult {
        optional {
            /// Six digits that the machine shows too; only on success.
            code: String,
            /// When the offer ends; only on success.
            expires_at: Timestamp,
        }
    }
}

data! {
    /// A new device knew the secret: show it and ask.
    pub struct PairRequested {
        required {
            /// The offer.
            pair_id: PairId,
            /// What the device calls itself.
            name: Name,
            /// Six digits that the device shows too.
            code: String,
            /// When the offer ends.
            expires_at: Timestamp,
        }
        optional {
            /// The network address it came from.
            address: String,
        }
    }
}

words! {
    /// What the person at the machine said.
    pub enum PairDecision {
        /// Let the device in.
        Accept = "accept",
        /// Turn it away; without a waiting device: take the offer back.
        Reject = "reject",
    }
}

request! {
    /// The decision of the person at the machine.
    pub struct PairConfirm {
        required {
            /// The offer.
            pair_id: PairId,
            /// The decision.
            decision: PairDecision,
        }
        optional {
            /// What the device may do; absent means view, prompt and approve.
            rights: Vec<Right>,
            /// Another name for it.
            name: Name,
        }
    }
}

reply! {
    /// The decision was carried out.
    pub struct PairConfirmResult {
        optional {
            /// The device that was let in.
            device: PairedDevice,
        }
    }
}

reply! {
    /// What became of the request. On success the device keeps the token and sends `auth` with it.
    pub struct PairResult {
        optional {
            /// The secret of the device; only on success. It is shown this once.
            token: Token,
            /// Names the device in the realm; only on success.
            device_key: DeviceKey,
            /// What it may do; only on success.
            rights: Vec<Right>,
        }
    }
}

words! {
    /// Why an offer ended without a decision.
    pub enum PairEnd {
        /// Its time was over.
        Expired = "expired",
        /// Somebody guessed too often.
        Guessed = "guessed",
        /// The waiting device went away.
        Left = "left",
    }
}

data! {
    /// An offer ended without a decision.
    pub struct PairClosed {
        required {
            /// The offer.
            pair_id: PairId,
            /// Why.
            reason: PairEnd,
        }
    }
}
