//! The `AskUserQuestion` tool: questions the model asks a person, and the answers.
//!
//! The questions come as the input of an ordinary permission request; the answer is an allow whose input has an
//! `answers` map added, from the question's text to the chosen label or free text.

use std::collections::BTreeMap;

use super::json::Json;
use super::permission::PermissionResult;

/// The name of the tool.
pub const ASK_USER_QUESTION: &str = "AskUserQuestion";

/// The name of the tool that ends the plan mode; also an ordinary permission request.
pub const EXIT_PLAN_MODE: &str = "ExitPlanMode";

wire_struct! {
    /// The input of the tool.
    pub struct AskUserQuestion {
        required { questions: Vec<Question> }
        optional { answers: BTreeMap<String, Answer>, metadata: Json }
    }
}

wire_struct! {
    /// One question.
    pub struct Question {
        required { question: String, options: Vec<QuestionOption> }
        optional {
            header: String,
            "multiSelect" => multi_select: bool,
        }
    }
}

wire_struct! {
    /// One of the offered answers.
    pub struct QuestionOption {
        required { label: String }
        optional { description: String, preview: String }
    }
}

/// An answer: a label or free text, or several labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// One label, or free text.
    One(String),
    /// Several labels. Sent joined by commas, the form every CLI takes.
    Many(Vec<String>),
}

impl super::Wire for Answer {
    fn read(
        cursor: &mut super::Cursor<'_>,
        diagnostics: &mut super::Diagnostics,
    ) -> Result<Self, super::Diagnostic> {
        if cursor.peek() == b'[' {
            return Vec::read(cursor, diagnostics).map(Self::Many);
        }
        String::read(cursor, diagnostics).map(Self::One)
    }

    fn write<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::One(text) => text.write(serializer),
            Self::Many(labels) => labels.write(serializer),
        }
    }
}

impl Answer {
    /// The text as the CLI takes it.
    pub fn as_text(&self) -> String {
        match self {
            Self::One(text) => text.clone(),
            Self::Many(labels) => labels.join(", "),
        }
    }
}

impl From<&str> for Answer {
    fn from(text: &str) -> Self {
        Self::One(text.to_owned())
    }
}

impl From<String> for Answer {
    fn from(text: String) -> Self {
        Self::One(text)
    }
}

impl From<Vec<String>> for Answer {
    fn from(labels: Vec<String>) -> Self {
        Self::Many(labels)
    }
}

impl AskUserQuestion {
    /// Reads the input of a permission request for the tool.
    pub fn from_input(input: &Json) -> Option<Self> {
        input.wire().ok().map(|(questions, _)| questions)
    }

    /// The answer to the permission request: the questions as they came, with the answers by question text.
    pub fn answered(
        mut self,
        answers: impl IntoIterator<Item = (String, Answer)>,
    ) -> Result<PermissionResult, serde_json::Error> {
        let answers = answers
            .into_iter()
            .map(|(question, answer)| (question, Answer::One(answer.as_text())));
        self.answers = Some(answers.collect());
        Json::of(&self).map(PermissionResult::allow)
    }
}
