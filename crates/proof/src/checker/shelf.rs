//! The rows of history: one for each event that people read of, in order, in the Pylon's database and in every page.
//!
//! Which event makes which row is said here once more, so that a mistake of the Pylon is not shared. What a row says is
//! compared with the event, and all rows together with what the CLI itself says it printed.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function looks at a few kinds and leaves the others alone"
)]

use estelle_proto::decisions::DecisionState;
use estelle_proto::events::ClaudeEvent;
use estelle_proto::history::{HistoryMessage, Role};

use super::rule::{Rule, Violation};
use crate::history::{
    ChainedEvent, Conversation, End, Fact, History, Shelf, ShelfRow, Witness, witness,
};

pub(super) fn check(history: &History, found: &mut Vec<Violation>) {
    for shelf in &history.shelves {
        let mut report = |rule, detail: String| {
            let detail = format!("row of {}: {detail}", shelf.conversation);
            found.push(Violation::new(rule, detail));
        };
        let Some(conversation) = history.conversation(&shelf.conversation) else {
            if !shelf.rows.is_empty() {
                report(Rule::RowInvented, "no such conversation".to_owned());
            }
            continue;
        };
        kept(history, conversation, shelf, &mut report);
    }
}

fn kept(
    history: &History,
    conversation: &Conversation,
    shelf: &Shelf,
    report: &mut impl FnMut(Rule, String),
) {
    let at_rest = history.end == End::AtRest;
    let newest = conversation.newest();
    let head = newest.map_or(0, |life| life.events().len() as u64);
    let same = newest.and_then(crate::history::Life::epoch) == shelf.epoch;
    if at_rest && head > 0 && (!same || shelf.seq.0 < head) {
        let detail = format!("{} of {head}, epoch {:?}", shelf.seq, shelf.epoch);
        report(Rule::RowBehind, detail);
    }
    let mut lives = conversation.lives.iter();
    let Some(life) = lives.find(|life| life.epoch() == shelf.epoch) else {
        if !shelf.rows.is_empty() {
            report(Rule::RowInvented, format!("epoch {:?}", shelf.epoch));
        }
        return;
    };
    if let Some(row) = shelf.rows.iter().find(|row| Some(row.epoch) != shelf.epoch) {
        report(
            Rule::RowInvented,
            format!("{} of epoch {}", row.seq, row.epoch),
        );
    }
    let rows: Vec<(u64, &HistoryMessage)> = numbered(&shelf.rows);
    compare(&life.events(), 0, shelf.seq.0, &rows, report);
    if at_rest && same && conversation.lives.len() == 1 {
        printed(history, conversation, &shelf.rows, report);
    }
}

fn numbered(rows: &[ShelfRow]) -> Vec<(u64, &HistoryMessage)> {
    let rows = rows.iter();
    rows.map(|row| (row.seq.0, &row.message)).collect()
}

