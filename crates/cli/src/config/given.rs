//! A value as somebody gave it, and how it becomes what a key needs.
//!
//! Messages here are ends of sentences that begin with the name of the key.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;

/// A value before it is understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Given {
    /// One value; from the environment perhaps several with commas between them.
    One(String),
    /// A list of the file.
    Many(Vec<String>),
}

impl Given {
    /// A value of the file.
    pub(super) fn of_file(value: &toml::Value) -> Result<Self, String> {
        use toml::Value;
        match value {
            Value::Array(list) => {
                let items = list.iter().map(scalar);
                let items: Result<_, _> = items.collect();
                items.map(Self::Many)
            }
            Value::String(_)
            | Value::Integer(_)
            | Value::Float(_)
            | Value::Boolean(_)
            | Value::Datetime(_)
            | Value::Table(_) => scalar(value).map(Self::One),
        }
    }

    /// The one value.
    pub(super) fn one(&self) -> Result<&str, String> {
        match self {
            Self::One(text) => Ok(text.trim()),
            Self::Many(_) => Err("is a list, and one value is wanted".to_owned()),
        }
    }

    /// The one value; an empty one means none.
    pub(super) fn maybe(&self) -> Result<Option<&str>, String> {
        self.one()
            .map(|text| Some(text).filter(|text| !text.is_empty()))
    }

    /// All values.
    pub(super) fn list(&self) -> Vec<&str> {
        let all: Vec<&str> = match self {
            Self::One(text) => text.split(',').collect(),
            Self::Many(items) => items.iter().map(String::as_str).collect(),
        };
        let trimmed = all.into_iter().map(str::trim);
        trimmed.filter(|item| !item.is_empty()).collect()
    }

    /// A whole number.
    pub(super) fn number(&self, range: RangeInclusive<u64>) -> Result<u64, String> {
        let text = self.one()?;
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| {
            let (least, most) = (range.start(), range.end());
            format!("is `{text}`, and a whole number from {least} to {most} is wanted")
        })
    }

    /// Yes or no.
    pub(super) fn switch(&self) -> Result<bool, String> {
        match self.one()?.to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" | "on" => Ok(true),
            "false" | "0" | "no" | "off" => Ok(false),
            other => Err(format!("is `{other}`, and `true` or `false` is wanted")),
        }
    }

    /// A value of some type; `wanted` says what it is, with an example.
    pub(super) fn parsed<T: FromStr>(&self, wanted: &str) -> Result<T, String> {
        parsed(self.one()?, wanted)
    }

    /// A list of values of some type.
    pub(super) fn each<T: FromStr>(&self, wanted: &str) -> Result<Vec<T>, String> {
        let items = self.list().into_iter();
        items.map(|item| parsed(item, wanted)).collect()
    }

    /// An absolute path, or none.
    pub(super) fn path(&self) -> Result<Option<PathBuf>, String> {
        self.maybe()?.map(absolute).transpose()
    }

    /// Absolute paths.
    pub(super) fn paths(&self) -> Result<Vec<PathBuf>, String> {
        self.list().into_iter().map(absolute).collect()
    }

    /// A short text that is not blank.
    pub(super) fn text(&self, longest: usize) -> Result<String, String> {
        let text = self.one()?;
        if text.is_empty() || text.chars().count() > longest || text.chars().any(char::is_control) {
            return Err(format!(
                "must have 1 to {longest} characters, and no control characters"
            ));
        }
        Ok(text.to_owned())
    }

    /// An address of one of these schemes, or none.
    pub(super) fn url(&self, schemes: &[&str]) -> Result<Option<String>, String> {
        let Some(text) = self.maybe()? else {
            return Ok(None);
        };
        let rest = schemes.iter().find_map(|scheme| {
            let rest = text.strip_prefix(scheme)?.strip_prefix("://")?;
            rest.split('/').next().filter(|host| !host.is_empty())
        });
        let is_clean = !text.contains(|c: char| c.is_whitespace() || matches!(c, '?' | '#' | '@'));
        if rest.is_none() || !is_clean {
            let forms = schemes.join(":// or ");
            return Err(format!(
                "is `{text}`, and an address with {forms}:// is wanted"
            ));
        }
        Ok(Some(text.trim_end_matches('/').to_owned()))
    }
}

/// What a parser said, as the end of a sentence.
pub(super) fn because(error: impl Display) -> String {
    format!("is not usable: {error}")
}

fn scalar(value: &toml::Value) -> Result<String, String> {
    use toml::Value;
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(number) => Ok(number.to_string()),
        Value::Boolean(switch) => Ok(switch.to_string()),
        Value::Float(_) | Value::Datetime(_) | Value::Array(_) | Value::Table(_) => Err(format!(
            "is of the type {}, which no key takes",
            value.type_str()
        )),
    }
}

fn parsed<T: FromStr>(text: &str, wanted: &str) -> Result<T, String> {
    text.parse()
        .map_err(|_| format!("is `{text}`, and {wanted} is wanted"))
}

fn absolute(text: &str) -> Result<PathBuf, String> {
    let home = || std::env::var_os("HOME").map(PathBuf::from);
    let path = match text.strip_prefix("~/") {
        Some(rest) => home().map(|home| home.join(rest)),
        None => Some(PathBuf::from(text)),
    };
    path.filter(|path| path.is_absolute())
        .ok_or_else(|| format!("is `{text}`, and an absolute path is wanted"))
}
