//! Making a worktree: a branch and a folder of its own.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use estelle_proto::PathText;
use estelle_proto::worktrees::WorktreeState;

use super::hold::{self, Hold};
use super::{NewWorktree, WorktreeError, Worktrees, branch_ref, path};
use crate::git::{GitError, Repository};
use crate::store::WorktreeRow;

/// Most letters that a branch takes from the name of a conversation.
const MOST: usize = 40;

impl Worktrees {
    /// Makes a worktree, which is ready once its conversation is in the store. When it fails, nothing is left of it.
    pub async fn make(&self, new: NewWorktree) -> Result<WorktreeRow, WorktreeError> {
        let repository = self.repository(path(&new.folder)).await?;
        let row = self.plan(&repository, &new).await?;
        let branch = row.branch.clone();
        if !self.store.add_worktree(row.clone()).await? {
            return Err(WorktreeError::Taken { branch });
        }
        let name = branch_ref(&branch);
        match repository.make_branch(&name, &row.base).await {
            Ok(true) => {}
            // Whoever has the branch keeps it.
            Ok(false) => {
                self.store.drop_worktree(row.conversation).await?;
                return Err(WorktreeError::Taken { branch });
            }
            Err(error) => {
                self.store.drop_worktree(row.conversation).await?;
                return Err(error.into());
            }
        }
        if let Err(error) = self.check_out(&repository, &row).await {
            self.undo(&row).await?;
            return Err(error);
        }
        Ok(row)
    }

    /// Everything that can be wrong with a wish is found before anything is made.
    async fn plan(
        &self,
        repository: &Repository,
        new: &NewWorktree,
    ) -> Result<WorktreeRow, WorktreeError> {
        let (base, base_branch) = beginning(repository, new.wish.base.as_deref()).await?;
        let branch = match &new.wish.branch {
            Some(branch) => branch.clone(),
            None => usual_branch(new.name.as_str(), new.conversation.as_str()),
        };
        let name = branch_ref(&branch);
        let is_control = branch.chars().any(char::is_control);
        let is_odd = branch.starts_with('-') || branch == "HEAD" || is_control;
        if is_odd || !repository.succeeds(["check-ref-format", &name]).await? {
            let what = "name of a branch";
            return Err(WorktreeError::BadName { name: branch, what });
        }
        if repository.commit(&name).await?.is_some() {
            return Err(WorktreeError::Taken { branch });
        }
        // Git knows folders by their real names.
        private_folder(&self.root)?;
        let place = self.root.canonicalize()?.join(new.workspace.as_str());
        let place = place.join(new.conversation.as_str());
        let prefix = repository.prefix().await?;
        Ok(WorktreeRow {
            conversation: new.conversation.clone(),
            workspace: new.workspace.clone(),
            repository: new.folder.clone(),
            folder: text(&place.join(prefix).components().collect::<PathBuf>())?,
            path: text(&place)?,
            branch,
            base_branch,
            base,
            state: WorktreeState::Making,
            created_at: new.at,
        })
    }

    async fn check_out(
        &self,
        repository: &Repository,
        row: &WorktreeRow,
    ) -> Result<(), WorktreeError> {
        let place = path(&row.path);
        if let Some(parent) = place.parent() {
            private_folder(parent)?;
        }
        let Some(hold) = Hold::take(place)? else {
            let (who, place) = ("git".to_owned(), place.to_owned());
            return Err(WorktreeError::Busy { who, place });
        };
        repository
            .check_out(&row.branch, row.path.as_str(), hold.lend()?)
            .await?;
        // The part of the repository that is the workspace may not be in the commit.
        std::fs::create_dir_all(row.folder.as_str())?;
        drop(hold);
        hold::forget(place);
        Ok(())
    }
}

fn private_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(0o700).create(folder)
}

/// The commit to begin from, and the branch that it is the end of.
async fn beginning(
    repository: &Repository,
    wished: Option<&str>,
) -> Result<(String, Option<String>), WorktreeError> {
    let Some(wished) = wished else {
        let Some(head) = repository.commit("HEAD").await? else {
            let said = "the repository has no commit to begin from: make one first".to_owned();
            return Err(WorktreeError::NoBase { said });
        };
        return Ok((head, repository.branch().await?));
    };
    if wished.is_empty() || wished.starts_with('-') || wished.chars().any(char::is_control) {
        let (name, what) = (wished.to_owned(), "commit or branch");
        return Err(WorktreeError::BadName { name, what });
    }
    let missing = || WorktreeError::NoBase {
        said: format!("there is no commit or branch `{wished}` to begin from"),
    };
    let branch = repository.commit(&branch_ref(wished)).await?;
    match branch {
        Some(commit) => Ok((commit, Some(wished.to_owned()))),
        None => Ok((repository.commit(wished).await?.ok_or_else(missing)?, None)),
    }
}

/// A branch named after a conversation, and by its id never like another one.
fn usual_branch(name: &str, id: &str) -> String {
    let mut slug = String::new();
    for letter in name.chars().take(4 * MOST) {
        let letter = letter.to_ascii_lowercase();
        if letter.is_ascii_alphanumeric() {
            slug.push(letter);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.truncate(MOST);
    let slug = match slug.trim_end_matches('-') {
        "" => "work",
        slug => slug,
    };
    let from = id.len().saturating_sub(8);
    let tail: String = id
        .chars()
        .skip(from)
        .filter(char::is_ascii_alphanumeric)
        .collect();
    format!("estelle/{slug}-{}", tail.to_ascii_lowercase())
}

fn text(path: &Path) -> Result<PathText, WorktreeError> {
    let parsed = path.to_str().map(PathText::parse);
    match parsed {
        Some(Ok(text)) => Ok(text),
        Some(Err(_)) | None => Err(GitError::Refused {
            said: format!("{} is no path that can be told", path.display()),
        }
        .into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_is_named_after_its_conversation() {
        let id = "0190b8c2-7c1e-7000-8000-0000000a1b2c";
        assert_eq!(
            usual_branch("Fix: the Login!", id),
            "estelle/fix-the-login-000a1b2c"
        );
        assert_eq!(usual_branch("한국어", id), "estelle/work-000a1b2c");
        assert_eq!(usual_branch("--rm -rf ~", "x"), "estelle/rm-rf-x");
        assert!(usual_branch(&"a ".repeat(500), id).len() < 64);
    }
}
