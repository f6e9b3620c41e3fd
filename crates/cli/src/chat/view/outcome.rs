//! How the end of a turn looks: what it took, or what went wrong and what to do about it.

use estelle_claude::wire::result::{ResultErrorKind, ResultMessage, TerminalReason};
use estelle_claude::wire::{AssistantError, Usage};

use crate::chat::piece::{Piece, Tone};

/// What is known about the turn besides its result.
#[derive(Debug, Default)]
pub(crate) struct Context<'a> {
    /// The model that answered.
    pub(crate) model: Option<&'a str>,
    /// What the session had cost before this turn, in US dollars.
    pub(crate) cost_before: f64,
    /// The error the answer was marked with.
    pub(crate) error: Option<&'a AssistantError>,
}

/// Whether the turn ended because the user stopped it.
pub(crate) fn was_interrupted(result: &ResultMessage) -> bool {
    let stopped = [
        TerminalReason::AbortedStreaming,
        TerminalReason::AbortedTools,
    ];
    result
        .terminal_reason()
        .is_some_and(|reason| stopped.contains(reason))
}

/// The lines that close a turn.
pub(crate) fn lines(result: &ResultMessage, context: &Context<'_>) -> Vec<Piece> {
    let (duration_ms, usage) = match result {
        ResultMessage::Success(result) => (result.duration_ms, result.usage.as_ref()),
        ResultMessage::Error(result) => (result.duration_ms, result.usage.as_ref()),
    };
    let mut parts = Vec::new();
    parts.extend(duration_ms.map(duration));
    parts.extend(usage.and_then(tokens));
    let total = result.total_cost_usd().unwrap_or_default();
    if total > 0.0 {
        parts.push(cost(total - context.cost_before, total));
    }
    parts.extend(context.model.map(ToOwned::to_owned));
    let summary = Piece::line(Tone::Dim, format!("— {}", parts.join(" · ")));
    if was_interrupted(result) {
        return vec![
            Piece::Gap,
            Piece::line(Tone::Ask, "■ Interrupted."),
            summary,
        ];
    }
    if !result.is_error() {
        return vec![Piece::Gap, summary];
    }
    let mut pieces = vec![Piece::Gap];
    pieces.extend(failure(result, context.error));
    pieces.push(summary);
    pieces
}

fn failure(result: &ResultMessage, error: Option<&AssistantError>) -> Vec<Piece> {
    let text = result.text();
    let mut lines = text.trim().lines();
    let first = lines.next().unwrap_or("no reason was given");
    let mut pieces = vec![Piece::spans([
        (Tone::Bad, "✗ The turn failed: "),
        (Tone::Plain, first),
    ])];
    pieces.extend(lines.map(|line| Piece::line(Tone::Plain, format!("  {line}"))));
    let hint = match result {
        ResultMessage::Success(_) => error.and_then(hint),
        ResultMessage::Error(result) => cut_short(&result.subtype),
    };
    pieces.extend(hint.map(|hint| Piece::line(Tone::Ask, format!("  → {hint}"))));
    pieces
}

/// What to do about an error of the API.
fn hint(error: &AssistantError) -> Option<&'static str> {
    match error {
        AssistantError::AuthenticationFailed | AssistantError::VerificationRequired => Some(
            "Sign in: run `claude` in another terminal and type /login, or set ANTHROPIC_API_KEY; then start again.",
        ),
        AssistantError::OauthOrgNotAllowed => {
            Some("This organisation may not use Claude Code: sign in with another.")
        }
        AssistantError::AccountOnHold | AssistantError::BillingError => {
            Some("The account cannot be charged: look at its billing page.")
        }
        AssistantError::CloudCredentialError => {
            Some("The cloud provider's credentials were refused: renew them.")
        }
        AssistantError::RateLimit => {
            Some("Too many requests: wait a little and send the message again.")
        }
        AssistantError::Overloaded | AssistantError::ServerError => {
            Some("The service or the way to it is disturbed: send the message again later.")
        }
        AssistantError::ModelNotFound => Some("Choose another model with /model."),
        AssistantError::MaxOutputTokens => {
            Some("Ask for a shorter answer, or for one part at a time.")
        }
        AssistantError::InvalidRequest => Some(
            "If the conversation has become too long, /compact shortens it; /clear begins a new one.",
        ),
        AssistantError::NotKnown | _ => None,
    }
}

fn cut_short(kind: &ResultErrorKind) -> Option<&'static str> {
    match kind {
        ResultErrorKind::MaxTurns => Some("Send `go on` to let it continue."),
        ResultErrorKind::MaxBudgetUsd => {
            Some("The budget of this session is spent: start a new one.")
        }
        ResultErrorKind::DuringExecution | ResultErrorKind::MaxStructuredOutputRetries | _ => None,
    }
}

fn duration(ms: f64) -> String {
    let seconds = ms / 1000.0;
    if seconds < 60.0 {
        return format!("{seconds:.1} s");
    }
    let minutes = (seconds / 60.0).floor();
    format!(
        "{minutes:.0} min {:02.0} s",
        (seconds - minutes * 60.0).floor()
    )
}

fn tokens(usage: &Usage) -> Option<String> {
    let parts = [
        usage.input_tokens,
        usage.cache_creation_input_tokens,
        usage.cache_read_input_tokens,
    ];
    let input: u64 = parts.iter().flatten().sum();
    let output = usage.output_tokens.unwrap_or_default();
    (input + output > 0)
        .then(|| format!("{} tokens in, {} out", thousands(input), thousands(output)))
}

fn thousands(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..1_000_000 => format!("{}.{}k", number / 1_000, number % 1_000 / 100),
        _ => format!("{}.{}M", number / 1_000_000, number % 1_000_000 / 100_000),
    }
}

fn cost(turn: f64, total: f64) -> String {
    // The first turn's cost is the total; saying it twice would be noise.
    if (total - turn).abs() < 1e-9 {
        return format!("${total:.4}");
    }
    if turn < 0.00005 {
        return format!("${total:.4} in all");
    }
    format!("${turn:.4} (${total:.4} in all)")
}

#[cfg(test)]
#[path = "outcome_tests.rs"]
mod tests;
