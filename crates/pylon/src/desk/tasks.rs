//! Tasks: list, read, write, and say how far they are.
//!
//! The files of a workspace are looked at whenever somebody asks; nothing of them is kept. After each change all clients
//! get the list of tasks, and that of the workspaces, which shows the newest of them.

use std::path::PathBuf;

use estelle_proto::tasks::{
    TaskCreate, TaskCreateResult, TaskGet, TaskGetResult, TaskList, TaskListResult,
    TaskStatusChange, TaskStatusResult,
};
use estelle_proto::workspaces::{TaskStatus, TaskSummary, Workspace};
use estelle_proto::{ApiError, ErrorCode, Reply as _, TaskId, WorkspaceId, limits};

use super::budgets::lines;
use super::context::{Asker, Context, now};
use super::error::{bounded, refusal, unknown_word};
use super::worker;
use super::workspaces::known_workspace;
use crate::store::Lines;
use crate::tasks::task::{find, with_status};
use crate::tasks::{FolderError, TaskFolder, Tasks};

/// Tasks that the list of workspaces shows of each.
const SHOWN_OF_EACH: usize = 50;
/// Tasks that the list of workspaces shows of all together: with the longest titles they fit a frame.
const SHOWN_OF_ALL: usize = 400;

/// Looks at files where that holds up nobody.
pub(super) async fn on_disk<T: Send + 'static>(
    look: impl FnOnce() -> Result<T, FolderError> + Send + 'static,
) -> Result<T, ApiError> {
    match tokio::task::spawn_blocking(look).await {
        Ok(found) => found.map_err(|error| ApiError::from(&error)),
        Err(error) => Err(refusal(ErrorCode::Internal, error.to_string())),
    }
}

/// The folder of a workspace that must be there.
pub(super) async fn home(cx: &Context, id: &WorkspaceId) -> Result<PathBuf, ApiError> {
    let workspace = known_workspace(cx, id).await?;
    Ok(PathBuf::from(workspace.working_dir.as_str()))
}

pub(super) fn all_in(home: &std::path::Path) -> Result<Tasks, FolderError> {
    match TaskFolder::open(home)? {
        Some(folder) => folder.list(),
        None => Ok(Tasks::default()),
    }
}

/// The workspaces with their newest tasks.
pub(super) async fn filled_in(cx: &Context, mut workspaces: Vec<Workspace>) -> Vec<Workspace> {
    let most = SHOWN_OF_ALL / workspaces.len().max(1);
    let most = most.min(SHOWN_OF_EACH);
    for workspace in &mut workspaces {
        let home = PathBuf::from(workspace.working_dir.as_str());
        match on_disk(move || all_in(&home)).await {
            Ok(tasks) => {
                workspace.worker_status =
                    worker::status(cx, &workspace.workspace_id, &tasks.tasks).await;
                let newest = tasks.tasks.iter().take(most);
                workspace.tasks = newest.map(crate::tasks::Task::summary).collect();
            }
            // Whoever asks for the tasks themselves is told.
            Err(error) => {
                tracing::debug!(workspace = %workspace.workspace_id, %error, "its tasks are not known");
            }
        }
    }
    workspaces
}

pub(super) async fn list(cx: &Context, asker: &Asker, request: TaskList) {
    let result = listing(cx, &request.workspace_id).await;
    asker.answer(result.in_reply_to(request.request_id.as_ref()));
}

async fn listing(cx: &Context, id: &WorkspaceId) -> TaskListResult {
    let result = |tasks| TaskListResult::new(cx.device(), id.clone(), tasks);
    let found = async {
        let home = home(cx, id).await?;
        on_disk(move || all_in(&home)).await
    };
    match found.await {
        Ok(found) => {
            let shown = found.tasks.iter().take(limits::MAX_TASKS);
            let is_cut = found.is_cut || found.tasks.len() > limits::MAX_TASKS;
            TaskListResult {
                truncated: is_cut.then_some(true),
                worker_status: Some(Box::new(worker::status(cx, id, &found.tasks).await)),
                ..result(shown.map(crate::tasks::Task::summary).collect())
            }
        }
        Err(error) => result(Vec::new()).failed(error),
    }
}

/// All clients are told how the tasks are now.
pub(super) async fn changed(cx: &Context, id: &WorkspaceId) {
    let listing = listing(cx, id).await;
    cx.broadcast(listing).await;
    cx.list_changed().await;
}

