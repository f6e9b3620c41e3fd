//! The one binary, `estelle`.
//!
//! Reads the command line and hands over to a subcommand, each a module of its own. It decides nothing else:
//! what a subcommand returns becomes the exit code, and an error is printed with its causes.

mod chat;
mod data;
mod host;
mod policy;
mod relay;
mod shim;
mod verify;
mod web;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Run Claude Code on your own machines and drive it from anywhere.
#[derive(Debug, Parser)]
#[command(name = "estelle", version, propagate_version = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Chat(chat::ChatArgs),
    Host(Box<host::HostArgs>),
    Policy(policy::PolicyArgs),
    Relay(relay::RelayArgs),
    #[command(hide = true)]
    Shim(shim::ShimArgs),
    #[command(hide = true)]
    ShimChild(shim::ShimArgs),
    Verify(verify::VerifyArgs),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Chat(args) => chat::run(args),
        Command::Host(args) => host::run(*args),
        Command::Policy(args) => policy::run(args),
        Command::Relay(args) => relay::run(args),
        Command::Shim(args) => shim::run(args),
        Command::ShimChild(args) => shim::run_child(args),
        Command::Verify(args) => verify::run(args),
    };
    outcome.unwrap_or_else(|error| {
        anstream::eprintln!("{error:#}");
        ExitCode::FAILURE
    })
}
