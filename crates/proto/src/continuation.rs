//! App ↔ Pylon: going on by itself when the plan allows it again.
//!
//! ```text
//! app ── continuation_set {enabled} ──► pylon      app ◄─ continuation_set_result
//!                 the turn fails: usage_limit ──►  a continuation waits for the reset
//! pylon ── continuation_status (broadcast: clients) ──►    whenever that changes
//! app ── continuation_set {cancel} ───► pylon      app ◄─ continuation_set_result
//!                 the window resets ──►            one message to the agent, once
//! ```
//!
//! It is off until somebody turns it on for a conversation. A message of a person before the reset takes its place. Without
//! `enabled` and `cancel` the request only asks.
//!
//! # Failures
//!
//! | what | `errorCode` |
//! |---|---|
//! | there is no such workspace | `unknown_workspace` |
//! | there is no such conversation in it | `unknown_conversation` |
//! | nothing waits that could be cancelled | `conflict` |

use crate::{ConversationId, DeviceId, Timestamp, WorkspaceId};

request! {
    /// Turns it on or off for a conversation, or takes back what waits.
    pub struct ContinuationSet {
        required {
            /// In which workspace.
            workspace_id: WorkspaceId,
            /// Which conversation.
            conversation_id: ConversationId,
        }
        optional {
            /// Whether it goes on by itself. Turning it off takes back what waits.
            enabled: bool,
            /// Whether what waits is taken back, once.
            cancel: bool,
        }
    }
}

reply! {
    /// How it is now.
    pub struct ContinuationSetResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// Which conversation.
            conversation_id: ConversationId,
            /// Whether it goes on by itself.
            enabled: bool,
        }
        optional {
            /// When it goes on, if it waits for that.
            at: Timestamp,
            /// Why it last did not go on.
            failure: String,
        }
    }
}

data! {
    /// How it is now, for everybody.
    pub struct ContinuationStatus {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// Which conversation.
            conversation_id: ConversationId,
            /// Whether it goes on by itself.
            enabled: bool,
        }
        optional {
            /// When it goes on, if it waits for that.
            at: Timestamp,
            /// Why it last did not go on.
            failure: String,
        }
    }
}
