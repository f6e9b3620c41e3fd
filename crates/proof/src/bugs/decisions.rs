//! Faults with decisions: asked, shown, answered, delivered.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function looks at a few kinds and leaves the others alone"
)]

use estelle_proto::events::ClaudeEvent;
use estelle_proto::ipc::{HostToPylon, RequestResult};
use estelle_proto::{DeviceId, Generation, Json, Timestamp, ToolUseId};
use estelle_state::conversation::{Entry, Record, Seen};
use estelle_state::decisions::{Answered, DecisionKey, Fact as Decided};

use super::{Bug, change_entry, rewrite};
use crate::checker::Rule;
use crate::history::{Answer, Fact, History, Life, Step};

pub(super) const BUGS: &[Bug] = &[
    Bug {
        name: "a decision is answered a second time",
        rule: Rule::AnsweredTwice,
        plant: |history, place| {
            change_entry(history, place, is_answer, |entries, at| {
                entries.insert(at + 1, entries[at].clone());
                Some(())
            })
        },
    },
    Bug {
        name: "an answer is taken to something nobody asked",
        rule: Rule::AnsweredTwice,
        plant: |history, place| {
            let conversation = history.conversations.get_mut(place)?;
            rewrite(conversation, |entries| {
                entries.push(answer("toolu_nothing", Generation(1))?);
                Some(())
            })
        },
    },
    Bug {
        name: "an answer is taken when the decision is over",
        rule: Rule::AnsweredLate,
        plant: |history, place| {
            change_entry(history, place, is_answer, |entries, at| {
                let late = entries.remove(at);
                entries.push(late);
                Some(())
            })
        },
    },
    Bug {
        name: "two people are told that their answer counts",
        rule: Rule::TwoWinners,
        plant: |history, place| {
            let mut results = history
                .clients
                .iter_mut()
                .flat_map(|client| &mut client.steps);
            let refused = results.by_ref().filter_map(refused).nth(place)?;
            refused.success = true;
            Some(())
        },
    },
    Bug {
        name: "an answer counts and is not in the log",
        rule: Rule::WinnerNotLogged,
        plant: |history, place| {
            change_entry(history, place, is_persons_answer, |entries, at| {
                entries.remove(at);
                Some(())
            })
        },
    },
    Bug {
        name: "the CLI gets another answer than the log has",
        rule: Rule::DeliveredOther,
        plant: |history, place| {
            let answer = answers(history).nth(place)?;
            match answer {
                Fact::Answered {
                    answer: Answer::Taken(word),
                    ..
                } => {
                    let other = if word == "allow" { "deny" } else { "allow" };
                    other.clone_into(word);
                }
                _ => return None,
            }
            Some(())
        },
    },
    Bug {
        name: "an answer reaches the CLI before it is in the log",
        rule: Rule::DeliveredOther,
        plant: |history, place| {
            change_entry(history, place, is_answer, |entries, at| {
                entries.remove(at);
                Some(())
            })
        },
    },
    Bug {
        name: "the CLI takes two answers to one question",
        rule: Rule::DeliveredTwice,
        plant: |history, place| {
            let again = answers(history).nth(place)?.clone();
            let truths = history.conversations.iter_mut();
            let truth = truths
                .filter_map(|conversation| conversation.truth.as_mut())
                .find(|truth| truth.contains(&again))?;
            truth.push(again);
            Some(())
        },
    },
    Bug {
        name: "an answer never reaches the CLI",
        rule: Rule::NotDelivered,
        plant: |history, place| {
            // Those that are open at the end, as if somebody had answered them just before.
            let (number, key) = open_at_end(history).into_iter().nth(place)?;
            rewrite(&mut history.conversations[number], |entries| {
                entries.push(answered(key));
                Some(())
            })
        },
    },
    Bug {
        name: "the CLI asks and the log does not know",
        rule: Rule::AskNotLogged,
        plant: |history, place| {
            change_entry(history, place, asks, |entries, at| {
                match &mut entries[at].record {
                    Record::Read(stretch) => {
                        stretch.seen.retain(|seen| !matches!(seen, Seen::Asked(_)));
                    }
                    _ => return None,
                }
                Some(())
            })
        },
    },
    Bug {
        name: "people are to be asked and nobody tells them",
        rule: Rule::PromptNotShown,
        plant: |history, place| {
            change_entry(history, place, prompts, |entries, at| {
                entries[at]
                    .events
                    .retain(|durable| !is_prompt(&durable.event));
                Some(())
            })
        },
    },
    Bug {
        name: "people are asked the same twice",
        rule: Rule::PromptNotShown,
        plant: |history, place| {
            change_entry(history, place, prompts, |entries, at| {
                let again = entries[at].events.clone();
                entries[at].events.extend(again);
                Some(())
            })
        },
    },
    Bug {
        name: "people are shown another input than the one that will run",
        rule: Rule::ShownOther,
        plant: |history, place| {
            change_entry(history, place, prompts, |entries, at| {
                let other = Json::parse(r#"{"command":"true"}"#).ok()?;
                for durable in &mut entries[at].events {
                    match &mut durable.event {
                        ClaudeEvent::PermissionAsked(asked) => asked.tool_input = other.clone(),
                        ClaudeEvent::QuestionAsked(asked) => asked.questions.clear(),
                        _ => {}
                    }
                }
                Some(())
            })
        },
    },
    Bug {
        name: "people are shown another tool than the one that will run",
        rule: Rule::ShownOther,
        plant: |history, place| {
            let permission = |entry: &Entry| {
                let events = entry.events.iter();
                events
                    .clone()
                    .any(|durable| matches!(durable.event, ClaudeEvent::PermissionAsked(_)))
            };
            change_entry(history, place, permission, |entries, at| {
                for durable in &mut entries[at].events {
                    if let ClaudeEvent::PermissionAsked(asked) = &mut durable.event {
                        "Read".clone_into(&mut asked.tool_name);
                    }
                }
                Some(())
            })
        },
    },
    Bug {
        name: "the log has another input than the CLI asked about",
        rule: Rule::ShownOther,
        plant: |history, place| {
            change_entry(history, place, asks, |entries, at| {
                let other = Json::parse(r#"{"command":"true"}"#).ok()?;
                match &mut entries[at].record {
                    Record::Read(stretch) => {
                        for seen in &mut stretch.seen {
                            if let Seen::Asked(request) = seen {
                                request.input = other.clone();
                            }
                        }
                    }
                    _ => return None,
                }
                Some(())
            })
        },
    },
];

fn is_answer(entry: &Entry) -> bool {
    matches!(
        &entry.record,
        Record::Decided {
            fact: Decided::Answered(_),
            ..
        }
    )
}

fn is_persons_answer(entry: &Entry) -> bool {
    matches!(
        &entry.record,
        Record::Decided { fact: Decided::Answered(answered), .. } if answered.by.is_some()
    )
}

fn asks(entry: &Entry) -> bool {
    match &entry.record {
        Record::Read(stretch) => stretch
            .seen
            .iter()
            .any(|seen| matches!(seen, Seen::Asked(_))),
        _ => false,
    }
}

fn is_prompt(event: &ClaudeEvent) -> bool {
    matches!(
        event,
        ClaudeEvent::PermissionAsked(_) | ClaudeEvent::QuestionAsked(_)
    )
}

fn prompts(entry: &Entry) -> bool {
    entry.events.iter().any(|durable| is_prompt(&durable.event))
}

/// Decisions that wait for people when the recording ends, with the number of their conversation.
pub(super) fn open_at_end(history: &History) -> Vec<(usize, DecisionKey)> {
    let mut open = Vec::new();
    for (number, conversation) in history.conversations.iter().enumerate() {
        let records = conversation.newest().into_iter().flat_map(Life::facts);
        let last = records.fold(None, |last, record| match record {
            Record::Shown { key, .. } => Some(key.clone()),
            Record::Decided { .. } | Record::Ended { .. } => None,
            _ => last,
        });
        open.extend(last.map(|key| (number, key)));
    }
    open
}

fn answer(call: &str, generation: Generation) -> Option<Entry> {
    let tool_use_id = ToolUseId::parse(call).ok()?;
    Some(answered(DecisionKey {
        generation,
        tool_use_id,
    }))
}

fn answered(key: DecisionKey) -> Entry {
    let fact = Decided::Answered(Answered {
        key,
        by: Some(DeviceId(1)),
        author: None,
        at: Timestamp(0),
        line: "{}".to_owned(),
    });
    Entry {
        at: Timestamp(0),
        record: Record::Decided {
            fact,
            verdict: None,
            remember: None,
        },
        events: Vec::new(),
    }
}

/// Answers that the CLI took, of all conversations.
fn answers(history: &mut History) -> impl Iterator<Item = &mut Fact> {
    let truths = history.conversations.iter_mut();
    truths
        .filter_map(|conversation| conversation.truth.as_mut())
        .flatten()
        .filter(|fact| {
            matches!(fact, Fact::Answered { answer: Answer::Taken(word), .. } if word == "allow" || word == "deny")
        })
}

fn refused(step: &mut Step) -> Option<&mut RequestResult> {
    match step {
        Step::Got(message) => match message.as_mut() {
            HostToPylon::RequestResult(result) if !result.success => Some(result),
            _ => None,
        },
        Step::Connected | Step::Sent(_) | Step::Lost => None,
    }
}
