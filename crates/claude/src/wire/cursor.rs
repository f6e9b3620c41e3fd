//! A cursor over text already known to be valid JSON.
//!
//! One pass proves a line valid; this cursor then walks it once, jumping over what nobody asks for, and can be copied to
//! look ahead or to go back after a value that has the wrong shape. It borrows strings without escapes. It does not
//! check grammar again: on text that is not JSON it may misread, but it never panics and always ends.

use std::borrow::Cow;

use memchr::memchr2;

use super::diagnostic::{Diagnostic, Reason};

/// Typed reading stops at this nesting; deeper values stay raw, so that no line can exhaust the stack.
const MAX_DEPTH: u16 = 96;

/// A position in valid JSON text. Copying it is how a reader looks ahead.
#[derive(Debug, Clone, Copy)]
pub struct Cursor<'a> {
    text: &'a str,
    at: usize,
    depth: u16,
}

impl<'a> Cursor<'a> {
    /// Starts at the beginning of `text`, which must be valid JSON.
    pub(crate) const fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            depth: 0,
        }
    }

    fn byte(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    /// Skips white space and returns the byte a value (or delimiter) starts with.
    pub(crate) fn peek(&mut self) -> u8 {
        loop {
            match self.byte() {
                b' ' | b'\n' | b'\t' | b'\r' => self.at += 1,
                other => return other,
            }
        }
    }

    fn slice(&self, from: usize, to: usize) -> Result<&'a str, Diagnostic> {
        self.text
            .get(from..to)
            .ok_or_else(|| Diagnostic::here(Reason::Syntax))
    }

    /// Steps into an object.
    pub(crate) fn enter_object(&mut self) -> Result<(), Diagnostic> {
        self.enter(b'{', "an object")
    }

    /// Steps into an array.
    pub(crate) fn enter_array(&mut self) -> Result<(), Diagnostic> {
        self.enter(b'[', "an array")
    }

    fn enter(&mut self, open: u8, what: &'static str) -> Result<(), Diagnostic> {
        if self.peek() != open {
            return Err(Diagnostic::here(Reason::Expected(what)));
        }
        if self.depth >= MAX_DEPTH {
            return Err(Diagnostic::here(Reason::TooDeep));
        }
        self.at += 1;
        self.depth += 1;
        Ok(())
    }

    /// The next key of the object the cursor is in, or `None` when it has stepped out of it.
    pub(crate) fn next_key(&mut self) -> Result<Option<Cow<'a, str>>, Diagnostic> {
        if !self.more(b'}') {
            return Ok(None);
        }
        let key = self.string()?;
        if self.peek() != b':' {
            return Err(Diagnostic::here(Reason::Syntax));
        }
        self.at += 1;
        Ok(Some(key))
    }

    /// Whether another element of the array follows; steps out of it when not.
    pub(crate) fn next_element(&mut self) -> bool {
        self.more(b']')
    }

    fn more(&mut self, close: u8) -> bool {
        if self.peek() == b',' {
            self.at += 1;
        }
        let next = self.peek();
        if next == close || next == 0 {
            self.at += 1;
            self.depth = self.depth.saturating_sub(1);
            return false;
        }
        true
    }

    /// Reads a string, borrowed when it holds no escape. A lone surrogate becomes U+FFFD.
    pub(crate) fn string(&mut self) -> Result<Cow<'a, str>, Diagnostic> {
        if self.peek() != b'"' {
            return Err(Diagnostic::here(Reason::Expected("a string")));
        }
        let from = self.at + 1;
        let escaped = self.skip_string();
        let inner = self.slice(from, self.at.saturating_sub(1).max(from))?;
        Ok(if escaped {
            Cow::Owned(unescape(inner))
        } else {
            Cow::Borrowed(inner)
        })
    }

    /// Moves behind the string that starts here; says whether it held an escape.
    fn skip_string(&mut self) -> bool {
        let bytes = self.text.as_bytes();
        let mut escaped = false;
        self.at += 1;
        while let Some(found) = bytes
            .get(self.at..)
            .and_then(|rest| memchr2(b'"', b'\\', rest))
        {
            self.at += found;
            if self.byte() == b'"' {
                self.at += 1;
                return escaped;
            }
            escaped = true;
            self.at += 2;
        }
        self.at = bytes.len();
        escaped
    }

    /// Reads a number, `true`, `false` or `null` as its text; empty for any other value.
    pub(crate) fn scalar(&mut self) -> Result<&'a str, Diagnostic> {
        self.peek();
        let from = self.at;
        while !matches!(
            self.byte(),
            0 | b',' | b'}' | b']' | b'{' | b'[' | b'"' | b':' | b' ' | b'\n' | b'\t' | b'\r'
        ) {
            self.at += 1;
        }
        self.slice(from, self.at)
    }

    /// Jumps over the value that starts here and returns its text.
    pub(crate) fn raw(&mut self) -> Result<&'a str, Diagnostic> {
        let first = self.peek();
        let from = self.at;
        match first {
            b'"' => {
                self.skip_string();
            }
            b'{' | b'[' => self.skip_nested(),
            _ => return self.scalar(),
        }
        self.slice(from, self.at)
    }

    fn skip_nested(&mut self) {
        let mut open = 0_usize;
        loop {
            match self.byte() {
                b'{' | b'[' => open += 1,
                b'}' | b']' => open -= 1,
                b'"' => {
                    self.skip_string();
                    continue;
                }
                0 if self.at >= self.text.len() => return,
                _ => {}
            }
            self.at += 1;
            if open == 0 {
                return;
            }
        }
    }

    /// Looks ahead for the string value of `name` in the object that starts here; does not move.
    pub(crate) fn tag(&self, name: &str) -> Option<Cow<'a, str>> {
        let mut ahead = self.find(name)?;
        ahead.string().ok()
    }

    /// A cursor at the value of `name` in the object that starts here.
    pub(crate) fn find(&self, name: &str) -> Option<Self> {
        let mut ahead = *self;
        ahead.depth = 0;
        ahead.enter_object().ok()?;
        while let Some(key) = ahead.next_key().ok()? {
            if key == name {
                return Some(ahead);
            }
            ahead.raw().ok()?;
        }
        None
    }

    /// Reads a tag that has to have the value a union was chosen by.
    pub(crate) fn expect_tag(
        &mut self,
        name: &'static str,
        value: &'static str,
    ) -> Result<(), Diagnostic> {
        match self.string() {
            Ok(found) if found == value => Ok(()),
            _ => Err(Diagnostic::at(name, Reason::Expected(value))),
        }
    }
}

