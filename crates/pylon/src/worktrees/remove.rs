//! Removing a worktree without losing what somebody made in it.
//!
//! Everything that can speak against it is looked at first. Then the folder is put aside by one renaming, and from there on
//! the worktree goes, whoever dies: a folder that has its own name is whole. A branch goes only when its commits are in the
//! branch it began from; commits that no branch has get one.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use estelle_proto::worktrees::WorktreeState;
use estelle_proto::{ConversationId, WorkspaceId};
use tokio::time::Instant;

use super::{AGAIN, WorktreeError, Worktrees, branch_ref, hold, path, processes};
use crate::git::{GitError, Repository};
use crate::store::WorktreeRow;

/// What becomes of changes that are in no commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsaved {
    /// With any of them nothing is removed.
    Keep,
    /// They go with the folder; somebody asked for that.
    Discard,
}

impl Worktrees {
    /// Removes a worktree and names the branches that stay. Its agent must not run.
    pub async fn remove(
        &self,
        workspace: &WorkspaceId,
        conversation: &ConversationId,
        unsaved: Unsaved,
    ) -> Result<Vec<String>, WorktreeError> {
        let row = self.known(workspace, conversation).await?;
        if row.state == WorktreeState::Making {
            return Err(WorktreeError::NotReady { state: row.state });
        }
        let place = path(&row.path);
        let mut kept = Vec::new();
        if place.exists() {
            self.wait_for_idle(place).await?;
            kept.extend(self.save(&row, unsaved).await?);
        }
        let mark = |state| self.store.mark_worktree(conversation.clone(), state);
        mark(WorktreeState::Removing).await?;
        if let Err(error) = put_aside(place) {
            // The folder is as it was.
            mark(WorktreeState::Ready).await?;
            return Err(error.into());
        }
        kept.extend(self.finish(&row).await?);
        Ok(kept)
    }

    /// Nobody works in the folder, or only those who are about to end.
    async fn wait_for_idle(&self, place: &Path) -> Result<(), WorktreeError> {
        let until = Instant::now() + self.patience;
        loop {
            match idle(place) {
                Err(WorktreeError::Busy { .. }) if Instant::now() < until => {
                    tokio::time::sleep(AGAIN).await;
                }
                other => return other,
            }
        }
    }

    /// Looks at what would be lost; commits that have no branch get one, which is named.
    async fn save(
        &self,
        row: &WorktreeRow,
        unsaved: Unsaved,
    ) -> Result<Option<String>, WorktreeError> {
        let tree = match Repository::find(&self.git, path(&row.path)).await {
            // A folder of another repository would be one of git's own mistakes, or of somebody who moved things.
            Ok(tree) if real(&tree.top) == real(path(&row.path)) => tree,
            // A folder that git cannot read any more may hold anything.
            _ if unsaved == Unsaved::Discard => return Ok(None),
            Ok(_) => return Err(GitError::NoRepository.into()),
            Err(error) => return Err(error.into()),
        };
        let status = tree.status().await?;
        let is_clean = status.files.is_empty() && tree.is_clean().await?;
        if !is_clean && unsaved == Unsaved::Keep {
            return Err(WorktreeError::Uncommitted {
                files: status.files.len().max(1),
                place: path(&row.path).to_owned(),
                advice: "commit them, or say that they are to be thrown away",
            });
        }
        if unsaved == Unsaved::Keep && tree.has_submodules().await? {
            let place = path(&row.path).to_owned();
            return Err(WorktreeError::Submodules { place });
        }
        let Some(head) = status.head.filter(|_| status.branch.is_none()) else {
            return Ok(None);
        };
        if tree.is_in_a_branch(&head).await? {
            return Ok(None);
        }
        let short: String = head.chars().take(8).collect();
        let name = format!("{}-{short}", row.branch);
        tree.line(["update-ref", &branch_ref(&name), &head]).await?;
        Ok(Some(name))
    }

