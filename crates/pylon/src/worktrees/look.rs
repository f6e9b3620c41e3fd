//! How worktrees are: their branch, what changed in them, and what they take.

use estelle_proto::worktrees::{Worktree, WorktreeState};
use estelle_proto::{ConversationId, WorkspaceId};

use super::{WorktreeError, Worktrees, branch_ref, disk, path};
use crate::git::{GitError, Repository};
use crate::store::WorktreeRow;

/// Worktrees of a page: git is asked about each.
const PAGE: usize = 20;

impl Worktrees {
    /// A page of worktrees, of one workspace or all, after that of a conversation; and where the next page begins.
    pub async fn list(
        &self,
        workspace: Option<&WorkspaceId>,
        after: Option<&ConversationId>,
    ) -> Result<(Vec<Worktree>, Option<ConversationId>), WorktreeError> {
        let mut rows = self.store.worktrees().await?;
        rows.retain(|row| {
            row.state != WorktreeState::Removed && workspace.is_none_or(|id| *id == row.workspace)
        });
        let last = after.and_then(|id| rows.iter().position(|row| row.conversation == *id));
        let from = last.map_or(0, |last| last + 1);
        let mut shown = Vec::new();
        for row in rows.iter().skip(from).take(PAGE) {
            shown.push(self.view(row).await);
        }
        let has_more = rows.len() > from + PAGE;
        let next = shown.last().map(|one| one.conversation_id.clone());
        Ok((shown, next.filter(|_| has_more)))
    }

    /// A worktree as it is now.
    async fn view(&self, row: &WorktreeRow) -> Worktree {
        let mut view = Worktree {
            base_branch: row.base_branch.clone(),
            base: Some(row.base.clone()),
            created_at: Some(row.created_at),
            ..Worktree::new(
                row.workspace.clone(),
                row.conversation.clone(),
                row.path.clone(),
                row.branch.clone(),
                row.state.clone(),
            )
        };
        if row.state != WorktreeState::Ready {
            return view;
        }
        let folder = path(&row.path).to_owned();
        if !folder.join(".git").exists() {
            view.state = WorktreeState::Missing;
            return view;
        }
        let used = tokio::task::spawn_blocking(move || disk::used(&folder)).await;
        view.disk_bytes = used.ok();
        if let Err(error) = self.ask(row, &mut view).await {
            view.problem = Some(error.to_string());
        }
        view
    }

    async fn ask(&self, row: &WorktreeRow, view: &mut Worktree) -> Result<(), GitError> {
        let repository = Repository::find(&self.git, path(&row.path)).await?;
        let status = repository.status().await?;
        view.detached = Some(status.branch.as_deref() != Some(&row.branch)).filter(|is| *is);
        view.uncommitted = Some(status.files.len() as u64);
        view.head = status.head;
        let (came, went) = repository.lines_since(&row.base).await?;
        (view.insertions, view.deletions) = (Some(came), Some(went));
        if let Some(base) = &row.base_branch {
            let counted = repository.ahead_behind(&branch_ref(base)).await?;
            view.ahead = counted.map(|(ahead, _)| ahead);
            view.behind = counted.map(|(_, behind)| behind);
        }
        Ok(())
    }
}
