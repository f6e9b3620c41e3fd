//! What clients ask of a conversation. Each gets one answer; a refusal changes nothing.

use std::path::Path;

use estelle_proto::events::{ClaudeEvent, ErrorEvent};
use estelle_proto::ipc::{CancelMessage, MessagePayload, PylonToHost, SendMessage, StopSession};
use estelle_proto::runs::PauseReason;
use estelle_proto::{
    ApiError, ClientMessageId, ConversationId, ErrorCode, OnBusy, PermissionMode, Retry, Seq,
};
use estelle_state::conversation::{
    Change, Control, Message, MessageId, RefuseMessage, Request, StopReason,
};
use tokio::sync::oneshot;

use super::actor::{Actor, Broken, Ended, Flow, Reply, disk_trouble, now};
use super::lending::LentTo;
use super::rewinding::Rewinding;
use super::running::Phase;
use crate::ipc::{Done, Refusal};
use crate::launch::{CliMode, check_folder};
use crate::log::Sync;
use crate::translate::lines;

/// The word for the CLI's own choice of a model.
const AUTO: &str = "auto";

/// What becomes of commands and sub-agents in the background when a turn is broken off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Background {
    /// They end as well.
    Ends,
    /// They were not meant.
    GoesOn,
}

/// What is done when the run is gone.
#[derive(Debug)]
pub(super) enum AfterEnd {
    /// Tell somebody.
    Tell(oneshot::Sender<Ended>),
    /// Answer a request.
    Answer(Reply),
    /// See to it that the session is forgotten.
    Forget(Reply),
    /// Begin a new log.
    Clear(Reply),
    /// Remove everything.
    Delete(Reply),
    /// Go on from before a message.
    Rewind(Rewinding, Reply),
    /// Lend it to a terminal.
    Lend(LentTo),
}

impl Actor {
    pub(super) async fn submit(
        &mut self,
        command: PylonToHost,
        reply: Reply,
    ) -> Result<Flow, Broken> {
        if let Some(refused) = self.refuse_lent(&command) {
            let _ = reply.send(Err(refused.into()));
            return Ok(Flow::On);
        }
        match command {
            PylonToHost::SendMessage(command) => {
                let outcome = self.send(command).await?;
                let _ = reply.send(outcome);
            }
            PylonToHost::StopSession(command) => self.stop(command, reply).await?,
            PylonToHost::ResumeSession(_) => self.resume(reply).await?,
            PylonToHost::NewSession(_) => self.new_session(reply).await?,
            PylonToHost::ClearSession(_) => {
                self.when_ended(AfterEnd::Clear(reply)).await?;
            }
            PylonToHost::DeleteSession(_) => {
                self.when_ended(AfterEnd::Delete(reply)).await?;
            }
            PylonToHost::PermissionResponse(command) => {
                let outcome = self.permit(command).await?;
                let _ = reply.send(outcome);
            }
            PylonToHost::QuestionResponse(command) => {
                let outcome = self.answer(command).await?;
                let _ = reply.send(outcome);
            }
            PylonToHost::SetPermissionMode(command) => {
                self.set_mode(command.mode).await?;
                let _ = reply.send(Ok(Done::default()));
            }
            PylonToHost::SetModel(command) => {
                self.set_model(command.model).await?;
                let _ = reply.send(Ok(Done::default()));
            }
            PylonToHost::ToolResult(result) => {
                let outcome = self.finish(result).await?;
                let _ = reply.send(outcome);
            }
            PylonToHost::CancelMessage(command) => {
                let outcome = self.cancel_message(command).await?;
                let _ = reply.send(outcome);
            }
            PylonToHost::RevokeTool(command) => {
                let done = self.revoke(command).await?;
                let _ = reply.send(Ok(done));
            }
            PylonToHost::Touch(_) => {
                self.touch();
                let _ = reply.send(Ok(Done::default()));
            }
            PylonToHost::GetCost(_) => self.ask_cost(reply)?,
            PylonToHost::Hello(_)
            | PylonToHost::ClaimCall(_)
            | PylonToHost::GetStatus(_)
            | PylonToHost::ForkSession(_)
            | PylonToHost::RewindSession(_)
            | PylonToHost::PylonReconnected(_)
            | PylonToHost::Subscribe(_)
            | PylonToHost::Unsubscribe(_)
            | PylonToHost::Shutdown(_)
            | PylonToHost::GetRules(_)
            | PylonToHost::OpenTerminal(_)
            | PylonToHost::ListTerminals(_)
            | PylonToHost::ListSaved(_)
            | PylonToHost::ReadSaved(_)
            | PylonToHost::CopySaved(_)
            | PylonToHost::CloseTerminal(_)
            | PylonToHost::SetRule(_)
            | PylonToHost::RemoveRule(_)
            | PylonToHost::Unknown(_) => {
                let message = "a conversation does not take this command".to_owned();
                let error = ApiError::new(ErrorCode::UnknownType, message, Retry::Never);
                let _ = reply.send(Err(error.into()));
            }
        }
        Ok(if self.is_deleted { Flow::End } else { Flow::On })
    }

