//! Every control request the CLI takes from a host, one method each.
//!
//! Requests that an older CLI does not know are refused by it with
//! [`ControlError::Refused`](crate::ControlError::Refused), and nothing else happens.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{Stream, StreamExt};
use serde_json::{Map, Value};

use super::handle::Handle;
use crate::engine::{ControlError, SendError};
use crate::mcp::{McpServers, set_servers_value};
use crate::wire::control::{
    ApplyFlagSettings, BackgroundTasks, BinaryVersion, CancelAsyncMessage, ContextDetail,
    ContextReport, FileSuggestions, FileSuggestionsResult, GenerateSessionTitle, GetBinaryVersion,
    GetContextUsage, GetHooksListing, GetSessionCost, GetSettings, GetTaskOutput, GetUsage,
    HooksListing, InitializeResult, Interrupt, InterruptResult, ListModels, ListPermissionRules,
    McpCall, McpReadResource, McpReconnect, McpServerStatus, McpSetServersResult, McpStatus,
    McpToggle, ModelList, OutputStyles, PermissionRules, ReadFile, ReadFileResult,
    ReadResourceResult, RegisterRepoRoot, ReloadOutputStyles, ReloadPlugins, ReloadSkills,
    ReloadedPlugins, ReloadedSkills, RenameSession, RewindFiles, RewindFilesResult, SeedReadState,
    SessionCost, SessionTitle, SetColor, SetHasSubscribers, SetMaxThinkingTokens, SetModel,
    SetModelResult, SetPermissionMode, SettingsReport, SettingsSource, SideQuestion,
    SideQuestionResult, StopTask, TaskOutput, UpdateSettings, UsageResult,
};
use crate::wire::{
    AccountInfo, AgentInfo, Json, ModelInfo, PermissionMode, SlashCommand, UserMessage,
};

/// Requests that make a model or a tool work may take as long as that work does.
const WORK: Duration = Duration::from_mins(10);

type Ready<T> = Result<T, Arc<ControlError>>;
type Asked<T> = Result<T, ControlError>;

/// The turn, and messages on their way into it.
impl Handle {
    /// Stops the running turn; its result says that it was interrupted. Queued messages run afterwards.
    pub async fn interrupt(&self) -> Asked<InterruptResult> {
        self.call(Interrupt::default()).await
    }

    /// Stops the running turn and drops the messages that wait in the CLI's queue. An older CLI only stops.
    pub async fn interrupt_and_cancel_queued(&self) -> Asked<InterruptResult> {
        self.call(Interrupt {
            cancel_queued: Some(true),
            ..Interrupt::default()
        })
        .await
    }

    /// Sends messages as they come, until the stream ends.
    pub async fn stream_input(
        &self,
        messages: impl Stream<Item = UserMessage> + Send,
    ) -> Result<(), SendError> {
        let mut messages = std::pin::pin!(messages);
        while let Some(message) = messages.next().await {
            self.send(message).await?;
        }
        Ok(())
    }

    /// Takes back a message that still waits in the CLI's queue; says whether it did.
    pub async fn cancel_async_message(&self, uuid: impl Into<String>) -> Asked<bool> {
        let result = self.call(CancelAsyncMessage::new(uuid)).await?;
        Ok(result.cancelled.unwrap_or_default())
    }

    /// Asks the model something beside the conversation.
    pub async fn side_question(&self, question: impl Into<String>) -> Asked<SideQuestionResult> {
        self.call_within(SideQuestion::new(question), WORK).await
    }
}

/// Settings that can change in mid-session.
impl Handle {
    /// Changes the permission mode.
    pub async fn set_permission_mode(&self, mode: PermissionMode) -> Asked<()> {
        self.call(SetPermissionMode::new(mode)).await.map(drop)
    }

    /// Changes the model from the next request on; none goes back to the default.
    pub async fn set_model(&self, model: Option<String>) -> Asked<SetModelResult> {
        self.call(SetModel {
            model,
            ..SetModel::default()
        })
        .await
    }

    /// Limits the tokens spent on thinking; none goes back to what the session started with.
    pub async fn set_max_thinking_tokens(&self, tokens: Option<u64>) -> Asked<()> {
        self.call(SetMaxThinkingTokens::new(tokens)).await.map(drop)
    }

    /// Applies settings as if given on the command line.
    pub async fn apply_flag_settings(&self, settings: &Value) -> Asked<()> {
        let settings = json_of(settings)?;
        self.call(ApplyFlagSettings::new(settings)).await.map(drop)
    }

