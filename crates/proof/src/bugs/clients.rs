//! Faults on the way to a client.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function looks at a few kinds and leaves the others alone"
)]

use estelle_proto::events::ClaudeEvent;
use estelle_proto::ipc::{HostEvent, HostToPylon, PendingPermission, PylonToHost, Snapshot};
use estelle_proto::{ChainHash, ConversationId, Epoch, Json, Seq, ToolUseId};

use super::Bug;
use super::decisions::open_at_end;
use crate::checker::Rule;
use crate::history::{History, Step};

type Steps = Vec<Step>;

pub(super) const BUGS: &[Bug] = &[
    Bug {
        name: "an event is lost on the way",
        rule: Rule::Gap,
        plant: |history, place| {
            let places = places(history, |step| numbered(step).is_some());
            // The last one before a connection ends, or of all, is missed in another way.
            let (client, at) = places
                .into_iter()
                .filter(|(client, at)| is_followed(&history.clients[*client].steps, *at))
                .nth(place)?;
            history.clients[client].steps.remove(at);
            Some(())
        },
    },
    Bug {
        name: "the newest event never arrives",
        rule: Rule::Behind,
        plant: |history, place| {
            let lasts = places(history, |step| numbered(step).is_some());
            let (client, at) = lasts
                .into_iter()
                .filter(|(client, at)| is_newest(&history.clients[*client].steps, *at))
                .nth(place)?;
            history.clients[client].steps.remove(at);
            Some(())
        },
    },
    Bug {
        name: "an event is delivered twice",
        rule: Rule::Repeated,
        plant: |history, place| {
            at_event(
                history,
                place,
                |_| true,
                |steps, at| {
                    steps.insert(at + 1, steps[at].clone());
                    Some(())
                },
            )
        },
    },
    Bug {
        name: "two events change places",
        rule: Rule::Repeated,
        plant: |history, place| {
            at_event(
                history,
                place,
                |_| true,
                |steps, at| {
                    let mut next = at + 1;
                    while numbered(steps.get(next)?).is_none() {
                        next += 1;
                    }
                    let same =
                        numbered(&steps[at])?.session_id == numbered(&steps[next])?.session_id;
                    let split = steps[at..next]
                        .iter()
                        .any(|step| matches!(step, Step::Connected | Step::Lost | Step::Sent(_)));
                    if same && !split {
                        steps.swap(at, next);
                    } else {
                        steps.insert(at + 1, steps[at].clone());
                    }
                    Some(())
                },
            )
        },
    },
    Bug {
        name: "an old event comes again long after",
        rule: Rule::Repeated,
        plant: |history, place| {
            let client = history.clients.get_mut(place)?;
            let first = client
                .steps
                .iter()
                .position(|step| numbered(step).is_some())?;
            let old = client.steps[first].clone();
            client.steps.push(old);
            Some(())
        },
    },
    Bug {
        name: "an event bears another epoch",
        rule: Rule::WrongEpoch,
        plant: |history, place| edit_event(history, place, |event| event.epoch = Some(Epoch(77))),
    },
    Bug {
        name: "an event bears no epoch",
        rule: Rule::WrongEpoch,
        plant: |history, place| edit_event(history, place, |event| event.epoch = None),
    },
    Bug {
        name: "an event bears another hash",
        rule: Rule::WrongHash,
        plant: |history, place| {
            edit_event(history, place, |event| {
                event.chain_hash = ChainHash::parse("00.0").ok();
            })
        },
    },
    Bug {
        name: "a text is changed on the way",
        rule: Rule::Changed,
        plant: |history, place| {
            at_event(
                history,
                place,
                |event| matches!(event.event, ClaudeEvent::TextComplete(_)),
                |steps, at| {
                    edit(&mut steps[at], |event| {
                        if let ClaudeEvent::TextComplete(whole) = &mut event.event {
                            whole.text.push('!');
                        }
                    })
                },
            )
        },
    },
    Bug {
        name: "an event of another conversation leaks to a client",
        rule: Rule::Foreign,
        plant: |history, place| {
            edit_event(history, place, |event| {
                if let Ok(id) = ConversationId::parse("somebody-elses") {
                    event.session_id = id;
                }
            })
        },
    },
    Bug {
        name: "a durable event has no number",
        rule: Rule::Misnumbered,
        plant: |history, place| edit_event(history, place, |event| event.seq = None),
    },
    Bug {
        name: "a passing event has a number",
        rule: Rule::Misnumbered,
        plant: |history, place| {
            at_piece(history, place, |steps, at| {
                edit(&mut steps[at], |event| event.seq = Some(Seq(1)))
            })
        },
    },
    Bug {
        name: "an event is made up behind the head",
        rule: Rule::Invented,
        plant: |history, place| {
            let client = history.clients.get_mut(place)?;
            let last = client
                .steps
                .iter()
                .rposition(|step| numbered(step).is_some())?;
            let mut more = client.steps[last].clone();
            edit(&mut more, |event| {
                event.seq = event.seq.map(|seq| Seq(seq.0 + 1));
            })?;
            client.steps.push(more);
            Some(())
        },
    },
    Bug {
        name: "a good cursor is refused and everything comes again",
        rule: Rule::CursorRefused,
        plant: |history, place| {
            at_cursor(history, place, |steps, at| match steps.get_mut(at) {
                Some(Step::Got(message)) => match message.as_mut() {
                    HostToPylon::Subscribed(begins) => {
                        begins.fresh = true;
                        Some(())
                    }
                    _ => None,
                },
                _ => None,
            })
        },
    },
    Bug {
        name: "a replay begins before its cursor",
        rule: Rule::Repeated,
        plant: |history, place| {
            at_cursor(history, place, |steps, at| {
                let before = steps[..at]
                    .iter()
                    .rposition(|step| numbered(step).is_some())?;
                steps.insert(at + 1, steps[before].clone());
                Some(())
            })
        },
    },
    Bug {
        name: "a cursor of another log is accepted",
        rule: Rule::CursorAccepted,
        plant: |history, place| {
            at_cursor(history, place, |steps, at| {
                steps[..at].iter_mut().rev().find_map(|step| match step {
                    Step::Sent(command) => match command.as_mut() {
                        PylonToHost::Subscribe(subscribe) => {
                            subscribe.chain_hash = ChainHash::parse("ff.0").ok();
                            Some(())
                        }
                        _ => None,
                    },
                    Step::Connected | Step::Got(_) | Step::Lost => None,
                })
            })
        },
    },
    Bug {
        name: "a snapshot is taken before the replay is over",
        rule: Rule::SnapshotElsewhere,
        plant: |history, place| {
            at_snapshot(history, place, |_| true, |snapshot| snapshot.seq.0 += 1)
        },
    },
    Bug {
        name: "an event between replay and live is missed",
        rule: Rule::Gap,
        plant: |history, place| {
            let (client, at) = snapshots(history).nth(place)?;
            let steps = &mut history.clients[client].steps;
            // A connection that ends in between is another story: the next one begins where this one says.
            let rest = steps[at..]
                .iter()
                .take_while(|step| !matches!(step, Step::Lost | Step::Connected));
            let mut later = rest
                .enumerate()
                .filter(|(_, step)| numbered(step).is_some());
            let (first, _) = later.next()?;
            later.next()?;
            steps.remove(at + first);
            Some(())
        },
    },
    Bug {
        name: "a snapshot forgets an open prompt",
        rule: Rule::PromptForgotten,
        plant: |history, place| {
            at_snapshot(
                history,
                place,
                |snapshot| {
                    let pending = snapshot.status.pending_permissions.as_ref();
                    pending.is_some_and(|pending| !pending.is_empty())
                },
                |snapshot| {
                    snapshot.status.pending_permissions = None;
                    snapshot.status.pending_permission = None;
                },
            )
        },
    },
    Bug {
        name: "a snapshot shows a prompt that nobody asks",
        rule: Rule::PromptGhost,
        plant: |history, place| {
            let call = ToolUseId::parse("toolu_ghost").ok()?;
            let input = Json::parse("{}").ok()?;
            at_snapshot(
                history,
                place,
                |_| true,
                |snapshot| {
                    let ghost = PendingPermission::new(call, "Bash".to_owned(), input);
                    snapshot.status.pending_permissions = Some(vec![ghost]);
                },
            )
        },
    },
    Bug {
        name: "a client is never told of an open prompt",
        rule: Rule::PromptUnseen,
        plant: |history, place| {
            // Where none is open, nobody needs to be told.
            open_at_end(history).first()?;
            let client = history.clients.get_mut(place)?;
            let before = client.steps.len();
            client.steps.retain(|step| !is_prompt(step));
            (client.steps.len() < before).then_some(())
        },
    },
    Bug {
        name: "a piece of text is lost",
        rule: Rule::TextTorn,
        plant: |history, place| {
            at_piece(history, place, |steps, at| {
                steps.remove(at);
                Some(())
            })
        },
    },
    Bug {
        name: "a piece of text is garbled",
        rule: Rule::TextTorn,
        plant: |history, place| {
            at_piece(history, place, |steps, at| {
                edit(&mut steps[at], |event| {
                    if let ClaudeEvent::Text(piece) = &mut event.event {
                        piece.content = "?".repeat(piece.content.len());
                    }
                })
            })
        },
    },
    Bug {
        name: "a snapshot shows another text than the one being written",
        rule: Rule::TextTorn,
        plant: |history, place| {
            at_snapshot(
                history,
                place,
                |snapshot| {
                    let text = snapshot.status.partial_text.as_deref();
                    text.is_some_and(|text| !text.is_empty())
                },
                |snapshot| snapshot.status.partial_text = Some("something else".to_owned()),
            )
        },
    },
];

