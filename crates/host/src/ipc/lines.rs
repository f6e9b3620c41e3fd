//! Bytes to lines, with a limit: a line that is too long is skipped to its end without being kept.
//!
//! What follows the last newline when the stream ends is a torn line and is no line at all.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt as _};

/// How much is read at once.
const CHUNK: usize = 64 * 1024;

/// A line, without its newline.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Text(String),
    /// Longer than the limit; only its ends are known.
    TooLong(Ends),
    /// Not UTF-8 from this byte on.
    NotText(usize),
}

/// So much is kept of each end of a line that is too long: enough to tell whose it was.
const END: usize = 4 * 1024;

/// The beginning and the end of a line that is too long.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Ends {
    pub(super) head: Vec<u8>,
    pub(super) tail: Vec<u8>,
}

impl Ends {
    fn take(&mut self, bytes: &[u8]) {
        let room = END - self.head.len();
        self.head.extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.tail
            .extend_from_slice(&bytes[bytes.len().saturating_sub(END)..]);
        let old = self.tail.len().saturating_sub(END);
        self.tail.drain(..old);
    }
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
    /// What is known of a line that is being skipped.
    skipping: Option<Ends>,
}

impl Splitter {
    fn new(limit: usize) -> Self {
        Self {
            bytes: Vec::new(),
            start: 0,
            searched: 0,
            limit,
            skipping: None,
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
            let skipped = self.skipping.take();
            let line = if line.len() > self.limit || skipped.is_some() {
                let mut ends = skipped.unwrap_or_default();
                ends.take(line);
                Line::TooLong(ends)
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
        if self.skipping.is_some() || self.bytes.len() - self.start > self.limit {
            let ends = self.skipping.get_or_insert_default();
            ends.take(&self.bytes[self.start..]);
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
pub(crate) struct Lines<R> {
    from: R,
    splitter: Splitter,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(crate) fn new(from: R, limit: usize) -> Self {
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
    pub(crate) async fn next(&mut self) -> io::Result<Option<Line>> {
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
                too_long(&"a".repeat(100)),
                of("two"),
                of("0123456789"),
                too_long("01234567890")
            ]
        );
    }

    fn too_long(text: &str) -> Line {
        let (head, tail) = (text.as_bytes().to_vec(), text.as_bytes().to_vec());
        Line::TooLong(Ends { head, tail })
    }

    #[test]
    fn of_a_line_that_is_too_long_only_the_ends_are_kept() {
        let numbers: Vec<String> = (0..100_000).map(|number| number.to_string()).collect();
        let text = numbers.join(",");
        let chunks: Vec<&[u8]> = text
            .as_bytes()
            .chunks(1000)
            .chain([b"\n".as_slice()])
            .collect();
        let lines = split(&chunks, 10_000);
        let [Line::TooLong(ends)] = lines.as_slice() else {
            panic!("{} lines", lines.len());
        };
        assert!(ends.head.len() <= END && ends.tail.len() == END);
        assert!(text.as_bytes().starts_with(&ends.head));
        assert!(text.as_bytes().ends_with(&ends.tail));
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
                .map(|line| if line.len() > limit { Line::TooLong(Ends::default()) } else { of(line) })
                .collect();
            let mut found = split(&chunks, limit);
            for line in &mut found {
                if let Line::TooLong(ends) = line {
                    *ends = Ends::default();
                }
            }
            prop_assert_eq!(found, expected);
        }
    }
}
