//! The host: owns the Claude runs of a machine, and may itself die at any moment.
//!
//! A run is started so that it outlives the host ([`run`]): its input is a FIFO, its output a journal file, its
//! parent a tiny shim. What the host knows of a conversation is in a log of its own ([`log`]) that is written
//! before anything is sent and read again after a crash. What the CLI prints becomes events of ours in [`translate`] and
//! nowhere else. What is executed, and with which safeguards, is decided in [`launch`]; whether a folder's own
//! configuration may be loaded, in [`trust`]; what the user always allows or refuses, in [`rules`]; that a program
//! really asks before every tool is proven in [`canary`]. Clients speak to it over a socket ([`ipc`]), each with a
//! mailbox of its own ([`mailbox`]). Shells and the agent's own interface run in terminals that outlive it as well ([`terminal`]).
//! [`verify`] proves from the disk alone that nothing is missing. `docs/design/durable-runs.md` has the crash windows.

pub mod canary;
pub mod conversation;
pub mod data;
mod failpoint;
mod host;
pub mod ipc;
pub mod launch;
pub mod links;
pub mod log;
pub mod mailbox;
mod opening;
pub mod rules;
pub mod run;
mod strays;
pub mod terminal;
pub mod traffic;
pub mod translate;
pub mod trust;
pub mod verify;

pub use conversation::HostSettings;
#[doc(hidden)]
pub use failpoint::reach as failpoint;
pub use host::{Host, OpenError};
