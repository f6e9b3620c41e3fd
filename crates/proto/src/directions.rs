//! The tables: every message between devices, by who says it to whom.
//!
//! A row names the message; the rows of requests also say which right a device needs for it, what in it needs a higher
//! one, and on which key the Pylon serializes it. The structs live in the files of their boundaries.

use crate::blobs::{
    BlobChunk, BlobChunkResult, BlobEnd, BlobEndResult, BlobStart, BlobStartResult,
};
use crate::budgets::{BudgetRequest, BudgetResult, BudgetSet, BudgetWarning};
use crate::bugs::{BugReport, BugReportResult};
use crate::changes::{ChangesRequest, ChangesResult, DiffRequest, DiffResult};
use crate::claude::{
    ClaudeControl, ClaudeControlResult, ClaudeEventMessage, ClaudeSend, ClaudeSendResult,
    ClaudeSetModel, ClaudeSetModelResult, ClaudeSetPermissionMode, ClaudeSetPermissionModeResult,
};
use crate::continuation::{ContinuationSet, ContinuationSetResult, ContinuationStatus};
use crate::conversations::{
    ConversationCreate, ConversationCreateResult, ConversationDelete, ConversationDeleteResult,
    ConversationFork, ConversationRename, ConversationRenameResult, ConversationRewind,
    ConversationRewindResult, ConversationSelect, ConversationStatusUpdate,
};
use crate::decisions::{
    ClaudeAnswer, ClaudeAnswerResult, ClaudePermission, ClaudePermissionResult,
};
use crate::deploy::{
    DeployAckReceived, DeployCancelled, DeployConfirm, DeployError, DeployGo, DeployLog,
    DeployPrepare, DeployReady, DeployRestart, DeployRestarting, DeployStart, DeployStartAck,
    DeployStatus, DeployStatusRequest, DeployStatusResult,
};
use crate::error::ErrorReport;
use crate::export::{HistoryExport, HistoryExportResult};
use crate::files::{FileList, FileListResult, FileRead, FileReadResult};
use crate::folders::{
    FolderCreate, FolderCreateResult, FolderList, FolderListResult, FolderRename,
    FolderRenameResult,
};
use crate::history::{HistoryRequest, HistoryResult};
use crate::lookup::{HistorySearch, HistorySearchResult, ToolDetail, ToolDetailResult};
use crate::notifications::{
    NotificationsRequest, NotificationsResult, NotificationsSet, PushSubscribe, PushTest,
    PushUnsubscribe,
};
use crate::rules::{RuleChange, RulesRequest, RulesResult, ToolRevoke};
use crate::saved::{SavedContinue, SavedList, SavedListResult, SavedRead, SavedReadResult};
use crate::tasks::{
    TaskCreate, TaskCreateResult, TaskGet, TaskGetResult, TaskList, TaskListResult,
    TaskStatusChange, TaskStatusResult, WorkerStart, WorkerStartResult, WorkerStatusRequest,
    WorkerStatusResult, WorkerStop, WorkerStopResult,
};
use crate::terminals::{
    TerminalAck, TerminalAttach, TerminalAttachResult, TerminalClose, TerminalCloseResult,
    TerminalCreate, TerminalCreateResult, TerminalDetach, TerminalEnded, TerminalInput,
    TerminalList, TerminalListResult, TerminalOutput, TerminalResize,
};
use crate::turns::{TurnChanges, TurnChangesResult};
use crate::usage::{PylonStatus, UsageRequest, UsageResult};
use crate::version::{AppUpdateRequest, AppUpdateResult, VersionCheckRequest, VersionCheckResult};
use crate::workspaces::{
    WorkspaceCreate, WorkspaceCreateResult, WorkspaceDelete, WorkspaceDeleteResult, WorkspaceList,
    WorkspaceListResult, WorkspaceRename, WorkspaceRenameResult, WorkspaceSwitch,
    WorkspaceSwitchResult,
};
use crate::worktrees::{
    WorktreeList, WorktreeListResult, WorktreeMerge, WorktreeMergeResult, WorktreeRemove,
    WorktreeRemoveResult,
};
use crate::{ConversationId, Right, TerminalId, WorkspaceId};

