//! What is ended on purpose: a conversation cleared or deleted, a host told to go, with its runs or without them.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function waits for a few kinds and passes over the others"
)]

use anyhow::{Context as _, ensure};
use estelle_proto::ConversationId;
use estelle_proto::events::ClaudeEvent;
use estelle_proto::ipc::{ClearSession, DeleteSession, HostToPylon};
use estelle_proto::runs::PauseReason;
use estelle_sim::script::{Answer as Say, Script};
use futures_util::FutureExt as _;
use rustix::process::Signal;

use super::{Row, Scene};
use crate::rig::{Going, HostOptions, is_gone};

pub(super) const ROWS: &[Row] = &[
    Row {
        name: "host_killed_during_clear",
        what: "the host",
        when: "while it clears a conversation, and again when it has",
        then: "the first clear can be asked for again; the second stays, and old cursors are void",
        real: true,
        story: |scene| during_clear(scene).boxed(),
    },
    Row {
        name: "host_killed_during_delete",
        what: "the host",
        when: "while it deletes a conversation, and again when it has",
        then: "the first deletion can be asked for again; after the second nothing is left",
        real: true,
        story: |scene| during_delete(scene).boxed(),
    },
    Row {
        name: "host_told_to_go",
        what: "the host (SIGTERM, then SIGINT)",
        when: "while the agent writes a text",
        then: "its runs live on, and the next host takes them up",
        real: true,
        story: |scene| told_to_go(scene).boxed(),
    },
    Row {
        name: "host_told_to_go_with_its_runs",
        what: "the host (SIGTERM, with `shutdown_stops_runs`)",
        when: "between two turns",
        then: "everybody is told, the runs are ended in good order and resumed by the next message",
        real: true,
        story: |scene| told_to_go_with_its_runs(scene).boxed(),
    },
    Row {
        name: "stop_all",
        what: "the host (`estelle host stop --all`)",
        when: "while one agent writes and another hangs",
        then: "everybody is told, nothing is left running, and both conversations go on afterwards",
        real: true,
        story: |scene| stop_all(scene).boxed(),
    },
];

/// The process of the conversation is held, so that ending it takes until it is killed; the host dies in between.
async fn dies_while_ending(scene: &mut Scene) -> anyhow::Result<u32> {
    let run = scene.rig.run(&scene.id).await?;
    scene.rig.hold(run.pid)?;
    scene.rig.log_says(&scene.id, "stopping").await?;
    scene.rig.kill_host()?;
    scene.come_back().await?;
    scene.rig.log_says(&scene.id, "ended").await?;
    ensure!(is_gone(run.pid), "the process is still there");
    Ok(run.pid)
}

async fn during_clear(scene: &mut Scene) -> anyhow::Result<()> {
    scene.open().await?;
    scene
        .say(&Script::new().say("to be cleared").prompt())
        .await?;
    scene.is_said("to be cleared").await?;
    let id = scene.id.clone();
    let run = scene.rig.run(&id).await?;
    scene.rig.hold(run.pid)?;
    scene.anna.send(ClearSession::new(id.clone())).await?;
    dies_while_ending(scene).await?;
    // Nobody was told that it was done, so it may be asked for again.
    scene.rig.keep_log(&id, Going::Over)?;
    scene.anna.done(ClearSession::new(id.clone())).await?;
    scene.rig.kill_host()?;
    scene.come_back().await?;
    ensure!(
        !has_text(scene, &id, "to be cleared").await?,
        "what was cleared is there again"
    );
    scene.say(&Script::new().say("a new page").prompt()).await?;
    scene.is_said("a new page").await
}

/// Whether the log holds a text.
async fn has_text(scene: &Scene, id: &ConversationId, text: &str) -> anyhow::Result<bool> {
    let log = tokio::fs::read(scene.rig.log(id))
        .await
        .context("read the log")?;
    Ok(String::from_utf8_lossy(&log).contains(text))
}

async fn during_delete(scene: &mut Scene) -> anyhow::Result<()> {
    scene.open().await?;
    scene
        .say(&Script::new().say("to be deleted").prompt())
        .await?;
    scene.is_said("to be deleted").await?;
    let id = scene.id.clone();
    let run = scene.rig.run(&id).await?;
    scene.rig.hold(run.pid)?;
    scene.anna.send(DeleteSession::new(id.clone())).await?;
    dies_while_ending(scene).await?;
    scene.rig.keep_log(&id, Going::Over)?;
    scene.anna.done(DeleteSession::new(id.clone())).await?;
    scene.forget(&id);
    scene.rig.kill_host()?;
    scene.come_back().await?;
    let folder = scene.rig.data().join("conversations").join(id.as_str());
    ensure!(!folder.exists(), "the conversation is there again");
    ensure!(
        !scene.rig.data().join("deleted").exists(),
        "what was deleted takes up room"
    );
    let other = scene.another()?;
    let prompt = Script::new().say("another one").prompt();
    scene.say_in(&other, &prompt).await?;
    scene.is_said_in(&other, "another one").await
}

