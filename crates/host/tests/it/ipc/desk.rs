//! A stand-in for the host: it writes down what it is asked, and what it shall answer stands in the prompt.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use estelle_host::ipc::{Desk, Done, Refusal};
use estelle_host::mailbox::{Enlisted, Letter, Mailbox, Mark, Roster};
use estelle_proto::events::{StateChanged, TextComplete, TextDelta};
use estelle_proto::ipc::{
    ClaimCall, HostEvent, PermissionRequest, SessionStatus, Snapshot, Subscribe, Subscribed,
    to_line,
};
use estelle_proto::{
    ApiError, ChainHash, ClaudeEvent, ConversationId, ConversationStatus, DeviceId, Epoch,
    ErrorCode, HostToPylon, Json, Key, PylonToHost, Retry, Seq, Timestamp, ToolUseId,
};
use futures_util::future::BoxFuture;
use tokio::sync::Notify;

#[derive(Default)]
struct Conversation {
    events: Vec<(Arc<str>, Mark)>,
    listeners: Vec<Mailbox>,
}

/// What it knows.
#[derive(Default)]
pub(crate) struct FakeDesk {
    pub(crate) roster: Roster,
    /// Commands in the order in which they were taken.
    taken: Mutex<Vec<PylonToHost>>,
    conversations: Mutex<BTreeMap<ConversationId, Conversation>>,
    /// Lets a message that says `wait` go on.
    pub(crate) go_on: Arc<Notify>,
}

pub(crate) fn conversation(name: &str) -> ConversationId {
    ConversationId::parse(name).unwrap()
}

pub(crate) fn status(id: &ConversationId) -> SessionStatus {
    SessionStatus::new(id.clone(), ConversationStatus::Idle)
}

pub(crate) fn decision(id: &ConversationId) -> HostToPylon {
    let (call, input) = (
        ToolUseId::parse("call-1").unwrap(),
        Json::parse("{}").unwrap(),
    );
    PermissionRequest::new(id.clone(), call, "Bash".to_owned(), input).into()
}

fn unknown() -> ApiError {
    let text = "there is no such conversation".to_owned();
    ApiError::new(ErrorCode::UnknownConversation, text, Retry::Never)
}

impl FakeDesk {
    /// Makes a conversation with some events in it.
    pub(crate) fn open(&self, name: &str, events: usize) -> ConversationId {
        let id = conversation(name);
        self.conversations
            .lock()
            .unwrap()
            .entry(id.clone())
            .or_default();
        for _ in 0..events {
            self.publish(&id, "an old event");
        }
        id
    }

    pub(crate) fn taken(&self) -> Vec<PylonToHost> {
        self.taken.lock().unwrap().clone()
    }

    pub(crate) fn listeners(&self, id: &ConversationId) -> usize {
        self.conversations.lock().unwrap()[id].listeners.len()
    }

    /// A durable event happens.
    pub(crate) fn publish(&self, id: &ConversationId, text: &str) {
        let mut all = self.conversations.lock().unwrap();
        let conversation = all.get_mut(id).unwrap();
        let seq = conversation.events.len() as u64 + 1;
        let mark = Mark {
            session_id: id.clone(),
            epoch: Epoch(1),
            seq: Seq(seq),
            chain_hash: ChainHash::parse(&format!("h{seq}")).unwrap(),
        };
        let event = ClaudeEvent::TextComplete(TextComplete::new(text.to_owned()));
        let event = HostEvent {
            seq: Some(mark.seq),
            epoch: Some(mark.epoch),
            ..HostEvent::new(id.clone(), event)
        };
        let line: Arc<str> = to_line(&HostToPylon::Event(event)).unwrap().into();
        conversation.listeners.retain(|listener| {
            let letter = Letter::event(Arc::clone(&line), mark.clone());
            listener.post(letter).is_ok()
        });
        conversation.events.push((line, mark));
    }

    /// A piece of text happens, which nobody keeps.
    pub(crate) fn say(&self, id: &ConversationId, at: u64, text: &str) {
        let mut all = self.conversations.lock().unwrap();
        let delta = TextDelta {
            at: Some(at),
            ..TextDelta::new(text.to_owned())
        };
        let listeners = &mut all.get_mut(id).unwrap().listeners;
        listeners.retain(|listener| {
            listener
                .post(Letter::text(id.clone(), delta.clone()))
                .is_ok()
        });
    }

