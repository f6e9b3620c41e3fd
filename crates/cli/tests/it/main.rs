//! The real program against the simulator: over a terminal, in a pipe, with `--print`, runs that outlive it,
//! what the policy says, the relay alone, and everything together.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

mod archive;
mod care;
mod client;
mod commands;
mod conformance;
mod deploy;
mod durable;
mod gateway;
mod host;
mod host_command;
mod host_input;
mod memory;
mod pipe;
mod policy;
mod program;
mod relay;
mod screen;
mod tasks;
mod terminal;
mod up;
