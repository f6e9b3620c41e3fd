//! Faults on the way to an app, and in the rows that a Pylon keeps.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function looks at a few kinds and leaves the others alone"
)]

use estelle_proto::claude::{ClaudeEventMessage, ClaudeSend, ClaudeSendResult};
use estelle_proto::events::{ClaudeEvent, TextDelta};
use estelle_proto::history::{HistoryMessage, HistoryResult};
use estelle_proto::{
    AppToPylon, ClientMessageId, ConversationId, DeviceId, Epoch, Prompt, PylonToApp, RequestId,
    Seq, WorkspaceId,
};

use super::Bug;
use super::decisions::open_at_end;
use crate::checker::Rule;
use crate::history::{AppStep, History, Shelf};

pub(super) const BUGS: &[Bug] = &[
    Bug {
        name: "a row of history is lost",
        rule: Rule::RowLost,
        plant: |history, place| {
            let (shelf, at) = row(history, place)?;
            shelf.rows.remove(at);
            Some(())
        },
    },
    Bug {
        name: "a row of history is there twice",
        rule: Rule::RowDoubled,
        plant: |history, place| {
            let (shelf, at) = row(history, place)?;
            shelf.rows.insert(at, shelf.rows[at].clone());
            Some(())
        },
    },
    Bug {
        name: "two rows of history change places",
        rule: Rule::RowDoubled,
        plant: |history, place| {
            let (shelf, at) = row(history, place)?;
            let other = if at == 0 { 1 } else { at - 1 };
            (shelf.rows.len() > 1).then(|| shelf.rows.swap(at, other))
        },
    },
    Bug {
        name: "a row of history says something else",
        rule: Rule::RowChanged,
        plant: |history, place| {
            let texts = |shelf: &Shelf| {
                let rows = shelf.rows.iter().enumerate();
                let texts = rows.filter(|(_, row)| matches!(row.message, HistoryMessage::Text(_)));
                texts.map(|(at, _)| at).collect::<Vec<_>>()
            };
            let (number, at) = history
                .shelves
                .iter()
                .enumerate()
                .flat_map(|(number, shelf)| texts(shelf).into_iter().map(move |at| (number, at)))
                .nth(place)?;
            if let HistoryMessage::Text(text) = &mut history.shelves[number].rows[at].message {
                text.content.push('!');
            }
            Some(())
        },
    },
    Bug {
        name: "history has a row of something that never happened",
        rule: Rule::RowInvented,
        plant: |history, place| {
            let shelf = history.shelves.get_mut(place)?;
            let mut more = shelf.rows.last()?.clone();
            more.seq = Seq(shelf.seq.0 + 7);
            shelf.rows.push(more);
            Some(())
        },
    },
    Bug {
        name: "the Pylon does not take the newest event in",
        rule: Rule::RowBehind,
        plant: |history, place| {
            let shelf = history.shelves.get_mut(place)?;
            let seq = shelf.seq;
            shelf.rows.retain(|row| row.seq != seq);
            shelf.seq = Seq(seq.0.checked_sub(1)?);
            Some(())
        },
    },
    Bug {
        name: "a page lacks a row",
        rule: Rule::RowLost,
        plant: |history, place| {
            let (page, at) = page_row(history, place)?;
            page.messages.remove(at);
            Some(())
        },
    },
    Bug {
        name: "a page has a row twice",
        rule: Rule::RowDoubled,
        plant: |history, place| {
            let (page, at) = page_row(history, place)?;
            page.messages.insert(at, page.messages[at].clone());
            Some(())
        },
    },
    Bug {
        name: "an app loses an event",
        rule: Rule::Gap,
        plant: |history, place| {
            remove(history, place, |steps, at| {
                let here = numbered(&steps[at])?;
                let next = followed(steps, at, |other| {
                    numbered(other).is_some_and(|other| {
                        other.conversation_id == here.conversation_id && other.seq > here.seq
                    })
                });
                (looks_at(steps, at) == Some(&here.conversation_id) && next).then_some(())
            })
        },
    },
    Bug {
        name: "the newest event never reaches an app",
        rule: Rule::Behind,
        plant: |history, place| {
            remove(history, place, |steps, at| {
                let here = numbered(&steps[at])?;
                let is_last = !steps[at + 1..].iter().any(|other| {
                    matches!(other, AppStep::Connected | AppStep::Lost | AppStep::Sent(_))
                        || numbered(other)
                            .is_some_and(|other| other.conversation_id == here.conversation_id)
                });
                (is_last && looks_at(steps, at) == Some(&here.conversation_id)).then_some(())
            })
        },
    },
    Bug {
        name: "an app gets an event twice",
        rule: Rule::Repeated,
        plant: |history, place| {
            let (app, at) = nth(history, place, |steps, at| numbered(&steps[at]).map(drop))?;
            let steps = &mut history.apps[app].steps;
            steps.insert(at + 1, steps[at].clone());
            Some(())
        },
    },
    Bug {
        name: "an app gets a piece of a text twice",
        rule: Rule::PieceTwice,
        plant: |history, place| {
            let (app, at) = nth(history, place, |steps, at| {
                settled_piece(steps, at).map(drop)
            })?;
            let steps = &mut history.apps[app].steps;
            steps.insert(at + 1, steps[at].clone());
            Some(())
        },
    },
    Bug {
        name: "an app loses a piece of a text",
        rule: Rule::TextTorn,
        plant: |history, place| {
            remove(history, place, |steps, at| {
                let here = settled_piece(steps, at)?;
                let end = here.at? + here.content.encode_utf16().count() as u64;
                let next = steps.get(at + 1).and_then(piece)?;
                (next.at == Some(end)).then_some(())
            })
        },
    },
    Bug {
        name: "an event says something else at an app",
        rule: Rule::Changed,
        plant: |history, place| {
            edit(history, place, |message| match &mut message.event {
                ClaudeEvent::TextComplete(whole) => {
                    whole.text.push('!');
                    Some(())
                }
                _ => None,
            })
        },
    },
    Bug {
        name: "an event of another epoch reaches an app",
        rule: Rule::WrongEpoch,
        plant: |history, place| {
            edit(history, place, |message| {
                message.epoch = Some(Epoch(77));
                Some(())
            })
        },
    },
    Bug {
        name: "an event reaches an app without its number",
        rule: Rule::Misnumbered,
        plant: |history, place| {
            edit(history, place, |message| {
                let is_told_again = matches!(
                    message.event,
                    ClaudeEvent::State(_)
                        | ClaudeEvent::PermissionAsked(_)
                        | ClaudeEvent::QuestionAsked(_)
                );
                (!is_told_again).then(|| message.seq = None)
            })
        },
    },
    Bug {
        name: "an event of a stranger reaches an app",
        rule: Rule::Foreign,
        plant: |history, place| {
            edit(history, place, |message| {
                message.conversation_id = ConversationId::parse("somebody-elses").ok()?;
                Some(())
            })
        },
    },
    Bug {
        name: "what a Pylon says reaches a device of another realm",
        rule: Rule::CrossedRealms,
        plant: |history, place| {
            let hears = |step: &AppStep| matches!(step, AppStep::Got(_));
            let app = history.apps.get_mut(place)?;
            app.outsider = app.steps.iter().any(hears);
            app.outsider.then_some(())
        },
    },
    Bug {
        name: "an app is not told of an open prompt",
        rule: Rule::PromptUnseen,
        plant: |history, place| {
            let open = open_at_end(history);
            let open = open.first()?.1.tool_use_id.to_string();
            let app = history.apps.get_mut(place)?;
            let before = app.steps.len();
            app.steps.retain(|step| !asks(step, &open));
            (app.steps.len() < before).then_some(())
        },
    },
    Bug {
        name: "an app is told that its answer was the first, and it was not",
        rule: Rule::TwoWinners,
        plant: |history, place| {
            let steps = history.apps.iter_mut().flat_map(|app| &mut app.steps);
            let mut lost = steps.filter_map(|step| match step {
                AppStep::Got(message) => match message.as_mut() {
                    PylonToApp::ClaudePermissionResult(result) if !result.success => Some(result),
                    _ => None,
                },
                _ => None,
            });
            lost.nth(place)?.success = true;
            Some(())
        },
    },
    Bug {
        name: "a message of an app is acknowledged and lost",
        rule: Rule::AckedLost,
        plant: |history, place| {
            let conversation = history.conversations.first()?.id.clone();
            let app = history.apps.get_mut(place)?;
            let name = ClientMessageId::parse("lost-message").ok();
            let (send, result) = exchange(&conversation, "lost", name, "hello")?;
            app.steps.extend([send, result]);
            Some(())
        },
    },
];