/// A text in pieces that waits at a gate.
fn gated(text: &str, gate: &str) -> String {
    let say = Say {
        say: Some(text.to_owned()),
        chunks: Some(8),
        ..Say::default()
    };
    Script::new().answer(say).gated_at(gate, 3).prompt()
}

async fn told_to_go(scene: &mut Scene) -> anyhow::Result<()> {
    scene.open().await?;
    for (number, signal) in [Signal::TERM, Signal::INT].into_iter().enumerate() {
        let text = format!("host {number} leaves in the middle of this");
        let gate = format!("leaves-{number}");
        scene.say(&gated(&text, &gate)).await?;
        scene.text_flows().await?;
        let before = scene.rig.run(&scene.id).await?;
        scene.rig.end_host(signal).await?;
        scene.rig.open_gate(&gate)?;
        scene.come_back().await?;
        scene.is_said(&text).await?;
        let after = scene.rig.run(&scene.id).await?;
        ensure!(before.pid == after.pid, "the run did not live on");
    }
    Ok(())
}

/// Waits until both were told that the host goes down with its runs.
async fn is_announced(scene: &mut Scene) -> anyhow::Result<()> {
    for viewer in [&mut scene.anna, &mut scene.ben] {
        let is_notice = |message: &HostToPylon| match message {
            HostToPylon::ServerShutdown(notice) => Some(notice.clone()),
            _ => None,
        };
        let notice = viewer.wait("the notice", is_notice).await?;
        ensure!(notice.reason == "SIGTERM", "{notice:?}");
    }
    Ok(())
}

/// Waits until both were told that a conversation was paused by the shutdown.
async fn is_paused(scene: &mut Scene, id: &ConversationId) -> anyhow::Result<()> {
    for viewer in [&mut scene.anna, &mut scene.ben] {
        let is_pause = |event: &ClaudeEvent| match event {
            ClaudeEvent::Paused(paused) => Some(paused.clone()),
            _ => None,
        };
        let paused = viewer.event(id, "the pause", is_pause).await?;
        let good = paused.reason == PauseReason::ServerShutdown && paused.can_resume;
        ensure!(good, "{paused:?}");
    }
    Ok(())
}

async fn told_to_go_with_its_runs(scene: &mut Scene) -> anyhow::Result<()> {
    let options = HostOptions {
        args: &["--shutdown-stops-runs"],
        ..HostOptions::default()
    };
    scene.open_with(&options).await?;
    scene
        .say(&Script::new().say("before the end").prompt())
        .await?;
    scene.is_said("before the end").await?;
    let run = scene.rig.run(&scene.id).await?;
    scene.rig.end_host(Signal::TERM).await?;
    ensure!(is_gone(run.pid), "the run did not end with the host");
    is_announced(scene).await?;
    let id = scene.id.clone();
    is_paused(scene, &id).await?;
    scene.come_back().await?;
    scene
        .say(&Script::new().say("after the end").prompt())
        .await?;
    scene.is_said("after the end").await?;
    let is_resumed = |event: &ClaudeEvent| match event {
        ClaudeEvent::Resumed(resumed) => Some(resumed.resumed_with_history),
        _ => None,
    };
    let with_history = scene.ben.event(&id, "the resumption", is_resumed).await?;
    ensure!(with_history, "what was said before is forgotten");
    Ok(())
}

async fn stop_all(scene: &mut Scene) -> anyhow::Result<()> {
    let options = HostOptions {
        args: &["--shutdown-grace-seconds", "1"],
        ..HostOptions::default()
    };
    scene.open_with(&options).await?;
    let other = scene.another()?;
    scene
        .say_in(&other, &Script::new().say("it will hang").prompt())
        .await?;
    scene.is_said_in(&other, "it will hang").await?;
    scene.say(&gated("this is cut short", "never")).await?;
    scene.text_flows().await?;
    let id = scene.id.clone();
    let runs = [scene.rig.run(&id).await?, scene.rig.run(&other).await?];
    // One that is held obeys no word and no SIGTERM.
    scene.rig.hold(runs[1].pid)?;
    let stop = scene.rig.command(&["host", "stop", "--all"]);
    let stop = tokio::process::Command::from(stop).output().await?;
    ensure!(stop.status.success(), "{stop:?}");
    scene.rig.host_ends().await?;
    for run in &runs {
        ensure!(is_gone(run.pid), "{} is still there", run.pid);
    }
    is_announced(scene).await?;
    for id in [&id, &other] {
        is_paused(scene, id).await?;
    }
    scene.come_back().await?;
    for (id, text) in [(&id, "one goes on"), (&other, "and so does the other")] {
        scene.say_in(id, &Script::new().say(text).prompt()).await?;
        scene.is_said_in(id, text).await?;
    }
    Ok(())
}
