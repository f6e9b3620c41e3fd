//! What people and the host ask of a conversation: each becomes entries for the log, or a refusal that changes nothing.

use estelle_proto::decisions::{DecisionKind, DecisionState, PermissionDecision};
use estelle_proto::events::{
    ClaudeAborted, ClaudeEvent, DecisionAnswered, ErrorEvent, PermissionAsked, QuestionAsked,
    UserMessage,
};
use estelle_proto::runs::SessionReset;
use estelle_proto::waiting::MessageCancelled;
use estelle_proto::{
    ClientId, ClientMessageId, DeviceId, Epoch, OnBusy, Seq, Timestamp, ToolUseId,
};

use super::fold::HOST;
use super::messages::{Place, Tracked};
use super::record::{
    Change, Control, Durable, Entry, Message, MessageId, Record, Request, StopReason, Verdict,
};
use super::{Conversation, Pending, Shown};
use crate::decisions::{Answered, By, DecisionKey, RefuseAnswer};

/// What came of a message that was sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Accepted {
    /// The number of its event.
    pub seq: Seq,
    /// For the log; none if the message was known.
    pub entries: Vec<Entry>,
}

/// Why a message is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RefuseMessage {
    /// A message with this id and another text was taken before.
    #[error("another message with this id was sent before; choose a new id")]
    OtherText,
}

/// Why a client does not get a call to carry out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RefuseClaim {
    /// It is not open.
    #[error("there is no such open call: it was answered, taken back, or never made")]
    Unknown,
    /// Another client has it.
    #[error("another client carries this call out; leave it to that one")]
    Taken,
}

/// What a stop comes to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Stopped {
    /// For the log.
    pub entries: Vec<Entry>,
    /// Messages to take out of the CLI's queue.
    pub cancel: Vec<MessageId>,
    /// Whether the CLI must break its turn off.
    pub interrupt: bool,
    /// What goes on in the background and must be ended, by the CLI's own ids.
    pub tasks: Vec<String>,
}

/// Messages and settings.
impl Conversation {
    /// Changes settings; nothing if they are so already.
    pub fn change(&mut self, at: Timestamp, change: Change) -> Option<Entry> {
        let mut changed = self.settings.clone();
        changed.take(&change);
        let is_new_session = change.session.is_some() && change.session != self.session;
        if changed == self.settings && !is_new_session {
            return None;
        }
        Some(self.commit(at, Record::Set(change), Vec::new()))
    }

    /// The number of a message that was taken on before; one of the same id with another text is refused.
    pub fn known(&self, message: &Message) -> Result<Option<Seq>, RefuseMessage> {
        match self.messages.known(&message.id) {
            Some(known) if !known.says(&message.content) => Err(RefuseMessage::OtherText),
            Some(known) => Ok(Some(known.seq)),
            None => Ok(None),
        }
    }

    /// Whether a message was taken on under this id; of very old ones it is forgotten.
    pub fn has_accepted(&self, id: &MessageId) -> bool {
        self.messages.known(id).is_some()
    }

    /// Takes a message on.
    pub fn accept(&mut self, at: Timestamp, message: Message) -> Result<Accepted, RefuseMessage> {
        if let Some(seq) = self.known(&message)? {
            let entries = Vec::new();
            return Ok(Accepted { seq, entries });
        }
        let mut entries = Vec::new();
        entries.extend(self.release(at));
        let event = ClaudeEvent::UserMessage(UserMessage {
            client_message_id: message.client_message_id.clone(),
            device_id: message.device_id,
            author: message.author.clone(),
            ..UserMessage::new(message.content.clone(), at)
        });
        let seq = Seq(self.seq.0 + 1);
        entries.push(self.commit(at, Record::Accepted(message), vec![event.into()]));
        Ok(Accepted { seq, entries })
    }

    /// Messages that will not be answered.
    pub fn withdraw(&mut self, at: Timestamp, messages: Vec<MessageId>) -> Entry {
        self.commit(at, Record::Withdrawn { messages }, Vec::new())
    }

