//! The front matter of a Markdown file: reading single values, and changing some of them. Pure.
//!
//! People write it by hand and other programs put keys of their own into it, so a change touches the lines of the keys it
//! is about and leaves every other byte as it is. Only what a task needs is understood: top-level keys with texts as
//! values. Lists and nested values of other keys are carried along unread.

use std::fmt::Write as _;
use std::ops::Range;

/// Why a text has no front matter that can be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MatterError {
    /// The first line is not `---`.
    #[error("there is no front matter: the first line is not `---`")]
    Missing,
    /// It does not end.
    #[error("the front matter is not closed: a line `---` is missing")]
    Unclosed,
    /// A line is neither a key with its value nor belongs to one.
    #[error("line {line} of the front matter is no `key: value`")]
    NoKey {
        /// The number of the line in the file, from 1.
        line: usize,
    },
    /// A key that must be there once stands there twice.
    #[error("`{key}` stands twice in the front matter")]
    Twice {
        /// The key.
        key: String,
    },
    /// A value begins with a quotation mark and does not end with it.
    #[error("the value of `{key}` is not closed by its quotation mark")]
    Quotes {
        /// The key.
        key: String,
    },
}

/// One key with its value and the lines it stands in.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Field {
    key: String,
    /// The value; none if it has quotation marks that do not fit.
    value: Option<String>,
    /// Its bytes in the text, line ends included.
    span: Range<usize>,
}

/// The front matter of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matter<'t> {
    text: &'t str,
    fields: Vec<Field>,
    /// Where the line begins that closes it.
    end: usize,
    /// Where the rest of the file begins.
    body: usize,
    line_end: &'static str,
}

impl<'t> Matter<'t> {
    /// Finds the front matter of a text.
    pub fn parse(text: &'t str) -> Result<Self, MatterError> {
        // Some editors begin a file with a mark of its encoding.
        let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
        let mut lines = Lines {
            text,
            at: start,
            number: 0,
        };
        let first = lines.next().ok_or(MatterError::Missing)?;
        if first.text.trim_end() != "---" {
            return Err(MatterError::Missing);
        }
        let line_end = if first.text.ends_with("\r\n") {
            "\r\n"
        } else {
            "\n"
        };
        let mut fields: Vec<Field> = Vec::new();
        let mut open = false;
        for line in lines {
            let trimmed = line.text.trim_end();
            if matches!(trimmed, "---" | "...") {
                return Ok(Self {
                    text,
                    fields: read_values(text, fields),
                    end: line.span.start,
                    body: line.span.end,
                    line_end,
                });
            }
            let is_inner = line.text.starts_with([' ', '\t']) || is_item(trimmed);
            match (is_inner, fields.last_mut()) {
                (true, Some(field)) if open => field.span.end = line.span.end,
                _ if trimmed.is_empty() || trimmed.trim_start().starts_with('#') => open = false,
                _ => {
                    // What belongs to a key and follows none is no key either.
                    let key = key_of(trimmed).filter(|_| !is_inner);
                    let key = key.ok_or(MatterError::NoKey { line: line.number })?;
                    fields.push(Field {
                        key: key.to_owned(),
                        value: None,
                        span: line.span,
                    });
                    open = true;
                }
            }
        }
        Err(MatterError::Unclosed)
    }

    /// The value of a key that may stand there once; none if it is not there or blank.
    pub fn value(&self, key: &str) -> Result<Option<&str>, MatterError> {
        let mut found = self.fields.iter().filter(|field| field.key == key);
        let Some(field) = found.next() else {
            return Ok(None);
        };
        if found.next().is_some() {
            return Err(MatterError::Twice {
                key: key.to_owned(),
            });
        }
        match &field.value {
            Some(value) => Ok(Some(value.as_str()).filter(|value| !value.is_empty())),
            None => Err(MatterError::Quotes {
                key: key.to_owned(),
            }),
        }
    }

    /// What stands behind it.
    pub fn body(&self) -> &'t str {
        &self.text[self.body..]
    }

    /// The whole text with other values of some keys; a key without a value is taken out. New keys go to the end.
    pub fn with(&self, changes: &[(&str, Option<&str>)]) -> String {
        let mut written = String::with_capacity(self.text.len() + 128);
        let mut at = 0;
        let mut done = Vec::new();
        for field in &self.fields {
            let change = changes.iter().find(|(key, _)| *key == field.key);
            let Some((key, value)) = change else { continue };
            written.push_str(&self.text[at..field.span.start]);
            if let Some(value) = value {
                self.write(&mut written, key, value);
            }
            at = field.span.end;
            done.push(*key);
        }
        written.push_str(&self.text[at..self.end]);
        for (key, value) in changes {
            if let (Some(value), false) = (value, done.contains(key)) {
                self.write(&mut written, key, value);
            }
        }
        written.push_str(&self.text[self.end..]);
        written
    }

    fn write(&self, written: &mut String, key: &str, value: &str) {
        written.push_str(key);
        written.push_str(": ");
        written.push_str(&as_value(value));
        written.push_str(self.line_end);
    }
}

