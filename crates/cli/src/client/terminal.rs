//! `estelle terminal`: shells and the agent's own interface on a machine, in the terminal at hand.
//!
//! The terminal at hand is put into raw mode and given back as it was, whatever happens. What comes was filtered where it
//! was printed, so that it reaches nothing but the screen.

use std::io::{IsTerminal as _, Read as _, Write as _};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use estelle_proto::terminals::{
    TerminalAck, TerminalAttach, TerminalClose, TerminalCreate, TerminalDetach, TerminalEnded,
    TerminalInput, TerminalKind, TerminalList, TerminalOutput, TerminalResize, TerminalSize,
    TerminalState,
};
use estelle_proto::{DeviceId, PathText, Prompt, PylonToApp, RelayToDevice, TerminalId, limits};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use super::failure::{EXIT_CODES, Failure};
use super::fleet::Fleet;
use super::link::{Heard, Link};
use super::print_json;
use super::way::ClientArgs;

/// The key that leaves a terminal: Ctrl-].
const LEAVE: char = '\u{1d}';
/// What is read from the keyboard at once.
const KEYS: usize = 8 * 1024;
/// Reads ahead of the keyboard.
const AHEAD: usize = 4;

/// Use a shell, or the agent's own interface, on a machine.
///
/// A terminal goes on when you leave it (Ctrl-]), and when Estelle is restarted. What is typed there runs at once: nobody
/// is asked.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct TerminalArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List the terminals of a machine.
    Ls {
        #[command(flatten)]
        client: ClientArgs,
    },
    /// Open a shell and look at it.
    Open {
        #[command(flatten)]
        client: ClientArgs,
        /// The folder on the machine; the current one if nothing is said.
        folder: Option<std::path::PathBuf>,
    },
    /// Go on with a conversation in the agent's own interface.
    Agent {
        #[command(flatten)]
        client: ClientArgs,
        /// The conversation, by its name, its id or the beginning of either.
        conversation: String,
        /// What to say to the agent first.
        prompt: Option<String>,
    },
    /// Look at a terminal.
    Attach {
        #[command(flatten)]
        client: ClientArgs,
        /// Its id.
        id: TerminalId,
    },
    /// End a terminal and everything that runs in it.
    Close {
        #[command(flatten)]
        client: ClientArgs,
        /// Its id.
        id: TerminalId,
    },
}

