//! Folding entries: the only place where a conversation changes.

use std::collections::BTreeSet;

use estelle_proto::events::ClaudeEvent;
use estelle_proto::{
    ClaudeSessionId, ClientId, Generation, PermissionMode, Seq, Timestamp, ToolUseId,
};

use super::record::{
    Change, Control, Durable, Entry, MessageId, Record, RunExit, Seen, StopReason, Stretch,
};
use super::{Call, Conversation, EndedRun, Pending, Run, Settings, Shown, Totals};
use crate::decisions::{Asked, DecisionKey, Fact};

/// The generation of what the host asks itself: no process can make it void.
pub(super) const HOST: Generation = Generation(0);

/// What a second request about a call that was asked about is called.
const AGAIN: &str = "can_use_tool";

impl Conversation {
    /// Takes an entry of the log.
    pub fn apply(&mut self, entry: &Entry) {
        self.apply_record(entry.at, &entry.record);
        entry
            .events
            .iter()
            .for_each(|event| self.apply_event(event));
    }

    /// Takes what happened, without the events that it made.
    pub(super) fn apply_record(&mut self, at: Timestamp, record: &Record) {
        self.last_at = at;
        match record {
            Record::Began { .. } | Record::Copied(_) => {}
            Record::Repaired { journal, .. } => self.forgive(journal.unwrap_or_default()),
            Record::Shortened { epoch, .. } => {
                self.epoch = *epoch;
                // Nobody knows how much is lost, nor when the run will speak of it.
                self.forgive(u64::MAX);
            }
            Record::Set(change) => self.set(change),
            Record::Accepted(message) => {
                // Its event is the first of the entry.
                self.messages.add(message.clone(), Seq(self.seq.0 + 1));
            }
            Record::Withdrawn { messages } => self.messages.withdraw(messages),
            Record::Released => self.messages.release(),
            Record::Wanted => {
                self.messages.release();
                self.wanted = true;
            }
            Record::Intended { generation, resume } => {
                self.intended(*generation, resume.as_ref());
            }
            Record::Started {
                generation,
                pid,
                start_ticks,
            } => self.started_as(*generation, (*pid, *start_ticks)),
            Record::Handed {
                generation,
                message,
            } => self.messages.hand(message, *generation),
            Record::Requested {
                generation,
                request_id,
                control,
            } => self.requested(*generation, request_id, control),
            Record::Read(stretch) => self.read_stretch(stretch, at),
            Record::Shown { key, reason, why } => {
                if let Some(pending) = self.pending.get_mut(key) {
                    pending.shown = Some(Shown {
                        reason: reason.clone(),
                        why: why.clone(),
                    });
                }
            }
            Record::Asked(request) => self.asked(request, HOST, at),
            Record::Decided { fact, remember, .. } => {
                self.decided(fact.clone());
                self.grants.add(remember.as_ref(), fact, at);
            }
            Record::Revoked { tool, .. } => self.grants.remove(tool),
            Record::Called {
                generation,
                request_id,
                claim,
                answer,
            } => self.called(*generation, request_id, claim.as_ref(), answer.as_ref()),
            Record::Interrupted { .. } => {
                // Nor is a process begun that somebody asked for before.
                self.wanted = false;
                let stopped = self.messages.with_cli();
                self.interrupted.get_or_insert_default().extend(stopped);
            }
            Record::Stopping { generation, why } => {
                if let Some(run) = self.run_of(*generation) {
                    run.stopping = Some(why.clone());
                }
            }
            Record::Ended {
                generation,
                exit,
                interrupted,
                dropped,
            } => self.end(*generation, exit, interrupted.iter().chain(dropped), at),
            Record::Forgotten => self.forget_session(),
            Record::Rewound { session, .. } => self.go_on_with(session.as_ref()),
        }
        self.cuts.note(record);
        self.check_interruption();
    }

    /// The journal of the run may speak of what the log has lost, up to here.
    fn forgive(&mut self, to: u64) {
        if let Some(run) = &mut self.run {
            run.forgiven_to = run.forgiven_to.max(to);
        }
    }

    /// The run, if it is of this generation. What is said of another one changes nothing.
    fn run_of(&mut self, generation: Generation) -> Option<&mut Run> {
        self.run.as_mut().filter(|run| run.generation == generation)
    }

