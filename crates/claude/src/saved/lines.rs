//! Reads a transcript as lines, with bounded memory, up to the length it had when it was opened.
//!
//! The CLI may be appending: what comes after the opening is left for the next reader. At most one line is held at a
//! time; one beyond the limit is passed over without being held. What a line means is not known here.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::framing::DEFAULT_LINE_LIMIT;

/// An open transcript.
#[derive(Debug)]
pub(super) struct Transcript {
    file: File,
    /// The length at the time of opening.
    pub(super) length: u64,
}

/// Where a line lies in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) offset: u64,
    pub(super) length: usize,
}

impl Transcript {
    /// Opens a regular file; a link is refused.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(no_follow())
            .open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "not a regular file",
            ));
        }
        Ok(Self {
            file,
            length: metadata.len(),
        })
    }

    /// Hands every line to `take`, with its place.
    pub(super) fn for_each(&mut self, mut take: impl FnMut(Span, &[u8])) -> io::Result<()> {
        self.try_for_each(|span, line| {
            take(span, line);
            Ok(())
        })
    }

    /// Hands every line to `take` until it fails.
    pub(super) fn try_for_each(
        &mut self,
        mut take: impl FnMut(Span, &[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(0))?;
        let mut reader = BufReader::with_capacity(64 * 1024, (&self.file).take(self.length));
        let mut line = Vec::new();
        let mut offset = 0;
        loop {
            line.clear();
            let read = read_line(&mut reader, &mut line)?;
            if read == 0 {
                return Ok(());
            }
            if !line.is_empty() {
                let length = line.len();
                take(Span { offset, length }, &line)?;
            }
            offset += read;
        }
    }

    /// The line at a place that [`Self::for_each`] gave.
    pub(super) fn read(&mut self, span: Span) -> io::Result<Vec<u8>> {
        self.slice(span.offset, span.length)
    }

    /// The first bytes of the file, `limit` at most.
    pub(super) fn head(&mut self, limit: usize) -> io::Result<Vec<u8>> {
        let length = usize::try_from(self.length).unwrap_or(usize::MAX);
        self.slice(0, length.min(limit))
    }

    /// The last bytes of the file, `limit` at most, and none before `start`.
    pub(super) fn tail(&mut self, limit: usize, start: u64) -> io::Result<Vec<u8>> {
        let wanted = self
            .length
            .saturating_sub(u64::try_from(limit).unwrap_or(u64::MAX));
        let offset = wanted.max(start).min(self.length);
        let length = usize::try_from(self.length - offset).unwrap_or(limit);
        self.slice(offset, length)
    }

    fn slice(&mut self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.file.seek(SeekFrom::Start(offset))?;
        self.file.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

/// The flag that makes opening a link fail.
pub(super) fn no_follow() -> i32 {
    rustix::fs::OFlags::NOFOLLOW.bits().cast_signed()
}

/// Reads one line without its line feed and says how many bytes it took; one that is too long comes out empty.
fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<u64> {
    let mut taken = 0;
    let mut too_long = false;
    loop {
        let buffer = reader.fill_buf()?;
        if buffer.is_empty() {
            return Ok(taken);
        }
        let end = memchr::memchr(b'\n', buffer);
        let piece = &buffer[..end.unwrap_or(buffer.len())];
        too_long |= line.len() + piece.len() > DEFAULT_LINE_LIMIT;
        if too_long {
            line.clear();
        } else {
            line.extend_from_slice(piece);
        }
        let used = piece.len() + usize::from(end.is_some());
        taken += u64::try_from(used).unwrap_or(u64::MAX);
        reader.consume(used);
        if end.is_some() {
            return Ok(taken);
        }
    }
}
