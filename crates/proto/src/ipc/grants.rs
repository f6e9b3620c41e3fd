//! Tools that a person has allowed for a conversation, and taking that back.
//!
//! ```text
//! pylon                                             host
//!   │ ── get_rules ──────────────────────────────────► │
//!   │ ◄───────────── request_result {rules: {granted}} │  of all conversations whose processes live
//!   │ ── revoke_tool {sessionId, toolName} ──────────► │
//!   │ ◄─────────────────────────────── request_result ─│  it is in the log; the next call is asked about
//! ```

use crate::{ConversationId, DeviceId, Timestamp};

data! {
    /// A tool that runs unasked in a conversation, because a person said so.
    pub struct GrantedTool {
        required {
            /// In which conversation.
            conversation_id: ConversationId,
            /// Which tool.
            tool_name: String,
            /// Since when.
            since: Timestamp,
        }
        optional {
            /// On which device it was allowed.
            device_id: DeviceId,
            /// The paired device behind that, with the name it had then.
            author: crate::Author,
        }
    }
}

request! {
    /// A tool that was allowed for a conversation is asked about again. One that is not allowed is no failure.
    pub struct RevokeTool {
        required {
            /// In which conversation.
            session_id: ConversationId,
            /// Which tool.
            tool_name: String,
        }
        optional {
            /// Which device wants it.
            device_id: DeviceId,
        }
    }
}