/// The event of a step, if it has a number.
fn numbered(step: &Step) -> Option<&HostEvent> {
    event(step).filter(|event| event.seq.is_some())
}

fn event(step: &Step) -> Option<&HostEvent> {
    match step {
        Step::Got(message) => match message.as_ref() {
            HostToPylon::Event(event) => Some(event),
            _ => None,
        },
        Step::Connected | Step::Sent(_) | Step::Lost => None,
    }
}

/// Whether nothing numbered follows, on a connection that stays.
fn is_newest(steps: &[Step], at: usize) -> bool {
    let mut rest = steps[at + 1..].iter();
    rest.all(|step| numbered(step).is_none() && !matches!(step, Step::Lost))
}

/// Whether another event of the same conversation follows on the same connection.
fn is_followed(steps: &[Step], at: usize) -> bool {
    let session = event(&steps[at]).map(|event| &event.session_id);
    let rest = steps[at + 1..].iter();
    rest.take_while(|step| !matches!(step, Step::Lost | Step::Connected))
        .filter_map(numbered)
        .any(|event| Some(&event.session_id) == session)
}

fn edit(step: &mut Step, change: impl FnOnce(&mut HostEvent)) -> Option<()> {
    match step {
        Step::Got(message) => match message.as_mut() {
            HostToPylon::Event(event) => {
                change(event);
                Some(())
            }
            _ => None,
        },
        Step::Connected | Step::Sent(_) | Step::Lost => None,
    }
}

