//! `estelle rebuild`: the Pylon's database anew, from what the host tells of its logs.
//!
//! What people made, such as names and settings, is taken over from the old database as far as it can be read, and so are
//! histories that no log tells any more. The host is asked over its socket like a Pylon asks it; if none runs, one is started
//! for this. Until the end the old database is untouched, and then it stays beside the new one.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::Args;
use estelle_host::data::socket;
use estelle_host::ipc::{Client, ConnectError};
use estelle_proto::ipc::{HostEvent, SessionStatus, Subscribe};
use estelle_proto::{
    ConversationId, HostToPylon, Name, PathText, Reply as _, Timestamp, WorkspaceId,
};
use estelle_pylon::store::{KeptHistory, Placement, Rebuild, RebuildError};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::process::{Child, Command};

use super::CONVERSATIONS;
use crate::chat::clean;
use crate::client::now;
use crate::data::DataArgs;
use crate::logging;
use crate::machine;
use crate::pylon::STORE;
use crate::up::{host_args, leave_runs};

/// How long a host may take until it answers.
const PATIENCE: Duration = Duration::from_mins(1);
/// How long one may take to leave before it is told by a signal.
const LEAVING: Duration = Duration::from_secs(20);
/// How often one that starts is called.
const CALL_EVERY: Duration = Duration::from_millis(20);
/// How long the host may say nothing in the middle of a log.
const SILENCE: Duration = Duration::from_secs(30);
/// Events of one transaction, and so in memory at once.
const BATCH: usize = 256;

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
    /// Conversations that the host did not tell to their end, and why.
    untold: Vec<(ConversationId, String)>,
    /// Histories that were taken over from the old database, because the host does not tell all of them.
    kept: Vec<KeptHistory>,
    /// Conversations whose history is gone with their log and could not be taken over, with their names.
    emptied: Vec<(ConversationId, String)>,
    /// Where the old database is now.
    before: Option<PathBuf>,
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
    show(&done, args.json);
    Ok(ExitCode::SUCCESS)
}

fn show(done: &Done, is_json: bool) {
    if is_json {
        let named = |all: &[(ConversationId, String)], what: &str| -> Vec<Value> {
            let all = all.iter();
            all.map(|(id, text)| json!({ "conversationId": id, what: text }))
                .collect()
        };
        let (conversations, events) = (done.conversations, done.events);
        let shown = json!({
            "conversations": conversations,
            "events": events,
            "lost": done.lost,
            "untold": named(&done.untold, "why"),
            "kept": done.kept.iter().map(|one| json!({
                "conversationId": one.conversation_id,
                "name": one.name,
                "setAsideAs": one.aside,
            })).collect::<Vec<_>>(),
            "emptied": named(&done.emptied, "name"),
            "before": done.before,
        });
        return anstream::println!("{shown}");
    }
    anstream::println!(
        "{} events of {} conversations are in the new database.",
        done.events,
        done.conversations
    );
    if let Some(before) = &done.before {
        anstream::println!("The old one is {}.", before.display());
    }
    if !done.lost.is_empty() {
        anstream::println!(
            "The old database was damaged; not taken over: {}",
            done.lost.join(", ")
        );
    }
    if !done.untold.is_empty() {
        anstream::println!(
            "The host did not tell these to their end; `estelle verify` says what is wrong with them:"
        );
        for (id, why) in &done.untold {
            anstream::println!("  {id}: {}", clean::line(why));
        }
    }
    if !done.kept.is_empty() {
        anstream::println!(
            "The logs of these are gone or tell less than the old database, which their histories are from:"
        );
        for one in &done.kept {
            let name = clean::line(&one.name);
            match &one.aside {
                Some(aside) => {
                    anstream::println!(
                        "  {}: {name}, in a conversation of its own: {aside}",
                        one.conversation_id
                    );
                }
                None => anstream::println!("  {}: {name}", one.conversation_id),
            }
        }
    }
    if !done.emptied.is_empty() {
        anstream::println!(
            "The logs of these are gone, and their history could not be read; the old database may have it:"
        );
        for (id, name) in &done.emptied {
            anstream::println!("  {id}: {}", clean::line(name));
        }
    }
}

async fn fill(mut rebuild: Rebuild, data: &Path) -> anyhow::Result<Done> {
    let mut done = Done::default();
    let socket = &socket(data);
    for session in sessions(&rebuild, data).await? {
        if rebuild.is_unfinished(&session.session_id)? {
            continue;
        }
        let mut replay = Replay::new(&mut rebuild, &session);
        let told = replay.run(socket).await;
        done.events += replay.events;
        match told {
            Ok(()) => done.conversations += 1,
            // What is wrong with the new database is wrong for all of them.
            Err(error) if error.is::<RebuildError>() => return Err(error),
            Err(error) => {
                let why = format!("{error:#}");
                done.untold.push((session.session_id.clone(), why));
            }
        }
    }
    let untold: Vec<ConversationId> = done.untold.iter().map(|(id, _)| id.clone()).collect();
    done.kept = rebuild.keep_histories(&untold)?;
    done.emptied = rebuild.emptied()?;
    done.lost = rebuild.lost().to_vec();
    done.before = rebuild.finish()?;
    Ok(done)
}

