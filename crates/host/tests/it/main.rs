//! The host's pieces with real processes: the simulator and the real CLIs.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod canary;
mod stage;
