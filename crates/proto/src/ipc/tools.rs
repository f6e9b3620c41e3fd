//! Tools that a client of the host gives to the agent of a conversation.
//!
//! ```text
//! pylon                                             host                      agent
//!   │ ── send_message {payload: {toolServer}} ───────► │  kept with the conversation   │
//!   │                                                  │ ◄──────────── calls a tool ── │
//!   │ ◄───────────────────────────────── tool_call ── │  to every client; repeated after a reconnect
//!   │ ── tool_result {callId, result | error} ───────► │  the first result wins        │
//!   │                                                  │ ── the result ──────────────► │
//! ```
//!
//! The agent is asked for permission as for every tool. A call keeps its id however often it is repeated: whoever
//! carries calls out remembers the ids and never does one twice.
//!
//! # Failures
//!
//! | what | answer |
//! |---|---|
//! | a result for a call that is not open | `request_result` with `unknown_tool_use` |

use crate::{ConversationId, Json, Name, ToolUseId};

data! {
    /// A tool.
    pub struct ToolDefinition {
        required {
            /// Its name.
            name: Name,
            /// What it does, for the model.
            description: String,
            /// The JSON Schema of its arguments.
            input_schema: Json,
        }
    }
}

data! {
    /// A server of tools within the host.
    pub struct ToolServer {
        required {
            /// Its name, which is part of the names of its tools.
            name: Name,
            /// Its tools.
            tools: Vec<ToolDefinition>,
        }
    }
}

data! {
    /// The agent calls a tool.
    pub struct ToolCall {
        required {
            /// Which conversation.
            session_id: ConversationId,
            /// Which call; the result names it.
            call_id: ToolUseId,
            /// Of which server.
            server: String,
            /// Which tool.
            tool: String,
            /// With what.
            arguments: Json,
        }
    }
}

request! {
    /// What came of a call.
    pub struct ToolResult {
        required {
            /// Which conversation.
            session_id: ConversationId,
            /// Which call.
            call_id: ToolUseId,
        }
        optional {
            /// What the tool gave.
            result: String,
            /// Why it failed, for the model.
            error: String,
        }
    }
}
