//! The CLI as a child process on three pipes.
//!
//! The child leads a process group of its own, so that a terminal's Ctrl-C reaches the caller and not it, and
//! so that ending it ends what it started in the group. Dropping the link ends the child: no orphan, no
//! zombie. What it prints on standard error is kept within a bound and handed to a callback.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use bytes::{BufMut, BytesMut};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio_util::task::AbortOnDropHandle;

use super::unix::ProcessHandle;
use super::{Exit, Link, Process, Progress, Sink, Source, StderrTail, Stop};
use crate::framing::{DEFAULT_LINE_LIMIT, Frame, Splitter};
use crate::line::Line;

/// How long standard error is read on after the process has ended.
const STDERR_GRACE: Duration = Duration::from_millis(200);

/// Takes each piece of standard error as it comes, in whatever sizes the process writes.
pub type StderrCallback = Arc<dyn Fn(&str) + Send + Sync>;

/// How to read what the child prints.
#[derive(Clone)]
pub struct PipesConfig {
    /// The longest line kept.
    pub line_limit: usize,
    /// Who else wants to see standard error.
    pub stderr: Option<StderrCallback>,
}

impl Default for PipesConfig {
    fn default() -> Self {
        Self {
            line_limit: DEFAULT_LINE_LIMIT,
            stderr: None,
        }
    }
}

impl fmt::Debug for PipesConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PipesConfig")
            .field("line_limit", &self.line_limit)
            .finish_non_exhaustive()
    }
}

/// Starts the command with its three standard streams on pipes. Needs a tokio runtime.
pub fn spawn(command: std::process::Command, config: PipesConfig) -> io::Result<Link> {
    let mut command = Command::from(command);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    let mut child = command.spawn()?;
    let handle = child.id().and_then(ProcessHandle::new);
    let (Some(stdin), Some(stdout), Some(stderr)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(io::Error::other("the child has no pipes"));
    };
    let tail = StderrTail::default();
    let reader =
        tokio::runtime::Handle::current().spawn(read_stderr(stderr, tail.clone(), config.stderr));
    Ok(Link {
        source: Box::new(PipeSource {
            stdout,
            splitter: Splitter::with_limit(config.line_limit),
        }),
        sink: Box::new(PipeSink {
            stdin: Some(stdin),
            line: BytesMut::new(),
        }),
        process: Box::new(PipeProcess {
            child,
            handle,
            exit: None,
            tail,
            stderr: AbortOnDropHandle::new(reader),
        }),
    })
}

async fn read_stderr(mut stderr: ChildStderr, tail: StderrTail, callback: Option<StderrCallback>) {
    let mut chunk = [0; 4096];
    let mut text = Vec::new();
    while let Ok(length @ 1..) = stderr.read(&mut chunk).await {
        tail.push(&chunk[..length]);
        if let Some(callback) = &callback {
            text.extend_from_slice(&chunk[..length]);
            // The rest of a character that was cut comes with the next piece.
            let rest = text.split_off(text.len() - cut_character(&text));
            callback(&String::from_utf8_lossy(&text));
            text = rest;
        }
    }
    if let Some(callback) = callback.filter(|_| !text.is_empty()) {
        callback(&String::from_utf8_lossy(&text));
    }
}

/// How many bytes at the end are the beginning of a UTF-8 character.
fn cut_character(bytes: &[u8]) -> usize {
    let last = bytes.iter().rev().take(3);
    let start = last.enumerate().find(|(_, byte)| **byte & 0xC0 != 0x80);
    match start {
        Some((behind, first)) if first.leading_ones() as usize > behind + 1 => behind + 1,
        Some(_) | None => 0,
    }
}

struct PipeSource {
    stdout: ChildStdout,
    splitter: Splitter,
}

impl Source for PipeSource {
    fn read<'a>(
        &'a mut self,
        frames: &'a mut VecDeque<Frame>,
    ) -> BoxFuture<'a, io::Result<Progress>> {
        async move {
            let length = self.stdout.read_buf(self.splitter.buffer()).await?;
            frames.extend(std::iter::from_fn(|| self.splitter.next_frame()));
            if length > 0 {
                return Ok(Progress::More);
            }
            frames.extend(self.splitter.finish());
            Ok(Progress::Ended)
        }
        .boxed()
    }
}

struct PipeSink {
    stdin: Option<ChildStdin>,
    line: BytesMut,
}

impl Sink for PipeSink {
    fn write<'a>(&'a mut self, line: &'a Line) -> BoxFuture<'a, io::Result<()>> {
        async move {
            let Some(stdin) = &mut self.stdin else {
                return Err(io::Error::new(
                    io::ErrorKind::BrokenPipe,
                    "the input was closed",
                ));
            };
            self.line.clear();
            self.line.put_slice(line.as_bytes());
            self.line.put_u8(b'\n');
            stdin.write_all(&self.line).await?;
            stdin.flush().await
        }
        .boxed()
    }

    fn close(&mut self) -> BoxFuture<'_, ()> {
        self.stdin = None;
        futures_util::future::ready(()).boxed()
    }
}

struct PipeProcess {
    child: Child,
    handle: Option<ProcessHandle>,
    exit: Option<Exit>,
    tail: StderrTail,
    /// Reads standard error until it ends.
    stderr: AbortOnDropHandle<()>,
}

impl Process for PipeProcess {
    fn wait(&mut self) -> BoxFuture<'_, Exit> {
        async move {
            if let Some(exit) = self.exit {
                return exit;
            }
            let exit = self.child.wait().await.map_or(Exit::Unknown, exit_of);
            self.exit = Some(exit);
            self.handle = None;
            // The reason for an exit is often the last thing printed, so its reader may finish; a grandchild
            // that keeps the pipe open must not hold us up.
            let _ = tokio::time::timeout(STDERR_GRACE, &mut self.stderr).await;
            exit
        }
        .boxed()
    }

    fn stop(&mut self, stop: Stop) {
        if let Some(handle) = &self.handle {
            handle.signal_group(stop);
        }
    }

    fn stderr(&self) -> String {
        self.tail.text()
    }
}

impl Drop for PipeProcess {
    fn drop(&mut self) {
        self.stderr.abort();
        if let Some(handle) = self.handle.take() {
            handle.abandon();
        }
    }
}

fn exit_of(status: ExitStatus) -> Exit {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Unknown,
    }
}

#[cfg(test)]
#[path = "pipes_tests.rs"]
mod tests;