/// A message of an app, and that it was taken.
pub(super) fn exchange(
    conversation: &ConversationId,
    request: &str,
    name: Option<ClientMessageId>,
    prompt: &str,
) -> Option<(AppStep, AppStep)> {
    let id = RequestId::parse(request).ok();
    let workspace = WorkspaceId::parse("w").ok()?;
    let prompt = Prompt::parse(prompt).ok()?;
    let send = ClaudeSend {
        request_id: id.clone(),
        client_message_id: name,
        ..ClaudeSend::new(workspace, conversation.clone(), prompt)
    };
    let result = ClaudeSendResult {
        request_id: id,
        ..ClaudeSendResult::new(DeviceId(1), conversation.clone())
    };
    let send = AppStep::Sent(Box::new(AppToPylon::ClaudeSend(send)));
    let result = AppStep::Got(Box::new(PylonToApp::ClaudeSendResult(result)));
    Some((send, result))
}

/// The `place`-th row of all shelves.
fn row(history: &mut History, place: usize) -> Option<(&mut Shelf, usize)> {
    let mut left = place;
    for shelf in &mut history.shelves {
        if left < shelf.rows.len() {
            return Some((shelf, left));
        }
        left -= shelf.rows.len();
    }
    None
}

/// The `place`-th row of all pages that begin with the newest.
fn page_row(history: &mut History, place: usize) -> Option<(&mut HistoryResult, usize)> {
    let mut left = place;
    for step in history.apps.iter_mut().flat_map(|app| &mut app.steps) {
        let AppStep::Got(message) = step else {
            continue;
        };
        let PylonToApp::HistoryResult(page) = message.as_mut() else {
            continue;
        };
        // The oldest row of a page with more before it may stand where it likes.
        let rows = page.messages.len();
        let usable = if page.has_more { 0 } else { rows };
        if left < usable {
            return Some((page, left));
        }
        left -= usable;
    }
    None
}

