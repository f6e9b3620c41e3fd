//! `estelle host stop`: ends one process, the host, or the host with everything it runs.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use estelle_host::ipc::{Client, WireError};
use estelle_proto::ConversationId;
use estelle_proto::ipc::{Shutdown, StopSession};

use super::call;

/// How long the host may take to end everything: its own grace, and some more.
const PATIENCE: Duration = Duration::from_mins(2);

/// End the process of a conversation, or the host.
///
/// Without anything the host ends and its runs live on, to be taken up by the next host.
#[derive(Debug, Args)]
pub(super) struct StopArgs {
    /// The conversation whose process is ended; it can be resumed.
    #[arg(value_name = "CONVERSATION", conflicts_with = "all")]
    conversation: Option<String>,
    /// End every run, and then the host.
    #[arg(long)]
    all: bool,
}

/// Runs the subcommand.
pub(super) async fn stop(data: &Path, args: StopArgs) -> anyhow::Result<ExitCode> {
    let conversation = args.conversation.as_deref().map(ConversationId::parse);
    let conversation = conversation
        .transpose()
        .context("this is no name of a conversation")?;
    let mut client = call(data).await?;
    if let Some(id) = conversation {
        let command = StopSession {
            end_process: Some(true),
            ..StopSession::new(id.clone())
        };
        client.request(command).await?;
        anstream::println!("The process of {id} is stopped; the next message resumes it.");
        return Ok(ExitCode::SUCCESS);
    }
    let command = Shutdown {
        stop_runs: args.all.then_some(true),
        ..Shutdown::default()
    };
    client.ask(command).await?;
    tokio::time::timeout(PATIENCE, gone(client))
        .await
        .context("the host did not end in time")??;
    if args.all {
        anstream::println!("The host and all its runs have ended.");
    } else {
        anstream::println!("The host has ended; its runs live on.");
    }
    Ok(ExitCode::SUCCESS)
}

/// Waits until the host has closed the connection, unless it refuses.
async fn gone(mut client: Client) -> anyhow::Result<()> {
    use estelle_proto::{HostToPylon, Reply as _};
    loop {
        match client.receive().await {
            Ok(HostToPylon::RequestResult(result)) => result.outcome()?,
            Ok(_) => {}
            Err(WireError::Gone | WireError::Io(_)) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}
