//! The log of a conversation: how fast it takes records, beside a bare file, and how fast a long one is opened.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use estelle_host::conversation::{Beginning, Book};
use estelle_host::log::{Log, Sync};
use estelle_proto::events::{ClaudeEvent, TextComplete};
use estelle_proto::{ConversationId, Epoch, Generation, Timestamp};
use estelle_state::conversation::{Change, Durable, Stretch};
use serde_json::{Value, json};

use crate::Outcome;
use crate::meter;
use crate::stage::{Programs, Stage, conversation};

/// About what a line of the log has.
const PAYLOAD: usize = 400;

/// Records in a second, with and without the disk, beside a file that is only written to.
pub(crate) fn append(programs: &Programs, records: usize, synced: usize) -> Outcome<Value> {
    let stage = Stage::new(programs)?;
    let payload = vec![b'x'; PAYLOAD];
    let bare = |path: &Path, count: usize, sync: Sync| -> Outcome<f64> {
        let line = [payload.as_slice(), b"\n"].concat();
        let mut file = OpenOptions::new().append(true).create(true).open(path)?;
        rate(count, || {
            file.write_all(&line)?;
            match sync {
                Sync::Now => Ok(file.sync_data()?),
                Sync::Later => Ok(()),
            }
        })
    };
    let logged = |path: &Path, count: usize, sync: Sync| -> Outcome<f64> {
        let mut log = Log::open(path)?.log;
        rate(count, || {
            log.append(&payload, sync)?;
            Ok(())
        })
    };
    Ok(json!({
        "bare": bare(&stage.file("bare"), records, Sync::Later)?,
        "log": logged(&stage.file("log"), records, Sync::Later)?,
        "book": booked(&stage, records)?,
        "bare_synced": bare(&stage.file("bare-synced"), synced, Sync::Now)?,
        "log_synced": logged(&stage.file("log-synced"), synced, Sync::Now)?,
    }))
}

fn rate(count: usize, mut append: impl FnMut() -> Outcome<()>) -> Outcome<f64> {
    let begin = Instant::now();
    for _ in 0..count {
        append()?;
    }
    #[expect(
        clippy::cast_precision_loss,
        reason = "a benchmark appends few records"
    )]
    let count = count as f64;
    Ok(count / begin.elapsed().as_secs_f64())
}

fn begin(folder: &Path, id: ConversationId) -> Outcome<Book> {
    std::fs::create_dir_all(folder)?;
    let beginning = Beginning {
        id,
        epoch: Epoch(1),
        generation: Generation(1),
        settings: Change::default(),
        events: Vec::new(),
    };
    Ok(Book::begin(folder, Timestamp(0), beginning)?)
}

/// An event as the host makes it: decided by the machine, in the log, ready for clients.
fn add(book: &mut Book, nth: u64) -> Outcome<()> {
    let text = "A sentence of the agent that says something. ".repeat(5);
    let stretch = Stretch {
        generation: Generation(1),
        from: nth * 300,
        to: (nth + 1) * 300,
        hash: "0123456789abcdef0123456789abcdef".to_owned(),
        open_from: (nth + 1) * 300,
        reader: 1,
        seen: Vec::new(),
    };
    let event = Durable::from(ClaudeEvent::TextComplete(TextComplete::new(text)));
    let decided = book.decide();
    let (entry, _) = decided.read(Timestamp(0), stretch, vec![event], |_| String::new());
    book.append(&entry, Sync::Later)?;
    Ok(())
}

fn booked(stage: &Stage, records: usize) -> Outcome<f64> {
    let mut book = begin(&stage.file("book"), conversation(0)?)?;
    let mut nth = 0;
    rate(records, || {
        nth += 1;
        add(&mut book, nth)
    })
}

fn fill(folder: &Path, id: ConversationId, events: u64) -> Outcome<()> {
    let mut book = begin(folder, id)?;
    (0..events).try_for_each(|nth| add(&mut book, nth))
}

/// A host that is started over so many conversations of so many events.
pub(crate) fn start(programs: &Programs, count: usize, events: u64) -> Outcome<Value> {
    let mut stage = Stage::new(programs)?;
    for nth in 0..count {
        let id = conversation(nth)?;
        let folder = stage.data().join("conversations").join(id.as_str());
        fill(&folder, id, events)?;
    }
    let started = stage.start()?;
    let cpu = meter::cpu_seconds(stage.pid());
    let found = stage.conversations()?;
    if found != count {
        return Err(format!("{found} of {count} conversations were opened").into());
    }
    let rest = stage.at_rest(1);
    Ok(json!({
        "start_us": started.as_micros(), "cpu_seconds": cpu, "rss_kb": rest["rss_kb"],
    }))
}

/// Opening a conversation of so many events, beside reading its file.
pub(crate) fn open(programs: &Programs, events: u64) -> Outcome<Value> {
    let stage = Stage::new(programs)?;
    let folder = stage.file("long");
    fill(&folder, conversation(0)?, events)?;
    let own = std::process::id();
    let path = folder.join("log.jsonl");
    let begin = Instant::now();
    let bytes = std::io::copy(&mut File::open(&path)?, &mut std::io::sink())?;
    let read = begin.elapsed();
    let before = meter::resident_kb(own);
    let (begin, cpu) = (Instant::now(), meter::activity(own).cpu_ns);
    let opened = Book::open(&folder, Timestamp(0))?;
    let (open, cpu) = (begin.elapsed(), meter::activity(own).cpu_ns - cpu);
    let head = opened.book.conversation().seq().0;
    if head < events {
        return Err(format!("{head} of {events} events were found").into());
    }
    Ok(json!({
        "events": head, "bytes": bytes, "read_us": read.as_micros(), "open_us": open.as_micros(),
        "open_cpu_us": cpu / 1000,
        "kept_kb": meter::resident_kb(own).saturating_sub(before),
    }))
}
