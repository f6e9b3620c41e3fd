//! Looking at a log without touching it: whoever only reads must not cut a tail that may still be being written.

use std::io;
use std::path::Path;

use super::file::Damage;
use super::record::{ChainHash, decode};

/// A log that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspected {
    /// The records that are proven, in order.
    pub records: Vec<InspectedRecord>,
    /// What is not proven.
    pub damage: Option<Damage>,
}

/// A record that is proven.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InspectedRecord {
    /// Its payload.
    pub payload: Vec<u8>,
    /// The hash of the log up to it.
    pub hash: ChainHash,
}

/// Reads a log and proves what is in it. Nothing is changed.
pub fn inspect(path: &Path) -> io::Result<Inspected> {
    let bytes = std::fs::read(path)?;
    let mut records = Vec::new();
    let mut before = ChainHash::EMPTY;
    let mut end = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let record = line.strip_suffix(b"\n").and_then(decode);
        let Some((hash, payload)) = record.filter(|(hash, payload)| before.next(payload) == *hash)
        else {
            let whole = (end as u64)..(bytes.len() as u64);
            // Half a line is an append that did not finish, more is damage.
            let damage = if end + line.len() == bytes.len() && !line.ends_with(b"\n") {
                Damage::TornTail(whole)
            } else {
                Damage::Broken(whole)
            };
            return Ok(Inspected {
                records,
                damage: Some(damage),
            });
        };
        records.push(InspectedRecord {
            payload: payload.to_vec(),
            hash,
        });
        before = hash;
        end += line.len();
    }
    Ok(Inspected {
        records,
        damage: None,
    })
}
