//! Where a conversation stands in its script.
//!
//! The script of the newest prompt counts; each finished answer moves one step on. A prompt without a script gets the plain
//! answer, or what the demo agent makes of its words.

use std::collections::BTreeMap;

use crate::script::{
    Answer, HttpError, PLAIN_ANSWER, Response, SCRIPT_END, Script, Step, recovered, unreadable,
};

/// What the model does next.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Next {
    /// It plays a step.
    Step(Step),
    /// It says this.
    Say(String),
    /// The API refuses.
    Error(HttpError),
}

/// A script and how much of it was played.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cursor {
    script: Option<Script>,
    answered: usize,
    errors_given: BTreeMap<usize, u32>,
    unreadable: Option<String>,
}

impl Cursor {
    /// Reads a new prompt.
    pub(crate) fn read(prompt: &str, plain: bool) -> Self {
        match Script::find(prompt) {
            Some(Ok(script)) => Self {
                script: Some(script),
                ..Self::default()
            },
            Some(Err(error)) => Self {
                unreadable: Some(unreadable(&error)),
                ..Self::default()
            },
            None => Self {
                script: (!plain).then(|| super::demo::script(prompt)),
                ..Self::default()
            },
        }
    }

    /// What answers the next request.
    pub(crate) fn next(&mut self) -> Next {
        if let Some(text) = &self.unreadable {
            return Next::Say(text.clone());
        }
        let Some(script) = &self.script else {
            let text = if self.answered == 0 {
                PLAIN_ANSWER
            } else {
                SCRIPT_END
            };
            return Next::Say(text.to_owned());
        };
        let planned = script.plan(self.answered);
        for (index, error) in planned.errors_first {
            let given = self.errors_given.entry(index).or_default();
            if *given < error.times.unwrap_or(u32::MAX) {
                *given += 1;
                return Next::Error(error.clone());
            }
        }
        match planned.response {
            Response::Step(_, step) => match &step.action {
                crate::script::Action::Http(error) => Next::Error(error.clone()),
                crate::script::Action::Answer(_)
                | crate::script::Action::Malformed(_)
                | crate::script::Action::Mischief(_) => Next::Step(step.clone()),
            },
            Response::Recovered(times) => Next::Say(recovered(times)),
            Response::End => Next::Say(SCRIPT_END.to_owned()),
        }
    }

    /// One answer was given.
    pub(crate) fn advance(&mut self) {
        self.answered += 1;
    }
}

/// A text answer with nothing special about it.
pub(crate) fn plain_answer(text: &str) -> Answer {
    Answer {
        say: Some(text.to_owned()),
        ..Answer::default()
    }
}
