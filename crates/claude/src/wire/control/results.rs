//! What the CLI answers to requests of the host.
//!
//! Nothing is required here: older CLIs answer many requests with an empty success. The larger reports (context, usage,
//! initialize) have files of their own.

use std::collections::BTreeMap;

use crate::wire::account::{AgentInfo, ModelInfo, SlashCommand};
use crate::wire::json::Json;
use crate::wire::permission::{PermissionBehavior, PermissionMode};

wire_struct! {
    /// Nothing but success.
    pub struct Empty {}
}

wire_struct! {
    /// What an interrupt left in the CLI's queue. Older CLIs do not say.
    pub struct InterruptResult {
        optional { still_queued: Vec<String>, cancelled: Vec<String> }
    }
}

wire_struct! {
    /// The mode now in effect.
    pub struct SetPermissionModeResult {
        optional { mode: PermissionMode }
    }
}

wire_struct! {
    /// The model now in effect. Older CLIs do not say.
    pub struct SetModelResult {
        optional { model: String }
    }
}

wire_struct! {
    /// The state of the MCP servers.
    pub struct McpStatusResult {
        optional { "mcpServers" => mcp_servers: Vec<McpServerStatus> }
    }
}

wire_struct! {
    /// The state of one MCP server.
    pub struct McpServerStatus {
        required { name: String }
        optional {
            /// `connected`, `failed`, `needs-auth`, `pending` or `disabled`.
            status: String,
            "serverInfo" => server_info: McpServerInfo,
            error: String,
            config: Json,
            scope: String,
            source: String,
            tools: Vec<McpTool>,
        }
    }
}

wire_struct! {
    /// How an MCP server names itself.
    pub struct McpServerInfo {
        optional { name: String, version: String }
    }
}

wire_struct! {
    /// A tool of an MCP server.
    pub struct McpTool {
        required { name: String }
        optional {
            description: String,
            annotations: McpToolAnnotations,
            "_meta" => meta: Json,
        }
    }
}

wire_struct! {
    /// What a tool says about itself.
    pub struct McpToolAnnotations {
        optional {
            "readOnly" => read_only: bool,
            destructive: bool,
            "openWorld" => open_world: bool,
        }
    }
}

wire_struct! {
    /// What changing the MCP servers did.
    pub struct McpSetServersResult {
        optional { added: Vec<String>, removed: Vec<String>, errors: BTreeMap<String, String> }
    }
}

wire_struct! {
    /// The contents of a resource of an MCP server.
    pub struct ReadResourceResult {
        optional { contents: Vec<McpResourceContent> }
    }
}

wire_struct! {
    /// One part of a resource.
    pub struct McpResourceContent {
        required { uri: String }
        optional {
            "mimeType" => mime_type: String,
            text: String,
            blob: String,
            "_meta" => meta: Json,
        }
    }
}

wire_struct! {
    /// The cost of the session, in words.
    pub struct SessionCost {
        optional { text: String }
    }
}

wire_struct! {
    /// The models that can be chosen.
    pub struct ModelList {
        optional { models: Vec<ModelInfo> }
    }
}

wire_struct! {
    /// Which CLI this is.
    pub struct BinaryVersion {
        optional { version: String, "buildTime" => build_time: String }
    }
}

wire_struct! {
    /// Files that match.
    pub struct FileSuggestionsResult {
        optional { suggestions: Vec<Json> }
    }
}

wire_struct! {
    /// What rewinding the files did, or would do.
    pub struct RewindFilesResult {
        optional {
            "canRewind" => can_rewind: bool,
            error: String,
            "filesChanged" => files_changed: Vec<String>,
            insertions: u64,
            deletions: u64,
            "skippedLinks" => skipped_links: u64,
        }
    }
}

wire_struct! {
    /// Whether the message was still in the queue.
    pub struct CancelAsyncMessageResult {
        optional { cancelled: bool }
    }
}

wire_struct! {
    /// The contents of a file.
    pub struct ReadFileResult {
        optional {
            contents: String,
            "absPath" => abs_path: String,
            truncated: bool,
            encoding: String,
            lossy: bool,
        }
    }
}

wire_struct! {
    /// What loading the plugins again gave.
    pub struct ReloadedPlugins {
        optional {
            commands: Vec<SlashCommand>,
            agents: Vec<AgentInfo>,
            plugins: Vec<ReloadedPlugin>,
            "mcpServers" => mcp_servers: Vec<McpServerStatus>,
            error_count: u64,
            held: bool,
            cache_impact: CacheImpact,
        }
    }
}

