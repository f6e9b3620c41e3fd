//! `estelle rebuild`: the Pylon's database anew, from what the host tells of its logs.
//!
//! What people made, such as names and settings, is taken over from the old database as far as it can be read. The host is
//! asked over its socket like a Pylon asks it; if none runs, one is started for this. Until the end the old database is
//! untouched, and then it stays beside the new one.

use std::path::Path;
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::Args;
use estelle_host::data::socket;
use estelle_host::ipc::{Client, ConnectError};
use estelle_proto::ipc::{HostEvent, SessionStatus, Shutdown, Subscribe};
use estelle_proto::{
    ConversationId, HostToPylon, Name, PathText, Reply as _, Timestamp, WorkspaceId,
};
use estelle_pylon::store::{Placement, Rebuild};
use serde_json::json;
use tokio::process::{Child, Command};

use crate::client::now;
use crate::data::DataArgs;
use crate::logging;
use crate::machine;
use crate::pylon::STORE;
use crate::up::host_args;

/// How long a host may take until it answers.
const PATIENCE: Duration = Duration::from_mins(1);
/// How often one that starts is called.
const CALL_EVERY: Duration = Duration::from_millis(20);
/// How long the host may say nothing in the middle of a log.
const SILENCE: Duration = Duration::from_secs(30);
/// Events of one transaction.
const BATCH: usize = 1024;

/// Make the database of the Pylon anew from the host's logs; `estelle up` must not run.
#[derive(Debug, Args)]
pub(crate) struct RebuildArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// What was done.
#[derive(Debug, Default)]
struct Done {
    conversations: usize,
    events: usize,
    /// What of the old database could not be read.
    lost: Vec<&'static str>,
}

/// Runs the subcommand.
pub(crate) fn run(args: &RebuildArgs) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let done = runtime.block_on(async {
        let data = machine::find(&args.data.folders()?).await?;
        if machine::is_open(&data).await {
            bail!(
                "`estelle up` uses the database of {}: stop it first",
                data.display()
            );
        }
        let begun = Rebuild::begin(&data.join(STORE))?;
        let host = HostForNow::find(&data).await?;
        let done = fill(begun, &data).await;
        host.leave(&data).await;
        done
    })?;
    if args.json {
        let (conversations, events) = (done.conversations, done.events);
        let shown = json!({"conversations": conversations, "events": events, "lost": done.lost});
        anstream::println!("{shown}");
    } else {
        anstream::println!(
            "{} events of {} conversations are in the new database; the old one is beside it.",
            done.events,
            done.conversations
        );
        if !done.lost.is_empty() {
            anstream::println!(
                "The old database was damaged; not taken over: {}",
                done.lost.join(", ")
            );
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn fill(mut rebuild: Rebuild, data: &Path) -> anyhow::Result<Done> {
    let mut done = Done {
        lost: rebuild.lost().to_vec(),
        ..Done::default()
    };
    let sessions = Client::connect(&socket(data)).await?.status(None).await?;
    for session in sessions {
        let events = replay(data, &session.session_id).await?;
        rebuild.place(&placement(&session, &events)?)?;
        for batch in events.chunks(BATCH) {
            rebuild.apply(batch)?;
        }
        done.conversations += 1;
        done.events += events.len();
    }
    rebuild.finish()?;
    Ok(done)
}

/// The whole log of a conversation, as the host tells it.
async fn replay(data: &Path, id: &ConversationId) -> anyhow::Result<Vec<HostEvent>> {
    let mut client = Client::connect(&socket(data)).await?;
    client.send(Subscribe::new(id.clone())).await?;
    let mut events = Vec::new();
    loop {
        let message = tokio::time::timeout(SILENCE, client.receive()).await;
        let message = message.with_context(|| format!("the host does not tell all of {id}"))??;
        match message {
            HostToPylon::Event(event) if event.session_id == *id && event.seq.is_some() => {
                events.push(event);
            }
            HostToPylon::Snapshot(snapshot) if snapshot.session_id == *id => return Ok(events),
            HostToPylon::RequestResult(result) => result.outcome()?,
            HostToPylon::Error(report) => bail!("the host does not tell {id}: {}", report.error),
            HostToPylon::Event(_)
            | HostToPylon::Snapshot(_)
            | HostToPylon::Hello(_)
            | HostToPylon::PermissionRequest(_)
            | HostToPylon::QuestionRequest(_)
            | HostToPylon::StatusResponse(_)
            | HostToPylon::Subscribed(_)
            | HostToPylon::CutOff(_)
            | HostToPylon::ToolCall(_)
            | HostToPylon::ServerShutdown(_)
            | HostToPylon::Unknown(_) => {}
        }
    }
}

/// Where a conversation belongs that the old database does not know.
fn placement(session: &SessionStatus, events: &[HostEvent]) -> anyhow::Result<Placement> {
    let folder = session.working_dir.clone();
    let folder = folder.map_or_else(|| PathText::parse("/"), Ok)?;
    let workspace = session.workspace_id.clone();
    let workspace = workspace.map_or_else(|| WorkspaceId::parse("recovered"), Ok)?;
    let last = folder.as_str().rsplit('/').find(|part| !part.is_empty());
    let at = events.iter().find_map(|event| event.timestamp);
    Ok(Placement {
        conversation_id: session.session_id.clone(),
        name: Name::parse("Recovered conversation")?,
        workspace_id: workspace,
        workspace_name: Name::parse(last.unwrap_or("Recovered"))?,
        working_dir: folder,
        at: at.unwrap_or_else(|| Timestamp(now().0)),
    })
}

/// A host that was there, or one that is there for this alone.
enum HostForNow {
    Found,
    Started(Child),
}

impl HostForNow {
    async fn find(data: &Path) -> anyhow::Result<Self> {
        match Client::connect(&socket(data)).await {
            Ok(_) => return Ok(Self::Found),
            Err(ConnectError::NoHost { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        let program =
            std::env::current_exe().context("failed to find out where this program is")?;
        let log = logging::open(&data.join("host.log"))?;
        let mut child = Command::new(&program)
            .args(["host", "--data"])
            .arg(data)
            // What it has to go on with belongs to the agent that began it.
            .args(host_args(data))
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .with_context(|| format!("failed to start {}", program.display()))?;
        let answers = async {
            while Client::connect(&socket(data)).await.is_err() {
                tokio::time::sleep(CALL_EVERY).await;
            }
        };
        tokio::select! {
            answered = tokio::time::timeout(PATIENCE, answers) => {
                answered.context("the host was started and does not answer")?;
            }
            ended = child.wait() => {
                bail!("the host ended while it started ({}): `estelle logs host` says why", ended?);
            }
        }
        Ok(Self::Started(child))
    }

    /// Ends what was started here; its runs live on.
    async fn leave(self, data: &Path) {
        let Self::Started(mut child) = self else {
            return;
        };
        if let Ok(mut client) = Client::connect(&socket(data)).await {
            // One that does not take it is asked by a signal below.
            let _ = client.ask(Shutdown::default()).await;
        }
        if tokio::time::timeout(PATIENCE, child.wait()).await.is_err() {
            tracing::warn!("the host that was started for this does not end");
        }
    }
}
