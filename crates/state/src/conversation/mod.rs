//! A conversation: what happened to it, what it is now, and what is due.
//!
//! The machine folds [`Entry`]s. Commands and lines of the journal become entries in [`Conversation`]'s deciding methods,
//! which change the machine and return the entry; the shell appends it to the log before anything else sees it. If
//! that fails, the machine is ahead of the disk: the shell drops it and folds the log again. Folding needs no
//! knowledge of why something was decided, so an older log is read by a newer build without deciding anew.
//!
//! Not here: the policy, the CLI's words (lines for it come in ready-made), clocks, files.

mod commands;
mod due;
mod endings;
mod fold;
mod grants;
mod messages;
mod outline;
mod reading;
mod record;
mod rewinding;
mod run;
mod spent;
mod status;

use std::collections::{BTreeMap, BTreeSet};

use estelle_proto::conversations::ConversationStatus;
use estelle_proto::events::Init;
use estelle_proto::ipc::ToolServer;
use estelle_proto::{
    ClaudeSessionId, ConversationId, Epoch, Generation, Json, PathText, PermissionMode,
    PolicyReason, Seq, Timestamp, ToolUseId, WorkspaceId,
};
use serde::{Deserialize, Serialize};

pub use commands::{Accepted, RefuseClaim, RefuseMessage, Stopped};
pub use due::{Due, Unconfirmed};
pub use endings::EndedRun;
pub use grants::Grant;
pub use messages::{Place, Tracked};
pub use outline::Outline;
pub use reading::Suspicion;
pub use record::{
    Change, Control, Cuts, Durable, Entry, Message, MessageId, Origin, Record, Request, RunExit,
    Seen, StopReason, Stretch, Verdict,
};
pub use rewinding::{RefuseRewind, Rewind};
pub use run::{Call, Run};
pub use spent::{Spent, Totals};
pub use status::Occupied;

use crate::decisions::{DecisionKey, Ledger};
use grants::Grants;
use messages::Messages;
use rewinding::TakenBack;

/// What is set for a conversation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The workspace it belongs to.
    pub workspace_id: Option<WorkspaceId>,
    /// The folder the agent works in.
    pub working_dir: Option<PathText>,
    /// Its own permission mode.
    pub mode: Option<PermissionMode>,
    /// Its own model.
    pub model: Option<String>,
    /// What is added to the system prompt.
    pub append_system_prompt: Option<String>,
    /// Tool servers.
    pub mcp_config: Option<Json>,
    /// Tools that a client carries out.
    pub tool_server: Option<ToolServer>,
    /// Whether the agent may only read.
    #[serde(default)]
    pub read_only: Option<bool>,
}

/// A decision that is open, with what people are shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pending {
    /// What the CLI wants.
    pub request: Request,
    /// Since when.
    pub at: Timestamp,
    /// Why people are asked; none while the policy has not decided.
    pub shown: Option<Shown>,
}

/// Why people are asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Shown {
    /// For people.
    pub reason: String,
    /// For programs, if the policy said it.
    pub why: Option<Box<PolicyReason>>,
}

impl From<String> for Shown {
    fn from(reason: String) -> Self {
        let why = None;
        Self { reason, why }
    }
}

/// A conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversation {
    id: ConversationId,
    epoch: Epoch,
    seq: Seq,
    settings: Settings,
    session: Option<ClaudeSessionId>,
    /// There was a turn since the session was last forgotten, or the session was made elsewhere: a new process has
    /// something to remember.
    talked: bool,
    announced: ConversationStatus,
    messages: Messages,
    run: Option<Run>,
    last_generation: Generation,
    ended: Option<EndedRun>,
    /// A process is wanted, even without a message.
    wanted: bool,
    ledger: Ledger,
    pending: BTreeMap<DecisionKey, Pending>,
    grants: Grants,
    turn: Option<Timestamp>,
    /// A person broke off what was going on: the open turn, or these messages that were about to begin one. Until they
    /// are gone.
    interrupted: Option<BTreeSet<MessageId>>,
    tools: BTreeMap<ToolUseId, String>,
    /// What goes on in the background, with the call that began it.
    tasks: BTreeMap<String, Option<ToolUseId>>,
    /// What the CLI last said about itself.
    init: Option<Init>,
    taken_back: TakenBack,
    /// The session of the newest result, with what the CLI says it has used.
    counted: Option<(ClaudeSessionId, Totals)>,
    last_at: Timestamp,
    cuts: Cuts,
}

