//! `initialize`: the first request of a session, and what the CLI says about itself in return.
//!
//! It may be repeated; the envelope of a later answer lists the requests the CLI still waits on.

use std::collections::BTreeMap;

use crate::wire::account::{AccountInfo, AgentInfo, ModelInfo, SlashCommand};
use crate::wire::json::Json;
use crate::wire::permission::PermissionMode;
use crate::wire::system::{FastModeDisabledReason, FastModeState, SessionState};

wire_struct! {
    /// Registers hooks, in-process servers, agents and prompts.
    pub struct Initialize("subtype" = "initialize") {
        optional {
            /// By event name.
            hooks: BTreeMap<String, Vec<HookMatcher>>,
            "sdkMcpServers" => sdk_mcp_servers: Vec<String>,
            "sdkMcpServerConfigs" => sdk_mcp_server_configs: BTreeMap<String, SdkMcpServerConfig>,
            "sdkMcpServerManifests" => sdk_mcp_server_manifests: BTreeMap<String, SdkMcpServerManifest>,
            "sdkMcpServerManifestsOrigin" => sdk_mcp_server_manifests_origin: String,
            "jsonSchema" => json_schema: Json,
            "systemPrompt" => system_prompt: Vec<String>,
            "appendSystemPrompt" => append_system_prompt: String,
            "systemPromptSnapshot" => system_prompt_snapshot: bool,
            "planModeInstructions" => plan_mode_instructions: String,
            "toolAliases" => tool_aliases: BTreeMap<String, String>,
            "excludeDynamicSections" => exclude_dynamic_sections: bool,
            agents: BTreeMap<String, AgentDefinition>,
            title: String,
            skills: Vec<String>,
            "promptSuggestions" => prompt_suggestions: bool,
            "agentProgressSummaries" => agent_progress_summaries: bool,
            "forwardSubagentText" => forward_subagent_text: bool,
            "supportedDialogKinds" => supported_dialog_kinds: Vec<String>,
            "perTaskStopAffordance" => per_task_stop_affordance: bool,
            plugins: Vec<PluginConfig>,
        }
    }
}

wire_struct! {
    /// Which callbacks to call for which tools or sources.
    pub struct HookMatcher {
        required { "hookCallbackIds" => hook_callback_ids: Vec<String> }
        optional {
            matcher: String,
            /// Seconds.
            timeout: f64,
            "onFailure" => on_failure: String,
        }
    }
}

wire_struct! {
    /// Settings of an in-process MCP server.
    pub struct SdkMcpServerConfig {
        optional { timeout: f64, tools: Vec<Json> }
    }
}

wire_struct! {
    /// What an in-process MCP server would answer to the handshake, given ahead.
    pub struct SdkMcpServerManifest {
        required { "initializeResult" => initialize_result: Json }
        optional { "toolsListResult" => tools_list_result: Json }
    }
}

wire_struct! {
    /// An agent the model can start.
    pub struct AgentDefinition {
        required {
            /// When to use it.
            description: String,
            /// Its system prompt.
            prompt: String,
        }
        optional {
            tools: Vec<String>,
            "disallowedTools" => disallowed_tools: Vec<String>,
            model: String,
            "mcpServers" => mcp_servers: Vec<Json>,
            "criticalSystemReminder_EXPERIMENTAL" => critical_system_reminder: String,
            skills: Vec<String>,
            "initialPrompt" => initial_prompt: String,
            "maxTurns" => max_turns: u64,
            "autoCompactWindow" => auto_compact_window: u64,
            background: bool,
            "omitClaudeMd" => omit_claude_md: bool,
            memory: String,
            /// A level's name, or a number.
            effort: Json,
            "permissionMode" => permission_mode: PermissionMode,
            observer: String,
            "observerMessage" => observer_message: String,
        }
    }
}

wire_struct! {
    /// A plugin on this machine.
    pub struct PluginConfig("type" = "local") {
        required { path: String }
        optional { "skipMcpDiscovery" => skip_mcp_discovery: bool }
    }
}

wire_struct! {
    /// What the CLI says about itself.
    pub struct InitializeResult {
        optional {
            commands: Vec<SlashCommand>,
            agents: Vec<AgentInfo>,
            output_style: String,
            available_output_styles: Vec<String>,
            user_output_styles_dir: String,
            models: Vec<ModelInfo>,
            account: AccountInfo,
            pid: u32,
            hooks_applied: bool,
            hook_on_failure_supported: bool,
            other_hook_ask_outranks_host: bool,
            plugins_applied: bool,
            sdk_mcp_manifests_parked: BTreeMap<String, String>,
            claude_code_version: String,
            current_permission_mode: PermissionMode,
            fast_mode_state: FastModeState,
            fast_mode_disabled_reason: FastModeDisabledReason,
            session_state: SessionState,
            capabilities: Vec<String>,
            feedback_mode: FeedbackMode,
            analytics_disabled: bool,
            remote_control_auto_enable: bool,
            remote_control_auto_connect_default: bool,
            remote_control_available: bool,
            remote_control_auto_on_by_default: bool,
            ide_rc_auto_enable_gate: bool,
        }
    }
}

wire_struct! {
    /// How the CLI takes feedback.
    pub struct FeedbackMode {
        optional { kind: String }
    }
}
