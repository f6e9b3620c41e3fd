//! The `Wire` trait: lenient reading and faithful writing of the vendor's values.
//!
//! Implemented here for strings, numbers, lists and maps, by the macros for everything else. The rules of leniency live
//! in three functions: `required`, `optional` and `member`.

use std::collections::BTreeMap;

use serde::ser::{SerializeMap as _, SerializeSeq as _};
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::cursor::Cursor;
use super::diagnostic::{Diagnostic, Diagnostics, Reason};
use super::extra::{Extra, Field, Unknown};

/// A value of the vendor's wire.
pub trait Wire: Sized {
    /// Reads the value at the cursor. An error means that the value as a whole cannot be this type; what is merely odd
    /// inside it goes to `diagnostics`.
    fn read(cursor: &mut Cursor<'_>, diagnostics: &mut Diagnostics) -> Result<Self, Diagnostic>;

    /// Writes the value the way the vendor writes it.
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error>;
}

/// Lets serde write a `Wire` value.
pub(crate) struct Out<'a, T>(pub(crate) &'a T);

impl<T: Wire> Serialize for Out<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.write(serializer)
    }
}

/// Reads a field without which the struct means nothing.
pub(crate) fn required<T: Wire>(
    cursor: &mut Cursor<'_>,
    name: &'static str,
    diagnostics: &mut Diagnostics,
) -> Result<T, Diagnostic> {
    let mark = diagnostics.mark();
    let value = T::read(cursor, diagnostics).map_err(|error| error.under(name))?;
    if diagnostics.mark() > mark {
        diagnostics.under(mark, name);
    }
    Ok(value)
}

/// Reads a field the struct can do without: an unreadable one is reported and kept raw in `extra`.
pub(crate) fn optional<T: Wire>(
    cursor: &mut Cursor<'_>,
    field: Field,
    extra: &mut Extra,
    diagnostics: &mut Diagnostics,
) -> Option<T> {
    // Only `null` starts with an n.
    if cursor.peek() == b'n' {
        cursor.raw().ok()?;
        extra.settle(field, true);
        return None;
    }
    let start = *cursor;
    let mark = diagnostics.mark();
    match T::read(cursor, diagnostics) {
        Ok(value) => {
            if diagnostics.mark() > mark {
                diagnostics.under(mark, field.name);
            }
            extra.settle(field, false);
            Some(value)
        }
        Err(error) => {
            diagnostics.forget(mark);
            diagnostics.push(error.under(field.name));
            *cursor = start;
            extra.settle(field, false);
            if let Ok(raw) = cursor.raw() {
                extra.keep(field.name, raw);
            }
            None
        }
    }
}

/// Reads a member of a union by its type; one that lacks what it requires is reported and kept raw.
pub(crate) fn member<T: Wire>(
    cursor: &mut Cursor<'_>,
    kind: &str,
    diagnostics: &mut Diagnostics,
) -> Result<T, Unknown> {
    let start = *cursor;
    let mark = diagnostics.mark();
    T::read(cursor, diagnostics).map_err(|error| {
        diagnostics.forget(mark);
        diagnostics.push(error);
        *cursor = start;
        Unknown::rest(cursor, kind)
    })
}

impl Wire for String {
    fn read(cursor: &mut Cursor<'_>, _: &mut Diagnostics) -> Result<Self, Diagnostic> {
        cursor.string().map(std::borrow::Cow::into_owned)
    }

    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl Wire for bool {
    fn read(cursor: &mut Cursor<'_>, _: &mut Diagnostics) -> Result<Self, Diagnostic> {
        match cursor.scalar() {
            Ok("true") => Ok(true),
            Ok("false") => Ok(false),
            _ => Err(Diagnostic::here(Reason::Expected("a boolean"))),
        }
    }

    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bool(*self)
    }
}

/// Reads the text of a number.
fn number<'a>(cursor: &mut Cursor<'a>) -> Result<&'a str, Diagnostic> {
    match cursor.peek() {
        b'-' | b'0'..=b'9' => cursor.scalar(),
        _ => Err(Diagnostic::here(Reason::Expected("a number"))),
    }
}

