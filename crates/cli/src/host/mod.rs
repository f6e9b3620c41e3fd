//! `estelle host`: runs the host of this machine, or looks at one that runs.
//!
//! Without a subcommand the host runs in the foreground. The subcommands are clients of it: they speak over its socket
//! like a Pylon does, so a person can look at it and talk to it when nothing else is there.

pub(crate) mod attach;
mod door;
mod process;
mod run;
mod status;
mod stop;

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use estelle_host::data::socket;
use estelle_host::ipc::{Client, ConnectError};

use crate::config::ConfigArgs;
use crate::data::DataArgs;
pub(crate) use process::HostProcess;
pub(crate) use run::load_patterns;

/// Run the host of this machine, or look at the one that runs.
#[derive(Debug, Args)]
pub(crate) struct HostArgs {
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    config: ConfigArgs,
    #[command(flatten)]
    run: run::RunArgs,
    #[command(subcommand)]
    command: Option<HostCommand>,
}

#[derive(Debug, Subcommand)]
enum HostCommand {
    Status(status::StatusArgs),
    List(status::ListArgs),
    Stop(stop::StopArgs),
    Attach(attach::AttachArgs),
}

/// Runs the subcommand.
pub(crate) fn run(args: HostArgs) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("failed to start the runtime")?;
    let data = args.data.folder()?;
    let outcome = runtime.block_on(async {
        match args.command {
            None => run::run(&data, args.config.load()?, args.run).await,
            Some(HostCommand::Status(args)) => status::status(&data, &args).await,
            Some(HostCommand::List(args)) => status::list(&data, &args).await,
            Some(HostCommand::Stop(args)) => stop::stop(&data, args).await,
            Some(HostCommand::Attach(args)) => attach::attach(&data, args).await,
        }
    });
    // A thread that reads standard input cannot be ended; it must not hold the program up.
    runtime.shutdown_background();
    match outcome {
        // Whoever reads our output has seen enough.
        Err(error) if is_broken_pipe(&error) => Ok(ExitCode::SUCCESS),
        other => other,
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let source = error.downcast_ref::<std::io::Error>();
    source.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

/// Calls the host of a data folder; the error says what to do when there is none.
async fn call(data: &Path) -> anyhow::Result<Client> {
    match Client::connect(&socket(data)).await {
        Ok(client) => Ok(client),
        Err(ConnectError::NoHost { .. }) => anyhow::bail!(
            "no host runs on {}: start one with `estelle host`, or name its folder with --data",
            data.display()
        ),
        Err(error) => Err(error.into()),
    }
}
