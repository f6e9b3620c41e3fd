//! Names and numbers as types of their own: a conversation id is never taken for a workspace id.
//!
//! Ids are opaque: made somewhere, compared, never parsed. Those that become names of files must be safe as such,
//! which is checked here, once, when they are read.

use crate::limits;

/// Why a text is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// Nothing, or nothing but white space.
    #[error("is empty")]
    Empty,
    /// More bytes than the type allows.
    #[error("has {length} bytes, at most {limit}")]
    TooLong {
        /// What came.
        length: usize,
        /// What is allowed.
        limit: usize,
    },
    /// A character that the type does not allow.
    #[error("holds {found:?}, which is not allowed there")]
    Character {
        /// The first such character.
        found: char,
    },
}

/// The name of a type as people say it: `ConversationId` is a conversation id, `PathText` a path.
pub(crate) fn spoken(name: &str) -> String {
    let name = name.strip_suffix("Text").unwrap_or(name);
    let mut spoken = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !spoken.is_empty() {
            spoken.push(' ');
        }
        spoken.push(letter.to_ascii_lowercase());
    }
    spoken
}

/// Letters, digits, `-`, `_` and inner dots: safe as a file name everywhere.
fn file_name(text: &str) -> Result<(), TextError> {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if let Some(found) = text.chars().find(|c| !is_safe(*c)) {
        return Err(TextError::Character { found });
    }
    match text.chars().next() {
        None => Err(TextError::Empty),
        // A leading dot would hide the file or name a parent folder.
        Some('.') => Err(TextError::Character { found: '.' }),
        Some(_) => Ok(()),
    }
}

/// Anything printable, at least one character.
fn printable(text: &str) -> Result<(), TextError> {
    if text.is_empty() {
        return Err(TextError::Empty);
    }
    match text.chars().find(|c| c.is_control()) {
        Some(found) => Err(TextError::Character { found }),
        None => Ok(()),
    }
}

/// Printable and not blank.
fn name(text: &str) -> Result<(), TextError> {
    if text.trim().is_empty() {
        return Err(TextError::Empty);
    }
    printable(text)
}

/// A text without NUL, at least one character.
fn path(text: &str) -> Result<(), TextError> {
    if text.is_empty() {
        return Err(TextError::Empty);
    }
    match text.chars().find(|c| *c == '\0') {
        Some(found) => Err(TextError::Character { found }),
        None => Ok(()),
    }
}

/// Not blank; line breaks and the like belong to it.
fn prose(text: &str) -> Result<(), TextError> {
    if text.trim().is_empty() {
        return Err(TextError::Empty);
    }
    Ok(())
}

text! {
    /// A conversation. On the host's IPC the same id is called `sessionId`.
    pub struct ConversationId(limit = limits::MAX_ID_BYTES, rule = file_name);
}
text! {
    /// A workspace.
    pub struct WorkspaceId(limit = limits::MAX_ID_BYTES, rule = file_name);
}
text! {
    /// A terminal of a machine.
    pub struct TerminalId(limit = limits::MAX_TERMINAL_ID_BYTES, rule = file_name);
}
text! {
    /// A file on its way to a Pylon, chosen by whoever sends it.
    pub struct BlobId(limit = limits::MAX_BLOB_ID_BYTES, rule = file_name);
}
text! {
    /// A file that a Pylon keeps, to go with a message.
    pub struct FileId(limit = limits::MAX_ID_BYTES, rule = file_name);
}
text! {
    /// Claude's own id of a session, which a later run resumes.
    pub struct ClaudeSessionId(limit = limits::MAX_ID_BYTES, rule = file_name);
}
text! {
    /// One call of a tool, and the decision about it.
    pub struct ToolUseId(limit = limits::MAX_TOOL_USE_ID_BYTES, rule = printable);
}
text! {
    /// Marks a request so that its result can be told apart.
    pub struct RequestId(limit = limits::MAX_ID_BYTES, rule = printable);
}
text! {
    /// Chosen by the client for each user message; the same id runs once, however often it is sent.
    pub struct ClientMessageId(limit = limits::MAX_ID_BYTES, rule = file_name);
}
text! {
    /// The hash of a conversation log up to an event, in hexadecimal digits.
    pub struct ChainHash(limit = limits::MAX_ID_BYTES, rule = file_name);
}
text! {
    /// A name that people gave: of a workspace, a conversation or a device.
    pub struct Name(limit = limits::MAX_NAME_BYTES, rule = name);
}
text! {
    /// A path on the machine of the Pylon, in its own notation.
    pub struct PathText(limit = limits::MAX_PATH_BYTES, rule = path);
}
text! {
    /// A device of a realm, the same after every reconnect.
    pub struct DeviceKey(limit = limits::MAX_ID_BYTES, rule = file_name);
}
text! {
    /// A program that is connected to the host, the same for as long as it remembers what it has begun.
    pub struct ClientId(limit = limits::MAX_ID_BYTES, rule = printable);
}
text! {
    /// An offer to pair.
    pub struct PairId(limit = limits::MAX_ID_BYTES, rule = file_name);
}
text! {
    /// What a person writes to the agent.
    pub struct Prompt(limit = limits::MAX_PROMPT_BYTES, rule = prose);
}
text! {
    /// What a person reports.
    pub struct ReportText(limit = limits::MAX_BUG_REPORT_BYTES, rule = prose);
}
text! {
    /// A permission rule, in the notation of the CLI.
    pub struct RuleText(limit = limits::MAX_RULE_BYTES, rule = name);
}
text! {
    /// A task of a workspace: its id, or the name of its file. People write both by hand.
    pub struct TaskId(limit = limits::MAX_TASK_ID_BYTES, rule = printable);
}
text! {
    /// What is to be done.
    pub struct TaskText(limit = limits::MAX_TASK_BYTES, rule = prose);
}
text! {
    /// What a person searches for.
    pub struct QueryText(limit = limits::MAX_QUERY_BYTES, rule = prose);
}

