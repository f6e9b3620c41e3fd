//! What a hook may answer.
//!
//! Either at once (`SyncHookOutput`, the empty one meaning "go on"), or "I work in the background" (`AsyncHookOutput`).
//! What an event allows beyond the common fields is in `HookSpecificOutput`.

use crate::wire::control::ElicitationAction;
use crate::wire::cursor::Cursor;
use crate::wire::diagnostic::{Diagnostic, Diagnostics};
use crate::wire::json::Json;
use crate::wire::lenient::Wire;
use crate::wire::permission::{PermissionBehavior, PermissionUpdate};

/// The answer of a hook.
#[derive(Debug, Clone, PartialEq)]
pub enum HookOutput {
    /// The hook is done.
    Sync(Box<SyncHookOutput>),
    /// The hook goes on in the background.
    Async(AsyncHookOutput),
}

impl Default for HookOutput {
    /// The answer that changes nothing.
    fn default() -> Self {
        SyncHookOutput::default().into()
    }
}

impl From<SyncHookOutput> for HookOutput {
    fn from(output: SyncHookOutput) -> Self {
        Self::Sync(Box::new(output))
    }
}

impl From<AsyncHookOutput> for HookOutput {
    fn from(output: AsyncHookOutput) -> Self {
        Self::Async(output)
    }
}

impl HookOutput {
    /// An answer that only says what the event allows.
    pub fn specific(output: impl Into<HookSpecificOutput>) -> Self {
        SyncHookOutput {
            hook_specific_output: Some(output.into()),
            ..SyncHookOutput::default()
        }
        .into()
    }

    /// Refuses a tool that is about to run (`PreToolUse`), and tells the model why.
    pub fn deny_tool(reason: impl Into<String>) -> Self {
        Self::specific(Box::new(PreToolUseOutput {
            permission_decision: Some(HookPermissionDecision::Deny),
            permission_decision_reason: Some(reason.into()),
            ..PreToolUseOutput::default()
        }))
    }

    /// Says that the hook goes on in the background; the CLI does not wait for it.
    pub fn in_background() -> Self {
        AsyncHookOutput::new(true).into()
    }

    /// Blocks what is about to happen, or makes a finished turn go on.
    pub fn block(reason: impl Into<String>) -> Self {
        SyncHookOutput {
            decision: Some(HookDecision::Block),
            reason: Some(reason.into()),
            ..SyncHookOutput::default()
        }
        .into()
    }
}

impl Wire for HookOutput {
    fn read(cursor: &mut Cursor<'_>, diagnostics: &mut Diagnostics) -> Result<Self, Diagnostic> {
        let is_async = cursor
            .find("async")
            .is_some_and(|mut at| at.scalar().is_ok_and(|word| word == "true"));
        if is_async {
            AsyncHookOutput::read(cursor, diagnostics).map(Self::Async)
        } else {
            Box::read(cursor, diagnostics).map(Self::Sync)
        }
    }

    fn write<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Sync(output) => output.write(serializer),
            Self::Async(output) => output.write(serializer),
        }
    }
}

impl serde::Serialize for HookOutput {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.write(serializer)
    }
}

wire_struct! {
    /// The hook goes on in the background.
    pub struct AsyncHookOutput {
        required {
            /// Always true.
            "async" => is_async: bool,
        }
        optional {
            /// Seconds.
            "asyncTimeout" => async_timeout: f64,
        }
    }
}

wire_struct! {
    /// The hook is done.
    pub struct SyncHookOutput {
        optional {
            /// False stops the session's work.
            "continue" => continue_: bool,
            "suppressOutput" => suppress_output: bool,
            "stopReason" => stop_reason: String,
            decision: HookDecision,
            "systemMessage" => system_message: String,
            "terminalSequence" => terminal_sequence: String,
            reason: String,
            "hookSpecificOutput" => hook_specific_output: HookSpecificOutput,
        }
    }
}

