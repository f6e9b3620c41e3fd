//! The repository that a folder is in, ready to be asked.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use super::command::{Call, Git, GitError, Said};
use super::defuse::Setting;

/// Most bytes of a short answer.
const SHORT: usize = 64 * 1024;

/// A repository, seen from a folder in it.
#[derive(Debug, Clone)]
pub struct Repository {
    git: Git,
    folder: PathBuf,
    /// The folder of the whole working tree.
    pub top: PathBuf,
    settings: Vec<Setting>,
}

impl Repository {
    /// The repository of a folder, with everything switched off that it could run.
    pub async fn find(git: &Git, folder: &Path) -> Result<Self, GitError> {
        let args = ["rev-parse", "--show-toplevel"];
        let said = git.call(Call::new(folder, args, SHORT)).await?;
        let top = path(said.out);
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        // The repository decides where its files are: it must not be elsewhere.
        if !real(folder).starts_with(real(&top)) {
            return Err(GitError::Elsewhere);
        }
        Ok(Self {
            git: git.clone(),
            folder: folder.to_owned(),
            top,
            settings: git.defuse(folder).await?,
        })
    }

    /// The folder from which it is seen.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Asks something, with at most so many bytes of an answer.
    pub(crate) async fn ask<I>(&self, args: I, most: usize) -> Result<Said, GitError>
    where
        I: IntoIterator,
        I::Item: Into<OsString>,
    {
        let call = Call {
            settings: &self.settings,
            ..Call::new(&self.folder, args, most)
        };
        self.git.call(call).await
    }

    /// The same where an end with 1 is an answer, or with further variables.
    pub(super) async fn call(&self, call: Call<'_>) -> Result<Said, GitError> {
        let settings = &self.settings;
        self.git.call(Call { settings, ..call }).await
    }

    /// The same repository, seen from its top.
    pub(crate) fn whole(&self) -> Self {
        Self {
            folder: self.top.clone(),
            ..self.clone()
        }
    }

    /// Asks for one line.
    pub(crate) async fn line<I>(&self, args: I) -> Result<String, GitError>
    where
        I: IntoIterator,
        I::Item: Into<OsString>,
    {
        Ok(self.ask(args, SHORT).await?.line())
    }

    /// What the working tree is compared with: the last commit, or nothing where there is none.
    pub(super) async fn base(&self, head: Option<&str>) -> Result<String, GitError> {
        match head {
            Some(head) => Ok(head.to_owned()),
            // The empty tree, in the form of this repository.
            None => self.line(["hash-object", "-t", "tree", "--stdin"]).await,
        }
    }
}

/// A path that git said, on a line of its own.
fn path(mut out: Vec<u8>) -> PathBuf {
    if out.last() == Some(&b'\n') {
        out.pop();
    }
    PathBuf::from(OsString::from_vec(out))
}
