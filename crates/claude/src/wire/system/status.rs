//! System lines about the session as a whole: its start, state, retries, compaction and commands.
//!
//! `init` is printed at the start of every turn; its session id is the one to trust, because `/clear` changes it.

use std::collections::BTreeMap;

use crate::wire::account::SlashCommand;
use crate::wire::assistant::AssistantError;
use crate::wire::json::Json;
use crate::wire::permission::PermissionMode;

wire_struct! {
    /// A turn begins: what the session consists of.
    pub struct Init("type" = "system", "subtype" = "init") {
        required { session_id: String }
        optional {
            agents: Vec<String>,
            "apiKeySource" => api_key_source: String,
            betas: Vec<String>,
            claude_code_version: String,
            cwd: String,
            original_cwd: String,
            additional_directories: Vec<String>,
            tools: Vec<String>,
            mcp_servers: Vec<InitMcpServer>,
            model: String,
            "permissionMode" => permission_mode: PermissionMode,
            slash_commands: Vec<String>,
            terminal_slash_commands: Vec<String>,
            output_style: String,
            skills: Vec<String>,
            plugins: Vec<InitPlugin>,
            plugin_errors: Vec<PluginError>,
            fast_mode_state: FastModeState,
            fast_mode_disabled_reason: FastModeDisabledReason,
            effort: EffortLevel,
            view_mode: String,
            capabilities: Vec<String>,
            analytics_disabled: bool,
            product_feedback_disabled: bool,
            memory_paths: BTreeMap<String, String>,
            messaging_socket_path: String,
            per_turn_effort_active: bool,
            ultrathink_available: bool,
            ultrathink_typed_raises: bool,
            user_message_uuids: Vec<String>,
            uuid: String,
        }
    }
}

wire_struct! {
    /// An MCP server of the session.
    pub struct InitMcpServer {
        required { name: String }
        optional { status: String, source: String }
    }
}

wire_struct! {
    /// A plugin of the session.
    pub struct InitPlugin {
        required { name: String }
        optional { path: String, version: String, source: String }
    }
}

wire_struct! {
    /// A plugin that could not be loaded.
    pub struct PluginError {
        required { plugin: String }
        optional { "type" => kind: String, message: String, path: String, managed_lock: Json }
    }
}

open_enum! {
    /// Whether the fast mode is on.
    pub enum FastModeState { "off" => Off, "cooldown" => Cooldown, "on" => On }
}

open_enum! {
    /// Why the fast mode is off.
    pub enum FastModeDisabledReason {
        "free" => Free,
        "preference" => Preference,
        "extra_usage_disabled" => ExtraUsageDisabled,
        "network_error" => NetworkError,
        "unknown" => NotKnown,
        "not_first_party" => NotFirstParty,
        "disabled_by_env" => DisabledByEnv,
        "model_not_allowed" => ModelNotAllowed,
        "sdk_opt_in_required" => SdkOptInRequired,
        "pending" => Pending,
    }
}

open_enum! {
    /// How hard the model tries.
    pub enum EffortLevel {
        "low" => Low,
        "medium" => Medium,
        "high" => High,
        "xhigh" => Xhigh,
        "max" => Max,
    }
}

wire_struct! {
    /// What the CLI is doing, or a change of the permission mode.
    pub struct Status("type" = "system", "subtype" = "status") {
        optional {
            /// None: nothing in particular.
            status: StatusWord,
            "permissionMode" => permission_mode: PermissionMode,
            compact_result: CompactResult,
            compact_error: String,
            user_message_uuids: Vec<String>,
            uuid: String,
            session_id: String,
        }
    }
}

open_enum! {
    /// What the CLI is doing.
    pub enum StatusWord { "compacting" => Compacting, "requesting" => Requesting }
}

open_enum! {
    /// How a compaction went.
    pub enum CompactResult { "success" => Success, "failed" => Failed }
}

wire_struct! {
    /// The conversation before this line was replaced by a summary.
    pub struct CompactBoundary("type" = "system", "subtype" = "compact_boundary") {
        required { compact_metadata: CompactMetadata }
        optional { uuid: String, session_id: String }
    }
}

wire_struct! {
    /// What a compaction did.
    pub struct CompactMetadata {
        required { trigger: CompactTrigger }
        optional {
            pre_tokens: u64,
            post_tokens: u64,
            cumulative_dropped_tokens: u64,
            duration_ms: f64,
            preserved_segment: PreservedSegment,
            preserved_messages: PreservedMessages,
        }
    }
}

open_enum! {
    /// Who asked for a compaction.
    pub enum CompactTrigger { "manual" => Manual, "auto" => Auto }
}

wire_struct! {
    /// The stretch of messages a compaction kept.
    pub struct PreservedSegment {
        optional { head_uuid: String, anchor_uuid: String, tail_uuid: String }
    }
}

wire_struct! {
    /// The messages a compaction kept.
    pub struct PreservedMessages {
        optional { anchor_uuid: String, uuids: Vec<String>, all_uuids: Vec<String> }
    }
}

wire_struct! {
    /// A request to the API failed and will be tried again.
    pub struct ApiRetry("type" = "system", "subtype" = "api_retry") {
        required { attempt: u64 }
        optional {
            max_retries: u64,
            retry_delay_ms: f64,
            /// The HTTP status; none when there was no answer.
            error_status: u64,
            error: AssistantError,
            no_response: NoResponse,
            uuid: String,
            session_id: String,
        }
    }
}

wire_struct! {
    /// How long a request without an answer was waited for.
    pub struct NoResponse {
        optional { waited_ms: f64, retry_wait_ms: f64 }
    }
}

wire_struct! {
    /// A control request that takes long is still being worked on.
    pub struct ControlRequestProgress("type" = "system", "subtype" = "control_request_progress") {
        required { request_id: String, status: ControlRequestProgressStatus }
        optional {
            attempt: u64,
            max_retries: u64,
            retry_delay_ms: f64,
            error_status: u64,
            uuid: String,
            session_id: String,
        }
    }
}

open_enum! {
    /// How far a control request is.
    pub enum ControlRequestProgressStatus { "started" => Started, "api_retry" => ApiRetry }
}

wire_struct! {
    /// An estimate of the thinking so far.
    pub struct ThinkingTokens("type" = "system", "subtype" = "thinking_tokens") {
        required { estimated_tokens: u64 }
        optional {
            estimated_tokens_delta: u64,
            user_message_uuid: String,
            uuid: String,
            session_id: String,
        }
    }
}

wire_struct! {
    /// The session has another title. Newer CLIs print it though the vendor's typings do not name it.
    pub struct SessionTitleChanged("type" = "system", "subtype" = "session_title_changed") {
        optional { title: String, uuid: String, session_id: String }
    }
}

wire_struct! {
    /// The session became idle or busy, or waits for a person.
    pub struct SessionStateChanged("type" = "system", "subtype" = "session_state_changed") {
        required { state: SessionState }
        optional { uuid: String, session_id: String }
    }
}

open_enum! {
    /// Whether the session works.
    pub enum SessionState { "idle" => Idle, "running" => Running, "requires_action" => RequiresAction }
}

wire_struct! {
    /// The list of slash commands changed.
    pub struct CommandsChanged("type" = "system", "subtype" = "commands_changed") {
        required { commands: Vec<SlashCommand> }
        optional { uuid: String, session_id: String }
    }
}
