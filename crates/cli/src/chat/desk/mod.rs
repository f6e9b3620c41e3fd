//! The machine between the user, the CLI and the screen.
//!
//! Everything that happens comes in as an [`Input`]; what is to be done comes out as [`Effect`]s. It knows which
//! questions are open, whether a turn runs and whether the conversation is ending; it owns no channel, no clock and
//! no process, so every rule of the conversation can be tested without any.

mod commands;
mod questions;

use std::collections::VecDeque;
use std::mem;

use estelle_claude::wire::control::CanUseTool;
use estelle_claude::wire::{Body, Malformed, Message, PermissionMode, PermissionResult};

use super::ask::Ask;
use super::command;
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

/// The longest line a terminal hands over; it drops the rest without a word.
const TERMINAL_LINE_BYTES: usize = 4095;

/// Whether the terminal has dropped the end of a line; several lines come together when they are pasted.
fn was_cut(lines: &str) -> bool {
    let mut lines = lines.split('\n');
    lines.any(|line| line.len() >= TERMINAL_LINE_BYTES)
}

/// What Ctrl-C does when nothing runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CtrlC {
    /// It says that the next one leaves.
    Warns,
    /// It leaves: that was said, and nothing was typed since.
    Leaves,
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
    at_prompt: CtrlC,
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
            at_prompt: CtrlC::Warns,
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
        self.at_prompt = CtrlC::Warns;
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
        if self.source == Source::Terminal && was_cut(&line) {
            let note = "The terminal passes on only the first 4095 bytes of a line, so this was not sent. \
                        Break it into lines that end in \\.";
            return vec![show([Piece::line(Tone::Bad, note)])];
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
        let at_prompt = mem::replace(&mut self.at_prompt, CtrlC::Leaves);
        if !self.view.is_busy() && self.asks.is_empty() {
            if at_prompt == CtrlC::Leaves {
                return self.close_with(0);
            }
            // The terminal has dropped what was typed, unseen by us: somebody may have meant just that.
            self.begun.clear();
            let note = "Ctrl-C again leaves; so does Ctrl-D.";
            return vec![show([Piece::line(Tone::Dim, note)])];
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
        if let Body::Malformed(malformed) = &message.body
            && *malformed != Malformed::Blank
        {
            pieces.push(unreadable(message.raw(), malformed));
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

#[cfg(test)]
#[path = "desk_tests.rs"]
mod tests;
