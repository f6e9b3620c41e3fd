//! Merging a worktree into the branch it began from, whole or not at all.
//!
//! Git says first, without touching a file, whether the branches merge by themselves. Only then the folder of the workspace
//! is changed, and only if everything in it is committed.

use std::path::{Path, PathBuf};

use estelle_proto::changes::ChangeKind;
use estelle_proto::worktrees::WorktreeState;
use estelle_proto::{ConversationId, WorkspaceId};

use super::{WorktreeError, Worktrees, branch_ref, path};
use crate::git::{Outcome, Repository};
use crate::store::WorktreeRow;

/// Most files in conflict that are named.
const MOST: usize = 100;

/// What became of a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The last commit of the branch it was merged into.
    pub head: String,
    /// Commits that came.
    pub commits: u64,
}

impl Worktrees {
    /// Where files are read and written when a worktree is merged: its own folder, and the working tree it is merged into.
    pub async fn places(
        &self,
        workspace: &WorkspaceId,
        conversation: &ConversationId,
    ) -> Result<[PathBuf; 2], WorktreeError> {
        let row = self.known(workspace, conversation).await?;
        // The workspace may be a part of the repository; all of it is merged.
        let top = self.repository(path(&row.repository)).await?.top;
        let real = |place: &Path| place.canonicalize().unwrap_or_else(|_| place.to_owned());
        Ok([real(path(&row.path)), real(&top)])
    }

    /// Merges the branch of a worktree. No agent may work in its [`places`](Self::places).
    pub async fn merge(
        &self,
        workspace: &WorkspaceId,
        conversation: &ConversationId,
    ) -> Result<Merged, WorktreeError> {
        let row = self.known(workspace, conversation).await?;
        if row.state != WorktreeState::Ready {
            return Err(WorktreeError::NotReady { state: row.state });
        }
        let place = path(&row.path);
        let tree = self.repository(place).await?;
        all_committed(&tree, Scope::All, "commit them, or throw them away").await?;
        let repository = self.repository(path(&row.repository)).await?;
        let advice = "commit them, or put them aside, before something is merged";
        all_committed(&repository, Scope::Known, advice).await?;
        let target = target(&repository, &row).await?;
        let from = branch_ref(&row.branch);
        let (Some(head), Some(tip)) = (
            repository.commit(&target).await?,
            repository.commit(&from).await?,
        ) else {
            let said = format!("the branch `{}` or `{target}` is gone", row.branch);
            return Err(WorktreeError::NoBase { said });
        };
        let commits = repository.commits_between(&head, &tip).await?;
        if commits == 0 {
            return Ok(Merged { head, commits });
        }
        let tree = match repository.outcome(&head, &tip, MOST).await? {
            Outcome::Tree(tree) => tree,
            Outcome::Conflicts(files) => return Err(WorktreeError::Conflicts { files }),
        };
        let message = format!("Merge branch '{}'", row.branch);
        repository.merge(&head, &tip, &tree, &message).await?;
        let merged = repository.commit(&target).await?;
        Ok(Merged {
            head: merged.unwrap_or(head),
            commits,
        })
    }
}

/// The branch to merge into, which the workspace must have checked out.
async fn target(repository: &Repository, row: &WorktreeRow) -> Result<String, WorktreeError> {
    if repository.commit("MERGE_HEAD").await?.is_some() {
        let said = format!(
            "a merge is under way in {}: finish it first",
            row.repository
        );
        return Err(WorktreeError::NoBase { said });
    }
    let current = repository.branch().await?;
    let said = match (&row.base_branch, current) {
        (Some(base), Some(current)) if *base == current => return Ok(branch_ref(base)),
        (Some(base), _) => format!("check out `{base}` in {} first", row.repository),
        (None, _) => "the worktree began at no branch: merge it by hand".to_owned(),
    };
    Err(WorktreeError::NoBase { said })
}

/// Which changes count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    All,
    /// Files that git knows: others are in nobody's way, and git refuses to write over them.
    Known,
}

async fn all_committed(
    repository: &Repository,
    scope: Scope,
    advice: &'static str,
) -> Result<(), WorktreeError> {
    let status = repository.whole().status().await?;
    let counts = |kind: &ChangeKind| scope == Scope::All || *kind != ChangeKind::Untracked;
    let files = status
        .files
        .iter()
        .filter(|file| counts(&file.kind))
        .count();
    if files == 0 {
        return Ok(());
    }
    Err(WorktreeError::Uncommitted {
        files,
        place: repository.top.clone(),
        advice,
    })
}
