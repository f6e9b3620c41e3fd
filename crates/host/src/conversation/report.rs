//! How a conversation is, with the facts that say so.

use estelle_proto::decisions::DecisionKind;
use estelle_proto::events::{Activity, ActivityState};
use estelle_proto::ipc::{
    Evidence, HostEvent, HostToPylon, PendingPermission, PendingQuestion, PermissionRequest,
    ProcessStatus, QuestionRequest, SessionStatus, Snapshot,
};
use estelle_proto::waiting::{Waiting, WaitingMessage};
use estelle_proto::writing::OpenBlock;
use estelle_state::conversation::{Entry, Pending, Record, RunExit};
use estelle_state::decisions::DecisionKey;
use tokio::sync::oneshot;

use super::actor::Actor;
use super::running::Phase;
use crate::mailbox::{Letter, Mailbox};

impl Actor {
    /// How the conversation is.
    pub(super) fn status(&self) -> SessionStatus {
        let conversation = self.book.conversation();
        let permissions: Vec<_> = conversation
            .shown()
            .filter(|(_, pending)| pending.request.kind != DecisionKind::Question)
            .map(|(key, pending)| pending_permission(key, pending))
            .collect();
        let questions: Vec<_> = conversation
            .shown()
            .filter(|(_, pending)| pending.request.kind == DecisionKind::Question)
            .map(|(key, pending)| PendingQuestion {
                opened_at: Some(pending.at),
                parent_tool_use_id: pending.request.parent_tool_use_id.clone(),
                input_hash: Some(pending.request.input_hash.clone()),
                ..PendingQuestion::new(key.tool_use_id.clone(), pending.request.questions.clone())
            })
            .collect();
        let settings = conversation.settings();
        let evidence = self.evidence();
        SessionStatus {
            claude_session_id: conversation.session().cloned(),
            pending_permission: permissions.first().cloned(),
            start_time: conversation.occupied().turn,
            pending_permissions: Some(permissions),
            pending_questions: Some(questions),
            partial_text: self.partial_text(),
            open: self.open_blocks(),
            waiting: Some(self.waiting()),
            activity: self.activity(),
            process: self.process(&evidence),
            evidence: Some(evidence),
            epoch: Some(conversation.epoch()),
            seq: Some(self.head()),
            workspace_id: settings.workspace_id.clone(),
            working_dir: settings.working_dir.clone(),
            permission_mode: settings.mode.clone(),
            ..SessionStatus::new(conversation.id().clone(), conversation.status())
        }
    }

    fn partial_text(&self) -> Option<String> {
        match &self.phase {
            Phase::Live(live) => Some(live.partial_text()),
            Phase::Quiet | Phase::Preparing(_) | Phase::Spawning(_) | Phase::Sweeping(_) => None,
        }
    }

    /// Messages that wait until the agent is free.
    pub(super) fn waiting(&self) -> Vec<WaitingMessage> {
        let queued = self.book.conversation().queued();
        queued
            .map(|message| WaitingMessage {
                client_message_id: message.client_message_id.clone(),
                device_id: message.device_id,
                ..WaitingMessage::new(message.content.clone())
            })
            .collect()
    }

    /// Tells those who look which messages wait, if they are others than before.
    pub(super) fn tell_waiting(&mut self) {
        let waiting = self.waiting();
        if waiting == self.told_waiting {
            return;
        }
        self.told_waiting.clone_from(&waiting);
        let id = self.book.conversation().id().clone();
        let event = HostEvent::new(id, Waiting::new(waiting).into());
        self.publish(vec![Letter::message(&HostToPylon::Event(event))]);
    }

    /// The process ended by itself and in good order, which is no event and no other state of the conversation. Whoever
    /// watches the process is told once more what waits for it, and looks again.
    pub(super) fn repeat_waiting(&mut self) {
        let id = self.book.conversation().id().clone();
        let event = HostEvent::new(id, Waiting::new(self.waiting()).into());
        self.publish(vec![Letter::message(&HostToPylon::Event(event))]);
    }