    /// A person takes a message back. Nothing if it is not with us any more, or never was.
    pub fn cancel(
        &mut self,
        at: Timestamp,
        id: &ClientMessageId,
        by: Option<DeviceId>,
    ) -> Option<Entry> {
        let is_it = |one: &&Tracked| one.message.client_message_id.as_ref() == Some(id);
        let found = self.messages.tracked().iter().find(is_it)?;
        let is_here = matches!(found.place, Place::Waiting | Place::Held);
        let messages = vec![found.message.id.clone()];
        let event = ClaudeEvent::MessageCancelled(MessageCancelled {
            device_id: by,
            ..MessageCancelled::new(id.clone())
        });
        is_here.then(|| self.commit(at, Record::Withdrawn { messages }, vec![event.into()]))
    }

    /// What is said of the messages that no process began, when the log goes that they are in.
    pub fn told_unbegun(&self) -> Vec<ClaudeEvent> {
        let is_unbegun = |place| !matches!(place, Place::Taken(_));
        self.told_dropped(&self.messages.in_place(is_unbegun))
    }

    /// Messages that wait until the agent is free or somebody asks for more, oldest first.
    pub fn queued(&self) -> impl Iterator<Item = &Message> {
        let is_busy = self.turn.is_some() || self.messages.is_any_with_cli();
        let tracked = self.messages.tracked().iter();
        tracked
            .filter(move |one| match one.place {
                Place::Held => true,
                Place::Waiting => is_busy && one.message.on_busy == OnBusy::Queue,
                Place::Handed(_) | Place::Taken(_) => false,
            })
            .map(|one| &one.message)
    }

    /// Lets messages go that were kept because their process died.
    pub fn release(&mut self, at: Timestamp) -> Option<Entry> {
        let held = self.messages.in_place(|place| place == Place::Held);
        (!held.is_empty()).then(|| self.commit(at, Record::Released, Vec::new()))
    }

    /// A person wants a process, even without a message. Nothing if there is one.
    pub fn want(&mut self, at: Timestamp) -> Option<Entry> {
        let is_missing = self.run.is_none() && !self.wanted;
        is_missing.then(|| self.commit(at, Record::Wanted, Vec::new()))
    }

    /// A message goes to the CLI. Nothing unless it waits and there is a run to take it.
    pub fn hand(&mut self, at: Timestamp, message: MessageId) -> Option<Entry> {
        let run = self.run.as_ref()?;
        let is_open = run.process.is_some() && run.stopping.is_none();
        if !is_open || !self.messages.is_waiting(&message) {
            return None;
        }
        let record = Record::Handed {
            generation: run.generation,
            message,
        };
        Some(self.commit(at, record, Vec::new()))
    }

    /// A control request goes to the CLI. Nothing for one that was sent before, and nothing behind the request to end.
    pub fn request(
        &mut self,
        at: Timestamp,
        request_id: String,
        control: Control,
    ) -> Option<Entry> {
        let run = self.run.as_ref()?;
        if run.process.is_none() || run.farewell.is_some() || run.has_requested(&request_id) {
            return None;
        }
        let record = Record::Requested {
            generation: run.generation,
            request_id,
            control,
        };
        Some(self.commit(at, record, Vec::new()))
    }
}

