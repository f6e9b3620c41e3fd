//! Merging: what would come of it, and doing it, whole or not at all.

use std::ffi::OsString;

use super::command::{Call, GitError, Said};
use super::repository::Repository;
use super::touched::Touched;

/// Most bytes of a list of files.
const MOST: usize = 1024 * 1024;

/// What would come of a merge.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// Git merges by itself; this is the tree of it.
    Tree(String),
    /// These files are in conflict.
    Conflicts(Vec<String>),
}

impl Repository {
    /// What would come of a merge of two commits, with at most so many files in conflict. No file is touched.
    pub(crate) async fn outcome(
        &self,
        ours: &str,
        theirs: &str,
        most: usize,
    ) -> Result<Outcome, GitError> {
        let args = [
            "merge-tree",
            "--write-tree",
            "--name-only",
            "--no-messages",
            "-z",
            ours,
            theirs,
        ];
        let said = self
            .call(Call {
                takes_no: true,
                ..Call::new(self.folder(), args, MOST)
            })
            .await?;
        let Said { out, is_no, .. } = said;
        // The first is the tree that comes of it.
        let mut names = out
            .split(|byte| *byte == 0)
            .map(|name| String::from_utf8_lossy(name).into_owned());
        let tree = names.next().unwrap_or_default();
        if !is_no {
            return Ok(Outcome::Tree(tree.trim_end().to_owned()));
        }
        let files = names.filter(|name| !name.is_empty());
        Ok(Outcome::Conflicts(files.take(most).collect()))
    }

    /// Merges a commit into what is checked out, which is `head`, has nothing uncommitted and no merge under way. The tree
    /// is what comes of it.
    pub(crate) async fn merge(
        &self,
        head: &str,
        commit: &str,
        tree: &str,
        message: &str,
    ) -> Result<(), GitError> {
        let touched = Touched::look(self, head, tree).await?;
        let args = [
            "merge",
            "--quiet",
            "--no-edit",
            "--no-verify",
            "--no-gpg-sign",
            "--no-stat",
            "--no-autostash",
            "--ff",
            "--strategy=ort",
            "-m",
            message,
            commit,
        ];
        let call = Call {
            environment: self.identity().await?,
            ..Call::new(self.folder(), args, MOST)
        };
        let Err(error) = self.call(call).await else {
            return Ok(());
        };
        // The branch moves last: whatever went wrong after it, the merge is whole.
        if self.commit("HEAD").await?.as_deref() != Some(head) {
            return Ok(());
        }
        // Whole or not at all. A merge that was begun git takes back itself; of one that died before, git knows nothing.
        let _ = self.succeeds(["merge", "--abort"]).await;
        match touched.take_back(self).await {
            Ok(()) => Err(error),
            Err(second) => Err(GitError::Half {
                said: error.to_string(),
                why: second.to_string(),
                top: self.top.clone(),
            }),
        }
    }

    /// Who commits: as the repository says, else as the user's own configuration, else we.
    async fn identity(&self) -> Result<Vec<(&'static str, OsString)>, GitError> {
        if self
            .maybe(["config", "--get", "user.email"])
            .await?
            .is_some()
        {
            return Ok(Vec::new());
        }
        let own = std::env::home_dir().map(|home| home.join(".gitconfig"));
        let mut who = Vec::new();
        let fallback = [
            ("user.name", "Estelle"),
            ("user.email", "estelle@localhost"),
        ];
        for (key, usual) in fallback {
            let mut call = Call::new(self.folder(), ["config", "--global", "--get", key], MOST);
            call.environment = own
                .iter()
                .map(|file| ("GIT_CONFIG_GLOBAL", file.clone().into_os_string()))
                .collect();
            let said = match self.call(call).await {
                Ok(said) => said.line(),
                Err(GitError::Refused { .. }) => String::new(),
                Err(error) => return Err(error),
            };
            who.push(if said.is_empty() {
                usual.to_owned()
            } else {
                said
            });
        }
        let names = [
            ("GIT_AUTHOR_NAME", 0),
            ("GIT_COMMITTER_NAME", 0),
            ("GIT_AUTHOR_EMAIL", 1),
            ("GIT_COMMITTER_EMAIL", 1),
        ];
        let values = names.into_iter().filter_map(|(name, index)| {
            let value: &String = who.get(index)?;
            Some((name, OsString::from(value)))
        });
        Ok(values.collect())
    }
}
