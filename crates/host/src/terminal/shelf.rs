//! The shelf: all terminals of a host, on the disk, and which conversation each of them holds.
//!
//! What a terminal is and how it is are facts of its folder; the shelf remembers nothing that a next host could not find
//! there. A conversation is held from the moment somebody wants it for a terminal until the agent in that terminal is gone.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use estelle_proto::ipc::{KeptTerminal, to_line};
use estelle_proto::keeper::{Close, ViewerToKeeper};
use estelle_proto::terminals::TerminalState;
use estelle_proto::{
    ApiError, ClaudeSessionId, ConversationId, ErrorCode, PathText, Retry, TerminalId,
};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;

use super::folder::{TerminalFolder, TerminalRecord};
use super::keeper::{is_exhausted, is_ready};
use crate::run::lock::{Heirs, Lock};
use crate::run::{LaunchRecord, ShimCommand, shim};

/// Terminals that may run at once. Each is a process of ours, a PTY and some mebibytes.
const MAX_RUNNING: usize = 32;
/// How long a keeper may take to start.
const START: Duration = Duration::from_secs(30);
/// How long a terminal may take to end when it is closed.
const END: Duration = Duration::from_secs(10);
/// How long one that is over is listed.
const SHOWN: Duration = Duration::from_mins(10);
/// The longest path of a socket.
const MAX_PATH: usize = 107;

/// Who holds a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Holder {
    terminal: TerminalId,
    session: Option<ClaudeSessionId>,
    /// The terminal is only being started: there is nothing on the disk yet.
    is_starting: bool,
}

/// All terminals.
#[derive(Debug)]
pub(crate) struct Shelf {
    folder: PathBuf,
    trash: PathBuf,
    keeper: ShimCommand,
    holders: Mutex<HashMap<ConversationId, Holder>>,
    /// Terminals are started and closed one after another.
    door: tokio::sync::Mutex<()>,
}

/// A conversation that is held for a terminal that is being started. Dropping it gives the conversation back.
#[derive(Debug)]
pub(crate) struct Hold<'a> {
    shelf: &'a Shelf,
    conversation: ConversationId,
    is_kept: bool,
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        if !self.is_kept {
            self.shelf.holders().remove(&self.conversation);
        }
    }
}

impl Hold<'_> {
    /// The terminal is on the disk: from now on its folder says whether it holds the conversation.
    fn keep(mut self, session: Option<ClaudeSessionId>) {
        if let Some(holder) = self.shelf.holders().get_mut(&self.conversation) {
            holder.is_starting = false;
            holder.session = session;
        }
        self.is_kept = true;
    }
}

/// What is on the disk.
impl Shelf {
    /// Looks at what an earlier host left: terminals that live hold what they held, those that were never started are
    /// given up.
    pub(crate) fn open(data: &Path, shim: &ShimCommand) -> Self {
        let shelf = Self {
            folder: data.join("terminals"),
            trash: data.join("deleted"),
            keeper: ShimCommand {
                program: shim.program.clone(),
                args: vec!["keeper".to_owned()],
            },
            holders: Mutex::default(),
            door: tokio::sync::Mutex::new(()),
        };
        for (folder, record) in shelf.all() {
            give_up(&folder);
            if let (Some(conversation), Ok(true)) = (record.conversation, folder.is_alive()) {
                let holder = Holder {
                    terminal: record.terminal_id,
                    session: record.session,
                    is_starting: false,
                };
                shelf.holders().insert(conversation, holder);
            }
        }
        shelf
    }

    fn holders(&self) -> MutexGuard<'_, HashMap<ConversationId, Holder>> {
        // Nothing that could fail is done while it is held.
        self.holders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All terminals, oldest first. A folder that cannot be read is none.
    fn all(&self) -> Vec<(TerminalFolder, TerminalRecord)> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten();
        let folders = entries
            .flatten()
            .map(|entry| TerminalFolder::open(entry.path()));
        let mut all: Vec<_> = folders
            .filter_map(|folder| {
                let record = folder.load().ok().flatten()?;
                Some((folder, record))
            })
            .collect();
        all.sort_by_key(|(_, record)| (record.created_at, record.terminal_id.clone()));
        all
    }

    /// All terminals as others see them. Those that are long over are put away.
    pub(crate) fn list(&self) -> Vec<KeptTerminal> {
        let mut list = Vec::new();
        for (folder, record) in self.all() {
            if is_long_over(&folder) {
                self.put_away(&folder);
            } else if let Some(kept) = kept(&folder, &record) {
                list.push(kept);
            }
        }
        list
    }

    fn find(&self, id: &TerminalId) -> Option<(TerminalFolder, TerminalRecord)> {
        let folder = TerminalFolder::open(self.folder.join(id.as_str()));
        let record = folder.load().ok().flatten()?;
        Some((folder, record))
    }

    /// Out of sight in one step, then for good; the next host empties what is left.
    fn put_away(&self, folder: &TerminalFolder) {
        let name = folder.path().file_name().unwrap_or_default().to_owned();
        let aside = self.trash.join(name);
        let _ = std::fs::create_dir_all(&self.trash);
        if std::fs::rename(folder.path(), &aside).is_ok() {
            let _ = std::fs::remove_dir_all(&aside);
        }
    }
}

