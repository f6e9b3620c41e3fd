//! What a Pylon says to the host.
//!
//! Each command may carry a `requestId`; the host then answers with `request_result`. The structs say what is asked
//! for; the host decides whether it is done.

use super::{
    ClaimCall, CloseTerminal, CopySaved, GetRules, Hello, ListSaved, ListTerminals, OpenTerminal,
    ReadSaved, RemoveRule, RevokeTool, SetRule, ToolResult, ToolServer,
};
use crate::{
    Answer, ChainHash, ClaudeSessionId, ClientMessageId, ConversationId, DeviceId, Epoch, Json,
    Key, OnBusy, PathText, PermissionDecision, PermissionMode, Prompt, RequestId, Seq, ToolUseId,
    WorkspaceId,
};

data! {
    /// The message and where it is to be worked on.
    pub struct MessagePayload {
        required {
            /// What a person wrote.
            prompt: Prompt,
            /// The folder in which the agent works: an absolute path.
            working_dir: PathText,
            /// In which workspace.
            workspace_id: WorkspaceId,
        }
        optional {
            /// The session to resume, if the host knows none.
            claude_session_id: ClaudeSessionId,
            /// Tool servers; absent means `.mcp.json` of the folder.
            mcp_config: Json,
            /// How permissions are judged.
            permission_mode: PermissionMode,
            /// What to do while a turn is under way.
            on_busy: OnBusy,
            /// The same id runs once.
            client_message_id: crate::ClientMessageId,
            /// Which model.
            model: String,
            /// What to add to the system prompt: the persona.
            append_system_prompt: String,
            /// Which device sent it.
            device_id: DeviceId,
            /// The paired device behind that, with the name it had then.
            author: crate::Author,
            /// Tools that the sender carries out.
            tool_server: Box<ToolServer>,
            /// Whether the agent may only read, from now on: nothing that could change a file is allowed, by nobody. Its
            /// calls of the sender's tools are then allowed unasked.
            read_only: bool,
        }
    }
}

request! {
    /// Says something to the agent, starting or resuming its process if need be.
    pub struct SendMessage {
        required {
            /// Which conversation.
            session_id: ConversationId,
            /// What and where.
            payload: MessagePayload,
        }
    }
}

request! {
    /// Ends the running turn; open decisions of this conversation are denied.
    pub struct StopSession {
        required {
            /// Which conversation.
            session_id: ConversationId,
        }
        optional {
            /// End the process as well: `process_paused` with `manual` follows.
            end_process: bool,
        }
    }
}

request! {
    /// Starts the process of a stopped conversation again; the result says whether it knows what was said before.
    pub struct ResumeSession {
        required {
            /// Which conversation.
            session_id: ConversationId,
        }
    }
}

request! {
    /// Ends the session; the next message starts afresh.
    pub struct NewSession {
        required {
            /// Which conversation.
            session_id: ConversationId,
        }
    }
}

request! {
    /// Ends the session and deletes its log.
    pub struct ClearSession {
        required {
            /// Which conversation.
            session_id: ConversationId,
        }
    }
}

request! {
    /// Ends the session and forgets the conversation altogether.
    pub struct DeleteSession {
        required {
            /// Which conversation.
            session_id: ConversationId,
        }
    }
}

request! {
    /// Makes a new conversation from an old one up to, and without, one of its user messages.
    pub struct ForkSession {
        required {
            /// The old conversation.
            session_id: ConversationId,
            /// The new conversation. Asking again with the same one changes nothing.
            new_session_id: ConversationId,
            /// The `seq` of a user message of the old one.
            before_seq: Seq,
        }
    }
}

request! {
    /// Lets a conversation go on from before one of its user messages. What came after it is kept, and marked by an event.
    /// Refused while the agent works or messages wait.
    pub struct RewindSession {
        required {
            /// Which conversation.
            session_id: ConversationId,
            /// The `seq` of a user message of it. Asking again before anything else was said changes nothing.
            before_seq: Seq,
        }
        optional {
            /// Which device asks.
            device_id: DeviceId,
        }
    }
}

