//! Every app behind the relay: what it looks at is complete and in order, nothing comes twice, every prompt reaches it.
//!
//! What is not asked of an app, and why that hides nothing:
//!
//! - Events that come between its request to look and the page are not held against those before them: what happened while
//!   it looked elsewhere is in the page. They are held against the page instead: the head of the page and the events behind
//!   it must be without a gap, whichever of the two came first, or the next event leaves a gap and the end is behind.
//! - After the Pylon died nothing counts as looked at until the app asks again, for the Pylon has forgotten that it looks.
//! - Pieces of text are not durable. What is asked of them is in `writing`.
//!
//! A history that is gathered while things move may show what is only late. Whoever does so must find the same twice: what
//! is recorded only grows, so that a promise which is broken stays broken.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function looks at a few kinds and leaves the others alone"
)]

use std::collections::{BTreeMap, BTreeSet};

use estelle_proto::claude::ClaudeEventMessage;
use estelle_proto::conversations::ConversationStatus;
use estelle_proto::events::ClaudeEvent;
use estelle_proto::history::HistoryResult;
use estelle_proto::{AppToPylon, ConversationId, Message, PylonToApp, RequestId};

use super::ledger::Decisions;
use super::pieces::BY_A_PERSON;
use super::rule::{Rule, Violation};
use super::shelf;
use super::writing::Writing;
use crate::history::{App, AppStep, Conversation, End, History, Part};

pub(super) fn check(history: &History, found: &mut Vec<Violation>) {
    for app in &history.apps {
        if app.outsider {
            hears_nothing(app, found);
            continue;
        }
        let mut looker = Looker::new(history, app);
        for step in &app.steps {
            looker.take(step);
        }
        looker.finish();
        found.append(&mut looker.found);
    }
}

/// Nothing of a Pylon reaches a device of another realm.
fn hears_nothing(app: &App, found: &mut Vec<Violation>) {
    for step in &app.steps {
        if let AppStep::Got(message) = step {
            let detail = format!("app {}: {}", app.name, Message::kind(message.as_ref()));
            found.push(Violation::new(Rule::CrossedRealms, detail));
        }
    }
}

/// The epoch of a conversation in which nothing happened yet.
const NONE_YET: u64 = 0;

/// What one app knows while its steps are gone through.
struct Looker<'a> {
    history: &'a History,
    app: &'a App,
    connected: bool,
    /// What it looks at, and since which request.
    looks_at: Option<(ConversationId, Option<RequestId>)>,
    seen: BTreeMap<ConversationId, Seen>,
    prompts: BTreeSet<String>,
    /// The first numbered event of each conversation since when nothing disturbed its way: those behind it come in order.
    heard: BTreeMap<ConversationId, (u64, u64)>,
    /// Conversations in which the end of a text may have come without pieces because the host died, for so many turns.
    shaken: BTreeMap<ConversationId, u8>,
    found: Vec<Violation>,
}

/// The turn that was under way when the host died, and one before it whose end was still on its way.
const TURNS: u8 = 2;

/// How far an app is in one conversation, on one connection.
#[derive(Default)]
struct Seen {
    /// Events that came, by epoch and number.
    numbers: BTreeSet<(u64, u64)>,
    /// The last that it has, in a page or as an event, once it has a page.
    last: Option<(u64, u64)>,
    writing: Writing,
}

impl<'a> Looker<'a> {
    fn new(history: &'a History, app: &'a App) -> Self {
        Self {
            history,
            app,
            connected: false,
            looks_at: None,
            seen: BTreeMap::new(),
            prompts: BTreeSet::new(),
            heard: BTreeMap::new(),
            shaken: BTreeMap::new(),
            found: Vec::new(),
        }
    }

    fn report(&mut self, rule: Rule, detail: impl AsRef<str>) {
        let detail = format!("app {}: {}", self.app.name, detail.as_ref());
        self.found.push(Violation::new(rule, detail));
    }

