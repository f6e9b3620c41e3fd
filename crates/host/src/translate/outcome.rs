//! How a turn ended, and what it cost.
//!
//! The CLI's cost is a sum over the whole process; ours is that of the turn, so that adding up results is right. Several
//! results may come for one message, and some without any.

use estelle_claude::wire::result::TerminalReason;
use estelle_claude::wire::{ResultMessage, Usage as WireUsage};
use estelle_proto::Generation;
use estelle_proto::events::{ClaudeEvent, ErrorEvent, TurnResult, Usage};
use estelle_state::conversation::{MessageId, Seen};

use super::plan::Why;

/// The cost of the process so far.
#[derive(Debug, Default)]
pub(super) struct Costs {
    total: f64,
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
        cost: result.total_cost_usd().unwrap_or_default(),
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
    /// Of a process that has cost something already.
    pub(super) fn so_far(total: f64) -> Self {
        Self { total }
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
        let turn = TurnResult {
            cause: cause.clone(),
            api_status,
            stop_reason: stop_reason(result),
            generation: Some(generation),
            ..TurnResult::new(
                subtype(result),
                duration(result),
                self.difference(result.total_cost_usd()),
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

    /// What the turn added. A sum that went down belongs to a process that counts anew.
    fn difference(&mut self, total: Option<f64>) -> f64 {
        let Some(total) = total else { return 0.0 };
        let before = std::mem::replace(&mut self.total, total);
        if total < before {
            total
        } else {
            total - before
        }
    }
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
