//! A visit to a worker: what is remembered is loaded, how things are is found out, and steps are taken until there is nothing
//! to do but wait.
//!
//! **Invariant:** what is remembered is in the store before a step that relies on it, and a step that was taken twice is as
//! good as once.

use std::path::PathBuf;
use std::time::Duration;

use estelle_proto::history::HistoryMessage;
use estelle_proto::ipc::{MessagePayload, SendMessage, StopSession};
use estelle_proto::workspaces::{RestCause, TaskStatus};
use estelle_proto::{
    ApiError, ConversationId, ConversationStatus, ErrorCode, Name, OnBusy, Reply as _, Seq,
    SkillType, Timestamp, WorkspaceId, limits,
};
use tokio::time::Instant;

use super::claude::{ask, message_payload};
use super::context::{Context, now};
use super::error::{Told as _, refusal};
use super::tasks::{all_in, changed, home, on_disk};
use super::worker::{Note, RETRY, Wake, hold, load, save};
use super::workspaces::known_workspace;
use crate::link::host::HostState;
use crate::store::{ConversationError, NewConversation, PageFrom, PageQuery};
use crate::tasks::matter::{Matter, MatterError};
use crate::tasks::task;
use crate::tasks::worker::{Back, Facts, Job, Step, Turn, Worker, end_of};
use crate::tasks::{FolderError, Task, TaskFolder};

/// The conversation in which tasks are carried out.
const CONVERSATION: &str = "📋 worker";
/// Steps of one visit; a queue of tasks that end at once goes on in the next.
const STEPS: usize = 64;
/// Pages of history that are read to find the end of a turn.
const PAGES: usize = 2_000;

/// Lets a worker go on as far as it can.
pub(super) async fn visit(cx: &Context, id: &WorkspaceId) {
    let mut visit = match Visit::begin(cx, id).await {
        Ok(visit) => visit,
        // The next thing that happens calls for the next visit.
        Err(error) if error.code != ErrorCode::UnknownWorkspace => {
            tracing::error!(workspace = %id, %error, "a worker cannot be looked after; trying again");
            let note = Note {
                conversation: None,
                wake: Wake::At(Instant::now() + RETRY),
            };
            return cx.note_worker(id.clone(), note).await;
        }
        Err(_) => return,
    };
    let before = visit.worker.clone();
    let wake = visit.run().await;
    let Visit { worker, .. } = visit;
    let wake = if worker.is_asleep() {
        cx.held.with(|held| held.remove(id));
        Wake::Never
    } else {
        wake
    };
    let conversation = worker.conversation.clone();
    let note = Note { conversation, wake };
    cx.note_worker(id.clone(), note).await;
    if worker != before {
        changed(cx, id).await;
    }
}

/// What a step comes to.
enum Flow {
    Again,
    Wait(Wake),
}

struct Visit<'a> {
    cx: &'a Context,
    id: &'a WorkspaceId,
    home: PathBuf,
    worker: Worker,
    /// The message went out in this visit; that it is not seen yet says nothing.
    is_sent: bool,
}

impl<'a> Visit<'a> {
    async fn begin(cx: &'a Context, id: &'a WorkspaceId) -> Result<Self, ApiError> {
        Ok(Self {
            home: home(cx, id).await?,
            worker: load(cx, id).await?,
            is_sent: false,
            cx,
            id,
        })
    }

    async fn run(&mut self) -> Wake {
        for _ in 0..STEPS {
            let flow = match self.step().await {
                Ok(flow) => flow,
                Err(error) => self.trouble(&error).await,
            };
            if let Flow::Wait(wake) = flow {
                return wake;
            }
        }
        Wake::At(Instant::now())
    }

    /// The files or the store cannot be used: a reason to rest, and none to fail a task.
    async fn trouble(&mut self, error: &ApiError) -> Flow {
        tracing::warn!(workspace = %self.id, %error, "the worker rests");
        self.rest(RestCause::Files, error.message.clone()).await
    }

    async fn rest(&mut self, cause: RestCause, message: String) -> Flow {
        self.worker.lie_down(cause, message, now());
        if let Err(error) = self.save().await {
            tracing::error!(%error, "a worker that rests is not remembered");
        }
        let until = self.worker.rest.as_ref().and_then(|rest| rest.until);
        Flow::Wait(wake(until))
    }

    async fn save(&self) -> Result<(), ApiError> {
        save(self.cx, self.id, &self.worker).await
    }

