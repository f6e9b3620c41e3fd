//! Faults at an app that hide where less is asked of it: beside the death of a host, and before it has its page.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function looks at a few kinds and leaves the others alone"
)]

use estelle_proto::events::ClaudeEvent;
use estelle_proto::{AppToPylon, ConversationId, PylonToApp};

use super::Bug;
use super::apps::{event, nth, numbered, piece, remove};
use crate::checker::Rule;
use crate::history::{AppStep, History, Part};

pub(super) const BUGS: &[Bug] = &[
    Bug {
        name: "an app loses an event between its request to look and the page",
        rule: Rule::Gap,
        plant: |history, place| {
            remove(history, place, |steps, at| {
                let here = numbered(&steps[at])?;
                let asked = awaited(steps, at)?;
                let page = steps[at..].iter().position(|step| is_page(step, asked))? + at;
                let head = head(&steps[page])?;
                let follows = steps[page..].iter().find_map(numbered)?;
                let is_behind = here.seq? > head && follows.conversation_id == *asked;
                (here.conversation_id == *asked && is_behind).then_some(())
            })
        },
    },
    Bug {
        name: "an app loses a piece of a text after the host died",
        rule: Rule::TextTorn,
        plant: |history, place| {
            remove(history, place, |steps, at| {
                survives(steps, at)?;
                continues(steps, at).then_some(())
            })
        },
    },
    Bug {
        name: "an app gets a piece of a text twice after the host died",
        rule: Rule::PieceTwice,
        plant: |history, place| {
            let (app, at) = nth(history, place, survives)?;
            let steps = &mut history.apps[app].steps;
            steps.insert(at + 1, steps[at].clone());
            Some(())
        },
    },
    Bug {
        name: "a text is not the one that had begun when the host died",
        rule: Rule::TextTorn,
        plant: |history, place| {
            let (app, at) = nth(history, place, |steps, at| {
                let [died, whole] = steps.get(at + 1..at + 3)? else {
                    return None;
                };
                let is_dead = matches!(died, AppStep::Died(Part::Host));
                let whole = &event(whole)?.event;
                let is_whole = matches!(whole, ClaudeEvent::TextComplete(_));
                (is_settled(steps, at) && is_dead && is_whole).then_some(())
            })?;
            change(history, app, at)
        },
    },
    Bug {
        name: "an app that looks at rest loses a piece of the first text after it",
        rule: Rule::TextTorn,
        plant: |history, place| {
            remove(history, place, |steps, at| {
                piece(&steps[at])?;
                (is_first_turn(steps, at) && continues(steps, at)).then_some(())
            })
        },
    },
];

/// What an app has asked to look at and has no page of.
fn awaited(steps: &[AppStep], at: usize) -> Option<&ConversationId> {
    let before = steps[..at].iter().rev();
    before
        .take_while(|step| !is_break(step))
        .find_map(|step| match step {
            AppStep::Got(message) => {
                matches!(**message, PylonToApp::HistoryResult(_)).then_some(None)
            }
            AppStep::Sent(request) => match request.as_ref() {
                AppToPylon::ConversationSelect(select) => Some(Some(&select.conversation_id)),
                _ => None,
            },
            _ => None,
        })
        .flatten()
}

fn is_break(step: &AppStep) -> bool {
    matches!(
        step,
        AppStep::Connected | AppStep::Lost | AppStep::Died(Part::Pylon)
    )
}

fn is_page(step: &AppStep, of: &ConversationId) -> bool {
    matches!(step, AppStep::Got(message) if matches!(&**message, PylonToApp::HistoryResult(page) if page.conversation_id == *of))
}

fn head(step: &AppStep) -> Option<estelle_proto::Seq> {
    match step {
        AppStep::Got(message) => match message.as_ref() {
            PylonToApp::HistoryResult(page) => page.head_seq,
            _ => None,
        },
        _ => None,
    }
}

/// Whether the app knows where a piece belongs: it was told what is being written, or saw a turn end, and has not asked to
/// look at anything since.
fn is_settled(steps: &[AppStep], at: usize) -> bool {
    let before = steps[..at].iter().rev();
    piece(&steps[at]).is_some()
        && before
            .take_while(|step| !is_break(step) && !matches!(step, AppStep::Sent(_)))
            .filter_map(event)
            .any(|message| match &message.event {
                ClaudeEvent::StateUpdate(update) => update.open.is_some(),
                ClaudeEvent::Result(_) => true,
                _ => false,
            })
}

/// A piece that comes after a host died on the same connection, and whose place is certain nevertheless.
fn survives(steps: &[AppStep], at: usize) -> Option<()> {
    let before = steps[..at].iter().rev();
    let mut before = before.take_while(|step| !is_break(step));
    let has_died = before.any(|step| matches!(step, AppStep::Died(Part::Host)));
    (has_died && is_settled(steps, at)).then_some(())
}

/// Whether the next step is the piece behind this one.
fn continues(steps: &[AppStep], at: usize) -> bool {
    let end = piece(&steps[at]).and_then(|here| {
        let length = here.content.encode_utf16().count() as u64;
        Some(here.at? + length)
    });
    let next = steps.get(at + 1).and_then(piece);
    end.is_some() && next.is_some_and(|next| next.at == end)
}

/// Whether the turn of a piece began after the page, and nobody told the app what is being written.
fn is_first_turn(steps: &[AppStep], at: usize) -> bool {
    let before = steps[..at].iter().rev();
    let since: Vec<_> = before
        .take_while(|step| !is_break(step) && head(step).is_none())
        .collect();
    let has_page = steps[..at - since.len()].last().and_then(head).is_some();
    let is_told = since
        .iter()
        .filter_map(|step| event(step))
        .any(|message| matches!(&message.event, ClaudeEvent::StateUpdate(update) if update.open.is_some()));
    let mut turns = since.iter().filter_map(|step| event(step));
    let begins = turns.any(|message| {
        let is_state = matches!(&message.event, ClaudeEvent::State(change) if change.state == estelle_proto::conversations::ConversationStatus::Working);
        is_state && message.seq.is_some()
    });
    has_page && !is_told && begins
}

/// Another first character for a piece.
fn change(history: &mut History, app: usize, at: usize) -> Option<()> {
    let AppStep::Got(message) = &mut history.apps[app].steps[at] else {
        return None;
    };
    let PylonToApp::ClaudeEventMessage(message) = message.as_mut() else {
        return None;
    };
    let ClaudeEvent::Text(piece) = &mut message.event else {
        return None;
    };
    piece.content.replace_range(..1, "~");
    Some(())
}
