//! Tasks of a workspace: which there are, one with its text, a new one, how far one is; and the worker that carries them out.

use estelle_proto::tasks::{
    Task, TaskCreate, TaskGet, TaskList, TaskStatusChange, WorkerStart, WorkerStatusRequest,
    WorkerStop,
};
use estelle_proto::workspaces::{TaskStatus, TaskSummary, WorkerStatus};
use estelle_proto::{PylonToApp, Reply as _, TaskId, TaskText, WorkspaceId};
use hyper::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json as value};

use super::Caller;
use crate::body::ShortName;
use crate::failure::Failure;
use crate::query::Query;
use crate::respond::{Answer, json};
use crate::routes::decoded;

/// A task, in the names of this interface.
#[derive(Debug, Serialize)]
struct Shown {
    id: String,
    title: String,
    status: TaskStatus,
    file: Option<String>,
    created_at: Option<String>,
    started_at: Option<String>,
    completed_at: Option<String>,
    /// Why it failed, or why its file is no task.
    error: Option<String>,
}

/// Both forms of a task have the same members under the same names; they are taken over in one place.
macro_rules! shown {
    ($task:ident) => {
        Shown {
            id: $task.id,
            title: $task.title,
            status: $task.status,
            file: $task.file,
            created_at: $task.created_at,
            started_at: $task.started_at,
            completed_at: $task.completed_at,
            error: $task.problem.or($task.error),
        }
    };
}

impl From<TaskSummary> for Shown {
    fn from(task: TaskSummary) -> Self {
        shown!(task)
    }
}

/// A task with its text.
#[derive(Debug, Serialize)]
struct Whole {
    #[serde(flatten)]
    task: Shown,
    content: String,
    is_cut: bool,
}

impl From<Task> for Whole {
    fn from(task: Task) -> Self {
        Self {
            task: shown!(task),
            content: task.content,
            is_cut: task.truncated.unwrap_or_default(),
        }
    }
}

/// What a worker does, in the names of this interface.
fn worker(status: &WorkerStatus) -> Value {
    let queue = status.queue.as_ref();
    let rest = status.rest.as_ref();
    value!({
        "is_on": status.on.unwrap_or_default(),
        "is_running": status.running,
        "task_id": status.current_task.as_ref().map(|task| &task.id),
        "session_id": status.conversation_id,
        "pending": queue.map_or(0, |queue| queue.pending),
        "total": queue.map_or(0, |queue| queue.total),
        "rest": rest.map(|rest| value!({
            "cause": rest.cause, "message": rest.message, "until": rest.until,
        })),
    })
}

impl Caller {
    /// The workspace of the path.
    pub(super) fn workspace(&self) -> Result<WorkspaceId, Failure> {
        let id = self.id.as_deref().map(WorkspaceId::parse);
        let Some(Ok(id)) = id else {
            let (status, text) = (StatusCode::NOT_FOUND, "there is no such workspace");
            return Err(Failure::new(status, "unknown_workspace", text));
        };
        Ok(id)
    }

    /// The task of the path.
    fn task(&self) -> Result<TaskId, Failure> {
        let id = self.task.as_deref().and_then(decoded);
        let id = id.as_deref().map(TaskId::parse);
        let Some(Ok(id)) = id else {
            let (status, text) = (StatusCode::NOT_FOUND, "there is no such task");
            return Err(Failure::new(status, "unknown_task", text));
        };
        Ok(id)
    }
}

pub(super) async fn list(caller: &Caller, query: Option<&str>) -> Result<Answer, Failure> {
    Query::parse(query, &[])?;
    let wish = TaskList::new(caller.workspace()?);
    let PylonToApp::TaskListResult(list) = caller.ask(wish).await? else {
        return Err(Failure::mismatch());
    };
    list.outcome()?;
    let tasks: Vec<Shown> = list.tasks.into_iter().map(Shown::from).collect();
    let body = value!({
        "tasks": tasks,
        "is_cut": list.truncated.unwrap_or_default(),
        "worker": list.worker_status.as_deref().map(worker),
    });
    Ok(json(StatusCode::OK, &body))
}