    /// The rest of a replay, the snapshot, and from then on live, in one step.
    fn settle(&self, id: &ConversationId, from: usize, mailbox: Mailbox) -> Result<(), ApiError> {
        let mut all = self.conversations.lock().unwrap();
        let conversation = all.get_mut(id).ok_or_else(unknown)?;
        for (line, mark) in conversation.events.iter().skip(from) {
            let _ = mailbox.post(Letter::event(Arc::clone(line), mark.clone()));
        }
        let seq = Seq(conversation.events.len() as u64);
        let snapshot = Snapshot::new(id.clone(), Epoch(1), seq, Box::new(status(id)));
        let _ = mailbox.post(Letter::message(&snapshot.into()));
        conversation.listeners.push(mailbox);
        Ok(())
    }

    fn event(&self, id: &ConversationId, at: usize) -> Result<Option<(Arc<str>, Mark)>, ApiError> {
        let all = self.conversations.lock().unwrap();
        let conversation = all.get(id).ok_or_else(unknown)?;
        Ok(conversation.events.get(at).cloned())
    }
}

impl Desk for FakeDesk {
    async fn submit(&self, command: PylonToHost) -> BoxFuture<'static, Result<Done, Refusal>> {
        let seq = {
            let mut taken = self.taken.lock().unwrap();
            taken.push(command.clone());
            Seq(taken.len() as u64)
        };
        let is_known = match command.key() {
            Key::Conversation(id) => self.conversations.lock().unwrap().contains_key(id),
            Key::Machine | Key::Workspace(_) | Key::Terminal(_) | Key::None => true,
        };
        let go_on = Arc::clone(&self.go_on);
        Box::pin(async move {
            if !is_known {
                return Err(unknown().into());
            }
            if let PylonToHost::PermissionResponse(_) = &command {
                let text = "device 7 was first".to_owned();
                return Err(Refusal {
                    error: ApiError::new(ErrorCode::AlreadyAnswered, text, Retry::Never),
                    answered_by: Some(DeviceId(7)),
                    answered_at: Some(Timestamp(99)),
                });
            }
            if let PylonToHost::SendMessage(message) = &command
                && message.payload.prompt.as_str() == "wait"
            {
                go_on.notified().await;
            }
            Ok(Done {
                seq: Some(seq),
                ..Done::default()
            })
        })
    }

    async fn status(&self, which: Option<ConversationId>) -> Result<Vec<SessionStatus>, ApiError> {
        let all = self.conversations.lock().unwrap();
        match which {
            Some(id) if all.contains_key(&id) => Ok(vec![status(&id)]),
            Some(_) => Err(unknown()),
            None => Ok(all.keys().map(status).collect()),
        }
    }

    async fn tell_decisions(&self, mailbox: Mailbox) {
        for id in self.conversations.lock().unwrap().keys() {
            let _ = mailbox.post(Letter::message(&decision(id)));
        }
    }

    async fn claim(&self, claim: ClaimCall, _mailbox: Mailbox) -> Result<(), ApiError> {
        let is_known = self
            .conversations
            .lock()
            .unwrap()
            .contains_key(&claim.session_id);
        self.taken.lock().unwrap().push(claim.into());
        if is_known { Ok(()) } else { Err(unknown()) }
    }

    async fn subscribe(&self, request: Subscribe, mailbox: Mailbox) -> Result<(), ApiError> {
        let id = request.session_id.clone();
        let mut at = usize::try_from(request.seq.map_or(0, |seq| seq.0)).unwrap();
        self.event(&id, 0)?;
        let began = Subscribed {
            request_id: request.request_id,
            ..Subscribed::new(id.clone(), Epoch(1), Seq(0), false)
        };
        let _ = mailbox.post(Letter::message(&began.into()));
        while let Some((line, mark)) = self.event(&id, at)? {
            if mailbox
                .post_when_room(Letter::event(line, mark))
                .await
                .is_err()
            {
                return Ok(());
            }
            at += 1;
        }
        self.settle(&id, at, mailbox)
    }

    async fn unsubscribe(&self, id: &ConversationId, mailbox: &Mailbox) {
        if let Some(conversation) = self.conversations.lock().unwrap().get_mut(id) {
            conversation
                .listeners
                .retain(|listener| !listener.is(mailbox));
        }
    }

    fn enlist(&self, mailbox: Mailbox) -> Enlisted {
        self.roster.enlist(mailbox)
    }
}

/// An event without a number.
pub(crate) fn passing(id: &ConversationId) -> HostToPylon {
    let event = ClaudeEvent::State(StateChanged::new(ConversationStatus::Idle));
    HostEvent::new(id.clone(), event).into()
}
