//! `result` lines: how a turn ended, with final usage and cost.
//!
//! API errors come as `success` with `is_error` set; the error subtypes are for turns that were cut short. Several
//! results per session are normal, and one may come without any user message.

use std::collections::BTreeMap;

use super::assistant::StopReason;
use super::json::Json;
use super::system::{FastModeDisabledReason, FastModeState};
use super::usage::{ModelUsage, Usage};
use super::user::Origin;

/// The end of a turn.
#[derive(Debug, Clone, PartialEq)]
pub enum ResultMessage {
    /// The turn ran to its end, possibly with an API error as its answer.
    Success(Box<ResultSuccess>),
    /// The turn was cut short.
    Error(Box<ResultError>),
}

impl ResultMessage {
    /// The answer, or the errors joined.
    pub fn text(&self) -> String {
        match self {
            Self::Success(result) => result.result.clone().unwrap_or_default(),
            Self::Error(result) => result.errors.as_deref().unwrap_or_default().join("\n"),
        }
    }

    /// Whether the turn failed.
    pub fn is_error(&self) -> bool {
        match self {
            Self::Success(result) => result.is_error,
            Self::Error(result) => result.is_error.unwrap_or(true),
        }
    }

    /// The user messages this turn answered, as far as the CLI names them.
    pub fn user_message_uuids(&self) -> &[String] {
        match self {
            Self::Success(result) => result.user_message_uuids.as_deref(),
            Self::Error(result) => result.user_message_uuids.as_deref(),
        }
        .unwrap_or_default()
    }

    /// Where the turn came from, when not from a user message.
    pub fn origin(&self) -> Option<&Origin> {
        match self {
            Self::Success(result) => result.origin.as_ref(),
            Self::Error(result) => result.origin.as_ref(),
        }
    }

    /// Why the turn ended.
    pub fn terminal_reason(&self) -> Option<&TerminalReason> {
        match self {
            Self::Success(result) => result.terminal_reason.as_ref(),
            Self::Error(result) => result.terminal_reason.as_ref(),
        }
    }

    /// What each model has used so far: since the process began, or since the session did, as the version has it.
    pub fn model_usage(&self) -> Option<&BTreeMap<String, ModelUsage>> {
        match self {
            Self::Success(result) => result.model_usage.as_ref(),
            Self::Error(result) => result.model_usage.as_ref(),
        }
    }

    /// What each model has used since the result before, where the CLI tells it (2.1.325 does).
    pub fn model_usage_since_last_result(&self) -> Option<&BTreeMap<String, ModelUsage>> {
        match self {
            Self::Success(result) => result.model_usage_since_last_result.as_ref(),
            Self::Error(result) => result.model_usage_since_last_result.as_ref(),
        }
    }

    /// The cost so far, in US dollars: since the process began, or since the session did, as the version has it.
    pub fn total_cost_usd(&self) -> Option<f64> {
        match self {
            Self::Success(result) => result.total_cost_usd,
            Self::Error(result) => result.total_cost_usd,
        }
    }
}

wire_struct! {
    /// A turn that ran to its end.
    pub struct ResultSuccess("type" = "result", "subtype" = "success") {
        required { is_error: bool }
        optional {
            api_error_status: u64,
            duration_ms: f64,
            duration_api_ms: f64,
            ttft_ms: f64,
            ttft_stream_ms: f64,
            time_to_request_ms: f64,
            num_turns: u64,
            /// The final text.
            result: String,
            stop_reason: StopReason,
            session_id: String,
            total_cost_usd: f64,
            usage: Usage,
            "modelUsage" => model_usage: BTreeMap<String, ModelUsage>,
            permission_denials: Vec<PermissionDenial>,
            structured_output: Json,
            deferred_tool_use: DeferredToolUse,
            terminal_reason: TerminalReason,
            fast_mode_state: FastModeState,
            fast_mode_disabled_reason: FastModeDisabledReason,
            origin: Origin,
            uuid: String,
            user_message_uuid: String,
            user_message_uuids: Vec<String>,
            queued_turn_count: u64,
            result_index: u64,
            resume_reason: String,
            local_command: String,
            credential_expires_at: String,
            request_sent_wall_ms: f64,
            first_content_frame_ms: f64,
            first_stream_post_ms: f64,
            first_stream_post_ack_ms: f64,
            first_stream_post_queue_wait_ms: f64,
            first_stream_post_queued_behind: String,
            first_stream_post_wall_ms: f64,
            first_text_post_ms: f64,
            first_text_post_queue_wait_ms: f64,
            first_text_post_queued_behind: String,
            first_text_post_wall_ms: f64,
            time_to_request_from_spawn_ms: f64,
            warm_spare_claimed: bool,
            time_origin_ms: f64,
            first_request_input_tokens: u64,
            first_request_cache_read_input_tokens: u64,
            model_usage_since_last_result: BTreeMap<String, ModelUsage>,
            subagent_stats: SubagentStats,
            safety_stops: u64,
        }
    }
}