/// Making one.
impl Conversation {
    /// A conversation that begins; the entry is the first of its log.
    pub fn begin(
        at: Timestamp,
        id: ConversationId,
        epoch: Epoch,
        generation: Generation,
    ) -> (Self, Entry) {
        let entry = Entry {
            at,
            record: Record::Began {
                conversation_id: id.clone(),
                epoch,
                generation,
            },
            events: Vec::new(),
        };
        (Self::empty(at, id, epoch, generation), entry)
    }

    /// The conversation that a log tells; none if its first entry is not a beginning.
    pub fn replay(entries: impl IntoIterator<Item = Entry>) -> Option<Self> {
        let mut entries = entries.into_iter();
        let first = entries.next()?;
        let Record::Began {
            conversation_id,
            epoch,
            generation,
        } = first.record
        else {
            return None;
        };
        let mut conversation = Self::empty(first.at, conversation_id, epoch, generation);
        for entry in entries {
            conversation.apply(&entry);
        }
        Some(conversation)
    }

    fn empty(at: Timestamp, id: ConversationId, epoch: Epoch, generation: Generation) -> Self {
        Self {
            id,
            epoch,
            seq: Seq(0),
            settings: Settings::default(),
            session: None,
            talked: false,
            announced: ConversationStatus::Idle,
            messages: Messages::default(),
            run: None,
            last_generation: generation,
            ended: None,
            wanted: false,
            ledger: Ledger::default(),
            pending: BTreeMap::new(),
            grants: Grants::default(),
            turn: None,
            interrupted: None,
            tools: BTreeMap::new(),
            tasks: BTreeMap::new(),
            init: None,
            taken_back: TakenBack::default(),
            counted: None,
            last_at: at,
            cuts: Cuts::default(),
        }
    }
}

/// Looking.
impl Conversation {
    /// Which conversation.
    pub fn id(&self) -> &ConversationId {
        &self.id
    }

    /// Which life of its log.
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// The number of its newest event.
    pub fn seq(&self) -> Seq {
        self.seq
    }

    /// What is set.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The CLI's session, which the next run takes up.
    pub fn session(&self) -> Option<&ClaudeSessionId> {
        self.session.as_ref()
    }

    /// The run, unless there is none.
    pub fn run(&self) -> Option<&Run> {
        self.run.as_ref()
    }

    /// How the last run ended, if none lives.
    pub fn ended(&self) -> Option<&EndedRun> {
        self.ended.as_ref()
    }

    /// The highest generation there ever was.
    pub fn last_generation(&self) -> Generation {
        self.last_generation
    }

    /// The ledger of decisions.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// An open decision and what people are shown.
    pub fn pending(&self, key: &DecisionKey) -> Option<&Pending> {
        self.pending.get(key)
    }

    /// Calls that have not come back, by id.
    pub fn tools(&self) -> &BTreeMap<ToolUseId, String> {
        &self.tools
    }

    /// Commands and sub-agents in the background by the CLI's own id, with the calls that began them.
    pub fn tasks(&self) -> &BTreeMap<String, Option<ToolUseId>> {
        &self.tasks
    }

    /// When the newest entry was written.
    pub fn last_at(&self) -> Timestamp {
        self.last_at
    }

    /// What the CLI last said about itself.
    pub fn init(&self) -> Option<&Init> {
        self.init.as_ref()
    }

    /// How often the end of its log had to be cut off.
    pub fn cuts(&self) -> Cuts {
        self.cuts
    }

    /// Messages that are not done, in the order they came.
    pub fn messages(&self) -> &[Tracked] {
        self.messages.tracked()
    }
}

/// Changing: the two steps that every decision ends with.
impl Conversation {
    /// Takes over events of the conversation that this one is made from; they say themselves how its state changed.
    pub fn copy(&mut self, at: Timestamp, origin: Origin, events: Vec<Durable>) -> Entry {
        let entry = Entry {
            at,
            record: Record::Copied(origin),
            events,
        };
        self.apply(&entry);
        entry
    }

    /// Takes a record, adds the change of state it brings about, and gives the entry for the log.
    fn commit(&mut self, at: Timestamp, record: Record, events: Vec<Durable>) -> Entry {
        let mut entry = Entry { at, record, events };
        self.apply(&entry);
        let status = self.status();
        if status != self.announced {
            let event = estelle_proto::events::StateChanged::new(status);
            let event = Durable::from(estelle_proto::events::ClaudeEvent::State(event));
            self.apply_event(&event);
            entry.events.push(event);
        }
        entry
    }
}

#[cfg(test)]
#[path = "conversation_tests/mod.rs"]
mod tests;
