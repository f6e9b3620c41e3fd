//! The pylon's links to the other parts.
//!
//! Each is a task that connects, tries again for ever, and hands on what comes in an inbox; the handle is cheap and
//! works while the other side is away. A link does not know what the messages mean.
//!
//! - [`host`]: JSON lines on a Unix socket; each durable event is handed on once and in order.

pub mod host;
mod lines;
