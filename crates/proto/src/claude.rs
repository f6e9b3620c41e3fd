//! App ↔ Pylon: talking to the agent and steering it.
//!
//! ```text
//! app                                                  pylon
//!   │ ── claude_send {message, clientMessageId} ────────► │
//!   │ ◄─────────────────────────────── claude_send_result │  accepted: it will run once, whatever dies now
//!   │ ◄─────────────────────────── claude_event (many) ── │  to viewers; decisions, states and results to all
//!   │ ── claude_control {action: stop} ─────────────────► │
//!   │ ◄──────────────────────────── claude_control_result │
//!   │ ── claude_set_permission_mode | claude_set_model ─► │
//!   │ ◄───────────────── claude_set_permission_mode_result│
//! ```
//!
//! A message sent again with the same `clientMessageId`, for example after a reconnect, runs once. What happens to one
//! that comes while a turn is under way is said by `onBusy`.
//!
//! # Failures
//!
//! | what | `errorCode` |
//! |---|---|
//! | there is no such conversation | `unknown_conversation` |
//! | the agent's program is missing or too old | `agent_unavailable` |
//! | the host is away | `host_unavailable`, `retry: later` |
//! | no room on the disk for another turn | `disk_full` |
//! | an action, mode or `onBusy` that is not one of the known words | `invalid_message` |
//! | an attached file that is not there; nothing was said to the agent | `unknown_upload` |
//! | more files than a message takes | `too_large` |

use crate::{
    ClaudeEvent, ClientMessageId, ConversationId, DeviceId, Epoch, FileId, Prompt, Seq, Timestamp,
    WorkspaceId,
};

words! {
    /// What happens to a message that comes while a turn is under way.
    pub enum OnBusy {
        /// The running turn takes it in.
        Inject = "inject",
        /// It waits until the turn has ended.
        Queue = "queue",
        /// The running turn is ended first.
        Interrupt = "interrupt",
    }
}

words! {
    /// How permissions are judged.
    pub enum PermissionMode {
        /// By the rules.
        Default = "default",
        /// Edits and commands are allowed.
        AcceptEdits = "acceptEdits",
        /// Everything is allowed but questions.
        BypassPermissions = "bypassPermissions",
        /// The agent plans and changes nothing.
        Plan = "plan",
    }
}

words! {
    /// What `claude_control` can do.
    pub enum ControlAction {
        /// End the running turn.
        Stop = "stop",
        /// Start afresh, keep the history with a divider.
        NewSession = "new_session",
        /// Start afresh and delete the history.
        Clear = "clear",
        /// Take a message back that the agent has not been given.
        CancelMessage = "cancel_message",
    }
}

request! {
    /// Says something to the agent.
    pub struct ClaudeSend {
        required {
            /// In which workspace.
            workspace_id: WorkspaceId,
            /// In which conversation.
            conversation_id: ConversationId,
            /// What.
            message: Prompt,
        }
        optional {
            /// The same id runs once.
            client_message_id: ClientMessageId,
            /// What to do while a turn is under way; absent means the setting.
            on_busy: OnBusy,
            /// Files that go with it, as `blob_end_result` named them; at most 10.
            attached_file_ids: Vec<FileId>,
        }
    }
}

reply! {
    /// Whether a message was accepted. An accepted one survives whatever dies afterwards.
    pub struct ClaudeSendResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// In which conversation.
            conversation_id: ConversationId,
        }
        optional {
            /// The id the client gave it.
            client_message_id: ClientMessageId,
            /// The number it got.
            seq: Seq,
        }
    }
}

data! {
    /// An event of the agent.
    pub struct ClaudeEventMessage {
        required {
            /// In which workspace.
            workspace_id: WorkspaceId,
            /// In which conversation.
            conversation_id: ConversationId,
            /// What happened.
            event: ClaudeEvent,
        }
        optional {
            /// Which Pylon.
            device_id: DeviceId,
            /// The number of a durable event; passing events have none.
            seq: Seq,
            /// The epoch of `seq`.
            epoch: Epoch,
            /// When it happened.
            timestamp: Timestamp,
        }
    }
}

request! {
    /// Steers a conversation.
    pub struct ClaudeControl {
        required {
            /// In which workspace.
            workspace_id: WorkspaceId,
            /// Which conversation.
            conversation_id: ConversationId,
            /// What to do.
            action: ControlAction,
        }
        optional {
            /// Which message; only for `cancel_message`.
            client_message_id: ClientMessageId,
        }
    }
}

reply! {
    /// Whether it was done.
    pub struct ClaudeControlResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// Which conversation.
            conversation_id: ConversationId,
            /// What was asked for.
            action: ControlAction,
        }
    }
}

request! {
    /// Changes how permissions are judged.
    pub struct ClaudeSetPermissionMode {
        required {
            /// How.
            mode: PermissionMode,
        }
        optional {
            /// In which conversation; absent means the default of the Pylon.
            conversation_id: ConversationId,
        }
    }
}

reply! {
    /// How permissions are judged now.
    pub struct ClaudeSetPermissionModeResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// How.
            mode: PermissionMode,
        }
        optional {
            /// In which conversation; absent means the default of the Pylon.
            conversation_id: ConversationId,
        }
    }
}

request! {
    /// Changes the model of a conversation, from the next turn on.
    pub struct ClaudeSetModel {
        required {
            /// In which conversation.
            conversation_id: ConversationId,
        }
        optional {
            /// Which model; absent means the agent's default.
            model: String,
        }
    }
}

reply! {
    /// The model from the next turn on.
    pub struct ClaudeSetModelResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// In which conversation.
            conversation_id: ConversationId,
        }
        optional {
            /// Which model; absent means the agent's default.
            model: String,
        }
    }
}
