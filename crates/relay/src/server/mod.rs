//! The shell around the machine: sockets, tasks and files.
//!
//! - [`accept`]: a task per socket: TLS, HTTP, and who may come in at all ([`lobby`], [`guard`]).
//! - [`connection`]: a task per WebSocket, with its state in [`line`]. [`outbox`]: what waits for it, in bytes.
//! - [`hub`]: the task that owns the machine, which logs [`refusals`] in sums. [`saver`]: the task that writes the registry.
//!
//! The hub never waits for anybody: what a connection does not take in time is its own loss. Everything that waits is
//! bounded, in bytes where it can be large.

mod accept;
mod connection;
mod guard;
mod http;
mod hub;
mod line;
mod lobby;
mod outbox;
mod refusals;
mod relay;
mod saver;
mod tls;

pub use relay::{BindError, CommandError, Issued, Relay};