pub(super) async fn run(args: &TerminalArgs) -> anyhow::Result<ExitCode> {
    match &args.what {
        What::Ls { client } => list(client).await,
        What::Open { client, folder } => {
            let folder = match folder {
                Some(folder) => std::path::absolute(folder)?,
                None => std::env::current_dir().context("failed to find the current folder")?,
            };
            let folder = folder
                .to_str()
                .context("the path of the folder is no text")?;
            let wish = TerminalCreate {
                path: Some(PathText::parse(folder)?),
                ..TerminalCreate::new(TerminalKind::Shell, size())
            };
            let (link, fleet) = Fleet::reach(client).await?;
            open(link, fleet.one()?.id, wish).await
        }
        What::Agent {
            client,
            conversation,
            prompt,
        } => {
            let (link, fleet) = Fleet::reach(client).await?;
            let spot = fleet.conversation(conversation)?;
            let prompt = prompt.as_deref().map(Prompt::parse).transpose();
            let wish = TerminalCreate {
                conversation_id: Some(spot.conversation),
                prompt: prompt.context("the prompt")?,
                ..TerminalCreate::new(TerminalKind::Agent, size())
            };
            open(link, spot.pylon, wish).await
        }
        What::Attach { client, id } => {
            let (link, fleet) = Fleet::reach(client).await?;
            look(link, fleet.one()?.id, id.clone()).await
        }
        What::Close { client, id } => {
            let (mut link, fleet) = Fleet::reach(client).await?;
            link.ask(fleet.one()?.id, TerminalClose::new(id.clone()))
                .await?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

async fn list(client: &ClientArgs) -> anyhow::Result<ExitCode> {
    let (mut link, fleet) = Fleet::reach(client).await?;
    let list = link.ask(fleet.one()?.id, TerminalList::default()).await?;
    if client.json {
        print_json(&list)?;
        return Ok(ExitCode::SUCCESS);
    }
    for terminal in &list.terminals {
        let end = match (terminal.exit_code, terminal.signal) {
            (Some(code), _) => format!(" with {code}"),
            (None, Some(signal)) => format!(" by signal {signal}"),
            (None, None) => String::new(),
        };
        anstream::println!(
            "{}  {}  {}{end}  {}",
            terminal.terminal_id,
            terminal.kind,
            terminal.state,
            terminal.working_dir
        );
    }
    Ok(ExitCode::SUCCESS)
}

async fn open(mut link: Link, pylon: DeviceId, wish: TerminalCreate) -> anyhow::Result<ExitCode> {
    let made = link.ask(pylon, wish).await?;
    let made = made
        .terminal
        .context("the machine did not say what it made")?;
    look(link, pylon, made.terminal_id).await
}

/// How large the terminal at hand is.
fn size() -> TerminalSize {
    let size = tcgetwinsize(std::io::stdout())
        .map(|size| TerminalSize::new(size.ws_col, size.ws_row))
        .ok();
    size.filter(TerminalSize::is_usable)
        .unwrap_or_else(|| TerminalSize::new(80, 24))
}

/// The terminal at hand without its own ideas about keys, until this is dropped.
struct Raw(Option<Termios>);

impl Raw {
    fn begin() -> anyhow::Result<Self> {
        let stdin = std::io::stdin();
        if !stdin.is_terminal() {
            return Ok(Self(None));
        }
        let before = tcgetattr(&stdin).context("the terminal cannot be looked at")?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(&stdin, OptionalActions::Now, &raw).context("the terminal cannot be used")?;
        Ok(Self(Some(before)))
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            // Modes that the program may have left, then the terminal's own.
            let _ = std::io::stdout().write_all(RESTORE.as_bytes());
            let _ = std::io::stdout().flush();
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, before);
        }
    }
}

/// The first screen, a visible cursor, no mouse, no marked pastes, no colours.
const RESTORE: &str =
    "\x1b[?1049l\x1b[?25h\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[!p\x1b[m\r\n";

/// A cleared terminal, before a whole screen is shown.
const CLEAR: &str = "\x1b[?1049l\x1b[!p\x1b[m\x1b[H\x1b[2J";

/// One look at a terminal.
struct Look {
    link: Link,
    pylon: DeviceId,
    id: TerminalId,
}

async fn look(mut link: Link, pylon: DeviceId, id: TerminalId) -> anyhow::Result<ExitCode> {
    let attach = TerminalAttach {
        size: std::io::stdout().is_terminal().then(size),
        ..TerminalAttach::new(id.clone())
    };
    link.ask(pylon, attach).await?;
    anstream::eprintln!("{id}: what is typed here runs at once, nobody is asked. Ctrl-] leaves.");
    let mut look = Look { link, pylon, id };
    let raw = Raw::begin()?;
    let ended = look.run().await;
    drop(raw);
    match ended? {
        Ending::Left => {
            anstream::eprintln!("left {}; it goes on", look.id);
            Ok(ExitCode::SUCCESS)
        }
        Ending::Program(ended) => Ok(told(&ended)),
    }
}

/// Why a look is over.
enum Ending {
    Left,
    Program(TerminalEnded),
}

fn told(ended: &TerminalEnded) -> ExitCode {
    let code = match (&ended.state, ended.exit_code, ended.signal) {
        (TerminalState::Lost, _, _) => {
            anstream::eprintln!("the terminal is lost: its keeper was killed");
            return ExitCode::FAILURE;
        }
        (_, Some(code), _) => code,
        (_, None, Some(signal)) => 128 + signal,
        (_, None, None) => 1,
    };
    u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from)
}

impl Look {
    async fn run(&mut self) -> anyhow::Result<Ending> {
        let mut keys = keys()?;
        let mut resized = signal(SignalKind::window_change())?;
        let mut has_keys = true;
        loop {
            tokio::select! {
                typed = keys.recv(), if has_keys => match typed {
                    Some(typed) => {
                        if self.typed(typed).await? {
                            return Ok(Ending::Left);
                        }
                    }
                    None => has_keys = false,
                },
                heard = self.link.next() => {
                    if let Some(ended) = self.heard(heard?).await? {
                        return Ok(Ending::Program(ended));
                    }
                }
                Some(()) = resized.recv() => {
                    let resize = TerminalResize::new(self.id.clone(), size());
                    self.link.tell(self.pylon, resize).await?;
                }
            }
        }
    }