request! {
    /// Answers a permission.
    pub struct PermissionResponse {
        required {
            /// Which conversation.
            session_id: ConversationId,
            /// Which call.
            tool_use_id: ToolUseId,
            /// The answer.
            decision: PermissionDecision,
        }
        optional {
            /// What to tell the agent when denying.
            message: String,
            /// Which device answered.
            device_id: DeviceId,
            /// The paired device behind that, with the name it had then.
            author: crate::Author,
            /// The hash of the input that was shown; an answer to anything else is refused.
            input_hash: String,
        }
    }
}

request! {
    /// Answers questions.
    pub struct QuestionResponse {
        required {
            /// Which conversation.
            session_id: ConversationId,
            /// Which call.
            tool_use_id: ToolUseId,
            /// The answers, in any form.
            answer: Answer,
        }
        optional {
            /// Which device answered.
            device_id: DeviceId,
            /// The hash of the input that was shown; an answer to anything else is refused.
            input_hash: String,
            /// The paired device behind that, with the name it had then.
            author: crate::Author,
        }
    }
}

request! {
    /// Asks for the state of one conversation or all.
    pub struct GetStatus {
        optional {
            /// Which conversation; absent means all.
            session_id: ConversationId,
        }
    }
}

request! {
    /// The Pylon is there (again) and wants to know everything.
    pub struct PylonReconnected {}
}

request! {
    /// Changes how permissions are judged.
    pub struct SetPermissionMode {
        required {
            /// How.
            mode: PermissionMode,
        }
        optional {
            /// In which conversation; absent means those without a mode of their own.
            session_id: ConversationId,
        }
    }
}

request! {
    /// Changes the model from the next turn on.
    pub struct SetModel {
        required {
            /// In which conversation.
            session_id: ConversationId,
        }
        optional {
            /// Which model; absent means the agent's default.
            model: String,
        }
    }
}

request! {
    /// Takes a message back that the agent has not been given.
    pub struct CancelMessage {
        required {
            /// Which conversation.
            session_id: ConversationId,
            /// Which message.
            client_message_id: ClientMessageId,
        }
        optional {
            /// Which device wants it.
            device_id: DeviceId,
        }
    }
}

request! {
    /// A client looked at the conversation: it is not idle.
    pub struct Touch {
        required {
            /// Which conversation.
            session_id: ConversationId,
        }
    }
}

request! {
    /// Asks the agent what the running turn has cost so far.
    pub struct GetCost {
        required {
            /// Which conversation.
            session_id: ConversationId,
        }
    }
}

request! {
    /// Asks for the events after a cursor, and for all that follow. Without a cursor: from the start.
    pub struct Subscribe {
        required {
            /// Which conversation.
            session_id: ConversationId,
        }
        optional {
            /// The epoch of the cursor.
            epoch: Epoch,
            /// The last event the subscriber has.
            seq: Seq,
            /// The hash of the log up to that event: proof that both mean the same log.
            chain_hash: ChainHash,
        }
    }
}

request! {
    /// No further events of the conversation, please.
    pub struct Unsubscribe {
        required {
            /// Which conversation.
            session_id: ConversationId,
        }
    }
}

request! {
    /// Ends the host. The runs live on and are taken up by the next host, unless they shall be stopped or the host is
    /// configured to stop them.
    pub struct Shutdown {
        optional {
            /// Whether to stop the runs as well; without it the host does what `shutdown_stops_runs` says.
            stop_runs: bool,
            /// Why, as clients are told when the runs are stopped: the name of the signal. `SIGTERM` without it.
            reason: String,
        }
    }
}

