//! `estelle chat CONVERSATION`: a person talks to a conversation of any machine, over the relay.
//!
//! The talk itself is the one of `estelle host attach`, which speaks the host's words; here they are put into those of the
//! relay and back.

use std::io::IsTerminal as _;
use std::process::ExitCode;

use anyhow::bail;
use estelle_proto::claude::{
    ClaudeControl, ClaudeEventMessage, ClaudeSend, ClaudeSetModel, ClaudeSetPermissionMode,
};
use estelle_proto::decisions::{ClaudeAnswer, ClaudePermission};
use estelle_proto::history::HistoryResult;
use estelle_proto::ipc::{
    HostEvent, PermissionRequest, QuestionRequest, RequestResult, SessionStatus, Snapshot,
};
use estelle_proto::{
    ApiError, ClaudeEvent, ControlAction, ConversationStatus, Epoch, ErrorCode, HostToPylon,
    PylonToHost, Reply as _, Retry, Seq,
};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use super::failure::Failure;
use super::session::{Session, is_away};
use super::way::ClientArgs;
use super::{block_on, past};
use crate::chat::keys;
use crate::chat::piece::{Piece, Tone};
use crate::chat::printer::Printer;
use crate::host::attach::talk::{Effect, Past, Place, Talk, Writer};

/// Talks until somebody leaves.
pub(crate) fn run(client: &ClientArgs, conversation: &str) -> anyhow::Result<ExitCode> {
    if client.json {
        bail!(
            "a talk is for people: `estelle send --json` and `estelle watch --json` are for programs"
        );
    }
    block_on(async {
        let mut session = Session::find(client, conversation).await?;
        let page = session.look().await?;
        let spot = &session.spot;
        let place = Place {
            folder: Some(spot.folder.clone()),
            workspace: Some(spot.workspace.clone()),
            is_new: false,
        };
        let writer = if std::io::stdin().is_terminal() {
            Writer::Person
        } else {
            Writer::Pipe
        };
        let talk = Talk::new(spot.conversation.clone(), place, Past::End, writer);
        let mut printer = Printer::stdout();
        printer.show(&banner(&spot.title))?;
        let lines = keys::lines()?;
        let mut chat = Chat {
            session,
            talk,
            printer,
            lines,
        };
        chat.begin(&page).await?;
        chat.run().await
    })
}

fn banner(title: &str) -> Vec<Piece> {
    vec![
        Piece::spans([(Tone::Strong, title), (Tone::Plain, " · over the relay")]),
        Piece::line(
            Tone::Dim,
            "/help for commands · Ctrl-C stops a turn · Ctrl-D leaves, and the conversation goes on",
        ),
        Piece::Gap,
    ]
}

struct Chat {
    session: Session,
    talk: Talk,
    printer: Printer,
    lines: mpsc::Receiver<String>,
}

#[derive(PartialEq, Eq)]
enum Flow {
    Stay,
    Leave,
}

impl Chat {
    /// The history, as the host would tell it.
    async fn begin(&mut self, page: &HistoryResult) -> anyhow::Result<()> {
        let messages = page.messages.iter();
        let messages = messages.filter_map(|entry| past::message(&self.session.spot, entry));
        let messages: Vec<_> = messages.collect();
        for message in messages {
            self.heard(as_host(message)).await?;
        }
        let id = self.session.spot.conversation.clone();
        let state = page
            .current_status
            .clone()
            .unwrap_or(ConversationStatus::Idle);
        let status = Box::new(SessionStatus::new(id.clone(), state));
        let seq = page.head_seq.unwrap_or(Seq(0));
        let epoch = page.epoch.unwrap_or(Epoch(0));
        self.heard(Snapshot::new(id, epoch, seq, status).into())
            .await?;
        self.heard(RequestResult::default().into()).await?;
        Ok(())
    }

    async fn run(&mut self) -> anyhow::Result<ExitCode> {
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut has_lines = true;
        loop {
            if let (true, Some(prompt)) = (has_lines, self.talk.prompt()) {
                self.printer.prompt(prompt)?;
            }
            let may_read = has_lines && self.talk.wants_line();
            let flow = tokio::select! {
                biased;
                Some(()) = interrupt.recv() => {
                    self.printer.key_echoed()?;
                    let effects = self.talk.interrupted();
                    self.perform(effects).await?
                }
                told = self.session.next() => match told {
                    Ok(message) => self.heard(as_host(message)).await?,
                    Err(error) => self.come_back(error).await?,
                },
                line = self.lines.recv(), if may_read => {
                    let effects = if let Some(line) = line {
                        self.printer.line_entered();
                        self.talk.typed(&line)
                    } else {
                        has_lines = false;
                        self.talk.lines_over()
                    };
                    self.perform(effects).await?
                }
            };
            if flow == Flow::Leave {
                return Ok(ExitCode::SUCCESS);
            }
        }
    }

    async fn heard(&mut self, message: HostToPylon) -> anyhow::Result<Flow> {
        let effects = self.talk.heard(message);
        self.perform(effects).await
    }

