//! The run of a conversation: the one process that lives, is being started or is being ended.
//!
//! Only facts; what follows from them is in `due`, what changes them in `fold`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use estelle_proto::{ClaudeSessionId, ClientId, Generation, Json, PermissionMode};
use serde::{Deserialize, Serialize};

use super::record::{Control, MessageId, StopReason};
use super::{Settings, Totals};

/// How many control requests and calls that are over, and how many refusals, are remembered. Only what a host that died may
/// have written twice is looked at again, and that is among the newest.
const KEPT: usize = 1_000;

/// The run that lives, is being started or is being ended.
#[expect(
    clippy::struct_excessive_bools,
    reason = "facts that come one by one, in any order"
)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Its number.
    pub generation: Generation,
    /// The session it takes up.
    pub resume: Option<ClaudeSessionId>,
    /// A person asked for it, and not a message alone.
    #[serde(default)]
    pub wanted: bool,
    /// The permission mode that was set when it was started, or that its CLI was last told.
    pub mode: Option<PermissionMode>,
    /// The same for the model.
    pub model: Option<String>,
    /// The permission mode that its CLI itself last named.
    #[serde(default)]
    pub cli_mode: Option<String>,
    /// Pid and start time, once it is there.
    pub process: Option<(u32, u64)>,
    /// The journal is read up to here.
    pub read_to: u64,
    /// Reading must begin here to know the text that is being written.
    pub open_from: u64,
    /// Up to here the journal may speak of what the log has lost: nobody is suspected for it.
    pub forgiven_to: u64,
    /// What it says it has used, at its newest result.
    #[serde(default)]
    pub totals: Option<Totals>,
    /// What the session that it takes up had used, as the process before it said: it may count on from there.
    #[serde(default)]
    pub earlier: Option<Totals>,
    /// The id of our greeting, once it was sent.
    pub greeting: Option<String>,
    /// The CLI answered the greeting.
    pub greeted: bool,
    /// It has begun a turn.
    pub had_turn: bool,
    /// Whether it knows what was said before it, once that is known.
    #[serde(default)]
    pub history: Option<bool>,
    /// Why it is being ended.
    pub stopping: Option<StopReason>,
    /// The id of our request to end, once it was sent; nothing is written behind it.
    pub farewell: Option<String>,
    /// The session it was to take up does not exist.
    pub resume_failed: bool,
    /// Control requests of ours without an answer yet, by id.
    pub(super) controls: BTreeMap<String, Control>,
    /// Ids of control requests that were answered, the oldest first.
    pub(super) replied: VecDeque<String>,
    /// Calls of our own tools, by the CLI's request id.
    pub(super) calls: BTreeMap<String, Call>,
    /// Those whose answer the CLI has, the oldest first.
    pub(super) delivered: VecDeque<String>,
    /// Messages that a person called back after the process was given them.
    #[serde(default)]
    pub(super) called_back: BTreeSet<MessageId>,
    /// Requests that we do not know and refuse.
    pub(super) refused: BTreeMap<String, String>,
    /// Their ids, the oldest first.
    pub(super) refusals: VecDeque<String>,
}

impl Run {
    pub(super) fn new(
        generation: Generation,
        resume: Option<ClaudeSessionId>,
        settings: &Settings,
        earlier: Option<Totals>,
    ) -> Self {
        Self {
            generation,
            resume,
            wanted: false,
            mode: settings.mode.clone(),
            model: settings.model.clone(),
            cli_mode: None,
            process: None,
            read_to: 0,
            open_from: 0,
            forgiven_to: 0,
            totals: None,
            earlier,
            greeting: None,
            greeted: false,
            had_turn: false,
            history: None,
            stopping: None,
            farewell: None,
            resume_failed: false,
            controls: BTreeMap::new(),
            replied: VecDeque::new(),
            calls: BTreeMap::new(),
            delivered: VecDeque::new(),
            called_back: BTreeSet::new(),
            refused: BTreeMap::new(),
            refusals: VecDeque::new(),
        }
    }

    /// A call of one of our own tools.
    pub fn call(&self, request_id: &str) -> Option<&Call> {
        self.calls.get(request_id)
    }

    /// Whether a control request was sent under this id, as far as that is remembered.
    pub(super) fn has_requested(&self, request_id: &str) -> bool {
        let mut replied = self.replied.iter();
        self.awaits_reply(request_id) || replied.any(|one| one == request_id)
    }

    /// Whether a control request that was sent under this id may be answered. Each is written once, and its answer is the
    /// end of it: a second one is to a request of somebody who knows our id. Only the greeting may be written again, by
    /// another host.
    pub(super) fn awaits_reply(&self, request_id: &str) -> bool {
        self.controls.contains_key(request_id) || self.greeting.as_deref() == Some(request_id)
    }

    /// The CLI has answered a control request.
    pub(super) fn reply(&mut self, request_id: &str) {
        let Some(control) = self.controls.remove(request_id) else {
            return;
        };
        self.greeted |= control == Control::Initialize;
        self.replied.push_back(request_id.to_owned());
        if self.replied.len() > KEPT {
            self.replied.pop_front();
        }
    }

    /// The CLI has the answer to a call: it is not needed any more, and its echo may come again.
    pub(super) fn deliver(&mut self, request_id: &str) {
        let Some(call) = self.calls.get_mut(request_id) else {
            return;
        };
        let Some(answer) = call.answer.as_mut().filter(|_| !call.delivered) else {
            return;
        };
        call.delivered = true;
        answer.clear();
        self.delivered.push_back(request_id.to_owned());
        if self.delivered.len() > KEPT
            && let Some(oldest) = self.delivered.pop_front()
        {
            self.calls.remove(&oldest);
        }
    }

    /// A request is refused. The CLI does not say that it has the refusal, so it is kept for a host that comes next.
    pub(super) fn refuse(&mut self, request_id: &str, subtype: &str) {
        let before = self
            .refused
            .insert(request_id.to_owned(), subtype.to_owned());
        if before.is_none() {
            self.refusals.push_back(request_id.to_owned());
        }
        if self.refusals.len() > KEPT
            && let Some(oldest) = self.refusals.pop_front()
        {
            self.refused.remove(&oldest);
        }
    }

    /// The CLI has a refusal after all.
    pub(super) fn refusal_taken(&mut self, request_id: &str) {
        if self.refused.remove(request_id).is_some() {
            self.refusals.retain(|one| one != request_id);
        }
    }

    /// Whether the CLI has shown that it is there: by answering the greeting or by beginning a turn.
    pub fn is_ready(&self) -> bool {
        self.greeted || self.had_turn
    }
}

/// A call of one of our own tools.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// Which server of ours.
    pub server: String,
    /// The call, in the tool protocol's words; nothing when it is answered.
    pub message: Option<Json>,
    /// It was begun.
    pub begun: bool,
    /// The client that carries it out, and nobody else.
    pub claim: Option<ClientId>,
    /// The answer, once there is one; empty when the CLI has it.
    pub answer: Option<String>,
    /// The CLI has the answer.
    pub delivered: bool,
}
