//! One conversation: its log, its run and everybody who listens, in the hands of one task.
//!
//! The task (`Actor`) owns the [`Book`] (machine and log) and the live run, if there is one. Commands come in through a
//! queue, in order; lines of the journal come in as they are written; what is due is derived from the machine after
//! each of them. `docs/design/host.md` has the picture, `docs/design/durable-runs.md` the crash windows.
//!
//! - `actor`: the loop. `birth`: the first message. `forking`: a copy of another one. `rewinding`: back to before a
//!   message. `requests`: what clients ask. `clearing`: a log that is begun anew. `by_file`: messages that no pipe holds. `running`: starting, attaching,
//!   ending. `recovering`: what was left. `reading`: the journal. `judging`: the policy and trust. `report`: status.
//!   `subscribing`: replays and listeners. `mending`: failures. `shut`: logs that cannot be opened.

mod actor;
mod answering;
mod birth;
mod book;
mod by_file;
mod calls;
mod clearing;
mod context;
mod costing;
mod forking;
mod granting;
mod judging;
mod lending;
mod live;
mod mending;
mod reading;
mod recovering;
mod report;
mod requests;
mod retaining;
mod rewinding;
mod running;
mod shut;
mod stopping;
mod subscribing;
mod watching;
mod writer;

pub use book::{Beginning, Book, OpenBookError, OpenedBook};
pub use context::HostSettings;

pub(crate) use actor::{Actor, Command, Ended, disk_trouble, now};
pub(crate) use birth::{await_first_message, begin_empty, private_folder, unknown};
pub(crate) use book::{DAMAGED, LOG, View, event_line};
pub(crate) use context::Context;
pub(crate) use forking::{Cut, Fork, ForkError, Found, Point};
pub(crate) use judging::Case;
pub(crate) use lending::{Lent, touches};
pub(crate) use mending::Trouble;
pub(crate) use rewinding::Rewinding;
pub(crate) use shut::await_opening;
pub(crate) use subscribing::subscribe;
