//! Requests the host makes of the CLI (`initialize` has a file of its own).
//!
//! Control requests are sent at most once: a repeated `interrupt`, for one, aborts the next turn.

use std::collections::BTreeMap;

use super::setup::PluginConfig;
use crate::wire::json::Json;
use crate::wire::permission::PermissionMode;

wire_struct! {
    /// Stops the running turn.
    pub struct Interrupt("subtype" = "interrupt") {
        optional {
            /// Also drops the messages that wait in the CLI's queue.
            cancel_queued: bool,
        }
    }
}

wire_struct! {
    /// Changes the permission mode.
    pub struct SetPermissionMode("subtype" = "set_permission_mode") {
        required { mode: PermissionMode }
    }
}

wire_struct! {
    /// Changes the model; none goes back to the default.
    pub struct SetModel("subtype" = "set_model") {
        optional { model: String }
    }
}

wire_struct! {
    /// Limits the model's thinking; none goes back to the model's own limit.
    pub struct SetMaxThinkingTokens("subtype" = "set_max_thinking_tokens") {
        required { max_thinking_tokens: Option<u64> }
        optional { thinking_display: ThinkingDisplay }
    }
}

open_enum! {
    /// How thinking is passed on.
    pub enum ThinkingDisplay {
        "summarized" => Summarized,
        "omitted" => Omitted,
        "highlights" => Highlights,
    }
}

wire_struct! {
    /// Gives the session a title.
    pub struct RenameSession("subtype" = "rename_session") {
        required { title: String }
        optional { source: String, session_id: String }
    }
}

wire_struct! {
    /// Sets the colour of the session in the terminal.
    pub struct SetColor("subtype" = "set_color") {
        required { color: String }
    }
}

wire_struct! {
    /// Asks for the state of the MCP servers.
    pub struct McpStatus("subtype" = "mcp_status") {
        optional { "liveReply" => live_reply: bool }
    }
}

wire_struct! {
    /// Asks what fills the context.
    pub struct GetContextUsage("subtype" = "get_context_usage") {
        optional { detail: ContextDetail }
    }
}

open_enum! {
    /// How much to tell about the context.
    pub enum ContextDetail { "summary" => Summary, "full" => Full }
}

wire_struct! {
    /// Asks for the cost of the session, as text.
    pub struct GetSessionCost("subtype" = "get_session_cost") {}
}

wire_struct! {
    /// Asks which models can be chosen.
    pub struct ListModels("subtype" = "list_models") {}
}

wire_struct! {
    /// Asks for use and plan limits.
    pub struct GetUsage("subtype" = "get_usage") {
        optional { skip_behaviors: bool }
    }
}

wire_struct! {
    /// Asks for the CLI's version.
    pub struct GetBinaryVersion("subtype" = "get_binary_version") {}
}

wire_struct! {
    /// Calls a tool of an MCP server without the model.
    pub struct McpCall("subtype" = "mcp_call") {
        required { tool: String }
        optional {
            arguments: Json,
            expires_at: String,
            timeout_ms: u64,
            result_not_for_model: bool,
            check_permissions: bool,
            input_files: Vec<LaneFile>,
            output_files: Vec<LaneFile>,
        }
    }
}

wire_struct! {
    /// A file that goes with a direct tool call.
    pub struct LaneFile {
        required { name: String, lane_path: String }
        optional { if_match: String }
    }
}

wire_struct! {
    /// Asks for files that match what the user types.
    pub struct FileSuggestions("subtype" = "file_suggestions") {
        required { query: String }
    }
}

wire_struct! {
    /// Puts files back to where they were at a user message.
    pub struct RewindFiles("subtype" = "rewind_files") {
        required { user_message_id: String }
        optional { dry_run: bool }
    }
}

wire_struct! {
    /// Takes a queued user message back.
    pub struct CancelAsyncMessage("subtype" = "cancel_async_message") {
        required { message_uuid: String }
    }
}

wire_struct! {
    /// Reads a file the way the CLI sees it.
    pub struct ReadFile("subtype" = "read_file") {
        required { path: String }
        optional { max_bytes: u64, encoding: FileEncoding }
    }
}

