//! Questions to the user: may this tool run, which of these, is this plan right.
//!
//! All three arrive as a permission request and are answered with a permission result. This module owns how they
//! look and how a typed line is understood; it holds no channel and waits for nothing.

mod choice;
mod permission;

use estelle_claude::wire::control::CanUseTool;
use estelle_claude::wire::question::ASK_USER_QUESTION;
use estelle_claude::wire::{AskUserQuestion, Json, PermissionResult};

use super::piece::Piece;
use choice::Choices;
use permission::Permission;

/// An open question.
#[derive(Debug)]
pub(crate) enum Ask {
    /// May this tool run, or is this plan right?
    Permission(Box<Permission>),
    /// Which of these?
    Choices(Choices),
}

/// What a typed line means to a question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Reply {
    /// It is the answer; the pieces confirm it.
    Settled(Box<PermissionResult>, Vec<Piece>),
    /// Part of the answer, or none: show this and ask on.
    Again(Vec<Piece>),
    /// No answer at all; at a terminal the pieces say what would be one.
    Misunderstood(Vec<Piece>),
}

impl Ask {
    /// The question a request asks.
    pub(crate) fn new(request: CanUseTool) -> Self {
        if request.tool_name == ASK_USER_QUESTION
            && let Some(questions) = AskUserQuestion::from_input(&request.input)
            && !questions.questions.is_empty()
        {
            return Self::Choices(Choices::new(questions));
        }
        Self::Permission(Box::new(Permission::new(request)))
    }

    /// The question as it is shown.
    pub(crate) fn show(&self) -> Vec<Piece> {
        match self {
            Self::Permission(permission) => permission.show(),
            Self::Choices(choices) => choices.show(),
        }
    }

    /// The question right under what it is about.
    pub(crate) fn show_below(&self) -> Vec<Piece> {
        match self {
            Self::Permission(permission) => permission.show_below(),
            Self::Choices(choices) => choices.show(),
        }
    }

    /// What the question is about.
    pub(crate) fn input(&self) -> Option<&Json> {
        match self {
            Self::Permission(permission) => Some(permission.input()),
            Self::Choices(_) => None,
        }
    }

    /// What stands before the answer.
    pub(crate) fn prompt(&self) -> &'static str {
        match self {
            Self::Permission(permission) => permission.prompt(),
            Self::Choices(_) => choice::PROMPT,
        }
    }

    /// Reads an answer.
    pub(crate) fn reply(&mut self, line: &str) -> Reply {
        match self {
            Self::Permission(permission) => permission.reply(line.trim()),
            Self::Choices(choices) => choices.reply(line.trim()),
        }
    }

    /// The answer when there is nobody to ask.
    pub(crate) fn refusal(&self) -> PermissionResult {
        match self {
            Self::Permission(_) => PermissionResult::deny("Nobody is there to allow this."),
            Self::Choices(_) => PermissionResult::deny("Nobody is there to answer questions."),
        }
    }

    /// What the question is about, in a word or two.
    pub(crate) fn subject(&self) -> &str {
        match self {
            Self::Permission(permission) => permission.tool_name(),
            Self::Choices(_) => "a question",
        }
    }
}

#[cfg(test)]
#[path = "ask_tests.rs"]
mod tests;
