//! Tokens and money: what a request, a model or a session has used.
//!
//! `Usage` is the Messages API's count for one message, `ModelUsage` the CLI's own account per model. Names on the wire
//! differ in style because they come from two sources.

use std::collections::BTreeMap;

use super::json::Json;

wire_struct! {
    /// Tokens of one API message.
    pub struct Usage {
        optional {
            input_tokens: u64,
            output_tokens: u64,
            cache_creation_input_tokens: u64,
            cache_read_input_tokens: u64,
            cache_creation: CacheCreation,
            server_tool_use: ServerToolUsage,
            output_tokens_details: OutputTokensDetails,
            service_tier: String,
            inference_geo: String,
            iterations: Vec<Json>,
            speed: String,
            fallback_credit: Json,
        }
    }
}

wire_struct! {
    /// Tokens written to the prompt cache, by how long they are kept.
    pub struct CacheCreation {
        optional { ephemeral_5m_input_tokens: u64, ephemeral_1h_input_tokens: u64 }
    }
}

wire_struct! {
    /// Calls of tools on the API's side.
    pub struct ServerToolUsage {
        optional { web_search_requests: u64, web_fetch_requests: u64 }
    }
}

wire_struct! {
    /// What the output tokens were spent on.
    pub struct OutputTokensDetails {
        optional { thinking_tokens: u64 }
    }
}

wire_struct! {
    /// What one model has used in this session.
    pub struct ModelUsage {
        optional {
            "inputTokens" => input_tokens: u64,
            "outputTokens" => output_tokens: u64,
            "thinkingTokens" => thinking_tokens: u64,
            "cacheReadInputTokens" => cache_read_input_tokens: u64,
            "cacheCreationInputTokens" => cache_creation_input_tokens: u64,
            "cacheCreationEphemeral5mInputTokens" => cache_creation_ephemeral_5m_input_tokens: u64,
            "cacheCreationEphemeral1hInputTokens" => cache_creation_ephemeral_1h_input_tokens: u64,
            "webSearchRequests" => web_search_requests: u64,
            "costUSD" => cost_usd: f64,
            "contextWindow" => context_window: u64,
            "maxOutputTokens" => max_output_tokens: u64,
            "canonicalModel" => canonical_model: String,
            provider: String,
            "costBasis" => cost_basis: CostBasis,
        }
    }
}

open_enum! {
    /// What a cost was computed from.
    pub enum CostBasis { "list" => List, "managed" => Managed, "unknown" => NotKnown }
}

wire_struct! {
    /// How full the context is, as an assistant message may say.
    pub struct ContextUsage {
        optional {
            model: String,
            total_tokens: u64,
            raw_max_tokens: u64,
            percentage: f64,
            over_limit: OverLimit,
            categories: Vec<ContextUsageCategory>,
            mcp_tools: Vec<ContextMcpTool>,
            memory_files: Vec<ContextMemoryFile>,
            agents: Vec<ContextAgent>,
            skills: Vec<ContextSkill>,
        }
    }
}

wire_struct! {
    /// By how much the context is over its limit.
    pub struct OverLimit {
        optional { tokens_over: u64, kind: OverLimitKind }
    }
}

open_enum! {
    /// Which limit of the context was passed.
    pub enum OverLimitKind { "hard_limit" => HardLimit, "compaction_window" => CompactionWindow }
}

wire_struct! {
    /// One part of the context.
    pub struct ContextUsageCategory {
        required { name: String }
        optional { tokens: u64, kind: ContextCategoryKind }
    }
}

open_enum! {
    /// What a part of the context is.
    pub enum ContextCategoryKind { "used" => Used, "free" => Free, "buffer" => Buffer, "deferred" => Deferred }
}

wire_struct! {
    /// An MCP tool's share of the context.
    pub struct ContextMcpTool {
        required { name: String }
        optional { server_name: String, tokens: u64 }
    }
}

wire_struct! {
    /// A memory file's share of the context.
    pub struct ContextMemoryFile {
        required { path: String }
        optional { "type" => kind: String, tokens: u64 }
    }
}

wire_struct! {
    /// An agent definition's share of the context.
    pub struct ContextAgent {
        required { agent_type: String }
        optional { source: String, tokens: u64 }
    }
}

wire_struct! {
    /// A skill's share of the context.
    pub struct ContextSkill {
        required { name: String }
        optional { source: String, plugin_name: String, tokens: u64 }
    }
}

wire_struct! {
    /// Cost and limits, as an assistant message may say.
    pub struct UsageReport {
        optional { session: SessionUsage, rate_limits: ReportedRateLimits }
    }
}

wire_struct! {
    /// What this session has cost so far.
    pub struct SessionUsage {
        optional {
            total_cost_usd: f64,
            total_api_duration_ms: f64,
            total_duration_ms: f64,
            total_lines_added: u64,
            total_lines_removed: u64,
            model_usage: BTreeMap<String, ModelUsage>,
        }
    }
}

wire_struct! {
    /// Plan limits in a usage report.
    pub struct ReportedRateLimits {
        optional { limits: Vec<ReportedRateLimit>, extra_usage: ExtraUsage }
    }
}

wire_struct! {
    /// One plan limit in a usage report.
    pub struct ReportedRateLimit {
        optional {
            kind: String,
            group: String,
            percent: f64,
            resets_at: String,
            scope: Json,
            severity: String,
            is_active: bool,
        }
    }
}

wire_struct! {
    /// Use beyond the plan.
    pub struct ExtraUsage {
        optional {
            is_enabled: bool,
            monthly_limit: f64,
            used_credits: f64,
            utilization: f64,
            currency: String,
        }
    }
}
