//! How a turn ended, and what it cost.
//!
//! The CLI's cost is a sum; ours is that of the turn, so that adding up results is right. Several results may come for one
//! message, and some without any. 2.1.197 sums over its process, 2.1.325 over its session, whatever processes it had: so
//! its own account since the result before is taken where there is one, and the difference to the sums before elsewhere.

use std::collections::BTreeMap;

use estelle_claude::wire::result::TerminalReason;
use estelle_claude::wire::usage::SessionUsage;
use estelle_claude::wire::{ModelUsage, ResultMessage, Usage as WireUsage};
use estelle_proto::Generation;
use estelle_proto::events::{ClaudeEvent, ErrorEvent, ModelShare, TurnResult, Usage};
use estelle_state::conversation::{MessageId, Run, Seen, Spent, Totals};

use super::plan::Why;

/// The sums that the next result is held against.
#[derive(Debug, Default)]
pub(super) struct Costs {
    before: Before,
}

#[derive(Debug, Default)]
enum Before {
    /// Nothing was used before.
    #[default]
    Nothing,
    /// The process has said so.
    Said(Totals),
    /// The process before it has said so, and this one may count on from there.
    Perhaps(Totals),
}

/// How a line begins that the CLI prints for those who build it.
const DIAGNOSTIC: &str = "[ede_diagnostic]";

/// What the CLI says when the session to take up does not exist, in the words of its versions so far and those that a later
/// one may choose. Whatever else goes wrong at a start must not be taken for it: it would cost the history.
const NO_SESSION: [&str; 6] = [
    "no conversation found",
    "no session found",
    "conversation not found",
    "session not found",
    "conversation does not exist",
    "session does not exist",
];

/// The end of a turn, as a fact.
pub(super) fn ended(result: &ResultMessage) -> Seen {
    let messages = result.user_message_uuids().iter().cloned().map(MessageId);
    Seen::TurnEnded {
        totals: totals(result),
        messages: messages.collect(),
        failed: result.is_error(),
    }
}

/// Whether a turn only says that the session to take up does not exist.
pub(super) fn is_resume_failure(result: &ResultMessage) -> bool {
    let reason = reason(result).to_lowercase();
    result.is_error() && NO_SESSION.iter().any(|words| reason.contains(words))
}

impl Costs {
    /// Of a process that the conversation knows already.
    pub(super) fn of(run: &Run) -> Self {
        let before = match (&run.totals, &run.earlier) {
            (Some(said), _) => Before::Said(said.clone()),
            (None, Some(earlier)) => Before::Perhaps(earlier.clone()),
            (None, None) => Before::Nothing,
        };
        Self { before }
    }

    /// The result, and an error beside it when the turn failed.
    pub(super) fn outcome(
        &mut self,
        result: &ResultMessage,
        generation: Generation,
        why: Option<Why>,
    ) -> Vec<ClaudeEvent> {
        let api_status = why.as_ref().and_then(|why| why.api_status);
        let cause = why.map(|why| why.cause);
        let spent = self.spent(result);
        let models: Vec<_> = spent.models.into_iter().map(share).collect();
        let turn = TurnResult {
            models: (!models.is_empty()).then_some(models),
            cause: cause.clone(),
            api_status,
            stop_reason: stop_reason(result),
            generation: Some(generation),
            ..TurnResult::new(
                subtype(result),
                duration(result),
                spent.cost,
                turns(result),
                usage(result),
            )
        };
        let mut events = vec![ClaudeEvent::Result(turn)];
        if result.is_error() {
            events.push(ClaudeEvent::Error(ErrorEvent {
                cause,
                api_status,
                ..ErrorEvent::new(reason(result))
            }));
        }
        events
    }

    /// What the turn that runs has cost, by the sums that the CLI tells in the middle of it.
    pub(super) fn so_far(&self, usage: &SessionUsage) -> f64 {
        let now = Totals {
            cost: usage.total_cost_usd.unwrap_or_default(),
            models: usage.model_usage.as_ref().map(by_model).unwrap_or_default(),
        };
        match &self.before {
            Before::Said(before) => now.since(before).cost,
            Before::Perhaps(before) if !before.models.is_empty() && now.goes_on_from(before) => {
                now.since(before).cost
            }
            Before::Nothing | Before::Perhaps(_) => now.cost,
        }
    }

    /// What was used since the result before.
    fn spent(&mut self, result: &ResultMessage) -> Totals {
        let now = totals(result);
        let is_said = result.total_cost_usd().is_some() || result.model_usage().is_some();
        let before = if is_said {
            std::mem::replace(&mut self.before, Before::Said(now.clone()))
        } else {
            Before::Nothing
        };
        if let Some(since) = result.model_usage_since_last_result() {
            return exactly(since);
        }
        match before {
            Before::Said(before) => now.since(&before),
            Before::Perhaps(before) if counts_on(&now, &before, &usage(result)) => {
                now.since(&before)
            }
            Before::Nothing | Before::Perhaps(_) => now,
        }
    }
}

