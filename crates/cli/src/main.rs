//! The one binary, `estelle`.
//!
//! Reads the command line and hands over to a subcommand, each a module of its own. It decides nothing else:
//! what a subcommand returns becomes the exit code, and an error is printed with its causes. Called by the name of the
//! simulated agent it is that agent.

mod archive;
mod bugs;
mod chat;
mod client;
mod config;
mod data;
mod doctor;
mod ending;
mod gateway;
mod host;
mod leash;
mod logging;
mod logs;
mod machine;
mod manual;
mod policy;
mod pylon;
mod relay;
mod service;
mod shim;
mod signals;
mod successor;
mod table;
mod trial;
mod up;
mod verify;
mod web;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};

/// Run Claude Code on your own machines and drive it from anywhere.
#[derive(Debug, Parser)]
#[command(name = "estelle", version, propagate_version = true, after_help = client::EXIT_CODES)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

/// The name under which this program is the simulated agent, so that a release is one file.
pub(crate) const SIMULATOR: &str = "estelle-sim-claude";

#[derive(Debug, Subcommand)]
enum Command {
    Up(up::UpArgs),
    #[command(flatten)]
    Client(client::ClientCommand),
    Backup(archive::BackupArgs),
    Bugs(bugs::BugsArgs),
    Chat(Box<chat::ChatArgs>),
    Completions(manual::CompletionsArgs),
    Config(config::ConfigCommandArgs),
    Devices(machine::DevicesArgs),
    Doctor(doctor::DoctorArgs),
    Host(Box<host::HostArgs>),
    Logs(logs::LogsArgs),
    Man(manual::ManArgs),
    Pair(machine::PairArgs),
    Policy(policy::PolicyArgs),
    Pylon(pylon::PylonArgs),
    Rebuild(archive::RebuildArgs),
    Relay(relay::RelayArgs),
    Restore(archive::RestoreArgs),
    Service(service::ServiceArgs),
    #[command(hide = true)]
    Keeper(shim::KeeperArgs),
    #[command(hide = true)]
    Leash(leash::LeashArgs),
    #[command(hide = true)]
    Shim(shim::ShimArgs),
    #[command(hide = true)]
    ShimChild(shim::ShimArgs),
    #[command(hide = true)]
    Trial(trial::TrialArgs),
    Verify(verify::VerifyArgs),
}

/// The host alone. It runs on for months, and would hold the pages of the whole tree of commands as long.
#[derive(Debug, Parser)]
#[command(name = "estelle")]
enum OnlyHost {
    Host(Box<host::HostArgs>),
}

/// What is wanted. Whatever the short list does not take, help and mistakes included, is for the whole one.
fn command() -> Command {
    let is_host = std::env::args_os()
        .nth(1)
        .is_some_and(|word| word == "host");
    match is_host.then(OnlyHost::try_parse) {
        Some(Ok(OnlyHost::Host(args))) => Command::Host(args),
        Some(Err(_)) | None => Arguments::parse().command,
    }
}

fn main() -> ExitCode {
    let called = std::env::args_os().next().map(std::path::PathBuf::from);
    let called = called.as_deref().and_then(std::path::Path::file_name);
    if called.is_some_and(|name| name == SIMULATOR) {
        return simulate();
    }
    if let Some(outcome) = shim::role() {
        return outcome.unwrap_or_else(failed);
    }
    let outcome = match command() {
        Command::Up(args) => up::run(&args),
        Command::Client(command) => client::run(command),
        Command::Backup(args) => archive::backup(&args),
        Command::Bugs(args) => bugs::run(&args),
        Command::Chat(args) => match &args.conversation {
            Some(conversation) => client::talk(&args.client, conversation),
            None => chat::run(*args),
        },
        Command::Completions(args) => Ok(manual::completions(&args, Arguments::command())),
        Command::Config(args) => config::run(&args),
        Command::Devices(args) => machine::devices(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Host(args) => host::run(*args),
        Command::Leash(args) => leash::run(&args),
        Command::Logs(args) => logs::run(&args),
        Command::Man(args) => manual::man(&args, Arguments::command()),
        Command::Pair(args) => machine::pair(&args),
        Command::Policy(args) => policy::run(args),
        Command::Pylon(args) => pylon::run(args),
        Command::Rebuild(args) => archive::rebuild(&args),
        Command::Relay(args) => relay::run(args),
        Command::Restore(args) => archive::restore(&args),
        Command::Service(args) => service::run(&args),
        Command::Keeper(args) => shim::run_keeper(&args),
        Command::Shim(args) => shim::run(args),
        Command::ShimChild(args) => shim::run_child(args),
        Command::Trial(args) => trial::run(&args),
        Command::Verify(args) => verify::run(args),
    };
    outcome.unwrap_or_else(failed)
}

#[expect(clippy::needless_pass_by_value, reason = "the error ends here")]
fn failed(error: anyhow::Error) -> ExitCode {
    anstream::eprintln!("{error:#}");
    ExitCode::from(client::exit_code(&error))
}

fn simulate() -> ExitCode {
    match estelle_sim::cli::run() {
        Ok(code) => u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from),
        Err(error) => {
            anstream::eprintln!("{SIMULATOR}: {error:#}");
            ExitCode::FAILURE
        }
    }
}
