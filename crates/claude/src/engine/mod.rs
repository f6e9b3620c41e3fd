//! The control protocol between a caller and a running CLI.
//!
//! Three tasks serve one connection: a reader that routes what the CLI prints, a writer that owns its input,
//! and a supervisor that owns the process. They share the pending requests and the inbox and nothing else.
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