pub(super) async fn get(cx: &Context, asker: &Asker, request: TaskGet) {
    let result = TaskGetResult::new(cx.device(), request.workspace_id.clone());
    let result = match try_get(cx, &request.workspace_id, request.task_id).await {
        Ok(task) => TaskGetResult {
            task: Some(Box::new(task)),
            ..result
        },
        Err(error) => result.failed(error),
    };
    asker.answer(result.in_reply_to(request.request_id.as_ref()));
}

/// A task, and its text; of a file that is none, what of it can be shown.
async fn try_get(
    cx: &Context,
    workspace: &WorkspaceId,
    id: TaskId,
) -> Result<estelle_proto::tasks::Task, ApiError> {
    let home = home(cx, workspace).await?;
    let found = on_disk(move || {
        let folder = TaskFolder::open(&home)?;
        let tasks = folder
            .as_ref()
            .map_or(Ok(Tasks::default()), TaskFolder::list)?;
        Ok(find(&tasks.tasks, id.as_str()).map(|task| {
            let text = folder.map(|folder| folder.text(&task.file));
            task.whole(&text.and_then(Result::ok).unwrap_or_default())
        }))
    });
    Ok(found.await??)
}

pub(super) async fn create(cx: &Context, asker: &Asker, request: TaskCreate) {
    let workspace = request.workspace_id;
    let result = TaskCreateResult::new(cx.device(), workspace.clone());
    let (title, content) = (request.title.to_string(), request.content.to_string());
    let made = match lines(request.soft_usd, request.hard_usd) {
        Ok(lines) => write_new(cx, &workspace, title, content, lines).await,
        Err(error) => Err(error),
    };
    let is_done = made.is_ok();
    let result = match made {
        Ok(task) => TaskCreateResult {
            task: Some(Box::new(task)),
            ..result
        },
        Err(error) => result.failed(error),
    };
    asker.answer(result.in_reply_to(request.request_id.as_ref()));
    if is_done {
        changed(cx, &workspace).await;
    }
}

/// Writes a new task.
pub(super) async fn write_new(
    cx: &Context,
    workspace: &WorkspaceId,
    title: String,
    content: String,
    Lines { soft, hard }: Lines,
) -> Result<TaskSummary, ApiError> {
    let home = home(cx, workspace).await?;
    let task = on_disk(move || {
        TaskFolder::make(&home)?.create_within(&title, &content, (soft, hard), now())
    });
    let task = task.await?;
    Ok(task.summary())
}

pub(super) async fn set_status(cx: &Context, asker: &Asker, request: TaskStatusChange) {
    let id = request.request_id.clone();
    let workspace = request.workspace_id.clone();
    let result = TaskStatusResult::new(cx.device(), workspace.clone());
    let done = try_set_status(cx, request).await;
    let is_done = done.is_ok();
    let result = match done {
        Ok(task) => TaskStatusResult {
            task: Some(Box::new(task)),
            ..result
        },
        Err(error) => result.failed(error),
    };
    asker.answer(result.in_reply_to(id.as_ref()));
    if is_done {
        changed(cx, &workspace).await;
    }
}

async fn try_set_status(cx: &Context, request: TaskStatusChange) -> Result<TaskSummary, ApiError> {
    let (status, error) = (request.status, request.error);
    if let TaskStatus::Unknown(word) = &status {
        return Err(unknown_word("status", word));
    }
    let length = error.as_ref().map_or(0, String::len);
    bounded("error", length, limits::MAX_TASK_ERROR_BYTES)?;
    if error.is_some() && status != TaskStatus::Failed {
        let text = "`error` says why a task failed; it goes with `failed` alone";
        return Err(refusal(ErrorCode::InvalidMessage, text));
    }
    let home = home(cx, &request.workspace_id).await?;
    let in_hand = worker::file_in_hand(cx, &request.workspace_id).await?;
    let id = request.task_id;
    let changed = on_disk(move || {
        let folder = TaskFolder::open(&home)?;
        let tasks = folder
            .as_ref()
            .map_or(Ok(Tasks::default()), TaskFolder::list)?;
        let (task, folder) = match (find(&tasks.tasks, id.as_str()), folder) {
            (Ok(task), Some(folder)) => (task, folder),
            (Err(error), _) => return Ok(Err(ApiError::from(error))),
            (Ok(task), None) => {
                let file = task.file.clone();
                return Err(FolderError::Gone { file });
            }
        };
        if in_hand.as_ref() == Some(&task.file) {
            let text =
                "the worker is at this task, and marks it when it is over; stop the worker first";
            return Ok(Err(refusal(ErrorCode::Conflict, text)));
        }
        let change = |text: &str| with_status(text, &status, error.as_deref(), now());
        folder.change(&task.file, change).map(Ok)
    });
    Ok(changed.await??.summary())
}
