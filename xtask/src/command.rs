//! Runs one outside command: captures its output, calls back while it runs, ends it at a time limit.
//!
//! The child stays in our process group, so that Ctrl-C reaches it. At the limit the child and all of its
//! descendants are killed, because a test runner that is killed alone leaves its tests behind.
//! Nothing here knows what the command is for; turning a failure into advice is `advice.rs`.

use std::collections::VecDeque;
use std::fmt;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::descendants;

/// How often the caller hears that the command is still running, and the limit is looked at.
const TICK: Duration = Duration::from_millis(200);
/// How long to go on reading after the command itself has ended: a grandchild may hold the pipe open for ever.
const DRAIN: Duration = Duration::from_secs(1);
/// How long to wait for the end of a process that has closed its output.
const SETTLE: Duration = Duration::from_millis(20);
/// Lines between the reading threads and us; they wait when it is full.
const LINE_QUEUE: usize = 1024;
/// Lines of output kept; the end of an output is what explains a failure.
const KEPT_LINES: usize = 2000;

/// Why a command did not succeed, with what it printed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) cause: Cause,
    /// The last lines of stdout and stderr, in the order in which they were read.
    pub(crate) output: String,
}

/// What went wrong with a command.
#[derive(Debug)]
pub(crate) enum Cause {
    /// There is no such program on PATH.
    NotFound(String),
    /// The program exists and could not be started or watched.
    Start(String, std::io::Error),
    /// The time limit passed; the command was killed.
    TimedOut(Duration),
    /// The command ended by itself without success.
    Exit(ExitStatus),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            Cause::NotFound(program) => write!(f, "`{program}` is not installed or not on PATH"),
            Cause::Start(program, error) => write!(f, "`{program}` could not be run: {error}"),
            Cause::TimedOut(limit) => {
                write!(f, "no end after {} s, killed", limit.as_secs())
            }
            Cause::Exit(status) => write!(f, "{status}"),
        }
    }
}

impl std::error::Error for Failure {}

/// Hears, a few times a second, how long the command has run and what it printed last.
pub(crate) type Watch<'a> = &'a mut dyn FnMut(Duration, &str);

/// Runs `command` with no standard input and returns what it printed (stdout and stderr together).
pub(crate) fn run(
    command: &mut Command,
    limit: Duration,
    watch: Watch<'_>,
) -> Result<String, Failure> {
    let program = command.get_program().to_string_lossy().into_owned();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| Failure {
            cause: if error.kind() == ErrorKind::NotFound {
                Cause::NotFound(program.clone())
            } else {
                Cause::Start(program.clone(), error)
            },
            output: String::new(),
        })?;
    let lines = read_lines(&mut child);
    let mut output = Tail::default();
    let cause = match wait(&mut child, &lines, limit, &mut output, watch) {
        Ok(Some(status)) if status.success() => return Ok(output.into_text()),
        Ok(Some(status)) => Cause::Exit(status),
        Ok(None) => Cause::TimedOut(limit),
        Err(error) => Cause::Start(program, error),
    };
    Err(Failure {
        cause,
        output: output.into_text(),
    })
}

/// Runs `command` for its answer alone, as a probe: ten seconds at most, nobody watches.
pub(crate) fn probe(command: &mut Command) -> Result<String, Failure> {
    run(command, Duration::from_secs(10), &mut |_, _| {})
}

/// Collects lines until the command ends; `None` means that it was killed at the limit.
fn wait(
    child: &mut Child,
    lines: &Receiver<String>,
    limit: Duration,
    output: &mut Tail,
    watch: Watch<'_>,
) -> std::io::Result<Option<ExitStatus>> {
    let started = Instant::now();
    loop {
        match lines.recv_timeout(TICK) {
            Ok(line) => output.push(line),
            Err(RecvTimeoutError::Timeout) => {}
            // Both pipes are closed: the end of the process follows, as a rule at once.
            Err(RecvTimeoutError::Disconnected) => std::thread::park_timeout(SETTLE),
        }
        if let Some(status) = child.try_wait()? {
            drain(lines, output);
            return Ok(Some(status));
        }
        if started.elapsed() > limit {
            kill_tree(child);
            child.wait()?;
            drain(lines, output);
            return Ok(None);
        }
        watch(started.elapsed(), output.last());
    }
}

