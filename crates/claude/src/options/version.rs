//! Versions of the Claude Code CLI.
//!
//! Owns parsing and order. What a version can do is in `gates`; asking a program for its version is `probe`'s.

use std::fmt;
use std::str::FromStr;

/// The oldest CLI this crate is tested with; an older one is refused before the start.
pub const MINIMUM_VERSION: CliVersion = CliVersion::new(2, 1, 197);

/// Version of a CLI, ordered as numbers. A suffix such as `-beta.1` is read and dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CliVersion {
    major: u32,
    minor: u32,
    patch: u32,
}

/// The text is no version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not of the form `2.1.197`")]
pub struct ParseVersionError;

impl CliVersion {
    /// The version `major.minor.patch`.
    pub const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self {
            major,
            minor,
            patch,
        }
    }
}

impl fmt::Display for CliVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl FromStr for CliVersion {
    type Err = ParseVersionError;

    /// Reads a version, or the whole line that `--version` prints: `2.1.197 (Claude Code)`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let word = text.split_whitespace().next().ok_or(ParseVersionError)?;
        let word = word.strip_prefix('v').unwrap_or(word);
        let numbers = word.split(['-', '+']).next().unwrap_or(word);
        let mut parts = numbers.split('.').map(|part| {
            // `u32::from_str` would also take a leading plus sign.
            part.bytes()
                .all(|byte| byte.is_ascii_digit())
                .then(|| part.parse::<u32>().ok())
                .flatten()
        });
        let mut next = || parts.next().flatten().ok_or(ParseVersionError);
        let version = Self::new(next()?, next()?, next()?);
        if parts.next().is_some() {
            Err(ParseVersionError)
        } else {
            Ok(version)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_cli_prints() {
        for (text, version) in [
            ("2.1.197 (Claude Code)\n", CliVersion::new(2, 1, 197)),
            ("2.1.325", CliVersion::new(2, 1, 325)),
            (
                "v3.0.0-beta.2+build (Claude Code)",
                CliVersion::new(3, 0, 0),
            ),
        ] {
            assert_eq!(text.parse(), Ok(version), "{text}");
        }
        for text in [
            "",
            "  ",
            "claude",
            "2.1",
            "2.1.x",
            "2.1.3.4",
            "2.1.+3",
            "99999999999.1.1",
        ] {
            assert_eq!(text.parse::<CliVersion>(), Err(ParseVersionError), "{text}");
        }
    }

    #[test]
    fn orders_by_number_not_by_text() {
        assert!(CliVersion::new(2, 1, 99) < CliVersion::new(2, 1, 197));
        assert!(CliVersion::new(2, 10, 0) > CliVersion::new(2, 9, 999));
    }
}
