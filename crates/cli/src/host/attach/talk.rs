//! What follows from what the host says and what a person types. It waits for nothing and prints nothing.

use std::collections::VecDeque;

use estelle_proto::ipc::{
    HostEvent, MessagePayload, NewSession, PermissionRequest, QuestionRequest, RequestResult,
    SendMessage, SessionStatus, SetModel, SetPermissionMode, StopSession, Subscribe,
};
use estelle_proto::{
    ClaudeEvent, ClientMessageId, ConversationId, ConversationStatus, DecisionKind, HostToPylon,
    PathText, PermissionMode, Prompt, PylonToHost, Reply as _, ToolUseId, WorkspaceId,
};

use super::answer::{Matter, Open, Understood};
use super::view::View;
use crate::chat::piece::{Piece, Tone};

/// Pieces of the history that are shown unless all of it is asked for.
const TAIL: usize = 60;

const HELP: [&str; 7] = [
    "/stop          end the running turn",
    "/pause         end the process; the next message resumes it",
    "/new           begin a new session; the agent forgets what was said",
    "/mode MODE     default, acceptEdits, bypassPermissions or plan",
    "/model MODEL   another model from the next turn on",
    "/quit          leave; the conversation goes on",
    "Anything else goes to the agent. Begin with a space to send a line that begins with /.",
];

/// Where the conversation works.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) folder: Option<PathText>,
    pub(crate) workspace: Option<WorkspaceId>,
    /// The host does not know it yet.
    pub(crate) is_new: bool,
}

/// What is to be done.
#[derive(Debug, PartialEq)]
pub(crate) enum Effect {
    Show(Vec<Piece>),
    Send(Box<PylonToHost>),
    Leave,
}

/// Who writes the lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Writer {
    /// A person, who sees what happens and may speak at any time.
    Person,
    /// A pipe, whose next line is meant for when the last one has been worked on.
    Pipe,
}

/// How much of the history is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Past {
    End,
    Whole,
}

/// How far the history is.
#[derive(Debug)]
enum History {
    /// It is being replayed; what will be shown of it.
    Coming(VecDeque<Piece>),
    /// Everything from now on is live.
    Over,
}

/// The conversation, as far as this terminal is concerned.
#[derive(Debug)]
pub(crate) struct Talk {
    id: ConversationId,
    place: Place,
    view: View,
    history: History,
    past: Past,
    writer: Writer,
    /// A message was sent and no turn has ended since.
    expects_turn: bool,
    /// Decisions that wait, oldest first.
    open: VecDeque<Open>,
    /// Which decision is on the screen.
    asked: Option<ToolUseId>,
    state: ConversationStatus,
    /// Messages from here; their echo is not shown again.
    own: VecDeque<ClientMessageId>,
    /// Standard input is over: leave when the turn is.
    leaves: bool,
    /// Results that are awaited.
    awaited: usize,
}

impl Talk {
    pub(crate) fn new(id: ConversationId, place: Place, past: Past, writer: Writer) -> Self {
        let history = if place.is_new {
            History::Over
        } else {
            History::Coming(VecDeque::new())
        };
        Self {
            id,
            // The subscription of a conversation that is there already.
            awaited: usize::from(!place.is_new),
            place,
            view: View::default(),
            history,
            past,
            writer,
            expects_turn: false,
            open: VecDeque::new(),
            asked: None,
            state: ConversationStatus::Idle,
            own: VecDeque::new(),
            leaves: false,
        }
    }

