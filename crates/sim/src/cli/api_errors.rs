//! API errors: which are tried again, after how long, and what the person reads in the end.

use super::json::{Json, obj};
use super::model::text_block;
use super::state::{Abort, Sim};
use super::turn::Turn;
use crate::script::HttpError;

const FIRST_DELAY_MS: f64 = 500.0;
const LONGEST_DELAY_MS: f64 = 32_000.0;

/// How a refused request shows in the result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Refusal {
    /// The HTTP status.
    pub(crate) status: Json,
    /// `error.type` of the API.
    pub(crate) etype: String,
    /// What the person reads.
    pub(crate) text: String,
    /// `terminal_reason` of 2.1.197.
    pub(crate) too_long: bool,
    /// `assistant.error`.
    pub(crate) name: &'static str,
}

impl Sim {
    /// Waits before the next try, or prints the error for good.
    pub(crate) async fn api_error(
        &self,
        turn: &mut Turn,
        error: &HttpError,
    ) -> Result<Option<Refusal>, Abort> {
        let retries = self.setup().env.max_retries;
        let tried = turn.retries;
        let used_up = self.used_up(error);
        if used_up.is_none() && is_retried(error.status) && tried < retries {
            turn.retries += 1;
            let delay = self.retry_delay(error, turn.retries);
            let shown = if self.is_325() { delay.round() } else { delay };
            self.print_system(
                "api_retry",
                obj! {
                    "attempt" => turn.retries,
                    "max_retries" => retries,
                    "retry_delay_ms" => shown,
                    "error_status" => u32::from(error.status),
                    "error" => retry_name(error.status),
                },
            );
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "half a minute at most"
            )]
            self.sleep_in(turn.scope, delay as u64).await?;
            return Ok(None);
        }
        turn.retries = 0;
        let mut refusal = self.refusal(error);
        if let Some(used_up) = used_up {
            refusal.text = self.print_used_up(used_up);
        }
        if refusal.too_long && self.with(|state| state.chat.messages > 1) {
            self.print_vain_compaction();
        }
        turn.echo(self);
        let body = obj! {
            "turn_id" => &turn.display_id,
            "message_id" => self.uuid(),
            "index" => 0,
            "final" => true,
            "delta" => &refusal.text,
        };
        self.call_hooks(turn, "MessageDisplay", "", body).await?;
        self.print_synthetic(turn, &refusal);
        let stopped = obj! { "error" => refusal.name, "last_assistant_message" => &refusal.text };
        self.call_hooks(turn, "StopFailure", "", stopped).await?;
        Ok(Some(refusal))
    }

    /// The CLI tries to make room first, in vain with a short conversation.
    fn print_vain_compaction(&self) {
        let newer = self.is_325();
        let begun = obj! { "status" => "compacting", "compact_output_chars" if newer => 0 };
        self.print_system("status", begun);
        let ended = obj! {
            "status" => Json::Null,
            "compact_result" => "failed",
            "compact_error" => "too_few_groups",
        };
        self.print_system("status", ended);
    }

    fn retry_delay(&self, error: &HttpError, attempt: u32) -> f64 {
        let jitter = self.with(|state| state.ids.jitter());
        let grown =
            FIRST_DELAY_MS * f64::from(2_u32.saturating_pow(attempt.saturating_sub(1).min(16)));
        let own = grown.min(LONGEST_DELAY_MS) * jitter;
        let asked = error
            .headers
            .get("retry-after")
            .and_then(|text| text.parse::<f64>().ok());
        asked.map_or(own, |seconds| own.max(seconds * 1000.0))
    }

    fn refusal(&self, error: &HttpError) -> Refusal {
        let model = self.with(|state| state.chat.model.clone());
        let msg = &error.msg;
        let too_long = error.status == 400 && msg.starts_with("prompt is too long");
        let gateway = self.setup().env.gateway.clone();
        let gateway = gateway.map_or(String::new(), |host| {
            format!(" If it persists, check your inference gateway ({host}).")
        });
        let (name, text) = match error.status {
            400 if too_long => ("invalid_request", "Prompt is too long".to_owned()),
            401 => (
                "authentication_failed",
                "Invalid API key · Fix external API key".to_owned(),
            ),
            403 => (
                "authentication_failed",
                format!("Failed to authenticate. API Error: 403 {msg}"),
            ),
            404 => (
                "model_not_found",
                format!(
                    "There's an issue with the selected model ({model}). It may not exist or you may not have access to it. Run --model to pick a different model."
                ),
            ),
            429 => (
                "rate_limit",
                format!("API Error: Request rejected (429) · {msg}"),
            ),
            status @ 500.. => (
                "server_error",
                format!(
                    "API Error: {status} {msg}. This is a server-side issue, usually temporary — try again in a moment.{gateway}"
                ),
            ),
            status => ("unknown", format!("API Error: {status} {msg}")),
        };
        Refusal {
            status: u32::from(error.status).into(),
            etype: error.etype.clone(),
            text,
            too_long,
            name,
        }
    }

    fn print_synthetic(&self, turn: &mut Turn, refusal: &Refusal) {
        let message = self.synthetic_message(&refusal.text, "stop_sequence", "".into());
        let line = self
            .assistant_line(turn, &message)
            .with("error", refusal.name)
            .with("request_id", self.with(|state| state.ids.request()));
        let line = if self.is_325() {
            line.with("is_api_error_message", true)
                .with("api_error_status", &refusal.status)
                .with("api_error_type", &refusal.etype)
        } else {
            line
        };
        self.send_assistant(turn, line, message);
    }

    /// A message that no model made.
    pub(crate) fn synthetic_message(&self, text: &str, stop: &str, sequence: Json) -> Json {
        let newer = self.is_325();
        let usage = obj! {
            "output_tokens_details" if newer => Json::Null,
            "input_tokens" => 0,
            "output_tokens" => 0,
            "cache_creation_input_tokens" => 0,
            "cache_read_input_tokens" => 0,
            "server_tool_use" => obj! { "web_search_requests" => 0, "web_fetch_requests" => 0 },
            "service_tier" => Json::Null,
            "cache_creation" => obj! { "ephemeral_1h_input_tokens" => 0, "ephemeral_5m_input_tokens" => 0 },
            "inference_geo" => Json::Null,
            "iterations" => Json::Null,
            "speed" => Json::Null,
            "fallback_credit" if newer => Json::Null,
        };
        obj! {
            "diagnostics" if newer => Json::Null,
            "id" => self.uuid(),
            "container" => Json::Null,
            "model" => "<synthetic>",
            "role" => "assistant",
            "stop_details" => Json::Null,
            "stop_reason" => stop,
            "stop_sequence" => sequence,
            "type" => "message",
            "usage" => usage,
            "content" => vec![text_block(text)],
            "context_management" => Json::Null,
        }
    }
}

fn is_retried(status: u16) -> bool {
    matches!(status, 401 | 408 | 409 | 429) || status >= 500
}

fn retry_name(status: u16) -> &'static str {
    match status {
        401 => "authentication_failed",
        429 => "rate_limit",
        529 => "overloaded",
        500.. => "server_error",
        _ => "unknown",
    }
}
