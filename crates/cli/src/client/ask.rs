//! Which answer belongs to which request.

use estelle_proto::blobs::{
    BlobChunk, BlobChunkResult, BlobEnd, BlobEndResult, BlobStart, BlobStartResult,
};
use estelle_proto::budgets::{BudgetRequest, BudgetResult, BudgetSet};
use estelle_proto::changes::{ChangesRequest, ChangesResult, DiffRequest, DiffResult};
use estelle_proto::claude::{
    ClaudeControl, ClaudeControlResult, ClaudeSend, ClaudeSendResult, ClaudeSetModel,
    ClaudeSetModelResult, ClaudeSetPermissionMode, ClaudeSetPermissionModeResult,
};
use estelle_proto::continuation::{ContinuationSet, ContinuationSetResult};
use estelle_proto::conversations::{
    ConversationCreate, ConversationCreateResult, ConversationFork, ConversationRewind,
    ConversationRewindResult, ConversationSelect,
};
use estelle_proto::decisions::{
    ClaudeAnswer, ClaudeAnswerResult, ClaudePermission, ClaudePermissionResult,
};
use estelle_proto::deploy::{
    DeployConfirm, DeployGo, DeployPrepare, DeployReady, DeployStatusRequest, DeployStatusResult,
};
use estelle_proto::export::{HistoryExport, HistoryExportResult};
use estelle_proto::files::{FileList, FileListResult, FileRead, FileReadResult};
use estelle_proto::history::{HistoryRequest, HistoryResult};
use estelle_proto::lookup::{HistorySearch, HistorySearchResult};
use estelle_proto::notifications::{NotificationsRequest, NotificationsResult};
use estelle_proto::saved::{SavedContinue, SavedList, SavedListResult, SavedRead, SavedReadResult};
use estelle_proto::tasks::{
    TaskCreate, TaskCreateResult, TaskGet, TaskGetResult, TaskList, TaskListResult,
    TaskStatusChange, TaskStatusResult, WorkerStart, WorkerStartResult, WorkerStatusRequest,
    WorkerStatusResult, WorkerStop, WorkerStopResult,
};
use estelle_proto::terminals::{
    TerminalAttach, TerminalAttachResult, TerminalClose, TerminalCloseResult, TerminalCreate,
    TerminalCreateResult, TerminalList, TerminalListResult,
};
use estelle_proto::usage::{UsageRequest, UsageResult};
use estelle_proto::workspaces::{
    WorkspaceCreate, WorkspaceCreateResult, WorkspaceList, WorkspaceListResult,
};
use estelle_proto::worktrees::{
    WorktreeList, WorktreeListResult, WorktreeMerge, WorktreeMergeResult, WorktreeRemove,
    WorktreeRemoveResult,
};
use estelle_proto::{AppToPylon, PylonToApp, Reply, RequestId};

/// A request to a machine, with its answer.
pub(super) trait Ask: Into<AppToPylon> {
    type Answer: Reply;

    /// The same request with an id.
    fn named(self, id: RequestId) -> Self;

    /// Whether a message is the answer to the request of this id.
    fn is_answered_by(message: &PylonToApp, id: &RequestId) -> bool;

    /// The answer in a message.
    fn answer(message: PylonToApp) -> Option<Self::Answer>;
}

macro_rules! asks {
    ($($request:ident => $answer:ident),+ $(,)?) => {$(
        impl Ask for $request {
            type Answer = $answer;

            fn named(mut self, id: RequestId) -> Self {
                self.request_id = Some(id);
                self
            }

            fn is_answered_by(message: &PylonToApp, id: &RequestId) -> bool {
                matches!(message, PylonToApp::$answer(answer) if answer.request_id.as_ref() == Some(id))
            }

            fn answer(message: PylonToApp) -> Option<$answer> {
                let PylonToApp::$answer(answer) = message else { return None };
                Some(answer)
            }
        }
    )+};
}

asks! {
    WorkspaceList => WorkspaceListResult,
    WorkspaceCreate => WorkspaceCreateResult,
    ConversationCreate => ConversationCreateResult,
    ConversationFork => ConversationCreateResult,
    ConversationRewind => ConversationRewindResult,
    ConversationSelect => HistoryResult,
    HistoryRequest => HistoryResult,
    HistorySearch => HistorySearchResult,
    HistoryExport => HistoryExportResult,
    TaskList => TaskListResult,
    TaskGet => TaskGetResult,
    TaskCreate => TaskCreateResult,
    TaskStatusChange => TaskStatusResult,
    WorkerStatusRequest => WorkerStatusResult,
    WorkerStart => WorkerStartResult,
    WorkerStop => WorkerStopResult,
    UsageRequest => UsageResult,
    NotificationsRequest => NotificationsResult,
    DeployPrepare => DeployReady,
    DeployConfirm => DeployStatusResult,
    DeployGo => DeployStatusResult,
    DeployStatusRequest => DeployStatusResult,
    ClaudeSend => ClaudeSendResult,
    BlobStart => BlobStartResult,
    BlobChunk => BlobChunkResult,
    BlobEnd => BlobEndResult,
    BudgetRequest => BudgetResult,
    BudgetSet => BudgetResult,
    ContinuationSet => ContinuationSetResult,
    ClaudePermission => ClaudePermissionResult,
    ClaudeAnswer => ClaudeAnswerResult,
    ClaudeControl => ClaudeControlResult,
    ClaudeSetPermissionMode => ClaudeSetPermissionModeResult,
    ClaudeSetModel => ClaudeSetModelResult,
    FileList => FileListResult,
    FileRead => FileReadResult,
    ChangesRequest => ChangesResult,
    DiffRequest => DiffResult,
    TerminalList => TerminalListResult,
    TerminalCreate => TerminalCreateResult,
    TerminalAttach => TerminalAttachResult,
    TerminalClose => TerminalCloseResult,
    SavedList => SavedListResult,
    SavedRead => SavedReadResult,
    SavedContinue => ConversationCreateResult,
    WorktreeList => WorktreeListResult,
    WorktreeMerge => WorktreeMergeResult,
    WorktreeRemove => WorktreeRemoveResult,
}
