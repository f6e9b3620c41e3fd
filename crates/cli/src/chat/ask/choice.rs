//! Which of these? The model's own questions, one after the other.
//!
//! A number chooses an option, several numbers several of them where that is allowed, anything else is an answer in
//! the user's own words. `=` makes a literal answer of what would otherwise be a number or a command.

use std::mem;

use estelle_claude::wire::{Answer, AskUserQuestion, PermissionResult, Question};

use super::Reply;
use crate::chat::piece::{Piece, Tone};

/// What stands before the answer.
pub(super) const PROMPT: &str = "Answer › ";

/// Questions, and the answers so far.
#[derive(Debug)]
pub(crate) struct Choices {
    questions: AskUserQuestion,
    answers: Vec<(String, Answer)>,
}

impl Choices {
    pub(super) fn new(questions: AskUserQuestion) -> Self {
        Self {
            questions,
            answers: Vec::new(),
        }
    }

    pub(super) fn show(&self) -> Vec<Piece> {
        let all = &self.questions.questions;
        let Some(question) = all.get(self.answers.len()) else {
            return Vec::new();
        };
        let number = if all.len() > 1 {
            format!("{} of {}: ", self.answers.len() + 1, all.len())
        } else {
            String::new()
        };
        let mut pieces = vec![
            Piece::Gap,
            Piece::spans([
                (Tone::Ask, "? "),
                (Tone::Dim, &number),
                (Tone::Strong, &question.question),
            ]),
        ];
        for (index, option) in question.options.iter().enumerate() {
            let number = format!("  {}  ", index + 1);
            let about = option
                .description
                .as_deref()
                .filter(|about| !about.is_empty());
            let about = about.map_or(String::new(), |about| format!("  {about}"));
            pieces.push(Piece::spans([
                (Tone::Strong, &number),
                (Tone::Plain, &option.label),
                (Tone::Dim, &about),
            ]));
            let preview = option.preview.iter().flat_map(|preview| preview.lines());
            pieces.extend(preview.map(|line| Piece::line(Tone::Dim, format!("       {line}"))));
        }
        let how = if question.multi_select == Some(true) {
            "  Numbers with commas between them, or your own words; /skip to give no answer."
        } else {
            "  A number, or your own words; /skip to give no answer."
        };
        pieces.push(Piece::line(Tone::Dim, how));
        pieces
    }

    pub(super) fn reply(&mut self, line: &str) -> Reply {
        let Some(question) = self.questions.questions.get(self.answers.len()) else {
            return skipped();
        };
        if line == "/skip" {
            return skipped();
        }
        if line.is_empty() {
            return Reply::Misunderstood(vec![Piece::line(
                Tone::Dim,
                "Type a number, your own words, or /skip.",
            )]);
        }
        match choose(question, line) {
            Ok(answer) => {
                let note = Piece::spans([(Tone::Good, "✓ "), (Tone::Plain, &answer.as_text())]);
                self.answers.push((question.question.clone(), answer));
                self.answered(note)
            }
            Err(problem) => Reply::Misunderstood(vec![Piece::line(Tone::Dim, problem)]),
        }
    }

    fn answered(&mut self, note: Piece) -> Reply {
        if self.answers.len() < self.questions.questions.len() {
            let mut pieces = vec![note];
            pieces.extend(self.show());
            return Reply::Again(pieces);
        }
        let answers = mem::take(&mut self.answers);
        match self.questions.clone().answered(answers) {
            Ok(result) => Reply::Settled(Box::new(result), vec![note]),
            Err(_) => skipped(),
        }
    }
}

fn skipped() -> Reply {
    let result = PermissionResult::deny("The user did not want to answer.");
    Reply::Settled(Box::new(result), vec![Piece::line(Tone::Dim, "Skipped.")])
}

/// The answer a line stands for.
fn choose(question: &Question, line: &str) -> Result<Answer, String> {
    if let Some(literal) = line.strip_prefix('=') {
        return Ok(literal.trim().into());
    }
    let several = question.multi_select == Some(true);
    let parts: Vec<&str> = if several {
        line.split([',', ' '])
            .filter(|part| !part.is_empty())
            .collect()
    } else {
        vec![line]
    };
    let numbers: Option<Vec<usize>> = parts.iter().map(|part| part.parse().ok()).collect();
    let Some(numbers) = numbers.filter(|numbers| !numbers.is_empty()) else {
        return Ok(line.into());
    };
    let mut labels = Vec::new();
    for number in numbers {
        let option = number
            .checked_sub(1)
            .and_then(|index| question.options.get(index));
        let option = option.ok_or_else(|| {
            format!("There is no option {number}; ={line} gives the number itself.")
        })?;
        if !labels.contains(&option.label) {
            labels.push(option.label.clone());
        }
    }
    match (several, labels.pop()) {
        (false, Some(label)) => Ok(label.into()),
        (_, last) => {
            labels.extend(last);
            Ok(labels.into())
        }
    }
}
