//! Every client: its events are a prefix of the log, its prompts are those that are open, its answers count once.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function looks at a few kinds and leaves the others alone"
)]

use std::collections::{BTreeMap, BTreeSet};

use estelle_proto::ConversationId;
use estelle_proto::events::ClaudeEvent;
use estelle_proto::ipc::{HostToPylon, PylonToHost, SessionStatus};

use super::ledger::Decisions;
use super::rule::{Rule, Violation};
use super::subscription::Subscription;
use crate::history::{Client, Conversation, End, History, Step};

pub(super) fn check(history: &History, found: &mut Vec<Violation>) {
    for client in &history.clients {
        let mut viewer = Viewer::new(history, client);
        for step in &client.steps {
            viewer.take(step);
        }
        viewer.finish();
        found.append(&mut viewer.found);
    }
    winners(history, found);
}

/// What one client knows while its steps are gone through.
struct Viewer<'a> {
    history: &'a History,
    client: &'a Client,
    connected: bool,
    /// It asked for everything that is open.
    caught_up: bool,
    subscriptions: BTreeMap<ConversationId, Subscription<'a>>,
    /// Calls that it was asked about, over all its connections.
    prompts: BTreeSet<String>,
    found: Vec<Violation>,
}

impl<'a> Viewer<'a> {
    fn new(history: &'a History, client: &'a Client) -> Self {
        Self {
            history,
            client,
            connected: false,
            caught_up: false,
            subscriptions: BTreeMap::new(),
            prompts: BTreeSet::new(),
            found: Vec::new(),
        }
    }

    fn report(&mut self, rule: Rule, detail: impl AsRef<str>) {
        let detail = format!("client {}: {}", self.client.name, detail.as_ref());
        self.found.push(Violation::new(rule, detail));
    }

    fn take(&mut self, step: &Step) {
        match step {
            Step::Connected => {
                self.connected = true;
                self.caught_up = false;
                self.subscriptions.clear();
            }
            Step::Lost => {
                self.connected = false;
                self.subscriptions.clear();
            }
            Step::Sent(command) => self.sent(command),
            Step::Got(message) => self.got(message),
        }
    }

    fn sent(&mut self, command: &PylonToHost) {
        match command {
            PylonToHost::Subscribe(subscribe) => {
                if let Some(conversation) = self.history.conversation(&subscribe.session_id) {
                    let subscription = Subscription::asked(conversation, subscribe);
                    self.subscriptions
                        .insert(subscribe.session_id.clone(), subscription);
                }
            }
            PylonToHost::Unsubscribe(command) => {
                self.subscriptions.remove(&command.session_id);
            }
            PylonToHost::PylonReconnected(_) => self.caught_up = true,
            _ => {}
        }
    }

    fn got(&mut self, message: &HostToPylon) {
        match message {
            HostToPylon::Subscribed(begins) => {
                if let Some(subscription) = self.subscriptions.get_mut(&begins.session_id) {
                    let wrong = subscription.begin(begins);
                    self.report_all(wrong);
                }
            }
            HostToPylon::Event(event) => {
                self.note_prompt(&event.event);
                match self.subscriptions.get_mut(&event.session_id) {
                    Some(subscription) => {
                        let wrong = subscription.event(event);
                        self.report_all(wrong);
                    }
                    None => self.report(Rule::Foreign, format!("{:?}", event.session_id)),
                }
            }
            HostToPylon::Snapshot(snapshot) => {
                if let Some(subscription) = self.subscriptions.get_mut(&snapshot.session_id) {
                    let wrong = subscription.snapshot(snapshot);
                    self.report_all(wrong);
                }
                self.status(&snapshot.status);
            }
            HostToPylon::PermissionRequest(request) => {
                self.prompts.insert(request.tool_use_id.to_string());
            }
            HostToPylon::QuestionRequest(request) => {
                self.prompts.insert(request.tool_use_id.to_string());
            }
            HostToPylon::StatusResponse(response) => {
                response
                    .sessions
                    .iter()
                    .for_each(|status| self.status(status));
            }
            _ => {}
        }
    }

    fn report_all(&mut self, wrong: Vec<(Rule, String)>) {
        for (rule, detail) in wrong {
            self.report(rule, detail);
        }
    }

    fn note_prompt(&mut self, event: &ClaudeEvent) {
        match event {
            ClaudeEvent::PermissionAsked(asked) => {
                self.prompts.insert(asked.tool_use_id.to_string());
            }
            ClaudeEvent::QuestionAsked(asked) => {
                self.prompts.insert(asked.tool_use_id.to_string());
            }
            _ => {}
        }
    }