    async fn send(&mut self, command: SendMessage) -> Result<Result<Done, Refusal>, Broken> {
        if !self.has_room() {
            return Ok(Err(disk_trouble().into()));
        }
        if self.context.is_going_down() {
            return Ok(Err(going_down().into()));
        }
        if let Err(refused) = check_session(&command.payload) {
            return Ok(Err(refused.into()));
        }
        self.look_after_log().await?;
        let payload = command.payload;
        let message = message(
            self.book.conversation().id(),
            &payload,
            &self.context.settings.on_busy,
        );
        // What was sent before changes nothing, neither do other words under its id.
        match self.book.conversation().known(&message) {
            Ok(Some(seq)) => return Ok(Ok(taken(seq))),
            Ok(None) => {}
            Err(refused) => return Ok(Err(other_text(refused))),
        }
        // After a rewind to the beginning there is none, and a client may not know that yet.
        let conversation = self.book.conversation();
        let has_session = conversation.session().is_some() || conversation.was_rewound();
        let change = change(&payload, has_session);
        if self.book.conversation().run().is_none() {
            let mut wish = self.wish(self.book.conversation().last_generation());
            wish.working_dir = payload.working_dir.as_str().into();
            if let Err(error) = self.context.preflight(&wish).await {
                return Ok(Err(error.into()));
            }
        } else if let Err(refused) = check_folder(Path::new(payload.working_dir.as_str())) {
            return Ok(Err(refused.to_api().into()));
        }
        let stays = self.stays(payload.working_dir.as_str());
        let mut entries = Vec::new();
        entries.extend(self.book.decide().change(now(), change));
        let accepted = match self.book.decide().accept(now(), message) {
            Ok(accepted) => accepted,
            Err(refused) => {
                self.record_all(entries).await?;
                return Ok(Err(other_text(refused)));
            }
        };
        entries.extend(accepted.entries);
        if let Some(what) = stays {
            let event = ClaudeEvent::Error(ErrorEvent::new(what.clone()));
            entries.push(self.book.decide().repair(now(), what, vec![event]));
        }
        self.record_all(entries).await?;
        self.touch();
        Ok(Ok(taken(accepted.seq)))
    }

    /// What to say to somebody who names another folder than the one in which the process works, which cannot move. Nothing
    /// to one who hears it already.
    fn stays(&self, wanted: &str) -> Option<String> {
        let Phase::Live(live) = &self.phase else {
            return None;
        };
        let before = self.book.conversation().settings().working_dir.as_ref();
        let is_known = before.is_some_and(|before| before.as_str() == wanted);
        let cwd = live.cwd.as_deref().filter(|_| !is_known)?;
        let is_there = std::fs::canonicalize(wanted).ok() == std::fs::canonicalize(cwd).ok();
        (!is_there).then(|| {
            format!(
                "the agent goes on in {}, where its process was started; {wanted} counts for the next process: end this one, \
                 or begin a new session, to go there at once",
                cwd.display()
            )
        })
    }

    async fn cancel_message(
        &mut self,
        command: CancelMessage,
    ) -> Result<Result<Done, Refusal>, Broken> {
        let (id, by) = (command.client_message_id, command.device_id);
        let Some(entry) = self.book.decide().cancel(now(), &id, by) else {
            let message = "the message does not wait: the agent has it, or it is done".to_owned();
            let error = ApiError::new(ErrorCode::Conflict, message, Retry::Never);
            return Ok(Err(error.into()));
        };
        self.record(entry, Sync::Now).await?;
        Ok(Ok(Done::default()))
    }

    /// Whether the reserve is there. A disk that was full is looked at again, for an idle CLI prints nothing that would.
    fn has_room(&mut self) -> bool {
        if self.disk_full
            && let Phase::Live(live) = &mut self.phase
        {
            self.disk_full = live.refill().is_err();
        }
        // Without a run, its start finds out.
        !self.disk_full || matches!(self.phase, Phase::Quiet)
    }

    /// Breaks the turn off, with everything that waits in it, and what goes on in the background if that is meant too.
    pub(super) async fn break_off(&mut self, background: Background) -> Result<(), Broken> {
        let mut failed = None;
        let deny = |request: &Request| {
            lines::stopped(request).unwrap_or_else(|error| {
                failed = Some(error);
                String::new()
            })
        };
        let stopped = self.book.decide().stop(now(), None, deny);
        if let Some(error) = failed {
            return Err(error.into());
        }
        self.record_all(stopped.entries).await?;
        if stopped.interrupt || !stopped.cancel.is_empty() {
            self.interrupt(stopped.cancel).await?;
        }
        // Behind the interruption, so that no turn begins anything anew.
        for task in stopped.tasks {
            if background == Background::Ends {
                self.control(Control::StopTask { task }).await?;
            }
        }
        Ok(())
    }

