//! The host dies at named places of its code while it does what a person asked for: ending a process, forgetting a
//! session, clearing, deleting and copying a conversation, putting old runs away, calling a client's tool.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function waits for a few kinds and passes over the others"
)]

use std::collections::BTreeSet;

use anyhow::{Context as _, ensure};
use estelle_proto::decisions::PermissionDecision;
use estelle_proto::events::ClaudeEvent;
use estelle_proto::ipc::{
    ClaimCall, ClearSession, DeleteSession, ForkSession, HostToPylon, NewSession, PylonToHost,
    StopSession, ToolDefinition, ToolResult, ToolServer,
};
use estelle_proto::{ClientId, ConversationId, Json, Name, Seq, ToolUseId};
use estelle_sim::script::Script;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::json;

use super::{Row, Scene};
use crate::rig::{Agent, Going, HostOptions, Viewer, is_gone};

/// Something that is asked of a host, and where it may die meanwhile.
#[derive(Clone, Copy)]
pub struct Operation {
    /// Its name, for tests.
    pub name: &'static str,
    /// The places, each of which must be reached.
    pub places: &'static [&'static str],
    story: for<'a> fn(&'a mut Scene, &'a str) -> BoxFuture<'a, anyhow::Result<()>>,
}

impl std::fmt::Debug for Operation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Operation")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// All operations.
pub const OPERATIONS: &[Operation] = &[
    Operation {
        name: "ending",
        places: &[
            "stopping-appended",
            "stopping-kept",
            "stopping-published",
            "ended-appended",
            "ended-kept",
            "ended-published",
        ],
        story: |scene, place| ending(scene, place).boxed(),
    },
    Operation {
        name: "forgetting",
        places: &[
            "forgotten-appended",
            "forgotten-kept",
            "forgotten-published",
        ],
        story: |scene, place| forgetting(scene, place).boxed(),
    },
    Operation {
        name: "clearing",
        places: &["clear-begun", "clear-done"],
        story: |scene, place| clearing(scene, place).boxed(),
    },
    Operation {
        name: "deleting",
        places: &["conversation-aside"],
        story: |scene, place| deleting(scene, place).boxed(),
    },
    Operation {
        name: "copying",
        places: &["fork-session-copied", "fork-drafted", "fork-placed"],
        story: |scene, place| copying(scene, place).boxed(),
    },
    Operation {
        name: "retiring",
        places: &["run-aside"],
        story: |scene, place| retiring(scene, place).boxed(),
    },
    Operation {
        name: "calling",
        places: &[
            "called-appended",
            "called-kept",
            "called-published",
            "called-kept:3",
            "called-appended:4",
            "called-kept:4",
            "called-published:4",
            "called-appended:5",
            "called-kept:5",
            "called-published:5",
            "call-answered",
        ],
        story: |scene, place| calling(scene, place).boxed(),
    },
];

macro_rules! at {
    ($($name:ident: $operation:ident, $point:literal, $when:literal, $then:literal;)+) => {
        pub(super) const ROWS: &[Row] = &[$(
            Row {
                name: concat!("dies_at_", stringify!($name)),
                what: "the host, by itself",
                when: $when,
                then: $then,
                real: false,
                story: |scene| $operation(scene, $point).boxed(),
            },
        )+];
    };
}

at! {
    stopping: ending, "stopping-kept", "when a process is to be ended and was not told yet",
        "it is ended and stays so; the next message takes the session up again";
    ended: ending, "ended-kept", "when a process has ended and nobody was told",
        "the end is told; the next message takes the session up again";
    forgotten: forgetting, "forgotten-kept", "when a session is forgotten and nobody was told",
        "it stays forgotten; the next message begins a new one";
    cleared: clearing, "clear-begun", "when a conversation has its new log and its old runs are still there",
        "it is cleared, and asking again does no harm";
    deleted: deleting, "conversation-aside", "when a conversation is out of sight and not yet removed",
        "nothing of it is left";
    copied: copying, "fork-drafted", "when the copy of a conversation is written and has no name",
        "asking again makes it, once";
    retired: retiring, "run-aside", "when the folder of an old run is put away",
        "the last three are kept, the others are gone";
    called: calling, "call-answered", "when a client has answered a call and the CLI was not told",
        "the call counts once, with the first answer";
}

impl Operation {
    /// Plays it over the death of a host at each of its places.
    pub async fn play(&self, agent: &Agent) -> anyhow::Result<()> {
        for place in self.places {
            let mut scene = Scene::new(agent).await?;
            let settled = match (self.story)(&mut scene, place).await {
                Ok(()) => scene.settle().await.map(drop),
                Err(error) => Err(error),
            };
            if settled.is_err() {
                scene.keep_evidence(&format!("at-{}", place.replace(':', "-")));
            }
            settled.with_context(|| format!("dying at {place}"))?;
        }
        Ok(())
    }
}

