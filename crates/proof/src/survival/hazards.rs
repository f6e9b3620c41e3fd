//! What the CLI itself is known for: it forgets unread input when it dies, breaks off the next turn when told twice, and
//! begins what waits in it when a turn is broken off.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function waits for a few kinds and passes over the others"
)]

use anyhow::ensure;
use estelle_proto::OnBusy;
use estelle_proto::events::ClaudeEvent;
use estelle_proto::ipc::{HostToPylon, StopSession};
use estelle_sim::script::{Answer as Say, Script};
use futures_util::FutureExt as _;

use super::{Row, Scene};
use crate::rig::{HostOptions, is_gone};

pub(super) const ROWS: &[Row] = &[
    Row {
        name: "cli_killed_with_input_unread",
        what: "the CLI",
        when: "when a message is in its pipe and it has not read it",
        then: "the message waits; the next process is given it, once",
        real: true,
        story: |scene| input_unread(scene).boxed(),
    },
    Row {
        name: "dies_at_interrupt_unwritten",
        what: "the host, by itself",
        when: "when a person stopped a turn and the CLI is about to be told",
        then: "the turn ends, and no later one is broken off",
        real: true,
        story: |scene| dies_interrupting(scene, "line-unwritten:3").boxed(),
    },
    Row {
        name: "dies_at_interrupt_written",
        what: "the host, by itself",
        when: "when a person stopped a turn and the CLI has just been told",
        then: "it is told once: no later turn is broken off",
        real: true,
        story: |scene| dies_interrupting(scene, "line-written:3").boxed(),
    },
    Row {
        name: "stopped_with_messages_waiting",
        what: "nothing: a person stops a turn",
        when: "while two more messages wait in the CLI",
        then: "neither of them begins; the next message works",
        real: true,
        story: |scene| messages_waiting(scene).boxed(),
    },
    Row {
        name: "cli_does_not_obey",
        what: "nothing: the CLI does nothing at all (SIGSTOP)",
        when: "in the middle of a turn",
        then: "a person can stop it; it is ended by force, and the next message works",
        real: true,
        story: |scene| does_not_obey(scene).boxed(),
    },
];

/// A text in pieces that waits at a gate.
fn gated(text: &str, gate: &str) -> String {
    let say = Say {
        say: Some(text.to_owned()),
        chunks: Some(8),
        ..Say::default()
    };
    Script::new().answer(say).gated_at(gate, 3).prompt()
}

async fn says(scene: &mut Scene, text: &str) -> anyhow::Result<()> {
    scene.say(&Script::new().say(text).prompt()).await?;
    scene.is_said(text).await
}

/// Waits until Ben is told that the turn was broken off.
async fn is_aborted(scene: &mut Scene) -> anyhow::Result<()> {
    let id = scene.id.clone();
    let is_abort = |event: &ClaudeEvent| matches!(event, ClaudeEvent::Aborted(_)).then_some(());
    scene.ben.event(&id, "the abort", is_abort).await
}

async fn input_unread(scene: &mut Scene) -> anyhow::Result<()> {
    scene.open().await?;
    says(scene, "a first turn").await?;
    let run = scene.rig.run(&scene.id).await?;
    scene.rig.hold(run.pid)?;
    let text = "the next process says this";
    scene.say(&Script::new().say(text).prompt()).await?;
    scene.rig.log_counts(&scene.id, "handed", 2).await?;
    scene.rig.kill(run.pid)?;
    let id = scene.id.clone();
    let is_error = |event: &ClaudeEvent| matches!(event, ClaudeEvent::Error(_)).then_some(());
    scene
        .ben
        .event(&id, "the end of the process", is_error)
        .await?;
    ensure!(is_gone(run.pid), "the first process is still there");
    // Nobody restarts a process that died; whoever writes next takes the message along.
    let next = "and this as well";
    scene.say(&Script::new().say(next).prompt()).await?;
    scene.is_told_in(&id, text).await?;
    scene.is_told_in(&id, next).await
}

async fn dies_interrupting(scene: &mut Scene, place: &str) -> anyhow::Result<()> {
    let options = HostOptions {
        failpoint: Some(format!("{place}:kill")),
        ..HostOptions::default()
    };
    scene.open_with(&options).await?;
    scene
        .say(&gated("broken off in the middle", "never"))
        .await?;
    scene.text_flows().await?;
    scene.anna.send(StopSession::new(scene.id.clone())).await?;
    scene.rig.host()?.await_death().await?;
    scene.come_back().await?;
    is_aborted(scene).await?;
    says(scene, "the next turn is whole").await?;
    says(scene, "and the one after it").await
}

async fn messages_waiting(scene: &mut Scene) -> anyhow::Result<()> {
    scene.open().await?;
    scene
        .say(&gated("broken off in the middle", "never"))
        .await?;
    scene.text_flows().await?;
    let id = scene.id.clone();
    let waiting = ["the first that waits", "the second that waits"];
    for text in waiting {
        let mut message = scene.anna.message(&id, &Script::new().say(text).prompt())?;
        message.payload.on_busy = Some(OnBusy::Inject);
        scene.anna.deliver(message).await?;
    }
    scene.rig.log_counts(&id, "handed", 3).await?;
    scene.anna.send(StopSession::new(id)).await?;
    is_aborted(scene).await?;
    says(scene, "after the stop").await?;
    let began = |message: &HostToPylon| match message {
        HostToPylon::Event(event) => match &event.event {
            ClaudeEvent::TextComplete(whole) => waiting.contains(&whole.text.as_str()),
            _ => false,
        },
        _ => false,
    };
    ensure!(!scene.ben.has(began), "a message that waited was begun");
    Ok(())
}

async fn does_not_obey(scene: &mut Scene) -> anyhow::Result<()> {
    scene.open().await?;
    scene.say(&gated("never finished", "never")).await?;
    scene.text_flows().await?;
    let run = scene.rig.run(&scene.id).await?;
    scene.rig.hold(run.pid)?;
    scene.anna.send(StopSession::new(scene.id.clone())).await?;
    is_aborted(scene).await?;
    says(scene, "a process that obeys").await?;
    ensure!(is_gone(run.pid), "the old process is still there");
    Ok(())
}
