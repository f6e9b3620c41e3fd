//! What the CLI says of its plan and of requests to the API that failed: windows, retries, and why a turn failed.
//!
//! The CLI names a window when something about it changes and not again, and gives no window's name when all of them let
//! requests through. A failed request ends as a `result` with an HTTP status, after an `assistant` line with a word for
//! it; what is behind a 429 only the windows tell. All of it was taken from both supported releases.

use std::collections::BTreeMap;

use estelle_claude::wire::assistant::AssistantError;
use estelle_claude::wire::event::{RateLimitInfo, RateLimitStatus};
use estelle_claude::wire::result::{ResultErrorKind, TerminalReason};
use estelle_claude::wire::system::ApiRetry as WireRetry;
use estelle_claude::wire::{AssistantMessage, ResultMessage};
use estelle_proto::events::ClaudeEvent;
use estelle_proto::limits::cut;
use estelle_proto::plan::{ApiRetry, Cause, LimitStatus, LimitsTold, PlanLimit};
use estelle_proto::{PLAN, Timestamp};

/// Names of windows are the vendor's; longer ones are cut.
const WINDOW_CHARS: usize = 64;
/// Windows of one line that are told.
const MOST_WINDOWS: usize = 16;
/// How the CLI begins to say that a window is used up, when it does not name the window again.
const USED_UP: &str = "You've hit your";
/// What the CLI says when it reached nobody.
const NOT_REACHED: &str = "Unable to connect to API";

/// Why a turn failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Why {
    pub(super) cause: Cause,
    pub(super) api_status: Option<u64>,
}

/// What was said of the plan and of the turn under way.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// What was told last of each window.
    told: BTreeMap<String, PlanLimit>,
    /// The word for the failure of the turn under way.
    failed: Option<AssistantError>,
    /// Whether the last word was that requests are refused.
    is_used_up: bool,
    /// The window that the last word named as refusing.
    refuser: Option<String>,
}

impl Plan {
    /// The CLI said something of its windows. What everybody knows is not told again, but for the window that is in the way.
    pub(super) fn limits(&mut self, info: &RateLimitInfo) -> Option<ClaudeEvent> {
        self.is_used_up = info.status == RateLimitStatus::Rejected;
        let limits = windows(info);
        let refuser = limits.iter().find(|limit| is_refusing(limit));
        let refuser = refuser.map(|limit| limit.window.clone());
        // Which window is in the way is news even if all is known of it: another one may have been before.
        let mut is_news = refuser.is_some() && refuser != self.refuser;
        let news = limits.into_iter().filter(|limit| {
            let known = self.told.get(&limit.window);
            let is_changed = known.is_none_or(|known| rounded(known) != rounded(limit));
            is_news |= is_changed;
            is_changed || is_refusing(limit)
        });
        let news: Vec<_> = news.take(MOST_WINDOWS).collect();
        self.refuser = refuser;
        if !is_news {
            return None;
        }
        for limit in &news {
            if limit.window == PLAN {
                self.told.clear();
            }
            self.told.insert(limit.window.clone(), limit.clone());
        }
        Some(LimitsTold::new(news).into())
    }

    /// A line of the agent; one that no model made has a word for what went wrong.
    pub(super) fn answered(&mut self, answer: &AssistantMessage) {
        if answer.parent_tool_use_id.is_none() {
            self.failed.clone_from(&answer.error);
        }
    }

    /// Why a turn that ended failed; `None` if it did not.
    pub(super) fn why(&mut self, result: &ResultMessage) -> Option<Why> {
        let word = self.failed.take();
        if !result.is_error() {
            return None;
        }
        let api_status = match result {
            ResultMessage::Success(result) => result.api_error_status,
            ResultMessage::Error(_) => None,
        };
        let cause = cut_short(result).unwrap_or_else(|| {
            let text = result.text();
            if api_status == Some(429) && (self.is_used_up || text.starts_with(USED_UP)) {
                return Cause::UsageLimit;
            }
            if api_status.is_none() && text.contains(NOT_REACHED) {
                return Cause::Network;
            }
            cause(word.as_ref(), api_status)
        });
        Some(Why { cause, api_status })
    }
}

/// A turn that was ended before the agent was done.
fn cut_short(result: &ResultMessage) -> Option<Cause> {
    let ResultMessage::Error(error) = result else {
        return None;
    };
    let broken_off = [
        TerminalReason::AbortedStreaming,
        TerminalReason::AbortedTools,
    ];
    let reason = error.terminal_reason.as_ref();
    if reason.is_some_and(|reason| broken_off.contains(reason)) {
        return Some(Cause::Aborted);
    }
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the vendor's list is open; the text says the rest"
    )]
    Some(match error.subtype {
        ResultErrorKind::MaxBudgetUsd => Cause::Budget,
        ResultErrorKind::MaxTurns => Cause::MaxTurns,
        _ => Cause::Other,
    })
}

