//! After a crash: what was being made is undone, what was being removed goes.
//!
//! Nothing is taken away that somebody could have worked in: a worktree that was being made had no conversation yet, and one
//! that goes was put aside after it had been looked at.

use std::path::Path;

use estelle_proto::worktrees::WorktreeState;
use tokio::time::Instant;

use super::hold::Hold;
use super::remove::idle;
use super::{AGAIN, PATIENT, WorktreeError, Worktrees, path};
use crate::store::WorktreeRow;

impl Worktrees {
    /// What an earlier pylon left. To be asked before anything new is begun.
    pub async fn left(&self) -> Result<Vec<WorktreeRow>, WorktreeError> {
        let mut rows = self.store.worktrees().await?;
        rows.retain(|row| row.state != WorktreeState::Ready);
        Ok(rows)
    }

    /// Finishes what an earlier pylon began. What fails stays as it is, for the next one.
    pub async fn settle(&self, left: Vec<WorktreeRow>) {
        for row in left {
            if let Err(error) = self.settle_one(&row).await {
                let conversation = &row.conversation;
                tracing::warn!(%conversation, %error, "a worktree is left half made or half removed");
            }
        }
    }

    async fn settle_one(&self, row: &WorktreeRow) -> Result<(), WorktreeError> {
        let place = path(&row.path);
        match &row.state {
            WorktreeState::Making => {
                let hold = still(place).await?;
                idle(place)?;
                self.undo(row).await?;
                drop(hold);
                Ok(())
            }
            // It was not put aside: it is whole, and whoever wants it gone asks again.
            WorktreeState::Removing if place.exists() => {
                let id = row.conversation.clone();
                self.store.mark_worktree(id, WorktreeState::Ready).await?;
                Ok(())
            }
            WorktreeState::Removing => self.finish(row).await.map(|_| ()),
            WorktreeState::Removed => {
                let id = row.conversation.clone();
                if self.store.conversation(id.clone()).await.is_err() {
                    self.store.drop_worktree(id).await?;
                }
                Ok(())
            }
            WorktreeState::Ready | WorktreeState::Missing | WorktreeState::Unknown(_) => Ok(()),
        }
    }
}

/// Waits until nobody fills the folder: a git that outlived its pylon comes to an end by itself.
async fn still(place: &Path) -> Result<Option<Hold>, WorktreeError> {
    if !place.parent().is_some_and(Path::exists) {
        return Ok(None);
    }
    let until = Instant::now() + PATIENT;
    loop {
        if let Some(hold) = Hold::take(place)? {
            return Ok(Some(hold));
        }
        if Instant::now() >= until {
            let (who, place) = ("git".to_owned(), place.to_owned());
            return Err(WorktreeError::Busy { who, place });
        }
        tokio::time::sleep(AGAIN).await;
    }
}
