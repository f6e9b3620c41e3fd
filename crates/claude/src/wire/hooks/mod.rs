//! Hooks: what the CLI tells a hook, and what a hook may answer.
//!
//! A hook is registered with `initialize` and fires as a `hook_callback` request. The input is told apart by
//! `hook_event_name`; an event this version does not know is `HookInput::Unknown`.

mod input;
mod output;

pub use input::{
    BackgroundTaskSummary, ConfigChangeInput, CwdChangedInput, DirectoryAddedInput, Effort,
    ElicitationInput, ElicitationResultInput, FileChangedInput, HookBase, InstructionsLoadedInput,
    MessageDisplayInput, NotificationInput, PermissionDeniedInput, PermissionRequestInput,
    PostCompactInput, PostModelSwitchInput, PostToolBatchInput, PostToolUseFailureInput,
    PostToolUseInput, PreCompactInput, PreModelSwitchInput, PreToolUseInput, SessionCronSummary,
    SessionEndInput, SessionStartInput, SetupInput, StopFailureInput, StopInput,
    SubagentStartInput, SubagentStopInput, TaskCompletedInput, TaskCreatedInput, TeammateIdleInput,
    ToolCallSummary, UserPromptExpansionInput, UserPromptSubmitInput, WorktreeCreateInput,
    WorktreeRemoveInput,
};
pub use output::{
    AsyncHookOutput, CwdChangedOutput, ElicitationOutput, ElicitationResultOutput,
    FileChangedOutput, HookAllow, HookDecision, HookDeny, HookOutput, HookPermission,
    HookPermissionDecision, HookSpecificOutput, MessageDisplayOutput, NotificationOutput,
    PermissionDeniedOutput, PermissionRequestOutput, PostModelSwitchOutput, PostToolBatchOutput,
    PostToolUseFailureOutput, PostToolUseOutput, PreModelSwitchOutput, PreToolUseOutput,
    SessionStartOutput, SetupOutput, StopOutput, SubagentStartOutput, SubagentStopOutput,
    SyncHookOutput, UserPromptExpansionOutput, UserPromptSubmitOutput, WorktreeCreateOutput,
};

open_enum! {
    /// When a hook fires.
    pub enum HookEvent {
        "PreToolUse" => PreToolUse,
        "PostToolUse" => PostToolUse,
        "PostToolUseFailure" => PostToolUseFailure,
        "PostToolBatch" => PostToolBatch,
        "Notification" => Notification,
        "UserPromptSubmit" => UserPromptSubmit,
        "UserPromptExpansion" => UserPromptExpansion,
        "SessionStart" => SessionStart,
        "SessionEnd" => SessionEnd,
        "Stop" => Stop,
        "StopFailure" => StopFailure,
        "SubagentStart" => SubagentStart,
        "SubagentStop" => SubagentStop,
        "PreCompact" => PreCompact,
        "PostCompact" => PostCompact,
        "PreModelSwitch" => PreModelSwitch,
        "PostModelSwitch" => PostModelSwitch,
        "PermissionRequest" => PermissionRequest,
        "PermissionDenied" => PermissionDenied,
        "Setup" => Setup,
        "TeammateIdle" => TeammateIdle,
        "TaskCreated" => TaskCreated,
        "TaskCompleted" => TaskCompleted,
        "Elicitation" => Elicitation,
        "ElicitationResult" => ElicitationResult,
        "ConfigChange" => ConfigChange,
        "WorktreeCreate" => WorktreeCreate,
        "WorktreeRemove" => WorktreeRemove,
        "InstructionsLoaded" => InstructionsLoaded,
        "CwdChanged" => CwdChanged,
        "FileChanged" => FileChanged,
        "DirectoryAdded" => DirectoryAdded,
        "MessageDisplay" => MessageDisplay,
    }
}

wire_union! {
    /// What the CLI tells a hook, by event.
    pub enum HookInput by "hook_event_name" {
        "PreToolUse" => PreToolUse(Box<PreToolUseInput>),
        "PostToolUse" => PostToolUse(Box<PostToolUseInput>),
        "PostToolUseFailure" => PostToolUseFailure(Box<PostToolUseFailureInput>),
        "PostToolBatch" => PostToolBatch(Box<PostToolBatchInput>),
        "Notification" => Notification(Box<NotificationInput>),
        "UserPromptSubmit" => UserPromptSubmit(Box<UserPromptSubmitInput>),
        "UserPromptExpansion" => UserPromptExpansion(Box<UserPromptExpansionInput>),
        "SessionStart" => SessionStart(Box<SessionStartInput>),
        "SessionEnd" => SessionEnd(Box<SessionEndInput>),
        "Stop" => Stop(Box<StopInput>),
        "StopFailure" => StopFailure(Box<StopFailureInput>),
        "SubagentStart" => SubagentStart(Box<SubagentStartInput>),
        "SubagentStop" => SubagentStop(Box<SubagentStopInput>),
        "PreCompact" => PreCompact(Box<PreCompactInput>),
        "PostCompact" => PostCompact(Box<PostCompactInput>),
        "PreModelSwitch" => PreModelSwitch(Box<PreModelSwitchInput>),
        "PostModelSwitch" => PostModelSwitch(Box<PostModelSwitchInput>),
        "PermissionRequest" => PermissionRequest(Box<PermissionRequestInput>),
        "PermissionDenied" => PermissionDenied(Box<PermissionDeniedInput>),
        "Setup" => Setup(Box<SetupInput>),
        "TeammateIdle" => TeammateIdle(Box<TeammateIdleInput>),
        "TaskCreated" => TaskCreated(Box<TaskCreatedInput>),
        "TaskCompleted" => TaskCompleted(Box<TaskCompletedInput>),
        "Elicitation" => Elicitation(Box<ElicitationInput>),
        "ElicitationResult" => ElicitationResult(Box<ElicitationResultInput>),
        "ConfigChange" => ConfigChange(Box<ConfigChangeInput>),
        "WorktreeCreate" => WorktreeCreate(Box<WorktreeCreateInput>),
        "WorktreeRemove" => WorktreeRemove(Box<WorktreeRemoveInput>),
        "InstructionsLoaded" => InstructionsLoaded(Box<InstructionsLoadedInput>),
        "CwdChanged" => CwdChanged(Box<CwdChangedInput>),
        "FileChanged" => FileChanged(Box<FileChangedInput>),
        "DirectoryAdded" => DirectoryAdded(Box<DirectoryAddedInput>),
        "MessageDisplay" => MessageDisplay(Box<MessageDisplayInput>),
    }
}

impl HookInput {
    /// The event that fired.
    pub fn event(&self) -> HookEvent {
        HookEvent::from(self.tag())
    }
}
