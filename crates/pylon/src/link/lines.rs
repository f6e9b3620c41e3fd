//! Lines from a stream, with a limit on their length.
//!
//! A line that is too long or no text is told as such and skipped; the stream goes on behind it. What stands after the
//! last line feed when the stream ends is no line: its writer was cut off.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};

/// What stood between two line feeds.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Text(String),
    TooLong,
    NoText,
}

/// Reads lines of at most `limit` bytes.
#[derive(Debug)]
pub(super) struct Lines<R> {
    stream: R,
    limit: usize,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    pub(super) fn new(stream: R, limit: usize) -> Self {
        Self { stream, limit }
    }

    /// The next line, without its line feed; nothing at the end. A call that is dropped loses what it has read.
    pub(super) async fn next(&mut self) -> io::Result<Option<Line>> {
        let mut line = Vec::new();
        let mut is_too_long = false;
        loop {
            let chunk = self.stream.fill_buf().await?;
            if chunk.is_empty() {
                return Ok(None);
            }
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let text = &chunk[..end.unwrap_or(chunk.len())];
            is_too_long |= line.len() + text.len() > self.limit;
            if is_too_long {
                line = Vec::new();
            } else {
                line.extend_from_slice(text);
            }
            let consumed = end.map_or(chunk.len(), |end| end + 1);
            self.stream.consume(consumed);
            if end.is_some() {
                break;
            }
        }
        Ok(Some(match String::from_utf8(line) {
            _ if is_too_long => Line::TooLong,
            Ok(text) => Line::Text(text),
            Err(_) => Line::NoText,
        }))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::BufReader;

    use super::*;

    async fn read(bytes: &[u8], buffer: usize) -> Vec<Line> {
        let mut lines = Lines::new(BufReader::with_capacity(buffer, bytes), 5);
        let mut seen = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            seen.push(line);
        }
        seen
    }

    #[tokio::test]
    async fn a_bad_line_does_not_end_the_stream() {
        let text = |text: &str| Line::Text(text.to_owned());
        for buffer in [1, 2, 3, 64] {
            let seen = read(b"12345\n123456\n\xff\n\nlast\ncut", buffer).await;
            let expected = [
                text("12345"),
                Line::TooLong,
                Line::NoText,
                text(""),
                text("last"),
            ];
            assert_eq!(seen, expected, "with a buffer of {buffer}");
        }
    }
}
