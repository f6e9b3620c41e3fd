//! The worker of a workspace: what is remembered of it, what people ask of it, and who has its folder.
//!
//! [`super::visit`] takes its steps, whenever something happened that may matter: a request, the end of a turn, a host that is
//! back, the end of a rest. Visits of one workspace come one after another, in its lane; so do the requests here that change
//! something. `docs/design/tasks.md` has the crash windows.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use estelle_proto::tasks::{
    WorkerStart, WorkerStartResult, WorkerStatusRequest, WorkerStatusResult, WorkerStop,
    WorkerStopResult,
};
use estelle_proto::workspaces::{CurrentTask, WorkerRest, WorkerStatus};
use estelle_proto::{
    ApiError, ConversationId, ErrorCode, IsoTime, Json, Reply as _, Retry, WorkspaceId,
};
use tokio::time::Instant;

use super::context::{Asker, Context, now};
use super::error::{Told as _, refusal};
use super::tasks::{all_in, home, on_disk};
use super::visit::visit;
use crate::link::host::HostState;
use crate::tasks::folder::Lock;
use crate::tasks::task::{self, first_waiting, queue};
use crate::tasks::worker::Worker;
use crate::tasks::{Task, TaskFolder};

/// When something is tried again that could not even be looked at.
pub(super) const RETRY: Duration = Duration::from_secs(30);

/// The folders that our workers have.
#[derive(Debug, Clone, Default)]
pub(super) struct Held(Arc<Mutex<HashMap<WorkspaceId, Lock>>>);

