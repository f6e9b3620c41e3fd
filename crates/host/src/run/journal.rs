//! Reading a journal while the CLI writes it.
//!
//! A reader starts at a byte offset and gives whole lines only: bytes behind the last line feed are not a line yet.
//! It can be dropped and made again at [`JournalReader::offset`] without losing or repeating anything.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use estelle_claude::framing::{Frame, Splitter};

/// How much is read in one go.
const CHUNK: usize = 64 * 1024;

thread_local! {
    /// What was just read. All readers of a thread share it: most of them have nothing to read most of the time.
    static JUST_READ: RefCell<Vec<u8>> = RefCell::new(vec![0; CHUNK]);
}

/// A position in a journal.
#[derive(Debug)]
pub struct JournalReader {
    file: File,
    splitter: Splitter,
}

impl JournalReader {
    /// Opens a journal at an offset where a line begins.
    pub fn open(path: &Path, offset: u64) -> io::Result<Self> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(offset))?;
        Ok(Self {
            file,
            splitter: Splitter::default().at_offset(offset),
        })
    }

    /// The offset behind the last frame given out.
    pub fn offset(&self) -> u64 {
        self.splitter.offset()
    }

    /// Reads until there is a frame or nothing more to read.
    pub fn read_some(&mut self, frames: &mut VecDeque<Frame>) -> io::Result<()> {
        while frames.is_empty() && self.fill()? {
            frames.extend(std::iter::from_fn(|| self.splitter.next_frame()));
        }
        Ok(())
    }

    /// Reads what is there, up to a chunk; each frame with the offset behind it.
    pub fn read_with_offsets(&mut self, frames: &mut VecDeque<(Frame, u64)>) -> io::Result<()> {
        while frames.is_empty() && self.fill()? {
            while let Some(frame) = self.splitter.next_frame() {
                frames.push_back((frame, self.splitter.offset()));
            }
        }
        Ok(())
    }

    /// Reads a chunk. Whether there was anything.
    fn fill(&mut self) -> io::Result<bool> {
        JUST_READ.with_borrow_mut(|chunk| {
            let length = self.file.read(chunk)?;
            if length == 0 {
                self.splitter.release();
            }
            self.splitter.push(&chunk[..length]);
            Ok(length > 0)
        })
    }

    /// What is left behind the last line feed of a run that has ended.
    pub fn finish(&mut self) -> Option<Frame> {
        self.splitter.finish()
    }
}

/// Reads a range of a journal in pieces.
pub fn read_range(path: &Path, from: u64, to: u64, mut show: impl FnMut(&[u8])) -> io::Result<()> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(from))?;
    let mut rest = file.take(to.saturating_sub(from));
    let mut chunk = vec![0; CHUNK];
    loop {
        let length = rest.read(&mut chunk)?;
        if length == 0 {
            return Ok(());
        }
        show(&chunk[..length]);
    }
}