/// What an HTTP status comes to, and where it says too little, the CLI's word.
fn cause(word: Option<&AssistantError>, status: Option<u64>) -> Cause {
    use AssistantError as Word;
    match (status, word) {
        (Some(529), _) | (_, Some(Word::Overloaded)) => Cause::Overloaded,
        (Some(402), _) | (_, Some(Word::BillingError)) => Cause::Billing,
        (_, Some(Word::ModelNotFound)) => Cause::ModelNotFound,
        (Some(401 | 403), _)
        | (
            _,
            Some(
                Word::AuthenticationFailed
                | Word::OauthOrgNotAllowed
                | Word::AccountOnHold
                | Word::VerificationRequired
                | Word::CloudCredentialError,
            ),
        ) => Cause::Unauthorized,
        (Some(429), _) | (_, Some(Word::RateLimit)) => Cause::RateLimit,
        (Some(500..=599), _) => Cause::Server,
        (Some(400..=499), _) | (_, Some(Word::InvalidRequest)) => Cause::InvalidRequest,
        (_, Some(Word::ServerError)) => Cause::Server,
        (_, Some(Word::NotKnown | Word::MaxOutputTokens | Word::Unknown(_) | _) | None) => {
            Cause::Other
        }
    }
}

/// A request failed and is tried again. One without an answer reached nobody.
pub(super) fn retry(retry: &WireRetry) -> ClaudeEvent {
    let status = retry.error_status;
    let cause = match (status, retry.error.as_ref()) {
        (None, None | Some(AssistantError::NotKnown)) => Cause::Network,
        (status, word) => cause(word, status),
    };
    ClaudeEvent::ApiRetry(ApiRetry {
        max_retries: retry.max_retries,
        delay_ms: retry.retry_delay_ms.and_then(whole),
        api_status: status,
        ..ApiRetry::new(retry.attempt, cause)
    })
}

/// The window that the line is about, and those that a newer release names beside it.
fn windows(info: &RateLimitInfo) -> Vec<PlanLimit> {
    let name = info.rate_limit_type.as_ref();
    let name = name.map_or(PLAN, |name| name.as_str());
    let mut named = PlanLimit {
        resets_at: info.resets_at.and_then(moment),
        utilization: info.utilization.and_then(share),
        overage_status: info.overage_status.as_ref().map(status),
        overage_resets_at: info.overage_resets_at.and_then(moment),
        is_using_overage: info.is_using_overage,
        ..PlanLimit::new(cut(name, WINDOW_CHARS).to_owned(), status(&info.status))
    };
    let mut limits = Vec::new();
    for (name, window) in info.unified_windows.iter().flatten() {
        let utilization = window.utilization.and_then(share);
        if *name == named.window {
            named.utilization = named.utilization.or(utilization);
            continue;
        }
        limits.push(PlanLimit {
            resets_at: window.resets_at.and_then(moment),
            utilization,
            ..PlanLimit::new(
                cut(name, WINDOW_CHARS).to_owned(),
                // The line is about the window that counts; the others let requests through.
                LimitStatus::Allowed,
            )
        });
    }
    limits.insert(0, named);
    limits
}

fn status(status: &RateLimitStatus) -> LimitStatus {
    LimitStatus::from(status.as_str())
}

/// Unix seconds as the vendor writes them.
fn moment(seconds: f64) -> Option<Timestamp> {
    let millis = whole(seconds * 1000.0)?;
    i64::try_from(millis).ok().map(Timestamp)
}

fn share(share: f64) -> Option<f64> {
    share.is_finite().then(|| share.clamp(0.0, 1.0))
}

fn whole(number: f64) -> Option<u64> {
    std::time::Duration::try_from_secs_f64(number / 1000.0)
        .ok()
        .and_then(|duration| u64::try_from(duration.as_millis()).ok())
}

fn is_refusing(limit: &PlanLimit) -> bool {
    limit.status == LimitStatus::Rejected
}

/// What counts as news: use by whole percents, not by each request.
fn rounded(limit: &PlanLimit) -> PlanLimit {
    PlanLimit {
        utilization: limit.utilization.map(|share| (share * 100.0).round()),
        ..limit.clone()
    }
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