open_enum! {
    /// How file contents are sent.
    pub enum FileEncoding { "utf-8" => Utf8, "base64" => Base64 }
}

wire_struct! {
    /// Tells the CLI that a file has been read already.
    pub struct SeedReadState("subtype" = "seed_read_state") {
        required { path: String, mtime: f64 }
    }
}

wire_struct! {
    /// Replaces the MCP servers; in-process ones not named are removed.
    pub struct McpSetServers("subtype" = "mcp_set_servers") {
        required {
            /// Configurations by name.
            servers: BTreeMap<String, Json>,
        }
    }
}

wire_struct! {
    /// Adds a directory as a root of the session.
    pub struct RegisterRepoRoot("subtype" = "register_repo_root") {
        required { directory: String }
        optional { reload_claude_md: bool, reload_plugins: bool, reload_skills: bool }
    }
}

wire_struct! {
    /// Loads the plugins again.
    pub struct ReloadPlugins("subtype" = "reload_plugins") {
        optional {
            hold_on_cache_impact: bool,
            add_plugins: Vec<PluginConfig>,
            refuse_if_busy: bool,
        }
    }
}

wire_struct! {
    /// Loads the skills again.
    pub struct ReloadSkills("subtype" = "reload_skills") {}
}

wire_struct! {
    /// Loads the output styles again.
    pub struct ReloadOutputStyles("subtype" = "reload_output_styles") {}
}

wire_struct! {
    /// Connects an MCP server again.
    pub struct McpReconnect("subtype" = "mcp_reconnect") {
        required { "serverName" => server_name: String }
    }
}

wire_struct! {
    /// Switches an MCP server on or off.
    pub struct McpToggle("subtype" = "mcp_toggle") {
        required { "serverName" => server_name: String, enabled: bool }
    }
}

wire_struct! {
    /// Tells the CLI whether anybody is watching; none means not known.
    pub struct SetHasSubscribers("subtype" = "set_has_subscribers") {
        required { has_subscribers: Option<bool> }
    }
}

wire_struct! {
    /// Stops a background task.
    pub struct StopTask("subtype" = "stop_task") {
        required { task_id: String }
    }
}

wire_struct! {
    /// Moves running foreground work to the background.
    pub struct BackgroundTasks("subtype" = "background_tasks") {
        optional { tool_use_id: String }
    }
}

wire_struct! {
    /// Asks for the output of a background task.
    pub struct GetTaskOutput("subtype" = "get_task_output") {
        required { task_id: String }
    }
}

wire_struct! {
    /// Applies settings as if given on the command line.
    pub struct ApplyFlagSettings("subtype" = "apply_flag_settings") {
        required { settings: Json }
    }
}

wire_struct! {
    /// Asks for the settings in effect.
    pub struct GetSettings("subtype" = "get_settings") {}
}

wire_struct! {
    /// Asks which hooks are configured.
    pub struct GetHooksListing("subtype" = "get_hooks_listing") {}
}

wire_struct! {
    /// Changes a settings file.
    pub struct UpdateSettings("subtype" = "update_settings") {
        required { source: SettingsSource, settings: Json }
    }
}

open_enum! {
    /// Which settings file.
    pub enum SettingsSource { "localSettings" => Local, "userSettings" => User }
}

wire_struct! {
    /// Asks for the permission rules in effect.
    pub struct ListPermissionRules("subtype" = "list_permission_rules") {}
}

wire_struct! {
    /// Reads a resource of an MCP server.
    pub struct McpReadResource("subtype" = "mcp_read_resource") {
        required { "serverName" => server_name: String, uri: String }
    }
}

wire_struct! {
    /// Ends the session; nothing may be sent after it.
    pub struct EndSession("subtype" = "end_session") {
        optional { reason: String }
    }
}

wire_struct! {
    /// Asks the model something beside the conversation.
    pub struct SideQuestion("subtype" = "side_question") {
        required { question: String }
    }
}

wire_struct! {
    /// Lets the model find a title.
    pub struct GenerateSessionTitle("subtype" = "generate_session_title") {
        required { description: String }
        optional { persist: bool }
    }
}
