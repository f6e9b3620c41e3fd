//! Messages that wait until the agent is free, and taking them back.
//!
//! ```text
//! userMessage (onBusy: queue) ─► waiting [m] ─► waiting [] ─► its turn begins
//!                                    │
//!                                    └─ claude_control cancel_message ─► messageCancelled ─► waiting []
//! ```
//!
//! `waiting` is passing and always says all of them, oldest first. A message that the agent has been given cannot be taken
//! back; stopping the turn is what is left then.

use crate::{ClientMessageId, DeviceId};

data! {
    /// A message that waits.
    pub struct WaitingMessage {
        required {
            /// What.
            content: String,
        }
        optional {
            /// The id the sender gave it, by which it is taken back.
            client_message_id: ClientMessageId,
            /// Which device sent it.
            device_id: DeviceId,
        }
    }
}

data! {
    /// The messages that wait are these, and no others.
    pub struct Waiting {
        required {
            /// Oldest first.
            messages: Vec<WaitingMessage>,
        }
    }
}

data! {
    /// A message was taken back before the agent got it.
    pub struct MessageCancelled {
        required {
            /// Which.
            client_message_id: ClientMessageId,
        }
        optional {
            /// Which device took it back.
            device_id: DeviceId,
        }
    }
}
