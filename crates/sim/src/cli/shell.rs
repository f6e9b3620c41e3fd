//! The shell around the machine: standard input, signals, time, files, and the truth.
//!
//! One loop: wait for a line, a signal or the next moment, step the machine, perform its effects in order. Everything here
//! is blocking except the waiting; a host that does not read blocks the process, as a full pipe does.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use super::args::{Args, PrintOnly};
use super::json::{Json, obj};
use super::machine::{Input, Machine, Signal};
use super::state::{Disk, Effect, Env, Setup, Switch, ToolRun};
use super::truth::{TruthLog, checksum};
use super::version::Version;
use crate::script::Gates;

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
        let effects = machine.step(now(), input);
        if let Some(code) = hands.perform(effects)? {
            return Ok(code);
        }
    }
}

fn now() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
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

/// What does the machine's bidding.
struct Hands {
    truth: Option<TruthLog>,
    markers: Option<PathBuf>,
    gates: Option<Gates>,
    generation: String,
}

impl Hands {
    fn open(setup: &Setup) -> anyhow::Result<Self> {
        let generation = format!("{}-{}", setup.env.pid, start_time());
        let path = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let truth = match path("ESTELLE_SIM_TRUTH") {
            Some(path) => Some(TruthLog::open(Path::new(&path), generation.clone())?),
            None => None,
        };
        let markers = path("ESTELLE_SIM_MARKERS").map(PathBuf::from);
        if let Some(dir) = &markers {
            std::fs::create_dir_all(dir)?;
        }
        let mut hands = Self {
            truth,
            markers,
            gates: Gates::from_env(),
            generation,
        };
        let argv: Vec<String> = std::env::args().skip(1).collect();
        hands.tell(
            "start",
            obj! { "pid" => setup.env.pid, "version" => setup.version.number(), "argv" => argv },
        )?;
        Ok(hands)
    }

    fn files(&self) -> Files {
        Files {
            gates: self.gates.clone(),
        }
    }

    fn tell(&mut self, kind: &str, data: Json) -> io::Result<()> {
        match &mut self.truth {
            Some(truth) => truth.write(now(), kind, data),
            None => Ok(()),
        }
    }

    /// Records a line that was read.
    fn saw(&mut self, line: &[u8]) -> io::Result<()> {
        if self.truth.is_none() {
            return Ok(());
        }
        let parsed = std::str::from_utf8(line)
            .ok()
            .and_then(|text| Json::parse(text).ok());
        let data = line_facts(line, parsed.as_ref());
        self.tell("stdin", data)
    }

    /// Performs effects in order; a code means that the process is over.
    fn perform(&mut self, effects: Vec<Effect>) -> anyhow::Result<Option<i32>> {
        let mut out = Out::default();
        for effect in effects {
            match effect {
                Effect::Line(line) => {
                    if self.truth.is_some() {
                        // The record must be on disk before the line can be seen.
                        let parsed = Json::parse(&line).ok();
                        self.tell("stdout", line_facts(line.as_bytes(), parsed.as_ref()))?;
                        out.put(line.as_bytes(), true)?;
                        out.flush()?;
                    } else {
                        out.put(line.as_bytes(), true)?;
                    }
                }
                Effect::Bytes(bytes) => {
                    self.tell("stdout", line_facts(&bytes, None).with("raw", true))?;
                    out.put(&bytes, false)?;
                }
                Effect::Stderr(text) => {
                    self.tell("stderr", obj! { "text" => &text })?;
                    let mut err = io::stderr().lock();
                    let _told = err.write_all(text.as_bytes());
                }
                Effect::Fact(kind, data) => self.tell(kind, data)?,
                Effect::RunTool(run) => self.mark(&run)?,
                Effect::Exit(code) => {
                    out.flush()?;
                    self.tell("exit", obj! { "code" => code })?;
                    return Ok(Some(code));
                }
                Effect::Die(name) => {
                    out.flush()?;
                    self.tell("exit", obj! { "signal" => &name })?;
                    die(&name)?;
                }
            }
        }
        out.flush()?;
        Ok(None)
    }

