//! The real program against the simulator: over a terminal, in a pipe, with `--print`, runs that outlive it,
//! and what the policy says.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

mod durable;
mod host;
mod pipe;
mod policy;
mod program;
mod terminal;
