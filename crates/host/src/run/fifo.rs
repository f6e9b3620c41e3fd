//! Writing to the CLI's FIFO without ever leaving half a line.
//!
//! Half a line followed by another one ends the CLI. A line of at most 4096 bytes is atomic by definition. A longer
//! one is written only into an empty pipe that holds it whole: the call cannot block there and so cannot be cut,
//! not even by -9. The pipe is enlarged for a line that needs it and shrunk once that was read, because large pipes for
//! everybody exhaust the user's quota. A pipe keeps its size when its writer dies: the next one shrinks it.

use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

use rustix::io::ioctl_fionread;
use rustix::pipe::{fcntl_getpipe_size, fcntl_setpipe_size};
use tokio::net::unix::pipe::{OpenOptions, Sender};

/// What the kernel writes in one piece, whatever the pipe holds.
pub const ATOMIC: usize = 4096;

/// The size of a pipe at rest.
pub const RESTING: usize = 64 * 1024;

/// The longest line that goes through the FIFO; a longer one goes to a file that the text names.
pub const LONGEST: usize = 1024 * 1024;

/// How often an occupied pipe is looked at again; the kernel tells when there is some room, not when it is empty.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// The same for one that is to be shrunk, at most: a CLI that is held may leave a line lying for days.
const LOOK_AT_LEAST: Duration = Duration::from_secs(1);

/// Why a line was not written. Nothing of it was, unless it is said to be torn.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// Nobody reads the FIFO: the CLI is gone.
    #[error("the CLI is gone")]
    Gone,
    /// The line is longer than any pipe may be.
    #[error(
        "a line of {length} bytes is longer than the {LONGEST} that fit; put it into a file and name that"
    )]
    TooLong {
        /// Its length with the line feed.
        length: usize,
    },
    /// The user's pipe quota is spent.
    #[error(
        "a line of {length} bytes needs a larger pipe than this user may have; put it into a file and name that"
    )]
    QuotaSpent {
        /// Its length with the line feed.
        length: usize,
    },
    /// The system refused when a part of the line was in the pipe already: whatever follows would be glued to it.
    #[error("{written} of {length} bytes of a line are in the pipe, and the rest cannot follow")]
    Torn {
        /// What is in the pipe.
        written: usize,
        /// Its length with the line feed.
        length: usize,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The system refused.
    #[error("failed to write to the FIFO")]
    Io(#[source] io::Error),
}

/// The one writer of a FIFO.
#[derive(Debug)]
pub struct FifoWriter {
    pipe: Sender,
    /// The pipe is larger than at rest.
    enlarged: bool,
}

impl FifoWriter {
    /// Opens the FIFO of a living CLI.
    pub fn open(path: &Path) -> Result<Self, WriteError> {
        let pipe = OpenOptions::new().open_sender(path).map_err(|error| {
            if error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) {
                return WriteError::Gone;
            }
            WriteError::Io(error)
        })?;
        let size = fcntl_getpipe_size(pipe.as_fd());
        Ok(Self {
            pipe,
            enlarged: size.is_ok_and(|size| size > RESTING),
        })
    }

    /// Whether the pipe is larger than at rest.
    pub fn is_enlarged(&self) -> bool {
        self.enlarged
    }

    /// Shrinks the pipe as soon as what is inside was read. Safe to be dropped at any time.
    pub async fn rest(&mut self) {
        let mut pause = LOOK_AGAIN;
        loop {
            self.shrink();
            if !self.enlarged {
                return;
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LOOK_AT_LEAST);
        }
    }

    /// Writes one line with its line feed, whole or not at all.
    pub async fn write(&mut self, line: &[u8]) -> Result<(), WriteError> {
        let mut bytes = Vec::with_capacity(line.len() + 1);
        bytes.extend_from_slice(line);
        bytes.push(b'\n');
        self.shrink();
        if bytes.len() <= ATOMIC {
            return self.write_whole(&bytes).await;
        }
        if bytes.len() > LONGEST {
            return Err(WriteError::TooLong {
                length: bytes.len(),
            });
        }
        self.wait_until_empty().await?;
        self.make_room(bytes.len())?;
        self.write_whole(&bytes).await
    }

    /// A kernel without memory may take a part only. The rest must follow, and nothing else: the CLI reads on until the end
    /// of the line.
    async fn write_whole(&self, bytes: &[u8]) -> Result<(), WriteError> {
        let mut written = 0;
        while written < bytes.len() {
            let step = match self.pipe.writable().await {
                Ok(()) => self.pipe.try_write(&bytes[written..]),
                Err(error) => Err(error),
            };
            match step {
                Ok(length) => written += length,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(refused(error, written, bytes.len())),
            }
        }
        Ok(())
    }

    async fn wait_until_empty(&self) -> Result<(), WriteError> {
        while ioctl_fionread(self.pipe.as_fd()).map_err(|error| WriteError::Io(error.into()))? > 0 {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        Ok(())
    }

    fn make_room(&mut self, length: usize) -> Result<(), WriteError> {
        let size =
            fcntl_getpipe_size(self.pipe.as_fd()).map_err(|error| WriteError::Io(error.into()))?;
        let needed = length.next_multiple_of(ATOMIC);
        if size >= needed {
            return Ok(());
        }
        match fcntl_setpipe_size(self.pipe.as_fd(), needed.next_power_of_two()) {
            Ok(_) => {
                self.enlarged = true;
                Ok(())
            }
            Err(rustix::io::Errno::PERM) => Err(WriteError::QuotaSpent { length }),
            Err(error) => Err(WriteError::Io(error.into())),
        }
    }

    /// Back to the resting size once the long line is out; the kernel refuses while it is still inside.
    fn shrink(&mut self) {
        if self.enlarged && fcntl_setpipe_size(self.pipe.as_fd(), RESTING).is_ok() {
            self.enlarged = false;
        }
    }
}

/// What it means that the system refuses, when a part of the line is in the pipe or none.
fn refused(error: io::Error, written: usize, length: usize) -> WriteError {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return WriteError::Gone;
    }
    if written == 0 {
        return WriteError::Io(error);
    }
    WriteError::Torn {
        written,
        length,
        source: error,
    }
}

#[cfg(test)]
#[path = "fifo_tests.rs"]
mod tests;