fn places(history: &History, fits: impl Fn(&Step) -> bool) -> Vec<(usize, usize)> {
    let mut places = Vec::new();
    for (client, record) in history.clients.iter().enumerate() {
        for (at, step) in record.steps.iter().enumerate() {
            if fits(step) {
                places.push((client, at));
            }
        }
    }
    places
}

fn at_event(
    history: &mut History,
    place: usize,
    fits: impl Fn(&HostEvent) -> bool,
    change: impl FnOnce(&mut Steps, usize) -> Option<()>,
) -> Option<()> {
    let places = places(history, |step| numbered(step).is_some_and(&fits));
    let (client, at) = *places.get(place)?;
    change(&mut history.clients[client].steps, at)
}

fn edit_event(
    history: &mut History,
    place: usize,
    change: impl FnOnce(&mut HostEvent),
) -> Option<()> {
    at_event(
        history,
        place,
        |_| true,
        |steps, at| edit(&mut steps[at], change),
    )
}

/// Pieces of texts that come in several, and whose whole comes on the same connection.
fn at_piece(
    history: &mut History,
    place: usize,
    change: impl FnOnce(&mut Steps, usize) -> Option<()>,
) -> Option<()> {
    let pieces = places(history, is_piece).into_iter();
    let (client, at) = pieces
        .filter(|(client, at)| {
            let steps = &history.clients[*client].steps;
            let neighbour = |at: usize| steps.get(at).is_some_and(is_piece);
            neighbour(at.wrapping_sub(1)) || neighbour(at + 1)
        })
        .filter(|(client, at)| is_completed(&history.clients[*client].steps, *at))
        .nth(place)?;
    change(&mut history.clients[client].steps, at)
}

