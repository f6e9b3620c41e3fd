//! Open questions: shown one at a time, answered, refused or withdrawn.
//!
//! At a terminal a line that is no answer is asked for again. In a pipe it refuses the question and stays a message,
//! and so does the end of the input: nothing is ever allowed by accident, and nothing waits for ever.

use estelle_claude::wire::control::CanUseTool;

use super::{AskId, Desk, Effect, Source, show};
use crate::chat::ask::{Ask, Reply};
use crate::chat::piece::{Piece, Tone};

impl Desk {
    pub(super) fn on_answer(&mut self, line: String) -> Vec<Effect> {
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
    pub(super) fn refuse(&mut self, why: &str) -> Vec<Effect> {
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

    pub(super) fn show_ask(&mut self) -> Vec<Effect> {
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

    pub(super) fn on_asked(&mut self, id: AskId, request: CanUseTool) -> Vec<Effect> {
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

    pub(super) fn on_withdrawn(&mut self, id: AskId) -> Vec<Effect> {
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
}