pub(super) async fn get(caller: &Caller, query: Option<&str>) -> Result<Answer, Failure> {
    Query::parse(query, &[])?;
    let wish = TaskGet::new(caller.workspace()?, caller.task()?);
    let PylonToApp::TaskGetResult(found) = caller.ask(wish).await? else {
        return Err(Failure::mismatch());
    };
    found.outcome()?;
    let task = found.task.ok_or_else(Failure::mismatch)?;
    let body = value!({ "task": Whole::from(*task) });
    Ok(json(StatusCode::OK, &body))
}

/// What a new task is to be.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub(super) struct NewTask {
    title: ShortName,
    content: TaskText,
}

pub(super) async fn create(caller: &Caller, new: NewTask) -> Result<Answer, Failure> {
    let wish = TaskCreate::new(caller.workspace()?, new.title.0, new.content);
    let PylonToApp::TaskCreateResult(made) = caller.ask(wish).await? else {
        return Err(Failure::mismatch());
    };
    made.outcome()?;
    let task = made.task.ok_or_else(Failure::mismatch)?;
    let body = value!({ "task": Shown::from(*task) });
    Ok(json(StatusCode::CREATED, &body))
}

/// How far a task can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Progress {
    Pending,
    Running,
    Done,
    Failed,
}

impl From<Progress> for TaskStatus {
    fn from(progress: Progress) -> Self {
        match progress {
            Progress::Pending => Self::Pending,
            Progress::Running => Self::Running,
            Progress::Done => Self::Done,
            Progress::Failed => Self::Failed,
        }
    }
}

/// How far a task is to be.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub(super) struct NewProgress {
    status: Progress,
    error: Option<String>,
}

pub(super) async fn mark(caller: &Caller, new: NewProgress) -> Result<Answer, Failure> {
    if new.error.is_some() && new.status != Progress::Failed {
        return Err(Failure::invalid("`error` goes with `failed` alone"));
    }
    let wish = TaskStatusChange {
        error: new.error,
        ..TaskStatusChange::new(caller.workspace()?, caller.task()?, new.status.into())
    };
    let PylonToApp::TaskStatusResult(set) = caller.ask(wish).await? else {
        return Err(Failure::mismatch());
    };
    set.outcome()?;
    let task = set.task.ok_or_else(Failure::mismatch)?;
    let body = value!({ "task": Shown::from(*task) });
    Ok(json(StatusCode::OK, &body))
}

fn told(status: Option<Box<WorkerStatus>>) -> Result<Answer, Failure> {
    let status = status.ok_or_else(Failure::mismatch)?;
    let body = value!({ "worker": worker(&status) });
    Ok(json(StatusCode::OK, &body))
}

pub(super) async fn get_worker(caller: &Caller, query: Option<&str>) -> Result<Answer, Failure> {
    Query::parse(query, &[])?;
    let wish = WorkerStatusRequest::new(caller.workspace()?);
    let PylonToApp::WorkerStatusResult(found) = caller.ask(wish).await? else {
        return Err(Failure::mismatch());
    };
    found.outcome()?;
    told(found.worker_status)
}

/// What a worker is to do.
#[derive(Debug, Deserialize)]
#[serde(
    tag = "action",
    rename_all = "snake_case",
    deny_unknown_fields,
    expecting = "an object"
)]
pub(super) enum WorkerOrder {
    /// Carry out what waits.
    Start {},
    /// Stop: at once, or after the task it is at.
    Stop { after_task: Option<bool> },
}

pub(super) async fn order_worker(caller: &Caller, order: WorkerOrder) -> Result<Answer, Failure> {
    let workspace = caller.workspace()?;
    match order {
        WorkerOrder::Start {} => {
            let PylonToApp::WorkerStartResult(done) =
                caller.ask(WorkerStart::new(workspace)).await?
            else {
                return Err(Failure::mismatch());
            };
            done.outcome()?;
            told(done.worker_status)
        }
        WorkerOrder::Stop { after_task } => {
            let wish = WorkerStop {
                after_task,
                ..WorkerStop::new(workspace)
            };
            let PylonToApp::WorkerStopResult(done) = caller.ask(wish).await? else {
                return Err(Failure::mismatch());
            };
            done.outcome()?;
            told(done.worker_status)
        }
    }
}