    /// Changes a settings file.
    pub async fn update_settings(&self, source: SettingsSource, settings: &Value) -> Asked<()> {
        let settings = json_of(settings)?;
        self.call(UpdateSettings::new(source, settings))
            .await
            .map(drop)
    }

    /// The settings in effect and where they come from.
    pub async fn settings(&self) -> Asked<SettingsReport> {
        self.call(GetSettings::default()).await
    }

    /// The permission rules in effect.
    pub async fn permission_rules(&self) -> Asked<PermissionRules> {
        self.call(ListPermissionRules::default()).await
    }

    /// The hooks that are configured.
    pub async fn hooks_listing(&self) -> Asked<HooksListing> {
        self.call(GetHooksListing::default()).await
    }

    /// Gives the session a title.
    pub async fn rename_session(&self, title: impl Into<String>) -> Asked<()> {
        self.call(RenameSession::new(title)).await.map(drop)
    }

    /// Lets the model find a title for a description.
    pub async fn generate_session_title(
        &self,
        description: impl Into<String>,
    ) -> Asked<SessionTitle> {
        self.call_within(GenerateSessionTitle::new(description), WORK)
            .await
    }

    /// Sets the colour of the session where the CLI shows one.
    pub async fn set_color(&self, color: impl Into<String>) -> Asked<()> {
        self.call(SetColor::new(color)).await.map(drop)
    }

    /// Tells the CLI whether anybody is watching; none means not known.
    pub async fn set_has_subscribers(&self, watching: Option<bool>) -> Asked<()> {
        self.call(SetHasSubscribers::new(watching)).await.map(drop)
    }
}

/// What the session offers and uses.
impl Handle {
    /// What the CLI said of itself at the start.
    pub async fn initialization_result(&self) -> Ready<Arc<InitializeResult>> {
        self.ready().await
    }

    /// The slash commands.
    pub async fn supported_commands(&self) -> Ready<Vec<SlashCommand>> {
        Ok(self.ready().await?.commands.clone().unwrap_or_default())
    }

    /// The models that can be chosen.
    pub async fn supported_models(&self) -> Ready<Vec<ModelInfo>> {
        Ok(self.ready().await?.models.clone().unwrap_or_default())
    }

    /// The agents that can be started.
    pub async fn supported_agents(&self) -> Ready<Vec<AgentInfo>> {
        Ok(self.ready().await?.agents.clone().unwrap_or_default())
    }

    /// Who is signed in, and how.
    pub async fn account_info(&self) -> Ready<AccountInfo> {
        Ok(self.ready().await?.account.clone().unwrap_or_default())
    }

    /// The models that can be chosen, asked anew.
    pub async fn list_models(&self) -> Asked<ModelList> {
        self.call(ListModels::default()).await
    }

    /// The version of the CLI.
    pub async fn binary_version(&self) -> Asked<BinaryVersion> {
        self.call(GetBinaryVersion::default()).await
    }

    /// What fills the context.
    pub async fn context_usage(&self, detail: ContextDetail) -> Asked<ContextReport> {
        self.call(GetContextUsage {
            detail: Some(detail),
            ..GetContextUsage::default()
        })
        .await
    }

    /// The cost of the session so far.
    pub async fn session_cost(&self) -> Asked<SessionCost> {
        self.call(GetSessionCost::default()).await
    }

    /// Use and plan limits.
    pub async fn usage(&self) -> Asked<UsageResult> {
        self.call(GetUsage::default()).await
    }
}

/// MCP servers.
impl Handle {
    /// The state of the MCP servers.
    pub async fn mcp_server_status(&self) -> Asked<Vec<McpServerStatus>> {
        let status = self.call(McpStatus::default()).await?;
        Ok(status.mcp_servers.unwrap_or_default())
    }

    /// Replaces the MCP servers that were added at run time, in-process ones among them: those not named are
    /// removed.
    pub async fn set_mcp_servers(&self, servers: &McpServers) -> Asked<McpSetServersResult> {
        // The CLI greets a new in-process server before it answers, so it must be there first.
        self.callbacks().set_servers(servers);
        let fields = Map::from_iter([("servers".to_owned(), set_servers_value(servers))]);
        self.control_as("mcp_set_servers", fields).await
    }