fn drain(lines: &Receiver<String>, output: &mut Tail) {
    let until = Instant::now() + DRAIN;
    while let Ok(line) = lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
        output.push(line);
    }
}

fn kill_tree(child: &mut Child) {
    // Children first would let a parent start new ones in between, so the parent goes first.
    let below = descendants::of(child.id());
    let _ = child.kill();
    for pid in below {
        if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
            // It may have ended since it was listed.
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

fn read_lines(child: &mut Child) -> Receiver<String> {
    let (sender, receiver) = sync_channel(LINE_QUEUE);
    if let Some(stdout) = child.stdout.take() {
        forward(stdout, sender.clone());
    }
    if let Some(stderr) = child.stderr.take() {
        forward(stderr, sender);
    }
    receiver
}

fn forward(pipe: impl Read + Send + 'static, sender: SyncSender<String>) {
    std::thread::spawn(move || {
        let mut reader = BufReader::new(pipe);
        let mut line = Vec::new();
        while matches!(reader.read_until(b'\n', &mut line), Ok(1..)) {
            let text = String::from_utf8_lossy(&line).trim_end().to_owned();
            line.clear();
            if sender.send(text).is_err() {
                return;
            }
        }
    });
}

/// The last lines of an output.
#[derive(Debug, Default)]
struct Tail {
    lines: VecDeque<String>,
    dropped: usize,
}

impl Tail {
    fn push(&mut self, line: String) {
        if self.lines.len() == KEPT_LINES {
            self.lines.pop_front();
            self.dropped += 1;
        }
        self.lines.push_back(line);
    }

    fn last(&self) -> &str {
        let mut newest_first = self.lines.iter().rev();
        newest_first
            .find(|line| !line.trim().is_empty())
            .map_or("", String::as_str)
    }

    fn into_text(self) -> String {
        let mut text = match self.dropped {
            0 => String::new(),
            dropped => format!("({dropped} earlier lines left out)\n"),
        };
        for line in self.lines {
            text.push_str(&line);
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    fn is_alive(pid: i32) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        !stat.is_empty() && !stat.contains(") Z ")
    }

    #[test]
    fn returns_what_both_streams_said() {
        let output = probe(&mut shell("echo one; echo two >&2")).unwrap();
        let mut lines: Vec<_> = output.lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, ["one", "two"]);
    }

    #[test]
    fn a_failure_keeps_the_output() {
        let failure = probe(&mut shell("echo because; exit 3")).unwrap_err();
        assert_eq!(failure.output, "because\n");
        assert!(matches!(failure.cause, Cause::Exit(status) if status.code() == Some(3)));
    }

    #[test]
    fn a_missing_program_is_told_apart() {
        let failure = probe(&mut Command::new("estelle-no-such-program")).unwrap_err();
        assert!(matches!(failure.cause, Cause::NotFound(_)));
    }

    #[test]
    fn the_limit_kills_grandchildren_too() {
        let started = Instant::now();
        let script = "sh -c 'echo $$; exec tail -f /dev/null' & wait";
        let failure = run(
            &mut shell(script),
            Duration::from_millis(500),
            &mut |_, _| {},
        )
        .unwrap_err();
        assert!(matches!(failure.cause, Cause::TimedOut(_)));
        let grandchild: i32 = failure.output.trim().parse().unwrap();
        // The kernel ends a killed process in its own time.
        while is_alive(grandchild) {
            assert!(started.elapsed() < Duration::from_secs(8), "still alive");
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_background_process_that_keeps_the_pipe_does_not_hold_us() {
        let started = Instant::now();
        let output = run(
            &mut shell("tail -f /dev/null & echo $!"),
            Duration::from_secs(30),
            &mut |_, _| {},
        )
        .unwrap();
        assert!(started.elapsed() < Duration::from_secs(10));
        let pid = Pid::from_raw(output.trim().parse().unwrap()).unwrap();
        kill_process(pid, Signal::KILL).unwrap();
    }

    #[test]
    fn only_the_end_of_a_long_output_is_kept() {
        let output = probe(&mut shell("seq 1 2500")).unwrap();
        assert!(output.starts_with("(500 earlier lines left out)\n501\n"));
        assert!(output.ends_with("2500\n"));
    }
}