    fn open_blocks(&self) -> Option<Vec<OpenBlock>> {
        match &self.phase {
            Phase::Live(live) => Some(live.open_blocks()),
            Phase::Quiet | Phase::Preparing(_) | Phase::Spawning(_) | Phase::Sweeping(_) => None,
        }
    }

    fn activity(&self) -> Option<ActivityState> {
        let conversation = self.book.conversation();
        conversation.occupied().turn?;
        if let Some(tool) = conversation.tools().values().next_back() {
            return Some(ActivityState {
                tool_name: Some(tool.clone()),
                ..ActivityState::new(Activity::Tool)
            });
        }
        let is_writing = self.partial_text().is_some_and(|text| !text.is_empty());
        Some(ActivityState::new(if is_writing {
            Activity::Responding
        } else {
            Activity::Thinking
        }))
    }

    fn evidence(&self) -> Evidence {
        let conversation = self.book.conversation();
        let occupied = conversation.occupied();
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let (lock_held, last_output) = match &self.phase {
            Phase::Live(live) => (
                live.is_alive().unwrap_or_default(),
                u64::try_from(live.last_output.elapsed().as_millis()).ok(),
            ),
            Phase::Quiet | Phase::Preparing(_) | Phase::Spawning(_) | Phase::Sweeping(_) => {
                (false, None)
            }
        };
        let run = conversation.run();
        let cuts = Some(conversation.cuts()).filter(|cuts| cuts.times > 0);
        Evidence {
            log_cuts: cuts.map(|cuts| cuts.times),
            log_cut_bytes: cuts.map(|cuts| cuts.bytes),
            last_output_ms: last_output,
            why: Some(self.why(lock_held)),
            background_tasks: Some(count(occupied.tasks)),
            generation: run.map(|run| run.generation),
            pid: run.and_then(|run| run.process).map(|(pid, _)| pid),
            exit_code: conversation
                .ended()
                .and_then(|ended| exit_code(&ended.exit)),
            ..Evidence::new(
                lock_held,
                occupied.turn.is_some(),
                count(occupied.tools),
                count(occupied.decisions),
            )
        }
    }

    /// The fact that decided, in words.
    fn why(&self, lock_held: bool) -> String {
        let conversation = self.book.conversation();
        let occupied = conversation.occupied();
        if let Some(trouble) = self.trouble {
            return trouble.why().to_owned();
        }
        if self.is_contradiction(lock_held) {
            return "its process is gone and its end is not yet taken in".to_owned();
        }
        if occupied.decisions > 0 {
            return match occupied.decisions {
                1 => "a decision waits for a person".to_owned(),
                many => format!("{many} decisions wait for a person"),
            };
        }
        if occupied.turn.is_some() {
            let tools: Vec<_> = conversation.tools().values().map(String::as_str).collect();
            if tools.is_empty() {
                return "a turn is open".to_owned();
            }
            return format!("a turn is open, with {} at work", tools.join(", "));
        }
        if matches!(self.phase, Phase::Preparing(_)) {
            return self.context.canary.what_goes_on().to_owned();
        }
        if occupied.messages > 0 {
            return match occupied.messages {
                1 => "a message waits for the agent".to_owned(),
                many => format!("{many} messages wait for the agent"),
            };
        }
        if occupied.tasks > 0 {
            return match occupied.tasks {
                1 => "a background task goes on".to_owned(),
                many => format!("{many} background tasks go on"),
            };
        }
        match (&self.phase, conversation.ended()) {
            (Phase::Live(_), _) => "its process waits for a message".to_owned(),
            (_, Some(ended)) => format!("its last process ended: {}", describe(&ended.exit)),
            (_, None) => "it has no process".to_owned(),
        }
    }

    fn is_contradiction(&self, lock_held: bool) -> bool {
        matches!(self.phase, Phase::Live(_) | Phase::Sweeping(_)) && !lock_held
    }

