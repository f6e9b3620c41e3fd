//! What was recorded: clients, logs, the truth, the marks of tools, the processes.
//!
//! Plain data without judgement. Where it comes from (files, a socket, a test that writes it by hand) is not known
//! here; what is wrong with it is the checker's business.

mod app;
mod client;
mod log;
mod truth;

use estelle_proto::ConversationId;

pub use app::{Acknowledged, App, AppMessage, AppStep, Part, Shelf, ShelfRow};
pub use client::{Client, Exchange, Step};
pub use log::{ChainedEvent, Life, Logged};
pub use truth::{Answer, Fact, ReadTruthError, Witness, from_journal, from_simulator, witness};

/// Everything that was recorded of one run.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// The conversations of the host.
    pub conversations: Vec<Conversation>,
    /// The clients that watched and steered.
    pub clients: Vec<Client>,
    /// The apps that watched and steered from behind the relay.
    pub apps: Vec<App>,
    /// What the Pylon keeps, if there is one.
    pub shelves: Vec<Shelf>,
    /// The processes that were there at the end.
    pub processes: Vec<Process>,
    /// The processes that somebody else than the host ended, by pid.
    pub killed: Vec<u32>,
    /// Whether everything had come to rest when the recording ended.
    pub end: End,
}

/// How a recording ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum End {
    /// Nothing was under way, so everything must have arrived.
    #[default]
    AtRest,
    /// In the middle, so what is missing may still come.
    UnderWay,
}

/// One conversation, seen from inside.
#[derive(Debug, Clone)]
pub struct Conversation {
    /// Its id.
    pub id: ConversationId,
    /// Its logs, the oldest epoch first.
    pub lives: Vec<Life>,
    /// What the CLI did, in its own words; none if it cannot tell.
    pub truth: Option<Vec<Fact>>,
    /// The calls whose tools left a mark on the disk.
    pub markers: Vec<String>,
}

/// A process that was there at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its pid.
    pub pid: u32,
    /// The conversation it says it belongs to.
    pub conversation: String,
    /// The run it says it belongs to.
    pub generation: u64,
    /// Whether it is the CLI of the run, not something that it started.
    pub role: Role,
}

/// What a process is to its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The shim.
    Shim,
    /// The CLI.
    Cli,
    /// Anything that the CLI started.
    Child,
}

impl Conversation {
    /// The logs that count: those that no other took the place of.
    pub fn standing(&self) -> impl Iterator<Item = &Life> {
        self.lives.iter().filter(|life| !life.replaced)
    }

    /// The log that is written now.
    pub fn newest(&self) -> Option<&Life> {
        self.lives.last()
    }
}

impl History {
    /// A conversation by its id.
    pub fn conversation(&self, id: &ConversationId) -> Option<&Conversation> {
        self.conversations
            .iter()
            .find(|conversation| conversation.id == *id)
    }
}