/// Holding conversations.
impl Shelf {
    /// Takes a conversation for a terminal that is to be started.
    pub(crate) fn hold(
        &self,
        conversation: &ConversationId,
        terminal: &TerminalId,
    ) -> Result<Hold<'_>, ApiError> {
        // One lock for the look and the taking: of two at the same moment one gets it.
        let mut holders = self.holders();
        if let Some(holder) = self.holder_among(&mut holders, conversation) {
            return Err(held(&holder));
        }
        let holder = Holder {
            terminal: terminal.clone(),
            session: None,
            is_starting: true,
        };
        holders.insert(conversation.clone(), holder);
        drop(holders);
        Ok(Hold {
            shelf: self,
            conversation: conversation.clone(),
            is_kept: false,
        })
    }

    /// The terminal that holds a conversation.
    pub(crate) fn holder(&self, conversation: &ConversationId) -> Option<TerminalId> {
        self.holder_among(&mut self.holders(), conversation)
    }

    fn holder_among(
        &self,
        holders: &mut HashMap<ConversationId, Holder>,
        conversation: &ConversationId,
    ) -> Option<TerminalId> {
        let holder = holders.get(conversation)?;
        if holder.is_starting || self.is_alive(&holder.terminal) {
            return Some(holder.terminal.clone());
        }
        // The agent in it is gone: the conversation is back.
        holders.remove(conversation);
        None
    }

    /// The conversation whose terminal writes to a session.
    pub(crate) fn writer_of(&self, session: &ClaudeSessionId) -> Option<ConversationId> {
        let holders = self.holders();
        let writes = |holder: &Holder| {
            holder.session.as_ref() == Some(session) && self.is_alive(&holder.terminal)
        };
        let mut found = holders.iter().filter(|(_, holder)| writes(holder));
        found.next().map(|(conversation, _)| conversation.clone())
    }

    /// What cannot be looked at may live.
    fn is_alive(&self, terminal: &TerminalId) -> bool {
        let folder = TerminalFolder::open(self.folder.join(terminal.as_str()));
        folder.is_alive().unwrap_or(true)
    }
}

/// Starting and ending.
impl Shelf {
    /// The terminal of this id, if there is one: it is not started twice.
    pub(crate) fn known(&self, id: &TerminalId) -> Option<KeptTerminal> {
        let (folder, record) = self.find(id)?;
        kept(&folder, &record)
    }

    /// Whether another terminal may be started.
    pub(crate) fn has_room(&self) -> Result<(), ApiError> {
        let running = self.list().into_iter();
        let running = running.filter(|kept| kept.terminal.state == TerminalState::Running);
        if running.count() < MAX_RUNNING {
            return Ok(());
        }
        let text = format!("{MAX_RUNNING} terminals run, which is all a machine takes: close one");
        Err(ApiError::new(ErrorCode::RateLimited, text, Retry::Later))
    }

    /// Starts a terminal. With it goes the hold of its conversation.
    pub(crate) async fn start(
        &self,
        record: &TerminalRecord,
        launch: &LaunchRecord,
        hold: Option<Hold<'_>>,
    ) -> Result<KeptTerminal, ApiError> {
        let _door = self.door.lock().await;
        self.has_room()?;
        let socket = self.folder.join(record.terminal_id.as_str()).join("sock");
        if socket.as_os_str().len() > MAX_PATH {
            let text = "the path of the data folder is too long for the socket of a terminal: choose a shorter one";
            let code = ErrorCode::BadPath;
            return Err(ApiError::new(code, text.to_owned(), Retry::Never));
        }
        let folder = TerminalFolder::create(&self.folder, record, launch).map_err(|error| {
            let text = format!("the folder of the terminal cannot be made: {error}");
            ApiError::new(ErrorCode::DiskFull, text, Retry::Later)
        })?;
        crate::failpoint::reach("terminal-folder");
        // From here on the folder decides: a keeper may be on its way.
        if let Some(hold) = hold {
            hold.keep(record.session.clone());
        }
        match self.spawn(&folder).await {
            Ok(line) if is_ready(&line) => {}
            Ok(line) => {
                self.put_away(&folder);
                let line = line.trim();
                let text = if line.is_empty() {
                    "the terminal's keeper ended at once"
                } else {
                    line
                };
                let code = if is_exhausted(line) {
                    ErrorCode::HostUnavailable
                } else {
                    ErrorCode::Internal
                };
                return Err(ApiError::new(code, text.to_owned(), Retry::Later));
            }
            Err(error) => {
                give_up(&folder);
                let text = format!("the terminal's keeper cannot be started: {error}");
                return Err(ApiError::new(ErrorCode::Internal, text, Retry::Later));
            }
        }
        crate::failpoint::reach("terminal-started");
        kept(&folder, record).ok_or_else(unreadable)
    }

