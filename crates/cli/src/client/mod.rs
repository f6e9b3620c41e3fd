//! The terminal as a client: what a person does with conversations on any machine, over the relay.
//!
//! ```text
//!   a command ─► way (which relay, which secret) ─► link (frames) ─► fleet (which conversation is meant)
//!                                                        └─► session (events that outlive a connection) ─► follow ─► screen
//! ```
//!
//! The terminal is a device like a phone: it sees and may what its secret lets it. Leaving a command ends nothing on the
//! machine; the exit codes are in [`failure`].

mod ask;
mod attach;
mod back;
mod budget;
mod changes;
mod continuing;
mod decide;
mod deploy;
mod export;
mod failure;
mod files;
mod fleet;
mod follow;
mod link;
mod lookup;
mod ls;
mod new;
mod notifications;
mod pace;
mod past;
mod saved;
mod screen;
mod session;
mod speak;
mod talk;
mod tasks;
mod terminal;
mod turn;
mod watch;
mod way;
mod worktrees;

use std::io::Write as _;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use clap::Subcommand;
use estelle_proto::Timestamp;

pub(crate) use failure::{EXIT_CODES, Failure, exit_code};
pub(crate) use talk::run as talk;
pub(crate) use way::{ClientArgs, Presence, check_secrecy};

/// The commands of a person who uses conversations.
#[derive(Debug, Subcommand)]
pub(crate) enum ClientCommand {
    Ls(ls::LsArgs),
    New(new::NewArgs),
    Send(speak::SendArgs),
    Watch(watch::WatchArgs),
    Approve(decide::ApproveArgs),
    Deny(decide::DenyArgs),
    Diff(changes::DiffArgs),
    Files(files::FilesArgs),
    Answer(decide::AnswerArgs),
    Stop(decide::StopArgs),
    Continue(continuing::ContinueArgs),
    Fork(back::ForkArgs),
    History(lookup::HistoryArgs),
    Rewind(back::RewindArgs),
    Search(lookup::SearchArgs),
    Sessions(saved::SessionsArgs),
    Tasks(tasks::TasksArgs),
    Terminal(terminal::TerminalArgs),
    Usage(lookup::UsageArgs),
    Deploy(deploy::DeployArgs),
    Budget(budget::BudgetArgs),
    Notifications(notifications::NotificationsArgs),
    Worktrees(worktrees::WorktreesArgs),
}

/// Runs the command.
pub(crate) fn run(command: ClientCommand) -> anyhow::Result<ExitCode> {
    block_on(async {
        match command {
            ClientCommand::Ls(args) => ls::run(&args).await,
            ClientCommand::New(args) => new::run(&args).await,
            ClientCommand::Send(args) => Box::pin(speak::run(&args)).await,
            ClientCommand::Watch(args) => Box::pin(watch::run(&args)).await,
            ClientCommand::Approve(args) => decide::approve(&args).await,
            ClientCommand::Deny(args) => decide::deny(&args).await,
            ClientCommand::Diff(args) => changes::run(&args).await,
            ClientCommand::Files(args) => files::run(&args).await,
            ClientCommand::Answer(args) => decide::answer(&args).await,
            ClientCommand::Stop(args) => decide::stop(&args).await,
            ClientCommand::Continue(args) => continuing::run(&args).await,
            ClientCommand::Fork(args) => back::fork(&args).await,
            ClientCommand::Rewind(args) => back::rewind(&args).await,
            ClientCommand::History(args) => lookup::history(&args).await,
            ClientCommand::Search(args) => lookup::search(&args).await,
            ClientCommand::Sessions(args) => saved::run(&args).await,
            ClientCommand::Tasks(args) => tasks::run(&args).await,
            ClientCommand::Terminal(args) => Box::pin(terminal::run(&args)).await,
            ClientCommand::Usage(args) => lookup::usage(&args).await,
            ClientCommand::Deploy(args) => Box::pin(deploy::run(&args)).await,
            ClientCommand::Budget(args) => budget::run(&args).await,
            ClientCommand::Notifications(args) => notifications::notifications(&args).await,
            ClientCommand::Worktrees(args) => worktrees::run(&args).await,
        }
    })
}

fn block_on(work: impl Future<Output = anyhow::Result<ExitCode>>) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("failed to start the runtime")?;
    let outcome = runtime.block_on(work);
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

/// A value as a line of JSON.
fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    let text = serde_json::to_string(value)?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}")?;
    Ok(out.flush()?)
}

/// The time.
pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let millis = since.map_or(0, |since| since.as_millis());
    Timestamp(i64::try_from(millis).unwrap_or(i64::MAX))
}
