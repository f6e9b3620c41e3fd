//! The real program against the simulator: over a terminal, in a pipe, and with `--print`.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

mod pipe;
mod program;
mod terminal;