union! {
    /// What a Pylon says to the host.
    pub enum PylonToHost {
        Hello(Hello) = "hello",
        SendMessage(SendMessage) = "send_message",
        StopSession(StopSession) = "stop_session",
        ResumeSession(ResumeSession) = "resume_session",
        NewSession(NewSession) = "new_session",
        ClearSession(ClearSession) = "clear_session",
        DeleteSession(DeleteSession) = "delete_session",
        ForkSession(ForkSession) = "fork_session",
        RewindSession(RewindSession) = "rewind_session",
        PermissionResponse(PermissionResponse) = "permission_response",
        QuestionResponse(QuestionResponse) = "question_response",
        GetStatus(GetStatus) = "get_status",
        PylonReconnected(PylonReconnected) = "pylon_reconnected",
        SetPermissionMode(SetPermissionMode) = "set_permission_mode",
        SetModel(SetModel) = "set_model",
        CancelMessage(CancelMessage) = "cancel_message",
        Touch(Touch) = "touch",
        GetCost(GetCost) = "get_cost",
        Subscribe(Subscribe) = "subscribe",
        Unsubscribe(Unsubscribe) = "unsubscribe",
        GetRules(GetRules) = "get_rules",
        SetRule(SetRule) = "set_rule",
        RemoveRule(RemoveRule) = "remove_rule",
        RevokeTool(RevokeTool) = "revoke_tool",
        ClaimCall(ClaimCall) = "claim_call",
        ToolResult(ToolResult) = "tool_result",
        OpenTerminal(OpenTerminal) = "open_terminal",
        ListTerminals(ListTerminals) = "list_terminals",
        CloseTerminal(CloseTerminal) = "close_terminal",
        ListSaved(ListSaved) = "list_saved",
        ReadSaved(ReadSaved) = "read_saved",
        CopySaved(CopySaved) = "copy_saved",
        Shutdown(Shutdown) = "shutdown",
    }
}

impl PylonToHost {
    /// Names the command, so that the host answers it. What is never answered takes no name.
    pub fn set_request_id(&mut self, id: RequestId) {
        let slot = match self {
            Self::SendMessage(command) => &mut command.request_id,
            Self::StopSession(command) => &mut command.request_id,
            Self::ResumeSession(command) => &mut command.request_id,
            Self::NewSession(command) => &mut command.request_id,
            Self::ClearSession(command) => &mut command.request_id,
            Self::DeleteSession(command) => &mut command.request_id,
            Self::ForkSession(command) => &mut command.request_id,
            Self::RewindSession(command) => &mut command.request_id,
            Self::PermissionResponse(command) => &mut command.request_id,
            Self::QuestionResponse(command) => &mut command.request_id,
            Self::GetStatus(command) => &mut command.request_id,
            Self::PylonReconnected(command) => &mut command.request_id,
            Self::SetPermissionMode(command) => &mut command.request_id,
            Self::SetModel(command) => &mut command.request_id,
            Self::CancelMessage(command) => &mut command.request_id,
            Self::Touch(command) => &mut command.request_id,
            Self::GetCost(command) => &mut command.request_id,
            Self::Subscribe(command) => &mut command.request_id,
            Self::Unsubscribe(command) => &mut command.request_id,
            Self::GetRules(command) => &mut command.request_id,
            Self::SetRule(command) => &mut command.request_id,
            Self::RemoveRule(command) => &mut command.request_id,
            Self::RevokeTool(command) => &mut command.request_id,
            Self::ClaimCall(command) => &mut command.request_id,
            Self::ToolResult(command) => &mut command.request_id,
            Self::OpenTerminal(command) => &mut command.request_id,
            Self::ListTerminals(command) => &mut command.request_id,
            Self::CloseTerminal(command) => &mut command.request_id,
            Self::ListSaved(command) => &mut command.request_id,
            Self::ReadSaved(command) => &mut command.request_id,
            Self::CopySaved(command) => &mut command.request_id,
            Self::Shutdown(command) => &mut command.request_id,
            Self::Hello(_) | Self::Unknown(_) => return,
        };
        *slot = Some(id);
    }