open_enum! {
    /// The older way to decide.
    pub enum HookDecision { "approve" => Approve, "block" => Block }
}

open_enum! {
    /// What a hook says about a tool call.
    pub enum HookPermissionDecision {
        "allow" => Allow,
        "deny" => Deny,
        "ask" => Ask,
        /// The turn ends; the call is reported and not run.
        "defer" => Defer,
    }
}

wire_union! {
    /// What an event allows beyond the common fields.
    pub enum HookSpecificOutput by "hookEventName" {
        "PreToolUse" => PreToolUse(Box<PreToolUseOutput>),
        "UserPromptSubmit" => UserPromptSubmit(UserPromptSubmitOutput),
        "UserPromptExpansion" => UserPromptExpansion(UserPromptExpansionOutput),
        "SessionStart" => SessionStart(Box<SessionStartOutput>),
        "Setup" => Setup(SetupOutput),
        "PreModelSwitch" => PreModelSwitch(PreModelSwitchOutput),
        "PostModelSwitch" => PostModelSwitch(PostModelSwitchOutput),
        "SubagentStart" => SubagentStart(SubagentStartOutput),
        "PostToolUse" => PostToolUse(Box<PostToolUseOutput>),
        "PostToolUseFailure" => PostToolUseFailure(PostToolUseFailureOutput),
        "PostToolBatch" => PostToolBatch(PostToolBatchOutput),
        "Stop" => Stop(StopOutput),
        "SubagentStop" => SubagentStop(SubagentStopOutput),
        "PermissionDenied" => PermissionDenied(PermissionDeniedOutput),
        "Notification" => Notification(NotificationOutput),
        "PermissionRequest" => PermissionRequest(PermissionRequestOutput),
        "Elicitation" => Elicitation(ElicitationOutput),
        "ElicitationResult" => ElicitationResult(ElicitationResultOutput),
        "CwdChanged" => CwdChanged(CwdChangedOutput),
        "FileChanged" => FileChanged(FileChangedOutput),
        "WorktreeCreate" => WorktreeCreate(WorktreeCreateOutput),
        "MessageDisplay" => MessageDisplay(MessageDisplayOutput),
    }
}

wire_struct! {
    /// For a tool that is about to run.
    pub struct PreToolUseOutput("hookEventName" = "PreToolUse") {
        optional {
            "permissionDecision" => permission_decision: HookPermissionDecision,
            "permissionDecisionReason" => permission_decision_reason: String,
            "updatedInput" => updated_input: Json,
            "additionalContext" => additional_context: String,
        }
    }
}

wire_struct! {
    /// For a tool that has run.
    pub struct PostToolUseOutput("hookEventName" = "PostToolUse") {
        optional {
            "additionalContext" => additional_context: String,
            "classifierContext" => classifier_context: String,
            "updatedToolOutput" => updated_tool_output: Json,
            "updatedMCPToolOutput" => updated_mcp_tool_output: Json,
        }
    }
}

wire_struct! {
    /// For a prompt.
    pub struct UserPromptSubmitOutput("hookEventName" = "UserPromptSubmit") {
        optional {
            "additionalContext" => additional_context: String,
            "sessionTitle" => session_title: String,
            "suppressOriginalPrompt" => suppress_original_prompt: bool,
        }
    }
}

wire_struct! {
    /// For an expanded command.
    pub struct UserPromptExpansionOutput("hookEventName" = "UserPromptExpansion") {
        optional {
            "additionalContext" => additional_context: String,
            "suppressOriginalPrompt" => suppress_original_prompt: bool,
        }
    }
}

wire_struct! {
    /// For the start of a session.
    pub struct SessionStartOutput("hookEventName" = "SessionStart") {
        optional {
            "additionalContext" => additional_context: String,
            "initialUserMessage" => initial_user_message: String,
            "sessionTitle" => session_title: String,
            "watchPaths" => watch_paths: Vec<String>,
            "reloadSkills" => reload_skills: bool,
        }
    }
}

