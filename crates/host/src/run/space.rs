//! Disk space of a journal: kept ready ahead of its end, given back behind the reader.
//!
//! The CLI does not notice a full disk: it loses output in silence and glues lines together afterwards. With space
//! reserved ahead of the end it can finish what it has begun, and the host refuses new turns when the reserve cannot be
//! filled up. A journal is never truncated or rewritten: what was consumed is punched out, and offsets stay what they
//! were.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{FallocateFlags, fallocate};

/// How much is kept ready ahead of the end, by default.
pub const DEFAULT_RESERVE: u64 = 8 * 1024 * 1024;

/// Holes begin and end at multiples of this, so that whole blocks are given back.
const BLOCK: u64 = 64 * 1024;

/// The space of one journal.
#[derive(Debug)]
pub struct JournalSpace {
    file: File,
    reserve: u64,
    /// Reserved up to here.
    reserved: u64,
    /// Punched out up to here.
    punched: u64,
}

impl JournalSpace {
    /// Opens the journal of a run, or makes it before the CLI does, so that the reserve is there first.
    pub fn open(path: &Path, reserve: u64) -> io::Result<Self> {
        let file = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(path)?;
        Ok(Self {
            file,
            reserve,
            reserved: 0,
            punched: 0,
        })
    }

    /// Fills the reserve up, when half of it is used. An error means: take no new turn.
    pub fn refill(&mut self) -> io::Result<()> {
        let end = self.file.metadata()?.len();
        if self.reserved >= end + self.reserve / 2 && self.reserved > 0 {
            return Ok(());
        }
        fallocate(&self.file, FallocateFlags::KEEP_SIZE, end, self.reserve)?;
        self.reserved = end + self.reserve;
        Ok(())
    }

    /// Gives back what lies before `consumed`, which must not be past the start of an open message.
    pub fn give_back(&mut self, consumed: u64) -> io::Result<()> {
        let until = consumed / BLOCK * BLOCK;
        if until <= self.punched {
            return Ok(());
        }
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        fallocate(&self.file, flags, self.punched, until - self.punched)?;
        self.punched = until;
        Ok(())
    }

    /// How many bytes of disk the journal takes, reserve included.
    pub fn allocated(&self) -> io::Result<u64> {
        // The unit is fixed, whatever the file system's blocks are.
        Ok(self.file.metadata()?.blocks() * 512)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn the_reserve_is_on_the_disk_and_the_length_is_not_touched() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("out.jsonl");
        let mut space = JournalSpace::open(&path, 1 << 20).expect("open");
        space.refill().expect("space");
        assert!(space.allocated().expect("known") >= 1 << 20);
        assert_eq!(std::fs::metadata(&path).expect("there").len(), 0);
    }

    #[test]
    fn the_reserve_follows_the_end() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("out.jsonl");
        let mut space = JournalSpace::open(&path, 1 << 20).expect("open");
        space.refill().expect("space");
        let mut writer = OpenOptions::new().append(true).open(&path).expect("open");
        writer.write_all(&vec![b'x'; 3 << 20]).expect("written");
        space.refill().expect("space");
        assert!(space.allocated().expect("known") >= 4 << 20);
        assert_eq!(std::fs::metadata(&path).expect("there").len(), 3 << 20);
    }

    #[test]
    fn what_was_consumed_is_given_back_and_the_rest_stays_where_it_was() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("out.jsonl");
        let mut space = JournalSpace::open(&path, 1 << 16).expect("open");
        let mut writer = OpenOptions::new().append(true).open(&path).expect("open");
        writer.write_all(&vec![b'a'; 2 << 20]).expect("written");
        writer.write_all(b"the last line\n").expect("written");
        let before = space.allocated().expect("known");
        space.give_back((2 << 20) - 1).expect("punched");
        assert!(space.allocated().expect("known") < before / 2);
        let bytes = std::fs::read(&path).expect("readable");
        assert_eq!(bytes.len(), (2 << 20) + 14);
        assert_eq!(&bytes[(2 << 20) - 2..], b"aathe last line\n");
    }
}
