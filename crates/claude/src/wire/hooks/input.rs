//! What the CLI tells a hook: fields common to all events, and those of each event.
//!
//! The common fields are repeated in every struct by `hook_inputs!`, because the wire is flat; `base()` gives them as
//! one value. Tool inputs stay raw JSON: their shape belongs to the tool.

use crate::wire::assistant::AssistantError;
use crate::wire::control::{ElicitationAction, ElicitationMode, McpServerProvenance};
use crate::wire::json::Json;
use crate::wire::permission::{PermissionMode, PermissionUpdate};
use crate::wire::system::CompactTrigger;

/// The fields every hook input has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HookBase<'a> {
    /// The session.
    pub session_id: &'a str,
    /// The file the CLI keeps the conversation in.
    pub transcript_path: Option<&'a str>,
    /// The working directory.
    pub cwd: Option<&'a str>,
    /// The prompt being worked on.
    pub prompt_id: Option<&'a str>,
    /// The permission mode in effect.
    pub permission_mode: Option<&'a PermissionMode>,
    /// The subagent it is about; none for the main conversation.
    pub agent_id: Option<&'a str>,
    /// The kind of that subagent.
    pub agent_type: Option<&'a str>,
    /// How hard the model tries.
    pub effort: Option<&'a Effort>,
}

macro_rules! hook_inputs {
    ($(
        $(#[$meta:meta])*
        $event:literal => $name:ident as $variant:ident
        { $($rfield:ident : $rty:ty),* $(,)? }
        { $($($oname:literal =>)? $ofield:ident : $oty:ty),* $(,)? }
    )+) => {
        $(
            wire_struct! {
                $(#[$meta])*
                pub struct $name("hook_event_name" = $event) {
                    required { session_id: String, $($rfield: $rty),* }
                    optional {
                        transcript_path: String,
                        cwd: String,
                        prompt_id: String,
                        permission_mode: PermissionMode,
                        agent_id: String,
                        agent_type: String,
                        effort: Effort,
                        $($($oname =>)? $ofield: $oty),*
                    }
                }
            }

            impl $name {
                /// The fields common to all events.
                pub fn base(&self) -> HookBase<'_> {
                    HookBase {
                        session_id: &self.session_id,
                        transcript_path: self.transcript_path.as_deref(),
                        cwd: self.cwd.as_deref(),
                        prompt_id: self.prompt_id.as_deref(),
                        permission_mode: self.permission_mode.as_ref(),
                        agent_id: self.agent_id.as_deref(),
                        agent_type: self.agent_type.as_deref(),
                        effort: self.effort.as_ref(),
                    }
                }
            }
        )+

        impl super::HookInput {
            /// The fields common to all events; none for an unknown event.
            pub fn base(&self) -> Option<HookBase<'_>> {
                match self {
                    $(Self::$variant(input) => Some(input.base()),)+
                    Self::Unknown(_) => None,
                }
            }
        }
    };
}

wire_struct! {
    /// How hard the model tries.
    pub struct Effort {
        required { level: String }
    }
}

wire_struct! {
    /// One tool call of an answer, and what it gave.
    pub struct ToolCallSummary {
        required { tool_name: String }
        optional { tool_input: Json, tool_use_id: String, tool_response: Json }
    }
}

wire_struct! {
    /// A task that still runs in the background.
    pub struct BackgroundTaskSummary {
        required { id: String }
        optional {
            "type" => kind: String,
            status: String,
            description: String,
            command: String,
            agent_type: String,
            server: String,
            tool: String,
            name: String,
        }
    }
}

wire_struct! {
    /// A prompt the session will send itself later.
    pub struct SessionCronSummary {
        required { id: String }
        optional { schedule: String, recurring: bool, prompt: String }
    }
}

