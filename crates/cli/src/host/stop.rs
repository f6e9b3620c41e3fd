//! `estelle host stop`: ends one process, the host, or the host with everything it runs.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use estelle_host::ipc::{Client, WireError};
use estelle_proto::ConversationId;
use estelle_proto::ipc::{Shutdown, StopSession};
use serde_json::json;

use super::{HostProcess, call};

/// How long the host may take to end everything: its own grace, and some more.
const PATIENCE: Duration = Duration::from_mins(2);

/// End the process of a conversation, or the host.
///
/// Without anything the host ends and its runs live on, to be taken up by the next host; if it is configured with
/// `shutdown_stops_runs`, they are ended first.
#[derive(Debug, Args)]
pub(super) struct StopArgs {
    /// The conversation whose process is ended; it can be resumed.
    #[arg(value_name = "CONVERSATION", conflicts_with = "all")]
    conversation: Option<String>,
    /// End every run, and then the host.
    #[arg(long)]
    all: bool,
    /// Print what was ended as JSON.
    #[arg(long)]
    json: bool,
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
        if args.json {
            let told = json!({ "ended": "process", "sessionId": id });
            anstream::println!("{told}");
        } else {
            anstream::println!("The process of {id} is stopped; the next message resumes it.");
        }
        return Ok(ExitCode::SUCCESS);
    }
    let command = Shutdown {
        stop_runs: args.all.then_some(true),
        ..Shutdown::default()
    };
    let process = HostProcess::of(data);
    client.ask(command).await?;
    let ended = async {
        let runs = gone(client).await?;
        process.gone().await;
        anyhow::Ok(runs)
    };
    let runs = tokio::time::timeout(PATIENCE, ended)
        .await
        .context("the host did not end in time")??;
    if args.json {
        let told = json!({ "ended": "host", "runs": runs.word() });
        anstream::println!("{told}");
    } else {
        anstream::println!("{}", runs.sentence());
    }
    Ok(ExitCode::SUCCESS)
}

/// What became of the runs of a host that ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Runs {
    /// They live on.
    Left,
    /// They were ended first.
    Ended,
}

impl Runs {
    fn word(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Ended => "ended",
        }
    }

    fn sentence(self) -> &'static str {
        match self {
            Self::Left => "The host has ended; its runs live on.",
            Self::Ended => "The host and all its runs have ended.",
        }
    }
}

/// Waits until the host has closed the connection, unless it refuses. A host that ends its runs tells everybody first.
async fn gone(mut client: Client) -> anyhow::Result<Runs> {
    use estelle_proto::{HostToPylon, Reply as _};
    let mut runs = Runs::Left;
    loop {
        match client.receive().await {
            Ok(HostToPylon::RequestResult(result)) => result.outcome()?,
            Ok(HostToPylon::ServerShutdown(_)) => runs = Runs::Ended,
            Ok(_) => {}
            Err(WireError::Gone | WireError::Io(_)) => return Ok(runs),
            Err(error) => return Err(error.into()),
        }
    }
}
