//! Processes that are held, hang or are killed: the host, the CLI, the shim.

use anyhow::ensure;
use estelle_proto::events::ClaudeEvent;
use estelle_proto::ipc::StopSession;
use estelle_sim::script::{Action, Answer as Say, Mischief, Script};
use futures_util::FutureExt as _;
use rustix::process::Signal;

use super::{Row, Scene};
use crate::rig::is_gone;

pub(super) const ROWS: &[Row] = &[
    Row {
        name: "host_held",
        what: "the host (SIGSTOP, SIGCONT)",
        when: "while the agent writes a text",
        then: "the agent wrote on; the host catches up",
        real: true,
        story: |scene| host_held(scene).boxed(),
    },
    Row {
        name: "cli_held",
        what: "the CLI (SIGSTOP, SIGCONT), then the host",
        when: "while the agent writes a text",
        then: "the turn goes on where it was held",
        real: true,
        story: |scene| cli_held(scene).boxed(),
    },
    Row {
        name: "shim_killed",
        what: "the shim, then the host",
        when: "while the agent writes a text",
        then: "the turn goes on; only the exit code will be unknown",
        real: true,
        story: |scene| shim_killed(scene).boxed(),
    },
    Row {
        name: "shim_held",
        what: "the shim (SIGSTOP, SIGCONT), then the host",
        when: "while the agent writes a text",
        then: "the turn goes on, and the next one works",
        real: true,
        story: |scene| shim_held(scene).boxed(),
    },
    Row {
        name: "shim_held_cli_killed",
        what: "the shim (SIGSTOP), then the CLI",
        when: "while the agent writes a text",
        then: "the end is said though nobody wrote it down; the next message takes the session up again",
        real: true,
        story: |scene| shim_held_cli_killed(scene).boxed(),
    },
    Row {
        name: "cli_killed",
        what: "the CLI",
        when: "while the agent writes a text",
        then: "the end is said; the next message takes the session up again",
        real: true,
        story: |scene| cli_killed(scene).boxed(),
    },
    Row {
        name: "cli_killed_while_host_away",
        what: "the host, then the CLI",
        when: "while a permission is asked",
        then: "the prompt is void and nothing runs; the next message works",
        real: true,
        story: |scene| cli_killed_while_host_away(scene).boxed(),
    },
    Row {
        name: "cli_hangs",
        what: "nothing: the CLI hangs",
        when: "in the middle of a turn",
        then: "a person can stop it, and the next message works",
        real: false,
        story: |scene| cli_hangs(scene).boxed(),
    },
];

fn gated(text: &str, gate: &str) -> String {
    let say = Say {
        say: Some(text.to_owned()),
        chunks: Some(8),
        ..Say::default()
    };
    Script::new().answer(say).gated_at(gate, 3).prompt()
}

async fn host_held(scene: &mut Scene) -> anyhow::Result<()> {
    scene.open().await?;
    scene
        .say(&gated("the host is held for a while", "held"))
        .await?;
    scene.text_flows().await?;
    scene.rig.host()?.signal(Signal::STOP)?;
    scene.rig.open_gate("held")?;
    // The CLI goes on alone: its journal grows to the end of the turn.
    scene
        .rig
        .journal_says(&scene.id, "\"type\":\"result\"")
        .await?;
    scene.rig.host()?.signal(Signal::CONT)?;
    scene.is_said("the host is held for a while").await
}

async fn cli_held(scene: &mut Scene) -> anyhow::Result<()> {
    scene.open().await?;
    scene
        .say(&gated("the agent is held for a while", "agent"))
        .await?;
    scene.text_flows().await?;
    let run = scene.rig.run(&scene.id).await?;
    scene.rig.hold(run.pid)?;
    scene.rig.open_gate("agent")?;
    scene.rig.kill_host()?;
    scene.come_back().await?;
    scene.rig.release(run.pid)?;
    scene.is_said("the agent is held for a while").await
}

async fn shim_killed(scene: &mut Scene) -> anyhow::Result<()> {
    scene.open().await?;
    scene
        .say(&gated("nobody needs the shim for this", "shim"))
        .await?;
    scene.text_flows().await?;
    let run = scene.rig.run(&scene.id).await?;
    scene.rig.kill(run.shim_pid)?;
    scene.rig.kill_host()?;
    scene.rig.open_gate("shim")?;
    scene.come_back().await?;
    scene.is_said("nobody needs the shim for this").await?;
    scene
        .say(&Script::new().say("nor for the next").prompt())
        .await?;
    scene.is_said("nor for the next").await
}

