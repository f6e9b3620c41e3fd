//! What a link between two parts has to decide: when to try again, and where to go on.
//!
//! [`Backoff`] says how long to wait after a connection was lost. [`Cursors`] holds how far the subscriber is in each
//! conversation, asks for what it has not, and judges what comes: each durable event is delivered once and in order,
//! whatever the connections in between did. Opening, reading and waiting are the shell's.

mod backoff;
mod cursors;

pub use backoff::{Backoff, Pace};
pub use cursors::{Cursor, Cursors, Ignored, MAX_REPLAYS, Verdict};
