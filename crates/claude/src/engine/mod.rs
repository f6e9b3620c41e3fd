//! The control protocol between a caller and a running CLI.
//!
//! Three tasks serve one connection: a reader that routes what the CLI prints, a writer for what callers send,
//! and a supervisor that owns the process; each request of the CLI has a task of its own besides. They share the
//! pending requests, the open calls and the inbox, and take turns at the CLI's input, a whole line at a time.
//! The engine correlates, cancels, times out and sees to it that every inbound request is answered; what a
//! request means is the [`Responder`]'s business, what a message means the caller's.
//!
//! **Invariant:** the reader waits for nobody but the inbox, and not even for that while somebody awaits a
//! control answer: a slow callback or an idle consumer never holds up an acknowledgement.

mod calls;
mod connection;
mod end;
mod inbox;
#[cfg(test)]
pub(crate) mod peer;
mod pending;
mod reader;
mod supervisor;
mod writer;

pub(crate) use calls::{Answer, CallError, Payload, Responder, Unreadable, refuse};
pub(crate) use connection::{Connection, ConnectionConfig};
pub(crate) use inbox::Item;

pub use end::{ControlError, End, SendError};

#[cfg(test)]
#[path = "engine_tests.rs"]
mod tests;