async fn shim_held(scene: &mut Scene) -> anyhow::Result<()> {
    scene.open().await?;
    scene
        .say(&gated("the shim is held for a while", "shim"))
        .await?;
    scene.text_flows().await?;
    let run = scene.rig.run(&scene.id).await?;
    scene.rig.hold(run.shim_pid)?;
    scene.rig.kill_host()?;
    scene.rig.open_gate("shim")?;
    scene.come_back().await?;
    scene.is_said("the shim is held for a while").await?;
    scene
        .say(&Script::new().say("and is not missed").prompt())
        .await?;
    scene.is_said("and is not missed").await?;
    scene.rig.release(run.shim_pid)
}

async fn cli_killed(scene: &mut Scene) -> anyhow::Result<()> {
    cli_killed_beside(scene, false).await
}

async fn shim_held_cli_killed(scene: &mut Scene) -> anyhow::Result<()> {
    cli_killed_beside(scene, true).await
}

/// The CLI is killed; its shim takes note of it, unless it is held.
async fn cli_killed_beside(scene: &mut Scene, is_shim_held: bool) -> anyhow::Result<()> {
    scene.open().await?;
    scene
        .say(&Script::new().say("a first turn").prompt())
        .await?;
    scene.is_said("a first turn").await?;
    scene
        .say(&gated("this is not finished at first", "unfinished"))
        .await?;
    scene.text_flows().await?;
    let run = scene.rig.run(&scene.id).await?;
    if is_shim_held {
        scene.rig.hold(run.shim_pid)?;
    }
    scene.rig.kill(run.pid)?;
    let id = scene.id.clone();
    let is_error = |event: &ClaudeEvent| matches!(event, ClaudeEvent::Error(_)).then_some(());
    scene
        .ben
        .event(&id, "the end of the process", is_error)
        .await?;
    // A CLI that had not saved the message is given it again with the next.
    scene.rig.open_gate("unfinished")?;
    scene
        .say(&Script::new().say("taken up again").prompt())
        .await?;
    scene.is_said("taken up again").await
}

async fn cli_killed_while_host_away(scene: &mut Scene) -> anyhow::Result<()> {
    scene.open().await?;
    let input = serde_json::json!({"command": "echo never > never.txt"});
    scene
        .say(&Script::new().tool("Bash", input).say("never said").prompt())
        .await?;
    let call = scene.is_asked(&[]).await?;
    let run = scene.rig.run(&scene.id).await?;
    scene.rig.kill_host()?;
    scene.rig.kill(run.pid)?;
    scene.come_back().await?;
    scene.rig.log_says(&scene.id, "ended").await?;
    ensure!(is_gone(run.pid), "the CLI is still there");
    let id = scene.id.clone();
    let allow = estelle_proto::decisions::PermissionDecision::Allow;
    let result = scene.ben.answer(&id, &call, allow).await?;
    ensure!(!result.success, "an answer to a void prompt was taken");
    scene
        .say(&Script::new().say("the next one works").prompt())
        .await?;
    scene.is_said("the next one works").await
}

async fn cli_hangs(scene: &mut Scene) -> anyhow::Result<()> {
    scene.open().await?;
    let script = Script::new()
        .answer(Say {
            say: Some("it begins".to_owned()),
            calls: vec![],
            ..Say::default()
        })
        .prompt();
    scene.say(&script).await?;
    scene.is_said("it begins").await?;
    let hang = Script::new().step(Action::Mischief(Mischief::Stall(None)));
    scene.say(&hang.prompt()).await?;
    scene.rig.log_says(&scene.id, "handed").await?;
    scene.rig.kill_host()?;
    scene.come_back().await?;
    scene.anna.send(StopSession::new(scene.id.clone())).await?;
    let id = scene.id.clone();
    let is_abort = |event: &ClaudeEvent| matches!(event, ClaudeEvent::Aborted(_)).then_some(());
    scene.ben.event(&id, "the abort", is_abort).await?;
    scene
        .say(&Script::new().say("after the hang").prompt())
        .await?;
    scene.is_said("after the hang").await
}
