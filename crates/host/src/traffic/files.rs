//! The files of the log: one a day, cut when it grows too large, the oldest removed.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use estelle_proto::Timestamp;

use super::date::day;

/// How much is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most bytes of one file.
    pub file_bytes: u64,
    /// Most files, the present one included.
    pub files: usize,
}

impl Default for Limits {
    /// Two weeks of ordinary days, or half a gigabyte.
    fn default() -> Self {
        Self {
            file_bytes: 32 * 1024 * 1024,
            files: 16,
        }
    }
}

/// The open file and those before it.
#[derive(Debug)]
pub(super) struct LogFiles {
    folder: PathBuf,
    limits: Limits,
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    file: File,
    day: String,
    length: u64,
}

impl LogFiles {
    pub(super) fn open(folder: &Path, limits: Limits) -> io::Result<Self> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
        Ok(Self {
            folder: folder.to_owned(),
            limits,
            open: None,
        })
    }

    /// Appends one line, whole or not at all.
    pub(super) fn append(&mut self, at: Timestamp, line: &str) -> io::Result<()> {
        let size = line.len() as u64 + 1;
        let day = day(at);
        let fits = |open: &Open| open.length == 0 || open.length + size <= self.limits.file_bytes;
        match &self.open {
            Some(open) if open.day == day && fits(open) => {}
            Some(open) if open.day == day => self.begin(day, Full::Yes)?,
            Some(_) | None => self.begin(day, Full::No)?,
        }
        // The file of an earlier start may be full already.
        if let Some(open) = &self.open
            && open.length > 0
            && open.length + size > self.limits.file_bytes
        {
            let day = open.day.clone();
            self.begin(day, Full::Yes)?;
        }
        let Some(open) = &mut self.open else {
            return Err(io::ErrorKind::NotFound.into());
        };
        let mut bytes = Vec::with_capacity(line.len() + 1);
        bytes.extend_from_slice(line.as_bytes());
        bytes.push(b'\n');
        if let Err(error) = open.file.write_all(&bytes) {
            // Half a line would spoil the next one, too.
            let _ = open.file.set_len(open.length);
            return Err(error);
        }
        open.length += size;
        Ok(())
    }

    fn begin(&mut self, day: String, full: Full) -> io::Result<()> {
        self.open = None;
        let path = self.folder.join(format!("{PREFIX}{day}{SUFFIX}"));
        if full == Full::Yes {
            fs::rename(&path, self.free_name(&day))?;
        }
        let file = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(&path)?;
        let length = file.metadata()?.len();
        self.open = Some(Open { file, day, length });
        self.remove_oldest();
        Ok(())
    }

    fn free_name(&self, day: &str) -> PathBuf {
        let taken = self.files().into_iter().filter(|name| name.day == day);
        let next = taken.filter_map(|name| name.part).max().unwrap_or(0) + 1;
        self.folder.join(format!("{PREFIX}{day}.{next}{SUFFIX}"))
    }

    fn remove_oldest(&self) {
        let mut files = self.files();
        files.sort();
        let surplus = files.len().saturating_sub(self.limits.files.max(1));
        for name in files.into_iter().take(surplus) {
            // One that cannot be removed is tried again with the next file.
            let _ = fs::remove_file(self.folder.join(name.to_file_name()));
        }
    }

    fn files(&self) -> Vec<Name> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten();
        entries
            .flatten()
            .filter_map(|entry| Name::parse(entry.file_name().to_str()?))
            .collect()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Full {
    Yes,
    No,
}

const PREFIX: &str = "sdk-";
const SUFFIX: &str = ".jsonl";

/// The name of a file: its day, and which part of the day it is; the present part has no number.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Name {
    day: String,
    /// The present part comes after all numbers.
    is_present: bool,
    part: Option<u32>,
}

impl Name {
    fn parse(name: &str) -> Option<Self> {
        let middle = name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
        let (day, part) = match middle.split_once('.') {
            Some((day, part)) => (day, Some(part.parse().ok()?)),
            None => (middle, None),
        };
        let is_day = day.len() >= 10 && day.bytes().all(|b| b.is_ascii_digit() || b == b'-');
        is_day.then(|| Self {
            day: day.to_owned(),
            is_present: part.is_none(),
            part,
        })
    }

    fn to_file_name(&self) -> String {
        match self.part {
            Some(part) => format!("{PREFIX}{}.{part}{SUFFIX}", self.day),
            None => format!("{PREFIX}{}{SUFFIX}", self.day),
        }
    }
}