pub(super) fn event(step: &AppStep) -> Option<&ClaudeEventMessage> {
    match step {
        AppStep::Got(message) => match message.as_ref() {
            PylonToApp::ClaudeEventMessage(event) => Some(event),
            _ => None,
        },
        _ => None,
    }
}

pub(super) fn numbered(step: &AppStep) -> Option<&ClaudeEventMessage> {
    event(step).filter(|event| event.seq.is_some())
}

pub(super) fn piece(step: &AppStep) -> Option<&TextDelta> {
    match &event(step)?.event {
        ClaudeEvent::Text(piece) => Some(piece),
        _ => None,
    }
}

/// A piece whose place is certain: it continues what the app was told before it, and nothing died.
fn settled_piece(steps: &[AppStep], at: usize) -> Option<&TextDelta> {
    let here = piece(&steps[at])?;
    let before = steps[..at].iter().rev();
    let told = before
        .take_while(|step| !matches!(step, AppStep::Died(_)))
        .find_map(|step| match &event(step)?.event {
            ClaudeEvent::StateUpdate(update) => update.open.as_ref().map(|_| true),
            ClaudeEvent::Result(_) => Some(true),
            _ => None,
        });
    told.is_some().then_some(here)
}

/// What an app looks at when a step happens, once it has the page.
fn looks_at(steps: &[AppStep], at: usize) -> Option<&ConversationId> {
    let before = steps[..at].iter().rev();
    before
        .take_while(|step| !matches!(step, AppStep::Connected | AppStep::Lost | AppStep::Died(_)))
        .find_map(|step| match step {
            AppStep::Got(message) => match message.as_ref() {
                PylonToApp::HistoryResult(page) => Some(&page.conversation_id),
                _ => None,
            },
            _ => None,
        })
}

/// Whether such a step follows on the same connection, with no page in between.
fn followed(steps: &[AppStep], at: usize, fits: impl Fn(&AppStep) -> bool) -> bool {
    let rest = steps[at + 1..].iter();
    let mut rest = rest.take_while(|step| {
        let is_page = matches!(step, AppStep::Got(message) if matches!(**message, PylonToApp::HistoryResult(_)));
        let is_break = matches!(step, AppStep::Connected | AppStep::Lost | AppStep::Died(_));
        !is_page && !is_break
    });
    rest.any(fits)
}

/// The `place`-th step of all apps that fits.
pub(super) fn nth(
    history: &History,
    place: usize,
    fits: impl Fn(&[AppStep], usize) -> Option<()>,
) -> Option<(usize, usize)> {
    let mut places = Vec::new();
    for (number, app) in history.apps.iter().enumerate() {
        let all = 0..app.steps.len();
        let fitting = all.filter(|at| fits(&app.steps, *at).is_some());
        places.extend(fitting.map(|at| (number, at)));
    }
    places.into_iter().nth(place)
}

/// Takes the `place`-th step away that fits.
pub(super) fn remove(
    history: &mut History,
    place: usize,
    fits: impl Fn(&[AppStep], usize) -> Option<()>,
) -> Option<()> {
    let (app, at) = nth(history, place, fits)?;
    history.apps[app].steps.remove(at);
    Some(())
}

/// Changes the `place`-th numbered event that takes the change.
fn edit(
    history: &mut History,
    place: usize,
    change: impl Fn(&mut ClaudeEventMessage) -> Option<()>,
) -> Option<()> {
    let steps = history.apps.iter_mut().flat_map(|app| &mut app.steps);
    let mut left = place;
    for step in steps {
        let AppStep::Got(message) = step else {
            continue;
        };
        let PylonToApp::ClaudeEventMessage(event) = message.as_mut() else {
            continue;
        };
        let mut changed = event.clone();
        if event.seq.is_none() || change(&mut changed).is_none() {
            continue;
        }
        if left == 0 {
            *event = changed;
            return Some(());
        }
        left -= 1;
    }
    None
}

/// Whether a step asks about a call.
fn asks(step: &AppStep, call: &str) -> bool {
    let asked = event(step).map(|message| &message.event);
    matches!(asked, Some(ClaudeEvent::PermissionAsked(asked)) if asked.tool_use_id.as_str() == call)
}
