//! The shell around the machine: standard input, signals, time, files, and the truth.
//!
//! One loop: wait for a line, a signal or the next moment, step the machine, perform its effects in order. Everything here
//! is blocking except the waiting; a host that does not read blocks the process, as a full pipe does.

use std::io::{self, Read, Write};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use super::args::{Args, PrintOnly};
use super::hands::Hands;
use super::machine::{Input, Machine, Signal};
use super::state::{Env, Setup, Switch};
use super::version::Version;

/// Lines read ahead; more stay in the pipe, where the host notices that nobody reads.
const READ_AHEAD: usize = 64;
const READ_CHUNK: usize = 64 * 1024;
/// A machine that waits for nothing is asked this often.
const IDLE: Duration = Duration::from_hours(1);
const HELP: &str = "Usage: estelle-sim-claude [options]\n\nA simulated Claude Code CLI: speaks stream-json, plays scripts, needs no account.";

/// Runs the simulated CLI with the process's own arguments, environment and streams; never returns normally.
pub fn run() -> anyhow::Result<i32> {
    let number = std::env::var("ESTELLE_SIM_VERSION").unwrap_or_else(|_| "2.1.325".to_owned());
    let version = Version::from_number(&number).ok_or_else(|| {
        anyhow::anyhow!("ESTELLE_SIM_VERSION must be 2.1.197 or 2.1.325, not {number}")
    })?;
    let command_line: Vec<String> = std::env::args().skip(1).collect();
    let args = match Args::read(version, &command_line) {
        Ok(args) => args,
        Err(error) => {
            eprintln_line(&error.to_string());
            return Ok(1);
        }
    };
    match args.print_only {
        Some(PrintOnly::Version) => {
            print_line(&format!("{} (Claude Code)", version.number()))?;
            return Ok(0);
        }
        Some(PrintOnly::Help) => {
            print_line(HELP)?;
            return Ok(0);
        }
        None => {}
    }
    let setup = Setup {
        version,
        args,
        env: read_env(version)?,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(serve(setup))
}

fn read_env(version: Version) -> anyhow::Result<Env> {
    let var = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let on = |name: &str| var(name).is_some_and(|value| value == "1" || value == "true");
    let cwd = std::env::current_dir()?;
    let gateway = var("ANTHROPIC_BASE_URL").map(|url| {
        let rest = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
        rest.split('/').next().unwrap_or_default().to_owned()
    });
    let switches = [
        (
            Switch::StateEvents,
            on("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS"),
        ),
        (
            Switch::StateEvents,
            version.is_325() && on("CLAUDE_CODE_SDK_READS_SESSION_STATE"),
        ),
        (Switch::Plain, on("ESTELLE_SIM_PLAIN")),
        (
            Switch::RerunInterrupted,
            on("CLAUDE_CODE_RESUME_INTERRUPTED_TURN"),
        ),
        (
            Switch::Checkpoints,
            on("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING"),
        ),
        (
            Switch::Plan,
            var("CLAUDE_CODE_OAUTH_TOKEN").is_some() && var("ANTHROPIC_API_KEY").is_none(),
        ),
    ];
    let switches = switches
        .into_iter()
        .filter(|(_, on)| *on)
        .map(|(switch, _)| switch)
        .collect();
    Ok(Env {
        cwd: cwd.to_string_lossy().into_owned(),
        home: var("HOME").unwrap_or_else(|| "/".to_owned()),
        uid: rustix::process::getuid().as_raw(),
        pid: std::process::id(),
        max_retries: var("CLAUDE_CODE_MAX_RETRIES")
            .and_then(|text| text.parse().ok())
            .unwrap_or(10),
        time_scale: var("ESTELLE_SIM_TIME_SCALE")
            .and_then(|text| text.parse().ok())
            .unwrap_or(1.0),
        seed: var("ESTELLE_SIM_SEED")
            .and_then(|text| text.parse().ok())
            .unwrap_or_else(random_seed),
        gateway,
        switches,
    })
}

fn random_seed() -> u64 {
    let (high, low) = uuid::Uuid::new_v4().as_u64_pair();
    high ^ low
}

async fn serve(setup: Setup) -> anyhow::Result<i32> {
    let mut term = signal(SignalKind::terminate())?;
    let mut int = signal(SignalKind::interrupt())?;
    let mut hup = signal(SignalKind::hangup())?;
    let mut hands = Hands::open(&setup)?;
    let (lines_in, mut lines) = mpsc::channel(READ_AHEAD);
    // A blocking read cannot be cancelled; the thread dies with the process.
    std::thread::Builder::new()
        .name("stdin".to_owned())
        .spawn(move || read_lines(&lines_in))?;
    let (mut machine, effects) = Machine::start(setup, Box::new(hands.files()), now());
    if let Some(code) = hands.perform(effects)? {
        return Ok(code);
    }
    let mut open = true;
    loop {
        let wait = machine
            .wake_at()
            .map(|at| Duration::from_millis(at.saturating_sub(now())));
        let sleep = tokio::time::sleep(wait.unwrap_or(IDLE));
        let input = tokio::select! {
            biased;
            _ = term.recv() => Input::Signal(Signal::Term),
            _ = int.recv() => Input::Signal(Signal::Int),
            _ = hup.recv() => Input::Signal(Signal::Hup),
            // Input before time: what a host sent is seen before the next delta.
            line = lines.recv(), if open => {
                open = line.is_some();
                line.map_or(Input::Closed, Input::Line)
            }
            () = sleep => Input::Tick,
        };
        if let Input::Line(line) = &input {
            hands.saw(line)?;
        }
        let now_us = now_us();
        machine.set_micros(now_us);
        let effects = machine.step(now_us / 1000, input);
        if let Some(code) = hands.perform(effects)? {
            return Ok(code);
        }
    }
}

/// Unix milliseconds.
pub(crate) fn now() -> u64 {
    now_us() / 1000
}

/// Unix microseconds.
fn now_us() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

/// Reads lines until the end; a last line without its newline counts too.
fn read_lines(lines: &mpsc::Sender<Vec<u8>>) {
    let mut stdin = io::stdin().lock();
    let mut pending: Vec<u8> = Vec::new();
    let mut chunk = vec![0; READ_CHUNK];
    loop {
        let count = match stdin.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        let mut rest = &chunk[..count];
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            pending.extend_from_slice(&rest[..end]);
            if lines.blocking_send(std::mem::take(&mut pending)).is_err() {
                return;
            }
            rest = &rest[end + 1..];
        }
        pending.extend_from_slice(rest);
    }
    if !pending.is_empty() && lines.blocking_send(pending).is_err() {
        // The loop is gone and so is the process.
    }
}

fn print_line(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.write_all(b"\n")?;
    out.flush()
}

fn eprintln_line(text: &str) {
    let mut err = io::stderr().lock();
    // Nobody is left to tell when standard error is gone.
    let _told = err.write_all(format!("{text}\n").as_bytes());
}
