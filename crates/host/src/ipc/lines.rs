//! Bytes to lines, with a limit: a line that is too long is skipped to its end without being kept.
//!
//! What follows the last newline when the stream ends is a torn line and is no line at all.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt as _};

/// How much is read at once.
const CHUNK: usize = 64 * 1024;

/// A line, without its newline.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Text(String),
    /// Longer than the limit; what was in it is not known.
    TooLong,
    /// Not UTF-8 from this byte on.
    NotText(usize),
}

/// The bytes that are not yet lines.
#[derive(Debug)]
struct Splitter {
    bytes: Vec<u8>,
    /// Where the line that is next begins.
    start: usize,
    /// Up to here there is no newline.
    searched: usize,
    limit: usize,
    is_skipping: bool,
}

impl Splitter {
    fn new(limit: usize) -> Self {
        Self {
            bytes: Vec::new(),
            start: 0,
            searched: 0,
            limit,
            is_skipping: false,
        }
    }

    /// The next line, if all of it is there.
    fn pop(&mut self) -> Option<Line> {
        loop {
            let Some(found) = memchr::memchr(b'\n', &self.bytes[self.searched..]) else {
                self.searched = self.bytes.len();
                self.shorten();
                return None;
            };
            let end = self.searched + found;
            let line = &self.bytes[self.start..end];
            let was_skipped = std::mem::take(&mut self.is_skipping);
            let line = if line.len() > self.limit || was_skipped {
                Line::TooLong
            } else {
                text(line)
            };
            self.start = end + 1;
            self.searched = self.start;
            // A blank line is nothing, as in a conversation by hand.
            if !matches!(&line, Line::Text(text) if text.trim().is_empty()) {
                return Some(line);
            }
        }
    }

    /// Forgets what was read, and the beginning of a line that is too long already.
    fn shorten(&mut self) {
        if self.is_skipping || self.bytes.len() - self.start > self.limit {
            self.is_skipping = true;
            self.start = self.bytes.len();
        }
        self.bytes.drain(..self.start);
        self.searched -= self.start;
        self.start = 0;
        if self.bytes.capacity() > 4 * CHUNK + 2 * self.bytes.len() {
            self.bytes.shrink_to(4 * CHUNK);
        }
    }
}

fn text(line: &[u8]) -> Line {
    match str::from_utf8(line) {
        Ok(text) => Line::Text(text.to_owned()),
        Err(error) => Line::NotText(error.valid_up_to()),
    }
}

/// The lines of a stream.
#[derive(Debug)]
pub(super) struct Lines<R> {
    from: R,
    splitter: Splitter,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(from: R, limit: usize) -> Self {
        Self {
            from,
            splitter: Splitter::new(limit),
        }
    }

    /// From now on lines may be this long.
    pub(super) fn set_limit(&mut self, limit: usize) {
        self.splitter.limit = limit;
    }

    /// The next line, or nothing at the end of the stream. Loses nothing when it is dropped.
    pub(super) async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            if let Some(line) = self.splitter.pop() {
                return Ok(Some(line));
            }
            self.splitter.bytes.reserve(CHUNK);
            if self.from.read_buf(&mut self.splitter.bytes).await? == 0 {
                return Ok(None);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split(chunks: &[&[u8]], limit: usize) -> Vec<Line> {
        let mut splitter = Splitter::new(limit);
        let mut lines = Vec::new();
        for chunk in chunks {
            splitter.bytes.extend_from_slice(chunk);
            while let Some(line) = splitter.pop() {
                lines.push(line);
            }
            assert!(
                splitter.bytes.len() <= limit,
                "more is kept than a line may have"
            );
        }
        lines
    }

    fn of(text: &str) -> Line {
        Line::Text(text.to_owned())
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped_to_its_end() {
        let long = [b'a'; 50];
        let lines = split(
            &[
                b"one\n",
                &long,
                &long,
                b"\ntwo\n",
                b"0123456789\n01234567890\nthree",
            ],
            10,
        );
        assert_eq!(
            lines,
            [
                of("one"),
                Line::TooLong,
                of("two"),
                of("0123456789"),
                Line::TooLong
            ]
        );
    }

    #[test]
    fn what_is_no_text_says_where_and_blank_lines_are_nothing() {
        let lines = split(&[b"\n \r\n", b"ab\xff\n", b"c\r\n"], 100);
        assert_eq!(lines, [Line::NotText(2), of("c\r")]);
    }

    proptest! {
        #[test]
        fn it_does_not_matter_how_the_bytes_arrive(
            text in "[a-c\n🌙]{0,200}",
            cuts in prop::collection::vec(0_usize..400, 0..20),
            limit in 1_usize..30,
        ) {
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().filter(|cut| *cut < bytes.len()).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let chunks: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            let (complete, _) = text.rsplit_once('\n').unwrap_or_default();
            let lines = complete.split('\n').filter(|line| !line.is_empty());
            let expected: Vec<Line> = lines
                .map(|line| if line.len() > limit { Line::TooLong } else { of(line) })
                .collect();
            prop_assert_eq!(split(&chunks, limit), expected);
        }
    }
}
