//! The commands of the conversation, and how the CLI took the requests they made.

use super::{Control, Desk, Effect, show};
use crate::chat::args::MODES;
use crate::chat::command::{self, Command};
use crate::chat::piece::{Piece, Tone};

impl Desk {
    pub(super) fn on_command(&mut self, command: Command) -> Vec<Effect> {
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

    pub(super) fn on_done(&mut self, control: &Control, result: Result<(), String>) -> Vec<Effect> {
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
}

fn modes(before: &str) -> Piece {
    Piece::line(Tone::Plain, format!("{before} Modes: {}", MODES.join(", ")))
}