    /// Connects an MCP server again.
    pub async fn reconnect_mcp_server(&self, name: impl Into<String>) -> Asked<()> {
        self.call(McpReconnect::new(name)).await.map(drop)
    }

    /// Switches an MCP server on.
    pub async fn enable_mcp_server(&self, name: impl Into<String>) -> Asked<()> {
        self.call(McpToggle::new(name, true)).await.map(drop)
    }

    /// Switches an MCP server off.
    pub async fn disable_mcp_server(&self, name: impl Into<String>) -> Asked<()> {
        self.call(McpToggle::new(name, false)).await.map(drop)
    }

    /// Calls a tool of an MCP server without the model.
    pub async fn mcp_call(&self, tool: impl Into<String>, arguments: &Value) -> Asked<Json> {
        let mut request = McpCall::new(tool);
        request.arguments = Some(json_of(arguments)?);
        self.call_within(request, WORK).await
    }

    /// Reads a resource of an MCP server.
    pub async fn read_mcp_resource(
        &self,
        server: impl Into<String>,
        uri: impl Into<String>,
    ) -> Asked<ReadResourceResult> {
        self.call(McpReadResource::new(server, uri)).await
    }
}

/// Files and what the CLI loads from them.
impl Handle {
    /// Puts files back to where they were at a user message. Needs
    /// [`Options::enable_file_checkpointing`](crate::options::Options::enable_file_checkpointing).
    pub async fn rewind_files(
        &self,
        user_message_uuid: impl Into<String>,
    ) -> Asked<RewindFilesResult> {
        self.call(RewindFiles::new(user_message_uuid)).await
    }

    /// Says what [`Handle::rewind_files`] would change.
    pub async fn preview_rewind_files(
        &self,
        user_message_uuid: impl Into<String>,
    ) -> Asked<RewindFilesResult> {
        let mut request = RewindFiles::new(user_message_uuid);
        request.dry_run = Some(true);
        self.call(request).await
    }

    /// Files that match what the user types.
    pub async fn file_suggestions(&self, query: impl Into<String>) -> Asked<FileSuggestionsResult> {
        self.call(FileSuggestions::new(query)).await
    }

    /// Reads a file the way the CLI sees it.
    pub async fn read_file(&self, request: ReadFile) -> Asked<ReadFileResult> {
        self.call(request).await
    }

    /// Tells the CLI that a file, as of this time in milliseconds, has been read already.
    pub async fn seed_read_state(&self, path: impl Into<String>, modified_ms: f64) -> Asked<()> {
        self.call(SeedReadState::new(path, modified_ms))
            .await
            .map(drop)
    }

    /// Adds a directory as a root of the session.
    pub async fn register_repo_root(&self, request: RegisterRepoRoot) -> Asked<Json> {
        self.call(request).await
    }

    /// Loads the plugins again.
    pub async fn reload_plugins(&self, request: ReloadPlugins) -> Asked<ReloadedPlugins> {
        self.call(request).await
    }

    /// Loads the skills again.
    pub async fn reload_skills(&self) -> Asked<ReloadedSkills> {
        self.call(ReloadSkills::default()).await
    }

    /// Loads the output styles again.
    pub async fn reload_output_styles(&self) -> Asked<OutputStyles> {
        self.call(ReloadOutputStyles::default()).await
    }
}

/// Background tasks.
impl Handle {
    /// Stops a background task.
    pub async fn stop_task(&self, task_id: impl Into<String>) -> Asked<()> {
        self.call(StopTask::new(task_id)).await.map(drop)
    }

    /// Moves running foreground work to the background. Does nothing before its `task_started` was printed.
    pub async fn background_tasks(&self) -> Asked<()> {
        self.call(BackgroundTasks::default()).await.map(drop)
    }

    /// Moves the foreground work of one tool call to the background.
    pub async fn background_tool(&self, tool_use_id: impl Into<String>) -> Asked<()> {
        self.call(BackgroundTasks {
            tool_use_id: Some(tool_use_id.into()),
            ..BackgroundTasks::default()
        })
        .await
        .map(drop)
    }

    /// The output of a background task.
    pub async fn task_output(&self, task_id: impl Into<String>) -> Asked<TaskOutput> {
        self.call(GetTaskOutput::new(task_id)).await
    }
}

fn json_of(value: &Value) -> Asked<Json> {
    Json::of(value).map_err(|error| ControlError::Send(SendError::Encode(error)))
}