    fn process(&self, evidence: &Evidence) -> Option<ProcessStatus> {
        if self.trouble.is_some() || self.is_contradiction(evidence.lock_held) {
            return Some(ProcessStatus::Suspect);
        }
        self.book.conversation().process()
    }

    /// The state at the end of a replay.
    pub(super) fn snapshot(&self) -> Letter {
        let conversation = self.book.conversation();
        let snapshot = Snapshot::new(
            conversation.id().clone(),
            conversation.epoch(),
            self.head(),
            Box::new(self.status()),
        );
        Letter::message(&HostToPylon::Snapshot(snapshot))
    }

    /// One message per open decision.
    pub(super) fn decisions(&self) -> Vec<HostToPylon> {
        let conversation = self.book.conversation();
        conversation
            .shown()
            .map(|(key, pending)| self.decision(key, pending))
            .chain(self.open_calls())
            .collect()
    }

    /// Tells one client what waits for people.
    pub(super) fn tell_decisions(&self, mailbox: &Mailbox, told: oneshot::Sender<()>) {
        for decision in self.decisions() {
            // One that left needs to know nothing.
            let _ = mailbox.post(Letter::message(&decision));
        }
        let _ = told.send(());
    }

    fn decision(&self, key: &DecisionKey, pending: &Pending) -> HostToPylon {
        let id = self.book.conversation().id().clone();
        let request = &pending.request;
        if request.kind == DecisionKind::Question {
            return HostToPylon::QuestionRequest(QuestionRequest {
                generation: Some(key.generation),
                opened_at: Some(pending.at),
                parent_tool_use_id: request.parent_tool_use_id.clone(),
                input_hash: Some(request.input_hash.clone()),
                ..QuestionRequest::new(id, key.tool_use_id.clone(), request.questions.clone())
            });
        }
        HostToPylon::PermissionRequest(PermissionRequest {
            kind: Some(request.kind.clone()),
            input_hash: Some(request.input_hash.clone()),
            reason: pending.shown.as_ref().map(|shown| shown.reason.clone()),
            why: pending
                .shown
                .as_ref()
                .and_then(|shown| shown.why.as_deref().cloned()),
            generation: Some(key.generation),
            opened_at: Some(pending.at),
            parent_tool_use_id: request.parent_tool_use_id.clone(),
            ..PermissionRequest::new(
                id,
                key.tool_use_id.clone(),
                request.tool_name.clone(),
                request.input.clone(),
            )
        })
    }

    /// Tells every client of a decision that was just put to people.
    pub(super) fn announce(&self, entry: &Entry) {
        let Record::Shown { key, .. } = &entry.record else {
            return;
        };
        if let Some(pending) = self.book.conversation().pending(key) {
            let message = self.decision(key, pending);
            self.context.roster.post_to_all(&Letter::message(&message));
        }
    }
}

fn pending_permission(key: &DecisionKey, pending: &Pending) -> PendingPermission {
    let request = &pending.request;
    PendingPermission {
        kind: Some(request.kind.clone()),
        opened_at: Some(pending.at),
        reason: pending.shown.as_ref().map(|shown| shown.reason.clone()),
        parent_tool_use_id: request.parent_tool_use_id.clone(),
        input_hash: Some(request.input_hash.clone()),
        ..PendingPermission::new(
            key.tool_use_id.clone(),
            request.tool_name.clone(),
            request.input.clone(),
        )
    }
}

fn exit_code(exit: &RunExit) -> Option<i32> {
    match exit {
        RunExit::Code { code, .. } => Some(*code),
        RunExit::Signal { signal, .. } => Some(128 + signal),
        RunExit::NeverStarted { .. } | RunExit::Unknown => None,
    }
}

fn describe(exit: &RunExit) -> String {
    match exit {
        RunExit::NeverStarted { reason, .. } => format!("it was never started ({reason})"),
        RunExit::Code { code, .. } => format!("code {code}"),
        RunExit::Signal { signal, .. } => format!("signal {signal}"),
        RunExit::Unknown => "nobody saw how".to_owned(),
    }
}