/// Whether the next event of the conversation, on the same connection, is the whole text.
fn is_completed(steps: &[Step], at: usize) -> bool {
    let session = event(&steps[at]).map(|event| &event.session_id);
    let mut rest = steps[at + 1..]
        .iter()
        .take_while(|step| !matches!(step, Step::Lost | Step::Connected))
        .filter_map(numbered);
    let next = rest.find(|event| Some(&event.session_id) == session);
    next.is_some_and(|event| matches!(event.event, ClaudeEvent::TextComplete(_)))
}

fn is_piece(step: &Step) -> bool {
    event(step).is_some_and(|event| matches!(event.event, ClaudeEvent::Text(_)))
}

/// Beginnings of subscriptions with a cursor: the step with `subscribed`.
fn at_cursor(
    history: &mut History,
    place: usize,
    change: impl FnOnce(&mut Steps, usize) -> Option<()>,
) -> Option<()> {
    let mut found = Vec::new();
    for (client, record) in history.clients.iter().enumerate() {
        let mut cursor = false;
        for (at, step) in record.steps.iter().enumerate() {
            match step {
                Step::Sent(command) => {
                    if let PylonToHost::Subscribe(subscribe) = command.as_ref() {
                        cursor = subscribe.seq.is_some_and(|seq| seq.0 > 0);
                    }
                }
                Step::Got(message) => {
                    if cursor && matches!(message.as_ref(), HostToPylon::Subscribed(_)) {
                        found.push((client, at));
                    }
                }
                Step::Connected | Step::Lost => {}
            }
        }
    }
    let (client, at) = *found.get(place)?;
    change(&mut history.clients[client].steps, at)
}

fn snapshots(history: &History) -> impl Iterator<Item = (usize, usize)> {
    places(history, |step| snapshot(step).is_some()).into_iter()
}

fn snapshot(step: &Step) -> Option<&Snapshot> {
    match step {
        Step::Got(message) => match message.as_ref() {
            HostToPylon::Snapshot(snapshot) => Some(snapshot),
            _ => None,
        },
        Step::Connected | Step::Sent(_) | Step::Lost => None,
    }
}

fn at_snapshot(
    history: &mut History,
    place: usize,
    fits: impl Fn(&Snapshot) -> bool,
    change: impl FnOnce(&mut Snapshot),
) -> Option<()> {
    let places = places(history, |step| snapshot(step).is_some_and(&fits));
    let (client, at) = *places.get(place)?;
    match &mut history.clients[client].steps[at] {
        Step::Got(message) => match message.as_mut() {
            HostToPylon::Snapshot(snapshot) => {
                change(snapshot);
                Some(())
            }
            _ => None,
        },
        Step::Connected | Step::Sent(_) | Step::Lost => None,
    }
}

fn is_prompt(step: &Step) -> bool {
    let Step::Got(message) = step else {
        return false;
    };
    match message.as_ref() {
        HostToPylon::PermissionRequest(_)
        | HostToPylon::QuestionRequest(_)
        | HostToPylon::Snapshot(_)
        | HostToPylon::StatusResponse(_) => true,
        HostToPylon::Event(event) => matches!(
            event.event,
            ClaudeEvent::PermissionAsked(_) | ClaudeEvent::QuestionAsked(_)
        ),
        _ => false,
    }
}
