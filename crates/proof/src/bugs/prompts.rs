//! Faults with who is shown a prompt.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function looks at a few kinds and leaves the others alone"
)]

use estelle_proto::events::ClaudeEvent;

use super::Bug;
use super::apps::{event, nth, numbered};
use crate::checker::Rule;
use crate::history::{AppStep, History, Part};

pub(super) const BUGS: &[Bug] = &[Bug {
    name: "an app hears of an answer and was never shown the prompt",
    rule: Rule::PromptUnseen,
    plant: |history: &mut History, place| {
        let (app, at) = nth(history, place, |steps, at| card(steps, at).map(|_| ()))?;
        let steps = &mut history.apps[app].steps;
        let call = answer(&steps[at])?.to_owned();
        let from = since(steps, at, |step| {
            matches!(step, AppStep::Connected | AppStep::Lost)
        });
        let mut number = 0;
        steps.retain(|step| {
            let here = number;
            number += 1;
            !(from..at).contains(&here) || prompt(step) != Some(call.as_str())
        });
        Some(())
    },
}];

/// The prompt that an app was shown before it heard of its answer, behind something else that it heard.
fn card(steps: &[AppStep], at: usize) -> Option<usize> {
    let call = answer(&steps[at])?;
    let id = &event(&steps[at])?.conversation_id;
    let from = since(steps, at, |step| {
        matches!(
            step,
            AppStep::Connected | AppStep::Lost | AppStep::Died(Part::Pylon)
        )
    });
    let is_here = |at: &usize| numbered(&steps[*at]).is_some_and(|one| one.conversation_id == *id);
    let first = (from..at).find(is_here)?;
    let mut behind = (first + 1..at).filter(is_here);
    behind.find(|at| prompt(&steps[*at]) == Some(call))
}

/// The step behind the last one that fits.
fn since(steps: &[AppStep], at: usize, fits: impl Fn(&AppStep) -> bool) -> usize {
    let last = steps[..at].iter().rposition(fits);
    last.map_or(0, |last| last + 1)
}

fn answer(step: &AppStep) -> Option<&str> {
    match &numbered(step)?.event {
        ClaudeEvent::DecisionAnswered(answered) => Some(answered.tool_use_id.as_str()),
        _ => None,
    }
}

fn prompt(step: &AppStep) -> Option<&str> {
    match &event(step)?.event {
        ClaudeEvent::PermissionAsked(asked) => Some(asked.tool_use_id.as_str()),
        ClaudeEvent::QuestionAsked(asked) => Some(asked.tool_use_id.as_str()),
        _ => None,
    }
}