    /// Leaves a marker for a tool that runs; one that is there already is a tool that runs twice.
    fn mark(&mut self, run: &ToolRun) -> io::Result<()> {
        let input = run.input.to_string();
        let data = obj! {
            "tool_use_id" => &run.id,
            "tool" => &run.tool,
            "input_fnv" => checksum(input.as_bytes()),
            "generation" => &self.generation,
        };
        self.tell("tool_run", data.clone())?;
        let Some(dir) = &self.markers else {
            return Ok(());
        };
        let path = dir.join(&run.id);
        let made = std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&path);
        match made {
            Ok(mut file) => {
                file.write_all(format!("{data}\n").as_bytes())?;
                file.sync_all()
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                self.tell("tool_rerun", data)
            }
            Err(error) => Err(error),
        }
    }
}

/// Gathers lines of one step into few writes.
#[derive(Default)]
struct Out {
    bytes: Vec<u8>,
}

impl Out {
    fn put(&mut self, bytes: &[u8], newline: bool) -> io::Result<()> {
        self.bytes.extend_from_slice(bytes);
        if newline {
            self.bytes.push(b'\n');
        }
        if self.bytes.len() >= READ_CHUNK {
            return self.flush();
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        let mut out = io::stdout().lock();
        let written = out.write_all(&self.bytes).and_then(|()| out.flush());
        self.bytes.clear();
        match written {
            // The real CLI neither stops nor complains when its output has nowhere to go.
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::NOSPC.raw_os_error()) => {
                Ok(())
            }
            other => other,
        }
    }
}

fn line_facts(line: &[u8], parsed: Option<&Json>) -> Json {
    let part = |key: &str| parsed.and_then(|line| line.text(key)).map(str::to_owned);
    let inner = |outer: &str, key: &str| {
        let found = parsed.and_then(|line| line.at(&[outer, key]));
        found.and_then(Json::as_text).map(str::to_owned)
    };
    let request = part("request_id").or_else(|| inner("response", "request_id"));
    let subtype = part("subtype").or_else(|| inner("request", "subtype"));
    obj! {
        "len" => line.len(),
        "fnv" => checksum(line),
        "type" => part("type"),
        "subtype" if subtype.is_some() => subtype,
        "uuid" if part("uuid").is_some() => part("uuid"),
        "request_id" if request.is_some() => request,
    }
}

fn die(name: &str) -> anyhow::Result<()> {
    use rustix::process::Signal;
    let signal = match name {
        "SIGTERM" => Signal::TERM,
        "SIGSEGV" => Signal::SEGV,
        "SIGABRT" => Signal::ABORT,
        "SIGINT" => Signal::INT,
        "SIGHUP" => Signal::HUP,
        _ => Signal::KILL,
    };
    rustix::process::kill_process(rustix::process::getpid(), signal)?;
    Ok(())
}

/// Start time of this process in clock ticks since boot, as `/proc` tells it.
fn start_time() -> String {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    rest.split_whitespace().nth(19).unwrap_or("0").to_owned()
}

/// The real files.
struct Files {
    gates: Option<Gates>,
}

impl Disk for Files {
    fn read(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(path).ok()
    }

    fn write(&mut self, path: &str, text: &str) -> io::Result<()> {
        make_parent(path)?;
        std::fs::write(path, text)
    }

    fn append(&mut self, path: &str, text: &str) -> io::Result<()> {
        make_parent(path)?;
        let mut file = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)?;
        file.write_all(text.as_bytes())
    }

    fn names_by_age(&self, dir: &str) -> Vec<String> {
        let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
        let mut names: Vec<(SystemTime, String)> = entries
            .filter_map(|entry| {
                let changed = entry.metadata().ok()?.modified().ok()?;
                Some((changed, entry.file_name().to_string_lossy().into_owned()))
            })
            .collect();
        names.sort();
        names.into_iter().map(|(_, name)| name).collect()
    }

    fn gate_is_open(&self, name: &str) -> bool {
        // Without a directory of gates nothing could ever open one.
        self.gates.as_ref().is_none_or(|gates| gates.is_open(name))
    }
}

fn make_parent(path: &str) -> io::Result<()> {
    match Path::new(path).parent() {
        Some(parent) => std::fs::create_dir_all(parent),
        None => Ok(()),
    }
}