number! {
    /// A device within its realm: Pylons from configuration (1 to 99), apps from 100.
    pub struct DeviceId(u32);
}
number! {
    /// The dense number of a durable event in its conversation, from 1.
    pub struct Seq(u64);
}
number! {
    /// Changes when a published log had to be rebuilt or shortened: cursors of another epoch are void.
    pub struct Epoch(u64);
}
number! {
    /// The number of a run within its conversation.
    pub struct Generation(u64);
}
number! {
    /// Milliseconds since 1970.
    pub struct Timestamp(i64);
}
text! {
    /// A moment as ISO 8601 text.
    pub struct IsoTime(limit = 64, rule = printable);
}

impl From<Timestamp> for IsoTime {
    /// In UTC, with milliseconds: `2026-01-25T10:00:00.000Z`.
    fn from(Timestamp(millis): Timestamp) -> Self {
        let (days, of_day) = (millis.div_euclid(86_400_000), millis.rem_euclid(86_400_000));
        // Days are counted from March 1 of year 0, so that the leap day is the last of its year.
        let shifted = days + 719_468;
        let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
        let year_of_era =
            (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * from_march + 2) / 5 + 1;
        let month = (from_march + 2) % 12 + 1;
        let year = era * 400 + year_of_era + i64::from(month <= 2);
        let (seconds, millis) = (of_day / 1000, of_day % 1000);
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        let text =
            format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z");
        Self(text.into())
    }
}

/// The secret of a device. Its text is not shown by `Debug`, so that it reaches no log.
#[derive(Clone, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "gen", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(transparent)]
pub struct Token(String);

impl Token {
    /// Checks length and characters.
    pub fn parse(text: &str) -> Result<Self, TextError> {
        let (length, limit) = (text.len(), limits::MAX_TOKEN_BYTES);
        if length > limit {
            return Err(TextError::TooLong { length, limit });
        }
        printable(text)?;
        Ok(Self(text.to_owned()))
    }

    /// The secret itself, for whoever checks it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(..)")
    }
}

impl<'de> serde::Deserialize<'de> for Token {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        // The text of the error must not repeat the secret.
        Self::parse(&text).map_err(|_| serde::de::Error::custom("the token has a wrong form"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_is_no_safe_file_name_is_refused() {
        for bad in ["", "../up", "a/b", ".hidden", "a b", "né", "nul\0"] {
            assert!(ConversationId::parse(bad).is_err(), "{bad:?}");
        }
        for good in [
            "conv-1",
            "ws_xxx",
            "0190b8c2-7c1e-7000-8000-000000000001",
            "a.b",
        ] {
            assert_eq!(ConversationId::parse(good).unwrap().as_str(), good);
        }
    }

    #[test]
    fn limits_are_in_bytes() {
        assert!(Name::parse(&"가".repeat(85)).is_ok());
        let error = Name::parse(&"가".repeat(86)).unwrap_err();
        let (length, limit) = (258, 256);
        assert_eq!(error, TextError::TooLong { length, limit });
    }

    #[test]
    fn a_moment_is_written_in_utc() {
        let cases = [
            (0, "1970-01-01T00:00:00.000Z"),
            (1_706_180_400_000, "2024-01-25T11:00:00.000Z"),
            (1_709_164_799_999, "2024-02-28T23:59:59.999Z"),
            (1_709_164_800_000, "2024-02-29T00:00:00.000Z"),
            (951_868_800_000, "2000-03-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ];
        for (millis, text) in cases {
            assert_eq!(IsoTime::from(Timestamp(millis)).as_str(), text);
        }
    }

    #[test]
    fn a_token_is_not_printed() {
        let token = Token::parse("hush").unwrap();
        assert!(!format!("{token:?}").contains("hush"));
        let long = serde_json::to_string(&"hush".repeat(200)).unwrap();
        let error = serde_json::from_str::<Token>(&long)
            .unwrap_err()
            .to_string();
        assert!(!error.contains("hush"), "{error}");
    }
}