wire_struct! {
    /// A plugin that is loaded.
    pub struct ReloadedPlugin {
        required { name: String }
        optional { path: String, source: String, version: String }
    }
}

wire_struct! {
    /// What loading the plugins would do to the prompt cache.
    pub struct CacheImpact {
        optional {
            mcp_servers_added: Vec<String>,
            mcp_servers_removed: Vec<String>,
            lsp_tool_change: String,
        }
    }
}

wire_struct! {
    /// The skills after loading them again.
    pub struct ReloadedSkills {
        optional { skills: Vec<SlashCommand> }
    }
}

wire_struct! {
    /// The output styles after loading them again.
    pub struct OutputStyles {
        optional { available_output_styles: Vec<String> }
    }
}

wire_struct! {
    /// The output of a background task.
    pub struct TaskOutput {
        optional { output: String, total_bytes: u64, truncated: bool }
    }
}

wire_struct! {
    /// The settings in effect and where they come from.
    pub struct SettingsReport {
        optional { effective: Json, sources: Vec<Json>, applied: Json }
    }
}

wire_struct! {
    /// The hooks that are configured.
    pub struct HooksListing {
        optional {
            events: Vec<HookEventSummary>,
            hooks: Vec<HookListing>,
            "eventCatalog" => event_catalog: Vec<HookEventSummary>,
            policy: HooksPolicy,
            "safeMode" => safe_mode: Json,
            "bareMode" => bare_mode: Json,
            errors: Vec<SettingsParseError>,
        }
    }
}

wire_struct! {
    /// A hook event and how many hooks it has.
    pub struct HookEventSummary {
        required { name: String }
        optional {
            summary: String,
            "supportsMatcher" => supports_matcher: bool,
            "hookCount" => hook_count: u64,
        }
    }
}

wire_struct! {
    /// One configured hook.
    pub struct HookListing {
        required { event: String }
        optional {
            matcher: String,
            source: String,
            "sourceLabel" => source_label: String,
            "pluginName" => plugin_name: String,
            "type" => kind: String,
            "displayText" => display_text: String,
            "commandText" => command_text: String,
            "contentLabel" => content_label: String,
            condition: String,
            timeout: f64,
            "statusMessage" => status_message: String,
            "runsOnce" => runs_once: bool,
            "runsInBackground" => runs_in_background: bool,
            disabled: bool,
            editable: Json,
        }
    }
}

wire_struct! {
    /// What the administrator allows of hooks.
    pub struct HooksPolicy {
        optional {
            "disabledByPolicy" => disabled_by_policy: bool,
            "managedOnly" => managed_only: bool,
            "pluginOnly" => plugin_only: bool,
            "allDisabled" => all_disabled: bool,
            "policyHookCount" => policy_hook_count: u64,
            "policyUnreadable" => policy_unreadable: bool,
        }
    }
}

wire_struct! {
    /// A settings file, or a part of one, that could not be read.
    pub struct SettingsParseError {
        optional { file: String, path: String, message: String }
    }
}

wire_struct! {
    /// The permission rules in effect.
    pub struct PermissionRules {
        optional { state: PermissionRulesState }
    }
}

wire_struct! {
    /// Rules, directories and what could not be read.
    pub struct PermissionRulesState {
        optional {
            rules: Vec<PermissionRuleEntry>,
            "workspaceDirectories" => workspace_directories: Vec<WorkspaceDirectory>,
            "originalCwd" => original_cwd: String,
            "managedOnly" => managed_only: bool,
            errors: Vec<SettingsParseError>,
            withheld: bool,
        }
    }
}

wire_struct! {
    /// One rule and where it comes from.
    pub struct PermissionRuleEntry {
        required { behavior: PermissionBehavior, rule: String }
        optional {
            source: String,
            description: PermissionRuleDescription,
            editability: String,
            "notInEffect" => not_in_effect: bool,
        }
    }
}

wire_struct! {
    /// A rule in words.
    pub struct PermissionRuleDescription {
        optional { prefix: String, emphasis: String, suffix: String }
    }
}

wire_struct! {
    /// A directory the tools may work in.
    pub struct WorkspaceDirectory {
        required { path: String }
        optional { source: String }
    }
}

wire_struct! {
    /// The model's answer beside the conversation.
    pub struct SideQuestionResult {
        optional { response: String, synthetic: bool }
    }
}

wire_struct! {
    /// The title the model found.
    pub struct SessionTitle {
        optional { title: String }
    }
}
