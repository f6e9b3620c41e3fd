//! From a line that the CLI writes to whoever reads it: over a bare pipe, from a bare journal, and over the host.
//!
//! The simulator stamps each delta with the time at which it is made. Every reader gets the same stream, at a pace at
//! which nothing queues up, and each delta must arrive once and in order.

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, Stdio};

use estelle_proto::events::ClaudeEvent;
use inotify::{Inotify, WatchMask};
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_setaffinity};
use serde_json::{Value, json};

use crate::Outcome;
use crate::meter::{now_us, quantiles};
use crate::stage::{Programs, Stage, conversation};

/// Between two deltas.
const PACE_MS: u64 = 2;

/// Not counted: whatever happens the first time only.
const WARM_UP: usize = 50;

/// Who reads.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Reader {
    Pipe,
    Journal,
    Host,
}

/// Which cores are used.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placement {
    /// Of the reader, and of the host that it may need.
    pub(crate) host: usize,
    /// Of the CLI.
    pub(crate) cli: usize,
}

impl Reader {
    pub(crate) fn parse(text: &str) -> Outcome<Self> {
        match text {
            "pipe" => Ok(Self::Pipe),
            "journal" => Ok(Self::Journal),
            "host" => Ok(Self::Host),
            other => Err(format!("there is no reader {other:?}").into()),
        }
    }
}

/// The timings of one stream.
struct Stamps {
    next: usize,
    micros: Vec<u64>,
}

impl Stamps {
    fn new() -> Self {
        Self {
            next: 0,
            micros: Vec::new(),
        }
    }

    /// Takes the stamps of a text like `7:1700000000000000 8:1700000000002000 `.
    fn take(&mut self, text: &str) -> Outcome<()> {
        let now = now_us();
        for stamp in text.split_ascii_whitespace() {
            let (index, at) = stamp.split_once(':').ok_or("a delta without a stamp")?;
            if index.parse::<usize>()? != self.next {
                return Err(format!("delta {index} arrived instead of {}", self.next).into());
            }
            self.next += 1;
            self.micros.push(now.saturating_sub(at.parse()?));
        }
        Ok(())
    }
}

pub(crate) fn measure(
    programs: &Programs,
    reader: Reader,
    deltas: usize,
    placement: Placement,
) -> Outcome<Value> {
    pin(std::process::id(), placement.host)?;
    let mut stage = Stage::new(programs)?;
    let count = deltas + WARM_UP;
    let mut stamps = match reader {
        Reader::Pipe => over_pipe(&stage, count, placement)?,
        Reader::Journal => over_journal(&stage, count, placement)?,
        Reader::Host => over_host(&mut stage, count, placement)?,
    };
    if stamps.next != count {
        return Err(format!("{} of {count} deltas arrived", stamps.next).into());
    }
    Ok(quantiles(stamps.micros.split_off(WARM_UP)))
}

/// What makes the simulator stream.
pub(crate) fn paced(deltas: usize, pace_ms: u64) -> String {
    format!(r#"SCRIPT:[{{"say":"","chunks":{deltas},"delay_ms":{pace_ms},"stamp":true}}]"#)
}

/// The line of a prompt, for a CLI without a host.
pub(crate) fn prompt_line(prompt: &str) -> String {
    let message = json!({"role": "user", "content": prompt});
    format!("{}\n", json!({"type": "user", "message": message}))
}

fn pin(pid: u32, core: usize) -> Outcome<()> {
    let mut cores = CpuSet::new();
    cores.set(core);
    for thread in std::fs::read_dir(format!("/proc/{pid}/task"))?.flatten() {
        let thread: i32 = thread.file_name().to_string_lossy().parse()?;
        sched_setaffinity(Pid::from_raw(thread), &cores)?;
    }
    Ok(())
}

/// A line of the stream.
fn take_line(stamps: &mut Stamps, line: &str) -> Outcome<()> {
    // Nothing is parsed, so that this is the least that any reader must do.
    let text = line.split_once(r#""type":"text_delta","text":""#);
    if let Some((text, _)) = text.and_then(|(_, rest)| rest.split_once('"')) {
        stamps.take(text)?;
    }
    Ok(())
}

fn over_pipe(stage: &Stage, count: usize, placement: Placement) -> Outcome<Stamps> {
    let mut cli = stage.bare_cli().stdout(Stdio::piped()).spawn()?;
    pin(cli.id(), placement.cli)?;
    prompt(&mut cli, count)?;
    let mut stamps = Stamps::new();
    let output = cli.stdout.take().ok_or("the CLI has no output")?;
    for line in BufReader::with_capacity(64 * 1024, output).lines() {
        take_line(&mut stamps, &line?)?;
        if stamps.next == count {
            break;
        }
    }
    end(cli)?;
    Ok(stamps)
}

fn over_journal(stage: &Stage, count: usize, placement: Placement) -> Outcome<Stamps> {
    let path = stage.file("journal");
    let journal = OpenOptions::new().append(true).create(true).open(&path)?;
    let mut watch = Inotify::init()?;
    watch.watches().add(&path, WatchMask::MODIFY)?;
    let mut cli = stage.bare_cli().stdout(journal).spawn()?;
    pin(cli.id(), placement.cli)?;
    prompt(&mut cli, count)?;
    let mut stamps = Stamps::new();
    let (mut file, mut text) = (File::open(&path)?, Vec::new());
    let mut events = vec![0; 4096];
    while stamps.next < count {
        watch.read_events_blocking(&mut events)?;
        file.read_to_end(&mut text)?;
        let whole = memchr::memrchr(b'\n', &text).map_or(0, |end| end + 1);
        for line in std::str::from_utf8(&text[..whole])?.lines() {
            take_line(&mut stamps, line)?;
        }
        text.drain(..whole);
    }
    end(cli)?;
    Ok(stamps)
}

fn prompt(cli: &mut Child, count: usize) -> Outcome<()> {
    let input = cli.stdin.as_mut().ok_or("the CLI has no input")?;
    Ok(input.write_all(prompt_line(&paced(count, PACE_MS)).as_bytes())?)
}

fn end(mut cli: Child) -> Outcome<()> {
    drop(cli.stdin.take());
    cli.kill()?;
    cli.wait()?;
    Ok(())
}

fn over_host(stage: &mut Stage, count: usize, placement: Placement) -> Outcome<Stamps> {
    stage.start()?;
    let id = conversation(0)?;
    let mut client = stage.connect()?;
    stage.say(&mut client, &id, "hello")?;
    stage.follow(&mut client, &id)?;
    stage.results(&mut client, 1)?;
    let run = stage.runs().pop().ok_or("no run was started")?;
    pin(run.pid, placement.cli)?;
    stage.say(&mut client, &id, &paced(count, PACE_MS))?;
    let mut stamps = Stamps::new();
    let mut failure = None;
    stage.watch(&mut client, |event| {
        if let ClaudeEvent::Text(delta) = &event.event {
            failure = stamps.take(&delta.content).err();
        }
        failure.is_some() || matches!(event.event, ClaudeEvent::Result(_))
    })?;
    failure.map_or(Ok(stamps), Err)
}
