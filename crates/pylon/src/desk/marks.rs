//! What a worker writes into the file of its task: that it began, how it ended, that it waits again.

use estelle_proto::workspaces::{RestCause, TaskStatus};
use estelle_proto::{ApiError, ConversationId, Timestamp, limits};

use super::context::now;
use super::error::Told as _;
use super::tasks::on_disk;
use super::visit::{Flow, Visit};
use crate::store::{Lines, TaskFile};
use crate::tasks::matter::MatterError;
use crate::tasks::task;
use crate::tasks::worker::{Back, Job};
use crate::tasks::{FolderError, Task, TaskFolder};

impl Visit<'_> {
    pub(super) async fn finish(
        &mut self,
        tasks: &[Task],
        status: TaskStatus,
        error: Option<String>,
    ) -> Result<Flow, ApiError> {
        let error = error.map(|error| {
            let end = error.floor_char_boundary(limits::MAX_TASK_ERROR_BYTES);
            error[..end].to_owned()
        });
        let note = move |text: &str, at| task::end(text, &status, error.as_deref(), at);
        self.mark(tasks, note).await?;
        if let Some(job) = self.worker.job.clone() {
            self.end_budget(&job).await?;
        }
        self.worker.finish();
        self.save().await?;
        Ok(Flow::Again)
    }

    pub(super) async fn give_back(&mut self, tasks: &[Task], why: Back) -> Result<Flow, ApiError> {
        self.mark(tasks, task::put_back).await?;
        let resets_at = match (&why, self.worker.place()) {
            (Back::Later(RestCause::UsageLimit, _), Some(place)) => {
                let until = self.cx.store.refused_until(place.clone()).await;
                until.map_err(|error| error.told())?
            }
            _ => None,
        };
        if let Some(job) = &self.worker.job {
            let paused = self.cx.store.pause_task_budget(self.file_of(job));
            paused.await.map_err(|error| error.told())?;
        }
        self.worker.give_back(why, now());
        if let Some(resets_at) = resets_at {
            self.worker.rest_until_reset(resets_at, now());
        }
        self.save().await?;
        Ok(Flow::Again)
    }

    fn file_of(&self, job: &Job) -> TaskFile {
        TaskFile {
            workspace: self.id.clone(),
            file: job.file.clone(),
        }
    }

    /// What is spent in this conversation from now on is spent on the task.
    pub(super) async fn begin_budget(
        &self,
        job: &Job,
        task: &Task,
        place: &ConversationId,
    ) -> Result<(), ApiError> {
        let lines = Lines {
            soft: task.soft_usd,
            hard: task.hard_usd,
        };
        let (of, id) = (self.file_of(job), job.id.clone());
        let begun = self
            .cx
            .store
            .begin_task_budget(of, id, place.clone(), lines);
        begun.await.map_err(|error| error.told())
    }

    /// The task is over, or is none any more.
    pub(super) async fn end_budget(&self, job: &Job) -> Result<(), ApiError> {
        let ended = self.cx.store.end_task_budget(self.file_of(job));
        ended.await.map_err(|error| error.told())
    }

    /// Marks the file of the job, under the name that it has by now. One that is gone or broken stays as it is.
    async fn mark(
        &self,
        tasks: &[Task],
        change: impl Fn(&str, Timestamp) -> Result<String, MatterError> + Send + 'static,
    ) -> Result<(), ApiError> {
        let Some(job) = &self.worker.job else {
            return Ok(());
        };
        let is_there = tasks.is_empty() || tasks.iter().any(|task| task.file == job.file);
        let moved = tasks.iter().find(|task| !is_there && task.id == job.id);
        let file = moved.map_or(&job.file, |task| &task.file);
        self.change(file, change).await?;
        Ok(())
    }

    /// The task as it is then; none if there is no such task any more.
    pub(super) async fn change(
        &self,
        file: &str,
        change: impl Fn(&str, Timestamp) -> Result<String, MatterError> + Send + 'static,
    ) -> Result<Option<Task>, ApiError> {
        let (home, name) = (self.home.clone(), file.to_owned());
        on_disk(move || {
            let Some(folder) = TaskFolder::open(&home)? else {
                return Ok(None);
            };
            match folder.change(&name, |text| change(text, now())) {
                Ok(task) => Ok(Some(task)),
                Err(error @ (FolderError::Gone { .. } | FolderError::Damaged { .. })) => {
                    tracing::warn!(%error, "a task of the worker is no task any more");
                    Ok(None)
                }
                Err(error) => Err(error),
            }
        })
        .await
    }
}
