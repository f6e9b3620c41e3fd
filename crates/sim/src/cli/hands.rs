//! The hands of the machine: they print, leave markers and write the truth, in the order they are told.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::disk::Files;
use super::json::{Json, obj};
use super::shell::now;
use super::state::{Effect, Setup, ToolRun};
use super::truth::{TruthLog, checksum};
use crate::script::Gates;

/// Lines of one step are gathered up to this size.
const WRITE_CHUNK: usize = 64 * 1024;

/// What does the machine's bidding.
pub(crate) struct Hands {
    truth: Option<TruthLog>,
    markers: Option<PathBuf>,
    gates: Option<Gates>,
    generation: String,
}

impl Hands {
    /// Opens the truth file and the folder of markers.
    pub(crate) fn open(setup: &Setup) -> anyhow::Result<Self> {
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

    /// The files for the machine.
    pub(crate) fn files(&self) -> Files {
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
    pub(crate) fn saw(&mut self, line: &[u8]) -> io::Result<()> {
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
    pub(crate) fn perform(&mut self, effects: Vec<Effect>) -> anyhow::Result<Option<i32>> {
        let mut out = Out::default();
        for effect in effects {
            match effect {
                Effect::Line(line) => {
                    if self.truth.is_some() {
                        // The record must be on disk before the line can be seen.
                        let parsed = Json::parse(&line).ok();
                        let facts = line_facts(line.as_bytes(), parsed.as_ref());
                        self.tell("stdout", with_line(facts, parsed))?;
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
        if self.bytes.len() >= WRITE_CHUNK {
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

/// Adds the line itself, unless it is one of the many that only stream what a later one repeats.
fn with_line(facts: Json, parsed: Option<Json>) -> Json {
    match parsed {
        Some(line) if line.text("type") != Some("stream_event") => facts.with("line", line),
        Some(_) | None => facts,
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