    async fn stop(&mut self, command: StopSession, reply: Reply) -> Result<(), Broken> {
        self.break_off(Background::Ends).await?;
        self.give_up_start();
        if !command.end_process.unwrap_or_default() || self.book.conversation().run().is_none() {
            let _ = reply.send(Ok(Done::default()));
            return Ok(());
        }
        self.stop_run(StopReason::Paused {
            reason: PauseReason::Manual,
            idle_minutes: 0,
        })
        .await?;
        self.after_end.push(AfterEnd::Answer(reply));
        Ok(())
    }

    async fn resume(&mut self, reply: Reply) -> Result<(), Broken> {
        if self.book.conversation().run().is_some() {
            let message = "the conversation has a process already".to_owned();
            let error = ApiError::new(ErrorCode::Conflict, message, Retry::Never);
            let _ = reply.send(Err(error.into()));
            return Ok(());
        }
        let wish = self.wish(self.book.conversation().last_generation());
        if let Err(error) = self.context.preflight(&wish).await {
            let _ = reply.send(Err(error.into()));
            return Ok(());
        }
        if let Some(entry) = self.book.decide().want(now()) {
            self.record(entry, Sync::Now).await?;
        }
        self.resuming.push(reply);
        Ok(())
    }

    /// Whoever begins anew may change his mind: a folder that he would not trust is asked about again.
    fn forget_refusals(&self) {
        let folder = self.book.conversation().settings().working_dir.as_ref();
        let folder = folder.and_then(|folder| std::fs::canonicalize(folder.as_str()).ok());
        if let Some(folder) = folder
            && let Err(error) = self.context.trust().forget_refusals(&folder)
        {
            tracing::warn!(%error, "a refusal to trust a folder could not be taken back");
        }
    }

    async fn new_session(&mut self, reply: Reply) -> Result<(), Broken> {
        self.forget_refusals();
        if self.book.conversation().run().is_none() {
            if let Some(entry) = self.book.decide().forget(now()) {
                self.record(entry, Sync::Now).await?;
            }
            let _ = reply.send(Ok(Done::default()));
            return Ok(());
        }
        self.stop_run(StopReason::NewSession).await?;
        self.after_end.push(AfterEnd::Forget(reply));
        Ok(())
    }

    /// The end of the run forgot its session, unless it was ended for something that people had to hear of, or something
    /// else was done with the session since.
    async fn forget_now(&mut self) -> Result<(), Broken> {
        if self.is_deleted || self.book.conversation().session().is_none() {
            return Ok(());
        }
        match self.book.decide().forget(now()) {
            Some(entry) => self.record(entry, Sync::Now).await,
            None => Ok(()),
        }
    }

    /// Ends the run, if there is one, and then does the rest.
    async fn when_ended(&mut self, then: AfterEnd) -> Result<(), Broken> {
        self.after_end.push(then);
        if self.book.conversation().run().is_none() {
            return self.after_the_end().await;
        }
        self.stop_run(StopReason::NewSession).await
    }

    /// The run is gone: whoever waited for that goes on.
    pub(super) async fn after_the_end(&mut self) -> Result<(), Broken> {
        for then in std::mem::take(&mut self.after_end) {
            match then {
                AfterEnd::Tell(reply) => {
                    let _ = reply.send(Ended::Run);
                }
                AfterEnd::Answer(reply) => {
                    let _ = reply.send(Ok(Done::default()));
                }
                AfterEnd::Forget(reply) => {
                    self.forget_now().await?;
                    let _ = reply.send(Ok(Done::default()));
                }
                AfterEnd::Clear(reply) => {
                    self.clear().await?;
                    let _ = reply.send(Ok(Done::default()));
                }
                AfterEnd::Delete(reply) => {
                    self.delete()?;
                    let _ = reply.send(Ok(Done::default()));
                }
                AfterEnd::Rewind(wanted, reply) => self.rewind_now(wanted, reply).await?,
                AfterEnd::Lend(to) => self.lend_now(to).await?,
            }
        }
        let conversation = self.book.conversation();
        // People whose session was lost get a process that begins afresh, and are told so: it is still wanted then.
        if conversation.due().is_none() && !self.resuming.is_empty() {
            let message = "the agent's process could not be started again; its last error says why";
            let error = ApiError::new(
                ErrorCode::AgentUnavailable,
                message.to_owned(),
                Retry::Later,
            );
            self.tell_resumed(&Err(error.into()));
        }
        Ok(())
    }

