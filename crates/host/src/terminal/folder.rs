//! The folder of a terminal: what is executed, who keeps it, and how it ended.
//!
//! ```text
//! <data>/terminals/<id>/{terminal.json, launch.json, lock, sock, program.json, exit.json}
//! ```
//!
//! The lock is held for as long as the keeper lives; where the agent runs, it inherits the lock, so that it is held for as
//! long as anybody may write to the conversation. `docs/design/terminals.md` has the crash windows.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use estelle_proto::terminals::{Terminal, TerminalKind, TerminalSize, TerminalState};
use estelle_proto::{ClaudeSessionId, ConversationId, PathText, TerminalId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::run::lock::Lock;
use crate::run::{ExitRecord, LaunchRecord, read_record, write_record};

/// What a terminal is; written before anything is started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TerminalRecord {
    /// Which.
    pub terminal_id: TerminalId,
    /// What runs in it.
    pub kind: TerminalKind,
    /// Where it began.
    pub working_dir: PathText,
    /// How large it begins.
    pub size: TerminalSize,
    /// When.
    pub created_at: Timestamp,
    /// The conversation that it holds.
    pub conversation: Option<ConversationId>,
    /// The agent's session in it.
    pub session: Option<ClaudeSessionId>,
}

/// The program in a terminal, once it is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProgramRecord {
    /// The keeper.
    pub keeper_pid: u32,
    /// The program.
    pub pid: u32,
    /// Its start time in clock ticks after boot, which with the pid names a process for good.
    pub start_ticks: u64,
}

/// The folder of one terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerminalFolder {
    path: PathBuf,
}

impl TerminalFolder {
    /// Makes the folder, with what is to be executed.
    pub fn create(all: &Path, record: &TerminalRecord, launch: &LaunchRecord) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(all)?;
        let path = all.join(record.terminal_id.as_str());
        DirBuilder::new().mode(0o700).create(&path)?;
        let folder = Self { path };
        write_record(&folder.path.join(LAUNCH), launch)?;
        write_record(&folder.path.join(TERMINAL), record)?;
        Ok(folder)
    }

    /// A folder that exists.
    pub fn open(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where its keeper listens.
    pub fn socket(&self) -> PathBuf {
        self.path.join("sock")
    }

    /// Held while the terminal lives.
    pub fn lock(&self) -> PathBuf {
        self.path.join("lock")
    }

    /// What it is, if it was begun.
    pub fn load(&self) -> io::Result<Option<TerminalRecord>> {
        read_record(&self.path.join(TERMINAL))
    }

    /// What is to be executed; nothing once it was given up.
    pub fn load_launch(&self) -> io::Result<Option<LaunchRecord>> {
        read_record(&self.path.join(LAUNCH))
    }

    /// The program, once it is there.
    pub fn load_program(&self) -> io::Result<Option<ProgramRecord>> {
        read_record(&self.path.join(PROGRAM))
    }

    /// How its program ended, once it has.
    pub fn load_exit(&self) -> io::Result<Option<ExitRecord>> {
        read_record(&self.path.join(EXIT))
    }

    pub(super) fn store_program(&self, program: ProgramRecord) -> io::Result<()> {
        write_record(&self.path.join(PROGRAM), &program)
    }

    pub(super) fn store_exit(&self, exit: ExitRecord) -> io::Result<()> {
        write_record(&self.path.join(EXIT), &exit)
    }

    /// Whether its program may still run: its end was not written down and the lock is held.
    pub fn is_alive(&self) -> io::Result<bool> {
        Ok(!self.path.join(EXIT).exists() && Lock::is_held(&self.lock())?)
    }

    /// Whether nobody is left that could write here: neither keeper nor agent.
    pub fn is_abandoned(&self) -> io::Result<bool> {
        Ok(!Lock::is_held(&self.lock())?)
    }

    /// The terminal as others see it.
    pub fn view(&self, record: &TerminalRecord) -> io::Result<Terminal> {
        let exit = self.load_exit()?;
        let state = match exit {
            Some(_) => TerminalState::Ended,
            None if Lock::is_held(&self.lock())? => TerminalState::Running,
            // The end may have been written down between the two looks.
            None if self.load_exit()?.is_some() => TerminalState::Ended,
            None => TerminalState::Lost,
        };
        let exit = exit.or(self.load_exit()?);
        let mut terminal = Terminal::new(
            record.terminal_id.clone(),
            record.kind.clone(),
            record.working_dir.clone(),
            state,
            record.created_at,
        );
        terminal.conversation_id.clone_from(&record.conversation);
        match exit {
            Some(ExitRecord::Code(code)) => terminal.exit_code = Some(code),
            Some(ExitRecord::Signal(signal)) => terminal.signal = Some(signal),
            None => {}
        }
        Ok(terminal)
    }
}

const TERMINAL: &str = "terminal.json";
const LAUNCH: &str = "launch.json";
const PROGRAM: &str = "program.json";
const EXIT: &str = "exit.json";
