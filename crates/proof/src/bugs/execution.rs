//! Faults with what runs: tools without an allow, messages that run twice or never.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function looks at a few kinds and leaves the others alone"
)]

use estelle_proto::events::ClaudeEvent;
use estelle_proto::ipc::{HostToPylon, RequestResult};
use estelle_proto::{ClientMessageId, OnBusy, Seq};
use estelle_sim::script::Script;
use estelle_state::conversation::{Entry, Message, MessageId, Record};

use super::apps::exchange;
use super::{Bug, change_entry, entry_at};
use crate::checker::Rule;
use crate::history::{Answer, Fact, History, Step, Witness, witness};

pub(super) const BUGS: &[Bug] = &[
    Bug {
        name: "a tool runs that nobody was asked about",
        rule: Rule::RanUnasked,
        plant: |history, place| {
            let truth = history.conversations.get_mut(place)?.truth.as_mut()?;
            truth.push(Fact::Ran {
                tool_use_id: "toolu_unasked".to_owned(),
                input: String::new(),
            });
            Some(())
        },
    },
    Bug {
        name: "a tool runs though the answer was no",
        rule: Rule::RanWithoutAllow,
        plant: |history, place| {
            at_fact(history, place, is_denial, |truth, at| {
                let request = match &truth[at] {
                    Fact::Answered { request_id, .. } => request_id.clone(),
                    _ => return None,
                };
                let call = truth.iter().find_map(|fact| match fact {
                    Fact::Asked {
                        request_id,
                        tool_use_id,
                        input,
                        ..
                    } if *request_id == request => Some((tool_use_id.clone(), input.clone())),
                    _ => None,
                });
                let (tool_use_id, input) = call?;
                truth.insert(at + 1, Fact::Ran { tool_use_id, input });
                Some(())
            })
        },
    },
    Bug {
        name: "a tool runs while its prompt is open",
        rule: Rule::RanWithoutAllow,
        plant: |history, place| {
            at_fact(history, place, is_ask, |truth, at| {
                let (tool_use_id, input) = match &truth[at] {
                    Fact::Asked {
                        tool_use_id, input, ..
                    } => (tool_use_id.clone(), input.clone()),
                    _ => return None,
                };
                truth.insert(at + 1, Fact::Ran { tool_use_id, input });
                Some(())
            })
        },
    },
    Bug {
        name: "a tool runs twice",
        rule: Rule::RanTwice,
        plant: |history, place| {
            at_fact(history, place, is_run, |truth, at| {
                truth.push(truth[at].clone());
                Some(())
            })
        },
    },
    Bug {
        name: "a later process runs a tool again",
        rule: Rule::RanTwice,
        plant: |history, place| {
            at_fact(history, place, is_run, |truth, at| {
                let call = match &truth[at] {
                    Fact::Ran { tool_use_id, .. } => tool_use_id.clone(),
                    _ => return None,
                };
                truth.push(Fact::RanAgain { tool_use_id: call });
                Some(())
            })
        },
    },
    Bug {
        name: "a tool leaves a mark though it did not run",
        rule: Rule::MarkWithoutRun,
        plant: |history, place| {
            let conversation = history.conversations.get_mut(place)?;
            conversation.markers.push("toolu_secret".to_owned());
            Some(())
        },
    },
    Bug {
        name: "a tool runs with another input than the one asked about",
        rule: Rule::RanOtherInput,
        plant: |history, place| {
            at_fact(history, place, is_run_of_permission, |truth, at| {
                match &mut truth[at] {
                    Fact::Ran { input, .. } => *input = "0".repeat(16),
                    _ => return None,
                }
                Some(())
            })
        },
    },
    Bug {
        name: "a message is acknowledged before it is on the disk, and lost",
        rule: Rule::AckedLost,
        plant: |history, place| {
            change_entry(history, place, is_accepted, |entries, at| {
                entries.remove(at);
                Some(())
            })
        },
    },
    Bug {
        name: "a message is acknowledged with another number",
        rule: Rule::AckedLost,
        plant: |history, place| {
            let steps = history
                .clients
                .iter_mut()
                .flat_map(|client| &mut client.steps);
            let result = steps.filter_map(acknowledged).nth(place)?;
            result.seq = Some(Seq(1_000_000));
            Some(())
        },
    },
    Bug {
        name: "a message has no event",
        rule: Rule::AckedLost,
        plant: |history, place| {
            change_entry(history, place, is_accepted, |entries, at| {
                let is_message = |event: &ClaudeEvent| matches!(event, ClaudeEvent::UserMessage(_));
                entries[at]
                    .events
                    .retain(|durable| !is_message(&durable.event));
                Some(())
            })
        },
    },
    Bug {
        name: "a message that was sent again is taken twice",
        rule: Rule::AcceptedTwice,
        plant: |history, place| {
            change_entry(history, place, is_accepted, |entries, at| {
                let mut again = entries[at].clone();
                if let Record::Accepted(message) = &mut again.record {
                    message.id = MessageId("another".to_owned());
                }
                entries.insert(at + 1, again);
                Some(())
            })
        },
    },
    Bug {
        name: "a message is taken that nobody sent",
        rule: Rule::MessageInvented,
        plant: |history, place| {
            change_entry(history, place, is_accepted, |entries, at| {
                let mut made_up = entries[at].clone();
                if let Record::Accepted(message) = &mut made_up.record {
                    message.id = MessageId("made up".to_owned());
                    message.client_message_id = ClientMessageId::parse("made-up").ok();
                }
                entries.push(made_up);
                Some(())
            })
        },
    },
    Bug {
        name: "the text of a message is changed",
        rule: Rule::MessageInvented,
        plant: |history, place| {
            change_entry(history, place, is_accepted, |entries, at| {
                if let Record::Accepted(message) = &mut entries[at].record {
                    message.content.pop();
                }
                Some(())
            })
        },
    },
    Bug {
        name: "a message is answered twice",
        rule: Rule::RanMessageTwice,
        plant: |history, place| {
            at_fact(history, place, says, |truth, at| {
                truth.insert(at, truth[at].clone());
                Some(())
            })
        },
    },
    Bug {
        name: "a message is never answered",
        rule: Rule::NeverRan,
        plant: |history, place| {
            at_fact(history, place, says, |truth, at| {
                truth.remove(at);
                Some(())
            })
        },
    },
    Bug {
        name: "a message that waited when its run ended never runs",
        rule: Rule::NeverRan,
        plant: |history, place| {
            let ends = |entry: &Entry| matches!(entry.record, Record::Ended { .. });
            let (number, _) = entry_at(history, place, ends)?;
            let message = waiting(history, number)?;
            change_entry(history, place, ends, |entries, at| {
                let entry = |record| Entry {
                    record,
                    events: Vec::new(),
                    ..entries[at].clone()
                };
                // Somebody asks for more, so that it is no longer held.
                let released = entry(Record::Released);
                let accepted = entry(Record::Accepted(message));
                entries.insert(at + 1, released);
                entries.insert(at, accepted);
                Some(())
            })
        },
    },
];