    /// Nothing is left of what a person broke off: the next turn is not meant.
    fn check_interruption(&mut self) {
        let is_left = |stopped: &BTreeSet<_>| !stopped.is_disjoint(&self.messages.with_cli());
        if self.turn.is_none() && !self.interrupted.as_ref().is_some_and(is_left) {
            self.interrupted = None;
        }
    }

    pub(super) fn apply_event(&mut self, durable: &Durable) {
        self.seq.0 += 1;
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "the other events change nothing that is kept"
        )]
        match &durable.event {
            ClaudeEvent::State(state) => self.announced = state.state.clone(),
            ClaudeEvent::Init(init) => self.init = Some(init.clone()),
            ClaudeEvent::UserMessage(_) => self.taken_back.said(self.seq),
            ClaudeEvent::Rewound(rewound) => self.taken_back.take(rewound.before_seq, self.seq),
            // Without a process nothing goes on, whatever an event says.
            _ if self.run.is_none() => {}
            ClaudeEvent::ToolInfo(tool) => {
                if let Some(id) = &tool.tool_use_id {
                    self.tools.insert(id.clone(), tool.tool_name.clone());
                }
            }
            ClaudeEvent::ToolComplete(tool) => {
                if let Some(id) = &tool.tool_use_id {
                    self.tools.remove(id);
                    // The call came back, so whatever was asked about it is dealt with.
                    if let Some(key) = self.key_about(id) {
                        self.settle(&key);
                    }
                }
            }
            ClaudeEvent::Task(task) => match task.status.as_str() {
                "started" | "running" => {
                    let call = self.tasks.entry(task.task_id.clone()).or_default();
                    *call = task.tool_use_id.clone().or(call.take());
                }
                _ => {
                    self.tasks.remove(&task.task_id);
                }
            },
            _ => {}
        }
    }

    fn set(&mut self, change: &Change) {
        self.settings.take(change);
        self.session = change.session.clone().or(self.session.take());
        self.talked |= change.session.is_some();
    }

    fn intended(&mut self, generation: Generation, resume: Option<&ClaudeSessionId>) {
        self.last_generation = generation;
        self.ended = None;
        let earlier = self.used_by(resume);
        let run = Run::new(generation, resume.cloned(), &self.settings, earlier);
        let wanted = std::mem::take(&mut self.wanted);
        self.run = Some(Run { wanted, ..run });
    }

    fn started_as(&mut self, generation: Generation, process: (u32, u64)) {
        if let Some(run) = self.run_of(generation) {
            run.process = Some(process);
        }
    }

    fn requested(&mut self, generation: Generation, request_id: &str, control: &Control) {
        if let Some(run) = self.run_of(generation) {
            match control {
                Control::Initialize => run.greeting = Some(request_id.to_owned()),
                Control::End => run.farewell = Some(request_id.to_owned()),
                Control::Mode { mode } => run.mode = Some(mode.clone()),
                Control::Model { model } => run.model.clone_from(model),
                // A run that is being ended is asked too, but its messages are not: they wait for the next one.
                Control::Cancel { message } if run.stopping.is_none() => {
                    run.called_back.insert(message.clone());
                }
                Control::Interrupt | Control::Cancel { .. } | Control::StopTask { .. } => {}
            }
            run.controls.insert(request_id.to_owned(), control.clone());
        }
    }

    fn read_stretch(&mut self, stretch: &Stretch, at: Timestamp) {
        let Some(run) = self.run_of(stretch.generation) else {
            return;
        };
        run.read_to = stretch.to;
        run.open_from = stretch.open_from;
        for seen in &stretch.seen {
            let history = self.history_after(seen);
            if let Some(run) = self.run.as_mut().filter(|_| history.is_some()) {
                run.history = history;
            }
            self.saw(seen, stretch.generation, at);
            self.check_interruption();
        }
    }

    fn saw(&mut self, seen: &Seen, generation: Generation, at: Timestamp) {
        match seen {
            Seen::TurnBegan { session } => self.turn_began(session, at),
            Seen::TurnEnded {
                totals, messages, ..
            } => {
                self.turn = None;
                self.interrupted = None;
                self.messages.finish_all(messages);
                self.messages.finish_taken();
                self.used(totals);
            }
            Seen::Taken { message } => self.messages.take(message, generation),
            Seen::Dropped { message } => self.dropped(message),
            Seen::Asked(request) => self.asked(request, generation, at),
            Seen::Withdrew { request_id } => {
                if let Some(key) = self.key_of(generation, request_id) {
                    self.settle(&key);
                }
                if let Some(run) = &mut self.run {
                    run.calls.remove(request_id);
                }
            }
            Seen::Response {
                request_id,
                cancelled,
                ..
            } => {
                if *cancelled {
                    self.cancelled(request_id);
                }
                self.responded(request_id, generation);
            }
            Seen::Called {
                request_id,
                server,
                message,
            } => {
                if let Some(run) = &mut self.run {
                    let call = Call {
                        server: server.clone(),
                        message: Some(message.clone()),
                        begun: false,
                        claim: None,
                        answer: None,
                        delivered: false,
                    };
                    run.calls.entry(request_id.clone()).or_insert(call);
                }
            }
            Seen::Unknown {
                request_id,
                subtype,
            } => {
                if let Some(run) = &mut self.run {
                    run.refuse(request_id, subtype);
                }
            }
            Seen::Mode { mode } => self.mode_is(mode),
            Seen::ResumeFailed => {
                // One that takes up nothing cannot fail at that, and is not started again for it.
                if let Some(run) = &mut self.run {
                    run.resume_failed = run.resume.is_some();
                }
            }
        }
    }

    fn turn_began(&mut self, session: &ClaudeSessionId, at: Timestamp) {
        self.turn.get_or_insert(at);
        if self.is_cleared_by(session) {
            self.grants.clear();
        }
        self.session = Some(session.clone());
        self.talked = true;
        if let Some(run) = &mut self.run {
            run.had_turn = true;
        }
    }

    /// A result tells what was used; one that says nothing of it takes nothing back.
    fn used(&mut self, totals: &Totals) {
        let is_said = *totals != Totals::default();
        let Some(run) = self.run.as_mut().filter(|_| is_said) else {
            return;
        };
        run.totals = Some(totals.clone());
        // One that never began a turn has counted nothing of the session.
        if let Some(session) = self.session.clone().filter(|_| run.had_turn) {
            self.counted = Some((session, totals.clone()));
        }
    }

    /// What the newest result said of a session.
    fn used_by(&self, session: Option<&ClaudeSessionId>) -> Option<Totals> {
        let (counted, totals) = self.counted.as_ref()?;
        (Some(counted) == session).then(|| totals.clone())
    }

    /// The CLI names its own mode. When it has left planning without being told to, a person has approved its plan.
    fn mode_is(&mut self, mode: &str) {
        let Some(run) = &mut self.run else { return };
        let before = run.cli_mode.replace(mode.to_owned());
        let mut controls = run.controls.values();
        let is_told = controls.any(|control| matches!(control, Control::Mode { .. }));
        let has_left = before.as_deref() == Some("plan") && mode == "default";
        if has_left && !is_told && self.settings.mode == Some(PermissionMode::Plan) {
            self.settings.mode = Some(PermissionMode::Default);
            run.mode = Some(PermissionMode::Default);
        }
    }

    /// The CLI will not begin a message.
    fn dropped(&mut self, message: &MessageId) {
        // What goes down with a process that we end is dealt with at its end.
        let is_ending = self.run.as_ref().is_some_and(|run| run.stopping.is_some());
        if !is_ending || !self.messages.is_handed(message) {
            self.messages.finish(message);
        }
    }

    /// The CLI has taken the message out of its queue that a request of ours was about.
    fn cancelled(&mut self, request_id: &str) {
        let run = self.run.as_ref();
        if let Some(Control::Cancel { message }) = run.and_then(|run| run.controls.get(request_id))
        {
            self.dropped(&message.clone());
        }
    }

    fn asked(&mut self, request: &super::Request, generation: Generation, at: Timestamp) {
        let key = DecisionKey {
            generation,
            tool_use_id: request.tool_use_id.clone(),
        };
        let asked = Asked {
            key: key.clone(),
            kind: request.kind.clone(),
            request_id: request.request_id.clone(),
            input_hash: request.input_hash.clone(),
            at,
        };
        if let Some(fact) = self.ledger.ask(asked) {
            self.decided(fact);
            let pending = Pending {
                request: request.clone(),
                at,
                shown: None,
            };
            self.pending.insert(key, pending);
            return;
        }
        // A second request about the same call would wait for ever.
        let id = &request.request_id;
        let is_known = self.ledger.asked_as(generation, id).is_some();
        if let Some(run) = self.run_of(generation).filter(|_| !is_known) {
            run.refuse(id, AGAIN);
        }
    }

    fn responded(&mut self, request_id: &str, generation: Generation) {
        if let Some(fact) = self.ledger.echoed(generation, request_id) {
            self.decided(fact);
        }
        let Some(run) = &mut self.run else { return };
        run.refusal_taken(request_id);
        run.deliver(request_id);
        run.reply(request_id);
    }

    fn called(
        &mut self,
        generation: Generation,
        request_id: &str,
        claim: Option<&ClientId>,
        answer: Option<&String>,
    ) {
        let run = self.run_of(generation);
        if let Some(call) = run.and_then(|run| run.calls.get_mut(request_id)) {
            call.begun = true;
            call.claim = claim.or(call.claim.as_ref()).cloned();
            if answer.is_some() {
                call.answer = answer.cloned();
                call.message = None;
            }
        }
    }

    pub(super) fn decided(&mut self, fact: Fact) {
        match &fact {
            Fact::Answered(answered) => {
                self.pending.remove(&answered.key);
            }
            Fact::Settled(key) | Fact::Voided(key) => {
                self.pending.remove(key);
            }
            Fact::Opened(_) | Fact::Delivered(_) => {}
        }
        self.ledger.apply(fact);
    }

    fn settle(&mut self, key: &DecisionKey) {
        if let Some(fact) = self.ledger.settled(key) {
            self.decided(fact);
        }
    }

    /// The decision that a request of the CLI asked for.
    pub(super) fn key_of(&self, generation: Generation, request_id: &str) -> Option<DecisionKey> {
        let decision = self.ledger.asked_as(generation, request_id)?;
        Some(decision.asked.key.clone())
    }

    /// The decision about a call of the run.
    pub(super) fn key_about(&self, id: &ToolUseId) -> Option<DecisionKey> {
        let run = self.run.as_ref()?;
        Some(DecisionKey {
            generation: run.generation,
            tool_use_id: id.clone(),
        })
    }

    fn end<'a>(
        &mut self,
        generation: Generation,
        exit: &RunExit,
        done: impl Iterator<Item = &'a MessageId>,
        at: Timestamp,
    ) {
        let Some(run) = self.run.take_if(|run| run.generation == generation) else {
            return;
        };
        for fact in self.ledger.process_gone(generation) {
            self.decided(fact);
        }
        self.turn = None;
        self.interrupted = None;
        self.tools.clear();
        self.tasks.clear();
        self.grants.clear();
        done.for_each(|id| self.messages.finish(id));
        self.messages.finish_taken();
        self.messages.bring_back(EndedRun::place(&run, exit));
        self.wanted |= EndedRun::is_still_wanted(&run, exit);
        if run.resume_failed {
            self.session = None;
        }
        if run.stopping == Some(StopReason::NewSession) {
            self.forget_session();
        }
        self.ended = Some(EndedRun {
            generation,
            at,
            exit: exit.clone(),
            why: run.stopping,
            had_turn: run.had_turn,
            resume_failed: run.resume_failed,
        });
    }

    /// Another session takes the place of the one there was.
    fn go_on_with(&mut self, session: Option<&ClaudeSessionId>) {
        self.forget_session();
        self.session = session.cloned();
        self.talked = session.is_some();
    }

    fn forget_session(&mut self) {
        self.session = None;
        self.talked = false;
        self.grants.clear();
    }
}