/// Decodes the inside of a JSON string.
fn unescape(inner: &str) -> String {
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some((plain, after)) = rest.split_once('\\') {
        out.push_str(plain);
        let mut chars = after.chars();
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('b') => out.push('\u{8}'),
            Some('f') => out.push('\u{c}'),
            Some('u') => {
                rest = unescape_unicode(chars.as_str(), &mut out);
                continue;
            }
            Some(other) => out.push(other),
            None => {}
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    out
}

/// Decodes what follows `\u`, taking a second escape when it completes a surrogate pair; returns what is left.
fn unescape_unicode<'a>(after: &'a str, out: &mut String) -> &'a str {
    let Some((high, rest)) = hex4(after) else {
        out.push(char::REPLACEMENT_CHARACTER);
        return after;
    };
    if (0xD800..0xDC00).contains(&high)
        && let Some((low, behind)) = rest.strip_prefix("\\u").and_then(hex4)
        && (0xDC00..0xE000).contains(&low)
    {
        let point = 0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00);
        out.push(char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER));
        return behind;
    }
    out.push(char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER));
    rest
}

fn hex4(text: &str) -> Option<(u32, &str)> {
    let (digits, rest) = text.split_at_checked(4)?;
    Some((u32::from_str_radix(digits, 16).ok()?, rest))
}