    async fn step(&mut self) -> Result<Flow, ApiError> {
        let home = self.home.clone();
        let tasks = on_disk(move || all_in(&home)).await?.tasks;
        let (turn, is_busy) = self.look().await?;
        let facts = Facts {
            now: now(),
            is_host_up: matches!(*self.cx.host.state().borrow(), HostState::Up(_)),
            is_busy,
            tasks: &tasks,
            turn,
        };
        match self.worker.next(&facts) {
            Step::Wait(until) => Ok(Flow::Wait(wake(until))),
            Step::TurnOff => {
                if self.worker.on {
                    self.worker.on = false;
                    self.worker.rest = None;
                    self.save().await?;
                }
                Ok(Flow::Wait(Wake::Never))
            }
            Step::Take(task) => self.take(&task).await,
            Step::Send => self.send().await,
            Step::Stop => self.stop().await,
            Step::Finish(status, error) => self.finish(&tasks, status, error).await,
            Step::GiveBack(why) => self.give_back(&tasks, why).await,
        }
    }

    /// How the turn is, and whether its conversation does something.
    async fn look(&self) -> Result<(Turn, bool), ApiError> {
        let Some(id) = &self.worker.conversation else {
            let turn = self
                .worker
                .job
                .as_ref()
                .map_or(Turn::Unseen, |_| Turn::Gone);
            return Ok((turn, false));
        };
        let known = match self.cx.store.conversation(id.clone()).await {
            Ok(known) => known,
            Err(ConversationError::Store(error)) => return Err(error.told()),
            Err(_) => return Ok((Turn::Gone, false)),
        };
        let is_busy = known.conversation.status != ConversationStatus::Idle;
        let Some(job) = &self.worker.job else {
            return Ok((Turn::Unseen, is_busy));
        };
        let turn = match job.seq {
            Some(seq) => self.turn(id, job, seq).await?,
            None => Turn::Unseen,
        };
        let turn = if self.is_sent && turn == Turn::Unseen {
            Turn::UnderWay
        } else {
            turn
        };
        Ok((turn, is_busy))
    }

    async fn turn(&self, id: &ConversationId, job: &Job, seq: Seq) -> Result<Turn, ApiError> {
        let said = self.cx.store.entry(id.clone(), seq).await;
        let said = said.map_err(|error| error.told())?;
        let is_it = matches!(&said, Some(HistoryMessage::Text(text))
            if text.client_message_id.as_ref() == Some(&job.message));
        if !is_it {
            return Ok(Turn::Unseen);
        }
        let (mut entries, mut after) = (Vec::new(), seq);
        for _ in 0..PAGES {
            let query = PageQuery {
                conversation_id: id.clone(),
                workspace_id: None,
                limit: limits::MAX_HISTORY_PAGE,
                from: PageFrom::After(after),
                epoch: None,
            };
            let page = self.cx.store.page(query).await;
            let page = page.map_err(|error| error.told())?;
            let last = page.messages.iter().rev().find_map(HistoryMessage::seq);
            entries.extend(page.messages.into_iter().filter(is_telling));
            match last {
                Some(last) if page.has_more => after = last,
                _ => {
                    let end = end_of(entries.iter(), &page.status);
                    return Ok(end.map_or(Turn::UnderWay, Turn::Over));
                }
            }
        }
        Ok(Turn::UnderWay)
    }

    async fn take(&mut self, task: &Task) -> Result<Flow, ApiError> {
        if !hold(self.cx, self.id, self.home.clone()).await? {
            let message = "another worker has this folder".to_owned();
            return Ok(self.rest(RestCause::Taken, message).await);
        }
        self.worker.conversation = Some(self.conversation().await?);
        let (home, file) = (self.home.clone(), task.file.clone());
        let text = on_disk(move || match TaskFolder::open(&home)? {
            Some(folder) => Ok(folder.text(&file)),
            None => Err(FolderError::Gone { file }),
        });
        // A file that changed since it was listed is listed again.
        let Ok(text) = text.await? else {
            return Ok(Flow::Again);
        };
        let body = Matter::parse(&text).map_or("", |matter| matter.body());
        if !self.worker.take(self.id, task, body.trim(), now()) {
            let message = format!("{} cannot be put into a message", task.file);
            return Ok(self.rest(RestCause::Files, message).await);
        }
        self.save().await?;
        self.is_sent = false;
        Ok(Flow::Again)
    }

    /// The conversation it works in: its own, or one that a worker before it has left, or a new one.
    async fn conversation(&self) -> Result<ConversationId, ApiError> {
        let workspace = known_workspace(self.cx, self.id).await?;
        let mut all = workspace.conversations.iter();
        let is_own = |id: &ConversationId| Some(id) == self.worker.conversation.as_ref();
        let found = all
            .clone()
            .find(|one| is_own(&one.conversation_id))
            .or_else(|| {
                all.find(|one| {
                    one.skill_type == SkillType::Worker && one.name.as_str() == CONVERSATION
                })
            });
        if let Some(found) = found {
            return Ok(found.conversation_id.clone());
        }
        let name = Name::parse(CONVERSATION);
        let name = name.map_err(|error| refusal(ErrorCode::Internal, error.to_string()))?;
        let made = self.cx.store.create_conversation(NewConversation {
            id: None,
            workspace_id: self.id.clone(),
            name,
            skill_type: SkillType::Worker,
            model: None,
            permission_mode: None,
            at: now(),
        });
        let made = made.await.map_err(|error| error.told())?;
        let id = made.conversation_id;
        self.cx.host.follow(id.clone(), None).await;
        self.cx.list_changed().await;
        Ok(id)
    }