    /// The name of the command, which the host's answer repeats.
    pub fn request_id(&self) -> Option<&RequestId> {
        let slot = match self {
            Self::SendMessage(command) => &command.request_id,
            Self::StopSession(command) => &command.request_id,
            Self::ResumeSession(command) => &command.request_id,
            Self::NewSession(command) => &command.request_id,
            Self::ClearSession(command) => &command.request_id,
            Self::DeleteSession(command) => &command.request_id,
            Self::ForkSession(command) => &command.request_id,
            Self::RewindSession(command) => &command.request_id,
            Self::PermissionResponse(command) => &command.request_id,
            Self::QuestionResponse(command) => &command.request_id,
            Self::GetStatus(command) => &command.request_id,
            Self::PylonReconnected(command) => &command.request_id,
            Self::SetPermissionMode(command) => &command.request_id,
            Self::SetModel(command) => &command.request_id,
            Self::CancelMessage(command) => &command.request_id,
            Self::Touch(command) => &command.request_id,
            Self::GetCost(command) => &command.request_id,
            Self::Subscribe(command) => &command.request_id,
            Self::Unsubscribe(command) => &command.request_id,
            Self::GetRules(command) => &command.request_id,
            Self::SetRule(command) => &command.request_id,
            Self::RemoveRule(command) => &command.request_id,
            Self::RevokeTool(command) => &command.request_id,
            Self::ClaimCall(command) => &command.request_id,
            Self::ToolResult(command) => &command.request_id,
            Self::OpenTerminal(command) => &command.request_id,
            Self::ListTerminals(command) => &command.request_id,
            Self::CloseTerminal(command) => &command.request_id,
            Self::ListSaved(command) => &command.request_id,
            Self::ReadSaved(command) => &command.request_id,
            Self::CopySaved(command) => &command.request_id,
            Self::Shutdown(command) => &command.request_id,
            Self::Hello(_) | Self::Unknown(_) => return None,
        };
        slot.as_ref()
    }

    /// Commands with the same key are carried out one after another, in the order of their arrival.
    pub fn key(&self) -> Key<'_> {
        match self {
            Self::SendMessage(command) => Key::Conversation(&command.session_id),
            Self::StopSession(command) => Key::Conversation(&command.session_id),
            Self::ResumeSession(command) => Key::Conversation(&command.session_id),
            Self::NewSession(command) => Key::Conversation(&command.session_id),
            Self::ClearSession(command) => Key::Conversation(&command.session_id),
            Self::DeleteSession(command) => Key::Conversation(&command.session_id),
            Self::ForkSession(command) => Key::Conversation(&command.session_id),
            Self::RewindSession(command) => Key::Conversation(&command.session_id),
            Self::PermissionResponse(command) => Key::Conversation(&command.session_id),
            Self::QuestionResponse(command) => Key::Conversation(&command.session_id),
            Self::SetModel(command) => Key::Conversation(&command.session_id),
            Self::CancelMessage(command) => Key::Conversation(&command.session_id),
            Self::RevokeTool(command) => Key::Conversation(&command.session_id),
            Self::Touch(command) => Key::Conversation(&command.session_id),
            Self::GetCost(command) => Key::Conversation(&command.session_id),
            Self::Subscribe(command) => Key::Conversation(&command.session_id),
            Self::Unsubscribe(command) => Key::Conversation(&command.session_id),
            Self::ClaimCall(command) => Key::Conversation(&command.session_id),
            Self::ToolResult(command) => Key::Conversation(&command.session_id),
            Self::SetPermissionMode(command) => match &command.session_id {
                Some(session) => Key::Conversation(session),
                None => Key::Machine,
            },
            Self::Hello(_)
            | Self::PylonReconnected(_)
            | Self::SetRule(_)
            | Self::RemoveRule(_)
            | Self::OpenTerminal(_)
            | Self::CloseTerminal(_)
            | Self::Shutdown(_) => Key::Machine,
            Self::GetStatus(_)
            | Self::GetRules(_)
            | Self::ListTerminals(_)
            | Self::ListSaved(_)
            | Self::ReadSaved(_)
            | Self::CopySaved(_)
            | Self::Unknown(_) => Key::None,
        }
    }
}
