//! The source of a build, in a tree of its own.
//!
//! The user's working tree is never touched. What is fetched must be on the configured branch, so that another Pylon can
//! only lead us to what we would have taken ourselves, and not back to a build whose faults are known. A `git` that was killed leaves its locks behind; they are removed
//! once nobody has them open.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::command::{CommandError, Runner, Spec};
use super::plan::Role;

/// How long a lock may have an owner that is not ours.
const LOCKED: Duration = Duration::from_secs(15);
/// How often it is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Where the branch is in our tree.
const BRANCH: &str = "refs/estelle/branch";

/// Why there is no source.
#[derive(Debug, thiserror::Error)]
pub(super) enum GitError {
    #[error("there is no repository at {}; set `deploy.repository`", path.display())]
    NoRepository { path: PathBuf },
    #[error("`{remote}/{branch}` has {count} commits that the repository has not: pull them first")]
    RemoteAhead {
        remote: String,
        branch: String,
        count: String,
    },
    #[error("the commit {commit} is not on the branch `{branch}` of {repository}")]
    NotOnBranch {
        commit: String,
        branch: String,
        repository: String,
    },
    #[error(
        "the commit {commit} is older than {running}, which runs here: set `deploy.allow_older` on this machine to let it go back"
    )]
    Older { commit: String, running: String },
    #[error("`{0}` is no commit")]
    NoCommit(String),
    #[error("another git works in {} and does not end", path.display())]
    Locked { path: PathBuf },
    #[error(transparent)]
    Command(#[from] CommandError),
    #[error("the folder of the tree: {0}")]
    Io(#[from] io::Error),
}

/// What is fetched from where.
#[derive(Debug)]
pub(super) struct Source<'a> {
    pub(super) repository: &'a str,
    pub(super) branch: &'a str,
    pub(super) remote: Option<&'a str>,
    pub(super) tree: &'a Path,
    /// The commit that runs here, which another Pylon must not lead us behind.
    pub(super) running: Option<&'a str>,
}