    /// Says whether somebody wants to leave.
    async fn typed(&mut self, typed: String) -> anyhow::Result<bool> {
        let (before, leaves) = match typed.split_once(LEAVE) {
            Some((before, _)) => (before.to_owned(), true),
            None => (typed, false),
        };
        if !before.is_empty() {
            let input = TerminalInput::new(self.id.clone(), before);
            self.link.tell(self.pylon, input).await?;
        }
        if leaves {
            let detach = TerminalDetach::new(self.id.clone());
            self.link.tell(self.pylon, detach).await?;
        }
        Ok(leaves)
    }

    async fn heard(&mut self, heard: Heard) -> anyhow::Result<Option<TerminalEnded>> {
        let message = match heard {
            Heard::Pylon(from, message) if from == self.pylon => *message,
            Heard::Pylon(..) => return Ok(None),
            Heard::Relay(notice) => {
                self.is_there(&notice)?;
                return Ok(None);
            }
        };
        if let PylonToApp::TerminalOutput(output) = message {
            if output.terminal_id == self.id {
                Self::show(&output)?;
                let ack = TerminalAck::new(self.id.clone(), output.frame);
                self.link.tell(self.pylon, ack).await?;
            }
            return Ok(None);
        }
        if let PylonToApp::TerminalEnded(ended) = message
            && ended.terminal_id == self.id
        {
            return Ok(Some(ended));
        }
        Ok(None)
    }

    /// A machine that went away has forgotten that we look; the terminal goes on there.
    fn is_there(&self, notice: &RelayToDevice) -> Result<(), Failure> {
        let RelayToDevice::DeviceStatus(status) = notice else {
            return Ok(());
        };
        if self.link.is_still_there(self.pylon, &status.devices) {
            return Ok(());
        }
        let id = &self.id;
        let text = format!("the machine went away; `estelle terminal attach {id}` goes on later");
        Err(Failure::away(text))
    }

    fn show(output: &TerminalOutput) -> anyhow::Result<()> {
        let mut out = std::io::stdout().lock();
        if output.screen.is_some() && std::io::stdout().is_terminal() {
            out.write_all(CLEAR.as_bytes())?;
        }
        out.write_all(output.data.as_bytes())?;
        Ok(out.flush()?)
    }
}

/// What is typed, in whole characters. A thread reads, because reading a terminal cannot be cancelled.
fn keys() -> anyhow::Result<mpsc::Receiver<String>> {
    let (sender, receiver) = mpsc::channel(AHEAD);
    let read = move || {
        let mut stdin = std::io::stdin().lock();
        let (mut rest, mut buffer) = (Vec::new(), vec![0; KEYS]);
        // An input that cannot be read is an input that has ended.
        while let Ok(count @ 1..) = stdin.read(&mut buffer) {
            rest.extend_from_slice(&buffer[..count]);
            let whole = whole(&rest);
            let typed = String::from_utf8_lossy(&rest[..whole]).into_owned();
            rest.drain(..whole);
            if !typed.is_empty() && sender.blocking_send(typed).is_err() {
                return;
            }
        }
    };
    const { assert!(KEYS < limits::MAX_TERMINAL_INPUT_BYTES) };
    let thread = std::thread::Builder::new().name("keys".to_owned());
    thread
        .spawn(read)
        .context("failed to start the thread that reads the keyboard")?;
    Ok(receiver)
}

/// How many of these bytes are whole characters, or none at all.
fn whole(bytes: &[u8]) -> usize {
    let ends_early = std::str::from_utf8(bytes)
        .err()
        .filter(|error| error.error_len().is_none());
    // It ends in the middle of a character: the rest is still to come.
    ends_early.map_or(bytes.len(), |error| error.valid_up_to())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_comes_in_two_pieces_is_one_key() {
        let moon = "🌙".as_bytes();
        assert_eq!(whole(&moon[..2]), 0);
        assert_eq!(whole(moon), 4);
        assert_eq!(whole(b"a\xf0"), 1);
        assert_eq!(whole(b"a\xffb"), 3);
    }
}
