//! The smaller top-level lines: progress, sign-in, limits, suggestions, and the life of a command.
//!
//! Each is a plain struct; nothing here has behaviour. `update_environment_variables` goes to the CLI, all others come
//! from it.

use std::collections::BTreeMap;

wire_struct! {
    /// A tool is still running.
    pub struct ToolProgress("type" = "tool_progress") {
        required { tool_use_id: String, tool_name: String }
        optional {
            parent_tool_use_id: String,
            elapsed_time_seconds: f64,
            task_id: String,
            heartbeat: bool,
            subagent_type: String,
            subagent_retry: SubagentRetry,
            uuid: String,
            session_id: String,
        }
    }
}

wire_struct! {
    /// A subagent's request is being tried again.
    pub struct SubagentRetry {
        optional {
            agent_id: String,
            attempt: u64,
            max_retries: u64,
            retry_delay_ms: f64,
            error_status: u64,
            error_category: String,
        }
    }
}

wire_struct! {
    /// Progress of a sign-in.
    pub struct AuthStatus("type" = "auth_status") {
        required { "isAuthenticating" => is_authenticating: bool }
        optional { output: Vec<String>, error: String, uuid: String, session_id: String }
    }
}

wire_struct! {
    /// A short account of several tool calls.
    pub struct ToolUseSummary("type" = "tool_use_summary") {
        required { summary: String }
        optional { preceding_tool_use_ids: Vec<String>, uuid: String, session_id: String }
    }
}

wire_struct! {
    /// A plan limit changed or was hit.
    pub struct RateLimitEvent("type" = "rate_limit_event") {
        required { rate_limit_info: RateLimitInfo }
        optional { uuid: String, session_id: String }
    }
}

wire_struct! {
    /// The state of a plan limit.
    pub struct RateLimitInfo {
        required { status: RateLimitStatus }
        optional {
            /// Unix seconds.
            "resetsAt" => resets_at: f64,
            "rateLimitType" => rate_limit_type: RateLimitType,
            utilization: f64,
            "overageStatus" => overage_status: RateLimitStatus,
            /// Unix seconds.
            "overageResetsAt" => overage_resets_at: f64,
            "overageDisabledReason" => overage_disabled_reason: String,
            "isUsingOverage" => is_using_overage: bool,
            "overageInUse" => overage_in_use: bool,
            "overageEnabled" => overage_enabled: bool,
            "surpassedThreshold" => surpassed_threshold: f64,
            "limitScope" => limit_scope: String,
            "errorCode" => error_code: String,
            "canUserPurchaseCredits" => can_user_purchase_credits: bool,
            "hasChargeableSavedPaymentMethod" => has_chargeable_saved_payment_method: bool,
            /// All windows with their use, by name; newer releases say it.
            "unifiedWindows" => unified_windows: BTreeMap<String, UnifiedWindow>,
        }
    }
}

wire_struct! {
    /// How much of a window is used.
    pub struct UnifiedWindow {
        optional {
            utilization: f64,
            /// Unix seconds.
            "resetsAt" => resets_at: f64,
        }
    }
}

open_enum! {
    /// Whether requests are let through.
    pub enum RateLimitStatus {
        "allowed" => Allowed,
        "allowed_warning" => AllowedWarning,
        "rejected" => Rejected,
    }
}

open_enum! {
    /// Which limit it is.
    pub enum RateLimitType {
        "five_hour" => FiveHour,
        "seven_day" => SevenDay,
        "seven_day_opus" => SevenDayOpus,
        "seven_day_sonnet" => SevenDaySonnet,
        "seven_day_overage_included" => SevenDayOverageIncluded,
        "overage" => Overage,
    }
}

wire_struct! {
    /// A prompt the user may want next.
    pub struct PromptSuggestion("type" = "prompt_suggestion") {
        required { suggestion: String }
        optional { uuid: String, session_id: String }
    }
}

wire_struct! {
    /// The conversation starts afresh under another id.
    pub struct ConversationReset("type" = "conversation_reset") {
        required { new_conversation_id: String }
        optional {
            trigger: ConversationResetTrigger,
            user_message_uuid: String,
            timestamp: String,
            uuid: String,
            session_id: String,
        }
    }
}

open_enum! {
    /// Why a conversation starts afresh.
    pub enum ConversationResetTrigger {
        "clear" => Clear,
        "plan_mode_exit" => PlanModeExit,
        "fresh_session" => FreshSession,
        "onboarding" => Onboarding,
    }
}

wire_struct! {
    /// The goal the session works towards changed; no value means there is none.
    pub struct ActiveGoal("type" = "active_goal") {
        optional { value: Goal, uuid: String, session_id: String }
    }
}

wire_struct! {
    /// A goal the session works towards by itself.
    pub struct Goal {
        required { condition: String }
        optional {
            iterations: u64,
            /// Unix milliseconds.
            set_at: f64,
            tokens_at_start: u64,
            last_reason: String,
        }
    }
}

wire_struct! {
    /// What became of a user message that carried a uuid: the best acknowledgement there is.
    pub struct CommandLifecycle("type" = "command_lifecycle") {
        required { command_uuid: String, state: CommandState }
        optional { uuid: String, session_id: String }
    }
}

open_enum! {
    /// How far the CLI is with a user message.
    pub enum CommandState {
        "queued" => Queued,
        "started" => Started,
        "completed" => Completed,
        "cancelled" => Cancelled,
        "discarded" => Discarded,
    }
}

wire_struct! {
    /// The peer is there.
    pub struct KeepAlive("type" = "keep_alive") {}
}

wire_struct! {
    /// Sets variables in the environment of the running CLI.
    pub struct UpdateEnvironmentVariables("type" = "update_environment_variables") {
        required { variables: BTreeMap<String, String> }
    }
}
