//! The host's pieces with real processes: the simulator and the real CLIs; and what its clients see.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

mod canary;
mod ipc;
mod stage;
mod workspace;
