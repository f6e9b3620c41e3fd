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

fn main() -> ExitCode {
    let called = std::env::args_os().next().map(std::path::PathBuf::from);
    let called = called.as_deref().and_then(std::path::Path::file_name);
    if called.is_some_and(|name| name == SIMULATOR) {
        return simulate();
    }
    let outcome = match Arguments::parse().command {
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
    outcome.unwrap_or_else(|error| {
        anstream::eprintln!("{error:#}");
        ExitCode::from(client::exit_code(&error))
    })
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
