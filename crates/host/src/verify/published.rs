//! The events of a log as every client gets them, for whoever holds its own memory against them. Nothing is changed.

use std::io;
use std::path::Path;

use estelle_proto::ipc::{HostEvent, HostToPylon};
use estelle_proto::{ConversationId, Epoch, Seq};
use estelle_state::conversation::{Conversation, Entry};

use super::{VerifyError, failed};
use crate::conversation::{LOG, event_line};
use crate::log::{ChainHash, inspect};

/// What a log tells its clients.
#[derive(Debug, Clone, PartialEq)]
pub struct Published {
    /// The epoch of its numbers.
    pub epoch: Epoch,
    /// Its events, from the first on.
    pub events: Vec<HostEvent>,
}

/// What the log of a conversation tells, as far as it is proven; none if there is no log, or none that this version can
/// read.
pub fn published(data: &Path, id: &ConversationId) -> Result<Option<Published>, VerifyError> {
    let path = data.join("conversations").join(id.as_str()).join(LOG);
    let inspected = match inspect(&path) {
        Ok(inspected) => inspected,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(&path)(error)),
    };
    let records = inspected.records.into_iter();
    let read: Result<Vec<(ChainHash, Entry)>, _> = records
        .map(|record| Ok((record.hash, serde_json::from_slice(&record.payload)?)))
        .collect::<Result<_, serde_json::Error>>();
    let Ok(entries) = read else {
        return Ok(None);
    };
    let all = entries.iter().map(|(_, entry)| entry.clone());
    let Some(conversation) = Conversation::replay(all) else {
        return Ok(None);
    };
    let epoch = conversation.epoch();
    let mut seq = Seq(0);
    let mut events = Vec::new();
    for (hash, entry) in &entries {
        for (place, durable) in entry.events.iter().enumerate() {
            seq.0 += 1;
            let line = event_line(id, epoch, seq, (*hash, place), entry, durable);
            let message = line.and_then(|line| serde_json::from_str(&line).ok());
            if let Some(HostToPylon::Event(event)) = message {
                events.push(event);
            }
        }
    }
    Ok(Some(Published { epoch, events }))
}
