//! A round that broke a promise once, as a file: it is played in every test run, whatever becomes of the dice.
//!
//! What was done and what was wrong with the next host and Pylon stand in it. Only the pauses and who was hit are rolled,
//! from its seed; which instant that is, is the machine's business in every round.

use std::collections::VecDeque;
use std::path::Path;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use super::deeds::{Deed, Fate, PylonFate};

/// A round that is kept.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Kept {
    /// What everything else is rolled from.
    pub(super) seed: u64,
    pub(super) deeds: Vec<Deed>,
    /// What was wrong with each host that was started for one that was killed.
    pub(super) hosts: VecDeque<Fate>,
    /// The same for Pylons.
    pub(super) pylons: VecDeque<PylonFate>,
}

impl Kept {
    /// Reads it.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        serde_json::from_str(&text).with_context(|| path.display().to_string())
    }

    /// Writes it down.
    pub fn write(&self, path: &Path) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(self)? + "\n";
        std::fs::write(path, text).with_context(|| path.display().to_string())
    }
}
