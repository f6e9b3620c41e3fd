//! What to send for one request: an answer, an API error or a broken stream.
//!
//! It turns a [`Conversation`] into a [`Reply`] and counts how often an error with `times` has been given. It knows no
//! HTTP; a reply is the same whether the request streams or not.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use super::conversation::{Conversation, Kind};
use crate::script::{
    self, Action, Answer, Gate, HttpError, PLAIN_ANSWER, Response, SCRIPT_END, Script,
};

/// Counters of errors that are kept; the oldest is forgotten first.
const MAX_COUNTERS: usize = 1024;
const SUMMARY: &str = "<summary>\nA conversation with a scripted stand-in.\n</summary>";
const TITLE: &str = r#"{"title": "Scripted conversation"}"#;

/// What one request gets.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reply {
    pub(super) body: Body,
    pub(super) gate: Option<Gate>,
}

/// The content of a reply.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Body {
    Answer(Answer),
    Error(HttpError),
    Malformed(String),
}

/// How often each error with `times` has been given.
#[derive(Debug, Default)]
pub(super) struct Retries(Mutex<VecDeque<(u64, u32)>>);

impl Retries {
    /// Whether the error of this step is still to be given to this prompt; counts it if so.
    fn take(&self, prompt: u64, step: usize, times: u32) -> bool {
        let key = super::scramble(prompt ^ step as u64);
        let mut counters = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, given)) = counters.iter_mut().find(|(counted, _)| *counted == key) {
            let due = *given < times;
            *given += u32::from(due);
            return due;
        }
        if counters.len() >= MAX_COUNTERS {
            counters.pop_front();
        }
        counters.push_back((key, times.min(1)));
        times > 0
    }
}

/// Decides what a conversation gets.
pub(super) fn decide(conversation: &Conversation, retries: &Retries) -> Reply {
    match conversation.kind {
        Kind::Turn => match &conversation.script {
            Some(Ok(script)) => play(script, conversation, retries),
            Some(Err(error)) => plain(script::unreadable(error)),
            None => plain(PLAIN_ANSWER),
        },
        Kind::Summary => plain(SUMMARY),
        Kind::Title => plain(TITLE),
        Kind::SideQuestion | Kind::Probe => plain(PLAIN_ANSWER),
    }
}

fn play(script: &Script, conversation: &Conversation, retries: &Retries) -> Reply {
    let plan = script.plan(conversation.answered);
    for (index, error) in plan.errors_first {
        if retries.take(conversation.key, index, error.times.unwrap_or(0)) {
            let gate = script.steps.get(index).and_then(|step| step.gate.clone());
            return Reply {
                body: Body::Error(error.clone()),
                gate,
            };
        }
    }
    match plan.response {
        Response::End => plain(SCRIPT_END),
        Response::Recovered(times) => plain(script::recovered(times)),
        Response::Step(_, step) => {
            let body = match &step.action {
                Action::Answer(answer) => Body::Answer(answer.clone()),
                Action::Http(error) => Body::Error(error.clone()),
                Action::Malformed(raw) => Body::Malformed(raw.clone()),
                Action::Mischief(_) => {
                    say("[only the simulated CLI can play this step]".to_owned())
                }
            };
            Reply {
                body,
                gate: step.gate.clone(),
            }
        }
    }
}

fn plain(text: impl Into<String>) -> Reply {
    Reply {
        body: say(text.into()),
        gate: None,
    }
}

fn say(text: String) -> Body {
    Body::Answer(Answer {
        say: Some(text),
        ..Answer::default()
    })
}