/// Stopping.
impl Conversation {
    /// A person breaks off whatever goes on. `deny` makes the CLI's line for a refused request.
    pub fn stop(
        &mut self,
        at: Timestamp,
        by: Option<DeviceId>,
        mut deny: impl FnMut(&Request) -> String,
    ) -> Stopped {
        let mut stopped = Stopped::default();
        let open: Vec<DecisionKey> = self.pending.keys().cloned().collect();
        for key in open.into_iter().filter(|key| key.generation != HOST) {
            let Some(line) = self.pending.get(&key).map(|pending| deny(&pending.request)) else {
                continue;
            };
            let refused = self.answer(at, &key, by, PermissionDecision::Deny, line);
            stopped.entries.extend(refused);
        }
        let waiting = self
            .messages
            .in_place(|place| matches!(place, Place::Waiting | Place::Held));
        if !waiting.is_empty() {
            // If nothing else goes on there is nothing to break off, and whoever waits for an answer is told by this.
            let is_all = self.turn.is_none() && !self.messages.is_any_with_cli();
            let aborted = ClaudeEvent::Aborted(ClaudeAborted::new("user".to_owned()));
            let events = is_all.then(|| aborted.into()).into_iter().collect();
            let record = Record::Withdrawn { messages: waiting };
            stopped.entries.push(self.commit(at, record, events));
        }
        stopped.cancel = self
            .messages
            .in_place(|place| matches!(place, Place::Handed(_)));
        stopped.tasks = self.tasks.keys().cloned().collect();
        // Whoever asks twice is obeyed twice: nobody knows whether the first request was written before a host died.
        stopped.interrupt = self.is_turn_open();
        if stopped.interrupt {
            stopped.entries.push(self.break_off(at, by));
        } else if self.wanted {
            // A process that was asked for and is not there yet: nobody waits for it any more.
            let record = Record::Interrupted { by };
            stopped.entries.push(self.commit(at, record, Vec::new()));
        }
        stopped
    }

    /// The open turn is broken off for a message that wants to be next. Nothing unless there is one.
    pub fn make_way(&mut self, at: Timestamp) -> Option<Entry> {
        let by = self.interrupting()?.device_id;
        Some(self.break_off(at, by))
    }

    fn break_off(&mut self, at: Timestamp, by: Option<DeviceId>) -> Entry {
        let aborted = ClaudeEvent::Aborted(ClaudeAborted::new("user".to_owned()));
        let is_news = !self.is_interrupted();
        let events = is_news.then(|| aborted.into()).into_iter().collect();
        self.commit(at, Record::Interrupted { by }, events)
    }

    /// The run is to be ended. Nothing for one that is not there or is being ended already, unless its session is to be
    /// forgotten as well.
    pub fn stop_run(&mut self, at: Timestamp, why: StopReason) -> Option<Entry> {
        let run = self.run.as_ref()?;
        let gives_way = |before: &StopReason| before.gives_way_to(&why);
        if !run.stopping.as_ref().is_none_or(gives_way) {
            return None;
        }
        let record = Record::Stopping {
            generation: run.generation,
            why,
        };
        Some(self.commit(at, record, Vec::new()))
    }

    /// Messages that the CLI may have in its queue and was not asked to take out of it.
    pub fn queued_in_cli(&self) -> Vec<MessageId> {
        let asked = self.run.iter().flat_map(|run| run.controls.values());
        let asked: Vec<_> = asked
            .filter_map(|control| match control {
                Control::Cancel { message } => Some(message),
                Control::Initialize
                | Control::Interrupt
                | Control::Mode { .. }
                | Control::Model { .. }
                | Control::StopTask { .. }
                | Control::End => None,
            })
            .collect();
        let mut handed = self
            .messages
            .in_place(|place| matches!(place, Place::Handed(_)));
        handed.retain(|id| !asked.contains(&id));
        handed
    }

    /// The session is forgotten. Nothing while there is a run, which must be stopped for it.
    pub fn forget(&mut self, at: Timestamp) -> Option<Entry> {
        if self.run.is_some() {
            return None;
        }
        let event = ClaudeEvent::SessionReset(SessionReset::new("new_session".to_owned()));
        Some(self.commit(at, Record::Forgotten, vec![event.into()]))
    }

    /// What lay behind the log was damaged and is gone.
    pub fn shorten(&mut self, at: Timestamp, what: String, cut: Option<u64>) -> Entry {
        let epoch = Epoch(self.epoch.0 + 1);
        let event = ClaudeEvent::Error(ErrorEvent::new(what));
        self.commit(at, Record::Shortened { epoch, cut }, vec![event.into()])
    }

    /// Something was found wrong and put right.
    pub fn repair(&mut self, at: Timestamp, what: String, events: Vec<ClaudeEvent>) -> Entry {
        let events = events.into_iter().map(Durable::from).collect();
        let record = Record::Repaired {
            what,
            journal: None,
            cut: None,
        };
        self.commit(at, record, events)
    }

