//! The machine between the user, the CLI and the screen.
//!
//! Everything that happens comes in as an [`Input`]; what is to be done comes out as [`Effect`]s. It knows which
//! questions are open, whether a turn runs and whether the conversation is ending; it owns no channel, no clock and
//! no process, so every rule of the conversation can be tested without any.

use std::collections::VecDeque;
use std::mem;

use estelle_claude::wire::control::CanUseTool;
use estelle_claude::wire::{Body, Message, PermissionMode, PermissionResult};

use super::ask::{Ask, Reply};
use super::command::{self, Command};
use super::piece::{Piece, Tone};
use super::view::{View, unreadable, was_interrupted};

/// Names an open question.
pub(crate) type AskId = u64;

/// Something that happened.
#[derive(Debug)]
pub(crate) enum Input {
    /// The user entered a line.
    Line(String),
    /// There will be no more lines.
    LinesOver,
    /// Ctrl-C.
    Interrupt,
    /// Somebody wants this program to end; with this exit code.
    Terminate(u8),
    /// The CLI printed something.
    Message(Box<Message>),
    /// The CLI asks for permission.
    Asked(AskId, Box<CanUseTool>),
    /// It no longer does.
    Withdrawn(AskId),
    /// A request was answered or refused.
    Done(Control, Result<(), String>),
    /// The CLI is gone; the pieces say how, if that was not expected.
    Gone(Option<Vec<Piece>>),
}

/// Something to do.
#[derive(Debug, PartialEq)]
pub(crate) enum Effect {
    /// Show this.
    Show(Vec<Piece>),
    /// Send this message.
    Send(String),
    /// Answer this question.
    Answer(AskId, Box<PermissionResult>),
    /// Make this request.
    Control(Control),
    /// End the CLI's input and wait for it to finish.
    EndInput,
    /// End the conversation now.
    Close,
}

/// A request to the CLI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Control {
    /// Stop the turn.
    Interrupt,
    /// Change the model.
    Model(String),
    /// Change the permission mode.
    Mode(PermissionMode),
}

/// Where the lines come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// A person types them.
    Terminal,
    /// A file or another program.
    Pipe,
}

/// What the CLI offers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Offer {
    /// Models to choose: the word to type and what it means.
    pub(crate) models: Vec<(String, String)>,
    /// Names of its slash commands.
    pub(crate) commands: Vec<String>,
}

/// The machine.
#[derive(Debug)]
pub(crate) struct Desk {
    source: Source,
    offer: Offer,
    view: View,
    asks: VecDeque<(AskId, Ask)>,
    /// The beginning of a message that goes on in the next line.
    begun: String,
    /// A line of a pipe that was no answer and waits to be a message.
    held: Option<String>,
    input_over: bool,
    /// An interrupt was asked for and the turn has not ended since.
    interrupting: bool,
    /// The conversation is being ended.
    closing: bool,
    exit_code: u8,
}

impl Desk {
    /// A machine at the beginning of a conversation.
    pub(crate) fn new(source: Source, width: usize, offer: Offer) -> Self {
        Self {
            source,
            offer,
            view: View::new(width),
            asks: VecDeque::new(),
            begun: String::new(),
            held: None,
            input_over: false,
            interrupting: false,
            closing: false,
            exit_code: 0,
        }
    }

    /// What became of the session so far.
    pub(crate) const fn view(&self) -> &View {
        &self.view
    }

    /// What this program should return.
    pub(crate) const fn exit_code(&self) -> u8 {
        self.exit_code
    }

    /// Whether a person sits at a terminal.
    pub(crate) fn is_interactive(&self) -> bool {
        self.source == Source::Terminal
    }

    /// Whether a line can be used now.
    pub(crate) fn wants_line(&self) -> bool {
        let open = !self.closing && !self.input_over;
        open && (self.source == Source::Terminal || !self.asks.is_empty() || !self.view.is_busy())
    }

