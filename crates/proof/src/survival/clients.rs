//! Clients that go away, and two people who answer at once.

use anyhow::ensure;
use estelle_proto::decisions::PermissionDecision;
use estelle_sim::script::{Answer as Say, Script};
use futures_util::FutureExt as _;
use serde_json::json;

use super::{Row, Scene};

pub(super) const ROWS: &[Row] = &[
    Row {
        name: "client_cut_off",
        what: "a client",
        when: "while the agent writes a text",
        then: "it comes back with its cursor and misses nothing",
        real: false,
        story: |scene| cut_off(scene).boxed(),
    },
    Row {
        name: "two_answers_at_once",
        what: "nothing: two people answer",
        when: "at the same time, allow and deny, ten times",
        then: "exactly one of them counts each time",
        real: false,
        story: |scene| two_answers(scene).boxed(),
    },
    Row {
        name: "two_first_messages_at_once",
        what: "nothing: two people write",
        when: "the first message of a conversation, at the same time, five times",
        then: "both are answered, none is lost",
        real: false,
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
