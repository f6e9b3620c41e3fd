//! Outside commands of a deploy: run on a leash, within a limit, with their output as lines.
//!
//! The leash is a process of ours that starts the command and holds its end of a pipe. When the pipe closes, because the
//! command is to end or because the Pylon was killed, the leash ends everything that the command has started.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, Command};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Bytes of a line that are kept.
const LINE: usize = 4096;
/// Bytes of an output that somebody wants to read.
const CAPTURED: usize = 64 * 1024;
/// How long a command that is to end may take for it.
const DYING: Duration = Duration::from_secs(10);

/// Why a command did not do what it should.
#[derive(Debug, thiserror::Error)]
pub(super) enum CommandError {
    #[error("`{name}` cannot be run: {source}")]
    Spawn { name: String, source: io::Error },
    #[error("`{name}` failed ({status})")]
    Failed { name: String, status: ExitStatus },
    #[error("`{name}` took longer than {} s", limit.as_secs())]
    Slow { name: String, limit: Duration },
    #[error("cancelled")]
    Cancelled,
}

/// A command.
#[derive(Debug, Clone)]
pub(super) struct Spec {
    /// How people call it.
    pub(super) name: String,
    /// The program and its arguments.
    pub(super) words: Vec<OsString>,
    pub(super) folder: PathBuf,
    /// Variables beside those of the Pylon.
    pub(super) environment: Vec<(&'static str, OsString)>,
}

/// What all commands have in common.
#[derive(Debug, Clone)]
pub(super) struct Runner {
    pub(super) leash: Vec<OsString>,
    pub(super) limit: Duration,
    pub(super) lines: mpsc::Sender<String>,
    pub(super) stop: CancellationToken,
}

impl Runner {
    /// Runs a command; all that it prints is logged.
    pub(super) async fn run(&self, spec: Spec) -> Result<(), CommandError> {
        self.carry_out(spec, Output::Logged).await.map(drop)
    }

    /// Runs a command, and gives what it prints to its standard output.
    pub(super) async fn capture(&self, spec: Spec) -> Result<String, CommandError> {
        let text = self.carry_out(spec, Output::Captured).await?;
        Ok(text.trim().to_owned())
    }

    async fn carry_out(&self, spec: Spec, output: Output) -> Result<String, CommandError> {
        let name = spec.name.clone();
        let failed = |source| CommandError::Spawn {
            name: name.clone(),
            source,
        };
        let mut child = self.command(&spec).spawn().map_err(failed)?;
        // Held open: closing it is how everything ends.
        let leash = child.stdin.take();
        let (out, err) = (child.stdout.take(), child.stderr.take());
        let reading = async {
            let (text, ()) = tokio::join!(self.read(out, output), async {
                self.read(err, Output::Logged).await;
            });
            let status = child.wait().await;
            (text, status)
        };
        let limit = self.limit;
        let ended = tokio::select! {
            () = self.stop.cancelled() => Err(CommandError::Cancelled),
            ended = tokio::time::timeout(limit, reading) => {
                ended.map_err(|_| CommandError::Slow { name: name.clone(), limit })
            }
        };
        match ended {
            Ok((text, Ok(status))) if status.success() => Ok(text),
            Ok((_, Ok(status))) => Err(CommandError::Failed { name, status }),
            Ok((_, Err(source))) => Err(CommandError::Spawn { name, source }),
            Err(error) => {
                drop(leash);
                bury(child).await;
                Err(error)
            }
        }
    }

    fn command(&self, spec: &Spec) -> Command {
        let mut words = self.leash.iter().chain(&spec.words);
        let mut command = Command::new(words.next().cloned().unwrap_or_default());
        command
            .args(words)
            .current_dir(&spec.folder)
            .envs(spec.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        command
    }

    /// Reads an output to its end.
    async fn read(&self, from: Option<impl AsyncRead + Unpin>, output: Output) -> String {
        let Some(mut from) = from else {
            return String::new();
        };
        let mut buffer = vec![0; 16 * 1024];
        let (mut line, mut text) = (Vec::new(), Vec::new());
        while let Ok(count) = from.read(&mut buffer).await {
            let bytes = buffer.get(..count).unwrap_or_default();
            if bytes.is_empty() {
                break;
            }
            match output {
                Output::Captured => {
                    let room = CAPTURED.saturating_sub(text.len());
                    text.extend(bytes.iter().take(room));
                }
                Output::Logged => self.log(bytes, &mut line).await,
            }
        }
        if !line.is_empty() {
            self.log(b"\n", &mut line).await;
        }
        String::from_utf8_lossy(&text).into_owned()
    }

    /// Takes whole lines out of what came. Programs that draw over a line write many.
    async fn log(&self, bytes: &[u8], line: &mut Vec<u8>) {
        for byte in bytes {
            match byte {
                b'\n' | b'\r' => {
                    let text = String::from_utf8_lossy(line).trim_end().to_owned();
                    line.clear();
                    if !text.is_empty() {
                        // Whoever reads the lines ends with us.
                        let _ = self.lines.send(text).await;
                    }
                }
                _ if line.len() < LINE => line.push(*byte),
                _ => {}
            }
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Output {
    Logged,
    Captured,
}

/// Waits until a command whose leash is loose has ended.
async fn bury(mut child: Child) {
    if tokio::time::timeout(DYING, child.wait()).await.is_err() {
        tracing::warn!("a command of a deploy does not end");
        let _ = child.start_kill();
    }
}