/// New front matter with these keys, for a file that is made.
pub fn made_of(fields: &[(&str, &str)]) -> String {
    let lines = fields
        .iter()
        .map(|(key, value)| format!("{key}: {}\n", as_value(value)));
    format!("---\n{}---\n", lines.collect::<String>())
}

#[derive(Debug)]
struct Line<'t> {
    /// With its end.
    text: &'t str,
    span: Range<usize>,
    number: usize,
}

#[derive(Debug)]
struct Lines<'t> {
    text: &'t str,
    at: usize,
    number: usize,
}

impl<'t> Iterator for Lines<'t> {
    type Item = Line<'t>;

    fn next(&mut self) -> Option<Line<'t>> {
        let rest = &self.text[self.at..];
        if rest.is_empty() {
            return None;
        }
        let length = rest.find('\n').map_or(rest.len(), |end| end + 1);
        let span = self.at..self.at + length;
        self.at = span.end;
        self.number += 1;
        Some(Line {
            text: &self.text[span.clone()],
            span,
            number: self.number,
        })
    }
}

/// An item of a list, which YAML lets stand at the margin.
fn is_item(line: &str) -> bool {
    line == "-" || line.starts_with("- ")
}

/// The key of a line, if it has one.
fn key_of(line: &str) -> Option<&str> {
    let (key, value) = line.split_once(':')?;
    let is_key = !key.is_empty() && !key.ends_with([' ', '\t']);
    (is_key && (value.is_empty() || value.starts_with([' ', '\t']))).then_some(key)
}

fn read_values(text: &str, mut fields: Vec<Field>) -> Vec<Field> {
    for field in &mut fields {
        let lines = &text[field.span.clone()];
        let (_, value) = lines.split_once(':').unwrap_or_default();
        field.value = read_value(value);
    }
    fields
}

/// The text that a value stands for; none if its quotation marks do not fit.
fn read_value(value: &str) -> Option<String> {
    let trimmed = value.trim();
    match trimmed.chars().next() {
        Some('"') => read_quoted(trimmed),
        Some('\'') => {
            let end = single_end(trimmed)?;
            Some(trimmed[1..end].replace("''", "'"))
        }
        // A block of lines; as a title or a reason it is read as one.
        Some('|' | '>') => {
            let lines = trimmed.lines().skip(1).map(str::trim);
            let lines = lines.filter(|line| !line.is_empty());
            Some(lines.collect::<Vec<_>>().join(" "))
        }
        _ => {
            let plain = trimmed.lines().map(without_comment);
            Some(plain.collect::<Vec<_>>().join(" ").trim().to_owned())
        }
    }
}

fn without_comment(line: &str) -> &str {
    let line = line.trim();
    if line.starts_with('#') {
        return "";
    }
    line.split_once(" #")
        .map_or(line, |(value, _)| value)
        .trim()
}

/// Where the single quotation mark is that closes a value; two of them stand for one.
fn single_end(value: &str) -> Option<usize> {
    let mut marks = value.char_indices().skip(1).filter(|(_, c)| *c == '\'');
    loop {
        let (at, _) = marks.next()?;
        if value[at + 1..].starts_with('\'') {
            marks.next();
        } else {
            return is_end(&value[at + 1..]).then_some(at);
        }
    }
}

fn read_quoted(value: &str) -> Option<String> {
    let mut read = String::new();
    let mut symbols = value.char_indices().skip(1);
    while let Some((at, symbol)) = symbols.next() {
        match symbol {
            '"' => return is_end(&value[at + 1..]).then_some(read),
            '\\' => match symbols.next()?.1 {
                'n' => read.push('\n'),
                't' => read.push('\t'),
                'r' => read.push('\r'),
                'u' => {
                    let digits: String = symbols.by_ref().take(4).map(|(_, c)| c).collect();
                    let number = u32::from_str_radix(&digits, 16).ok()?;
                    read.push(char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER));
                }
                other => read.push(other),
            },
            other => read.push(other),
        }
    }
    None
}

/// Nothing but a comment may follow a closing mark.
fn is_end(rest: &str) -> bool {
    let rest = rest.trim_start();
    rest.is_empty() || rest.starts_with('#')
}

/// A text as a value: as it is where that can only mean the text, and else in quotation marks.
fn as_value(text: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ':' | '/');
    let is_plain = text.starts_with(char::is_alphanumeric)
        && text.chars().all(|c| is_word(c) || c == ' ')
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !["true", "false", "null", "yes", "no", "on", "off"]
            .contains(&text.to_lowercase().as_str());
    if is_plain {
        return text.to_owned();
    }
    let mut quoted = String::from("\"");
    for symbol in text.chars() {
        match symbol {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            // The lines of a file end with these as well.
            '\u{85}' | '\u{2028}' | '\u{2029}' => quoted.push(' '),
            c if c.is_control() => {
                // Writing to a string cannot fail.
                let _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
#[path = "matter_tests.rs"]
mod tests;