/// All conversations that the host has. What finds no room in its answer is asked for by name; the names are those that the
/// old database has, and the folders of the logs, because that may be damaged.
async fn sessions(rebuild: &Rebuild, data: &Path) -> anyhow::Result<Vec<SessionStatus>> {
    let mut client = Client::connect(&socket(data)).await?;
    let response = client.status_response(None).await?;
    let mut sessions = response.sessions;
    if response.left_out.is_some_and(|left_out| left_out > 0) {
        let listed: BTreeSet<_> = sessions.iter().map(|one| one.session_id.clone()).collect();
        let mut known: BTreeSet<_> = rebuild.conversations()?.into_iter().collect();
        known.extend(folders(&data.join(CONVERSATIONS))?);
        for id in known.difference(&listed) {
            sessions.extend(client.status(Some(id.clone())).await?);
        }
    }
    Ok(sessions)
}

/// The conversations that have a folder.
fn folders(of: &Path) -> anyhow::Result<Vec<ConversationId>> {
    let entries = match std::fs::read_dir(of) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => {
            return Err(error).with_context(|| format!("failed to read {}", of.display()));
        }
    };
    let mut found = Vec::new();
    for entry in entries {
        let name = entry?.file_name();
        // Whatever else lies there is no conversation.
        found.extend(
            name.to_str()
                .and_then(|name| ConversationId::parse(name).ok()),
        );
    }
    Ok(found)
}

/// The log of a conversation on its way from the host into the new database.
struct Replay<'a> {
    rebuild: &'a mut Rebuild,
    session: &'a SessionStatus,
    is_placed: bool,
    batch: Vec<HostEvent>,
    /// How many are in the new database.
    events: usize,
    /// Where it goes on after the host has cut us off.
    cursor: Subscribe,
}

/// How far a connection got.
enum Told {
    Everything,
    CutOff,
}

impl<'a> Replay<'a> {
    fn new(rebuild: &'a mut Rebuild, session: &'a SessionStatus) -> Self {
        Self {
            rebuild,
            session,
            is_placed: false,
            batch: Vec::new(),
            events: 0,
            cursor: Subscribe::new(session.session_id.clone()),
        }
    }

    /// Takes over all that the host tells. What came before it failed is taken over as well.
    async fn run(&mut self, socket: &Path) -> anyhow::Result<()> {
        let told = loop {
            let before = self.cursor.seq;
            match self.listen(socket).await {
                Ok(Told::CutOff) if self.cursor.seq == before => {
                    break Err(anyhow::anyhow!("the host cuts it off again and again"));
                }
                Ok(Told::CutOff) => {}
                Ok(Told::Everything) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        self.take_in()?;
        told
    }

    async fn listen(&mut self, socket: &Path) -> anyhow::Result<Told> {
        let id = &self.session.session_id;
        let mut client = Client::connect(socket).await?;
        client.send(self.cursor.clone()).await?;
        loop {
            let message = tokio::time::timeout(SILENCE, client.receive()).await;
            let message =
                message.with_context(|| format!("the host does not tell all of {id}"))??;
            match message {
                HostToPylon::Event(event) if event.session_id == *id && event.seq.is_some() => {
                    self.cursor.seq = event.seq;
                    self.cursor.epoch = event.epoch;
                    self.cursor.chain_hash.clone_from(&event.chain_hash);
                    self.batch.push(event);
                    if self.batch.len() >= BATCH {
                        self.take_in()?;
                    }
                }
                HostToPylon::Snapshot(snapshot) if snapshot.session_id == *id => {
                    return Ok(Told::Everything);
                }
                HostToPylon::Subscribed(began) if began.fresh => {
                    bail!("its log began anew meanwhile")
                }
                HostToPylon::RequestResult(result) => result.outcome()?,
                HostToPylon::Error(report) => bail!("the host does not tell it: {}", report.error),
                HostToPylon::CutOff(_) => return Ok(Told::CutOff),
                HostToPylon::Event(_)
                | HostToPylon::Snapshot(_)
                | HostToPylon::Hello(_)
                | HostToPylon::PermissionRequest(_)
                | HostToPylon::QuestionRequest(_)
                | HostToPylon::StatusResponse(_)
                | HostToPylon::Subscribed(_)
                | HostToPylon::ToolCall(_)
                | HostToPylon::ServerShutdown(_)
                | HostToPylon::Unknown(_) => {}
            }
        }
    }

    /// Puts what was told into the new database.
    fn take_in(&mut self) -> anyhow::Result<()> {
        if !self.is_placed {
            self.rebuild.place(&placement(self.session, &self.batch)?)?;
            self.is_placed = true;
        }
        self.rebuild.apply(&self.batch)?;
        self.events += self.batch.len();
        self.batch.clear();
        Ok(())
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
            // One that does not take it is asked by a signal.
            let _ = client.ask(leave_runs()).await;
        }
        if tokio::time::timeout(LEAVING, child.wait()).await.is_ok() {
            return;
        }
        if let Some(pid) = child
            .id()
            .and_then(|pid| i32::try_from(pid).ok())
            .and_then(Pid::from_raw)
        {
            let _ = kill_process(pid, Signal::TERM);
        }
        if tokio::time::timeout(PATIENCE, child.wait()).await.is_err() {
            tracing::warn!("the host that was started for this does not end");
        }
    }
}

#[cfg(test)]
#[path = "rebuild_tests.rs"]
mod tests;
