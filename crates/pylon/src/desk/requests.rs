//! From a message of a client to the handler that carries it out.

use estelle_proto::{AppToPylon, ErrorCode, Message as _, RequestId};

use super::context::{Asker, Context};
use super::error::refusal;
use super::{
    attachments, budgets, changes, claude, continuing, conversations, files, folders, history,
    notifications, reports, rules, saved, tasks, terminals, turns, version, worker, workspaces,
    worktrees,
};
use crate::deploy;

/// The name that a request gave itself, whatever it is.
pub(super) fn request_id(message: &AppToPylon) -> Option<RequestId> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Named {
        request_id: Option<RequestId>,
    }
    let payload = message.payload().ok().flatten()?;
    payload.decode::<Named>().ok()?.request_id
}

/// Carries a request out and answers it.
#[expect(
    clippy::too_many_lines,
    reason = "a table: one row for each kind of request"
)]
pub(super) async fn carry_out(cx: Context, asker: Asker, message: AppToPylon) {
    let (cx, asker) = (&cx, &asker);
    match message {
        AppToPylon::WorkspaceList(request) => workspaces::list(cx, asker, request).await,
        AppToPylon::WorkspaceCreate(request) => workspaces::create(cx, asker, request).await,
        AppToPylon::WorkspaceDelete(request) => workspaces::delete(cx, asker, request).await,
        AppToPylon::WorkspaceRename(request) => workspaces::rename(cx, asker, request).await,
        AppToPylon::WorkspaceSwitch(request) => workspaces::switch(cx, asker, request).await,
        AppToPylon::ConversationCreate(request) => conversations::create(cx, asker, request).await,
        AppToPylon::ConversationFork(request) => conversations::fork(cx, asker, request).await,
        AppToPylon::ConversationRewind(request) => conversations::rewind(cx, asker, request).await,
        AppToPylon::ConversationSelect(request) => conversations::select(cx, asker, request).await,
        AppToPylon::ConversationDelete(request) => conversations::delete(cx, asker, request).await,
        AppToPylon::ConversationRename(request) => conversations::rename(cx, asker, request).await,
        AppToPylon::HistoryRequest(request) => history::page(cx, asker, request).await,
        AppToPylon::HistorySearch(request) => history::search(cx, asker, request).await,
        AppToPylon::HistoryExport(request) => history::export(cx, asker, request).await,
        AppToPylon::ToolDetail(request) => history::detail(cx, asker, request).await,
        AppToPylon::UsageRequest(request) => history::usage(cx, asker, request).await,
        AppToPylon::ClaudeSend(request) => claude::send(cx, asker, request).await,
        AppToPylon::ClaudePermission(request) => claude::permission(cx, asker, request).await,
        AppToPylon::ClaudeAnswer(request) => claude::answer(cx, asker, request).await,
        AppToPylon::ClaudeControl(request) => claude::control(cx, asker, request).await,
        AppToPylon::ClaudeSetPermissionMode(request) => {
            claude::set_permission_mode(cx, asker, request).await;
        }
        AppToPylon::ClaudeSetModel(request) => claude::set_model(cx, asker, request).await,
        AppToPylon::FolderList(request) => folders::list(cx, asker, request).await,
        AppToPylon::BlobStart(request) => attachments::start(cx, asker, request).await,
        AppToPylon::BlobChunk(request) => attachments::chunk(cx, asker, request).await,
        AppToPylon::BlobEnd(request) => attachments::end(cx, asker, request).await,
        AppToPylon::FolderCreate(request) => folders::create(cx, asker, request).await,
        AppToPylon::FolderRename(request) => folders::rename(cx, asker, request).await,
        AppToPylon::FileList(request) => files::list(cx, asker, request).await,
        AppToPylon::FileRead(request) => files::read(cx, asker, request).await,
        AppToPylon::ChangesRequest(request) => changes::list(cx, asker, request).await,
        AppToPylon::DiffRequest(request) => changes::diff(cx, asker, request).await,
        AppToPylon::TurnChanges(request) => turns::changes(cx, asker, request).await,
        AppToPylon::WorktreeList(request) => worktrees::list(cx, asker, request).await,
        AppToPylon::WorktreeMerge(request) => worktrees::merge(cx, asker, request).await,
        AppToPylon::WorktreeRemove(request) => worktrees::remove(cx, asker, request).await,
        AppToPylon::SavedList(request) => saved::list(cx, asker, request).await,
        AppToPylon::SavedRead(request) => saved::read(cx, asker, request).await,
        AppToPylon::SavedContinue(request) => saved::go_on(cx, asker, request).await,
        AppToPylon::RulesRequest(request) => rules::list(cx, asker, request).await,
        AppToPylon::RuleChange(request) => rules::change(cx, asker, request).await,
        AppToPylon::ToolRevoke(request) => rules::revoke(cx, asker, request).await,
        AppToPylon::VersionCheckRequest(request) => version::check(cx, asker, request).await,
        AppToPylon::AppUpdateRequest(request) => version::update(cx, asker, request).await,
        AppToPylon::BugReport(request) => reports::keep(cx, asker, request).await,
        AppToPylon::TaskList(request) => tasks::list(cx, asker, request).await,
        AppToPylon::TaskGet(request) => tasks::get(cx, asker, request).await,
        AppToPylon::TaskCreate(request) => tasks::create(cx, asker, request).await,
        AppToPylon::TaskStatusChange(request) => tasks::set_status(cx, asker, request).await,
        AppToPylon::TerminalList(request) => terminals::list(cx, asker, request).await,
        AppToPylon::TerminalCreate(request) => terminals::create(cx, asker, request).await,
        AppToPylon::TerminalAttach(request) => terminals::attach(cx, asker, request).await,
        AppToPylon::TerminalInput(request) => terminals::input(cx, asker, request).await,
        AppToPylon::TerminalResize(request) => terminals::resize(cx, asker, request).await,
        AppToPylon::TerminalAck(request) => terminals::ack(cx, asker, request).await,
        AppToPylon::TerminalDetach(request) => terminals::detach(cx, asker, &request),
        AppToPylon::TerminalClose(request) => terminals::close(cx, asker, request).await,
        AppToPylon::WorkerStatusRequest(request) => worker::tell(cx, asker, request).await,
        AppToPylon::WorkerStart(request) => worker::start(cx, asker, request).await,
        AppToPylon::WorkerStop(request) => worker::stop(cx, asker, request).await,
        AppToPylon::NotificationsRequest(request) => notifications::show(cx, asker, request).await,
        AppToPylon::NotificationsSet(request) => notifications::set(cx, asker, request).await,
        AppToPylon::PushSubscribe(request) => notifications::subscribe(cx, asker, request).await,
        AppToPylon::PushUnsubscribe(request) => {
            notifications::unsubscribe(cx, asker, request).await;
        }
        AppToPylon::BudgetRequest(request) => budgets::show(cx, asker, request).await,
        AppToPylon::BudgetSet(request) => budgets::set(cx, asker, request).await,
        AppToPylon::ContinuationSet(request) => continuing::set(cx, asker, request).await,
        AppToPylon::PushTest(request) => notifications::test(cx, asker, request).await,
        message @ (AppToPylon::DeployPrepare(_)
        | AppToPylon::DeployConfirm(_)
        | AppToPylon::DeployGo(_)
        | AppToPylon::DeployStatusRequest(_)) => {
            let message = deploy::Msg::App(asker.clone(), Box::new(message));
            cx.deploys.tell(message).await;
        }
        message @ AppToPylon::Unknown(_) => unknown(asker, &message),
    }
}

fn unknown(asker: &Asker, message: &AppToPylon) {
    let kind = estelle_proto::limits::cut(message.kind(), 64);
    let error = refusal(
        ErrorCode::UnknownType,
        format!("this pylon does not know `{kind}`"),
    );
    asker.complain(error, Some(kind));
}
