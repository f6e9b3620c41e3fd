//! Processes: each belongs to a living run, each living run has one, and none ended unless somebody wanted it.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function looks at a few kinds and leaves the others alone"
)]

use std::collections::BTreeSet;

use estelle_proto::Generation;
use estelle_state::conversation::{Record, RunExit};

use super::rule::{Rule, Violation};
use crate::history::{Conversation, End, Fact, History, Life, Role};

pub(super) fn check(history: &History, conversation: &Conversation, found: &mut Vec<Violation>) {
    let mut report = |rule, detail: String| {
        found.push(Violation::new(
            rule,
            format!("{}: {detail}", conversation.id),
        ));
    };
    if let Some(truth) = &conversation.truth {
        started(conversation, truth, history.end, &mut report);
    }
    ended(history, conversation, &mut report);
    present(history, conversation, &mut report);
}

/// Each process that began is one that the log knows, and began once.
fn started(
    conversation: &Conversation,
    truth: &[Fact],
    end: End,
    report: &mut impl FnMut(Rule, String),
) {
    let mut known: BTreeSet<(u32, u64)> = BTreeSet::new();
    for record in conversation.lives.iter().flat_map(Life::facts) {
        if let Record::Started {
            pid, start_ticks, ..
        } = record
        {
            known.insert((*pid, *start_ticks));
        }
    }
    let mut began = BTreeSet::new();
    for fact in truth {
        let Fact::Began { pid, start_ticks } = fact else {
            continue;
        };
        let process = (*pid, *start_ticks);
        let unknown = end == End::AtRest && !known.contains(&process);
        if unknown || !began.insert(process) {
            report(Rule::StartedTwice, format!("process {process:?}"));
        }
    }
}

/// A run that ended was stopped, was killed by somebody else, or ended itself as its script says.
fn ended(history: &History, conversation: &Conversation, report: &mut impl FnMut(Rule, String)) {
    for life in &conversation.lives {
        let mut stopping: BTreeSet<Generation> = BTreeSet::new();
        for record in life.facts() {
            match record {
                Record::Stopping { generation, .. } => {
                    stopping.insert(*generation);
                }
                Record::Ended {
                    generation, exit, ..
                } => {
                    let killed = life
                        .process(*generation)
                        .is_some_and(|(pid, _)| history.killed.contains(&pid));
                    let own = matches!(exit, RunExit::Code { .. } | RunExit::NeverStarted { .. });
                    if !stopping.contains(generation) && !killed && !own {
                        report(
                            Rule::EndedByAccident,
                            format!("run {generation} ended with {exit:?}"),
                        );
                    }
                }
                _ => {}
            }
        }
    }
}

/// The run that lives according to the log has its process.
fn present(history: &History, conversation: &Conversation, report: &mut impl FnMut(Rule, String)) {
    if history.end != End::AtRest {
        return;
    }
    let Some((generation, pid)) = living(conversation) else {
        return;
    };
    let there = history
        .processes
        .iter()
        .any(|process| process.role == Role::Cli && process.pid == pid);
    if !there {
        report(
            Rule::ProcessMissing,
            format!("run {generation} should live as {pid}"),
        );
    }
}

/// The run that lives, with its pid.
fn living(conversation: &Conversation) -> Option<(Generation, u32)> {
    let mut living = None;
    for record in conversation.newest()?.facts() {
        match record {
            Record::Started {
                generation, pid, ..
            } => living = Some((*generation, *pid)),
            Record::Ended { .. } => living = None,
            _ => {}
        }
    }
    living
}

/// Processes that belong to no living run.
pub(super) fn strangers(history: &History, found: &mut Vec<Violation>) {
    if history.end != End::AtRest {
        return;
    }
    for process in &history.processes {
        let conversation = history
            .conversations
            .iter()
            .find(|conversation| conversation.id.as_str() == process.conversation);
        let run = conversation.and_then(living);
        let belongs = run.is_some_and(|(generation, pid)| {
            let same = generation.0 == process.generation;
            same && (process.role != Role::Cli || process.pid == pid)
        });
        if !belongs {
            let detail = format!(
                "{:?} {} of run {} of {}",
                process.role, process.pid, process.generation, process.conversation
            );
            found.push(Violation::new(Rule::Orphan, detail));
        }
    }
}
