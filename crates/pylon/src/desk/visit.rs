//! A visit to a worker: what is remembered is loaded, how things are is found out, and steps are taken until there is nothing
//! to do but wait.
//!
//! **Invariant:** what is remembered is in the store before a step that relies on it, and a step that was taken twice is as
//! good as once.

use std::path::PathBuf;
use std::time::Duration;

use estelle_proto::budgets::BudgetScope;
use estelle_proto::ipc::{MessagePayload, StopSession};
use estelle_proto::workspaces::{RestCause, TaskStatus};
use estelle_proto::{
    ApiError, ConversationId, ErrorCode, Name, OnBusy, Reply as _, SkillType, Timestamp,
    WorkspaceId,
};
use tokio::time::Instant;

use super::claude::{ask, deliver, message_payload};
use super::context::{Context, now};
use super::error::{Told as _, refusal};
use super::tasks::{all_in, changed, home, on_disk};
use super::worker::{Note, RETRY, Wake, hold, load, save};
use super::workspaces::known_workspace;
use crate::link::host::HostState;
use crate::store::NewConversation;
use crate::tasks::folder::FOLDER;
use crate::tasks::matter::Matter;
use crate::tasks::task;
use crate::tasks::worker::{Back, Facts, Step, Worker};
use crate::tasks::{FolderError, Task, TaskFolder};

/// The conversation in which tasks are carried out.
const CONVERSATION: &str = "📋 worker";
/// Steps of one visit; a queue of tasks that end at once goes on in the next.
const STEPS: usize = 64;

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
    let conversation = worker.place().cloned();
    let note = Note { conversation, wake };
    cx.note_worker(id.clone(), note).await;
    if worker != before {
        changed(cx, id).await;
    }
}

/// What a step comes to.
pub(super) enum Flow {
    Again,
    Wait(Wake),
}

pub(super) struct Visit<'a> {
    pub(super) cx: &'a Context,
    pub(super) id: &'a WorkspaceId,
    pub(super) home: PathBuf,
    pub(super) worker: Worker,
    /// The message went out in this visit; that it is not seen yet says nothing.
    pub(super) is_sent: bool,
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
    pub(super) async fn trouble(&mut self, error: &ApiError) -> Flow {
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

    pub(super) async fn save(&self) -> Result<(), ApiError> {
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

    async fn take(&mut self, task: &Task) -> Result<Flow, ApiError> {
        if !hold(self.cx, self.id, self.home.clone()).await? {
            let message = "another worker has this folder".to_owned();
            return Ok(self.rest(RestCause::Taken, message).await);
        }
        let is_apart = self.worker.keeps_apart(task);
        if !is_apart {
            let conversation = self.conversation().await?;
            if let Some((_, message)) = self.is_used_up(&conversation).await? {
                return Ok(self.rest(RestCause::Budget, message).await);
            }
            self.worker.conversation = Some(conversation);
        }
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
        let (body, at) = (body.trim(), now());
        let is_taken = if is_apart {
            let path = self.home.join(FOLDER).join(&task.file);
            let path = path.to_string_lossy();
            self.worker.take_apart(self.id, task, body, &path, at)
        } else {
            self.worker.take(self.id, task, body, at)
        };
        if !is_taken {
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
        let Some(job) = self.worker.job.clone() else {
            return Ok(Flow::Wait(Wake::Called));
        };
        let mut begun = None;
        if job.seq.is_none() {
            let marked = self.change(&job.file, task::begin).await?;
            begun = marked
                .filter(|task| matches!(task.status, TaskStatus::Pending | TaskStatus::Running));
            if begun.is_none() {
                // Somebody took the file away, broke it or said that it is done.
                self.end_budget(&job).await?;
                self.worker.finish();
                self.save().await?;
                return Ok(Flow::Again);
            }
        }
        let id = match self.place(&job).await {
            Ok(Some(id)) => id,
            Ok(None) => return Ok(Flow::Wait(Wake::Called)),
            Err(error) => return Ok(self.no_place(error).await),
        };
        if let Some(task) = &begun {
            self.begin_budget(&job, task, &id).await?;
            match self.is_used_up(&id).await? {
                None => {}
                Some((BudgetScope::Task, message)) => {
                    let failed = TaskStatus::Failed;
                    return self.finish(&[], failed, Some(message)).await;
                }
                Some((_, message)) => {
                    let later = Back::Later(RestCause::Budget, message);
                    return self.give_back(&[], later).await;
                }
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
        let sent = deliver(self.cx, &id, payload).await;
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
            ErrorCode::TooLarge
            | ErrorCode::InvalidMessage
            | ErrorCode::DuplicateId
            | ErrorCode::BranchTaken => {
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
        let Some(id) = self.worker.place().cloned() else {
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
}

fn wake(until: Option<Timestamp>) -> Wake {
    until.map_or(Wake::Called, |until| {
        let left = u64::try_from(until.0.saturating_sub(now().0)).unwrap_or(0);
        Wake::At(Instant::now() + Duration::from_millis(left))
    })
}
