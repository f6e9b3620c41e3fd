//! The real program against the simulator: over a terminal, in a pipe, with `--print`, and runs that outlive it.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

mod durable;
mod pipe;
mod program;
mod terminal;
