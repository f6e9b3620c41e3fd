//! The keeper: a small process that holds the PTY of one terminal, so that the terminal outlives host and Pylon.
//!
//! It takes the lock, starts the program on a PTY of its own, keeps a model of the screen and serves whoever connects to
//! its socket. A request to end does not end it: it ends a while after its program. Killed, it takes the terminal with it;
//! the program gets the hang-up that every program gets whose terminal goes.

use std::collections::VecDeque;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use estelle_proto::keeper::{KeeperEnded, KeeperHello, ViewerToKeeper};
use estelle_proto::terminals::{TerminalSize, TerminalState};
use estelle_proto::{ApiError, ErrorCode, ErrorReport, Retry, limits};
use pty_process::{OwnedReadPty, OwnedWritePty, Size};
use rustix::process::{Pid, Signal, getpid, kill_process_group, set_child_subreaper, setsid};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::audience::Audience;
use super::connection::{Said, ViewerId};
use super::filter::{Filter, Part};
use super::folder::{ProgramRecord, TerminalFolder};
use super::screen::Screen;
use super::typing;
use crate::run::lock::{Heirs, Lock};
use crate::run::{ExitRecord, shim};

/// What may wait until the program reads it.
const MAX_TYPED: usize = 64 * 1024;
/// What is read from the program at once.
const READ: usize = 16 * 1024;
/// Messages of viewers that may wait.
const SAID: usize = 256;
/// How long the last screen can be seen after the program ended.
const LINGER: Duration = Duration::from_mins(10);
/// How long the program has to end when the terminal is closed.
const GRACE: Duration = Duration::from_secs(2);

/// How the line begins that says that there is no PTY.
const NO_PTY: &str = "the system has no free PTY";

/// Why there is no terminal.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeepError {
    /// The folder, the lock or the socket is not to be had.
    #[error("the terminal's folder cannot be used")]
    Folder(#[from] io::Error),
    /// The system has no further PTY.
    #[error("{NO_PTY}: close terminals, or raise kernel.pty.max")]
    Pty(#[source] pty_process::Error),
    /// The program cannot be started.
    #[error("failed to start {program}")]
    Program {
        /// Which.
        program: String,
        /// Why.
        #[source]
        source: pty_process::Error,
    },
}

/// What the host is told on standard output: one line.
const READY: &str = "ready";

/// Keeps a terminal to its end. `report` takes one line: `READY`, or why there is no terminal.
pub fn run(folder: &TerminalFolder, report: impl FnOnce(&str)) -> io::Result<()> {
    // A keeper that already leads a session is as good.
    let _ = setsid();
    // Whoever started the host may have left something open; nothing of it is for the program.
    close_fds::set_fds_cloexec(3, &[]);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        match Keeper::start(folder) {
            Ok(Some(keeper)) => {
                report(READY);
                keeper.keep().await;
            }
            // Given up, or kept by another.
            Ok(None) => report("this terminal was given up"),
            Err(error) => {
                let source = std::error::Error::source(&error);
                let why = source.map_or_else(String::new, |source| format!(": {source}"));
                report(&format!("{error}{why}"));
            }
        }
        Ok(())
    })
}

/// Whether a line of a keeper says that the terminal is there.
pub(super) fn is_ready(line: &str) -> bool {
    line.trim_end() == READY
}

/// Whether a line of a keeper says that the system gives no further terminal.
pub(super) fn is_exhausted(line: &str) -> bool {
    line.starts_with(NO_PTY)
}

struct Keeper {
    folder: TerminalFolder,
    reader: OwnedReadPty,
    writer: OwnedWritePty,
    child: tokio::process::Child,
    program: Option<u32>,
    filter: Filter,
    screen: Screen,
    typed: VecDeque<u8>,
    listener: UnixListener,
    audience: Audience,
    said: (mpsc::Sender<FromViewer>, mpsc::Receiver<FromViewer>),
    ended: Option<KeeperEnded>,
    /// Nothing more comes from the program.
    is_quiet: bool,
    /// When what is being closed is killed, or the keeper goes.
    deadline: Option<Instant>,
    is_closing: bool,
    _lock: Lock,
}

/// What a viewer said.
type FromViewer = (ViewerId, Said);

/// What happens next.
enum Input {
    Printed(Vec<u8>),
    Quiet,
    Wrote(usize),
    Exited(ExitRecord),
    Came(tokio::net::UnixStream),
    Said(ViewerId, Said),
    Orphan,
    Due,
}