    fn take(&mut self, step: &AppStep) {
        match step {
            AppStep::Connected | AppStep::Lost => {
                self.connected = *step == AppStep::Connected;
                self.looks_at = None;
                self.seen.clear();
                self.prompts.clear();
                self.heard.clear();
            }
            AppStep::Died(Part::Host) => {
                let all = self.history.conversations.iter();
                self.shaken = all.map(|one| (one.id.clone(), TURNS)).collect();
            }
            AppStep::Died(Part::Pylon) => {
                self.looks_at = None;
                self.heard.clear();
                self.seen.values_mut().for_each(|seen| seen.last = None);
            }
            AppStep::Sent(request) => {
                if let AppToPylon::ConversationSelect(select) = request.as_ref() {
                    let id = select.conversation_id.clone();
                    let seen = self.seen.entry(id.clone()).or_default();
                    // Pieces may come before the page, and are in what is told behind it.
                    seen.writing.begins();
                    // What happened while it looked elsewhere is in the page.
                    seen.last = None;
                    self.looks_at = Some((id, select.request_id.clone()));
                }
            }
            AppStep::Got(message) => match message.as_ref() {
                PylonToApp::HistoryResult(page) => self.page(page),
                PylonToApp::ClaudeEventMessage(message) => self.event(message),
                _ => {}
            },
        }
    }

    fn page(&mut self, page: &HistoryResult) {
        let is_look = self.looks_at.as_ref().is_some_and(|(id, request)| {
            *id == page.conversation_id && *request == page.request_id
        });
        if is_look && page.success {
            let seen = self.seen.entry(page.conversation_id.clone()).or_default();
            // A conversation in which nothing happened yet has no epoch.
            let epoch = page.epoch.map_or(NONE_YET, |epoch| epoch.0);
            let mut last = page.head_seq.map_or(0, |seq| seq.0);
            // What came before the page and is behind its head is known as well.
            while seen.numbers.contains(&(epoch, last + 1)) {
                last += 1;
            }
            seen.last = Some((epoch, last));
            seen.writing.begins();
        }
        let conversation = self.history.conversation(&page.conversation_id);
        let (Some(conversation), Some(epoch), Some(head)) =
            (conversation, page.epoch, page.head_seq)
        else {
            return;
        };
        let mut lives = conversation.lives.iter();
        let Some(life) = lives.find(|life| life.epoch() == Some(epoch)) else {
            return self.report(Rule::WrongEpoch, format!("a page of epoch {epoch}"));
        };
        let events = life.events();
        if head.0 > events.len() as u64 {
            self.report(Rule::Invented, format!("a page up to {head}"));
        }
        let rows: Vec<_> = page
            .messages
            .iter()
            .filter_map(|row| Some((seq_of(row)?, row)))
            .collect();
        let first = rows
            .first()
            .map_or(head.0, |(seq, _)| seq.saturating_sub(1));
        let from = if page.has_more { first } else { 0 };
        let mut wrong = Vec::new();
        if page.offset == 0 {
            shelf::compare(&events, from, head.0, &rows, &mut |rule, detail| {
                wrong.push((rule, detail));
            });
        }
        for (rule, detail) in wrong {
            self.report(rule, format!("in a page: {detail}"));
        }
    }

