//! Seeded bugs: faults planted into a good history, each of which the checker must find.
//!
//! A bug can be planted at several places; [`Bug::plant`] takes the number of the place and says whether there is one.
//! The rule is the one that must be among those found; others may be found as well, for a fault seldom comes alone.

mod apps;
mod clients;
mod decisions;
mod execution;
mod logs;
mod prompts;
mod shaken;

use crate::checker::Rule;
use crate::history::{Conversation, History, Life};

use estelle_state::conversation::Entry;

/// A fault that can be planted.
#[derive(Debug, Clone, Copy)]
pub struct Bug {
    /// What goes wrong.
    pub name: &'static str,
    /// What must be found.
    pub rule: Rule,
    plant: fn(&mut History, usize) -> Option<()>,
}

impl Bug {
    /// Plants it at a place, counted from 0; false if there are not so many.
    pub fn plant(&self, history: &mut History, place: usize) -> bool {
        (self.plant)(history, place).is_some()
    }
}

/// All of them.
pub fn all() -> Vec<Bug> {
    let groups = [
        clients::BUGS,
        logs::BUGS,
        decisions::BUGS,
        execution::BUGS,
        apps::BUGS,
        prompts::BUGS,
        shaken::BUGS,
    ];
    groups.concat()
}

/// Changes the entries of a log as a faulty host would have written them: with a chain that fits.
fn rewrite<T>(
    conversation: &mut Conversation,
    change: impl FnOnce(&mut Vec<Entry>) -> Option<T>,
) -> Option<T> {
    let life = conversation.lives.last_mut()?;
    let mut entries: Vec<Entry> = life.entries().cloned().collect();
    let changed = change(&mut entries)?;
    *life = Life::of(entries);
    Some(changed)
}

/// The `place`-th entry of all logs that fits, as conversation and index.
fn entry_at(
    history: &History,
    place: usize,
    fits: impl Fn(&Entry) -> bool,
) -> Option<(usize, usize)> {
    let mut places = history
        .conversations
        .iter()
        .enumerate()
        .filter_map(|(number, conversation)| Some((number, conversation.newest()?)))
        .flat_map(|(number, life)| {
            let fitting = life.entries().enumerate().filter(|(_, entry)| fits(entry));
            let indices: Vec<_> = fitting.map(|(index, _)| (number, index)).collect();
            indices
        });
    places.nth(place)
}

/// Changes the `place`-th entry of all logs that fits.
fn change_entry(
    history: &mut History,
    place: usize,
    fits: impl Fn(&Entry) -> bool,
    change: impl FnOnce(&mut Vec<Entry>, usize) -> Option<()>,
) -> Option<()> {
    let (number, index) = entry_at(history, place, fits)?;
    rewrite(&mut history.conversations[number], |entries| {
        change(entries, index)
    })
}
