//! One call of git: its environment, its limits, and what it said.
//!
//! The environment is made from nothing. Settings that would run a program are overruled through `GIT_CONFIG_COUNT`, which
//! counts after every file of the repository and, unlike arguments, can name any key.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, Command};
use tokio::sync::Semaphore;

use super::defuse::{FIXED, Setting};

/// Calls of git at once: a machine with many repositories must not be slowed down by those who look.
const AT_ONCE: usize = 4;
/// What one call may take.
const WITHIN: Duration = Duration::from_secs(30);
/// What is kept of an explanation.
const MOST_SAID: usize = 4096;

/// Why git gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no git.
    #[error("git is not installed on this machine, or not in the PATH of the Pylon: install it")]
    Missing,
    /// The folder is in no repository.
    #[error("the folder is in no git repository")]
    NoRepository,
    /// The repository says that its files are somewhere else.
    #[error("the repository of this folder has its files elsewhere (`core.worktree`)")]
    Elsewhere,
    /// Too much to be switched off one by one.
    #[error("the configuration of the repository names too many programs")]
    Overloaded,
    /// It took too long and was ended.
    #[error("git took longer than {} s", .0.as_secs())]
    TooLong(Duration),
    /// It refused.
    #[error("git says: {said}")]
    Refused {
        /// The first line of its explanation.
        said: String,
    },
    /// It could not write, and did not say why.
    #[error("git could not write: {said}")]
    Unwritten {
        /// The first line of its explanation.
        said: String,
    },
    /// There is no room on the disk.
    #[error("there is no room on the disk; git says: {said}")]
    Full {
        /// The first line of its explanation.
        said: String,
    },
    /// A merge died, and what it had written could not be taken back.
    #[error(
        "the merge failed ({said}) and could not be taken back ({why}): make room, then run `git reset --hard` in {}, where everything was committed",
        .top.display()
    )]
    Half {
        /// Why it died.
        said: String,
        /// Why it was not taken back.
        why: String,
        /// Where.
        top: PathBuf,
    },
    /// The process could not be started or read.
    #[error("git could not be run")]
    Io(#[from] std::io::Error),
}

/// What git said.
#[derive(Debug, Default)]
pub(crate) struct Said {
    /// Its output, as far as it was wanted.
    pub(crate) out: Vec<u8>,
    /// Whether there was more.
    pub(crate) is_cut: bool,
    /// Whether it ended with 1, where that is an answer.
    pub(crate) is_no: bool,
}

impl Said {
    /// The output as one line of text.
    pub(crate) fn line(&self) -> String {
        let text = String::from_utf8_lossy(&self.out);
        text.trim_end_matches(['\n', '\r']).to_owned()
    }
}

/// A call to be made.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    /// Where.
    pub(crate) folder: &'a Path,
    /// What.
    pub(crate) args: Vec<OsString>,
    /// The most bytes of output.
    pub(crate) most: usize,
    /// What is switched off in this repository.
    pub(crate) settings: &'a [Setting],
    /// Whether an end with 1 is an answer and no failure.
    pub(crate) takes_no: bool,
    /// Further variables.
    pub(crate) environment: Vec<(&'static str, OsString)>,
    /// What it gets as its input, which is nothing otherwise.
    pub(crate) input: Option<File>,
}

impl<'a> Call<'a> {
    pub(crate) fn new<I>(folder: &'a Path, args: I, most: usize) -> Self
    where
        I: IntoIterator,
        I::Item: Into<OsString>,
    {
        Self {
            folder,
            args: args.into_iter().map(Into::into).collect(),
            most,
            settings: &[],
            takes_no: false,
            environment: Vec::new(),
            input: None,
        }
    }
}

/// The program, and how many use it at once. Clones share that.
#[derive(Debug, Clone)]
pub struct Git {
    permits: Arc<Semaphore>,
    within: Duration,
}

impl Default for Git {
    fn default() -> Self {
        Self {
            permits: Arc::new(Semaphore::new(AT_ONCE)),
            within: WITHIN,
        }
    }
}

impl Git {
    /// Makes a call, and takes an unsuccessful one for a failure.
    pub(crate) async fn call(&self, call: Call<'_>) -> Result<Said, GitError> {
        let _permit = self.permits.acquire().await;
        let mut command = command(&call).ok_or(GitError::Missing)?;
        if let Some(input) = &call.input {
            command.stdin(input.try_clone()?);
        }
        let mut child = command.spawn()?;
        let talk = hear(&mut child, &call);
        let heard = tokio::time::timeout(self.within, talk).await;
        let outcome = match heard {
            Ok(outcome) => outcome,
            Err(_) => Err(GitError::TooLong(self.within)),
        };
        // Also after a failure nothing of it is left.
        end(&mut child).await;
        outcome
    }

