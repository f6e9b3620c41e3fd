//! The checker: from a history to the promises it breaks.
//!
//! A pure function without a clock and without files. Each module looks after one promise and knows only the history;
//! none uses the host's own machines, so a mistake there is not shared here. An empty list means that nothing was found
//! wrong; what that is worth is shown by [`crate::bugs`].

mod apps;
mod clients;
mod decisions;
mod excuses;
mod execution;
mod ledger;
mod logs;
mod messages;
mod pieces;
mod processes;
mod rule;
mod shelf;
mod subscription;
mod truth;
mod writing;

use crate::history::{Conversation, History};

pub use rule::{Invariant, Rule, Violation};

/// The calls that wait for a person, for whoever wants to know whether everything is at rest.
pub fn open_decisions(history: &History) -> Vec<String> {
    let lives = history
        .conversations
        .iter()
        .filter_map(Conversation::newest);
    let folded = lives.map(|life| ledger::Decisions::of(life.entries()));
    folded
        .flat_map(|decisions| decisions.all)
        .filter(|decision| decision.shown && decision.is_open())
        .map(|decision| decision.tool_use_id)
        .collect()
}

/// The promises that a history breaks, in the order in which they were looked at.
pub fn check(history: &History) -> Vec<Violation> {
    let mut found = Vec::new();
    for conversation in &history.conversations {
        logs::check(conversation, &mut found);
        truth::check(history, conversation, &mut found);
        decisions::check(conversation, &mut found);
        execution::check(conversation, &mut found);
        processes::check(history, conversation, &mut found);
    }
    messages::check(history, &mut found);
    clients::check(history, &mut found);
    apps::check(history, &mut found);
    shelf::check(history, &mut found);
    processes::strangers(history, &mut found);
    found
}
