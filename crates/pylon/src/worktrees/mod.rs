//! Working trees of git, each for one conversation: made, shown, merged, removed, and found again after a crash.
//!
//! ```text
//!   make:    row (making) ─► branch ─► folder ─► the conversation, and with it row (ready)
//!   remove:  nobody works there, nothing is lost ─► row (removing) ─► folder aside ─► branch, if merged ─► row (removed)
//! ```
//!
//! The row is written before the disk is touched, so whatever dies in between is finished or undone by [`Worktrees::settle`];
//! the windows are in `docs/design/worktrees.md`. Git is asked as everywhere: nothing of the repository is executed. Whether
//! an agent runs is the host's knowledge: whoever calls [`Worktrees::remove`] or [`Worktrees::merge`] sees to that first.

mod disk;
mod hold;
mod look;
mod make;
mod merge;
mod processes;
mod remove;
mod settle;

use std::path::{Path, PathBuf};
use std::time::Duration;

use estelle_proto::worktrees::{WorktreeState, WorktreeWish};
use estelle_proto::{ConversationId, Name, PathText, Timestamp, WorkspaceId};

pub use merge::Merged;
pub use remove::Unsaved;

use crate::git::{Git, GitError, Repository};
use crate::store::{Store, StoreError, WorktreeRow};

/// Writing all files of a large repository takes longer than looking at it.
const PATIENT: Duration = Duration::from_mins(10);
/// How long a process that was told to end may still be there.
const ENDING: Duration = Duration::from_secs(15);
/// How often it is looked for.
const AGAIN: Duration = Duration::from_millis(50);

/// Why nothing was done with a worktree.
#[derive(Debug, thiserror::Error)]
pub enum WorktreeError {
    /// There is none.
    #[error("there is no worktree of the conversation {id}")]
    Unknown {
        /// Of which conversation.
        id: ConversationId,
    },
    /// It is not in a state for this.
    #[error("the worktree is {}; nothing can be done with it now", .state.as_str())]
    NotReady {
        /// How it is.
        state: WorktreeState,
    },
    /// There is nothing to begin from, or nowhere to merge to.
    #[error("{said}")]
    NoBase {
        /// What is missing, and what to do.
        said: String,
    },
    /// A name that git does not take.
    #[error("`{name}` is no {what}")]
    BadName {
        /// The name.
        name: String,
        /// What it should be.
        what: &'static str,
    },
    /// The branch is there already, or the conversation has a worktree.
    #[error("there is a branch `{branch}` already, or one in its way: choose another name")]
    Taken {
        /// Which.
        branch: String,
    },
    /// Changes are in no commit.
    #[error("{files} files in {} have changes that are in no commit; {advice}", .place.display())]
    Uncommitted {
        /// How many files.
        files: usize,
        /// Where.
        place: PathBuf,
        /// What to do.
        advice: &'static str,
    },
    /// Submodules, which are not looked into.
    #[error(
        "{} has submodules, which are not looked into; remove them, or say that everything is to be thrown away",
        .place.display()
    )]
    Submodules {
        /// Where.
        place: PathBuf,
    },
    /// Somebody works there.
    #[error("{who} works in {}; stop it first", .place.display())]
    Busy {
        /// Who.
        who: String,
        /// Where.
        place: PathBuf,
    },
    /// The branches do not merge by themselves.
    #[error("{} files do not merge by themselves: merge them in the worktree first", .files.len())]
    Conflicts {
        /// Which.
        files: Vec<String>,
    },
    /// Git gave no answer.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The disk failed.
    #[error("the folder of the worktree cannot be made or removed: {0}")]
    Io(#[from] std::io::Error),
}

/// A worktree to be.
#[derive(Debug, Clone)]
pub struct NewWorktree {
    /// For which conversation, which need not be there yet.
    pub conversation: ConversationId,
    /// In which workspace.
    pub workspace: WorkspaceId,
    /// The folder of that.
    pub folder: PathText,
    /// What the branch is named after.
    pub name: Name,
    /// The branch and the beginning, if they are to be others than the usual ones.
    pub wish: WorktreeWish,
    /// Now.
    pub at: Timestamp,
}

/// All worktrees of a machine.
#[derive(Debug, Clone)]
pub struct Worktrees {
    git: Git,
    store: Store,
    root: PathBuf,
    patience: Duration,
}

impl Worktrees {
    /// With the folder in which they are made. It must not be the data folder, which is closed to the agent.
    pub fn new(git: Git, store: Store, root: PathBuf) -> Self {
        Self {
            git,
            store,
            root,
            patience: ENDING,
        }
    }

    /// A repository in which files are written.
    async fn repository(&self, folder: &Path) -> Result<Repository, GitError> {
        Repository::find(&self.git.clone().within(PATIENT), folder).await
    }

    /// A worktree that must be there.
    async fn known(
        &self,
        workspace: &WorkspaceId,
        conversation: &ConversationId,
    ) -> Result<WorktreeRow, WorktreeError> {
        let found = self.store.worktree(conversation.clone()).await?;
        let found = found.filter(|row| row.workspace == *workspace);
        match found {
            Some(row) if row.state != WorktreeState::Removed => Ok(row),
            Some(_) | None => Err(WorktreeError::Unknown {
                id: conversation.clone(),
            }),
        }
    }
}

fn path(text: &PathText) -> &Path {
    Path::new(text.as_str())
}

fn branch_ref(branch: &str) -> String {
    format!("refs/heads/{branch}")
}

#[cfg(test)]
mod full_tests;
#[cfg(test)]
mod settle_tests;
#[cfg(test)]
mod worktrees_tests;
