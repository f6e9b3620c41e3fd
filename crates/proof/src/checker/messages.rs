//! Messages: what was acknowledged is in the log once and was answered once.
//!
//! A message that is a script says something that no other says, so its answers can be counted in the truth.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function looks at a few kinds and leaves the others alone"
)]

use std::collections::{BTreeMap, BTreeSet};

use estelle_proto::events::ClaudeEvent;
use estelle_proto::ipc::PylonToHost;
use estelle_proto::{ClientMessageId, ConversationId, Seq};
use estelle_sim::script::{Action, Script};
use estelle_state::conversation::{Message, Record};

use super::excuses::excused;
use super::rule::{Rule, Violation};
use crate::history::{
    Acknowledged, App, Client, Conversation, End, Fact, History, Life, Witness, witness,
};

/// A message as its sender knows it.
struct Sent<'a> {
    conversation: &'a ConversationId,
    id: Option<&'a ClientMessageId>,
    prompt: &'a str,
    acknowledged: Option<Acknowledged>,
}

pub(super) fn check(history: &History, found: &mut Vec<Violation>) {
    let sent = sent(history);
    for conversation in &history.conversations {
        let here: Vec<&Sent<'_>> = sent
            .iter()
            .filter(|sent| *sent.conversation == conversation.id)
            .collect();
        let mut report = |rule, detail: String| {
            found.push(Violation::new(
                rule,
                format!("{}: {detail}", conversation.id),
            ));
        };
        accepted(conversation, &here, &mut report);
        answered(history, conversation, &here, &mut report);
    }
}

fn sent(history: &History) -> Vec<Sent<'_>> {
    let exchanges = history.clients.iter().flat_map(Client::exchanges);
    let of_clients = exchanges.filter_map(|exchange| match exchange.command {
        PylonToHost::SendMessage(command) => Some(Sent {
            conversation: &command.session_id,
            id: command.payload.client_message_id.as_ref(),
            prompt: command.payload.prompt.as_str(),
            acknowledged: exchange
                .result
                .filter(|result| result.success)
                .map(|result| Acknowledged { seq: result.seq }),
        }),
        _ => None,
    });
    let of_apps = history
        .apps
        .iter()
        .flat_map(App::messages)
        .map(|sent| Sent {
            conversation: sent.conversation,
            id: sent.id,
            prompt: sent.prompt,
            acknowledged: sent.acknowledged,
        });
    of_clients.chain(of_apps).collect()
}

/// The messages of a log, with the numbers of their events.
fn in_log(life: &Life) -> Vec<(&Message, Vec<(Seq, &ClaudeEvent)>)> {
    let mut seq = 0;
    let mut messages = Vec::new();
    for entry in life.entries() {
        let numbered: Vec<_> = (seq + 1..).map(Seq).zip(&entry.events).collect();
        seq += entry.events.len() as u64;
        if let Record::Accepted(message) = &entry.record {
            let events = numbered
                .into_iter()
                .map(|(seq, durable)| (seq, &durable.event));
            messages.push((message, events.collect()));
        }
    }
    messages
}

fn accepted(
    conversation: &Conversation,
    sent: &[&Sent<'_>],
    report: &mut impl FnMut(Rule, String),
) {
    // What was cleared was there once; what was damaged may stand in the log that took its place as well.
    let all = || conversation.lives.iter().flat_map(in_log);
    let log: Vec<_> = conversation.standing().flat_map(in_log).collect();
    let mut ids = BTreeSet::new();
    for (message, events) in &log {
        let id = message.client_message_id.as_ref();
        let known = sent
            .iter()
            .any(|sent| sent.id == id && sent.prompt == message.content);
        if !known {
            report(Rule::MessageInvented, format!("{:?}", message.id));
        }
        if !ids.insert(&message.id) || id.is_some_and(|id| times(&log, id) > 1) {
            report(Rule::AcceptedTwice, format!("{:?}", message.id));
        }
        let told = events.iter().filter(|(_, event)| tells(event, message));
        if told.count() != 1 {
            report(
                Rule::AckedLost,
                format!("{:?} has not one event of its own", message.id),
            );
        }
    }
    for sent in sent {
        let (Some(Acknowledged { seq }), Some(id)) = (sent.acknowledged, sent.id) else {
            continue;
        };
        let there = all().any(|(message, events)| {
            let mut numbers = events.iter().map(|(seq, _)| *seq);
            message.client_message_id.as_ref() == Some(id)
                && seq.is_none_or(|seq| numbers.any(|number| number == seq))
        });
        if !there {
            report(
                Rule::AckedLost,
                format!("{id} was acknowledged as {seq:?} and is not there"),
            );
        }
    }
}

fn times(log: &[(&Message, Vec<(Seq, &ClaudeEvent)>)], id: &ClientMessageId) -> usize {
    log.iter()
        .filter(|(message, _)| message.client_message_id.as_ref() == Some(id))
        .count()
}

fn tells(event: &ClaudeEvent, message: &Message) -> bool {
    matches!(event, ClaudeEvent::UserMessage(event)
        if event.content == message.content && event.client_message_id == message.client_message_id)
}

fn answered(
    history: &History,
    conversation: &Conversation,
    sent: &[&Sent<'_>],
    report: &mut impl FnMut(Rule, String),
) {
    let Some(truth) = &conversation.truth else {
        return;
    };
    let said = said(truth);
    let excused = excused(conversation);
    let mut seen: BTreeSet<(&ConversationId, Option<&ClientMessageId>)> = BTreeSet::new();
    for sent in sent {
        let id = sent.id;
        // The same message may have been sent again.
        if !seen.insert((sent.conversation, id)) {
            continue;
        }
        let Some(last) = last_words(sent.prompt) else {
            continue;
        };
        let times = said.get(&last).copied().unwrap_or_default();
        if times > 1 {
            report(Rule::RanMessageTwice, format!("{id:?}: {times} times"));
        }
        let due = sent.acknowledged.is_some() && history.end == End::AtRest;
        if due && times == 0 && !id.is_some_and(|id| excused.contains(id)) {
            report(Rule::NeverRan, format!("{id:?}"));
        }
    }
}

/// Every text the CLI completed, and how often.
fn said(truth: &[Fact]) -> BTreeMap<String, usize> {
    let mut said = BTreeMap::new();
    for fact in truth {
        let Fact::Printed(line) = fact else { continue };
        for witness in witness(line) {
            if let Witness::Text { text, .. } = witness {
                *said.entry(text).or_default() += 1;
            }
        }
    }
    said
}

/// What a script says last; none if it does not end with words of its own.
fn last_words(prompt: &str) -> Option<String> {
    let script = Script::find(prompt)?.ok()?;
    match &script.steps.last()?.action {
        Action::Answer(answer) if !answer.drop && !answer.stamp => answer.say.clone(),
        Action::Answer(_) | Action::Http(_) | Action::Malformed(_) | Action::Mischief(_) => None,
    }
}
