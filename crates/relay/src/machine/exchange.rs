//! What goes into the machine and what comes out of it.
//!
//! Plain data. Connections are numbers, frames are text, and everything that is to be done is an effect.

use std::time::Duration;

use estelle_proto::{DeviceId, Timestamp};

use super::command::{Command, CommandResult};
use crate::registry::{RealmName, Replaced};

/// A connection. Numbers are never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ConnId(pub(crate) u64);

/// A command of the program that runs the relay, so that its result can be told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Ticket(pub(crate) u64);

/// The moment at which something happens.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Now {
    /// Since the relay started; never goes back.
    pub(crate) elapsed: Duration,
    /// What the calendar says; may jump.
    pub(crate) wall: Timestamp,
}

/// What happens to the relay.
#[derive(Debug)]
pub(crate) enum Input {
    /// Somebody connected, from an address if it is known.
    Opened {
        conn: ConnId,
        address: Option<String>,
    },
    /// A connection said something.
    Frame { conn: ConnId, text: String },
    /// A connection is gone, or is cut off.
    Closed { conn: ConnId },
    /// The program that runs the relay wants something.
    Command { ticket: Ticket, command: Command },
    /// Time passed.
    Tick,
    /// The relay goes down.
    Stopping,
    /// What was to be written about the ids of a realm's apps is on the disk, up to this one; or it is not.
    IdsWritten {
        realm: RealmName,
        below: Option<u32>,
    },
    /// A secret that a Pylon was given could not be written down.
    TakeBack(Box<Replaced>),
}

/// What a device is let in as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Pylon,
    App,
}

/// Why the relay closes a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    /// `auth` or `pair_request` was refused.
    Refused,
    /// The device was taken out of the realm, got a new secret or expired.
    Revoked,
    /// The same Pylon connected again.
    Replaced,
    /// Pairing ended without a token.
    NotPaired,
    /// The relay goes down.
    Restarting,
}

/// What is to be done.
#[derive(Debug, PartialEq)]
pub(crate) enum Effect {
    /// Hand the same frame to these connections.
    Send { to: Vec<ConnId>, text: String },
    /// The connection belongs to a device now: lift the limits for strangers.
    Admit { conn: ConnId, role: Role },
    /// Close the connection if it is still a stranger's at this moment.
    Deadline { conn: ConnId, at: Duration },
    /// Close the connection after what it was sent.
    Close { conn: ConnId, why: Why },
    /// Write the registry, then do the one or the other.
    Save {
        then: Vec<Effect>,
        otherwise: Vec<Effect>,
    },
    /// The result of a command.
    Done {
        ticket: Ticket,
        result: CommandResult,
    },
    /// Worth a line in the log and a count.
    Note(Note),
    /// Tell the machine, with [`Input::IdsWritten`], what became of what was to be written about ids.
    IdsWritten {
        realm: RealmName,
        below: Option<u32>,
    },
    /// Tell the machine, with [`Input::TakeBack`], that a secret could not be written down.
    TakeBack(Box<Replaced>),
}

/// Worth a line in the log and a count. Names and numbers only: never a secret, never a payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Note {
    Joined {
        conn: ConnId,
        realm: RealmName,
        device: DeviceId,
        role: Role,
    },
    Left {
        conn: ConnId,
        realm: RealmName,
        device: DeviceId,
        role: Role,
    },
    LoginRefused {
        conn: ConnId,
    },
    Forbidden {
        conn: ConnId,
    },
    Undeliverable {
        conn: ConnId,
    },
    Invalid {
        conn: ConnId,
    },
    Offered {
        realm: RealmName,
    },
    PairRefused {
        conn: ConnId,
    },
    Paired {
        realm: RealmName,
    },
    Revoked {
        realm: RealmName,
    },
    /// A message of our own could not be written: a bug.
    Unwritten {
        kind: String,
    },
}