    /// The same with another limit of time.
    #[must_use]
    pub fn within(self, within: Duration) -> Self {
        Self { within, ..self }
    }
}

fn command(call: &Call<'_>) -> Option<Command> {
    let (program, path) = find_program()?;
    let mut command = Command::new(program);
    command.args(&call.args).current_dir(call.folder);
    command.env_clear().env("PATH", path).env("LC_ALL", "C");
    for (name, value) in ENVIRONMENT {
        command.env(name, value);
    }
    let mut count = 0;
    let fixed = FIXED.iter().map(|(key, value)| (OsStr::new(key), *value));
    let own = call.settings.iter();
    let own = own.map(|setting| (setting.key.as_os_str(), setting.value));
    for (key, value) in fixed.chain(own) {
        command.env(format!("GIT_CONFIG_KEY_{count}"), key);
        command.env(format!("GIT_CONFIG_VALUE_{count}"), value);
        count += 1;
    }
    command.env("GIT_CONFIG_COUNT", count.to_string());
    command.envs(call.environment.iter().map(|(name, value)| (name, value)));
    // A group of its own, so that whatever it starts ends with it.
    command.process_group(0).kill_on_drop(true);
    command.stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    Some(command)
}

/// What git sees of the world: no other configuration, no prompts, no network, no locks.
const ENVIRONMENT: [(&str, &str); 14] = [
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_PAGER", "cat"),
    ("GIT_EDITOR", "false"),
    ("GIT_SEQUENCE_EDITOR", "false"),
    ("GIT_ASKPASS", "false"),
    ("SSH_ASKPASS", "false"),
    ("GIT_SSH_COMMAND", "false"),
];

/// Where programs usually are; a service may have a PATH without some of them.
const USUAL: [&str; 4] = ["/usr/local/bin", "/usr/bin", "/bin", "/opt/homebrew/bin"];

/// The program, and the PATH that it gets: without relative folders, which would be the repository's.
fn find_program() -> Option<(PathBuf, OsString)> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
    let folders: Vec<PathBuf> = folders.chain(USUAL.map(PathBuf::from)).collect();
    let mut programs = folders.iter().map(|folder| folder.join("git"));
    let program = programs.find(|program| program.is_file())?;
    Some((program, std::env::join_paths(folders).ok()?))
}

async fn hear(child: &mut Child, call: &Call<'_>) -> Result<Said, GitError> {
    let (Some(out), Some(err)) = (child.stdout.take(), child.stderr.take()) else {
        return Err(std::io::Error::other("it has no output").into());
    };
    let (heard, complaint) = tokio::join!(up_to(out, call.most), up_to(err, MOST_SAID));
    let ((out, is_cut), (complaint, _)) = (heard?, complaint?);
    // One that wants to say more than is wanted is ended, which is no failure of it.
    let said = |is_no| Said { out, is_cut, is_no };
    if is_cut {
        return Ok(said(false));
    }
    let status = child.wait().await?;
    let is_no = call.takes_no && status.code() == Some(1);
    if status.success() || is_no {
        return Ok(said(is_no));
    }
    Err(refusal(&String::from_utf8_lossy(&complaint), call.folder))
}

/// What git says when the disk refuses, in the language that it is told to speak.
const NO_ROOM: [&str; 2] = ["No space left on device", "Disk quota exceeded"];
/// What it says when it could not write and keeps the reason to itself.
const UNWRITTEN: [&str; 5] = [
    "unable to write",
    "couldn't write",
    "could not write",
    "unable to append",
    "write error",
];
/// Less than this and nothing can be written any more.
const NO_ROOM_BYTES: u64 = 64 * 1024;

fn refusal(complaint: &str, folder: &Path) -> GitError {
    if complaint.contains("not a git repository") {
        return GitError::NoRepository;
    }
    let says = |words: &[&str]| words.iter().any(|word| complaint.contains(word));
    let first = complaint.lines().find(|line| !line.trim().is_empty());
    let said = first.unwrap_or("nothing").trim_start_matches("fatal: ");
    let said = estelle_proto::limits::cut(said, 300).to_owned();
    if says(&NO_ROOM) {
        return GitError::Full { said };
    }
    if !says(&UNWRITTEN) {
        return GitError::Refused { said };
    }
    if room(folder).is_some_and(|room| room < NO_ROOM_BYTES) {
        return GitError::Full { said };
    }
    GitError::Unwritten { said }
}

/// The bytes that can be written where a folder is.
pub(super) fn room(folder: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Reads so many bytes, and tells whether there are more.
async fn up_to(mut from: impl AsyncRead + Unpin, most: usize) -> std::io::Result<(Vec<u8>, bool)> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    (&mut from).take(limit).read_to_end(&mut bytes).await?;
    let is_cut = bytes.len() > most;
    bytes.truncate(most);
    Ok((bytes, is_cut))
}

async fn end(child: &mut Child) {
    let Some(id) = child.id() else {
        return;
    };
    let group = i32::try_from(id)
        .ok()
        .and_then(rustix::process::Pid::from_raw);
    if let Some(group) = group {
        // One that has ended by itself is not there any more.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.wait().await;
}
