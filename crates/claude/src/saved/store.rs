//! The handle, and where it finds the files.
//!
//! Owns the configuration directory and the choice of projects. A session is found by looking for its file in each
//! project folder of the choice; folders and files that are links do not count. What the files say is read elsewhere.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::folder::folder_name;
use super::id::SessionId;
use super::worktrees::load_worktrees;

/// The conversations saved under one configuration directory. All functions block.
///
/// ```no_run
/// use estelle_claude::saved::{ListOptions, SavedSessions};
///
/// # fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let saved = SavedSessions::from_env()?.within("/srv/project");
/// for session in saved.load_sessions(&ListOptions::new().limit(20))? {
///     println!("{} {}", session.id, session.title().unwrap_or("(no title)"));
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct SavedSessions {
    projects: PathBuf,
    choice: Choice,
}

/// Which projects to look in.
#[derive(Debug, Clone)]
enum Choice {
    All,
    Repository(PathBuf),
    Directory(PathBuf),
}

/// Neither `CLAUDE_CONFIG_DIR` nor `HOME` is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("neither CLAUDE_CONFIG_DIR nor HOME says where conversations are saved")]
pub struct NoConfigDir;

/// Why saved conversations could not be read.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// There is no such conversation in the chosen projects.
    #[error("session {0} not found")]
    NotFound(SessionId),
    /// The file system refused.
    #[error("read {}", path.display())]
    Read {
        /// What was being read.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

impl LoadError {
    pub(super) fn read(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Read { path, source }
    }
}

/// A session file that was found.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) id: SessionId,
    /// The project folder.
    pub(super) folder: PathBuf,
    /// The transcript.
    pub(super) file: PathBuf,
}

impl Place {
    pub(super) fn new(folder: &Path, id: &SessionId) -> Self {
        Self {
            id: id.clone(),
            folder: folder.to_owned(),
            file: folder.join(format!("{id}.jsonl")),
        }
    }

    /// The directory beside the transcript, for sub-agents and marks.
    pub(super) fn side_dir(&self) -> PathBuf {
        self.folder.join(self.id.as_str())
    }
}

impl SavedSessions {
    /// The conversations of all projects under this configuration directory.
    pub fn new(config_dir: impl AsRef<Path>) -> Self {
        Self {
            projects: config_dir.as_ref().join("projects"),
            choice: Choice::All,
        }
    }

    /// Those of the current user: under `CLAUDE_CONFIG_DIR`, or else `~/.claude`.
    pub fn from_env() -> Result<Self, NoConfigDir> {
        let set = |name| std::env::var_os(name).filter(|value: &OsString| !value.is_empty());
        let dir = set("CLAUDE_CONFIG_DIR").map(PathBuf::from);
        let home = || set("HOME").map(|home| Path::new(&home).join(".claude"));
        dir.or_else(home).map(Self::new).ok_or(NoConfigDir)
    }

    /// Looks only in the project of this working directory and in the work trees of its Git repository.
    #[must_use]
    pub fn within(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.choice = Choice::Repository(cwd.into());
        self
    }

    /// Looks only in the project of this working directory.
    #[must_use]
    pub fn within_only(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.choice = Choice::Directory(cwd.into());
        self
    }

    /// The project folders of the choice, those that exist. The directory asked for comes first.
    pub(super) fn folders(&self) -> Result<Vec<PathBuf>, LoadError> {
        let cwds = match &self.choice {
            Choice::All => return self.all_folders(),
            Choice::Directory(cwd) => vec![resolve(cwd)],
            Choice::Repository(cwd) => {
                let cwd = resolve(cwd);
                let trees = load_worktrees(&cwd);
                std::iter::once(cwd).chain(trees).collect()
            }
        };
        let mut folders: Vec<PathBuf> = Vec::new();
        for cwd in cwds {
            let folder = self.projects.join(folder_name(&cwd));
            if !folders.contains(&folder) && is_real_dir(&folder) {
                folders.push(folder);
            }
        }
        Ok(folders)
    }

    fn all_folders(&self) -> Result<Vec<PathBuf>, LoadError> {
        let entries = match fs::read_dir(&self.projects) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(LoadError::read(&self.projects)(error)),
        };
        let mut folders: Vec<_> = entries
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| is_real_dir(path))
            .collect();
        folders.sort();
        Ok(folders)
    }

    /// Finds the file of a session. Empty files do not count: the CLI takes them for no conversation either.
    pub(super) fn locate(&self, id: &SessionId) -> Result<Place, LoadError> {
        let places = self
            .folders()?
            .into_iter()
            .map(|folder| Place::new(&folder, id));
        let is_session = |place: &Place| {
            fs::symlink_metadata(&place.file).is_ok_and(|file| file.is_file() && file.len() > 0)
        };
        places
            .into_iter()
            .find(is_session)
            .ok_or_else(|| LoadError::NotFound(id.clone()))
    }
}

/// The path as the CLI sees it: with links resolved where it exists.
fn resolve(cwd: &Path) -> PathBuf {
    cwd.canonicalize()
        .or_else(|_| std::path::absolute(cwd))
        .unwrap_or_else(|_| cwd.to_owned())
}

/// Whether there is a directory that is not a link to one.
pub(super) fn is_real_dir(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}