hook_inputs! {
    /// A tool is about to run.
    "PreToolUse" => PreToolUseInput as PreToolUse
        { tool_name: String, tool_input: Json, tool_use_id: String }
        { mcp_server: McpServerProvenance }
    /// A tool has run.
    "PostToolUse" => PostToolUseInput as PostToolUse
        { tool_name: String, tool_input: Json }
        { tool_response: Json, tool_use_id: String, duration_ms: f64, mcp_server: McpServerProvenance }
    /// A tool has failed.
    "PostToolUseFailure" => PostToolUseFailureInput as PostToolUseFailure
        { tool_name: String, tool_input: Json }
        { tool_use_id: String, error: String, is_interrupt: bool, duration_ms: f64, mcp_server: McpServerProvenance }
    /// All tool calls of one answer have run.
    "PostToolBatch" => PostToolBatchInput as PostToolBatch
        { tool_calls: Vec<ToolCallSummary> }
        {  }
    /// The CLI notifies the user.
    "Notification" => NotificationInput as Notification
        { message: String }
        { title: String, notification_type: String }
    /// A prompt was submitted.
    "UserPromptSubmit" => UserPromptSubmitInput as UserPromptSubmit
        { prompt: String }
        { source: String, session_title: String }
    /// A slash command or MCP prompt was expanded.
    "UserPromptExpansion" => UserPromptExpansionInput as UserPromptExpansion
        { prompt: String }
        { expansion_type: String, command_name: String, command_args: String, command_source: String }
    /// A session starts.
    "SessionStart" => SessionStartInput as SessionStart
        {  }
        { source: String, model: String, session_title: String, seconds_since_last_response: f64, context_tokens: u64, prompt_cache_likely_expired: bool, estimated_cache_write_usd: f64 }
    /// A session ends.
    "SessionEnd" => SessionEndInput as SessionEnd
        {  }
        { reason: String }
    /// The model has finished its turn.
    "Stop" => StopInput as Stop
        {  }
        { stop_hook_active: bool, last_assistant_message: String, background_tasks: Vec<BackgroundTaskSummary>, session_crons: Vec<SessionCronSummary> }
    /// A turn ended with an error.
    "StopFailure" => StopFailureInput as StopFailure
        {  }
        { error: AssistantError, error_details: String, last_assistant_message: String }
    /// A subagent starts.
    "SubagentStart" => SubagentStartInput as SubagentStart
        {  }
        {  }
    /// A subagent has finished.
    "SubagentStop" => SubagentStopInput as SubagentStop
        {  }
        { stop_hook_active: bool, agent_transcript_path: String, last_assistant_message: String, background_tasks: Vec<BackgroundTaskSummary>, session_crons: Vec<SessionCronSummary> }
    /// The conversation is about to be compacted.
    "PreCompact" => PreCompactInput as PreCompact
        { trigger: CompactTrigger }
        { custom_instructions: String }
    /// The conversation has been compacted.
    "PostCompact" => PostCompactInput as PostCompact
        { trigger: CompactTrigger }
        { compact_summary: String }
    /// The model is about to change.
    "PreModelSwitch" => PreModelSwitchInput as PreModelSwitch
        { from_model: String, to_model: String }
        { requested_model: String, source: String, context_tokens: u64, prompt_cache_warm: bool, cache_ttl: String, estimated_cache_write_usd: f64, pricing: String }
    /// The model has changed.
    "PostModelSwitch" => PostModelSwitchInput as PostModelSwitch
        { from_model: String, to_model: String }
        { requested_model: String, source: String, context_tokens: u64, prompt_cache_warm: bool, cache_ttl: String, estimated_cache_write_usd: f64, pricing: String }
    /// A permission is about to be asked for.
    "PermissionRequest" => PermissionRequestInput as PermissionRequest
        { tool_name: String, tool_input: Json }
        { permission_suggestions: Vec<PermissionUpdate>, mcp_server: McpServerProvenance }
    /// A tool call was denied.
    "PermissionDenied" => PermissionDeniedInput as PermissionDenied
        { tool_name: String, tool_input: Json }
        { tool_use_id: String, reason: String, mcp_server: McpServerProvenance }
    /// The CLI sets itself up.
    "Setup" => SetupInput as Setup
        {  }
        { trigger: String }
    /// A teammate has nothing to do.
    "TeammateIdle" => TeammateIdleInput as TeammateIdle
        { teammate_name: String }
        { team_name: String }
    /// A task was put on the list.
    "TaskCreated" => TaskCreatedInput as TaskCreated
        { task_id: String }
        { task_subject: String, task_description: String, teammate_name: String, team_name: String }
    /// A task of the list was done.
    "TaskCompleted" => TaskCompletedInput as TaskCompleted
        { task_id: String }
        { task_subject: String, task_description: String, teammate_name: String, team_name: String }
    /// An MCP server asks the user something.
    "Elicitation" => ElicitationInput as Elicitation
        { mcp_server_name: String, message: String }
        { mode: ElicitationMode, url: String, elicitation_id: String, requested_schema: Json }
    /// The user answered an MCP server.
    "ElicitationResult" => ElicitationResultInput as ElicitationResult
        { mcp_server_name: String, action: ElicitationAction }
        { elicitation_id: String, mode: ElicitationMode, content: Json }
    /// A settings file or skill changed.
    "ConfigChange" => ConfigChangeInput as ConfigChange
        {  }
        { source: String, file_path: String }
    /// A worktree is to be created.
    "WorktreeCreate" => WorktreeCreateInput as WorktreeCreate
        { name: String }
        {  }
    /// A worktree is to be removed.
    "WorktreeRemove" => WorktreeRemoveInput as WorktreeRemove
        { worktree_path: String }
        {  }
    /// An instructions file was loaded.
    "InstructionsLoaded" => InstructionsLoadedInput as InstructionsLoaded
        { file_path: String }
        { memory_type: String, load_reason: String, globs: Vec<String>, trigger_file_path: String, parent_file_path: String }
    /// The working directory changed.
    "CwdChanged" => CwdChangedInput as CwdChanged
        { new_cwd: String }
        { old_cwd: String }
    /// A watched file changed.
    "FileChanged" => FileChangedInput as FileChanged
        { file_path: String }
        { event: String }
    /// A directory was added to the session.
    "DirectoryAdded" => DirectoryAddedInput as DirectoryAdded
        { directory: String }
        { source: String }
    /// Text is about to be shown.
    "MessageDisplay" => MessageDisplayInput as MessageDisplay
        { delta: String }
        { turn_id: String, message_id: String, index: u64, "final" => is_final: bool }
}
