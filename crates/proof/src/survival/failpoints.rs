//! The host dies at named places of its own code, where no timing could hit it.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function waits for a few kinds and passes over the others"
)]

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use estelle_proto::ConversationId;
use estelle_proto::decisions::PermissionDecision;
use estelle_proto::events::ClaudeEvent;
use estelle_proto::ipc::HostToPylon;
use estelle_sim::script::Script;
use futures_util::FutureExt as _;
use serde_json::json;

use super::{Row, Scene};
use crate::rig::{Agent, HostOptions, Viewer};

/// How long a host has to die after the turn.
const AFTERWARDS: Duration = Duration::from_secs(1);

macro_rules! at {
    ($($name:ident: $point:literal, $when:literal;)+) => {
        pub(super) const ROWS: &[Row] = &[$(
            Row {
                name: concat!("dies_at_", stringify!($name)),
                what: "the host, by itself",
                when: $when,
                then: "the turn is finished, everything happened once",
                real: true,
                story: |scene| dies_at(scene, $point, Death::Kill).boxed(),
            },
        )+];
    };
}

at! {
    log_torn: "log-torn:8", "in the middle of appending to the log";
    log_appended: "handed-appended", "when a record is in the log and not yet on the disk";
    accepted: "accepted-kept", "when a message is on the disk and not yet acknowledged";
    intended: "intended-kept", "when a run is intended and nothing is made";
    folder_made: "folder-made", "when the folder of a run is made and no shim started";
    shim_started: "shim-started", "when the shim is started and nobody waits for it";
    started: "started-kept", "when the process is there and nobody listens";
    handed: "handed-kept", "when a message is to be written to the CLI";
    line_written: "line-written:2", "when a message is written to the CLI";
    shown: "shown-kept", "when a prompt is in the log and nobody was told";
    answered: "decided-kept", "when an answer is on the disk and not yet written to the CLI";
    read: "read-kept:6", "when a line is in the log and nobody was told";
}

/// The kinds of records that a turn with a tool makes.
const KINDS: [&str; 9] = [
    "set",
    "accepted",
    "intended",
    "started",
    "requested",
    "handed",
    "read",
    "shown",
    "decided",
];

/// Every place at which a host can be made to die in a turn with a tool, some of them several times.
pub fn places() -> Vec<String> {
    let steps = ["appended", "kept", "published"];
    let records = KINDS
        .iter()
        .flat_map(|kind| steps.map(|step| format!("{kind}-{step}")));
    let others = [
        "folder-made",
        "shim-started",
        "line-unwritten",
        "line-written",
    ];
    let again = [
        "line-unwritten:2",
        "line-unwritten:3",
        "line-written:3",
        "read-appended:4",
    ];
    records
        .chain(others.into_iter().chain(again).map(str::to_owned))
        .collect()
}

/// How a host dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Death {
    /// It is killed; the system keeps what it wrote.
    Kill,
    /// The power is cut: what its logs had not brought to the disk is gone.
    PowerCut,
}

/// Plays the turn over the death of a host at a place; false if it is never reached.
pub async fn dies_at_place(agent: &Agent, place: &str, death: Death) -> anyhow::Result<bool> {
    let mut scene = Scene::new(agent).await?;
    let played = match dies_at(&mut scene, place, death).await {
        Err(error) if error.is::<NotReached>() => return Ok(false),
        other => other,
    };
    let settled = match played {
        Ok(()) => scene.settle().await,
        Err(error) => Err(error),
    };
    if settled.is_err() {
        scene.keep_evidence(&format!("at-{}", place.replace(':', "-")));
    }
    settled
        .map(|_| true)
        .with_context(|| format!("dying at {place}"))
}

/// The turn was over before the place was reached.
#[derive(Debug, thiserror::Error)]
#[error("the failpoint was not reached")]
struct NotReached;

/// A turn with a tool, over the death of the host at one place.
async fn dies_at(scene: &mut Scene, point: &str, death: Death) -> anyhow::Result<()> {
    const LAST: &str = "it happened once";
    let act = match death {
        Death::Kill => "kill",
        Death::PowerCut => "lose",
    };
    let options = HostOptions {
        failpoint: Some(format!("{point}:{act}")),
        ..HostOptions::default()
    };
    scene.open_with(&options).await?;
    let script = Script::new()
        .tool("Bash", json!({"command": "echo once > once.txt"}))
        .say(LAST);
    let id = scene.id.clone();
    let message = scene.anna.message(&id, &script.prompt())?;
    scene.anna.send(message.clone()).await?;
    scene.has_begun();
    let host = scene.rig.host()?;
    let allowing = async {
        allow_until(&mut scene.ben, &id, LAST, 0).await?;
        // The last records of a turn come after its last words.
        tokio::time::sleep(AFTERWARDS).await;
        Err(NotReached.into())
    };
    // It may die before the prompt comes, or only when it is answered.
    let status = tokio::select! {
        status = host.await_death() => status?,
        failed = allowing => return failed,
    };
    ensure!(!status.success(), "the host ended in good order");
    scene.rig.start_host().await?;
    // What was acknowledged is never said again, so nobody else would bring back what was lost.
    let was_acknowledged = scene.anna.has(|got| match got {
        HostToPylon::RequestResult(result) => result.request_id == message.request_id,
        _ => false,
    });
    scene.anna.connect().await?;
    if death == Death::Kill || !was_acknowledged {
        scene.deliver_again(&message).await?;
    }
    let from = scene.ben.len();
    scene.reconnect().await?;
    allow_until(&mut scene.ben, &id, LAST, from).await?;
    scene.is_said(LAST).await
}

/// Allows every call that is asked about from a place of the recording on, until this is said.
async fn allow_until(
    ben: &mut Viewer,
    id: &ConversationId,
    last: &str,
    from: usize,
) -> anyhow::Result<()> {
    let is_last = |message: &HostToPylon| match message {
        HostToPylon::Event(event) => match &event.event {
            ClaudeEvent::TextComplete(whole) => whole.text == last,
            _ => false,
        },
        _ => false,
    };
    let mut done = BTreeSet::new();
    while !ben.has(is_last) {
        let asked = ben
            .wait_from(from, "a prompt or the end", |message| match message {
                HostToPylon::PermissionRequest(asked) if !done.contains(&asked.tool_use_id) => {
                    Some(Some(asked.tool_use_id.clone()))
                }
                other => is_last(other).then_some(None),
            })
            .await?;
        let Some(call) = asked else { return Ok(()) };
        // From here on the conversation is there to be watched.
        if from == 0 && done.is_empty() && ben.subscribe(id).await.is_err() {
            std::future::pending::<()>().await;
        }
        // A host that dies takes the connection with it; the next one asks again.
        if ben
            .send_answer(id, &call, PermissionDecision::Allow)
            .await
            .is_err()
        {
            std::future::pending::<()>().await;
        }
        done.insert(call);
    }
    Ok(())
}
