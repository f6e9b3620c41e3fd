//! The folder `task` of a workspace: its files read, made and changed.
//!
//! Nothing outside of the workspace is touched: a folder that leads out of it is refused, and of its files only plain ones
//! are read, never links. A file is written beside the old one and put in its place in one step, so that a reader or a
//! crash sees the old or the new one. Somebody who saves the file in between wins: the change is made again, on top of theirs.

use std::collections::HashSet;
use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use estelle_proto::{ApiError, ErrorCode, Retry, Timestamp};
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::matter::MatterError;
use super::task::{self, ENDING, Task};
use super::{name, task::compose_within};

/// The folder in a workspace.
pub const FOLDER: &str = "task";
/// Most bytes of a file that is read; nobody writes more about one task.
const MOST_BYTES: u64 = 1024 * 1024;
/// Most files that are looked at; those with the last names, which are the newest.
const MOST_FILES: usize = 5000;
/// How often a change is tried on a file that somebody else writes.
const TRIES: usize = 8;
/// Names that are tried for a new file.
const NAMES: u32 = 1000;
/// What the files are called that are being written. Lists leave out hidden ones.
const DRAFT: &str = ".estelle-";
/// After this a draft belongs to somebody who died.
const DRAFT_AGE: Duration = Duration::from_hours(1);

/// Why the folder or a file of it cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The workspace itself is gone.
    #[error("the folder of the workspace is not there")]
    NoWorkspace,
    /// It leads elsewhere.
    #[error("the folder `task` leads out of the workspace; make it a folder of its own")]
    Outside,
    /// It is something else.
    #[error("`task` is no folder")]
    NoFolder,
    /// A file was there a moment ago.
    #[error("{file} is gone")]
    Gone {
        /// Which file.
        file: String,
    },
    /// A file is no task.
    #[error("{file}: {problem}; mend it by hand first")]
    Damaged {
        /// Which file.
        file: String,
        /// Why.
        problem: String,
    },
    /// Somebody else goes on writing it.
    #[error("{file} changes all the time; nothing was written")]
    Changing {
        /// Which file.
        file: String,
    },
    /// So many have this title today.
    #[error("there are too many tasks of this name; take another title")]
    NoName,
    /// The system refused.
    #[error("{what}: {error}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// Why it failed.
        error: io::Error,
    },
}

impl From<&FolderError> for ApiError {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the system has many ways to fail, and most of them tell nothing to people"
    )]
    fn from(error: &FolderError) -> Self {
        let (code, retry) = match error {
            FolderError::NoWorkspace | FolderError::Outside | FolderError::NoFolder => {
                (ErrorCode::BadPath, Retry::Never)
            }
            FolderError::Gone { .. } => (ErrorCode::UnknownTask, Retry::Never),
            FolderError::Damaged { .. } => (ErrorCode::Conflict, Retry::Never),
            FolderError::Changing { .. } => (ErrorCode::Conflict, Retry::Later),
            FolderError::NoName => (ErrorCode::DuplicateId, Retry::Never),
            FolderError::Io { error, .. } => match error.kind() {
                ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                    (ErrorCode::Forbidden, Retry::Never)
                }
                ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                    (ErrorCode::DiskFull, Retry::Later)
                }
                _ => (ErrorCode::Internal, Retry::Later),
            },
        };
        Self::new(code, error.to_string(), retry)
    }
}

fn failed(what: &'static str) -> impl Fn(io::Error) -> FolderError {
    move |error| FolderError::Io { what, error }
}

/// The tasks of a folder, newest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tasks {
    /// All that were looked at.
    pub tasks: Vec<Task>,
    /// Whether there are more files.
    pub is_cut: bool,
}

/// The folder, as it really is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskFolder {
    path: PathBuf,
}

/// As long as this lives, nobody else has the folder.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "the system lets go of the lock with the file")] File);

