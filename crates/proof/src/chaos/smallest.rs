//! From a history that breaks a promise to the smallest that still breaks the same one.
//!
//! Whatever can be left out without the violation going away is left out: conversations, people, steps. What remains is
//! what a person has to read.

use std::fmt::Write as _;

use crate::checker::{Violation, check};
use crate::history::{History, Life};

/// So often a smaller history is tried at most: a check of a large one takes a while.
const TRIES: usize = 600;
/// Longest piece of a step that is shown.
const GLIMPSE: usize = 240;
/// Most steps of one person that are shown, the newest.
const SHOWN: usize = 40;

/// The smallest history found that breaks the same promise in the same way.
pub fn smallest(history: &History, violation: &Violation) -> History {
    let mut small = history.clone();
    let mut tries = TRIES;
    let mut holds = |candidate: &History| {
        let may = tries > 0;
        tries = tries.saturating_sub(1);
        may && check(candidate).contains(violation)
    };
    let now = small.clone();
    small.conversations = thin(&now.conversations, &mut |conversations| {
        let conversations = conversations.to_vec();
        holds(&History {
            conversations,
            ..now.clone()
        })
    });
    let now = small.clone();
    small.apps = thin(&now.apps, &mut |apps| {
        let apps = apps.to_vec();
        holds(&History {
            apps,
            ..now.clone()
        })
    });
    let now = small.clone();
    small.clients = thin(&now.clients, &mut |clients| {
        let clients = clients.to_vec();
        holds(&History {
            clients,
            ..now.clone()
        })
    });
    let now = small.clone();
    small.shelves = thin(&now.shelves, &mut |shelves| {
        let shelves = shelves.to_vec();
        holds(&History {
            shelves,
            ..now.clone()
        })
    });
    for number in 0..small.apps.len() {
        let mut now = small.clone();
        small.apps[number].steps = thin(&small.apps[number].steps, &mut |steps| {
            now.apps[number].steps = steps.to_vec();
            holds(&now)
        });
    }
    for number in 0..small.clients.len() {
        let mut now = small.clone();
        small.clients[number].steps = thin(&small.clients[number].steps, &mut |steps| {
            now.clients[number].steps = steps.to_vec();
            holds(&now)
        });
    }
    small
}

/// Leaves out what can be left out, in ever smaller pieces.
fn thin<T: Clone>(all: &[T], holds: &mut impl FnMut(&[T]) -> bool) -> Vec<T> {
    let mut kept = all.to_vec();
    let mut piece = kept.len();
    while piece > 0 {
        let mut at = 0;
        while at < kept.len() {
            let end = (at + piece).min(kept.len());
            let without: Vec<T> = kept[..at].iter().chain(&kept[end..]).cloned().collect();
            if holds(&without) {
                kept = without;
            } else {
                at = end;
            }
        }
        piece /= 2;
    }
    kept
}

/// A history in words, for a person.
pub fn tell(history: &History) -> String {
    let mut text = String::new();
    for conversation in &history.conversations {
        let events: usize = conversation
            .lives
            .iter()
            .map(|life| life.events().len())
            .sum();
        let lives = conversation.lives.len();
        // Writing to a string does not fail.
        let _ = writeln!(text, "{}: {lives} logs, {events} events", conversation.id);
        let newest = conversation.newest().map(Life::entries);
        let entries: Vec<String> = newest
            .into_iter()
            .flatten()
            .map(|entry| short(&entry.record))
            .collect();
        steps(&mut text, &entries);
    }
    for app in &history.apps {
        let _ = writeln!(text, "app {}:", app.name);
        steps(&mut text, &app.steps.iter().map(short).collect::<Vec<_>>());
    }
    for client in &history.clients {
        let _ = writeln!(text, "client {}:", client.name);
        steps(
            &mut text,
            &client.steps.iter().map(short).collect::<Vec<_>>(),
        );
    }
    for process in &history.processes {
        let _ = writeln!(text, "{process:?}");
    }
    text
}

fn steps(text: &mut String, all: &[String]) {
    let left_out = all.len().saturating_sub(SHOWN);
    if left_out > 0 {
        let _ = writeln!(text, "  ... {left_out} before");
    }
    for step in &all[left_out..] {
        let _ = writeln!(text, "  {step}");
    }
}

fn short(step: &impl std::fmt::Debug) -> String {
    format!("{step:?}").chars().take(GLIMPSE).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_matter_is_left_out() {
        let all: Vec<u32> = (0..100).collect();
        let kept = thin(&all, &mut |some| some.contains(&17) && some.contains(&80));
        assert_eq!(kept, [17, 80]);
        assert!(thin(&all, &mut |_| true).is_empty());
        assert_eq!(thin(&all, &mut |_| false), all);
    }
}