/// An app sends a message, and is told that it was taken.
fn waiting(history: &mut History, number: usize) -> Option<Message> {
    let conversation = history.conversations.get(number)?.id.clone();
    let app = history.apps.iter_mut().find(|app| !app.outsider)?;
    let name = ClientMessageId::parse("waited").ok();
    let prompt = Script::new().say("said by nobody").prompt();
    let (send, result) = exchange(&conversation, "waited", name.clone(), &prompt)?;
    app.steps.extend([send, result]);
    Some(Message {
        id: MessageId("waited".to_owned()),
        content: prompt,
        on_busy: OnBusy::Inject,
        client_message_id: name,
        device_id: None,
        author: None,
    })
}

fn at_fact(
    history: &mut History,
    place: usize,
    fits: impl Fn(&[Fact], &Fact) -> bool,
    change: impl FnOnce(&mut Vec<Fact>, usize) -> Option<()>,
) -> Option<()> {
    let mut left = place;
    for conversation in &mut history.conversations {
        let Some(truth) = &mut conversation.truth else {
            continue;
        };
        let places: Vec<usize> = (0..truth.len())
            .filter(|at| fits(truth, &truth[*at]))
            .collect();
        if let Some(at) = places.get(left) {
            return change(truth, *at);
        }
        left -= places.len();
    }
    None
}

fn is_denial(_: &[Fact], fact: &Fact) -> bool {
    matches!(fact, Fact::Answered { answer: Answer::Taken(word), .. } if word == "deny")
}

fn is_ask(_: &[Fact], fact: &Fact) -> bool {
    matches!(fact, Fact::Asked { .. })
}

fn is_run(_: &[Fact], fact: &Fact) -> bool {
    matches!(fact, Fact::Ran { .. })
}

/// A question's answer becomes part of its input, so only the others count.
fn is_run_of_permission(truth: &[Fact], fact: &Fact) -> bool {
    let Fact::Ran { tool_use_id, .. } = fact else {
        return false;
    };
    truth.iter().any(|fact| {
        matches!(fact, Fact::Asked { tool_use_id: asked, tool, .. }
            if asked == tool_use_id && tool != "AskUserQuestion")
    })
}

/// A line with the words that answer a message.
fn says(_: &[Fact], fact: &Fact) -> bool {
    match fact {
        Fact::Printed(line) => witness(line)
            .iter()
            .any(|witness| matches!(witness, Witness::Text { parent: None, .. })),
        _ => false,
    }
}

fn is_accepted(entry: &Entry) -> bool {
    matches!(entry.record, Record::Accepted(_))
}

fn acknowledged(step: &mut Step) -> Option<&mut RequestResult> {
    match step {
        Step::Got(message) => match message.as_mut() {
            HostToPylon::RequestResult(result) if result.seq.is_some() => Some(result),
            _ => None,
        },
        Step::Connected | Step::Sent(_) | Step::Lost => None,
    }
}