impl Settings {
    pub(super) fn take(&mut self, change: &Change) {
        take(&mut self.workspace_id, change.workspace_id.as_ref());
        take(&mut self.working_dir, change.working_dir.as_ref());
        take(&mut self.mode, change.mode.as_ref());
        take(&mut self.mcp_config, change.mcp_config.as_ref());
        take(&mut self.tool_server, change.tool_server.as_ref());
        take(&mut self.read_only, change.read_only.as_ref());
        if let Some(model) = &change.model {
            self.model = Some(model.clone()).filter(|model| !model.is_empty());
        }
        if let Some(prompt) = &change.append_system_prompt {
            self.append_system_prompt = Some(prompt.clone()).filter(|text| !text.is_empty());
        }
    }
}

impl From<Settings> for Change {
    fn from(settings: Settings) -> Self {
        Self {
            workspace_id: settings.workspace_id,
            working_dir: settings.working_dir,
            mode: settings.mode,
            model: settings.model,
            append_system_prompt: settings.append_system_prompt,
            mcp_config: settings.mcp_config,
            tool_server: settings.tool_server,
            read_only: settings.read_only,
            session: None,
        }
    }
}

fn take<T: Clone>(setting: &mut Option<T>, change: Option<&T>) {
    if let Some(change) = change {
        *setting = Some(change.clone());
    }
}
