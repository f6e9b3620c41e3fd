//! `system` lines: the CLI speaks about itself.
//!
//! `init` opens every turn; the others report status, retries, hooks, tasks and losses. Told apart by `subtype`; an
//! unknown one is `SystemMessage::Unknown`.

mod notice;
mod status;
mod task;

pub use notice::{
    ElicitationComplete, FailedFile, FilesPersisted, HookOutcome, HookProgress, HookResponse,
    HookStarted, Informational, InformationalLevel, LocalCommandOutput, MemoryRecall, MirrorError,
    ModelRefusalFallback, ModelRefusalNoFallback, Notification, NotificationPriority,
    PermissionDenied, PersistedFile, PluginInstall, PluginInstallStatus, RecalledMemory,
    SessionKey, SessionWritesLost, WorkerShuttingDown,
};
pub use status::{
    ApiRetry, CommandsChanged, CompactBoundary, CompactMetadata, CompactResult, CompactTrigger,
    ControlRequestProgress, ControlRequestProgressStatus, EffortLevel, FastModeDisabledReason,
    FastModeState, Init, InitMcpServer, InitPlugin, NoResponse, PluginError, PreservedMessages,
    PreservedSegment, SessionState, SessionStateChanged, SessionTitleChanged, Status, StatusWord,
    ThinkingTokens,
};
pub use task::{
    BackgroundTask, BackgroundTasksChanged, ResourceLink, TaskNotification, TaskNotificationStatus,
    TaskPatch, TaskProgress, TaskStarted, TaskStatus, TaskUpdated, TaskUsage,
};

wire_union! {
    /// A line of type `system`.
    pub enum SystemMessage by "subtype" {
        "init" => Init(Box<Init>),
        "compact_boundary" => CompactBoundary(Box<CompactBoundary>),
        "status" => Status(Status),
        "api_retry" => ApiRetry(ApiRetry),
        "control_request_progress" => ControlRequestProgress(ControlRequestProgress),
        "model_refusal_fallback" => ModelRefusalFallback(Box<ModelRefusalFallback>),
        "model_refusal_no_fallback" => ModelRefusalNoFallback(Box<ModelRefusalNoFallback>),
        "local_command_output" => LocalCommandOutput(LocalCommandOutput),
        "hook_started" => HookStarted(HookStarted),
        "hook_progress" => HookProgress(Box<HookProgress>),
        "hook_response" => HookResponse(Box<HookResponse>),
        "plugin_install" => PluginInstall(PluginInstall),
        "task_notification" => TaskNotification(Box<TaskNotification>),
        "task_started" => TaskStarted(Box<TaskStarted>),
        "task_updated" => TaskUpdated(Box<TaskUpdated>),
        "task_progress" => TaskProgress(Box<TaskProgress>),
        "background_tasks_changed" => BackgroundTasksChanged(BackgroundTasksChanged),
        "thinking_tokens" => ThinkingTokens(ThinkingTokens),
        "session_state_changed" => SessionStateChanged(SessionStateChanged),
        "session_title_changed" => SessionTitleChanged(SessionTitleChanged),
        "worker_shutting_down" => WorkerShuttingDown(WorkerShuttingDown),
        "commands_changed" => CommandsChanged(CommandsChanged),
        "notification" => Notification(Notification),
        "files_persisted" => FilesPersisted(FilesPersisted),
        "memory_recall" => MemoryRecall(MemoryRecall),
        "elicitation_complete" => ElicitationComplete(ElicitationComplete),
        "permission_denied" => PermissionDenied(Box<PermissionDenied>),
        "mirror_error" => MirrorError(Box<MirrorError>),
        "informational" => Informational(Box<Informational>),
        "session_writes_lost" => SessionWritesLost(SessionWritesLost),
    }
}

impl SystemMessage {
    /// The name of the kind of line, as `Message::kind` shows it.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Init(_) => "SystemInit",
            Self::CompactBoundary(_) => "SystemCompactBoundary",
            Self::Status(_) => "SystemStatus",
            Self::ApiRetry(_) => "SystemApiRetry",
            Self::ControlRequestProgress(_) => "SystemControlRequestProgress",
            Self::ModelRefusalFallback(_) => "SystemModelRefusalFallback",
            Self::ModelRefusalNoFallback(_) => "SystemModelRefusalNoFallback",
            Self::LocalCommandOutput(_) => "SystemLocalCommandOutput",
            Self::HookStarted(_) => "SystemHookStarted",
            Self::HookProgress(_) => "SystemHookProgress",
            Self::HookResponse(_) => "SystemHookResponse",
            Self::PluginInstall(_) => "SystemPluginInstall",
            Self::TaskNotification(_) => "SystemTaskNotification",
            Self::TaskStarted(_) => "SystemTaskStarted",
            Self::TaskUpdated(_) => "SystemTaskUpdated",
            Self::TaskProgress(_) => "SystemTaskProgress",
            Self::BackgroundTasksChanged(_) => "SystemBackgroundTasksChanged",
            Self::ThinkingTokens(_) => "SystemThinkingTokens",
            Self::SessionStateChanged(_) => "SystemSessionStateChanged",
            Self::SessionTitleChanged(_) => "SystemSessionTitleChanged",
            Self::WorkerShuttingDown(_) => "SystemWorkerShuttingDown",
            Self::CommandsChanged(_) => "SystemCommandsChanged",
            Self::Notification(_) => "SystemNotification",
            Self::FilesPersisted(_) => "SystemFilesPersisted",
            Self::MemoryRecall(_) => "SystemMemoryRecall",
            Self::ElicitationComplete(_) => "SystemElicitationComplete",
            Self::PermissionDenied(_) => "SystemPermissionDenied",
            Self::MirrorError(_) => "SystemMirrorError",
            Self::Informational(_) => "SystemInformational",
            Self::SessionWritesLost(_) => "SystemSessionWritesLost",
            Self::Unknown(_) => "Unknown",
        }
    }
}
