//! Commits and branches of a repository: what is where, and how far apart.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::command::{Call, GitError, room};
use super::repository::Repository;
use super::status::{diff_args, numstat};

/// Most bytes of a list of files.
const MOST: usize = 1024 * 1024;
/// What git says of a branch that cannot be made because of another one.
const IN_THE_WAY: [&str; 3] = [
    "reference already exists",
    "exists; cannot create",
    "blocking reference",
];

impl Repository {
    /// Whether git says yes to something.
    pub(crate) async fn succeeds<const N: usize>(&self, args: [&str; N]) -> Result<bool, GitError> {
        match self.ask(args, MOST).await {
            Ok(_) => Ok(true),
            Err(GitError::Refused { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// One line, or nothing if git has none to say.
    pub(super) async fn maybe<const N: usize>(
        &self,
        args: [&str; N],
    ) -> Result<Option<String>, GitError> {
        match self.line(args).await {
            Ok(line) => Ok(Some(line).filter(|line| !line.is_empty())),
            Err(GitError::Refused { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The commit of a name, which does not begin with `-`.
    pub(crate) async fn commit(&self, name: &str) -> Result<Option<String>, GitError> {
        let name = format!("{name}^{{commit}}");
        self.maybe(["rev-parse", "--verify", "--quiet", &name])
            .await
    }

    /// The branch that is checked out.
    pub(crate) async fn branch(&self) -> Result<Option<String>, GitError> {
        self.maybe(["symbolic-ref", "--quiet", "--short", "HEAD"])
            .await
    }

    /// The folder, seen from the top.
    pub(crate) async fn prefix(&self) -> Result<PathBuf, GitError> {
        Ok(self.line(["rev-parse", "--show-prefix"]).await?.into())
    }

    /// Commits that are in one and not in the other.
    pub(crate) async fn commits_between(&self, from: &str, to: &str) -> Result<u64, GitError> {
        let range = format!("{from}..{to}");
        let line = self.line(["rev-list", "--count", &range, "--"]).await?;
        Ok(line.parse().unwrap_or(0))
    }

    /// Commits that only we have, and only the other has; nothing if the other is gone.
    pub(crate) async fn ahead_behind(&self, other: &str) -> Result<Option<(u64, u64)>, GitError> {
        let Some(other) = self.commit(other).await? else {
            return Ok(None);
        };
        let range = format!("HEAD...{other}");
        let args = ["rev-list", "--left-right", "--count", &range, "--"];
        let line = self.line(args).await?;
        let mut numbers = line.split_whitespace().filter_map(|text| text.parse().ok());
        Ok(numbers.next().zip(numbers.next()))
    }

    /// Whether a commit is in some branch.
    pub(crate) async fn is_in_a_branch(&self, commit: &str) -> Result<bool, GitError> {
        let contains = format!("--contains={commit}");
        let args = [
            "for-each-ref",
            "--count=1",
            &contains,
            "refs/heads",
            "refs/tags",
            "refs/remotes",
        ];
        Ok(!self.line(args).await?.is_empty())
    }

    /// Lines that came and went since a commit, committed or not; what git does not know is not counted.
    pub(crate) async fn lines_since(&self, base: &str) -> Result<(u64, u64), GitError> {
        let args = diff_args(&["--numstat", "-z"], base);
        let said = self
            .ask(args.into_iter().chain([".".to_owned()]), 8 * MOST)
            .await?;
        let lines = numstat(&said.out).into_values().flatten();
        Ok(lines.fold((0, 0), |sum, lines| (sum.0 + lines.0, sum.1 + lines.1)))
    }

    /// Whether nothing at all is uncommitted, of whatever name. Submodules are not looked into: that would run what they
    /// bring.
    pub(crate) async fn is_clean(&self) -> Result<bool, GitError> {
        let args = ["status", "--porcelain", "--ignore-submodules=all"];
        Ok(self.ask(args, MOST).await?.out.is_empty())
    }

    /// Whether submodules were fetched into this working tree.
    pub(crate) async fn has_submodules(&self) -> Result<bool, GitError> {
        let args = ["rev-parse", "--path-format=absolute", "--git-dir"];
        let modules = PathBuf::from(self.line(args).await?).join("modules");
        Ok(modules.exists())
    }

    /// Makes a branch; false if it is there already, or another one is in its way.
    pub(crate) async fn make_branch(&self, name: &str, at: &str) -> Result<bool, GitError> {
        match self.ask(["update-ref", name, at, ""], MOST).await {
            Ok(_) => Ok(true),
            Err(GitError::Refused { said })
                if IN_THE_WAY.iter().any(|word| said.contains(word)) =>
            {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Where a branch is checked out, if it is.
    pub(crate) async fn place_of(&self, name: &str) -> Result<Option<String>, GitError> {
        self.maybe(["for-each-ref", "--format=%(worktreepath)", name])
            .await
    }

    /// The folder in which git keeps what it knows of linked worktrees.
    pub(crate) async fn entries(&self) -> Result<PathBuf, GitError> {
        let args = ["rev-parse", "--path-format=absolute", "--git-common-dir"];
        Ok(PathBuf::from(self.line(args).await?).join("worktrees"))
    }

    /// Writes the files of a branch into a new folder. Git gets the input, and has it for as long as it writes.
    pub(crate) async fn check_out(
        &self,
        branch: &str,
        place: &str,
        input: File,
    ) -> Result<(), GitError> {
        let args = ["worktree", "add", "--quiet", place, branch];
        let call = Call {
            input: Some(input),
            ..Call::new(self.folder(), args, MOST)
        };
        match self.call(call).await {
            Ok(_) => Ok(()),
            // Git has taken away what it wrote, so that by now there may be room again, and yet not enough.
            Err(GitError::Unwritten { said }) if self.is_too_large(branch, place).await => {
                Err(GitError::Full { said })
            }
            Err(error) => Err(error),
        }
    }

    /// Whether the files of a branch take more than there is room for.
    async fn is_too_large(&self, branch: &str, place: &str) -> bool {
        let args = ["ls-tree", "-r", "--format=%(objectsize)", branch];
        let Ok(said) = self.ask(args, 16 * MOST).await else {
            return false;
        };
        let text = String::from_utf8_lossy(&said.out);
        let sizes = text
            .lines()
            .filter_map(|line| line.trim().parse::<u64>().ok());
        let parent = Path::new(place).parent().unwrap_or(Path::new("/"));
        room(parent).is_some_and(|room| room < sizes.sum())
    }
}
