//! The run of a conversation: the one process that lives, is being started or is being ended.
//!
//! Only facts; what follows from them is in `due`, what changes them in `fold`.

use std::collections::{BTreeMap, BTreeSet};

use estelle_proto::{ClaudeSessionId, ClientId, Generation, Json, PermissionMode};
use serde::{Deserialize, Serialize};

use super::Settings;
use super::record::{Control, StopReason};

/// The run that lives, is being started or is being ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Its number.
    pub generation: Generation,
    /// The session it takes up.
    pub resume: Option<ClaudeSessionId>,
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
    /// What it has cost so far.
    pub cost: f64,
    /// The id of our greeting, once it was sent.
    pub greeting: Option<String>,
    /// The CLI answered the greeting.
    pub greeted: bool,
    /// It has begun a turn.
    pub had_turn: bool,
    /// Why it is being ended.
    pub stopping: Option<StopReason>,
    /// The id of our request to end, once it was sent; nothing is written behind it.
    pub farewell: Option<String>,
    /// The session it was to take up does not exist.
    pub resume_failed: bool,
    /// Control requests of ours without an answer yet, by id.
    pub(super) controls: BTreeMap<String, Control>,
    /// Ids of control requests that were answered. Only the greeting may be answered again, when it was repeated.
    pub(super) replied: BTreeSet<String>,
    /// Calls of our own tools, by the CLI's request id.
    pub(super) calls: BTreeMap<String, Call>,
    /// Requests that we do not know and refuse.
    pub(super) refused: BTreeMap<String, String>,
}

impl Run {
    pub(super) fn new(
        generation: Generation,
        resume: Option<ClaudeSessionId>,
        settings: &Settings,
    ) -> Self {
        Self {
            generation,
            resume,
            mode: settings.mode.clone(),
            model: settings.model.clone(),
            cli_mode: None,
            process: None,
            read_to: 0,
            open_from: 0,
            forgiven_to: 0,
            cost: 0.0,
            greeting: None,
            greeted: false,
            had_turn: false,
            stopping: None,
            farewell: None,
            resume_failed: false,
            controls: BTreeMap::new(),
            replied: BTreeSet::new(),
            calls: BTreeMap::new(),
            refused: BTreeMap::new(),
        }
    }

    /// A call of one of our own tools.
    pub fn call(&self, request_id: &str) -> Option<&Call> {
        self.calls.get(request_id)
    }

    /// Whether a control request was sent under this id.
    pub(super) fn has_requested(&self, request_id: &str) -> bool {
        self.controls.contains_key(request_id) || self.replied.contains(request_id)
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