/// The sums of a result.
fn totals(result: &ResultMessage) -> Totals {
    let models = result.model_usage().map(by_model).unwrap_or_default();
    Totals {
        cost: result.total_cost_usd().unwrap_or_default(),
        models,
    }
}

/// What a result says was used since the one before it.
fn exactly(since: &BTreeMap<String, ModelUsage>) -> Totals {
    let mut models = by_model(since);
    models.retain(|_, spent| *spent != Spent::default());
    let cost = models.values().map(|spent| spent.cost).sum();
    Totals { cost, models }
}

fn by_model(used: &BTreeMap<String, ModelUsage>) -> BTreeMap<String, Spent> {
    let spent = |used: &ModelUsage| Spent {
        cost: used.cost_usd.unwrap_or_default(),
        input: used.input_tokens.unwrap_or_default(),
        output: used.output_tokens.unwrap_or_default(),
        cache_read: used.cache_read_input_tokens.unwrap_or_default(),
        cache_creation: used.cache_creation_input_tokens.unwrap_or_default(),
    };
    let models = used.iter().map(|(name, used)| (name.clone(), spent(used)));
    models.collect()
}

/// Whether the first sums of a process hold those of the process before it: they have room for them and for the turn.
fn counts_on(now: &Totals, before: &Totals, turn: &Usage) -> bool {
    let turn = Spent {
        cost: 0.0,
        input: turn.input_tokens,
        output: turn.output_tokens,
        cache_read: turn.cache_read_input_tokens,
        cache_creation: turn.cache_creation_input_tokens,
    };
    // Without the models, which an older build did not write down, it cannot be told; and what counts over its session says
    // itself what a turn used.
    !before.models.is_empty()
        && now.goes_on_from(before)
        && now.sum().covers(&before.sum().plus(&turn))
}

fn share((model, spent): (String, Spent)) -> ModelShare {
    let usage = Usage::new(
        spent.input,
        spent.output,
        spent.cache_read,
        spent.cache_creation,
    );
    ModelShare::new(model, spent.cost, usage)
}

fn reason(result: &ResultMessage) -> String {
    let text = match result {
        ResultMessage::Success(result) => result.result.clone().unwrap_or_default(),
        ResultMessage::Error(result) => result.errors.clone().unwrap_or_default().join("\n"),
    };
    let lines = text.lines().filter(|line| !line.starts_with(DIAGNOSTIC));
    let text = lines.collect::<Vec<_>>().join("\n");
    if !text.trim().is_empty() {
        return text;
    }
    let broken_off = [
        TerminalReason::AbortedStreaming,
        TerminalReason::AbortedTools,
    ];
    let is_broken_off = result
        .terminal_reason()
        .is_some_and(|reason| broken_off.contains(reason));
    if is_broken_off {
        return "the turn was broken off".to_owned();
    }
    format!("the turn failed without a reason ({})", subtype(result))
}

fn subtype(result: &ResultMessage) -> String {
    match result {
        ResultMessage::Success(_) => "success".to_owned(),
        ResultMessage::Error(result) => result.subtype.as_str().to_owned(),
    }
}

fn duration(result: &ResultMessage) -> u64 {
    let milliseconds = match result {
        ResultMessage::Success(result) => result.duration_ms,
        ResultMessage::Error(result) => result.duration_ms,
    };
    std::time::Duration::try_from_secs_f64(milliseconds.unwrap_or_default() / 1000.0)
        .map_or(0, |duration| {
            u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
        })
}

fn turns(result: &ResultMessage) -> u64 {
    match result {
        ResultMessage::Success(result) => result.num_turns,
        ResultMessage::Error(result) => result.num_turns,
    }
    .unwrap_or_default()
}

fn stop_reason(result: &ResultMessage) -> Option<String> {
    let reason = match result {
        ResultMessage::Success(result) => result.stop_reason.as_ref(),
        ResultMessage::Error(result) => result.stop_reason.as_ref(),
    };
    reason.map(|reason| reason.as_str().to_owned())
}

fn usage(result: &ResultMessage) -> Usage {
    let used: Option<&WireUsage> = match result {
        ResultMessage::Success(result) => result.usage.as_ref(),
        ResultMessage::Error(result) => result.usage.as_ref(),
    };
    let count = |field: fn(&WireUsage) -> Option<u64>| used.and_then(field).unwrap_or_default();
    Usage::new(
        count(|usage| usage.input_tokens),
        count(|usage| usage.output_tokens),
        count(|usage| usage.cache_read_input_tokens),
        count(|usage| usage.cache_creation_input_tokens),
    )
}

#[cfg(test)]
#[path = "outcome_tests.rs"]
mod tests;
