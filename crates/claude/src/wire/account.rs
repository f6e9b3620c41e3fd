//! What a session offers: commands, agents, models, the account.
//!
//! These descriptions come with the answer to `initialize` and with some system lines.

use super::system::EffortLevel;

wire_struct! {
    /// A slash command or skill.
    pub struct SlashCommand {
        required { name: String }
        optional {
            description: String,
            "argumentHint" => argument_hint: String,
            aliases: Vec<String>,
            builtin: bool,
        }
    }
}

wire_struct! {
    /// An agent the model can start.
    pub struct AgentInfo {
        required { name: String }
        optional { description: String, model: String }
    }
}

wire_struct! {
    /// A model that can be chosen.
    pub struct ModelInfo {
        required {
            /// What to pass to choose it.
            value: String,
        }
        optional {
            "resolvedModel" => resolved_model: String,
            "displayName" => display_name: String,
            description: String,
            "supportsEffort" => supports_effort: bool,
            "supportedEffortLevels" => supported_effort_levels: Vec<EffortLevel>,
            "supportsAdaptiveThinking" => supports_adaptive_thinking: bool,
            "supportsThinkingOff" => supports_thinking_off: bool,
            "supportsFastMode" => supports_fast_mode: bool,
            "supportsAutoMode" => supports_auto_mode: bool,
        }
    }
}

wire_struct! {
    /// Who is signed in, and how.
    pub struct AccountInfo {
        optional {
            email: String,
            organization: String,
            "subscriptionType" => subscription_type: String,
            "tokenSource" => token_source: String,
            "apiKeySource" => api_key_source: String,
            "apiProvider" => api_provider: String,
        }
    }
}
