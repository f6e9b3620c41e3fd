//! The two versions of the CLI that are imitated, and the lists they print about themselves.
//!
//! What differs between them is asked here by name; the recorded `init` and `initialize` lines of both lie in `data/`.

use super::json::Json;

const DATA_197: &str = include_str!("data/197.json");
const DATA_325: &str = include_str!("data/325.json");

/// A version of the CLI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    /// 2.1.197.
    V197,
    /// 2.1.325.
    V325,
}

impl Version {
    /// The version with this number.
    pub(crate) fn from_number(number: &str) -> Option<Self> {
        match number {
            "2.1.197" => Some(Self::V197),
            "2.1.325" => Some(Self::V325),
            _ => None,
        }
    }

    /// Its number.
    pub(crate) fn number(self) -> &'static str {
        match self {
            Self::V197 => "2.1.197",
            Self::V325 => "2.1.325",
        }
    }

    /// Whether it is the newer one.
    pub(crate) fn is_325(self) -> bool {
        self == Self::V325
    }

    /// When it was built, as `get_binary_version` says.
    pub(crate) fn build_time(self) -> &'static str {
        match self {
            Self::V197 => "2026-06-29T19:08:42Z",
            Self::V325 => "2026-11-13T18:52:23Z",
        }
    }

    /// The model used when none is given.
    pub(crate) fn default_model(self) -> &'static str {
        match self {
            Self::V197 => "claude-opus-4-8[1m]",
            Self::V325 => "claude-opus-5-5",
        }
    }

    /// Dollars per input token and per output token.
    pub(crate) fn prices(self) -> (f64, f64) {
        match self {
            Self::V197 => (5e-6, 25e-6),
            Self::V325 => (4e-6, 20e-6),
        }
    }

    /// How many tokens a model can read.
    pub(crate) fn context_window(self, model: &str) -> u32 {
        match self {
            Self::V197 if !model.ends_with("[1m]") => 200_000,
            Self::V197 | Self::V325 => 1_000_000,
        }
    }

    /// Most output tokens of a model.
    pub(crate) fn max_output_tokens(self, model: &str) -> u32 {
        match self {
            Self::V197 if model.contains("haiku") => 32_000,
            Self::V197 => 64_000,
            Self::V325 => 128_000,
        }
    }

    /// The effort level that hooks are told.
    pub(crate) fn effort(self) -> &'static str {
        match self {
            Self::V197 => "high",
            Self::V325 => "medium",
        }
    }

    /// The recorded part `name`: `init`, `initialize`, `usage` or `subagent_stats`.
    pub(crate) fn recorded(self, name: &str) -> Json {
        let text = match self {
            Self::V197 => DATA_197,
            Self::V325 => DATA_325,
        };
        Json::parse(text)
            .ok()
            .and_then(|data| data.get(name).cloned())
            .unwrap_or_default()
    }

    /// The full name of a model alias, and the model itself if it is no alias.
    pub(crate) fn resolve_model(self, name: &str) -> String {
        let models = self.recorded("initialize");
        let found = models
            .get("models")
            .map(Json::items)
            .unwrap_or_default()
            .iter()
            .find(|model| model.text("value") == Some(name))
            .and_then(|model| model.text("resolvedModel"));
        found.unwrap_or(name).to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::Version;

    #[test]
    fn both_versions_have_their_lists() {
        for version in [Version::V197, Version::V325] {
            assert!(version.recorded("init").text("model").is_some());
            assert!(version.recorded("initialize").get("commands").is_some());
            assert_eq!(Version::from_number(version.number()), Some(version));
        }
        assert_eq!(Version::V325.resolve_model("haiku"), "claude-haiku-5-5");
    }
}