    async fn come_back(&mut self, error: anyhow::Error) -> anyhow::Result<Flow> {
        let said = format!("({error}; what runs goes on, trying again)");
        self.printer.show(&[Piece::line(Tone::Dim, said)])?;
        for message in self.session.again(error).await? {
            if self.heard(as_host(message)).await? == Flow::Leave {
                return Ok(Flow::Leave);
            }
        }
        Ok(Flow::Stay)
    }

    async fn perform(&mut self, effects: Vec<Effect>) -> anyhow::Result<Flow> {
        let mut effects = std::collections::VecDeque::from(effects);
        while let Some(effect) = effects.pop_front() {
            match effect {
                Effect::Show(pieces) => self.printer.show(&pieces)?,
                Effect::Leave => return Ok(Flow::Leave),
                Effect::Send(command) => {
                    let result = match carry_out(&mut self.session, *command).await {
                        Ok(()) => RequestResult::default(),
                        Err(error) => RequestResult::default().failed(refused(error)?),
                    };
                    effects.extend(self.talk.heard(result.into()));
                }
            }
        }
        Ok(Flow::Stay)
    }
}

/// What the talk shows as a refusal; what is no refusal is passed on.
fn refused(error: anyhow::Error) -> anyhow::Result<ApiError> {
    if is_away(&error) {
        let said = format!("{error:#}");
        return Ok(ApiError::new(ErrorCode::Undeliverable, said, Retry::Now));
    }
    match error.downcast::<Failure>()? {
        Failure::Refused(refusal) => Ok(refusal),
        failure @ (Failure::Missing { .. } | Failure::Ambiguous { .. } | Failure::Away { .. }) => {
            Err(failure.into())
        }
    }
}

/// An event as the host would say it.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the other events are the same in both"
)]
fn as_host(message: ClaudeEventMessage) -> HostToPylon {
    let id = message.conversation_id;
    match message.event {
        ClaudeEvent::PermissionAsked(asked) => PermissionRequest {
            kind: asked.kind,
            reason: asked.reason,
            input_hash: asked.input_hash,
            ..PermissionRequest::new(id, asked.tool_use_id, asked.tool_name, asked.tool_input)
        }
        .into(),
        ClaudeEvent::QuestionAsked(asked) => QuestionRequest {
            input_hash: asked.input_hash,
            ..QuestionRequest::new(id, asked.tool_use_id, asked.questions)
        }
        .into(),
        event => HostEvent {
            seq: message.seq,
            ..HostEvent::new(id, event)
        }
        .into(),
    }
}

/// Carries out a command for the host by asking the machine for the same.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a talk gives these commands and no others"
)]
pub(super) async fn carry_out(session: &mut Session, command: PylonToHost) -> anyhow::Result<()> {
    let (workspace, id) = (
        session.spot.workspace.clone(),
        session.spot.conversation.clone(),
    );
    match command {
        PylonToHost::SendMessage(send) => {
            let request = ClaudeSend {
                client_message_id: send.payload.client_message_id,
                ..ClaudeSend::new(workspace, id, send.payload.prompt)
            };
            session.ask(request).await?;
        }
        PylonToHost::PermissionResponse(answer) => {
            let request = ClaudePermission {
                message: answer.message,
                input_hash: answer.input_hash,
                ..ClaudePermission::new(workspace, id, answer.tool_use_id, answer.decision)
            };
            session.ask(request).await?;
        }
        PylonToHost::QuestionResponse(answer) => {
            let request = ClaudeAnswer {
                input_hash: answer.input_hash,
                ..ClaudeAnswer::new(workspace, id, answer.tool_use_id, answer.answer)
            };
            session.ask(request).await?;
        }
        PylonToHost::StopSession(stop) => {
            if stop.end_process == Some(true) {
                bail_softly("a process can be paused at its machine alone: estelle host attach")?;
            }
            let request = ClaudeControl::new(workspace, id, ControlAction::Stop);
            session.ask(request).await?;
        }
        PylonToHost::NewSession(_) => {
            let request = ClaudeControl::new(workspace, id, ControlAction::NewSession);
            session.ask(request).await?;
        }
        PylonToHost::SetPermissionMode(set) => {
            let request = ClaudeSetPermissionMode {
                conversation_id: Some(id),
                ..ClaudeSetPermissionMode::new(set.mode)
            };
            session.ask(request).await?;
        }
        PylonToHost::SetModel(set) => {
            let request = ClaudeSetModel {
                model: set.model,
                ..ClaudeSetModel::new(id)
            };
            session.ask(request).await?;
        }
        _ => bail!("the relay has no word for this"),
    }
    Ok(())
}

/// A refusal of our own.
fn bail_softly(said: &str) -> Result<(), Failure> {
    let refusal = ApiError::new(ErrorCode::Conflict, said.to_owned(), Retry::Never);
    Err(Failure::Refused(refusal))
}
