//! Nothing runs without exactly one allow: told by the CLI itself and by the marks on the disk.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function looks at a few kinds and leaves the others alone"
)]

use std::collections::{BTreeMap, BTreeSet};

use super::rule::{Rule, Violation};
use crate::history::{Answer, Conversation, Fact};

/// The tool whose answer becomes part of its input.
const QUESTION: &str = "AskUserQuestion";

/// How far a call is.
#[derive(Debug, Default)]
struct Call<'a> {
    requests: Vec<&'a str>,
    /// The checksum of what was asked; none where an answer adds to it.
    input: Option<&'a str>,
    runs: usize,
}

pub(super) fn check(conversation: &Conversation, found: &mut Vec<Violation>) {
    let Some(truth) = &conversation.truth else {
        return;
    };
    let mut report = |rule, detail: &str| {
        found.push(Violation::new(
            rule,
            format!("{}: {detail}", conversation.id),
        ));
    };
    let mut calls: BTreeMap<&str, Call<'_>> = BTreeMap::new();
    let mut allowed: BTreeSet<&str> = BTreeSet::new();
    for fact in truth {
        match fact {
            Fact::Asked {
                request_id,
                tool_use_id,
                tool,
                input,
            } => {
                let call = calls.entry(tool_use_id).or_default();
                call.requests.push(request_id);
                call.input = (tool != QUESTION).then_some(input);
            }
            Fact::Answered {
                request_id,
                answer: Answer::Taken(word),
            } if word == "allow" => {
                allowed.insert(request_id);
            }
            Fact::Ran { tool_use_id, input } => {
                let call = calls.entry(tool_use_id).or_default();
                call.runs += 1;
                ran(tool_use_id, call, &allowed, &mut report);
                if call.input.is_some_and(|asked| asked != input) {
                    report(Rule::RanOtherInput, tool_use_id);
                }
            }
            Fact::RanAgain { tool_use_id } => report(Rule::RanTwice, tool_use_id),
            _ => {}
        }
    }
    for marker in &conversation.markers {
        if calls.get(marker.as_str()).is_none_or(|call| call.runs == 0) {
            report(Rule::MarkWithoutRun, marker);
        }
    }
}

fn ran(id: &str, call: &Call<'_>, allowed: &BTreeSet<&str>, report: &mut impl FnMut(Rule, &str)) {
    if call.requests.is_empty() {
        report(Rule::RanUnasked, id);
        return;
    }
    if !call
        .requests
        .iter()
        .any(|request| allowed.contains(request))
    {
        report(Rule::RanWithoutAllow, id);
    }
    if call.runs > 1 {
        report(Rule::RanTwice, id);
    }
}
