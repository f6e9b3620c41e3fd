//! Faults in what the host wrote, and in its care for processes.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function looks at a few kinds and leaves the others alone"
)]

use estelle_proto::events::ClaudeEvent;
use estelle_proto::runs::IdleWarning;
use estelle_proto::{ConversationId, Generation};
use estelle_state::conversation::{Durable, Entry, Record};

use super::{Bug, change_entry, rewrite};
use crate::checker::Rule;
use crate::history::{Fact, History, Process, Role, Witness};

pub(super) const BUGS: &[Bug] = &[
    Bug {
        name: "the log loses an event that the CLI's line made",
        rule: Rule::TruthLost,
        plant: |history, place| {
            change_entry(history, place, has_witness, |entries, at| {
                let index = witness_at(&entries[at])?;
                entries[at].events.remove(index);
                Some(())
            })
        },
    },
    Bug {
        name: "the log has an event of the CLI twice",
        rule: Rule::TruthInvented,
        plant: |history, place| {
            change_entry(history, place, has_witness, |entries, at| {
                let index = witness_at(&entries[at])?;
                let again = entries[at].events[index].clone();
                entries[at].events.insert(index, again);
                Some(())
            })
        },
    },
    Bug {
        name: "the log has two lines in the wrong order",
        rule: Rule::TruthLost,
        plant: |history, place| {
            change_entry(history, place, has_witness, |entries, at| {
                let rest = entries.iter().enumerate().skip(at + 1);
                let (next, _) = rest.clone().find(|(_, entry)| has_witness(entry))?;
                let events = std::mem::take(&mut entries[at].events);
                let events = std::mem::replace(&mut entries[next].events, events);
                entries[at].events = events;
                Some(())
            })
        },
    },
    Bug {
        name: "the log has another text than the CLI printed",
        rule: Rule::TruthInvented,
        plant: |history, place| {
            change_entry(history, place, is_text, |entries, at| {
                for durable in &mut entries[at].events {
                    if let ClaudeEvent::TextComplete(whole) = &mut durable.event {
                        whole.text.insert(0, '~');
                    }
                }
                Some(())
            })
        },
    },
    Bug {
        name: "a stretch of the journal is skipped",
        rule: Rule::StretchGap,
        plant: |history, place| {
            change_entry(history, place, is_read, |entries, at| {
                let generation = read_generation(&entries[at])?;
                let later = entries[at + 1..]
                    .iter()
                    .any(|entry| read_generation(entry) == Some(generation));
                later.then(|| drop(entries.remove(at)))
            })
        },
    },
    Bug {
        name: "a stretch of the journal is read twice",
        rule: Rule::StretchOverlap,
        plant: |history, place| {
            change_entry(history, place, is_read, |entries, at| {
                entries.insert(at + 1, entries[at].clone());
                Some(())
            })
        },
    },
    Bug {
        name: "the chain does not fit",
        rule: Rule::LogBroken,
        plant: |history, place| {
            let life = history.conversations.first_mut()?.lives.last_mut()?;
            let record = life.records.get_mut(place)?;
            record.entry.at.0 += 1;
            Some(())
        },
    },
    Bug {
        name: "the log is that of another conversation",
        rule: Rule::LogBroken,
        plant: |history, place| {
            let conversation = history.conversations.get_mut(place)?;
            rewrite(conversation, |entries| {
                match &mut entries.first_mut()?.record {
                    Record::Began {
                        conversation_id, ..
                    } => *conversation_id = ConversationId::parse("another").ok()?,
                    _ => return None,
                }
                Some(())
            })
        },
    },
    Bug {
        name: "the log begins a second time",
        rule: Rule::LogBroken,
        plant: |history, place| {
            let conversation = history.conversations.get_mut(place)?;
            rewrite(conversation, |entries| {
                let first = entries.first()?.clone();
                entries.push(first);
                Some(())
            })
        },
    },
    Bug {
        name: "a passing event is numbered in the log",
        rule: Rule::Misnumbered,
        plant: |history, place| {
            change_entry(history, place, is_read, |entries, at| {
                let passing = ClaudeEvent::IdleWarning(IdleWarning::new(60));
                entries[at].events.push(Durable::from(passing));
                Some(())
            })
        },
    },
    Bug {
        name: "a run is begun while another is not over",
        rule: Rule::TwoOwners,
        plant: |history, place| {
            let ends = |entry: &Entry| matches!(entry.record, Record::Ended { .. });
            change_entry(history, place, ends, |entries, at| {
                entries.remove(at);
                Some(())
            })
        },
    },
    Bug {
        name: "a run is never greeted",
        rule: Rule::NotGreeted,
        plant: |history, place| {
            let greets = |entry: &Entry| matches!(entry.record, Record::Requested { .. });
            change_entry(history, place, greets, |entries, at| {
                entries.remove(at);
                Some(())
            })
        },
    },
    Bug {
        name: "the number of a run is used again",
        rule: Rule::StartedTwice,
        plant: |history, place| {
            change_entry(history, place, is_later_intent, |entries, at| {
                match &mut entries[at].record {
                    Record::Intended { generation, .. } => *generation = Generation(1),
                    _ => return None,
                }
                Some(())
            })
        },
    },
    Bug {
        name: "a process is started that the log does not know",
        rule: Rule::StartedTwice,
        plant: |history, place| {
            let truth = history.conversations.get_mut(place)?.truth.as_mut()?;
            truth.push(Fact::Began {
                pid: 9999,
                start_ticks: 1,
            });
            Some(())
        },
    },
    Bug {
        name: "a CLI ends though nobody ended it",
        rule: Rule::EndedByAccident,
        plant: |history, place| {
            let at = (place < history.killed.len()).then_some(place)?;
            history.killed.remove(at);
            Some(())
        },
    },
    Bug {
        name: "a process is left behind",
        rule: Rule::Orphan,
        plant: |history, place| {
            let roles = [Role::Shim, Role::Cli, Role::Child];
            let conversation = history.conversations.first()?.id.to_string();
            history.processes.push(Process {
                pid: 4711,
                conversation,
                generation: 99,
                role: *roles.get(place)?,
            });
            Some(())
        },
    },
    Bug {
        name: "the process of a living run is gone",
        rule: Rule::ProcessMissing,
        plant: |history, place| {
            let clis = |process: &Process| process.role == Role::Cli;
            let all = history.processes.iter();
            let (at, _) = all
                .enumerate()
                .filter(|(_, process)| clis(process))
                .nth(place)?;
            history.processes.remove(at);
            Some(())
        },
    },
    Bug {
        name: "the file of the log is damaged",
        rule: Rule::LogBroken,
        plant: |history: &mut History, place| {
            let life = history.conversations.get_mut(place)?.lives.last_mut()?;
            life.damage = Some("a record does not match its hash".to_owned());
            Some(())
        },
    },
];

fn is_read(entry: &Entry) -> bool {
    matches!(entry.record, Record::Read(_))
}

fn read_generation(entry: &Entry) -> Option<Generation> {
    match &entry.record {
        Record::Read(stretch) => Some(stretch.generation),
        _ => None,
    }
}

fn witness_at(entry: &Entry) -> Option<usize> {
    let mut events = entry.events.iter();
    events.position(|durable| Witness::of(&durable.event).is_some())
}

fn has_witness(entry: &Entry) -> bool {
    is_read(entry) && witness_at(entry).is_some()
}

fn is_text(entry: &Entry) -> bool {
    let text = |durable: &Durable| matches!(durable.event, ClaudeEvent::TextComplete(_));
    is_read(entry) && entry.events.iter().any(text)
}

fn is_later_intent(entry: &Entry) -> bool {
    matches!(entry.record, Record::Intended { generation, .. } if generation.0 > 1)
}