/// Holds rows against the events behind `from` up to `to`: each has its row, once and in order.
pub(super) fn compare(
    events: &[ChainedEvent<'_>],
    from: u64,
    to: u64,
    rows: &[(u64, &HistoryMessage)],
    report: &mut impl FnMut(Rule, String),
) {
    let mut last = from;
    for (seq, message) in rows {
        if *seq <= last {
            report(Rule::RowDoubled, format!("{seq} after {last}"));
        }
        last = (*seq).max(last);
        let event = seq
            .checked_sub(1)
            .and_then(|at| usize::try_from(at).ok())
            .and_then(|at| events.get(at));
        match event {
            Some(event) if *seq <= to => {
                if !tells(message, event.event) {
                    report(Rule::RowChanged, format!("{seq}: {message:?}"));
                }
            }
            Some(_) | None => report(Rule::RowInvented, format!("{seq}")),
        }
    }
    for event in events {
        let seq = event.seq.0;
        let wanted = seq > from && seq <= to && must_be_told(event.event);
        if wanted && !rows.iter().any(|(number, _)| *number == seq) {
            report(Rule::RowLost, format!("{seq}: {:?}", event.event));
        }
    }
}

/// Whether people read of an event later.
fn must_be_told(event: &ClaudeEvent) -> bool {
    match event {
        ClaudeEvent::UserMessage(_)
        | ClaudeEvent::TextComplete(_)
        | ClaudeEvent::ThinkingComplete(_)
        | ClaudeEvent::ToolInfo(_)
        | ClaudeEvent::ToolComplete(_)
        | ClaudeEvent::Result(_)
        | ClaudeEvent::Error(_)
        | ClaudeEvent::Aborted(_)
        | ClaudeEvent::SessionReset(_)
        | ClaudeEvent::Rewound(_)
        | ClaudeEvent::JournalDamage(_)
        | ClaudeEvent::Remark(_) => true,
        ClaudeEvent::DecisionAnswered(answered) => matches!(
            answered.state,
            DecisionState::Answered | DecisionState::Void
        ),
        _ => false,
    }
}

/// Whether a row tells of an event. What is cut in a row is known by its call.
fn tells(message: &HistoryMessage, event: &ClaudeEvent) -> bool {
    match (message, event) {
        (HistoryMessage::Text(row), ClaudeEvent::UserMessage(said)) => {
            row.role == Role::User && row.content == said.content
        }
        (HistoryMessage::Text(row), ClaudeEvent::TextComplete(said)) => {
            row.role == Role::Assistant
                && row.content == said.text
                && row.parent_tool_use_id == said.parent_tool_use_id
        }
        (HistoryMessage::Thinking(row), ClaudeEvent::ThinkingComplete(thought)) => {
            row.content == thought.text
        }
        (HistoryMessage::ToolStart(row), ClaudeEvent::ToolInfo(call)) => {
            row.tool_name == call.tool_name && row.tool_use_id == call.tool_use_id
        }
        (HistoryMessage::ToolComplete(row), ClaudeEvent::ToolComplete(call)) => {
            row.success == call.success && row.tool_use_id == call.tool_use_id
        }
        (HistoryMessage::TurnResult(row), ClaudeEvent::Result(result)) => {
            row.subtype.as_ref() == Some(&result.subtype) && row.duration_ms == result.duration_ms
        }
        (HistoryMessage::Error(row), ClaudeEvent::Error(failure)) => row.content == failure.error,
        (HistoryMessage::Aborted(row), ClaudeEvent::Aborted(aborted)) => {
            row.reason == aborted.reason
        }
        (HistoryMessage::UserResponse(row), ClaudeEvent::DecisionAnswered(answered)) => {
            row.tool_use_id == answered.tool_use_id
        }
        (HistoryMessage::ToolStart(row), ClaudeEvent::QuestionAsked(asked)) => {
            row.tool_use_id.as_ref() == Some(&asked.tool_use_id)
        }
        (HistoryMessage::System(row), ClaudeEvent::Remark(said)) => row.content == said.text,
        (
            HistoryMessage::System(_),
            ClaudeEvent::PermissionAsked(_)
            | ClaudeEvent::SessionReset(_)
            | ClaudeEvent::Rewound(_)
            | ClaudeEvent::JournalDamage(_)
            | ClaudeEvent::Task(_)
            | ClaudeEvent::Paused(_)
            | ClaudeEvent::Resumed(_),
        ) => true,
        _ => false,
    }
}

/// All that the CLI says it printed stands in the rows, in its order.
fn printed(
    history: &History,
    conversation: &Conversation,
    rows: &[ShelfRow],
    report: &mut impl FnMut(Rule, String),
) {
    // A process that was killed may not have got its last line out.
    let Some(truth) = conversation.truth.as_ref() else {
        return;
    };
    let is_killed =
        |fact: &Fact| matches!(fact, Fact::Began { pid, .. } if history.killed.contains(pid));
    if truth.iter().any(is_killed) {
        return;
    }
    let lines = truth.iter().filter_map(|fact| match fact {
        Fact::Printed(line) => Some(witness(line)),
        _ => None,
    });
    let printed: Vec<Told> = lines.flatten().map(|witness| told(&witness)).collect();
    let kept: Vec<Told> = rows
        .iter()
        .filter_map(|row| told_by(&row.message))
        .collect();
    let same = printed
        .iter()
        .zip(&kept)
        .take_while(|(a, b)| a == b)
        .count();
    if let Some(lost) = printed.get(same) {
        report(Rule::RowLost, format!("the CLI printed {lost:?}"));
    } else if let Some(more) = kept.get(same) {
        report(Rule::RowInvented, format!("the CLI never printed {more:?}"));
    }
}

/// What both a line of the CLI and a row tell.
#[derive(Debug, PartialEq, Eq)]
enum Told {
    Text(String),
    Call(String),
    Return(String, bool),
    Outcome(String),
}

fn told(witness: &Witness) -> Told {
    match witness {
        Witness::Text { text, .. } => Told::Text(text.clone()),
        Witness::Call { id, .. } => Told::Call(id.clone()),
        Witness::Return { id, failed } => Told::Return(id.clone(), *failed),
        Witness::Outcome { subtype } => Told::Outcome(subtype.clone()),
    }
}

fn told_by(message: &HistoryMessage) -> Option<Told> {
    match message {
        HistoryMessage::Text(row) if row.role == Role::Assistant => {
            Some(Told::Text(row.content.clone()))
        }
        HistoryMessage::ToolStart(row) => Some(Told::Call(row.tool_use_id.as_ref()?.to_string())),
        HistoryMessage::ToolComplete(row) => {
            let id = row.tool_use_id.as_ref()?.to_string();
            Some(Told::Return(id, !row.success))
        }
        HistoryMessage::TurnResult(row) => Some(Told::Outcome(row.subtype.clone()?)),
        _ => None,
    }
}