impl Keeper {
    /// Within a runtime: it listens from the first moment.
    fn start(folder: &TerminalFolder) -> Result<Option<Self>, KeepError> {
        let Some(record) = folder.load()? else {
            return Ok(None);
        };
        // The agent keeps the lock as well: while it lives, nobody else may write to the conversation.
        let heirs = match record.session {
            Some(_) => Heirs::Children,
            None => Heirs::None,
        };
        let Some(lock) = Lock::try_take(&folder.lock(), heirs)? else {
            return Ok(None);
        };
        // **Invariant:** looked for under the lock, and taken away under it by whoever gives a terminal up.
        let Some(launch) = folder.load_launch()? else {
            return Ok(None);
        };
        if folder.load_program()?.is_some() {
            return Ok(None);
        }
        set_child_subreaper(Some(getpid())).map_err(io::Error::from)?;
        let listener = bind(folder)?;
        let (pty, pts) = pty_process::open().map_err(KeepError::Pty)?;
        pty.resize(Size::new(record.size.rows, record.size.cols))
            .map_err(KeepError::Pty)?;
        let child = pty_process::Command::new(&launch.program)
            .args(&launch.args)
            .env_clear()
            .envs(&launch.env)
            .current_dir(&launch.cwd)
            .kill_on_drop(false)
            .spawn(pts)
            .map_err(|source| KeepError::Program {
                program: launch.program.display().to_string(),
                source,
            })?;
        let program = child.id();
        folder.store_program(ProgramRecord {
            keeper_pid: std::process::id(),
            pid: program.unwrap_or(0),
            start_ticks: program.map_or(Ok(0), shim::start_ticks).unwrap_or(0),
        })?;
        let (reader, writer) = pty.into_split();
        Ok(Some(Self {
            folder: folder.clone(),
            reader,
            writer,
            child,
            program,
            filter: Filter::new(),
            screen: Screen::new(&record.size),
            typed: VecDeque::new(),
            listener,
            audience: Audience::default(),
            said: mpsc::channel(SAID),
            ended: None,
            is_quiet: false,
            deadline: None,
            is_closing: false,
            _lock: lock,
        }))
    }

    async fn keep(mut self) {
        // Handlers that do nothing: a request to end does not end a terminal.
        let deaf = [
            SignalKind::terminate(),
            SignalKind::hangup(),
            SignalKind::interrupt(),
        ];
        let _deaf: Vec<_> = deaf
            .into_iter()
            .filter_map(|kind| signal(kind).ok())
            .collect();
        let mut orphans = signal(SignalKind::child()).ok();
        loop {
            if self.is_over() {
                break;
            }
            match self.next(&mut orphans).await {
                Input::Printed(bytes) => self.on_printed(&bytes),
                Input::Quiet => self.is_quiet = true,
                Input::Wrote(count) => drop(self.typed.drain(..count)),
                Input::Exited(exit) => self.on_exited(exit).await,
                Input::Came(stream) => self.on_came(stream),
                Input::Said(viewer, said) => self.on_said(viewer, said),
                Input::Orphan => self.reap(),
                Input::Due => self.on_due(),
            }
        }
        let _ = std::fs::remove_file(self.folder.socket());
        // Whoever looks is told the rest; a viewer that does not read is not waited for.
        drop(self.said);
        let _ = tokio::time::timeout(GRACE, self.audience.dismiss()).await;
    }

    /// Closed and ended, or ended long ago.
    fn is_over(&self) -> bool {
        let is_late = self
            .deadline
            .is_some_and(|deadline| deadline <= Instant::now());
        self.ended.is_some() && (self.is_closing || is_late)
    }

