//! Clients that go away or do not read, and two people who answer at once.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function waits for a few kinds and passes over the others"
)]

use anyhow::ensure;
use estelle_proto::decisions::PermissionDecision;
use estelle_proto::events::ClaudeEvent;
use estelle_proto::ipc::HostToPylon;
use estelle_sim::script::{Answer as Say, Script};
use futures_util::FutureExt as _;
use serde_json::json;

use super::{Row, Scene};
use crate::rig::Reads;

pub(super) const ROWS: &[Row] = &[
    Row {
        name: "client_cut_off",
        what: "a client",
        when: "while the agent writes a text",
        then: "it comes back with its cursor and misses nothing",
        real: true,
        story: |scene| cut_off(scene).boxed(),
    },
    Row {
        name: "client_does_not_read",
        what: "nothing: a client does not read",
        when: "while tools give more than is kept for it",
        then: "it is cut off with its cursor, nobody else waits, and it comes back without a gap",
        real: false,
        story: |scene| does_not_read(scene).boxed(),
    },
    Row {
        name: "two_answers_at_once",
        what: "nothing: two people answer",
        when: "at the same time, allow and deny, ten times",
        then: "exactly one of them counts each time",
        real: true,
        story: |scene| two_answers(scene).boxed(),
    },
    Row {
        name: "two_first_messages_at_once",
        what: "nothing: two people write",
        when: "the first message of a conversation, at the same time, five times",
        then: "both are answered, none is lost",
        real: true,
        story: |scene| two_first_messages(scene).boxed(),
    },
];

async fn cut_off(scene: &mut Scene) -> anyhow::Result<()> {
    scene.open().await?;
    let text = "one of those who read this goes away and comes back";
    let say = Say {
        say: Some(text.to_owned()),
        chunks: Some(12),
        ..Say::default()
    };
    let script = Script::new().answer(say).gated_at("reader", 4);
    scene.say(&script.prompt()).await?;
    scene.text_flows().await?;
    scene.ben.disconnect().await;
    scene.rig.open_gate("reader")?;
    scene.reconnect().await?;
    scene.is_said(text).await
}

/// How often a file of this size is read: more than the host keeps for a client that does not read.
const TOO_MUCH: (u32, usize) = (20, 1024 * 1024);

async fn does_not_read(scene: &mut Scene) -> anyhow::Result<()> {
    scene.open().await?;
    scene
        .say(&Script::new().say("all read this").prompt())
        .await?;
    scene.is_said("all read this").await?;
    scene.ben.reads(Reads::Off);
    let (times, length) = TOO_MUCH;
    let file = scene.rig.work(&scene.id).join("long.txt");
    std::fs::write(&file, "x".repeat(length))?;
    let mut script = Script::new();
    for _ in 0..times {
        script = script.tool("Read", json!({"file_path": &file}));
    }
    scene.say(&script.say("nobody waited").prompt()).await?;
    let id = scene.id.clone();
    let is_last = |event: &ClaudeEvent| match event {
        ClaudeEvent::TextComplete(whole) if whole.text == "nobody waited" => Some(()),
        _ => None,
    };
    scene.anna.event(&id, "the end", is_last).await?;
    scene.ben.reads(Reads::On);
    scene.ben.lost().await?;
    let is_cut = |message: &HostToPylon| matches!(message, HostToPylon::CutOff(_));
    ensure!(scene.ben.has(is_cut), "nobody told it why");
    scene.reconnect().await?;
    scene.is_said("nobody waited").await
}

async fn two_answers(scene: &mut Scene) -> anyhow::Result<()> {
    scene.open().await?;
    let mut script = Script::new();
    for number in 0..10 {
        script = script.tool(
            "Bash",
            json!({"command": format!("echo x > race-{number}")}),
        );
    }
    scene.say(&script.say("ten races").prompt()).await?;
    let id = scene.id.clone();
    let mut calls = Vec::new();
    for _ in 0..10 {
        let before: Vec<_> = calls.iter().collect();
        let call = scene.is_asked(&before).await?;
        let yes = scene
            .anna
            .send_answer(&id, &call, PermissionDecision::Allow)
            .await?;
        let no = scene
            .ben
            .send_answer(&id, &call, PermissionDecision::Deny)
            .await?;
        let yes = scene.anna.result(&yes).await?;
        let no = scene.ben.result(&no).await?;
        ensure!(yes.success != no.success, "{call}: {yes:?} and {no:?}");
        calls.push(call);
    }
    scene.is_said("ten races").await
}

async fn two_first_messages(scene: &mut Scene) -> anyhow::Result<()> {
    scene.open().await?;
    for round in 0..5 {
        let id = match round {
            0 => scene.id.clone(),
            _ => scene.another()?,
        };
        let texts = [
            format!("anna is answered {round}"),
            format!("ben is answered {round}"),
        ];
        let prompt = |text: &String| Script::new().say(text.clone()).prompt();
        let anna = scene.anna.message(&id, &prompt(&texts[0]))?;
        let ben = scene.ben.message(&id, &prompt(&texts[1]))?;
        tokio::try_join!(scene.anna.deliver(anna), scene.ben.deliver(ben))?;
        scene.watch(&id).await?;
        for text in &texts {
            scene.is_told_in(&id, text).await?;
        }
    }
    Ok(())
}