    fn event(&mut self, message: &ClaudeEventMessage) {
        self.note_prompt(&message.event);
        let unseen = self.unseen(message);
        let looks = self
            .looks_at
            .as_ref()
            .is_some_and(|(id, _)| *id == message.conversation_id);
        let mut wrong: Vec<_> = unseen.into_iter().collect();
        let seen = self
            .seen
            .entry(message.conversation_id.clone())
            .or_default();
        match (message.seq, message.epoch) {
            (Some(seq), Some(epoch)) => {
                let here = (epoch.0, seq.0);
                if !seen.numbers.insert(here) {
                    wrong.push((Rule::Repeated, format!("{seq} came again")));
                }
                if looks {
                    wrong.extend(seen.comes(here));
                }
            }
            // What is open is told again to whoever begins to look.
            _ if is_repeatable(&message.event) || message.event.is_passing() => {}
            _ => wrong.push((Rule::Misnumbered, message.event.kind().to_owned())),
        }
        // Whoever does not look at a conversation gets no pieces of it.
        if looks {
            if seen.last.is_some() && begins_turn(self.history, message) {
                seen.writing.anew();
            }
            if self.shaken.contains_key(&message.conversation_id) {
                seen.writing.shake();
            }
            wrong.extend(seen.write(&message.event));
        }
        if is_end(&message.event)
            && let Some(turns) = self.shaken.get_mut(&message.conversation_id)
        {
            *turns -= 1;
            self.shaken.retain(|_, turns| *turns > 0);
        }
        if let Some(conversation) = self.history.conversation(&message.conversation_id) {
            wrong.extend(differs(conversation, message));
        } else {
            wrong.push((Rule::Foreign, message.conversation_id.to_string()));
        }
        for (rule, detail) in wrong {
            let id = &message.conversation_id;
            self.report(rule, format!("{id}: {detail}"));
        }
    }

    /// An answer comes to somebody who was not shown what it answers, though it heard of something that happened before.
    ///
    /// Prompts and answers go to everybody, in their order. Who came later, or whose way was disturbed, may miss a prompt
    /// that was answered before it could ask what waits.
    fn unseen(&mut self, message: &ClaudeEventMessage) -> Option<(Rule, String)> {
        let (epoch, seq) = (message.epoch?.0, message.seq?.0);
        let id = &message.conversation_id;
        let first = self.heard.entry(id.clone()).or_insert((epoch, seq));
        if first.0 != epoch {
            *first = (epoch, seq);
        }
        let first = first.1;
        let ClaudeEvent::DecisionAnswered(answered) = &message.event else {
            return None;
        };
        let call = &answered.tool_use_id;
        let mut lives = self.history.conversation(id)?.lives.iter();
        let life = lives.find(|life| life.epoch() == message.epoch)?;
        let events = life.events().into_iter();
        let asked = events.filter(|logged| prompts(logged.event) == Some(call.as_str()));
        let asked = asked
            .map(|logged| logged.seq.0)
            .filter(|asked| *asked < seq);
        let was_told = asked.max().is_some_and(|asked| asked > first);
        (was_told && !self.prompts.contains(call.as_str()))
            .then(|| (Rule::PromptUnseen, format!("{call} was answered unseen")))
    }

    fn note_prompt(&mut self, event: &ClaudeEvent) {
        self.prompts.extend(prompts(event).map(str::to_owned));
    }

