//! Tokens, money and time: what `result` lines and the cost requests report.
//!
//! Every finished model request counts a hundred input and twenty-five output tokens, as the recorded fake API did.

use super::json::{Json, obj};
use super::version::Version;

/// Input tokens of one request.
pub(crate) const INPUT_TOKENS: u64 = 100;
/// Output tokens of one request.
pub(crate) const OUTPUT_TOKENS: u64 = 25;

/// Tokens and money of one model.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Spent {
    input: u64,
    output: u64,
    dollars: f64,
}

/// What the process has used so far.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    /// Dollars since the start or the last `/clear`.
    pub(crate) dollars: f64,
    /// Milliseconds spent on requests.
    pub(crate) api_ms: u64,
    /// How many results were printed.
    pub(crate) results: u64,
    /// Whether the last result was an error, which decides the exit code.
    pub(crate) last_was_error: bool,
    /// The figures began in an earlier process.
    restored: bool,
    models: Vec<(String, Spent)>,
    since_result: Vec<(String, Spent)>,
}

impl Totals {
    /// Counts one finished request.
    pub(crate) fn count(&mut self, version: Version, model: &str, api_ms: u64) {
        let (per_input, per_output) = version.prices();
        #[expect(clippy::cast_precision_loss, reason = "small constants")]
        let dollars = INPUT_TOKENS as f64 * per_input + OUTPUT_TOKENS as f64 * per_output;
        self.dollars += dollars;
        self.api_ms += api_ms;
        for models in [&mut self.models, &mut self.since_result] {
            if !models.iter().any(|(name, _)| name == model) {
                models.push((model.to_owned(), Spent::default()));
            }
            for (_, spent) in models.iter_mut().filter(|(name, _)| name == model) {
                spent.input += INPUT_TOKENS;
                spent.output += OUTPUT_TOKENS;
                spent.dollars += dollars;
            }
        }
    }

    /// `modelUsage`.
    pub(crate) fn by_model(&self, version: Version) -> Json {
        models_json(version, &self.models, self.restored)
    }

    /// `model_usage_since_last_result`, which then starts anew.
    pub(crate) fn take_since_result(&mut self, version: Version) -> Json {
        models_json(version, &std::mem::take(&mut self.since_result), false)
    }

    /// The lines of `/usage` about tokens.
    pub(crate) fn usage_text(&self, version: Version) -> String {
        if self.models.is_empty() {
            return "Usage:                 0 input, 0 output, 0 cache read, 0 cache write"
                .to_owned();
        }
        let mut lines = vec!["Usage by model:".to_owned()];
        for (model, spent) in &self.models {
            let name = format!("{}:", model.replace("[1m]", ""));
            let (input, output, dollars) = (spent.input, spent.output, spent.dollars);
            lines.push(format!(
                "{name:>21}  {input} input, {output} output, 0 cache read, 0 cache write (${dollars:.4})"
            ));
        }
        if version.is_325() {
            let requests: u64 = self
                .models
                .iter()
                .map(|(_, spent)| spent.input)
                .sum::<u64>()
                / INPUT_TOKENS;
            let plural = if requests == 1 { "" } else { "s" };
            lines.push(format!(
                "Prompt cache (main):   {requests} request{plural} · 0% of input tokens from cache · no misses · no prompt caching reported by the API"
            ));
        }
        lines.join("\n")
    }

    /// Takes over what an earlier process of the conversation used.
    pub(crate) fn restore(&mut self, version: Version, model: &str, requests: u64) {
        for _ in 0..requests {
            self.count(version, model, 0);
        }
        self.since_result.clear();
        self.restored = requests > 0;
    }

    /// Forgets the money, as `/clear` does.
    pub(crate) fn reset(&mut self) {
        self.dollars = 0.0;
        self.api_ms = 0;
        self.models.clear();
        self.since_result.clear();
    }
}

fn models_json(version: Version, models: &[(String, Spent)], restored: bool) -> Json {
    let one = |model: &str, spent: &Spent| {
        let newer = version.is_325();
        // Figures that were read from disk stand in another order than fresh ones.
        let (early, late) = (newer && restored, newer && !restored);
        obj! {
            "inputTokens" => spent.input,
            "outputTokens" => spent.output,
            "thinkingTokens" if early => 0,
            "cacheReadInputTokens" => 0,
            "cacheCreationInputTokens" => 0,
            "cacheCreationEphemeral5mInputTokens" if early => 0,
            "cacheCreationEphemeral1hInputTokens" if early => 0,
            "webSearchRequests" => 0,
            "costUSD" => spent.dollars,
            "contextWindow" => version.context_window(model),
            "maxOutputTokens" => version.max_output_tokens(model),
            "thinkingTokens" if late => 0,
            "cacheCreationEphemeral5mInputTokens" if late => 0,
            "cacheCreationEphemeral1hInputTokens" if late => 0,
            "canonicalModel" if newer => model,
            "provider" if newer => "firstParty",
            "costBasis" if newer => "list",
        }
    };
    Json::Object(
        models
            .iter()
            .map(|(model, spent)| (model.clone(), one(model, spent)))
            .collect(),
    )
}

/// `usage` of a result with this many finished requests.
pub(crate) fn turn_usage(version: Version, requests: u64) -> Json {
    let usage = version
        .recorded("usage")
        .with("input_tokens", INPUT_TOKENS * requests)
        .with("output_tokens", OUTPUT_TOKENS * requests);
    if requests > 0 {
        return usage;
    }
    // A turn without a request has its details in front, as the real empty usage has.
    details_first(usage)
}

/// `usage` of a sub-agent's last request.
pub(crate) fn agent_usage(version: Version) -> Json {
    details_first(turn_usage(version, 1))
}

fn details_first(usage: Json) -> Json {
    let (mut fields, rest): (Vec<_>, Vec<_>) = usage
        .into_fields()
        .into_iter()
        .partition(|(key, _)| key == "output_tokens_details");
    fields.extend(rest);
    Json::Object(fields)
}
