//! What the hosts of this process say in their log, for tests that look for a warning.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use tracing_subscriber::fmt::MakeWriter;

static LINES: Mutex<Vec<u8>> = Mutex::new(Vec::new());

#[derive(Clone, Copy)]
struct Ear;

impl Write for Ear {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut lines = LINES.lock().unwrap_or_else(PoisonError::into_inner);
        lines.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Ear {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        *self
    }
}

/// Listens from here on, to all tests of the process.
pub(super) fn begin() {
    // Another test may have begun already.
    let _ = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::WARN)
        .with_ansi(false)
        .with_writer(Ear)
        .try_init();
}

/// Whether there was a warning with both of these in it.
pub(super) fn warned(one: &str, other: &str) -> bool {
    let lines = LINES.lock().unwrap_or_else(PoisonError::into_inner);
    let text = String::from_utf8_lossy(&lines);
    text.lines()
        .any(|line| line.contains(" WARN ") && line.contains(one) && line.contains(other))
}