    /// What the user should see where he types, if he is expected to.
    pub(crate) fn prompt(&self) -> Option<&'static str> {
        if self.source == Source::Pipe || self.closing || self.input_over {
            return None;
        }
        match self.asks.front() {
            Some((_, ask)) => Some(ask.prompt()),
            None if self.view.is_busy() => None,
            None if !self.begun.is_empty() => Some("… "),
            None => Some("› "),
        }
    }

    /// What follows from what happened.
    #[must_use]
    pub(crate) fn step(&mut self, input: Input) -> Vec<Effect> {
        match input {
            Input::Line(line) => self.on_line(line),
            Input::LinesOver => self.on_lines_over(),
            Input::Interrupt => self.on_interrupt(),
            Input::Terminate(code) => self.close_with(code),
            Input::Message(message) => self.on_message(&message),
            Input::Asked(id, request) => self.on_asked(id, *request),
            Input::Withdrawn(id) => self.on_withdrawn(id),
            Input::Done(control, result) => self.on_done(&control, result),
            Input::Gone(how) => self.on_gone(how),
        }
    }

    fn on_line(&mut self, line: String) -> Vec<Effect> {
        if self.closing {
            return Vec::new();
        }
        let mut effects = Vec::new();
        self.view.interposed();
        if self.source == Source::Pipe {
            if line.trim().is_empty() && self.asks.is_empty() {
                return Vec::new();
            }
            let prompt = self.asks.front().map_or("› ", |(_, ask)| ask.prompt());
            effects.push(show([Piece::spans([
                (Tone::Ask, prompt),
                (Tone::Plain, &line),
            ])]));
        }
        let during_question = !self.asks.is_empty();
        match command::parse(&line) {
            Some(command) => effects.extend(self.on_command(command)),
            None if during_question => effects.extend(self.on_answer(line)),
            None => effects.extend(self.on_message_line(&line)),
        }
        effects
    }

    fn on_message_line(&mut self, line: &str) -> Vec<Effect> {
        if self.source == Source::Terminal
            && let Some(begun) = line.strip_suffix('\\')
        {
            self.begun.push_str(begun);
            self.begun.push('\n');
            return Vec::new();
        }
        let text = mem::take(&mut self.begun) + line;
        if text.trim().is_empty() {
            return Vec::new();
        }
        self.send(text)
    }

    fn send(&mut self, text: String) -> Vec<Effect> {
        let mut effects = Vec::new();
        if self.view.is_busy() {
            let note = "→ Handed in; Claude reads it after the current step.";
            effects.push(show([Piece::line(Tone::Dim, note)]));
        }
        self.view.sent();
        effects.push(Effect::Send(text));
        effects
    }

    fn on_answer(&mut self, line: String) -> Vec<Effect> {
        let Some((id, ask)) = self.asks.front_mut() else {
            return Vec::new();
        };
        match ask.reply(&line) {
            Reply::Settled(result, note) => {
                let mut effects = vec![Effect::Show(note), Effect::Answer(*id, result)];
                effects.extend(self.next_ask());
                effects
            }
            Reply::Again(pieces) => vec![Effect::Show(pieces)],
            Reply::Misunderstood(pieces) if self.source == Source::Terminal => {
                vec![Effect::Show(pieces)]
            }
            Reply::Misunderstood(_) => {
                self.held = Some(line).filter(|line| !line.trim().is_empty());
                self.refuse("that is no answer, so it is refused")
            }
        }
    }

    /// Refuses the open question.
    fn refuse(&mut self, why: &str) -> Vec<Effect> {
        let Some((id, ask)) = self.asks.front() else {
            return Vec::new();
        };
        let note = Piece::line(Tone::Bad, format!("✗ {}: {why}.", ask.subject()));
        let mut effects = vec![show([note]), Effect::Answer(*id, Box::new(ask.refusal()))];
        effects.extend(self.next_ask());
        effects
    }

    /// The front question is settled; shows the one behind it.
    fn next_ask(&mut self) -> Vec<Effect> {
        self.asks.pop_front();
        self.show_ask()
    }

    fn show_ask(&mut self) -> Vec<Effect> {
        let Some((_, ask)) = self.asks.front() else {
            return Vec::new();
        };
        let below = ask
            .input()
            .is_some_and(|input| self.view.just_showed(input));
        let mut effects = vec![Effect::Show(if below {
            ask.show_below()
        } else {
            ask.show()
        })];
        self.view.interposed();
        if self.input_over {
            effects.extend(self.refuse("nobody is there to ask, so it is refused"));
        } else if let Some(held) = self.held.take() {
            effects.extend(self.on_line(held));
        }
        effects
    }

    fn on_asked(&mut self, id: AskId, request: CanUseTool) -> Vec<Effect> {
        let ask = Ask::new(request);
        if self.closing {
            return vec![Effect::Answer(id, Box::new(ask.refusal()))];
        }
        self.asks.push_back((id, ask));
        if self.asks.len() > 1 {
            Vec::new()
        } else {
            self.show_ask()
        }
    }

    fn on_withdrawn(&mut self, id: AskId) -> Vec<Effect> {
        let Some(place) = self.asks.iter().position(|(open, _)| *open == id) else {
            return Vec::new();
        };
        self.asks.remove(place);
        if place > 0 || self.closing {
            return Vec::new();
        }
        let mut effects = vec![show([Piece::line(
            Tone::Dim,
            "The question was withdrawn; nothing was run.",
        )])];
        effects.extend(self.show_ask());
        effects
    }

    fn on_lines_over(&mut self) -> Vec<Effect> {
        self.input_over = true;
        if self.source == Source::Terminal {
            return self.close_with(0);
        }
        if !self.asks.is_empty() {
            return self.refuse("nobody is there to ask, so it is refused");
        }
        self.go_on()
    }

    /// In a pipe: the next message, or the end.
    fn go_on(&mut self) -> Vec<Effect> {
        if self.source == Source::Terminal || self.view.is_busy() || self.closing {
            return Vec::new();
        }
        if let Some(held) = self.held.take() {
            return self.send(held);
        }
        if !self.input_over {
            return Vec::new();
        }
        if self.view.tasks().is_empty() {
            self.closing = true;
            return vec![Effect::Close];
        }
        vec![Effect::EndInput]
    }

    fn on_interrupt(&mut self) -> Vec<Effect> {
        if self.source == Source::Pipe || self.interrupting {
            return self.close_with(130);
        }
        if !self.view.is_busy() && self.asks.is_empty() {
            return self.close_with(0);
        }
        self.interrupting = true;
        vec![
            show([Piece::line(
                Tone::Dim,
                "Stopping the turn; Ctrl-C again leaves.",
            )]),
            Effect::Control(Control::Interrupt),
        ]
    }

    fn close_with(&mut self, code: u8) -> Vec<Effect> {
        if self.closing {
            return Vec::new();
        }
        self.closing = true;
        self.exit_code = self.exit_code.max(code);
        vec![Effect::Close]
    }

    fn on_message(&mut self, message: &Message) -> Vec<Effect> {
        if let Body::Result(result) = &message.body {
            self.interrupting = false;
            if self.source == Source::Pipe && result.is_error() && !was_interrupted(result) {
                self.exit_code = self.exit_code.max(1);
            }
        }
        let ended = matches!(message.body, Body::Result(_));
        let mut pieces = self.view.show(&message.body);
        if let Body::Malformed(_) = message.body {
            pieces.push(unreadable(message.raw()));
        }
        if self.closing {
            return Vec::new();
        }
        let mut effects = if pieces.is_empty() {
            Vec::new()
        } else {
            vec![Effect::Show(pieces)]
        };
        if ended {
            effects.push(show([Piece::Gap]));
            effects.extend(self.go_on());
        }
        effects
    }

    fn on_command(&mut self, command: Command) -> Vec<Effect> {
        match command {
            Command::Help => vec![
                Effect::Show(command::help(&self.offer.commands)),
                show([Piece::Gap]),
            ],
            Command::Quit => self.close_with(0),
            Command::Stop if self.view.is_busy() => {
                self.interrupting = true;
                vec![Effect::Control(Control::Interrupt)]
            }
            Command::Stop => vec![show([Piece::line(Tone::Dim, "Nothing runs.")])],
            Command::Status => vec![Effect::Show(self.status())],
            Command::Model(Some(name)) => vec![Effect::Control(Control::Model(name))],
            Command::Model(None) => vec![Effect::Show(self.models())],
            Command::Mode(Some(word)) => match command::mode(&word) {
                Some(mode) => vec![Effect::Control(Control::Mode(mode.into()))],
                None => vec![show([modes("There is no such mode.")])],
            },
            Command::Mode(None) => {
                let now = self
                    .view
                    .facts()
                    .mode
                    .as_deref()
                    .unwrap_or("not known before the first message");
                vec![show([modes(&format!("The mode is {now}."))])]
            }
        }
    }

    fn status(&self) -> Vec<Piece> {
        let facts = self.view.facts();
        let unknown = "not known before the first message";
        let row = |name: &str, value: Option<&String>| {
            let value = value.map_or(unknown, String::as_str);
            Piece::spans([(Tone::Dim, &format!("  {name:<11}")), (Tone::Plain, value)])
        };
        let mut pieces = vec![
            Piece::Gap,
            row("session", facts.session_id.as_ref()),
            row("model", facts.model.as_ref()),
            row("mode", facts.mode.as_ref()),
        ];
        pieces.extend(
            self.view
                .tasks()
                .values()
                .map(|task| row("background", Some(task))),
        );
        pieces.push(Piece::Gap);
        pieces
    }

    fn models(&self) -> Vec<Piece> {
        if self.offer.models.is_empty() {
            return vec![Piece::line(
                Tone::Dim,
                "The CLI lists no models; /model NAME takes any name.",
            )];
        }
        let rows = self.offer.models.iter();
        let rows = rows.map(|(name, what)| {
            Piece::spans([(Tone::Strong, &format!("  {name:<14}")), (Tone::Dim, what)])
        });
        std::iter::once(Piece::Gap)
            .chain(rows)
            .chain([Piece::Gap])
            .collect()
    }

    fn on_done(&mut self, control: &Control, result: Result<(), String>) -> Vec<Effect> {
        let said = match (control, result) {
            // The result of the turn tells it; without a turn nothing else would.
            (Control::Interrupt, Ok(())) => {
                self.interrupting &= self.view.is_busy();
                return Vec::new();
            }
            (Control::Model(name), Ok(())) => {
                Piece::line(Tone::Good, format!("✓ The model is now {name}."))
            }
            (Control::Mode(mode), Ok(())) => {
                let mode = mode.to_string();
                let line = Piece::line(Tone::Good, format!("✓ The permission mode is now {mode}."));
                self.view.set_mode(mode);
                line
            }
            (_, Err(error)) => {
                self.interrupting = false;
                Piece::line(Tone::Bad, format!("✗ {error}"))
            }
        };
        if self.closing {
            Vec::new()
        } else {
            vec![show([said])]
        }
    }

    fn on_gone(&mut self, how: Option<Vec<Piece>>) -> Vec<Effect> {
        let was_closing = mem::replace(&mut self.closing, true);
        self.asks.clear();
        match how {
            Some(pieces) if !was_closing => {
                self.exit_code = self.exit_code.max(1);
                vec![Effect::Show(pieces)]
            }
            None if !was_closing && !self.input_over => {
                vec![show([
                    Piece::Gap,
                    Piece::line(Tone::Dim, "Claude Code has ended."),
                ])]
            }
            Some(_) | None => Vec::new(),
        }
    }
}

fn show<const N: usize>(pieces: [Piece; N]) -> Effect {
    Effect::Show(pieces.into())
}

fn modes(before: &str) -> Piece {
    Piece::line(
        Tone::Plain,
        format!("{before} Modes: {}", super::args::MODES.join(", ")),
    )
}

#[cfg(test)]
#[path = "desk_tests.rs"]
mod tests;