    /// The file says that it runs before the agent hears of it.
    async fn send(&mut self) -> Result<Flow, ApiError> {
        let (Some(job), Some(id)) = (self.worker.job.clone(), self.worker.conversation.clone())
        else {
            return Ok(Flow::Wait(Wake::Called));
        };
        if job.seq.is_none() {
            let marked = self.change(&job.file, task::begin).await?;
            let is_wanted = marked.is_some_and(|task| {
                matches!(task.status, TaskStatus::Pending | TaskStatus::Running)
            });
            if !is_wanted {
                // Somebody took the file away, broke it or said that it is done.
                self.worker.finish();
                self.save().await?;
                return Ok(Flow::Again);
            }
        }
        // Whatever comes of the message from here on leads to a visit.
        let note = Note {
            conversation: Some(id.clone()),
            wake: Wake::Called,
        };
        self.cx.note_worker(self.id.clone(), note).await;
        let known = self.cx.store.conversation(id.clone()).await;
        let known = known.map_err(|error| error.told())?;
        let payload = MessagePayload {
            on_busy: Some(OnBusy::Queue),
            client_message_id: Some(job.message.clone()),
            ..message_payload(known, job.prompt.clone())
        };
        let sent = ask(self.cx, SendMessage::new(id, payload)).await;
        let sent = sent.and_then(|sent| sent.outcome().map(|()| sent.seq));
        match sent {
            Ok(seq) => {
                if let Some(job) = &mut self.worker.job {
                    job.seq = seq;
                }
                self.save().await?;
                self.is_sent = true;
                Ok(Flow::Again)
            }
            Err(error) => Ok(self.unsent(error).await),
        }
    }

    /// The message did not go out, or nobody knows whether it did.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "whatever else the host says against it may be over later"
    )]
    async fn unsent(&mut self, error: ApiError) -> Flow {
        tracing::warn!(workspace = %self.id, %error, "a task did not reach the agent");
        let back = match error.code {
            // When the host is back the same message goes out again.
            ErrorCode::HostUnavailable => return Flow::Wait(Wake::Called),
            ErrorCode::TooLarge | ErrorCode::InvalidMessage | ErrorCode::DuplicateId => {
                let finished = self
                    .finish(&[], TaskStatus::Failed, Some(error.message))
                    .await;
                return match finished {
                    Ok(flow) => flow,
                    Err(error) => self.trouble(&error).await,
                };
            }
            ErrorCode::AgentUnavailable => Back::Later(RestCause::Agent, error.message),
            _ => Back::Later(RestCause::Unavailable, error.message),
        };
        match self.give_back(&[], back).await {
            Ok(flow) => flow,
            Err(error) => self.trouble(&error).await,
        }
    }

    async fn stop(&mut self) -> Result<Flow, ApiError> {
        let Some(id) = self.worker.conversation.clone() else {
            return Ok(Flow::Wait(Wake::Called));
        };
        match ask(self.cx, StopSession::new(id)).await {
            Err(error) if error.code == ErrorCode::HostUnavailable => {
                return Ok(Flow::Wait(Wake::Called));
            }
            Ok(_) | Err(_) => {}
        }
        if let Some(job) = &mut self.worker.job {
            job.stopped = true;
        }
        self.save().await?;
        Ok(Flow::Again)
    }

    async fn finish(
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
        self.worker.finish();
        self.save().await?;
        Ok(Flow::Again)
    }

    async fn give_back(&mut self, tasks: &[Task], why: Back) -> Result<Flow, ApiError> {
        self.mark(tasks, task::put_back).await?;
        self.worker.give_back(why, now());
        self.save().await?;
        Ok(Flow::Again)
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
    async fn change(
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

/// What tells how a turn went.
fn is_telling(entry: &HistoryMessage) -> bool {
    matches!(
        entry,
        HistoryMessage::TurnResult(_)
            | HistoryMessage::Aborted(_)
            | HistoryMessage::Error(_)
            | HistoryMessage::System(_)
    )
}

fn wake(until: Option<Timestamp>) -> Wake {
    until.map_or(Wake::Called, |until| {
        let left = u64::try_from(until.0.saturating_sub(now().0)).unwrap_or(0);
        Wake::At(Instant::now() + Duration::from_millis(left))
    })
}