    async fn set_mode(&mut self, mode: PermissionMode) -> Result<(), Broken> {
        let change = Change {
            mode: Some(mode),
            ..Change::default()
        };
        if let Some(entry) = self.book.decide().change(now(), change) {
            self.record(entry, Sync::Now).await?;
        }
        self.adjust().await
    }

    /// Tells the CLI what was set since it was started or last told. Derived from the log, so nothing is forgotten that
    /// was set while there was nobody to tell.
    pub(super) async fn adjust(&mut self) -> Result<(), Broken> {
        let conversation = self.book.conversation();
        let (Phase::Live(live), Some(run)) = (&self.phase, conversation.run()) else {
            return Ok(());
        };
        if live.closed || run.stopping.is_some() || run.farewell.is_some() {
            return Ok(());
        }
        let settings = conversation.settings();
        let model = named(settings.model.as_ref());
        let has_model = named(run.model.as_ref()) == model;
        let has = CliMode::of(run.mode.as_ref().unwrap_or(&live.default_mode));
        let default = self.context.default_mode();
        let mode = CliMode::of(settings.mode.as_ref().unwrap_or(&default));
        if has != mode {
            let mode = PermissionMode::from(mode.as_str());
            self.control(Control::Mode { mode }).await?;
        }
        if !has_model {
            self.control(Control::Model { model }).await?;
        }
        Ok(())
    }

    async fn set_model(&mut self, model: Option<String>) -> Result<(), Broken> {
        let change = Change {
            model: Some(model.unwrap_or_default()),
            ..Change::default()
        };
        if let Some(entry) = self.book.decide().change(now(), change) {
            self.record(entry, Sync::Now).await?;
        }
        self.adjust().await
    }
}

/// Nothing is begun while everything is being ended.
fn going_down() -> ApiError {
    let message = "the host goes down with its runs; send it again when the host is back";
    ApiError::new(ErrorCode::HostUnavailable, message.to_owned(), Retry::Later)
}

/// Every session of the CLI has a UUID. It refuses anything else, at every start, without saying so in time.
pub(super) fn check_session(payload: &MessagePayload) -> Result<(), ApiError> {
    let session = payload.claude_session_id.as_ref();
    if session.is_none_or(|session| uuid::Uuid::try_parse(session.as_str()).is_ok()) {
        return Ok(());
    }
    let message =
        "claudeSessionId is not the id of a session, which is a UUID; leave it out to begin afresh";
    Err(ApiError::new(
        ErrorCode::InvalidMessage,
        message.to_owned(),
        Retry::Never,
    ))
}

/// The model by its name; none is the CLI's own choice.
fn named(model: Option<&String>) -> Option<String> {
    model.filter(|model| *model != AUTO).cloned()
}

/// What a message changes about its conversation.
fn change(payload: &MessagePayload, has_session: bool) -> Change {
    Change {
        workspace_id: Some(payload.workspace_id.clone()),
        working_dir: Some(payload.working_dir.clone()),
        mode: payload.permission_mode.clone(),
        model: payload.model.clone(),
        append_system_prompt: payload.append_system_prompt.clone(),
        mcp_config: payload.mcp_config.clone(),
        tool_server: payload.tool_server.as_deref().cloned(),
        read_only: payload.read_only,
        session: payload.claude_session_id.clone().filter(|_| !has_session),
    }
}

fn message(conversation: &ConversationId, payload: &MessagePayload, on_busy: &OnBusy) -> Message {
    Message {
        id: message_id(conversation, payload.client_message_id.as_ref()),
        content: payload.prompt.as_str().to_owned(),
        on_busy: payload.on_busy.as_ref().unwrap_or(on_busy).clone(),
        client_message_id: payload.client_message_id.clone(),
        device_id: payload.device_id,
        author: payload.author.clone(),
    }
}

fn taken(seq: Seq) -> Done {
    Done {
        seq: Some(seq),
        ..Done::default()
    }
}

fn other_text(refused: RefuseMessage) -> Refusal {
    ApiError::new(ErrorCode::DuplicateId, refused.to_string(), Retry::Never).into()
}

/// The id for the CLI: the sender's own if it is a UUID, otherwise one that the same id always gives.
fn message_id(conversation: &ConversationId, client: Option<&ClientMessageId>) -> MessageId {
    let Some(client) = client else {
        return MessageId(uuid::Uuid::new_v4().to_string());
    };
    if let Ok(uuid) = uuid::Uuid::parse_str(client.as_str()) {
        return MessageId(uuid.to_string());
    }
    let hash = blake3::hash(format!("{conversation}/{client}").as_bytes());
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash.as_bytes()[..16]);
    MessageId(
        uuid::Builder::from_random_bytes(bytes)
            .into_uuid()
            .to_string(),
    )
}
