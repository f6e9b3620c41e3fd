//! An entry of the log, read only as far as folding needs it.
//!
//! Most of a log is events, and most events change nothing but the number of the next one. They are counted here without
//! being read, which is most of the work of a host that starts over long logs. Whoever shows events reads them as
//! [`Entry`](super::Entry)s.

use estelle_proto::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::Conversation;
use super::record::{Durable, Record};

/// How every event begins that this program has written.
const BEGINNING: &str = r#"{"event":{"type":""#;

/// The kinds of events that a conversation remembers something of. The fold has them by their types.
const TELLING: [&str; 7] = [
    "state",
    "init",
    "userMessage",
    "rewound",
    "toolInfo",
    "toolComplete",
    "taskUpdate",
];

/// An entry whose events are not read yet.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Outline<'a> {
    pub(super) at: Timestamp,
    pub(super) record: Record,
    #[serde(default, borrow)]
    events: Vec<&'a RawValue>,
}

impl<'a> Outline<'a> {
    /// Reads a line of the log.
    pub fn parse(line: &'a [u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(line)
    }
}

impl Conversation {
    /// The conversation that a log begins with; none if its first entry is not a beginning.
    pub fn from_outline(first: &Outline<'_>) -> Option<Self> {
        let Record::Began {
            conversation_id,
            epoch,
            generation,
        } = &first.record
        else {
            return None;
        };
        let id = conversation_id.clone();
        Some(Self::empty(first.at, id, *epoch, *generation))
    }

    /// Takes an entry of the log, as [`Conversation::apply`] does.
    pub fn apply_outline(&mut self, outline: &Outline<'_>) -> Result<(), serde_json::Error> {
        self.apply_record(outline.at, &outline.record);
        for event in &outline.events {
            if is_telling(event.get()) {
                self.apply_event(&serde_json::from_str::<Durable>(event.get())?);
            } else {
                self.seq.0 += 1;
            }
        }
        Ok(())
    }
}

/// Whether an event may change what is remembered; one that looks unusual may.
fn is_telling(event: &str) -> bool {
    let kind = event
        .strip_prefix(BEGINNING)
        .and_then(|rest| rest.split_once('"'));
    kind.is_none_or(|(kind, _)| TELLING.contains(&kind))
}