    async fn next(&mut self, orphans: &mut Option<tokio::signal::unix::Signal>) -> Input {
        let mut buffer = vec![0; READ];
        let (is_quiet, has_ended, deadline) = (self.is_quiet, self.ended.is_some(), self.deadline);
        let Self {
            said,
            listener,
            writer,
            reader,
            child,
            typed,
            ..
        } = self;
        let typed = typed.as_slices().0;
        tokio::select! {
            biased;
            // What people say comes first: a program that floods us can be interrupted.
            Some((viewer, said)) = said.1.recv() => Input::Said(viewer, said),
            Ok((stream, _)) = listener.accept() => Input::Came(stream),
            wrote = writer.write(typed), if !typed.is_empty() && !is_quiet => Input::Wrote(wrote.unwrap_or(typed.len())),
            read = reader.read(&mut buffer), if !is_quiet => match read {
                Ok(count @ 1..) => {
                    buffer.truncate(count);
                    Input::Printed(buffer)
                }
                // The last descriptor of the other side was closed.
                Ok(0) | Err(_) => Input::Quiet,
            },
            exit = child.wait(), if !has_ended => Input::Exited(exit_of(&exit)),
            Some(()) = async { match orphans {
                Some(orphans) => orphans.recv().await,
                None => None,
            } } => Input::Orphan,
            () = async { tokio::time::sleep_until(deadline.unwrap_or_else(Instant::now)).await }, if deadline.is_some() => Input::Due,
        }
    }

    fn on_printed(&mut self, bytes: &[u8]) {
        for part in self.filter.feed(bytes) {
            match part {
                Part::Show(text) => self.audience.show(&mut self.screen, &text),
                Part::Asked(query) => {
                    let answer = typing::answer(query, self.screen.cursor());
                    // A program that asks and does not read is not answered.
                    let _ = self.type_in(&answer);
                }
            }
        }
    }

    fn type_in(&mut self, text: &str) -> Result<(), ApiError> {
        if self.ended.is_some() {
            return Err(refusal(ErrorCode::Conflict, "the terminal has ended"));
        }
        if self.typed.len() + text.len() > MAX_TYPED {
            let what = "the program does not read what is typed; nothing of this was typed";
            return Err(refusal(ErrorCode::RateLimited, what));
        }
        self.typed.extend(text.as_bytes());
        Ok(())
    }

    async fn on_exited(&mut self, exit: ExitRecord) {
        // With the last that has the terminal open ends its output, and all of it is shown before the end is told.
        shim::end_orphans();
        while !self.is_quiet {
            let mut buffer = vec![0; READ];
            let read = tokio::time::timeout(GRACE, self.reader.read(&mut buffer)).await;
            match read {
                Ok(Ok(count @ 1..)) => self.on_printed(&buffer[..count]),
                Ok(Ok(0) | Err(_)) | Err(_) => self.is_quiet = true,
            }
        }
        if let Err(error) = self.folder.store_exit(exit) {
            tracing::warn!(%error, "the end of a terminal is not written down");
        }
        let ended = match exit {
            ExitRecord::Code(code) => KeeperEnded {
                exit_code: Some(code),
                ..KeeperEnded::new(TerminalState::Ended)
            },
            ExitRecord::Signal(signal) => KeeperEnded {
                signal: Some(signal),
                ..KeeperEnded::new(TerminalState::Ended)
            },
        };
        self.audience.tell_all(&ended.clone().into());
        self.ended = Some(ended);
        self.typed.clear();
        self.deadline = Some(Instant::now() + LINGER);
    }

    fn on_came(&mut self, stream: tokio::net::UnixStream) {
        let own = rustix::process::geteuid().as_raw();
        let is_welcome = stream
            .peer_cred()
            .is_ok_and(|peer| [own, 0].contains(&peer.uid()));
        if is_welcome {
            let hello = KeeperHello {
                program_pid: self.program,
                ..KeeperHello::new(limits::KEEPER_PROTOCOL, std::process::id())
            };
            self.audience.admit(stream, &hello.into(), &self.said.0);
        }
    }

    fn on_said(&mut self, id: ViewerId, said: Said) {
        let outcome = match said {
            Said::Gone => {
                return self.audience.leave(id);
            }
            Said::Refused(error) => Err(ErrorReport::from(error)),
            Said::Message(message) => {
                let about = message.kind().to_owned();
                self.obey(id, message).map_err(|error| ErrorReport {
                    about: Some(about),
                    ..error.into()
                })
            }
        };
        if let Err(report) = outcome {
            self.audience.tell(id, &report.into());
        }
        self.audience.refresh(&mut self.screen);
    }

