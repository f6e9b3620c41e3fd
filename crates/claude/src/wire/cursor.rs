//! A cursor over JSON text.
//!
//! It walks a line once, checking the grammar of all it moves over, and can be copied to look ahead or to go back after a
//! value that has the wrong shape. It borrows strings without escapes. **Invariant:** a walk that met no error and
//! [ended](Cursor::ended) has proved the whole text to be JSON. Only looking ahead (`tag`, `find`) does not check what
//! it jumps over: on text that is not JSON it may misread, but it never panics and always ends.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::diagnostic::{Diagnostic, Reason};

/// Typed reading stops at this nesting; deeper values stay raw, so that no line can exhaust the stack.
const MAX_DEPTH: u16 = 96;

/// A position in JSON text. Copying it is how a reader looks ahead.
#[derive(Debug, Clone, Copy)]
pub struct Cursor<'a> {
    text: &'a str,
    at: usize,
    depth: u16,
}

impl<'a> Cursor<'a> {
    /// Starts at the beginning of `text`.
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

    /// Whether nothing but white space is left.
    pub(crate) fn ended(&mut self) -> bool {
        self.peek();
        self.at == self.text.len()
    }

    /// Leaves the text for good, so that no reader goes on behind something that is not JSON.
    fn lost(&mut self) -> Diagnostic {
        self.at = self.text.len() + 1;
        Diagnostic::here(Reason::Syntax)
    }

    /// The next key of the object the cursor is in, or `None` when it has stepped out of it.
    pub(crate) fn next_key(&mut self) -> Result<Option<Cow<'a, str>>, Diagnostic> {
        if !self.more(b'}')? {
            return Ok(None);
        }
        let key = self.string()?;
        if self.peek() != b':' {
            return Err(self.lost());
        }
        self.at += 1;
        Ok(Some(key))
    }

    /// Whether another element of the array follows; steps out of it when not.
    pub(crate) fn next_element(&mut self) -> Result<bool, Diagnostic> {
        self.more(b']')
    }

    fn more(&mut self, close: u8) -> Result<bool, Diagnostic> {
        // No value ends with an opening bracket.
        let first = matches!(self.before(), b'{' | b'[');
        let next = self.peek();
        if next == close {
            self.at += 1;
            self.depth = self.depth.saturating_sub(1);
            return Ok(false);
        }
        if !first {
            if next != b',' {
                return Err(self.lost());
            }
            self.at += 1;
        }
        Ok(true)
    }

    fn before(&self) -> u8 {
        let before = self.at.checked_sub(1);
        before
            .and_then(|at| self.text.as_bytes().get(at))
            .copied()
            .unwrap_or(0)
    }

    /// Reads a string, borrowed when it holds no escape. A lone surrogate becomes U+FFFD.
    pub(crate) fn string(&mut self) -> Result<Cow<'a, str>, Diagnostic> {
        if self.peek() != b'"' {
            return Err(Diagnostic::here(Reason::Expected("a string")));
        }
        let from = self.at + 1;
        let escaped = self.skip_string()?;
        let inner = self.slice(from, self.at - 1)?;
        Ok(if escaped {
            Cow::Owned(unescape(inner))
        } else {
            Cow::Borrowed(inner)
        })
    }

    /// Moves behind the string that starts here; says whether it held an escape.
    fn skip_string(&mut self) -> Result<bool, Diagnostic> {
        let mut escaped = false;
        self.at += 1;
        loop {
            self.at += plain_length(self.text.as_bytes().get(self.at..).unwrap_or_default());
            let stop = self.byte();
            self.at += 1;
            match stop {
                b'"' => return Ok(escaped),
                b'\\' if self.skip_escape() => escaped = true,
                _ => return Err(self.lost()),
            }
        }
    }

    /// Moves behind what follows a backslash, if that is sound.
    fn skip_escape(&mut self) -> bool {
        let digits = match self.byte() {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 0,
            b'u' => 4,
            _ => return false,
        };
        let rest = self.text.as_bytes().get(self.at + 1..self.at + 1 + digits);
        self.at += 1 + digits;
        rest.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    }

    /// Reads a number, `true`, `false` or `null` as its text; fails for any other value.
    pub(crate) fn scalar(&mut self) -> Result<&'a str, Diagnostic> {
        self.peek();
        let from = self.at;
        while !matches!(
            self.byte(),
            0 | b',' | b'}' | b']' | b'{' | b'[' | b'"' | b':' | b' ' | b'\n' | b'\t' | b'\r'
        ) {
            self.at += 1;
        }
        let text = self.slice(from, self.at)?;
        if matches!(text, "true" | "false" | "null") || is_number(text) {
            Ok(text)
        } else {
            Err(self.lost())
        }
    }

    /// Jumps over the value that starts here and returns its text.
    pub(crate) fn raw(&mut self) -> Result<&'a str, Diagnostic> {
        let first = self.peek();
        let from = self.at;
        match first {
            b'"' => {
                self.skip_string()?;
            }
            b'{' | b'[' => {
                let rest = self.text.get(from..).unwrap_or_default();
                let mut reader = serde_json::Deserializer::from_str(rest);
                let Ok(nested) = <&RawValue>::deserialize(&mut reader) else {
                    return Err(self.lost());
                };
                self.at += nested.get().len();
            }
            _ => return self.scalar(),
        }
        self.slice(from, self.at)
    }

    /// Jumps over the value that starts here without a look inside.
    fn skip(&mut self) -> Result<(), Diagnostic> {
        match self.peek() {
            b'{' | b'[' => self.skip_nested(),
            _ => self.raw().map(drop),
        }
    }

    fn skip_nested(&mut self) -> Result<(), Diagnostic> {
        let mut open = 0_usize;
        loop {
            match self.byte() {
                b'{' | b'[' => open += 1,
                b'}' | b']' => open -= 1,
                b'"' => {
                    self.skip_string()?;
                    continue;
                }
                0 if self.at >= self.text.len() => return Err(self.lost()),
                _ => {}
            }
            self.at += 1;
            if open == 0 {
                return Ok(());
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
            ahead.skip().ok()?;
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

/// How many bytes stand before the first quote, backslash or control character.
fn plain_length(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(eight) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let marks = marks(u64::from_le_bytes(*eight));
        if marks != 0 {
            return at + (marks.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    let found = rest
        .iter()
        .position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20));
    at + found.unwrap_or(rest.len())
}

/// Sets the high bit of each of eight bytes that is a quote, a backslash or a control character. Bytes above the first
/// such byte may be marked wrongly.
const fn marks(eight: u64) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    const fn below(eight: u64, limit: u8) -> u64 {
        eight.wrapping_sub(ONES * limit as u64) & !eight
    }
    let quote = below(eight ^ (ONES * b'"' as u64), 1);
    let backslash = below(eight ^ (ONES * b'\\' as u64), 1);
    (quote | backslash | below(eight, 0x20)) & (ONES << 7)
}

/// Whether the text is a number as JSON writes it.
fn is_number(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let whole = whole.strip_prefix('-').unwrap_or(whole);
    digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|power| digits(power.strip_prefix(['+', '-']).unwrap_or(power)))
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
