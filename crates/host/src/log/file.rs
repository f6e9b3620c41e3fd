//! The file of a log: appending, opening after a crash, and what was wrong with it.
//!
//! A torn tail (the host died while appending) is cut off, reported, and appended anew by whoever owns the truth
//! behind it. Damage in the middle is never repaired in silence: it is reported with its range and everything behind
//! it stays where it is, for a person or a rebuild.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::ops::Range;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::{FallocateFlags, fallocate};

use super::record::{ChainHash, decode, encode};

/// Space kept ready ahead of the end, so that a full disk does not cut an append.
const RESERVE: u64 = 8 * 1024 * 1024;

/// When a record must be on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sync {
    /// Before the call returns: what was promised to somebody.
    Now,
    /// With the next one that must: what can be derived again.
    Later,
}

/// Something wrong with a log that was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Damage {
    /// The last append did not finish; these bytes were cut off.
    TornTail(Range<u64>),
    /// A record in the middle does not match its hash; it and everything behind it is not trusted.
    Broken(Range<u64>),
}

/// Why a record was not appended. Nothing of it is in the log.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AppendError {
    /// A payload is one line.
    #[error("failed to append to the log: the payload holds a line feed")]
    LineFeed,
    /// An earlier failure left the file in an unknown state; open it again.
    #[error("failed to append to the log: an earlier failure could not be undone")]
    Poisoned,
    /// The system refused.
    #[error("failed to append to the log")]
    Io(#[source] io::Error),
}

/// A log that was opened: its payloads, and what was wrong.
#[derive(Debug)]
pub struct Opened {
    /// The log, ready for more.
    pub log: Log,
    /// The payloads that are proven, in order.
    pub payloads: Vec<Vec<u8>>,
    /// What had to be cut or is not trusted.
    pub damage: Option<Damage>,
}

/// A log to append to.
#[derive(Debug)]
pub struct Log {
    file: File,
    end: u64,
    reserved: u64,
    hash: ChainHash,
    records: u64,
    poisoned: bool,
}

impl Log {
    /// Opens or makes a log and proves what is in it.
    pub fn open(path: &Path) -> io::Result<Opened> {
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .mode(0o600)
            .open(path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let proven = prove(&bytes);
        let length = bytes.len() as u64;
        let damage = damage(&bytes, proven.end, length);
        if let Some(Damage::TornTail(_)) = damage {
            file.set_len(proven.end)?;
            file.sync_data()?;
        }
        let poisoned = matches!(damage, Some(Damage::Broken(_)));
        let log = Self {
            file,
            end: proven.end,
            reserved: 0,
            hash: proven.hash,
            records: proven.payloads.len() as u64,
            poisoned,
        };
        Ok(Opened {
            log,
            payloads: proven.payloads,
            damage,
        })
    }

    /// The hash behind the last record.
    pub fn hash(&self) -> ChainHash {
        self.hash
    }

    /// How many records there are.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Appends one payload.
    pub fn append(&mut self, payload: &[u8], sync: Sync) -> Result<ChainHash, AppendError> {
        if payload.contains(&b'\n') {
            return Err(AppendError::LineFeed);
        }
        if self.poisoned {
            return Err(AppendError::Poisoned);
        }
        let hash = self.hash.next(payload);
        let line = encode(hash, payload);
        self.reserve(line.len() as u64);
        if let Err(error) = self.write(&line, sync) {
            // What was written in part is taken back; if even that fails, nothing may follow it.
            self.poisoned = self.file.set_len(self.end).is_err();
            self.reserved = 0;
            return Err(AppendError::Io(error));
        }
        self.end += line.len() as u64;
        self.hash = hash;
        self.records += 1;
        Ok(hash)
    }

    /// Brings everything appended so far to the disk.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn write(&mut self, line: &[u8], sync: Sync) -> io::Result<()> {
        self.file.write_all(line)?;
        match sync {
            Sync::Now => self.file.sync_data(),
            Sync::Later => Ok(()),
        }
    }

    /// Keeps space ready behind the end. A file system that cannot, or is full, is found out by the write itself.
    fn reserve(&mut self, length: u64) {
        if self.end + length <= self.reserved {
            return;
        }
        let wanted = length + RESERVE;
        if fallocate(&self.file, FallocateFlags::KEEP_SIZE, self.end, wanted).is_ok() {
            self.reserved = self.end + wanted;
        }
    }
}

struct Proven {
    payloads: Vec<Vec<u8>>,
    hash: ChainHash,
    end: u64,
}

/// The records from the start that match their hashes.
fn prove(bytes: &[u8]) -> Proven {
    let mut proven = Proven {
        payloads: Vec::new(),
        hash: ChainHash::EMPTY,
        end: 0,
    };
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let Some((hash, payload)) = line.strip_suffix(b"\n").and_then(decode) else {
            break;
        };
        if proven.hash.next(payload) != hash {
            break;
        }
        proven.hash = hash;
        proven.end += line.len() as u64;
        proven.payloads.push(payload.to_vec());
    }
    proven
}

/// What lies behind the proven part: one line at most is a torn append, more is damage.
fn damage(bytes: &[u8], proven: u64, length: u64) -> Option<Damage> {
    let rest = usize::try_from(proven)
        .ok()
        .and_then(|from| bytes.get(from..))?;
    let last = rest.len().checked_sub(1)?;
    match rest.iter().position(|byte| *byte == b'\n') {
        Some(first) if first < last => Some(Damage::Broken(proven..length)),
        Some(_) | None => Some(Damage::TornTail(proven..length)),
    }
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
