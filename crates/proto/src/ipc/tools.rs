//! Tools that a client of the host gives to the agent of a conversation.
//!
//! ```text
//! pylon                                             host                      agent
//!   │ ── send_message {payload: {toolServer}} ───────► │  kept with the conversation   │
//!   │                                                  │ ◄──────────── calls a tool ── │
//!   │ ◄───────────────────────────────── tool_call ── │  to every client; repeated after a reconnect
//!   │ ── claim_call {callId, client} ────────────────► │  in the log; the first one has it
//!   │ ◄──────────────────────────── request_result ── │                               │
//!   │    carries it out                                │                               │
//!   │ ── tool_result {callId, client, result} ───────► │  from the one that has it     │
//!   │                                                  │ ── the result ──────────────► │
//! ```
//!
//! The agent is asked for permission as for every tool. A call is carried out by one client, and once: by the one whose
//! claim was accepted, after that. `client` is a name that a program gives itself and keeps for as long as it remembers what it
//! has begun; a program that has forgotten takes a new one. Whoever claimed a call and lost the connection says
//! `claim_call` again when it is back, or sends the result. If it does neither within a minute, also of a new host,
//! the agent is told that the outcome is unknown.
//!
//! # Failures
//!
//! | what | answer |
//! |---|---|
//! | a claim or a result for a call that is not open | `request_result` with `unknown_tool_use` |
//! | a claim for a call that another client has | `request_result` with `conflict` |
//! | a result of a client that does not have the call | `request_result` with `conflict` |

use crate::{ClientId, ConversationId, Json, Name, ToolUseId};

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
    /// Asks to carry a call out. Nobody begins before this is granted.
    pub struct ClaimCall {
        required {
            /// Which conversation.
            session_id: ConversationId,
            /// Which call.
            call_id: ToolUseId,
            /// Who asks.
            client: ClientId,
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
            /// Who carried it out: the one that has the call.
            client: ClientId,
            /// What the tool gave.
            result: String,
            /// Why it failed, for the model.
            error: String,
        }
    }
}