    /// Takes away what is left of a worktree whose folder is not in its place, and names its branch if that stays.
    pub(super) async fn finish(&self, row: &WorktreeRow) -> Result<Option<String>, WorktreeError> {
        let kept = match self.repository(path(&row.repository)).await {
            Ok(repository) => {
                forget_entry(&repository, row).await?;
                drop_branch(&repository, row).await?
            }
            // The repository is gone, and the branch with it: only the folder is left.
            Err(GitError::NoRepository | GitError::Io(_)) => None,
            Err(error) => return Err(error.into()),
        };
        remove_folder(aside(path(&row.path))).await?;
        let id = row.conversation.clone();
        if self.store.conversation(id.clone()).await.is_ok() {
            self.store.mark_worktree(id, WorktreeState::Removed).await?;
        } else {
            self.store.drop_worktree(id).await?;
        }
        Ok(kept)
    }

    /// Takes back what was begun of a worktree in which nobody has worked.
    pub(crate) async fn undo(&self, row: &WorktreeRow) -> Result<(), WorktreeError> {
        remove_folder(path(&row.path).to_owned()).await?;
        hold::forget(path(&row.path));
        match self.repository(path(&row.repository)).await {
            Ok(repository) => {
                forget_entry(&repository, row).await?;
                let name = branch_ref(&row.branch);
                // A branch that is not at the beginning, or checked out, is somebody else's.
                if repository.commit(&name).await?.as_deref() == Some(&row.base)
                    && repository.place_of(&name).await?.is_none()
                {
                    delete(&repository, &name, &row.base).await?;
                }
            }
            Err(GitError::NoRepository | GitError::Io(_)) => {}
            Err(error) => return Err(error.into()),
        }
        self.store.drop_worktree(row.conversation.clone()).await?;
        Ok(())
    }
}

/// Nobody works in the folder.
pub(super) fn idle(place: &Path) -> Result<(), WorktreeError> {
    match processes::working_in(place).into_iter().next() {
        None => Ok(()),
        Some(who) => Err(WorktreeError::Busy {
            who,
            place: place.to_owned(),
        }),
    }
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// The name of a folder that goes.
fn aside(place: &Path) -> PathBuf {
    place.with_extension("removed")
}

fn put_aside(place: &Path) -> std::io::Result<()> {
    match std::fs::rename(place, aside(place)) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

async fn remove_folder(place: PathBuf) -> std::io::Result<()> {
    let removed = tokio::task::spawn_blocking(move || std::fs::remove_dir_all(place)).await;
    match removed.unwrap_or_else(|error| Err(std::io::Error::other(error))) {
        // What is no folder was not made by us.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(())
        }
        other => other,
    }
}

/// Lets git forget a folder that is gone. `git worktree prune` would do that to the folders of others as well, which may
/// only be on a disk that is not there now, and leaves what a git that was killed had not finished.
async fn forget_entry(repository: &Repository, row: &WorktreeRow) -> Result<(), WorktreeError> {
    let Some(name) = path(&row.path).file_name() else {
        return Ok(());
    };
    let entry = repository.entries().await?.join(name);
    let leads_to = std::fs::read_to_string(entry.join("gitdir")).unwrap_or_default();
    let own = path(&row.path).join(".git");
    if leads_to.is_empty() || Path::new(leads_to.trim_end_matches('\n')) == own {
        remove_folder(entry).await?;
    }
    Ok(())
}

async fn delete(repository: &Repository, name: &str, at: &str) -> Result<(), GitError> {
    let deleted = repository.line(["update-ref", "-d", name, at]).await;
    deleted.map(|_| ())
}

/// Deletes the branch if nothing of it would be lost; else it is named.
async fn drop_branch(
    repository: &Repository,
    row: &WorktreeRow,
) -> Result<Option<String>, WorktreeError> {
    let name = branch_ref(&row.branch);
    let Some(tip) = repository.commit(&name).await? else {
        return Ok(None);
    };
    let base = match &row.base_branch {
        Some(base) => repository.commit(&branch_ref(base)).await?,
        None => None,
    };
    let base = base.unwrap_or_else(|| row.base.clone());
    let is_used = repository.place_of(&name).await?.is_some();
    if is_used || repository.commits_between(&base, &tip).await? > 0 {
        return Ok(Some(row.branch.clone()));
    }
    delete(repository, &name, &tip).await?;
    Ok(None)
}