impl Source<'_> {
    /// Brings the tree to a commit, or to the newest of the branch. Gives the commit.
    pub(super) async fn check_out(
        &self,
        runner: &Runner,
        role: Role,
        wanted: Option<&str>,
    ) -> Result<String, GitError> {
        if let Some(commit) = wanted {
            let is_hex = commit.bytes().all(|byte| byte.is_ascii_hexdigit());
            if !is_hex || !(7..=64).contains(&commit.len()) {
                return Err(GitError::NoCommit(commit.chars().take(80).collect()));
            }
        }
        let is_path = !self.repository.contains("://") && !self.repository.contains('@');
        if is_path && !Path::new(self.repository).is_dir() {
            let path = PathBuf::from(self.repository);
            return Err(GitError::NoRepository { path });
        }
        let from = match (self.remote, role) {
            (Some(remote), Role::Lead) => {
                self.synchronise(runner, remote).await?;
                self.repository.to_owned()
            }
            // Those who follow may have an older copy than the lead has pushed.
            (Some(remote), Role::Follower { .. }) => {
                let words = ["remote", "get-url", "--", remote];
                runner.capture(self.in_repository(&words)).await?
            }
            (_, _) => self.repository.to_owned(),
        };
        self.make_tree(runner).await?;
        let branch = format!("+refs/heads/{}:{BRANCH}", self.branch);
        let fetch = [
            "fetch",
            "--quiet",
            "--no-tags",
            "--force",
            "--",
            &from,
            &branch,
        ];
        runner.run(self.in_tree(&fetch)).await?;
        let newest = runner.capture(self.in_tree(&["rev-parse", BRANCH])).await?;
        let commit = wanted.map_or_else(|| newest.clone(), str::to_owned);
        let is_ancestor = ["merge-base", "--is-ancestor", &commit, &newest];
        match runner.run(self.in_tree(&is_ancestor)).await {
            Ok(()) => {}
            Err(CommandError::Failed { .. }) => {
                return Err(GitError::NotOnBranch {
                    commit,
                    branch: self.branch.to_owned(),
                    repository: self.repository.to_owned(),
                });
            }
            Err(error) => return Err(error.into()),
        }
        if let Role::Follower { .. } = role {
            self.not_older(runner, &commit).await?;
        }
        let checkout = ["checkout", "--quiet", "--force", "--detach", &commit, "--"];
        runner.run(self.in_tree(&checkout)).await?;
        // What an earlier build left beside the source is not of this commit; what is ignored is its cache.
        runner
            .run(self.in_tree(&["clean", "--quiet", "-fd"]))
            .await?;
        let full = runner.capture(self.in_tree(&["rev-parse", "HEAD"])).await?;
        Ok(full)
    }

    /// A commit that is behind the one that runs is refused. What runs may be of no commit, or of one that is not on the branch;
    /// then nothing is known about which is older.
    async fn not_older(&self, runner: &Runner, commit: &str) -> Result<(), GitError> {
        let Some(running) = self.running else {
            return Ok(());
        };
        let is_behind = async |one: &str, other: &str| {
            let words = ["merge-base", "--is-ancestor", one, other];
            match runner.run(self.in_tree(&words)).await {
                Ok(()) => Ok(true),
                Err(CommandError::Failed { .. }) => Ok(false),
                Err(error) => Err(GitError::from(error)),
            }
        };
        if is_behind(commit, running).await? && !is_behind(running, commit).await? {
            return Err(GitError::Older {
                commit: commit.to_owned(),
                running: running.to_owned(),
            });
        }
        Ok(())
    }

    /// The remote must have nothing that we have not, and gets what it has not.
    async fn synchronise(&self, runner: &Runner, remote: &str) -> Result<(), GitError> {
        let branch = self.branch;
        let fetch = ["fetch", "--quiet", "--", remote, branch];
        runner.run(self.in_repository(&fetch)).await?;
        let ours = format!("refs/heads/{branch}");
        let count = async |range: String| {
            let words = ["rev-list", "--count", &range];
            runner.capture(self.in_repository(&words)).await
        };
        let ahead = count(format!("{ours}..FETCH_HEAD")).await?;
        if ahead != "0" {
            return Err(GitError::RemoteAhead {
                remote: remote.to_owned(),
                branch: branch.to_owned(),
                count: ahead,
            });
        }
        if count(format!("FETCH_HEAD..{ours}")).await? != "0" {
            let both = format!("{ours}:{ours}");
            let push = ["push", "--quiet", "--", remote, &both];
            runner.run(self.in_repository(&push)).await?;
        }
        Ok(())
    }

    async fn make_tree(&self, runner: &Runner) -> Result<(), GitError> {
        std::fs::create_dir_all(self.tree)?;
        let git = self.tree.join(".git");
        for lock in ["index.lock", "HEAD.lock", "shallow.lock", "config.lock"] {
            self.unlock(&git.join(lock)).await?;
        }
        if !git.join("HEAD").is_file() {
            runner.run(self.in_tree(&["init", "--quiet"])).await?;
        }
        Ok(())
    }

    /// Removes a lock that a killed `git` left. The tree is ours, so an owner that lives is one that is dying.
    async fn unlock(&self, lock: &Path) -> Result<(), GitError> {
        let waiting = async {
            while lock.exists() && is_open(lock) {
                tokio::time::sleep(LOOK_EVERY).await;
            }
        };
        let waited = tokio::time::timeout(LOCKED, waiting).await;
        waited.map_err(|_| GitError::Locked {
            path: self.tree.to_owned(),
        })?;
        match std::fs::remove_file(lock) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn in_tree(&self, words: &[&str]) -> Spec {
        Self::git(words, self.tree)
    }

    fn in_repository(&self, words: &[&str]) -> Spec {
        Self::git(words, Path::new(self.repository))
    }

    fn git(words: &[&str], folder: &Path) -> Spec {
        // Nothing that the repository brings along is run by git itself.
        let quiet = ["git", "-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0"];
        let all = quiet.iter().chain(words).map(OsString::from);
        Spec {
            name: format!("git {}", words.first().unwrap_or(&"")),
            words: all.collect(),
            folder: folder.to_owned(),
            environment: vec![("GIT_TERMINAL_PROMPT", "0".into())],
        }
    }
}

/// Whether a process has a file open.
fn is_open(file: &Path) -> bool {
    let Ok(file) = file.canonicalize() else {
        return false;
    };
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let files = processes.filter_map(|process| std::fs::read_dir(process.path().join("fd")).ok());
    let mut files = files.flatten().flatten();
    files.any(|open| std::fs::read_link(open.path()).is_ok_and(|path| path == file))
}