    /// So many bytes at the end of the log were lost, when the journal of the run was so long.
    pub fn lost_end(&mut self, at: Timestamp, cut: u64, journal: u64) -> Entry {
        let record = Record::Repaired {
            what: format!("{cut} bytes of an unfinished append were cut off"),
            journal: Some(journal),
            cut: Some(cut),
        };
        self.commit(at, record, Vec::new())
    }
}

/// Decisions.
impl Conversation {
    /// The newest decision about a call, open or not.
    pub fn find_decision(&self, id: &ToolUseId) -> Result<DecisionKey, RefuseAnswer> {
        self.ledger.newest(id).ok_or(RefuseAnswer::Unknown)
    }

    /// What people are shown of an open decision, or why it is not open.
    pub fn open_decision(&self, key: &DecisionKey) -> Result<&Pending, RefuseAnswer> {
        if let Some(pending) = self.pending.get(key) {
            return Ok(pending);
        }
        Err(self.ledger.refusal(key))
    }

    /// The open decision that an answer is about, by what was shown to the one who gives it.
    ///
    /// Another process may have made another call under the same id: the hash of what was shown tells them apart. An answer
    /// that does not say it is for the one call that there ever was under this id, or for none.
    pub fn decision_shown(
        &self,
        id: &ToolUseId,
        input_hash: Option<&str>,
    ) -> Result<(DecisionKey, &Pending), RefuseAnswer> {
        let key = self.find_decision(id)?;
        let pending = self.open_decision(&key)?;
        let is_it = match input_hash {
            Some(hash) => pending.request.input_hash == hash,
            None => !self.ledger.is_known_elsewhere(&key),
        };
        if is_it {
            Ok((key, pending))
        } else {
            Err(RefuseAnswer::Changed)
        }
    }

    /// A person answers. The first answer wins; `line` is what the CLI gets.
    pub fn answer(
        &mut self,
        at: Timestamp,
        key: &DecisionKey,
        by: impl Into<By>,
        decision: PermissionDecision,
        line: String,
    ) -> Result<Entry, RefuseAnswer> {
        let By { device, author } = by.into();
        let pending = self.open_decision(key)?;
        // Only the name of a tool may be remembered as one: a form or a dialog has the name that its server chose.
        let is_for_all = decision == PermissionDecision::AllowAll
            && pending.request.kind == DecisionKind::Permission;
        let remember = is_for_all.then(|| pending.request.tool_name.clone());
        let was_shown = pending.shown.is_some();
        let answered = Answered {
            key: key.clone(),
            by: device,
            author: author.clone(),
            at,
            line,
        };
        let fact = self.ledger.answer(answered, &pending.request.input_hash)?;
        let event = ClaudeEvent::DecisionAnswered(DecisionAnswered {
            decision: Some(decision),
            device_id: device,
            author,
            answered_at: Some(at),
            ..DecisionAnswered::new(key.tool_use_id.clone(), DecisionState::Answered)
        });
        let record = Record::Decided {
            fact,
            verdict: None,
            remember,
        };
        let events = was_shown.then(|| event.into()).into_iter().collect();
        Ok(self.commit(at, record, events))
    }

    /// The policy decided. Nothing if somebody was faster.
    pub fn judged(
        &mut self,
        at: Timestamp,
        key: &DecisionKey,
        verdict: Verdict,
        line: String,
    ) -> Option<Entry> {
        let hash = self.pending.get(key)?.request.input_hash.clone();
        let answered = Answered {
            key: key.clone(),
            by: None,
            author: None,
            at,
            line,
        };
        let fact = self.ledger.answer(answered, &hash).ok()?;
        let record = Record::Decided {
            fact,
            verdict: Some(verdict),
            remember: None,
        };
        Some(self.commit(at, record, Vec::new()))
    }