    /// A status lists the prompts that were open at its place in the log.
    fn status(&mut self, status: &SessionStatus) {
        let listed = listed(status);
        self.prompts.extend(listed.iter().cloned());
        let conversation = self.history.conversation(&status.session_id);
        let (Some(conversation), Some(seq)) = (conversation, status.seq) else {
            return;
        };
        let Some((must, may)) = open_at(conversation, status, seq.0) else {
            return;
        };
        for call in must.difference(&listed) {
            self.report(Rule::PromptForgotten, format!("{call} at {seq}"));
        }
        for call in listed.difference(&may) {
            self.report(Rule::PromptGhost, format!("{call} at {seq}"));
        }
    }

    fn finish(&mut self) {
        if self.history.end != End::AtRest || !self.connected {
            return;
        }
        let behind: Vec<_> = self
            .subscriptions
            .values()
            .filter_map(Subscription::missing)
            .collect();
        self.report_all(behind);
        for conversation in &self.history.conversations {
            let watches = self.caught_up || self.subscriptions.contains_key(&conversation.id);
            let life = conversation.newest().filter(|_| watches);
            let decisions = life.map(|life| Decisions::of(life.entries()));
            for decision in decisions.iter().flat_map(|decisions| &decisions.all) {
                let open = decision.shown && decision.is_open();
                if open && !self.prompts.contains(&decision.tool_use_id) {
                    self.report(Rule::PromptUnseen, &decision.tool_use_id);
                }
            }
        }
    }
}

fn listed(status: &SessionStatus) -> BTreeSet<String> {
    let permissions = status.pending_permissions.iter().flatten();
    let questions = status.pending_questions.iter().flatten();
    let oldest = status.pending_permission.iter();
    permissions
        .chain(oldest)
        .map(|pending| pending.tool_use_id.to_string())
        .chain(questions.map(|pending| pending.tool_use_id.to_string()))
        .collect()
}

/// The prompts that are open all the time from event `seq` to the next, and those that are open at some time.
fn open_at(
    conversation: &Conversation,
    status: &SessionStatus,
    seq: u64,
) -> Option<(BTreeSet<String>, BTreeSet<String>)> {
    let life = conversation
        .lives
        .iter()
        .find(|life| life.epoch() == status.epoch)?;
    let mut decisions = Decisions::default();
    let mut count = 0;
    let mut must: Option<BTreeSet<String>> = None;
    let mut may = BTreeSet::new();
    for entry in life.entries() {
        count += entry.events.len() as u64;
        if count > seq {
            break;
        }
        decisions.take(entry);
        if count == seq {
            let open = decisions.all.iter().filter(|decision| decision.is_open());
            let all = open.clone().map(|decision| decision.tool_use_id.clone());
            may.extend(all);
            let shown = open.filter(|decision| decision.shown);
            let shown: BTreeSet<_> = shown.map(|one| one.tool_use_id.clone()).collect();
            must = Some(match must {
                Some(before) => before.intersection(&shown).cloned().collect(),
                None => shown,
            });
        }
    }
    must.map(|must| (must, may))
}

/// Whoever was told that his answer counts was the only one, and the log agrees.
fn winners(history: &History, found: &mut Vec<Violation>) {
    let mut winners: BTreeMap<(&ConversationId, &str), BTreeSet<String>> = BTreeMap::new();
    for client in &history.clients {
        for exchange in client.exchanges() {
            if !exchange.result.is_some_and(|result| result.success) {
                continue;
            }
            let (conversation, call, device) = match exchange.command {
                PylonToHost::PermissionResponse(answer) => {
                    (&answer.session_id, &answer.tool_use_id, answer.device_id)
                }
                PylonToHost::QuestionResponse(answer) => {
                    (&answer.session_id, &answer.tool_use_id, answer.device_id)
                }
                _ => continue,
            };
            let who = device.map_or(client.name.clone(), |device| format!("device {device}"));
            let key = (conversation, call.as_str());
            winners.entry(key).or_default().insert(who);
        }
    }
    for app in &history.apps {
        for (conversation, call) in app.won() {
            let key = (conversation, call.as_str());
            let who = format!("app {}", app.name);
            winners.entry(key).or_default().insert(who);
        }
    }
    for ((conversation, call), who) in winners {
        let detail = format!("{conversation} {call}: {who:?}");
        if who.len() > 1 {
            found.push(Violation::new(Rule::TwoWinners, detail.clone()));
        }
        let lives = history.conversation(conversation).map(|found| &found.lives);
        let folded = lives
            .into_iter()
            .flatten()
            .map(|life| Decisions::of(life.entries()));
        let logged = folded
            .flat_map(|decisions| decisions.all)
            .any(|decision| decision.tool_use_id == call && !decision.answers.is_empty());
        if !logged {
            found.push(Violation::new(Rule::WinnerNotLogged, detail));
        }
    }
}