impl TaskFolder {
    /// The folder of a workspace, if it has one.
    pub fn open(workspace: &Path) -> Result<Option<Self>, FolderError> {
        let workspace = workspace.canonicalize();
        let workspace = workspace.map_err(|_| FolderError::NoWorkspace)?;
        let path = match workspace.join(FOLDER).canonicalize() {
            Ok(path) => path,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                // A link to what is not there would become a folder elsewhere as soon as that is made.
                let is_link = workspace.join(FOLDER).symlink_metadata().is_ok();
                return if is_link {
                    Err(FolderError::Outside)
                } else {
                    Ok(None)
                };
            }
            Err(error) => return Err(failed("the folder `task` cannot be looked at")(error)),
        };
        if !path.starts_with(&workspace) || path == workspace {
            return Err(FolderError::Outside);
        }
        if !path.is_dir() {
            return Err(FolderError::NoFolder);
        }
        Ok(Some(Self { path }))
    }

    /// The same; it is made if it is not there.
    pub fn make(workspace: &Path) -> Result<Self, FolderError> {
        if let Some(folder) = Self::open(workspace)? {
            return Ok(folder);
        }
        match std::fs::create_dir(workspace.join(FOLDER)) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                return Err(failed("the folder `task` cannot be made")(error));
            }
            Ok(()) | Err(_) => {}
        }
        Self::open(workspace)?.ok_or(FolderError::NoFolder)
    }

    /// Where a file is.
    pub fn path_of(&self, file: &str) -> PathBuf {
        self.path.join(file)
    }

    /// Nobody else has the folder for as long as what this gives lives; none if somebody has it.
    pub fn lock(&self) -> Result<Option<Lock>, FolderError> {
        let file = File::open(&self.path).map_err(failed("the folder `task` cannot be opened"))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Lock(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => {
                Err(failed("the folder `task` cannot be locked")(error))
            }
        }
    }

    /// All tasks.
    pub fn list(&self) -> Result<Tasks, FolderError> {
        let entries = std::fs::read_dir(&self.path);
        let entries = entries.map_err(failed("the folder `task` cannot be read"))?;
        let names = entries.flatten().map(|entry| entry.file_name());
        let names = names.map(|name| name.to_string_lossy().into_owned());
        let is_task = |name: &String| name.ends_with(ENDING) && !name.starts_with('.');
        let mut names: Vec<String> = names.filter(is_task).collect();
        let is_cut = names.len() > MOST_FILES;
        names.sort_unstable_by(|one, other| other.cmp(one));
        names.truncate(MOST_FILES);
        let read = names.iter().map(|file| match self.text(file) {
            Ok(text) => Task::read(file, &text),
            Err(problem) => Task::broken(file, problem),
        });
        let mut tasks: Vec<Task> = read.collect();
        task::arrange(&mut tasks);
        Ok(Tasks { tasks, is_cut })
    }

    /// The text of a file, or why it is none.
    pub fn text(&self, file: &str) -> Result<String, String> {
        match self.read(file) {
            Ok((text, _)) => Ok(text),
            Err(FolderError::Damaged { problem, .. }) => Err(problem),
            Err(error) => Err(error.to_string()),
        }
    }

    fn read(&self, file: &str) -> Result<(String, Metadata), FolderError> {
        let damaged = |problem: &str| FolderError::Damaged {
            file: file.to_owned(),
            problem: problem.to_owned(),
        };
        // A pipe would wait for a writer, a link could lead anywhere.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let flags = i32::try_from(flags.bits()).unwrap_or_default();
        let opened = OpenOptions::new()
            .read(true)
            .custom_flags(flags)
            .open(self.path_of(file));
        let mut opened = match opened {
            Ok(opened) => opened,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let file = file.to_owned();
                return Err(FolderError::Gone { file });
            }
            Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {
                return Err(damaged("it is a link, and links are not followed"));
            }
            Err(error) => return Err(failed("the file cannot be read")(error)),
        };
        let about = opened
            .metadata()
            .map_err(failed("the file cannot be read"))?;
        if !about.is_file() {
            return Err(damaged("it is no plain file"));
        }
        if about.len() > MOST_BYTES {
            return Err(damaged("it is larger than 1 MiB"));
        }
        let mut bytes = Vec::new();
        let read = (&mut opened).take(MOST_BYTES + 1).read_to_end(&mut bytes);
        read.map_err(failed("the file cannot be read"))?;
        let text = String::from_utf8(bytes).map_err(|_| damaged("it is no text in UTF-8"))?;
        Ok((text, about))
    }

    /// Changes a file; what the change leaves alone stays byte for byte.
    pub fn change(
        &self,
        file: &str,
        change: impl Fn(&str) -> Result<String, MatterError>,
    ) -> Result<Task, FolderError> {
        for _ in 0..TRIES {
            let (text, about) = self.read(file)?;
            let changed = change(&text).map_err(|error| FolderError::Damaged {
                file: file.to_owned(),
                problem: error.to_string(),
            })?;
            if changed == text {
                return Ok(Task::read(file, &text));
            }
            let draft = self.draft(&changed, Some(&about))?;
            let now = self.path_of(file).symlink_metadata();
            if now.is_ok_and(|now| is_same(&now, &about)) {
                let renamed = std::fs::rename(&draft.0, self.path_of(file));
                renamed.map_err(failed("the file cannot be written"))?;
                self.settle()?;
                return Ok(Task::read(file, &changed));
            }
        }
        let file = file.to_owned();
        Err(FolderError::Changing { file })
    }

    /// Makes a new task under a name that no other has.
    pub fn create(&self, title: &str, content: &str, at: Timestamp) -> Result<Task, FolderError> {
        self.create_within(title, content, (None, None), at)
    }

    /// The same with what it may cost: where people are warned, and where it is stopped.
    pub fn create_within(
        &self,
        title: &str,
        content: &str,
        lines: (Option<f64>, Option<f64>),
        at: Timestamp,
    ) -> Result<Task, FolderError> {
        self.sweep();
        let known = self.list()?.tasks;
        let taken: HashSet<&str> = known.iter().map(|task| task.id.as_str()).collect();
        let stem = name::stem(title, at);
        let ids = (1..=NAMES).map(|number| name::numbered(&stem, number));
        for id in ids.filter(|id| !taken.contains(id.as_str())) {
            let file = format!("{id}{ENDING}");
            let text = compose_within(&id, title, content, lines, at);
            let draft = self.draft(&text, None)?;
            // Unlike renaming, this never replaces what somebody else just made.
            match std::fs::hard_link(&draft.0, self.path_of(&file)) {
                Ok(()) => {
                    drop(draft);
                    self.settle()?;
                    return Ok(Task::read(&file, &text));
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed("the file cannot be made")(error)),
            }
        }
        Err(FolderError::NoName)
    }

    /// A file with this text, hidden, on the disk. It is removed if nobody gives it a name.
    fn draft(&self, text: &str, like: Option<&Metadata>) -> Result<Draft, FolderError> {
        let path = self
            .path
            .join(format!("{DRAFT}{}.tmp", uuid::Uuid::new_v4()));
        let draft = Draft(path);
        let mut file = OpenOptions::new();
        let file = file.write(true).create_new(true).open(&draft.0);
        let mut file = file.map_err(failed("nothing can be written into the folder `task`"))?;
        let written = file.write_all(text.as_bytes()).and_then(|()| {
            if let Some(like) = like {
                file.set_permissions(like.permissions())?;
            }
            file.sync_all()
        });
        written.map_err(failed("the file cannot be written"))?;
        Ok(draft)
    }

    /// The names are on the disk as well.
    fn settle(&self) -> Result<(), FolderError> {
        let synced = File::open(&self.path).and_then(|folder| folder.sync_all());
        synced.map_err(failed("the folder `task` cannot be written"))
    }

    /// Removes what somebody left who was killed while writing.
    fn sweep(&self) {
        let now = SystemTime::now();
        let entries = std::fs::read_dir(&self.path)
            .into_iter()
            .flatten()
            .flatten();
        for entry in entries {
            let name = entry.file_name();
            let is_draft = name.to_string_lossy().starts_with(DRAFT);
            let age = || {
                now.duration_since(entry.metadata().ok()?.modified().ok()?)
                    .ok()
            };
            if is_draft && age().is_some_and(|age| age > DRAFT_AGE) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

/// A file that has no name yet.
#[derive(Debug)]
struct Draft(PathBuf);

impl Drop for Draft {
    fn drop(&mut self) {
        // After renaming there is nothing left to remove.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Whether nobody has written the file in between.
fn is_same(now: &Metadata, then: &Metadata) -> bool {
    let facts = |of: &Metadata| {
        (
            of.dev(),
            of.ino(),
            of.len(),
            of.mtime(),
            of.mtime_nsec(),
            of.ctime(),
            of.ctime_nsec(),
        )
    };
    facts(now) == facts(then)
}

#[cfg(test)]
#[path = "folder_tests.rs"]
mod tests;