macro_rules! wire_integer {
    ($($ty:ty => $write:ident),+) => {$(
        impl Wire for $ty {
            fn read(cursor: &mut Cursor<'_>, _: &mut Diagnostics) -> Result<Self, Diagnostic> {
                number(cursor)?.parse().map_err(|_| Diagnostic::here(Reason::Range))
            }

            fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.$write(*self)
            }
        }
    )+};
}

wire_integer!(u32 => serialize_u32, u64 => serialize_u64, i64 => serialize_i64);

/// Whole numbers up to here are exact in a double.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

impl Wire for f64 {
    fn read(cursor: &mut Cursor<'_>, _: &mut Diagnostics) -> Result<Self, Diagnostic> {
        let text = number(cursor)?;
        let value: Self = text.parse().map_err(|_| Diagnostic::here(Reason::Range))?;
        let whole = !text.contains(['.', 'e', 'E']);
        if !value.is_finite() || (whole && value.abs() > MAX_EXACT) {
            return Err(Diagnostic::here(Reason::Range));
        }
        Ok(value)
    }

    /// The vendor's JSON comes from JavaScript, which writes a whole double without a point.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the value is whole and within the exact range of a double"
    )]
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let negative_zero = *self == 0.0 && self.is_sign_negative();
        if self.fract() == 0.0 && self.abs() <= MAX_EXACT && !negative_zero {
            serializer.serialize_i64(*self as i64)
        } else {
            serializer.serialize_f64(*self)
        }
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn read(cursor: &mut Cursor<'_>, diagnostics: &mut Diagnostics) -> Result<Self, Diagnostic> {
        cursor.enter_array()?;
        let mut items = Self::new();
        while cursor.next_element()? {
            let mark = diagnostics.mark();
            let item =
                T::read(cursor, diagnostics).map_err(|error| error.under_index(items.len()))?;
            if diagnostics.mark() > mark {
                diagnostics.under(mark, &format!("[{}]", items.len()));
            }
            items.push(item);
        }
        Ok(items)
    }

    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.len()))?;
        for item in self {
            list.serialize_element(&Out(item))?;
        }
        list.end()
    }
}

impl<T: Wire> Wire for BTreeMap<String, T> {
    fn read(cursor: &mut Cursor<'_>, diagnostics: &mut Diagnostics) -> Result<Self, Diagnostic> {
        cursor.enter_object()?;
        let mut map = Self::new();
        while let Some(key) = cursor.next_key()? {
            let mark = diagnostics.mark();
            let value = T::read(cursor, diagnostics).map_err(|error| error.under(&key))?;
            if diagnostics.mark() > mark {
                diagnostics.under(mark, &key);
            }
            map.insert(key.into_owned(), value);
        }
        Ok(map)
    }

    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.len()))?;
        for (key, value) in self {
            map.serialize_entry(key, &Out(value))?;
        }
        map.end()
    }
}

impl<T: Wire> Wire for Option<T> {
    fn read(cursor: &mut Cursor<'_>, diagnostics: &mut Diagnostics) -> Result<Self, Diagnostic> {
        if cursor.peek() == b'n' {
            cursor.raw()?;
            return Ok(None);
        }
        T::read(cursor, diagnostics).map(Some)
    }

    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Some(value) => value.write(serializer),
            None => serializer.serialize_unit(),
        }
    }
}

impl<T: Wire> Wire for Box<T> {
    fn read(cursor: &mut Cursor<'_>, diagnostics: &mut Diagnostics) -> Result<Self, Diagnostic> {
        T::read(cursor, diagnostics).map(Self::new)
    }

    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).write(serializer)
    }
}

impl Wire for Value {
    fn read(cursor: &mut Cursor<'_>, _: &mut Diagnostics) -> Result<Self, Diagnostic> {
        serde_json::from_str(cursor.raw()?).map_err(|_| Diagnostic::here(Reason::Syntax))
    }

    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.serialize(serializer)
    }
}