    fn obey(&mut self, id: ViewerId, message: ViewerToKeeper) -> Result<(), ApiError> {
        match message {
            ViewerToKeeper::Attach(wish) => {
                if let Some(size) = wish.size {
                    self.resize(&size)?;
                }
                self.on_attached(id);
            }
            ViewerToKeeper::Input(input) => {
                if input.data.len() > limits::MAX_TERMINAL_INPUT_BYTES {
                    let text = "more is typed at once than a terminal takes: paste it in parts";
                    return Err(refusal(ErrorCode::TooLarge, text));
                }
                let mut text = input.data;
                if input.paste == Some(true) {
                    text = typing::pasted(&text);
                    if self.screen.marks_pastes() {
                        text = typing::marked(&text);
                    }
                }
                self.type_in(&text)?;
            }
            ViewerToKeeper::Resize(resize) => self.resize(&resize.size)?,
            ViewerToKeeper::Ack(ack) => self.audience.acknowledge(id, ack.frame),
            ViewerToKeeper::Close(close) => {
                self.close(close.grace_ms.map_or(GRACE, Duration::from_millis));
            }
            ViewerToKeeper::Unknown(object) => {
                let text = format!(
                    "a terminal does not know `{}`",
                    limits::cut(&object.kind, 64)
                );
                return Err(ApiError::new(ErrorCode::UnknownType, text, Retry::Never));
            }
        }
        Ok(())
    }

    fn on_attached(&mut self, id: ViewerId) {
        self.audience.look(id, &mut self.screen);
        if let Some(ended) = self.ended.clone() {
            self.audience.tell(id, &ended.into());
        }
    }

    /// Everybody sees the screen in its new size.
    fn resize(&mut self, size: &TerminalSize) -> Result<(), ApiError> {
        if !size.is_usable() {
            let (cols, rows) = (limits::MAX_TERMINAL_COLS, limits::MAX_TERMINAL_ROWS);
            let text = format!("a terminal has 2 to {cols} columns and 2 to {rows} rows");
            return Err(ApiError::new(ErrorCode::InvalidMessage, text, Retry::Never));
        }
        if *size == self.screen.size() {
            return Ok(());
        }
        self.screen.resize(size);
        // One whose program is gone keeps its last screen.
        let _ = self.writer.resize(Size::new(size.rows, size.cols));
        self.audience.outdate();
        Ok(())
    }

    /// Asks everything in the terminal to end, as a terminal does whose window is closed.
    fn close(&mut self, grace: Duration) {
        self.is_closing = true;
        if self.ended.is_none() {
            self.signal(Signal::HUP);
            self.signal(Signal::CONT);
            self.deadline = Some(Instant::now() + grace);
        }
    }

    fn on_due(&mut self) {
        if self.ended.is_none() {
            self.signal(Signal::KILL);
            self.deadline = None;
        }
    }

    /// To the program, and to what it has in the foreground.
    fn signal(&self, signal: Signal) {
        let program = self
            .program
            .and_then(|pid| Pid::from_raw(pid.cast_signed()));
        let foreground = self.program.and_then(shim::foreground_of);
        for group in program.into_iter().chain(foreground) {
            // One that ended meanwhile is what was wanted.
            let _ = kill_process_group(group, signal);
        }
    }

    /// Takes note of the end of what was adopted, so that it does not stay behind as a zombie.
    fn reap(&self) {
        shim::reap_adopted(self.program);
    }
}

fn refusal(code: ErrorCode, text: &str) -> ApiError {
    let retry = if code == ErrorCode::RateLimited {
        Retry::Later
    } else {
        Retry::Never
    };
    ApiError::new(code, text.to_owned(), retry)
}

fn exit_of(status: &io::Result<std::process::ExitStatus>) -> ExitRecord {
    use std::os::unix::process::ExitStatusExt as _;
    match status {
        Ok(status) => match (status.code(), status.signal()) {
            (Some(code), _) => ExitRecord::Code(code),
            (None, signal) => ExitRecord::Signal(signal.unwrap_or(0)),
        },
        // Somebody else has waited for it, which nobody but this process can.
        Err(_) => ExitRecord::Signal(0),
    }
}

/// Made beside its place and moved there, readable for nobody else.
fn bind(folder: &TerminalFolder) -> io::Result<UnixListener> {
    let (path, beside) = (folder.socket(), folder.path().join("new"));
    let _ = std::fs::remove_file(&beside);
    let listener = UnixListener::bind(&beside)?;
    std::fs::set_permissions(&beside, std::fs::Permissions::from_mode(0o600))?;
    std::fs::rename(&beside, &path)?;
    Ok(listener)
}