    fn finish(&mut self) {
        if self.history.end != End::AtRest || !self.connected {
            return;
        }
        if let Some((id, _)) = self.looks_at.clone()
            && let Some(life) = self
                .history
                .conversation(&id)
                .and_then(Conversation::newest)
        {
            let head = life
                .epoch()
                .map(|epoch| (epoch.0, life.events().len() as u64));
            let last = self.seen.get(&id).and_then(|seen| seen.last);
            if last != head {
                self.report(Rule::Behind, format!("{id}: {last:?} of {head:?}"));
            }
        }
        for conversation in &self.history.conversations {
            let life = conversation.newest();
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

impl Seen {
    /// An event comes to somebody who looks. One that the page has already is known by its number.
    fn comes(&mut self, (epoch, seq): (u64, u64)) -> Option<(Rule, String)> {
        let (now, last) = self.last?;
        if epoch != now && now != NONE_YET {
            return Some((Rule::WrongEpoch, format!("{seq} of epoch {epoch}")));
        }
        self.last = Some((epoch, seq.max(last)));
        (seq > last + 1).then(|| (Rule::Gap, format!("{seq} after {last}")))
    }

    fn write(&mut self, event: &ClaudeEvent) -> Option<(Rule, String)> {
        match event {
            ClaudeEvent::Text(piece) => self.writing.piece(piece),
            ClaudeEvent::TextComplete(whole) => self.writing.whole(whole),
            ClaudeEvent::StateUpdate(update) => {
                if let Some(blocks) = &update.open {
                    self.writing.told(blocks);
                }
                None
            }
            // What the CLI wrote before it heard of a stop still comes.
            ClaudeEvent::Aborted(aborted) if aborted.reason == BY_A_PERSON => None,
            ClaudeEvent::Result(_) | ClaudeEvent::Aborted(_) | ClaudeEvent::Error(_) => {
                self.writing.over(self.last.is_some());
                None
            }
            _ => None,
        }
    }
}

/// Whether a conversation that was idle begins to work with an event.
fn begins_turn(history: &History, message: &ClaudeEventMessage) -> bool {
    let is_idle = |event: &ClaudeEvent| match event {
        ClaudeEvent::State(change) => Some(change.state == ConversationStatus::Idle),
        _ => None,
    };
    let (Some(false), Some(seq)) = (is_idle(&message.event), message.seq) else {
        return false;
    };
    let conversation = history.conversation(&message.conversation_id);
    let mut lives = conversation.into_iter().flat_map(|one| &one.lives);
    let Some(life) = lives.find(|life| life.epoch() == message.epoch) else {
        return false;
    };
    let before = life.events().into_iter();
    let before = before.filter(|logged| logged.seq < seq);
    let states: Vec<bool> = before.filter_map(|logged| is_idle(logged.event)).collect();
    states.last().is_none_or(|idle| *idle)
}

/// The call that an event asks people about.
fn prompts(event: &ClaudeEvent) -> Option<&str> {
    match event {
        ClaudeEvent::PermissionAsked(asked) => Some(asked.tool_use_id.as_str()),
        ClaudeEvent::QuestionAsked(asked) => Some(asked.tool_use_id.as_str()),
        _ => None,
    }
}

/// Whether a turn is over with an event.
fn is_end(event: &ClaudeEvent) -> bool {
    matches!(
        event,
        ClaudeEvent::Result(_) | ClaudeEvent::Aborted(_) | ClaudeEvent::Error(_)
    )
}

/// Events that are told once more, without their number, to somebody who comes.
fn is_repeatable(event: &ClaudeEvent) -> bool {
    matches!(
        event,
        ClaudeEvent::State(_) | ClaudeEvent::PermissionAsked(_) | ClaudeEvent::QuestionAsked(_)
    )
}

/// An event with a number is the one that the log has under it.
fn differs(conversation: &Conversation, message: &ClaudeEventMessage) -> Option<(Rule, String)> {
    let (seq, epoch) = (message.seq?, message.epoch?);
    let mut lives = conversation.lives.iter();
    let Some(life) = lives.find(|life| life.epoch() == Some(epoch)) else {
        return Some((Rule::WrongEpoch, format!("{seq} of epoch {epoch}")));
    };
    let events = life.events();
    let at = seq.0.checked_sub(1).and_then(|at| usize::try_from(at).ok());
    let Some(logged) = at.and_then(|at| events.get(at)) else {
        return Some((Rule::Invented, format!("{seq}")));
    };
    (*logged.event != message.event).then(|| (Rule::Changed, format!("{seq}: {:?}", message.event)))
}

/// The number of a row.
fn seq_of(row: &estelle_proto::history::HistoryMessage) -> Option<u64> {
    use estelle_proto::history::HistoryMessage as Row;
    let seq = match row {
        Row::Text(row) => row.seq,
        Row::Thinking(row) => row.seq,
        Row::ToolStart(row) => row.seq,
        Row::ToolComplete(row) => row.seq,
        Row::TurnResult(row) => row.seq,
        Row::Error(row) => row.seq,
        Row::Aborted(row) => row.seq,
        Row::UserResponse(row) => row.seq,
        Row::System(row) => row.seq,
        Row::Unknown(_) => None,
    };
    seq.map(|seq| seq.0)
}