impl Held {
    pub(super) fn with<T>(&self, look: impl FnOnce(&mut HashMap<WorkspaceId, Lock>) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// When a worker is visited next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wake {
    /// When something happens.
    Called,
    /// Then, or when something happens.
    At(Instant),
    /// Nobody needs to.
    Never,
}

/// What the desk has to know of a worker.
#[derive(Debug)]
pub(super) struct Note {
    /// Where it works: the end of a turn there matters.
    pub(super) conversation: Option<ConversationId>,
    pub(super) wake: Wake,
}

fn key(workspace: &WorkspaceId) -> String {
    format!("worker.{workspace}")
}

pub(super) async fn load(cx: &Context, workspace: &WorkspaceId) -> Result<Worker, ApiError> {
    let kept = cx.store.setting(key(workspace)).await;
    let kept = kept.map_err(|error| error.told())?;
    let worker = kept.map(|kept| kept.decode::<Worker>()).transpose();
    worker.map(Option::unwrap_or_default).map_err(|error| {
        let text = format!("what is remembered of the worker cannot be read: {error}");
        refusal(ErrorCode::Internal, text)
    })
}

pub(super) async fn save(
    cx: &Context,
    workspace: &WorkspaceId,
    worker: &Worker,
) -> Result<(), ApiError> {
    let value =
        Json::of(worker).map_err(|error| refusal(ErrorCode::Internal, error.to_string()))?;
    let kept = cx.store.set_setting(key(workspace), Some(value)).await;
    kept.map_err(|error| error.told())
}

/// What the worker of a workspace does, for people.
pub(super) async fn status(cx: &Context, id: &WorkspaceId, tasks: &[Task]) -> WorkerStatus {
    let worker = load(cx, id).await.unwrap_or_default();
    let job = worker.job.as_ref();
    WorkerStatus {
        workspace_id: Some(id.clone()),
        status: Some(if job.is_some() { "running" } else { "idle" }.to_owned()),
        current_task: job.map(|job| CurrentTask {
            started_at: Some(IsoTime::from(job.at).to_string()),
            ..CurrentTask::new(job.id.clone(), job.title.clone())
        }),
        queue: Some(queue(tasks)),
        on: Some(worker.on),
        conversation_id: worker.place().cloned(),
        worktrees: worker.apart.then_some(true),
        rest: worker.rest.as_ref().map(WorkerRest::from),
        ..WorkerStatus::new(job.is_some())
    }
}

pub(super) async fn status_now(cx: &Context, id: &WorkspaceId) -> Result<WorkerStatus, ApiError> {
    let home = home(cx, id).await?;
    let tasks = on_disk(move || all_in(&home)).await?;
    Ok(status(cx, id, &tasks.tasks).await)
}

pub(super) async fn tell(cx: &Context, asker: &Asker, request: WorkerStatusRequest) {
    let result = WorkerStatusResult::new(cx.device(), request.workspace_id.clone());
    let result = match status_now(cx, &request.workspace_id).await {
        Ok(status) => WorkerStatusResult {
            worker_status: Some(Box::new(status)),
            ..result
        },
        Err(error) => result.failed(error),
    };
    asker.answer(result.in_reply_to(request.request_id.as_ref()));
}

pub(super) async fn start(cx: &Context, asker: &Asker, request: WorkerStart) {
    let workspace = request.workspace_id;
    let result = WorkerStartResult::new(cx.device(), workspace.clone());
    let result = match try_start(cx, &workspace, request.worktrees).await {
        Ok(status) => WorkerStartResult {
            task_id: status.current_task.as_ref().map(|task| task.id.clone()),
            task_title: status.current_task.as_ref().map(|task| task.title.clone()),
            worker_status: Some(Box::new(status)),
            ..result
        },
        Err(error) => result.failed(error),
    };
    asker.answer(result.in_reply_to(request.request_id.as_ref()));
}

/// Nothing is remembered before it is clear that it can begin.
async fn try_start(
    cx: &Context,
    id: &WorkspaceId,
    apart: Option<bool>,
) -> Result<WorkerStatus, ApiError> {
    let conflict = |text: &str| Err(refusal(ErrorCode::Conflict, text));
    let home = home(cx, id).await?;
    let mut worker = load(cx, id).await?;
    let is_resting = worker
        .rest
        .as_ref()
        .is_some_and(|rest| rest.until.is_some());
    if worker.on && !is_resting {
        return conflict("the worker runs already");
    }
    if worker.job.as_ref().is_some_and(|job| job.stop) {
        return conflict("the worker is being stopped; start it when its task is back in the list");
    }
    let place = home.clone();
    let tasks = on_disk(move || all_in(&place)).await?.tasks;
    if worker.job.is_none() && first_waiting(&tasks).is_none() {
        return conflict("no task waits: write one, or set one to `pending`");
    }
    if let HostState::Away(lost) = &*cx.host.state().borrow() {
        let text = lost.to_string();
        return Err(ApiError::new(
            ErrorCode::HostUnavailable,
            text,
            Retry::Later,
        ));
    }
    if !hold(cx, id, home).await? {
        return conflict("another worker has this folder: stop it first");
    }
    worker.on = true;
    worker.apart = apart.unwrap_or(worker.apart);
    worker.rest = None;
    save(cx, id, &worker).await?;
    visit(cx, id).await;
    status_now(cx, id).await
}

pub(super) async fn stop(cx: &Context, asker: &Asker, request: WorkerStop) {
    let workspace = request.workspace_id;
    let result = WorkerStopResult::new(cx.device(), workspace.clone());
    let after_task = request.after_task.unwrap_or_default();
    let result = match try_stop(cx, &workspace, after_task).await {
        Ok(status) => WorkerStopResult {
            worker_status: Some(Box::new(status)),
            ..result
        },
        Err(error) => result.failed(error),
    };
    asker.answer(result.in_reply_to(request.request_id.as_ref()));
}

async fn try_stop(
    cx: &Context,
    id: &WorkspaceId,
    after_task: bool,
) -> Result<WorkerStatus, ApiError> {
    home(cx, id).await?;
    let mut worker = load(cx, id).await?;
    worker.on = false;
    match &mut worker.job {
        Some(job) => job.stop |= !after_task,
        None => worker.rest = None,
    }
    save(cx, id, &worker).await?;
    visit(cx, id).await;
    status_now(cx, id).await
}

/// The file that the worker is at, which nobody else may mark.
pub(super) async fn file_in_hand(
    cx: &Context,
    id: &WorkspaceId,
) -> Result<Option<String>, ApiError> {
    Ok(load(cx, id).await?.job.map(|job| job.file))
}

/// A workspace is deleted: its worker is forgotten, and the task it was at waits again.
pub(super) async fn forget(cx: &Context, id: &WorkspaceId, home: PathBuf) {
    if let Ok(Worker { job: Some(job), .. }) = load(cx, id).await {
        let file = job.file;
        let _ = on_disk(move || match TaskFolder::open(&home)? {
            Some(folder) => folder
                .change(&file, |text| task::put_back(text, now()))
                .map(drop),
            None => Ok(()),
        })
        .await;
    }
    cx.held.with(|held| held.remove(id));
    if let Err(error) = cx.store.set_setting(key(id), None).await {
        tracing::warn!(%error, "a worker of a workspace that is gone is still remembered");
    }
    let note = Note {
        conversation: None,
        wake: Wake::Never,
    };
    cx.note_worker(id.clone(), note).await;
}

/// Whether our worker has the folder, now if not before.
pub(super) async fn hold(cx: &Context, id: &WorkspaceId, home: PathBuf) -> Result<bool, ApiError> {
    if cx.held.with(|held| held.contains_key(id)) {
        return Ok(true);
    }
    let lock = on_disk(move || TaskFolder::make(&home)?.lock()).await?;
    let is_held = lock.is_some();
    if let Some(lock) = lock {
        cx.held.with(|held| held.insert(id.clone(), lock));
    }
    Ok(is_held)
}

/// Takes the folders again in which a task was under way when the Pylon before ended, ahead of everybody who could ask for
/// them: its turn goes on in the host meanwhile.
pub(super) async fn hold_again(cx: &Context) {
    let Ok(listing) = cx.store.workspaces(None).await else {
        return;
    };
    for workspace in listing.workspaces {
        let id = &workspace.workspace_id;
        let worker = load(cx, id).await.unwrap_or_default();
        if worker.job.is_none() {
            continue;
        }
        let home = PathBuf::from(workspace.working_dir.as_str());
        match hold(cx, id, home).await {
            Ok(true) => {}
            Ok(false) => {
                tracing::warn!(workspace = %id, "another worker took the folder of a task that runs");
            }
            Err(error) => {
                tracing::warn!(workspace = %id, %error, "the folder of a task that runs is not held");
            }
        }
    }
}

/// Every worker that somebody has to look after, after a start.
pub(super) async fn wake_all(cx: Context) {
    let listing = match cx.store.workspaces(None).await {
        Ok(listing) => listing,
        Err(error) => return tracing::error!(%error, "the workers are not known"),
    };
    for workspace in listing.workspaces {
        match load(&cx, &workspace.workspace_id).await {
            Ok(worker) if worker.is_asleep() => {}
            Ok(_) => visit_soon(&cx, workspace.workspace_id).await,
            Err(error) => tracing::error!(%error, "a worker is not known"),
        }
    }
}

async fn visit_soon(cx: &Context, id: WorkspaceId) {
    let note = Note {
        conversation: None,
        wake: Wake::At(Instant::now()),
    };
    cx.note_worker(id, note).await;
}