    /// The policy could not decide: people are asked.
    pub fn show(
        &mut self,
        at: Timestamp,
        key: &DecisionKey,
        shown: impl Into<Shown>,
    ) -> Option<Entry> {
        let shown = shown.into();
        let pending = self
            .pending
            .get(key)
            .filter(|pending| pending.shown.is_none())?;
        let event = shown_event(&pending.request, &shown);
        let record = Record::Shown {
            key: key.clone(),
            reason: shown.reason,
            why: shown.why,
        };
        Some(self.commit(at, record, vec![event.into()]))
    }

    /// The host itself asks people something. Nothing if it did so before.
    pub fn ask(&mut self, at: Timestamp, request: Request, reason: String) -> Vec<Entry> {
        let key = DecisionKey {
            generation: HOST,
            tool_use_id: request.tool_use_id.clone(),
        };
        if self.ledger.get(&key).is_some() {
            return Vec::new();
        }
        let asked = self.commit(at, Record::Asked(Box::new(request)), Vec::new());
        let shown = self.show(at, &key, reason);
        std::iter::once(asked).chain(shown).collect()
    }

    /// The host has acted on an answer to its own question.
    pub fn acted(&mut self, at: Timestamp, key: &DecisionKey) -> Option<Entry> {
        let fact = self.ledger.settled(key)?;
        let record = Record::Decided {
            fact,
            verdict: None,
            remember: None,
        };
        Some(self.commit(at, record, Vec::new()))
    }

    /// A call of one of our own tools begins, or has its answer. Nothing for what is known: a call is begun once and
    /// answered once.
    pub fn call(
        &mut self,
        at: Timestamp,
        request_id: String,
        answer: Option<String>,
    ) -> Option<Entry> {
        let run = self.run.as_ref()?;
        let call = run.calls.get(&request_id)?;
        if call.answer.is_some() || (call.begun && answer.is_none()) {
            return None;
        }
        let record = Record::Called {
            generation: run.generation,
            request_id,
            claim: None,
            answer,
        };
        Some(self.commit(at, record, Vec::new()))
    }

    /// A client wants to carry a call out. The first one has it; nothing for the one that has it already.
    pub fn claim(
        &mut self,
        at: Timestamp,
        request_id: &str,
        client: &ClientId,
    ) -> Result<Option<Entry>, RefuseClaim> {
        let run = self.run.as_ref().ok_or(RefuseClaim::Unknown)?;
        let call = run.calls.get(request_id);
        let call = call.filter(|call| call.begun && call.answer.is_none());
        match &call.ok_or(RefuseClaim::Unknown)?.claim {
            Some(holder) if holder == client => return Ok(None),
            Some(_) => return Err(RefuseClaim::Taken),
            None => {}
        }
        let record = Record::Called {
            generation: run.generation,
            request_id: request_id.to_owned(),
            claim: Some(client.clone()),
            answer: None,
        };
        Ok(Some(self.commit(at, record, Vec::new())))
    }

    pub(super) fn voided(key: &DecisionKey, state: DecisionState) -> ClaudeEvent {
        ClaudeEvent::DecisionAnswered(DecisionAnswered::new(key.tool_use_id.clone(), state))
    }
}

fn shown_event(request: &Request, shown: &Shown) -> ClaudeEvent {
    use estelle_proto::decisions::DecisionKind;
    if request.kind == DecisionKind::Question {
        return ClaudeEvent::QuestionAsked(QuestionAsked {
            parent_tool_use_id: request.parent_tool_use_id.clone(),
            input_hash: Some(request.input_hash.clone()),
            ..QuestionAsked::new(request.tool_use_id.clone(), request.questions.clone())
        });
    }
    ClaudeEvent::PermissionAsked(PermissionAsked {
        kind: Some(request.kind.clone()),
        input_hash: Some(request.input_hash.clone()),
        reason: Some(shown.reason.clone()),
        why: shown.why.as_deref().cloned(),
        parent_tool_use_id: request.parent_tool_use_id.clone(),
        ..PermissionAsked::new(
            request.tool_name.clone(),
            request.input.clone(),
            request.tool_use_id.clone(),
        )
    })
}