/// A host that dies at a place, and a conversation in which something was said.
async fn begin(scene: &mut Scene, place: &str) -> anyhow::Result<()> {
    let options = HostOptions {
        failpoint: Some(format!("{place}:kill")),
        ..HostOptions::default()
    };
    scene.open_with(&options).await?;
    say(scene, "before").await
}

async fn say(scene: &mut Scene, text: &str) -> anyhow::Result<()> {
    scene.say(&Script::new().say(text).prompt()).await?;
    scene.is_said(text).await
}

/// Asks for something of which the host dies, and is back with another one.
async fn dies_of(scene: &mut Scene, command: impl Into<PylonToHost>) -> anyhow::Result<()> {
    scene.anna.send(command).await?;
    dies(scene).await?;
    scene.come_back().await
}

async fn dies(scene: &mut Scene) -> anyhow::Result<()> {
    let status = scene.rig.host()?.await_death().await?;
    ensure!(!status.success(), "the host ended in good order");
    Ok(())
}

fn stop(id: &ConversationId) -> StopSession {
    StopSession {
        end_process: Some(true),
        ..StopSession::new(id.clone())
    }
}

async fn ending(scene: &mut Scene, place: &str) -> anyhow::Result<()> {
    begin(scene, place).await?;
    let id = scene.id.clone();
    let run = scene.rig.run(&id).await?;
    dies_of(scene, stop(&id)).await?;
    scene.anna.done(stop(&id)).await?;
    ensure!(is_gone(run.pid), "the process is still there");
    say(scene, "after").await
}

async fn forgetting(scene: &mut Scene, place: &str) -> anyhow::Result<()> {
    begin(scene, place).await?;
    let id = scene.id.clone();
    scene.anna.done(stop(&id)).await?;
    dies_of(scene, NewSession::new(id.clone())).await?;
    scene.anna.done(NewSession::new(id.clone())).await?;
    say(scene, "after").await?;
    let launch = scene.rig.data().join("conversations").join(id.as_str());
    let launch = std::fs::read_to_string(launch.join("runs/2/launch.json"))?;
    ensure!(!launch.contains("resume"), "the session was taken up again");
    Ok(())
}

async fn clearing(scene: &mut Scene, place: &str) -> anyhow::Result<()> {
    begin(scene, place).await?;
    let id = scene.id.clone();
    scene.anna.done(stop(&id)).await?;
    scene.rig.keep_log(&id, Going::Over)?;
    dies_of(scene, ClearSession::new(id.clone())).await?;
    let log = std::fs::read_to_string(scene.rig.log(&id))?;
    ensure!(!log.contains("before"), "what was cleared is there again");
    scene.rig.keep_log(&id, Going::Over)?;
    scene.anna.done(ClearSession::new(id.clone())).await?;
    say(scene, "after").await
}

async fn deleting(scene: &mut Scene, place: &str) -> anyhow::Result<()> {
    begin(scene, place).await?;
    let id = scene.id.clone();
    scene.anna.done(stop(&id)).await?;
    scene.rig.keep_log(&id, Going::Over)?;
    scene.anna.send(DeleteSession::new(id.clone())).await?;
    dies(scene).await?;
    scene.forget(&id);
    scene.come_back().await?;
    let folder = scene.rig.data().join("conversations").join(id.as_str());
    ensure!(!folder.exists(), "the conversation is there again");
    ensure!(
        !scene.rig.data().join("deleted").exists(),
        "what was deleted takes up room"
    );
    Ok(())
}

/// The number of the last message that a person wrote.
fn last_message(scene: &Scene) -> anyhow::Result<Seq> {
    let mut last = None;
    scene.ben.each(|message| {
        if let HostToPylon::Event(event) = message
            && event.session_id == scene.id
            && matches!(event.event, ClaudeEvent::UserMessage(_))
        {
            last = event.seq;
        }
    });
    last.context("nobody wrote anything")
}

async fn copying(scene: &mut Scene, place: &str) -> anyhow::Result<()> {
    begin(scene, place).await?;
    say(scene, "left out of the copy").await?;
    let seq = last_message(scene)?;
    let copy = scene.another()?;
    let fork = ForkSession::new(scene.id.clone(), copy.clone(), seq);
    dies_of(scene, fork.clone()).await?;
    scene.anna.done(fork.clone()).await?;
    scene.anna.done(fork).await?;
    scene
        .say_in(&copy, &Script::new().say("in the copy").prompt())
        .await?;
    scene.is_said_in(&copy, "in the copy").await?;
    let log = std::fs::read_to_string(scene.rig.log(&copy))?;
    ensure!(log.contains("before"), "what was said before is missing");
    ensure!(!log.contains("left out"), "too much was copied");
    Ok(())
}