wire_struct! {
    /// A turn that was cut short.
    pub struct ResultError("type" = "result") {
        required { subtype: ResultErrorKind }
        optional {
            duration_ms: f64,
            duration_api_ms: f64,
            is_error: bool,
            num_turns: u64,
            stop_reason: StopReason,
            session_id: String,
            total_cost_usd: f64,
            usage: Usage,
            "modelUsage" => model_usage: BTreeMap<String, ModelUsage>,
            permission_denials: Vec<PermissionDenial>,
            queued_turn_count: u64,
            errors: Vec<String>,
            startup_failure_reason: StartupFailureReason,
            invalid_config_file: InvalidConfigFile,
            user_message_uuid: String,
            user_message_uuids: Vec<String>,
            resume_reason: String,
            terminal_reason: TerminalReason,
            result_index: u64,
            credential_expires_at: String,
            fast_mode_state: FastModeState,
            fast_mode_disabled_reason: FastModeDisabledReason,
            origin: Origin,
            uuid: String,
            model_usage_since_last_result: BTreeMap<String, ModelUsage>,
            subagent_stats: SubagentStats,
            safety_stops: u64,
        }
    }
}

open_enum! {
    /// How a turn was cut short.
    pub enum ResultErrorKind {
        "error_during_execution" => DuringExecution,
        "error_max_turns" => MaxTurns,
        "error_max_budget_usd" => MaxBudgetUsd,
        "error_max_structured_output_retries" => MaxStructuredOutputRetries,
    }
}

wire_struct! {
    /// A tool call that was not allowed.
    pub struct PermissionDenial {
        required { tool_name: String, tool_use_id: String }
        optional { tool_input: Json }
    }
}

wire_struct! {
    /// A tool call that a hook put off; the turn ended before it ran.
    pub struct DeferredToolUse {
        required { id: String, name: String, input: Json }
    }
}

wire_struct! {
    /// What subagents did during the turn.
    pub struct SubagentStats {
        optional {
            spawned: u64,
            requested: BTreeMap<String, u64>,
            started_in_background: u64,
            max_depth: u64,
            spawned_by_subagents: u64,
            completed: u64,
            failed: u64,
            killed: BTreeMap<String, u64>,
            refused: BTreeMap<String, u64>,
            by_type: Json,
        }
    }
}

wire_struct! {
    /// A configuration file the CLI could not use.
    pub struct InvalidConfigFile {
        required { path: String }
        optional { is_global: bool, backup_searched: bool, backup_path: String }
    }
}

open_enum! {
    /// Why a turn ended.
    pub enum TerminalReason {
        "completed" => Completed,
        "aborted_streaming" => AbortedStreaming,
        "aborted_tools" => AbortedTools,
        "max_turns" => MaxTurns,
        "budget_exhausted" => BudgetExhausted,
        "blocking_limit" => BlockingLimit,
        "rapid_refill_breaker" => RapidRefillBreaker,
        "prompt_too_long" => PromptTooLong,
        "image_error" => ImageError,
        "model_error" => ModelError,
        "api_error" => ApiError,
        "malformed_tool_use_exhausted" => MalformedToolUseExhausted,
        "stop_hook_prevented" => StopHookPrevented,
        "hook_stopped" => HookStopped,
        "tool_deferred" => ToolDeferred,
        "tool_deferred_unavailable" => ToolDeferredUnavailable,
        "background_requested" => BackgroundRequested,
        "structured_output_retry_exhausted" => StructuredOutputRetryExhausted,
        "turn_setup_failed" => TurnSetupFailed,
    }
}

open_enum! {
    /// Why the CLI could not start.
    pub enum StartupFailureReason {
        "org_pin_api_key_conflict" => OrgPinApiKeyConflict,
        "provider_not_allowed" => ProviderNotAllowed,
        "org_verify_failed" => OrgVerifyFailed,
        "org_pin_mismatch" => OrgPinMismatch,
        "managed_settings_invalid" => ManagedSettingsInvalid,
        "remote_settings_required_unavailable" => RemoteSettingsRequiredUnavailable,
        "gateway_signin_required" => GatewaySigninRequired,
        "gateway_access_denied" => GatewayAccessDenied,
        "proxy_invalid" => ProxyInvalid,
        "temp_dir_unusable" => TempDirUnusable,
        "cwd_unavailable" => CwdUnavailable,
        "shell_tool_missing" => ShellToolMissing,
        "session_held_by_background" => SessionHeldByBackground,
        "worktree_resume_refused" => WorktreeResumeRefused,
        "worktree_unverified" => WorktreeUnverified,
        "cli_version_too_old" => CliVersionTooOld,
        "bypass_root" => BypassRoot,
        "org_config_required_unavailable" => OrgConfigRequiredUnavailable,
        "org_config_refused" => OrgConfigRefused,
        "sandbox_required_unavailable" => SandboxRequiredUnavailable,
        "initialize_not_first" => InitializeNotFirst,
        "config_file_invalid" => ConfigFileInvalid,
        "managed_settings_not_delivered" => ManagedSettingsNotDelivered,
    }
}
