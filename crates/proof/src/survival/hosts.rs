//! The host is killed with -9 at every moment of a turn.

use anyhow::ensure;
use estelle_proto::Answer;
use estelle_proto::ipc::{NewSession, QuestionResponse};
use estelle_sim::script::{Answer as Say, Script};
use futures_util::FutureExt as _;
use serde_json::json;

use super::{Row, Scene};
use crate::rig::is_gone;

pub(super) const ROWS: &[Row] = &[
    Row {
        name: "host_killed_mid_stream",
        what: "the host",
        when: "while the agent writes a text",
        then: "the agent wrote on meanwhile; nothing of the text is missing",
        real: true,
        story: |scene| mid_stream(scene).boxed(),
    },
    Row {
        name: "host_killed_mid_tool",
        what: "the host",
        when: "while a tool runs",
        then: "the tool ran once, its result is there",
        real: true,
        story: |scene| mid_tool(scene).boxed(),
    },
    Row {
        name: "host_killed_permission_pending",
        what: "the host",
        when: "while a permission is asked",
        then: "the prompt is still there and can be answered",
        real: true,
        story: |scene| permission_pending(scene).boxed(),
    },
    Row {
        name: "host_killed_question_pending",
        what: "the host",
        when: "while a question is asked",
        then: "the question is still there and can be answered",
        real: true,
        story: |scene| question_pending(scene).boxed(),
    },
    Row {
        name: "host_killed_answer_not_delivered",
        what: "the host",
        when: "when an answer is written and the CLI has not read it",
        then: "the CLI takes the answer once; the second copy has no effect",
        real: true,
        story: |scene| answer_not_delivered(scene).boxed(),
    },
    Row {
        name: "host_killed_during_start",
        what: "the host",
        when: "right after it acknowledged the first message",
        then: "the message runs once",
        real: true,
        story: |scene| during_start(scene).boxed(),
    },
    Row {
        name: "host_killed_during_stop",
        what: "the host",
        when: "while it ends a session",
        then: "the session is ended and stays so; the next message begins a new one",
        real: true,
        story: |scene| during_stop(scene).boxed(),
    },
    Row {
        name: "host_killed_twenty_conversations",
        what: "the host",
        when: "while 20 conversations write",
        then: "all 20 texts are whole",
        real: true,
        story: |scene| twenty(scene).boxed(),
    },
    Row {
        name: "host_killed_again_and_again",
        what: "the host",
        when: "ten times within one turn",
        then: "nothing is lost or doubled",
        real: true,
        story: |scene| again_and_again(scene).boxed(),
    },
    Row {
        name: "host_started_twice",
        what: "nothing",
        when: "a second host is started on the same data",
        then: "the second refuses, the first goes on",
        real: true,
        story: |scene| started_twice(scene).boxed(),
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

async fn mid_stream(scene: &mut Scene) -> anyhow::Result<()> {
    scene.open().await?;
    scene
        .say(&gated("the host dies in the middle of this text", "half"))
        .await?;
    scene.text_flows().await?;
    scene.rig.kill_host()?;
    scene.rig.open_gate("half")?;
    scene.come_back().await?;
    scene
        .is_said("the host dies in the middle of this text")
        .await?;
    scene
        .say(&Script::new().say("and it goes on").prompt())
        .await?;
    scene.is_said("and it goes on").await
}

/// A tool that takes its time, and leaves something behind.
fn slow_tool() -> Script {
    Script::new().tool(
        "Bash",
        json!({"command": "sleep 1; echo done > made-by-the-tool"}),
    )
}

async fn mid_tool(scene: &mut Scene) -> anyhow::Result<()> {
    scene.open().await?;
    scene
        .say(&slow_tool().say("the tool has run").prompt())
        .await?;
    let call = scene.is_asked(&[]).await?;
    scene.allow(&call).await?;
    scene.rig.kill_host()?;
    scene.come_back().await?;
    scene.is_said("the tool has run").await
}

fn writes(name: &str, last: &str) -> String {
    Script::new()
        .tool("Bash", json!({"command": format!("echo hello > {name}")}))
        .say(last)
        .prompt()
}

async fn permission_pending(scene: &mut Scene) -> anyhow::Result<()> {
    scene.open().await?;
    scene.say(&writes("a.txt", "it was allowed")).await?;
    let call = scene.is_asked(&[]).await?;
    scene.rig.kill_host()?;
    scene.come_back().await?;
    scene.allow(&call).await?;
    scene.is_said("it was allowed").await
}

async fn question_pending(scene: &mut Scene) -> anyhow::Result<()> {
    scene.open().await?;
    let input = json!({"questions": [{
        "question": "Which one?", "header": "One", "multiSelect": false,
        "options": [{"label": "this", "description": ""}, {"label": "that", "description": ""}],
    }]});
    let script = Script::new()
        .tool("AskUserQuestion", input)
        .say("that it is");
    scene.say(&script.prompt()).await?;
    let call = scene.is_asked(&[]).await?;
    scene.rig.kill_host()?;
    scene.come_back().await?;
    let answer: Answer = serde_json::from_value(json!({"Which one?": "that"}))?;
    let response = QuestionResponse::new(scene.id.clone(), call, answer);
    scene.ben.send(response).await?;
    scene.is_said("that it is").await
}

async fn answer_not_delivered(scene: &mut Scene) -> anyhow::Result<()> {
    scene.open().await?;
    scene.say(&writes("b.txt", "it arrived")).await?;
    let call = scene.is_asked(&[]).await?;
    let run = scene.rig.run(&scene.id).await?;
    scene.rig.hold(run.pid)?;
    scene.allow(&call).await?;
    scene.rig.kill_host()?;
    scene.come_back().await?;
    scene.rig.release(run.pid)?;
    scene.is_said("it arrived").await
}

async fn during_start(scene: &mut Scene) -> anyhow::Result<()> {
    scene.open().await?;
    let id = scene.id.clone();
    scene
        .anna
        .say(&id, &Script::new().say("it was started once").prompt())
        .await?;
    scene.rig.kill_host()?;
    scene.has_begun();
    scene.come_back().await?;
    scene.is_said("it was started once").await
}

async fn during_stop(scene: &mut Scene) -> anyhow::Result<()> {
    scene.open().await?;
    scene.say(&Script::new().say("before").prompt()).await?;
    scene.is_said("before").await?;
    let run = scene.rig.run(&scene.id).await?;
    // A process that is held cannot end by itself, so the host dies in the middle of ending it.
    scene.rig.hold(run.pid)?;
    scene.anna.send(NewSession::new(scene.id.clone())).await?;
    scene.rig.log_says(&scene.id, "stopping").await?;
    scene.rig.kill_host()?;
    scene.come_back().await?;
    scene.rig.log_says(&scene.id, "ended").await?;
    ensure!(
        is_gone(run.pid),
        "the process of the ended session is still there"
    );
    scene.say(&Script::new().say("after").prompt()).await?;
    scene.is_said("after").await
}

async fn twenty(scene: &mut Scene) -> anyhow::Result<()> {
    scene.open().await?;
    let mut all = vec![scene.id.clone()];
    for _ in 1..20 {
        all.push(scene.another()?);
    }
    for (number, id) in all.iter().enumerate() {
        let text = format!("conversation {number} says this in eight pieces");
        scene.say_in(id, &gated(&text, "all")).await?;
    }
    scene.text_flows().await?;
    scene.rig.kill_host()?;
    scene.rig.open_gate("all")?;
    scene.come_back().await?;
    for (number, id) in all.iter().enumerate() {
        let text = format!("conversation {number} says this in eight pieces");
        scene.is_said_in(id, &text).await?;
    }
    Ok(())
}

async fn again_and_again(scene: &mut Scene) -> anyhow::Result<()> {
    scene.open().await?;
    let text = "ten hosts die while this is being said";
    let say = Say {
        say: Some(text.to_owned()),
        chunks: Some(30),
        delay_ms: 60,
        ..Say::default()
    };
    scene.say(&Script::new().answer(say).prompt()).await?;
    for _ in 0..10 {
        scene.rig.kill_host()?;
        scene.come_back().await?;
    }
    scene.is_said(text).await
}

async fn started_twice(scene: &mut Scene) -> anyhow::Result<()> {
    scene.open().await?;
    scene
        .say(&gated("one host is enough for this", "one"))
        .await?;
    scene.text_flows().await?;
    let mut second = scene.rig.spawn_host(&crate::rig::HostOptions::default())?;
    let status = second.await_death().await?;
    ensure!(!status.success(), "the second host did not refuse");
    scene.rig.open_gate("one")?;
    scene.is_said("one host is enough for this").await
}