wire_struct! {
    /// For a change of the model that is about to happen.
    pub struct PreModelSwitchOutput("hookEventName" = "PreModelSwitch") {
        optional {
            "permissionDecision" => permission_decision: PermissionBehavior,
            "permissionDecisionReason" => permission_decision_reason: String,
        }
    }
}

macro_rules! context_outputs {
    ($($event:literal => $name:ident),+ $(,)?) => {$(
        wire_struct! {
            #[doc = concat!("For `", $event, "`: text for the model.")]
            pub struct $name("hookEventName" = $event) {
                optional { "additionalContext" => additional_context: String }
            }
        }
    )+};
}

context_outputs! {
    "Setup" => SetupOutput,
    "PostModelSwitch" => PostModelSwitchOutput,
    "SubagentStart" => SubagentStartOutput,
    "PostToolUseFailure" => PostToolUseFailureOutput,
    "PostToolBatch" => PostToolBatchOutput,
    "Stop" => StopOutput,
    "SubagentStop" => SubagentStopOutput,
    "Notification" => NotificationOutput,
}

wire_struct! {
    /// For a denied call.
    pub struct PermissionDeniedOutput("hookEventName" = "PermissionDenied") {
        optional {
            /// Whether the model may try again.
            retry: bool,
        }
    }
}

wire_struct! {
    /// For a permission that is about to be asked for: decides it instead of the user.
    pub struct PermissionRequestOutput("hookEventName" = "PermissionRequest") {
        required { decision: HookPermission }
    }
}

wire_union! {
    /// A permission decided by a hook.
    pub enum HookPermission by "behavior" {
        "allow" => Allow(HookAllow),
        "deny" => Deny(HookDeny),
    }
}

wire_struct! {
    /// The tool may run.
    pub struct HookAllow("behavior" = "allow") {
        optional {
            "updatedInput" => updated_input: Json,
            "updatedPermissions" => updated_permissions: Vec<PermissionUpdate>,
        }
    }
}

wire_struct! {
    /// The tool may not run.
    pub struct HookDeny("behavior" = "deny") {
        optional { message: String, interrupt: bool }
    }
}

wire_struct! {
    /// For an MCP server's question.
    pub struct ElicitationOutput("hookEventName" = "Elicitation") {
        optional { action: ElicitationAction, content: Json }
    }
}

wire_struct! {
    /// For the answer to an MCP server's question.
    pub struct ElicitationResultOutput("hookEventName" = "ElicitationResult") {
        optional { action: ElicitationAction, content: Json }
    }
}

wire_struct! {
    /// For a change of the working directory.
    pub struct CwdChangedOutput("hookEventName" = "CwdChanged") {
        optional { "watchPaths" => watch_paths: Vec<String> }
    }
}

wire_struct! {
    /// For a changed file.
    pub struct FileChangedOutput("hookEventName" = "FileChanged") {
        optional { "watchPaths" => watch_paths: Vec<String> }
    }
}

wire_struct! {
    /// For a worktree to be created: where it is.
    pub struct WorktreeCreateOutput("hookEventName" = "WorktreeCreate") {
        required { "worktreePath" => worktree_path: String }
    }
}

wire_struct! {
    /// For text about to be shown: what to show instead.
    pub struct MessageDisplayOutput("hookEventName" = "MessageDisplay") {
        optional { "displayContent" => display_content: String }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_forms_say_what_the_cli_expects() {
        let json = |output: HookOutput| serde_json::to_string(&output).expect("JSON");
        assert_eq!(
            json(HookOutput::deny_tool("no")),
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}"#
        );
        assert_eq!(json(HookOutput::in_background()), r#"{"async":true}"#);
        assert_eq!(
            json(HookOutput::block("go on")),
            r#"{"decision":"block","reason":"go on"}"#
        );
        assert_eq!(json(HookOutput::default()), "{}");
    }
}