/// What a request is serialized on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Key<'a> {
    /// One at a time per conversation.
    Conversation(&'a ConversationId),
    /// One at a time per workspace.
    Workspace(&'a WorkspaceId),
    /// One at a time per terminal.
    Terminal(&'a TerminalId),
    /// One at a time on the machine.
    Machine,
    /// Any number at once: it only reads, or registers who looks.
    None,
}

messages! {
    /// What a client says to a Pylon.
    pub enum AppToPylon {
        WorkspaceList = "workspace_list",
        WorkspaceCreate = "workspace_create",
        WorkspaceDelete = "workspace_delete",
        WorkspaceRename = "workspace_rename",
        WorkspaceSwitch = "workspace_switch",
        ConversationCreate = "conversation_create",
        ConversationFork = "conversation_fork",
        ConversationRewind = "conversation_rewind",
        ConversationSelect = "conversation_select",
        ConversationDelete = "conversation_delete",
        ConversationRename = "conversation_rename",
        HistoryRequest = "history_request",
        HistorySearch = "history_search",
        HistoryExport = "history_export",
        ToolDetail = "tool_detail",
        ClaudeSend = "claude_send",
        ClaudePermission = "claude_permission",
        ClaudeAnswer = "claude_answer",
        ClaudeControl = "claude_control",
        ClaudeSetPermissionMode = "claude_set_permission_mode",
        ClaudeSetModel = "claude_set_model",
        UsageRequest = "usage_request",
        DeployPrepare = "deploy_prepare",
        DeployConfirm = "deploy_confirm",
        DeployGo = "deploy_go",
        DeployStatusRequest = "deploy_status_request",
        VersionCheckRequest = "version_check_request",
        AppUpdateRequest = "app_update_request",
        BugReport = "bug_report",
        FolderList = "folder_list",
        FolderCreate = "folder_create",
        BlobStart = "blob_start",
        BlobChunk = "blob_chunk",
        BlobEnd = "blob_end",
        FolderRename = "folder_rename",
        FileList = "file_list",
        FileRead = "file_read",
        ChangesRequest = "changes_request",
        DiffRequest = "diff_request",
        TurnChanges = "turn_changes",
        WorktreeList = "worktree_list",
        WorktreeMerge = "worktree_merge",
        WorktreeRemove = "worktree_remove",
        SavedList = "saved_list",
        SavedRead = "saved_read",
        SavedContinue = "saved_continue",
        RulesRequest = "rules_request",
        RuleChange = "rule_change",
        ToolRevoke = "tool_revoke",
        TaskList = "task_list",
        TaskGet = "task_get",
        TaskCreate = "task_create",
        TaskStatusChange = "task_status",
        TerminalList = "terminal_list",
        TerminalCreate = "terminal_create",
        TerminalAttach = "terminal_attach",
        TerminalInput = "terminal_input",
        TerminalResize = "terminal_resize",
        TerminalAck = "terminal_ack",
        TerminalDetach = "terminal_detach",
        TerminalClose = "terminal_close",
        WorkerStatusRequest = "worker_status",
        WorkerStart = "worker_start",
        WorkerStop = "worker_stop",
        NotificationsRequest = "notifications_request",
        NotificationsSet = "notifications_set",
        PushSubscribe = "push_subscribe",
        PushUnsubscribe = "push_unsubscribe",
        PushTest = "push_test",
        ContinuationSet = "continuation_set",
        BudgetRequest = "budget_request",
        BudgetSet = "budget_set",
    }
}

policy! {
    AppToPylon {
        WorkspaceList => View, |_| Key::None;
        WorkspaceCreate => Prompt, |_| Key::Machine;
        WorkspaceDelete => Admin, |request| Key::Workspace(&request.workspace_id);
        WorkspaceRename => Prompt, |request| Key::Workspace(&request.workspace_id);
        WorkspaceSwitch => View, |_| Key::Machine;
        ConversationCreate => Prompt or Admin if ConversationCreate::has_own_mode, |request| Key::Workspace(&request.workspace_id);
        ConversationFork => Prompt, |request| Key::Conversation(&request.conversation_id);
        ConversationRewind => Prompt, |request| Key::Conversation(&request.conversation_id);
        ConversationSelect => View, |_| Key::None;
        ConversationDelete => Admin, |request| Key::Conversation(&request.conversation_id);
        ConversationRename => Prompt, |request| Key::Conversation(&request.conversation_id);
        HistoryRequest => View, |_| Key::None;
        HistorySearch => View, |_| Key::None;
        HistoryExport => View, |_| Key::None;
        ToolDetail => View, |_| Key::None;
        ClaudeSend => Prompt, |request| Key::Conversation(&request.conversation_id);
        ClaudePermission => Approve, |request| Key::Conversation(&request.conversation_id);
        ClaudeAnswer => Approve, |request| Key::Conversation(&request.conversation_id);
        ClaudeControl => Prompt, |request| Key::Conversation(&request.conversation_id);
        ClaudeSetPermissionMode => Admin, |request| match &request.conversation_id {
            Some(conversation) => Key::Conversation(conversation),
            None => Key::Machine,
        };
        ClaudeSetModel => Prompt, |request| Key::Conversation(&request.conversation_id);
        UsageRequest => View, |_| Key::None;
        DeployPrepare => Admin, |_| Key::Machine;
        DeployConfirm => Admin, |_| Key::Machine;
        DeployGo => Admin, |_| Key::Machine;
        DeployStatusRequest => View, |_| Key::None;
        VersionCheckRequest => View, |_| Key::None;
        AppUpdateRequest => View, |_| Key::None;
        BugReport => View, |_| Key::Machine;
        FolderList => Prompt, |_| Key::None;
        FolderCreate => Prompt, |_| Key::Machine;
        BlobStart => Prompt, |request| Key::Conversation(&request.conversation_id);
        BlobChunk => Prompt, |request| Key::Conversation(&request.conversation_id);
        BlobEnd => Prompt, |request| Key::Conversation(&request.conversation_id);
        FolderRename => Prompt, |_| Key::Machine;
        FileList => Prompt, |_| Key::None;
        FileRead => Prompt, |_| Key::None;
        ChangesRequest => Prompt, |_| Key::None;
        DiffRequest => Prompt, |_| Key::None;
        TurnChanges => Prompt, |_| Key::None;
        WorktreeList => Prompt, |_| Key::None;
        WorktreeMerge => Prompt, |request| Key::Conversation(&request.conversation_id);
        WorktreeRemove => Admin, |request| Key::Conversation(&request.conversation_id);
        SavedList => Prompt, |_| Key::None;
        SavedRead => Prompt, |_| Key::None;
        SavedContinue => Prompt, |request| Key::Workspace(&request.workspace_id);
        RulesRequest => View, |_| Key::None;
        RuleChange => Admin, |_| Key::Machine;
        ToolRevoke => Approve, |request| Key::Conversation(&request.conversation_id);
        TaskList => View, |_| Key::None;
        TaskGet => View, |_| Key::None;
        TaskCreate => Prompt, |request| Key::Workspace(&request.workspace_id);
        TaskStatusChange => Prompt, |request| Key::Workspace(&request.workspace_id);
        TerminalList => Terminal, |_| Key::None;
        TerminalCreate => Terminal, |_| Key::Machine;
        TerminalAttach => Terminal, |request| Key::Terminal(&request.terminal_id);
        TerminalInput => Terminal, |request| Key::Terminal(&request.terminal_id);
        TerminalResize => Terminal, |request| Key::Terminal(&request.terminal_id);
        TerminalAck => Terminal, |request| Key::Terminal(&request.terminal_id);
        TerminalDetach => Terminal, |request| Key::Terminal(&request.terminal_id);
        TerminalClose => Terminal, |request| Key::Terminal(&request.terminal_id);
        WorkerStatusRequest => View, |_| Key::None;
        WorkerStart => Prompt, |request| Key::Workspace(&request.workspace_id);
        WorkerStop => Prompt, |request| Key::Workspace(&request.workspace_id);
        NotificationsRequest => View, |_| Key::None;
        NotificationsSet => View, |_| Key::Machine;
        PushSubscribe => View, |_| Key::Machine;
        PushUnsubscribe => View, |_| Key::Machine;
        PushTest => View, |_| Key::Machine;
        BudgetRequest => View, |_| Key::None;
        BudgetSet => Admin, |_| Key::Machine;
        ContinuationSet => Prompt, |request| Key::Conversation(&request.conversation_id);
    }
}

messages! {
    /// What a Pylon says to clients.
    pub enum PylonToApp {
        WorkspaceListResult = "workspace_list_result",
        WorkspaceCreateResult = "workspace_create_result",
        WorkspaceDeleteResult = "workspace_delete_result",
        WorkspaceRenameResult = "workspace_rename_result",
        WorkspaceSwitchResult = "workspace_switch_result",
        ConversationCreateResult = "conversation_create_result",
        ConversationDeleteResult = "conversation_delete_result",
        ConversationRenameResult = "conversation_rename_result",
        ConversationRewindResult = "conversation_rewind_result",
        ConversationStatusUpdate = "conversation_status",
        HistoryResult = "history_result",
        HistorySearchResult = "history_search_result",
        HistoryExportResult = "history_export_result",
        ToolDetailResult = "tool_detail_result",
        ClaudeEventMessage = "claude_event",
        ClaudeSendResult = "claude_send_result",
        ClaudePermissionResult = "claude_permission_result",
        ClaudeAnswerResult = "claude_answer_result",
        ClaudeControlResult = "claude_control_result",
        ClaudeSetPermissionModeResult = "claude_set_permission_mode_result",
        ClaudeSetModelResult = "claude_set_model_result",
        PylonStatus = "pylon_status",
        UsageResult = "usage_result",
        DeployStatus = "deploy_status",
        DeployLog = "deploy_log",
        DeployReady = "deploy_ready",
        DeployAckReceived = "deploy_ack_received",
        DeployStart = "deploy_start",
        DeployRestart = "deploy_restart",
        DeployRestarting = "deploy_restarting",
        DeployError = "deploy_error",
        DeployCancelled = "deploy_cancelled",
        DeployStatusResult = "deploy_status_result",
        VersionCheckResult = "version_check_result",
        AppUpdateResult = "app_update_result",
        BugReportResult = "bug_report_result",
        FolderListResult = "folder_list_result",
        FolderCreateResult = "folder_create_result",
        BlobStartResult = "blob_start_result",
        BlobChunkResult = "blob_chunk_result",
        BlobEndResult = "blob_end_result",
        FolderRenameResult = "folder_rename_result",
        FileListResult = "file_list_result",
        FileReadResult = "file_read_result",
        ChangesResult = "changes_result",
        DiffResult = "diff_result",
        TurnChangesResult = "turn_changes_result",
        WorktreeListResult = "worktree_list_result",
        WorktreeMergeResult = "worktree_merge_result",
        WorktreeRemoveResult = "worktree_remove_result",
        SavedListResult = "saved_list_result",
        SavedReadResult = "saved_read_result",
        RulesResult = "rules_result",
        TaskListResult = "task_list_result",
        TaskGetResult = "task_get_result",
        TaskCreateResult = "task_create_result",
        TaskStatusResult = "task_status_result",
        TerminalListResult = "terminal_list_result",
        TerminalCreateResult = "terminal_create_result",
        TerminalAttachResult = "terminal_attach_result",
        TerminalOutput = "terminal_output",
        TerminalEnded = "terminal_ended",
        TerminalCloseResult = "terminal_close_result",
        WorkerStatusResult = "worker_status_result",
        WorkerStartResult = "worker_start_result",
        WorkerStopResult = "worker_stop_result",
        NotificationsResult = "notifications_result",
        ContinuationSetResult = "continuation_set_result",
        ContinuationStatus = "continuation_status",
        BudgetResult = "budget_result",
        BudgetWarning = "budget_warning",
        ErrorReport = "error",
    }
}

/// Whether a message of a Pylon answers a request. Whoever was allowed to ask may hear the answer; everything else that a
/// Pylon says is for those who may `view`.
fn is_answer(kind: &str) -> bool {
    kind.ends_with("_result") || kind == "error"
}

/// The right that a device needs to hear a message of a Pylon; none for answers.
pub fn right_to_hear(kind: &str) -> Option<Right> {
    if is_answer(kind) {
        return None;
    }
    if kind.starts_with("terminal_") {
        return Some(Right::Terminal);
    }
    Some(Right::View)
}

messages! {
    /// What a Pylon says to other Pylons.
    pub enum PylonToPylon {
        DeployStart = "deploy_start",
        DeployStartAck = "deploy_start_ack",
        DeployRestart = "deploy_restart",
        DeployCancelled = "deploy_cancelled",
        ErrorReport = "error",
    }
}
