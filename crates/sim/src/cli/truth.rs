//! The truth file: what the simulated CLI really did, written by itself, so that a checker needs no log of ours.
//!
//! One JSON object per line, appended with one `write` and synced before the thing it tells of happens (a line goes to
//! standard output only after its record is on disk):
//!
//! ```text
//! {"n":7,"at":1794709164054,"gen":"4711-99817","kind":"stdout","data":{...},"prev":"<hash>","hash":"<hash>"}
//! ```
//!
//! - `n` counts from 1 without a gap, over all processes that used the file;
//! - `at` is Unix milliseconds; `gen` is process id and start time, one per process;
//! - `kind` is `start`, `stdin`, `stdout`, `stderr`, `ask`, `answer`, `tool_run`, `tool_rerun` or `exit`;
//! - `data` of a line holds its length `len` and its checksum `fnv` (FNV-1a, 64 bits, hexadecimal), and for a line of
//!   standard output its `type` and `uuid`, and the `line` itself unless it only streams; other kinds have their own fields;
//! - `hash` is the FNV-1a of `prev` and everything before `"hash"`, so a changed, lost or moved record is noticed.
//!
//! [`read`] checks all of it. A torn last line, which a kill may leave, is reported and not an error.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::json::{Json, obj};

/// A record of the truth file.
#[derive(Debug, Clone, PartialEq)]
pub struct TruthRecord {
    /// Its number, from 1.
    pub n: u64,
    /// Unix milliseconds.
    pub at: u64,
    /// The process that wrote it.
    pub generation: String,
    /// What it tells of.
    pub kind: String,
    /// The details as JSON text.
    pub data: String,
}

/// A truth file that was read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Truth {
    /// The records in order.
    pub records: Vec<TruthRecord>,
    /// Bytes of a torn last line.
    pub torn: usize,
}

/// Why a truth file cannot be trusted.
#[derive(Debug, thiserror::Error)]
pub enum ReadTruthError {
    /// It could not be read.
    #[error("read truth file {path}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A line is no record.
    #[error("line {line} is no truth record")]
    Malformed {
        /// The line, from 1.
        line: usize,
    },
    /// A number is missing or doubled.
    #[error("line {line} has number {found} instead of {expected}")]
    Number {
        /// The line, from 1.
        line: usize,
        /// The number it has.
        found: u64,
        /// The number it must have.
        expected: u64,
    },
    /// A checksum does not fit.
    #[error("line {line} does not fit its checksum")]
    Checksum {
        /// The line, from 1.
        line: usize,
    },
}

/// FNV-1a with 64 bits, as sixteen hexadecimal digits.
pub fn checksum(bytes: &[u8]) -> String {
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

/// Reads and checks a truth file.
pub fn read(path: &Path) -> Result<Truth, ReadTruthError> {
    let io_error = |source| ReadTruthError::Io {
        path: path.to_owned(),
        source,
    };
    let bytes = std::fs::read(path).map_err(io_error)?;
    let whole = bytes
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    let mut truth = Truth {
        records: Vec::new(),
        torn: bytes.len() - whole,
    };
    let mut prev = String::new();
    let lines = bytes[..whole].split(|byte| *byte == b'\n');
    for (index, line) in lines.filter(|line| !line.is_empty()).enumerate() {
        let number = index + 1;
        let text = std::str::from_utf8(line).unwrap_or_default();
        let (record, hash) = parse(text).ok_or(ReadTruthError::Malformed { line: number })?;
        let expected = number as u64;
        if record.n != expected {
            return Err(ReadTruthError::Number {
                line: number,
                found: record.n,
                expected,
            });
        }
        if !fits(text, &prev, &hash) {
            return Err(ReadTruthError::Checksum { line: number });
        }
        prev = hash;
        truth.records.push(record);
    }
    Ok(truth)
}

fn parse(text: &str) -> Option<(TruthRecord, String)> {
    let line = Json::parse(text).ok()?;
    let number = |key: &str| match line.get(key) {
        Some(Json::Int(value)) => u64::try_from(*value).ok(),
        Some(_) | None => None,
    };
    let record = TruthRecord {
        n: number("n")?,
        at: number("at")?,
        generation: line.text("gen")?.to_owned(),
        kind: line.text("kind")?.to_owned(),
        data: line.get("data")?.to_string(),
    };
    Some((record, line.text("hash")?.to_owned()))
}

fn fits(text: &str, prev: &str, hash: &str) -> bool {
    let body = text.rsplit_once(",\"hash\":").map_or("", |(body, _)| body);
    let linked = body.ends_with(&format!(",\"prev\":\"{prev}\""));
    linked && checksum(body.as_bytes()) == hash
}

/// The writer of one process.
#[derive(Debug)]
pub(crate) struct TruthLog {
    file: File,
    next: u64,
    prev: String,
    generation: String,
}

impl TruthLog {
    /// Opens the file and goes on where the process before stopped; a torn last line is ended first.
    pub(crate) fn open(path: &Path, generation: String) -> io::Result<Self> {
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .read(true)
            .open(path)?;
        let mut text = Vec::new();
        file.seek(SeekFrom::Start(0))?;
        file.read_to_end(&mut text)?;
        let whole = text
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        if whole < text.len() {
            file.set_len(whole as u64)?;
        }
        let last = String::from_utf8_lossy(&text[..whole])
            .lines()
            .last()
            .and_then(parse);
        let (next, prev) = last.map_or((1, String::new()), |(record, hash)| (record.n + 1, hash));
        Ok(Self {
            file,
            next,
            prev,
            generation,
        })
    }

    /// Writes one record and syncs it.
    pub(crate) fn write(&mut self, at: u64, kind: &str, data: Json) -> io::Result<()> {
        let record = obj! {
            "n" => self.next,
            "at" => at,
            "gen" => &self.generation,
            "kind" => kind,
            "data" => data,
            "prev" => &self.prev,
        };
        let body = record.to_string();
        let body = body.strip_suffix('}').unwrap_or(&body);
        let hash = checksum(body.as_bytes());
        let line = format!("{body},\"hash\":\"{hash}\"}}\n");
        self.file.write_all(line.as_bytes())?;
        self.file.sync_data()?;
        self.next += 1;
        self.prev = hash;
        Ok(())
    }
}

#[cfg(test)]
#[path = "truth_tests.rs"]
mod tests;
