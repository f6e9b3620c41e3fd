//! Where a task is carried out that has a git worktree of its own: in a conversation of its own.
//!
//! The worktree is made first, then the job remembers the conversation, then that is made. A Pylon that dies in between
//! leaves a worktree that no conversation has, which the next one takes away, and a conversation that nobody finds, for which
//! another one is chosen.

use estelle_proto::workspaces::{RestCause, TaskStatus};
use estelle_proto::worktrees::{WorktreeState, WorktreeWish};
use estelle_proto::{ApiError, ConversationId, ErrorCode, Name, SkillType, limits};

use super::context::now;
use super::error::{Told as _, refusal};
use super::visit::{Flow, Visit};
use super::worktrees::make_for;
use crate::store::{ConversationError, NewConversation};
use crate::tasks::worker::{Back, Job};

/// Letters of a title in the name of a conversation.
const SHOWN: usize = 40;

impl Visit<'_> {
    /// The conversation of a job, which is made if it is to have one of its own.
    pub(super) async fn place(&mut self, job: &Job) -> Result<Option<ConversationId>, ApiError> {
        if !job.apart {
            return Ok(self.worker.conversation.clone());
        }
        if let Some(id) = &job.conversation
            && self.is_usable(id).await?
        {
            return Ok(Some(id.clone()));
        }
        let name = name(&job.title)?;
        let wish = WorktreeWish::default();
        let tree = make_for(self.cx, self.id, &name, wish).await?;
        let id = tree.conversation.clone();
        if let Some(job) = &mut self.worker.job {
            job.conversation = Some(id.clone());
        }
        let made = match self.save().await {
            Ok(()) => self.make_conversation(id.clone(), name).await,
            Err(error) => Err(error),
        };
        if let Err(error) = made {
            let undone = self.cx.worktrees.undo(&tree).await;
            undone.map_err(|error| error.told())?;
            return Err(error);
        }
        self.cx.host.follow(id.clone(), None).await;
        self.cx.list_changed().await;
        Ok(Some(id))
    }

    /// Whether work can go on there: it was not deleted, and its worktree was not removed.
    async fn is_usable(&self, id: &ConversationId) -> Result<bool, ApiError> {
        match self.cx.store.conversation(id.clone()).await {
            Ok(known) => {
                let tree = known.worktree.map(|tree| tree.state);
                Ok(tree == Some(WorktreeState::Ready))
            }
            Err(ConversationError::Store(error)) => Err(error.told()),
            Err(_) => Ok(false),
        }
    }

    async fn make_conversation(&self, id: ConversationId, name: Name) -> Result<(), ApiError> {
        let made = self.cx.store.create_conversation(NewConversation {
            id: Some(id),
            workspace_id: self.id.clone(),
            name,
            skill_type: SkillType::Worker,
            model: None,
            permission_mode: None,
            at: now(),
        });
        made.await.map(drop).map_err(|error| error.told())
    }

    /// There is no worktree for a task: what a person has to mend fails it, all else may be over later.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "whatever else speaks against it may be over later"
    )]
    pub(super) async fn no_place(&mut self, error: ApiError) -> Flow {
        tracing::warn!(workspace = %self.id, %error, "a task has no worktree");
        let done = match error.code {
            ErrorCode::NoRepository | ErrorCode::Conflict | ErrorCode::InvalidMessage => {
                let why = format!("no worktree for this task: {}", error.message);
                self.finish(&[], TaskStatus::Failed, Some(why)).await
            }
            _ => {
                let later = Back::Later(RestCause::Files, error.message);
                self.give_back(&[], later).await
            }
        };
        match done {
            Ok(flow) => flow,
            Err(error) => self.trouble(&error).await,
        }
    }
}

/// The name of the conversation: after the title of its task, and never that of the worker's own.
fn name(title: &str) -> Result<Name, ApiError> {
    let title: String = title.chars().filter(|c| !c.is_control()).collect();
    let name = format!("📋 worker: {}", limits::cut(title.trim(), SHOWN).trim());
    Name::parse(&name).map_err(|error| refusal(ErrorCode::Internal, error.to_string()))
}