async fn retiring(scene: &mut Scene, place: &str) -> anyhow::Result<()> {
    begin(scene, place).await?;
    let id = scene.id.clone();
    for text in ["two", "three", "four"] {
        scene.anna.done(stop(&id)).await?;
        say(scene, text).await?;
    }
    dies_of(scene, stop(&id)).await?;
    scene.anna.done(stop(&id)).await?;
    say(scene, "after").await?;
    let runs = scene.rig.data().join("conversations").join(id.as_str());
    let runs: BTreeSet<_> = std::fs::read_dir(runs.join("runs"))?
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    let expected = ["2", "3", "4", "5"].map(str::to_owned);
    ensure!(runs == BTreeSet::from(expected), "the runs are {runs:?}");
    Ok(())
}

async fn calling(scene: &mut Scene, place: &str) -> anyhow::Result<()> {
    const LAST: &str = "it is noted";
    let options = HostOptions {
        failpoint: Some(format!("{place}:kill")),
        ..HostOptions::default()
    };
    scene.open_with(&options).await?;
    let script = Script::new()
        .tool("mcp__desk__note", json!({"text": "remember"}))
        .say(LAST);
    let id = scene.id.clone();
    let mut message = scene.anna.message(&id, &script.prompt())?;
    let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}});
    let tool = ToolDefinition::new(
        Name::parse("note")?,
        "Takes a note.".to_owned(),
        Json::of(&schema)?,
    );
    let server = ToolServer::new(Name::parse("desk")?, vec![tool]);
    message.payload.tool_server = Some(Box::new(server));
    scene.anna.send(message.clone()).await?;
    scene.has_begun();
    let mut claimed = BTreeSet::new();
    let host = scene.rig.host()?;
    tokio::select! {
        status = host.await_death() => ensure!(!status?.success(), "the host ended in good order"),
        said = serve_until(&mut scene.ben, &id, LAST, 0, &mut claimed) => {
            said?;
            anyhow::bail!("the place was not reached");
        }
    }
    scene.rig.start_host().await?;
    scene.anna.connect().await?;
    scene.deliver_again(&message).await?;
    let from = scene.ben.len();
    scene.reconnect().await?;
    // Who has claimed a call and does not know what came of it says that it still has it.
    for call in claimed.clone() {
        carry_out(&mut scene.ben, &id, call).await?;
    }
    serve_until(&mut scene.ben, &id, LAST, from, &mut claimed).await?;
    scene.is_said(LAST).await
}

/// Allows and carries out every call from a place of the recording on, until this is said.
async fn serve_until(
    ben: &mut Viewer,
    id: &ConversationId,
    last: &str,
    from: usize,
    claimed: &mut BTreeSet<ToolUseId>,
) -> anyhow::Result<()> {
    let mut done = BTreeSet::new();
    let mut watches = from > 0;
    loop {
        let next = ben.wait_from(from, "a call or the end", |message| match message {
            HostToPylon::PermissionRequest(asked) if !done.contains(&asked.tool_use_id) => {
                Some(Next::Allow(asked.tool_use_id.clone()))
            }
            HostToPylon::ToolCall(call) if !done.contains(&call.call_id) => {
                Some(Next::Do(call.call_id.clone()))
            }
            HostToPylon::Event(event) => match &event.event {
                ClaudeEvent::TextComplete(whole) if whole.text == last => Some(Next::End),
                _ => None,
            },
            _ => None,
        });
        let sent = match next.await? {
            Next::End => return Ok(()),
            Next::Allow(call) => {
                if !watches && ben.subscribe(id).await.is_err() {
                    std::future::pending::<()>().await;
                }
                watches = true;
                done.insert(call.clone());
                let sent = ben.send_answer(id, &call, PermissionDecision::Allow).await;
                sent.map(drop)
            }
            Next::Do(call) => {
                done.insert(call.clone());
                claimed.insert(call.clone());
                carry_out(ben, id, call).await
            }
        };
        // A host that dies takes the connection with it; the next one asks again.
        if sent.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Carries a call out if it is granted; it is not if it is answered already.
async fn carry_out(ben: &mut Viewer, id: &ConversationId, call: ToolUseId) -> anyhow::Result<()> {
    let client = ClientId::parse("ben")?;
    let claim = ClaimCall::new(id.clone(), call.clone(), client.clone());
    if !ben.ask(claim).await?.success {
        return Ok(());
    }
    let result = ToolResult {
        client: Some(client),
        result: Some("noted".to_owned()),
        ..ToolResult::new(id.clone(), call)
    };
    ben.send(result).await
}

enum Next {
    Allow(ToolUseId),
    Do(ToolUseId),
    End,
}
