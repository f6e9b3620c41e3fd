//! The file of a log: appending, opening after a crash, and what was wrong with it.
//!
//! A torn tail (the host died while appending) is cut off, reported, and appended anew by whoever owns the truth
//! behind it. Damage in the middle is never repaired in silence: it is reported with its range and everything behind
//! it stays where it is, for a person or a rebuild.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::ops::Range;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{FallocateFlags, fallocate};

use crate::failpoint;

use super::record::{ChainHash, HASH_CHARS, decode, encode};

/// Space kept ready ahead of the end, so that a full disk does not cut an append.
const RESERVE: u64 = 8 * 1024 * 1024;

/// How much of a log is read in one go.
const READ_AHEAD: usize = 256 * 1024;

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

/// A record that is proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Proven<'a> {
    /// What it says.
    pub payload: &'a [u8],
    /// The hash behind it.
    pub hash: ChainHash,
    /// Where it begins in the file.
    pub from: u64,
    /// Where the next one begins.
    pub to: u64,
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
        let mut payloads = Vec::new();
        let (log, damage) = Self::visit(path, |record| payloads.push(record.payload.to_vec()))?;
        Ok(Opened {
            log,
            payloads,
            damage,
        })
    }

    /// Opens or makes a log and shows each proven record, without keeping them.
    pub fn visit(
        path: &Path,
        mut show: impl FnMut(Proven<'_>),
    ) -> io::Result<(Self, Option<Damage>)> {
        let visited = Self::visit_while(path, |record| {
            show(record);
            true
        })?;
        visited.ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// The same, as long as each record is understood. After one that is not the file is left as it is, whatever is wrong
    /// with its end, and there is no log.
    pub fn visit_while(
        path: &Path,
        mut show: impl FnMut(Proven<'_>) -> bool,
    ) -> io::Result<Option<(Self, Option<Damage>)>> {
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .mode(0o600)
            .open(path)?;
        let mut log = Self {
            file,
            end: 0,
            reserved: 0,
            hash: ChainHash::EMPTY,
            records: 0,
            poisoned: false,
        };
        let from = File::open(path)?;
        let length = usize::try_from(from.metadata()?.len()).unwrap_or(READ_AHEAD);
        // Most logs are short. Large buffers that come and go would make the allocator keep more than it needs.
        let mut reader = BufReader::with_capacity(length.clamp(1, READ_AHEAD), from);
        let mut line = Vec::new();
        while let Some(hash) = next_record(&mut reader, &mut line, log.hash)? {
            let to = log.end + line.len() as u64;
            let is_understood = show(Proven {
                payload: &line[HASH_CHARS + 1..line.len() - 1],
                hash,
                from: log.end,
                to,
            });
            if !is_understood {
                return Ok(None);
            }
            (log.end, log.hash) = (to, hash);
            log.records += 1;
        }
        let damage = log.examine_rest(&line, reader)?;
        if log.end > 0 {
            // A process that was killed leaves what it wrote in the system's cache. It counts from now on, and somebody
            // may be told so; it has to outlast the machine first.
            log.sync()?;
        }
        Ok(Some((log, damage)))
    }

    /// What lies behind the proven part: half a line is a torn append and is cut, more is damage and stays.
    fn examine_rest(&mut self, line: &[u8], mut reader: impl Read) -> io::Result<Option<Damage>> {
        let behind = io::copy(&mut reader, &mut io::sink())?;
        let length = self.end + line.len() as u64 + behind;
        if length == self.end {
            return Ok(None);
        }
        // A line that is whole was not cut by a crash: it was acknowledged, perhaps, and must not vanish in silence.
        if behind > 0 || line.ends_with(b"\n") {
            self.poisoned = true;
            return Ok(Some(Damage::Broken(self.end..length)));
        }
        self.file.set_len(self.end)?;
        self.file.sync_data()?;
        Ok(Some(Damage::TornTail(self.end..length)))
    }

    /// Where the next record begins.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// A second descriptor, for syncing outside of the one who appends.
    pub fn descriptor(&self) -> io::Result<File> {
        self.file.try_clone()
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

    /// Gives the space behind the end back to the disk, until more is appended.
    pub fn give_back(&mut self) -> io::Result<()> {
        if self.poisoned {
            // What lies behind the end may be all there is of it.
            return Ok(());
        }
        self.reserved = 0;
        // Cutting a file to the length it has frees what was reserved behind it.
        self.file.set_len(self.end)
    }

    /// Brings everything appended so far to the disk.
    pub fn sync(&self) -> io::Result<()> {
        sync(&self.file, self.end)
    }

    fn write(&mut self, line: &[u8], sync: Sync) -> io::Result<()> {
        failpoint::tear("log-torn", &mut self.file, line)?;
        self.file.write_all(line)?;
        match sync {
            Sync::Now => self::sync(&self.file, self.end + line.len() as u64),
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

/// Brings a log, which ends there, to the disk.
pub fn sync(log: &File, end: u64) -> io::Result<()> {
    log.sync_data()?;
    failpoint::on_disk(log, end);
    Ok(())
}

/// Reads a line and checks it against the hash before it; the line stays in the buffer when it is no record.
fn next_record(
    reader: &mut impl BufRead,
    line: &mut Vec<u8>,
    before: ChainHash,
) -> io::Result<Option<ChainHash>> {
    line.clear();
    reader.read_until(b'\n', line)?;
    let Some((hash, payload)) = line.strip_suffix(b"\n").and_then(decode) else {
        return Ok(None);
    };
    Ok((before.next(payload) == hash).then_some(hash))
}

/// Reads records from a place where one begins, up to another, without proving the chain before them.
pub fn read_between(
    file: &File,
    from: u64,
    to: u64,
    mut show: impl FnMut(ChainHash, &[u8]),
) -> io::Result<()> {
    let part = Part::new(file, from, to);
    let mut reader = BufReader::with_capacity(READ_AHEAD, part);
    let mut line = Vec::new();
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let Some((hash, payload)) = line.strip_suffix(b"\n").and_then(decode) else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        show(hash, payload);
    }
}

/// A part of a file, read without moving the place that others read and append at.
#[derive(Debug)]
pub(crate) struct Part<'a> {
    file: &'a File,
    from: u64,
    to: u64,
}

impl<'a> Part<'a> {
    pub(crate) fn new(file: &'a File, from: u64, to: u64) -> Self {
        Self { file, from, to }
    }
}

impl Read for Part<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.to.saturating_sub(self.from)).unwrap_or(usize::MAX);
        let wanted = left.min(buffer.len());
        let length = self.file.read_at(&mut buffer[..wanted], self.from)?;
        self.from += length as u64;
        Ok(length)
    }
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