    /// Starts the keeper and waits for the line in which it says what became of it.
    async fn spawn(&self, folder: &TerminalFolder) -> io::Result<String> {
        let mut keeper = tokio::process::Command::new(&self.keeper.program)
            .args(&self.keeper.args)
            .arg(folder.path())
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(false)
            .spawn()?;
        let said = keeper.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let mut line = String::new();
        let mut said = BufReader::new(said.take(64 * 1024));
        let read = said.read_line(&mut line);
        match tokio::time::timeout(START, read).await {
            Ok(read) => read.map(|_| line),
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        }
    }

    /// Ends a terminal with everything in it, and forgets it.
    pub(crate) async fn close(&self, id: &TerminalId) -> Result<(), ApiError> {
        let _door = self.door.lock().await;
        let Some((folder, _)) = self.find(id) else {
            return Err(unknown(id));
        };
        let ended = tokio::time::timeout(END, ask_to_end(&folder)).await;
        if !matches!(ended, Ok(Ok(()))) {
            kill(&folder);
        }
        if matches!(folder.is_abandoned(), Ok(true)) {
            self.put_away(&folder);
            return Ok(());
        }
        let text = "the terminal does not end; try again in a moment".to_owned();
        Err(ApiError::new(ErrorCode::Conflict, text, Retry::Later))
    }

    /// Ends all terminals, as a shutdown does that takes everything along.
    pub(crate) async fn close_all(&self) -> usize {
        let mut closed = 0;
        for (_, record) in self.all() {
            closed += usize::from(self.close(&record.terminal_id).await.is_ok());
        }
        closed
    }
}

/// Says close, and waits until the keeper is gone.
async fn ask_to_end(folder: &TerminalFolder) -> io::Result<()> {
    let mut stream = match UnixStream::connect(folder.socket()).await {
        Ok(stream) => stream,
        // Nobody keeps it any more.
        Err(_) if folder.is_abandoned()? => return Ok(()),
        Err(error) => return Err(error),
    };
    let close = to_line(&ViewerToKeeper::from(Close::default())).map_err(io::Error::other)?;
    stream.write_all(close.as_bytes()).await?;
    let mut rest = vec![0; 16 * 1024];
    while stream.read(&mut rest).await? > 0 {}
    // The socket is closed a moment before the lock is let go of.
    let lock = folder.lock();
    let waited = tokio::task::spawn_blocking(move || Lock::take(&lock, Heirs::None).map(drop));
    waited.await.map_err(io::Error::other)?
}

/// Ends the keeper and the program by force.
fn kill(folder: &TerminalFolder) {
    let Ok(Some(program)) = folder.load_program() else {
        return;
    };
    if shim::start_ticks(program.pid).ok() == Some(program.start_ticks)
        && let Some(pid) = Pid::from_raw(program.pid.cast_signed())
        && let Ok(process) = pidfd_open(pid, PidfdFlags::empty())
    {
        // One that ended meanwhile is what was wanted. The keeper ends with its program.
        let _ = pidfd_send_signal(&process, Signal::KILL);
    }
}

/// Takes away what a keeper would execute, unless one has begun: a late one finds nothing and goes.
fn give_up(folder: &TerminalFolder) {
    let is_begun = matches!(folder.load_program(), Ok(Some(_)));
    if is_begun {
        return;
    }
    if let Ok(Some(_lock)) = Lock::try_take(&folder.lock(), Heirs::None) {
        // **Invariant:** under the lock, and the keeper looks for it under the lock.
        if !matches!(folder.load_program(), Ok(Some(_))) {
            let _ = std::fs::remove_dir_all(folder.path());
        }
    }
}

fn is_long_over(folder: &TerminalFolder) -> bool {
    if !matches!(folder.is_abandoned(), Ok(true)) {
        return false;
    }
    let changed = std::fs::metadata(folder.path()).and_then(|metadata| metadata.modified());
    let age = changed.map(|changed| SystemTime::now().duration_since(changed));
    matches!(age, Ok(Ok(age)) if age > SHOWN)
}

fn kept(folder: &TerminalFolder, record: &TerminalRecord) -> Option<KeptTerminal> {
    let socket = folder.socket();
    let socket = PathText::parse(socket.to_str()?).ok()?;
    Some(KeptTerminal::new(folder.view(record).ok()?, socket))
}

pub(crate) fn held(terminal: &TerminalId) -> ApiError {
    let text = format!(
        "this conversation goes on in the terminal {terminal}: close the terminal, or go on there"
    );
    ApiError::new(ErrorCode::Conflict, text, Retry::Later)
}

fn unknown(id: &TerminalId) -> ApiError {
    let text = format!("there is no terminal {id} on this machine");
    ApiError::new(ErrorCode::UnknownTerminal, text, Retry::Never)
}

fn unreadable() -> ApiError {
    let text = "the terminal was started and cannot be looked at".to_owned();
    ApiError::new(ErrorCode::Internal, text, Retry::Later)
}

#[cfg(test)]
#[path = "shelf_tests.rs"]
mod tests;
