//! The pylon's two links: down to the host, up to the relay.
//!
//! Each is a task that connects, tries again for ever, and hands on what comes in an inbox; the handle is cheap and
//! works while the other side is away. A link does not know what the messages mean.
//!
//! - [`host`]: JSON lines on a Unix socket; each durable event is handed on once and in order.
//! - [`keeper`]: a look at a terminal, past the host.
//! - [`relay`]: a WebSocket; what waited for one connection is never sent over the next.

pub mod host;
pub mod keeper;
mod lines;
pub mod relay;