    /// What stands before the line that is typed; nothing while the agent works or nobody types.
    pub(crate) fn prompt(&self) -> Option<&'static str> {
        if self.writer == Writer::Pipe {
            return None;
        }
        match (self.open.front(), &self.history) {
            (_, History::Coming(_)) => None,
            (Some(open), History::Over) => Some(open.prompt()),
            (None, History::Over) => self.is_quiet().then_some("› "),
        }
    }

    /// Lines are not taken before it is clear what they answer.
    pub(crate) fn wants_line(&self) -> bool {
        let is_meant = self.writer == Writer::Person || self.is_quiet() || !self.open.is_empty();
        self.awaited == 0 && matches!(self.history, History::Over) && is_meant
    }

    /// Nothing is under way.
    fn is_quiet(&self) -> bool {
        self.state == ConversationStatus::Idle && !self.expects_turn
    }

    /// Ctrl-C: ends the turn, or leaves if there is none.
    pub(crate) fn interrupted(&mut self) -> Vec<Effect> {
        if self.is_quiet() {
            return vec![Effect::Leave];
        }
        self.send(StopSession::new(self.id.clone()))
    }

    /// No more lines will come.
    pub(crate) fn lines_over(&mut self) -> Vec<Effect> {
        self.leaves = true;
        self.leave_if_over()
    }

    fn leave_if_over(&self) -> Vec<Effect> {
        // A decision waits on without us.
        let is_over = self.is_quiet() || !self.open.is_empty();
        if self.leaves && is_over && self.wants_line() {
            return vec![Effect::Leave];
        }
        Vec::new()
    }

    /// A line was typed.
    pub(crate) fn typed(&mut self, line: &str) -> Vec<Effect> {
        // A terminal shows what is typed; what comes from a pipe would be seen nowhere.
        let echo = Piece::spans([(Tone::Ask, "› "), (Tone::Plain, line)]);
        let mut effects = match self.writer {
            Writer::Person => Vec::new(),
            Writer::Pipe => vec![Effect::Show(vec![echo])],
        };
        effects.extend(self.obey(line));
        effects
    }

    fn obey(&mut self, line: &str) -> Vec<Effect> {
        if let Some(effects) = self.command(line) {
            return effects;
        }
        if let Some(open) = self.open.front_mut() {
            return match open.understand(&self.id, line) {
                Understood::Answer(command) => {
                    self.asked = None;
                    self.open.pop_front();
                    self.send(*command)
                }
                Understood::Next => vec![Effect::Show(open.show())],
                Understood::Again(hint) => say(Tone::Dim, hint),
            };
        }
        if line.trim().is_empty() {
            return Vec::new();
        }
        self.message(line.trim())
    }

    fn command(&mut self, line: &str) -> Option<Vec<Effect>> {
        let line = line.strip_prefix('/')?;
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let (id, rest) = (self.id.clone(), rest.trim());
        Some(match word.trim_end() {
            "help" => vec![Effect::Show(
                HELP.iter()
                    .map(|line| Piece::line(Tone::Dim, line))
                    .collect(),
            )],
            "quit" | "exit" => vec![Effect::Leave],
            "stop" => self.send(StopSession::new(id)),
            "pause" => self.send(StopSession {
                end_process: Some(true),
                ..StopSession::new(id)
            }),
            "new" => self.send(NewSession::new(id)),
            "mode" => self.send(SetPermissionMode {
                session_id: Some(id),
                ..SetPermissionMode::new(PermissionMode::from(rest))
            }),
            "model" => self.send(SetModel {
                model: (!rest.is_empty()).then(|| rest.to_owned()),
                ..SetModel::new(id)
            }),
            // The agent has commands of its own.
            _ => return None,
        })
    }

    fn message(&mut self, text: &str) -> Vec<Effect> {
        let (Some(folder), Some(workspace)) = (&self.place.folder, &self.place.workspace) else {
            return say(
                Tone::Bad,
                "The host does not say in which folder this conversation works.",
            );
        };
        let prompt = match Prompt::parse(text) {
            Ok(prompt) => prompt,
            Err(error) => return say(Tone::Bad, &format!("This cannot be sent: it {error}.")),
        };
        let id = ClientMessageId::parse(&uuid::Uuid::new_v4().to_string()).ok();
        self.own.extend(id.clone());
        let payload = MessagePayload {
            client_message_id: id,
            ..MessagePayload::new(prompt, folder.clone(), workspace.clone())
        };
        self.expects_turn = true;
        self.send(SendMessage::new(self.id.clone(), payload))
    }

    fn send(&mut self, command: impl Into<PylonToHost>) -> Vec<Effect> {
        self.awaited += 1;
        vec![Effect::Send(Box::new(command.into()))]
    }

    /// The host said something.
    pub(crate) fn heard(&mut self, message: HostToPylon) -> Vec<Effect> {
        let mut effects = match message {
            HostToPylon::Event(event) if event.session_id == self.id => self.event(&event),
            HostToPylon::Snapshot(snapshot) if snapshot.session_id == self.id => {
                self.snapshot(&snapshot.status)
            }
            HostToPylon::PermissionRequest(open) if open.session_id == self.id => {
                self.permission(open)
            }
            HostToPylon::QuestionRequest(open) if open.session_id == self.id => {
                self.questions(open)
            }
            HostToPylon::RequestResult(result) => self.result(&result),
            HostToPylon::CutOff(_) => say(
                Tone::Bad,
                "The host cut us off: this terminal reads too slowly.",
            ),
            HostToPylon::ServerShutdown(notice) => {
                let text = format!("The host goes down ({}) and ends its runs.", notice.reason);
                say(Tone::Bad, &text)
            }
            HostToPylon::Error(report) => say(Tone::Bad, &format!("✗ {}", report.error)),
            // Other conversations, and what needs no word.
            HostToPylon::Event(_)
            | HostToPylon::Snapshot(_)
            | HostToPylon::PermissionRequest(_)
            | HostToPylon::QuestionRequest(_)
            | HostToPylon::Hello(_)
            | HostToPylon::StatusResponse(_)
            | HostToPylon::Subscribed(_)
            | HostToPylon::ToolCall(_)
            | HostToPylon::Unknown(_) => Vec::new(),
        };
        effects.extend(self.ask());
        effects.extend(self.leave_if_over());
        effects
    }

    fn event(&mut self, event: &HostEvent) -> Vec<Effect> {
        if let ClaudeEvent::State(state) = &event.event {
            self.state = state.state.clone();
        }
        let ends = matches!(
            &event.event,
            ClaudeEvent::Result(_)
                | ClaudeEvent::Aborted(_)
                | ClaudeEvent::Error(_)
                | ClaudeEvent::Paused(_)
        );
        if ends {
            self.expects_turn = false;
        }
        if let ClaudeEvent::DecisionAnswered(answered) = &event.event {
            return self.answered(&answered.tool_use_id);
        }
        if let ClaudeEvent::UserMessage(message) = &event.event
            && let Some(id) = &message.client_message_id
            && self.own.contains(id)
        {
            return Vec::new();
        }
        let pieces = self.view.event(&event.event);
        self.show(pieces)
    }

    /// What is replayed is kept until it is clear which part of it is the end.
    fn show(&mut self, pieces: Vec<Piece>) -> Vec<Effect> {
        match &mut self.history {
            History::Over if pieces.is_empty() => Vec::new(),
            History::Over => vec![Effect::Show(pieces)],
            History::Coming(kept) => {
                kept.extend(
                    pieces
                        .into_iter()
                        .filter(|piece| !matches!(piece, Piece::Status(_))),
                );
                while self.past == Past::End && kept.len() > TAIL {
                    kept.pop_front();
                }
                Vec::new()
            }
        }
    }

    fn snapshot(&mut self, status: &SessionStatus) -> Vec<Effect> {
        self.state = status.state.clone();
        let mut pieces = Vec::new();
        if let History::Coming(kept) = std::mem::replace(&mut self.history, History::Over) {
            pieces.extend(kept);
        }
        pieces.extend(
            self.view
                .caught_up(status.partial_text.as_deref().unwrap_or_default()),
        );
        for open in status.pending_permissions.iter().flatten() {
            self.add(Open {
                call: open.tool_use_id.clone(),
                input_hash: open.input_hash.clone(),
                matter: Matter::Permission {
                    kind: open.kind.clone().unwrap_or(DecisionKind::Permission),
                    tool: open.tool_name.clone(),
                    input: open.tool_input.clone(),
                    reason: None,
                },
            });
        }
        for open in status.pending_questions.iter().flatten() {
            self.add(Open {
                call: open.tool_use_id.clone(),
                input_hash: open.input_hash.clone(),
                matter: Matter::Questions {
                    questions: open.questions.clone(),
                    answers: Vec::new(),
                },
            });
        }
        vec![Effect::Show(pieces)]
    }

    fn permission(&mut self, open: PermissionRequest) -> Vec<Effect> {
        self.add(Open {
            call: open.tool_use_id,
            input_hash: open.input_hash,
            matter: Matter::Permission {
                kind: open.kind.unwrap_or(DecisionKind::Permission),
                tool: open.tool_name,
                input: open.tool_input,
                reason: open.reason,
            },
        });
        Vec::new()
    }

    fn questions(&mut self, open: QuestionRequest) -> Vec<Effect> {
        self.add(Open {
            call: open.tool_use_id,
            input_hash: open.input_hash,
            matter: Matter::Questions {
                questions: open.questions,
                answers: Vec::new(),
            },
        });
        Vec::new()
    }

    /// A decision is told more than once: to everybody, and in the snapshot.
    fn add(&mut self, open: Open) {
        if !self.open.iter().any(|known| known.call == open.call) {
            self.open.push_back(open);
        }
    }

    /// Shows the oldest decision, if it is not on the screen yet.
    fn ask(&mut self) -> Vec<Effect> {
        let (Some(open), History::Over) = (self.open.front(), &self.history) else {
            return Vec::new();
        };
        if self.asked.as_ref() == Some(&open.call) {
            return Vec::new();
        }
        self.asked = Some(open.call.clone());
        vec![Effect::Show(open.show())]
    }

    fn answered(&mut self, call: &ToolUseId) -> Vec<Effect> {
        let before = self.open.len();
        self.open.retain(|open| open.call != *call);
        if self.open.len() == before || self.asked.as_ref() != Some(call) {
            return Vec::new();
        }
        self.asked = None;
        say(Tone::Dim, "This was answered elsewhere.")
    }

    fn result(&mut self, result: &RequestResult) -> Vec<Effect> {
        self.awaited = self.awaited.saturating_sub(1);
        match result.outcome() {
            Err(error) => {
                self.expects_turn = false;
                say(Tone::Bad, &format!("✗ {}", error.message))
            }
            Ok(()) if self.place.is_new => {
                // The first message made the conversation; from now on it can be followed.
                self.place.is_new = false;
                self.history = History::Coming(VecDeque::new());
                self.send(Subscribe::new(self.id.clone()))
            }
            Ok(()) => Vec::new(),
        }
    }
}

fn say(tone: Tone, text: &str) -> Vec<Effect> {
    vec![Effect::Show(vec![Piece::line(tone, text)])]
}

#[cfg(test)]
#[path = "talk_tests.rs"]
mod tests;
