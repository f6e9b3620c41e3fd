//! One life of a conversation: the entries of its log, with the hashes that chain them.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function looks at a few kinds and leaves the others alone"
)]

use estelle_host::log::ChainHash;
use estelle_proto::events::ClaudeEvent;
use estelle_proto::{Epoch, Generation, Seq};
use estelle_state::conversation::{Entry, Record};

/// The log of one epoch.
#[derive(Debug, Clone, Default)]
pub struct Life {
    /// Its records in order.
    pub records: Vec<Logged>,
    /// What was found wrong with the file, in words.
    pub damage: Option<String>,
    /// Whether the next one tells the same story again, because this one was damaged. Clients have seen it all the same.
    pub replaced: bool,
}

/// A record of a log.
#[derive(Debug, Clone)]
pub struct Logged {
    /// What it says.
    pub entry: Entry,
    /// How that was written.
    pub payload: Vec<u8>,
    /// The hash of the log up to it.
    pub hash: String,
}

/// A durable event with its place.
#[derive(Debug, Clone)]
pub struct ChainedEvent<'a> {
    /// Its number.
    pub seq: Seq,
    /// The hash that proves the log up to it.
    pub chain_hash: String,
    /// The event.
    pub event: &'a ClaudeEvent,
    /// The record it stands in.
    pub record: &'a Record,
}

impl Life {
    /// The log that results from writing these entries.
    pub fn of(entries: impl IntoIterator<Item = Entry>) -> Self {
        let mut hash = ChainHash::EMPTY;
        let records = entries.into_iter().map(|entry| {
            let payload = serde_json::to_vec(&entry).unwrap_or_default();
            hash = hash.next(&payload);
            Logged {
                entry,
                payload,
                hash: hash.to_string(),
            }
        });
        Self {
            records: records.collect(),
            damage: None,
            replaced: false,
        }
    }

    /// The epoch that the log says it is: that of its beginning, or of the last time it was shortened.
    pub fn epoch(&self) -> Option<Epoch> {
        let epochs = self.facts().filter_map(|record| match record {
            Record::Began { epoch, .. } | Record::Shortened { epoch, .. } => Some(*epoch),
            _ => None,
        });
        epochs.last()
    }

    /// What happened, in order.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.records.iter().map(|logged| &logged.entry)
    }

    /// The records, in order.
    pub fn facts(&self) -> impl Iterator<Item = &Record> {
        self.entries().map(|entry| &entry.record)
    }

    /// The durable events with their numbers.
    pub fn events(&self) -> Vec<ChainedEvent<'_>> {
        let mut events = Vec::new();
        for logged in &self.records {
            for (place, durable) in logged.entry.events.iter().enumerate() {
                events.push(ChainedEvent {
                    seq: Seq(events.len() as u64 + 1),
                    chain_hash: format!("{}.{place}", logged.hash),
                    event: &durable.event,
                    record: &logged.entry.record,
                });
            }
        }
        events
    }

    /// The process of a run, as the log knows it.
    pub fn process(&self, wanted: Generation) -> Option<(u32, u64)> {
        self.facts().find_map(|record| match record {
            Record::Started {
                generation,
                pid,
                start_ticks,
            } if *generation == wanted => Some((*pid, *start_ticks)),
            _ => None,
        })
    }
}
