//! The machine itself: a full or faulty disk, no more descriptors, a clock that jumps.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function waits for a few kinds and passes over the others"
)]

use anyhow::{Context as _, ensure};
use estelle_proto::ErrorCode;
use estelle_proto::events::ClaudeEvent;
use estelle_proto::ipc::{HostToPylon, ProcessStatus};
use estelle_sim::script::{Action, Answer as Say, Mischief, Script};
use futures_util::FutureExt as _;
use serde_json::json;

use super::{Row, Scene};
use crate::rig::{Going, HostOptions};

/// More than half of what is kept ready ahead of a journal.
const MOST_OF_THE_RESERVE: u64 = 5 * 1024 * 1024;

/// Large enough for a run and its reserves.
const SMALL: u64 = 64 * 1024 * 1024;

pub(super) const ROWS: &[Row] = &[
    Row {
        name: "disk_full",
        what: "nothing: the disk of the data folder is full",
        when: "while the agent writes a text",
        then: "the running turn ends well, new ones are refused with a reason until there is room",
        real: false,
        story: |scene| disk_full(scene).boxed(),
    },
    Row {
        name: "disk_full_for_a_while",
        what: "the host; the disk of the data folder is full",
        when: "while the agent writes a text",
        then: "the text is whole, and everything works again when there is room",
        real: true,
        story: |scene| disk_full_for_a_while(scene).boxed(),
    },
    Row {
        name: "no_descriptors_left",
        what: "nothing: the host may open no more files",
        when: "when many clients connect",
        then: "it serves those it has, and all again when some leave",
        real: true,
        story: |scene| no_descriptors(scene).boxed(),
    },
    Row {
        name: "log_damaged",
        what: "the host; a byte in the middle of its log is changed",
        when: "while the agent writes a text",
        then: "what is proven stays, the rest is read again, and everybody is told that old cursors are void",
        real: true,
        story: |scene| log_damaged(scene).boxed(),
    },
    Row {
        name: "log_shut_for_a_while",
        what: "the host; its log cannot be opened for a while",
        when: "while a permission is asked",
        then: "the conversation is listed with the reason; as soon as its log opens it goes on, with the process it has",
        real: true,
        story: |scene| log_shut(scene).boxed(),
    },
    Row {
        name: "clock_jumps",
        what: "the host; the clock jumps back by an hour, then on by ten years",
        when: "between the turns",
        then: "order and numbers do not depend on the clock",
        real: true,
        story: |scene| clock_jumps(scene).boxed(),
    },
];

async fn disk_full(scene: &mut Scene) -> anyhow::Result<()> {
    scene.use_small_disk(SMALL)?;
    scene.open().await?;
    let text = "the disk fills up while this is being said";
    let say = Say {
        say: Some(text.to_owned()),
        chunks: Some(8),
        ..Say::default()
    };
    scene
        .say(&Script::new().answer(say).gated_at("full", 3).prompt())
        .await?;
    scene.text_flows().await?;
    scene.rig.disk()?.fill()?;
    scene.rig.open_gate("full")?;
    scene.is_said(text).await?;
    // A turn that fits into the reserve is still taken; it uses most of it up.
    let long = Script::new().step(Action::Mischief(Mischief::Huge(MOST_OF_THE_RESERVE)));
    scene.say(&long.prompt()).await?;
    scene.is_said("[mischief done]").await?;
    let id = scene.id.clone();
    let refused = scene
        .anna
        .message(&id, &Script::new().say("no room").prompt())?;
    let request = refused.request_id.clone().context("a request id")?;
    scene.anna.send(refused).await?;
    let result = scene.anna.result(&request).await?;
    ensure!(
        result.error_code == Some(ErrorCode::DiskFull),
        "a message on a full disk: {result:?}"
    );
    // Room is made, and everything works again.
    scene.rig.disk()?.free()?;
    scene.say_until_taken("there is room again").await?;
    scene.is_said("there is room again").await
}

async fn disk_full_for_a_while(scene: &mut Scene) -> anyhow::Result<()> {
    scene.use_small_disk(SMALL)?;
    scene.open().await?;
    let text = "the disk is full while most of this is written, and nothing of it is lost";
    let say = Say {
        say: Some(text.to_owned()),
        chunks: Some(40),
        ..Say::default()
    };
    let script = Script::new().answer(say).gated_at("full", 3);
    scene.say(&script.prompt()).await?;
    scene.text_flows().await?;
    scene.rig.disk()?.fill()?;
    scene.rig.kill_host()?;
    scene.rig.open_gate("full")?;
    scene
        .rig
        .journal_says(&scene.id, "\"type\":\"result\"")
        .await?;
    scene.rig.disk()?.free()?;
    scene.come_back().await?;
    scene.is_said(text).await?;
    scene.say_until_taken("there is room again").await?;
    scene.is_said("there is room again").await
}

async fn no_descriptors(scene: &mut Scene) -> anyhow::Result<()> {
    let options = HostOptions {
        descriptors: Some(96),
        ..HostOptions::default()
    };
    scene.open_with(&options).await?;
    scene
        .say(&Script::new().say("before the crowd").prompt())
        .await?;
    scene.is_said("before the crowd").await?;
    let mut crowd = Vec::new();
    for _ in 0..200 {
        let connected = tokio::net::UnixStream::connect(scene.rig.data().join("host.sock")).await;
        crowd.push(connected);
    }
    scene
        .say(&Script::new().say("in the crowd").prompt())
        .await?;
    scene.is_said("in the crowd").await?;
    drop(crowd);
    scene.reconnect_when_there_is_room().await?;
    let id = scene.another()?;
    // The last of the crowd may not have gone yet.
    scene.say_until_taken_in(&id, "after the crowd").await?;
    scene.is_said_in(&id, "after the crowd").await
}

async fn log_damaged(scene: &mut Scene) -> anyhow::Result<()> {
    scene.open().await?;
    scene
        .say(&Script::new().say("before the damage").prompt())
        .await?;
    scene.is_said("before the damage").await?;
    let text = "told twice, because the first time is damaged";
    scene.say(&Script::new().say(text).prompt()).await?;
    scene.is_said(text).await?;
    let say = Say {
        say: Some("nothing of this is lost".to_owned()),
        chunks: Some(8),
        ..Say::default()
    };
    let script = Script::new().answer(say).gated_at("damage", 3);
    scene.say(&script.prompt()).await?;
    scene.text_flows().await?;
    scene.rig.kill_host()?;
    scene.rig.keep_log(&scene.id.clone(), Going::Damaged)?;
    let log = scene.rig.log(&scene.id);
    let mut bytes = std::fs::read(&log)?;
    let at = text_at(&bytes, text).context("the log has no such text")?;
    bytes[at] ^= 1;
    std::fs::write(&log, bytes)?;
    scene.rig.open_gate("damage")?;
    scene.come_back().await?;
    scene.is_said("nothing of this is lost").await?;
    let id = scene.id.clone();
    let said = |event: &ClaudeEvent| match event {
        ClaudeEvent::Error(error) if error.error.contains("damaged") => Some(()),
        _ => None,
    };
    scene.ben.event(&id, "a word about it", said).await
}

async fn log_shut(scene: &mut Scene) -> anyhow::Result<()> {
    scene.open().await?;
    let script = Script::new()
        .tool("Bash", json!({"command": "echo once > once.txt"}))
        .say("the log was shut for a while");
    scene.say(&script.prompt()).await?;
    let call = scene.is_asked(&[]).await?;
    let before = scene.rig.run(&scene.id).await?;
    scene.rig.kill_host()?;
    let log = scene.rig.log(&scene.id);
    let aside = log.with_extension("aside");
    std::fs::rename(&log, &aside)?;
    // A link to itself is something that nobody can open.
    std::os::unix::fs::symlink("log.jsonl", &log)?;
    scene.rig.start_host().await?;
    let from = scene.ben.len();
    scene.anna.connect().await?;
    scene.ben.connect().await?;
    is_listed(scene, from, |process| *process == ProcessStatus::Suspect).await?;
    let from = scene.ben.len();
    std::fs::rename(&aside, &log)?;
    is_listed(scene, from, |process| *process != ProcessStatus::Suspect).await?;
    scene.reconnect().await?;
    scene.allow(&call).await?;
    scene.is_said("the log was shut for a while").await?;
    let after = scene.rig.run(&scene.id).await?;
    ensure!(before.pid == after.pid, "the run did not live on");
    Ok(())
}

/// Waits until Ben is told of the conversation with a process that is as wanted.
async fn is_listed(
    scene: &mut Scene,
    from: usize,
    wanted: impl Fn(&ProcessStatus) -> bool,
) -> anyhow::Result<()> {
    let id = scene.id.clone();
    let is_it = |message: &HostToPylon| match message {
        HostToPylon::StatusResponse(status) => {
            let one = status.sessions.iter().find(|one| one.session_id == id)?;
            one.process.as_ref().filter(|process| wanted(process))?;
            Some(())
        }
        _ => None,
    };
    scene.ben.wait_from(from, "the list", is_it).await
}

/// Where the agent says something, not the message that asks it to.
fn text_at(log: &[u8], text: &str) -> Option<usize> {
    let said = format!("\"textComplete\",\"text\":\"{text}");
    let mut places = log.windows(said.len());
    let at = places.position(|bytes| bytes == said.as_bytes())?;
    Some(at + said.len() - 1)
}

async fn clock_jumps(scene: &mut Scene) -> anyhow::Result<()> {
    scene.open().await?;
    scene
        .say(&Script::new().say("by the right time").prompt())
        .await?;
    scene.is_said("by the right time").await?;
    for (skew, text) in [
        (-3_600_000_i64, "an hour ago"),
        (315_360_000_000, "in ten years"),
    ] {
        scene.rig.kill_host()?;
        let options = HostOptions {
            clock_skew_ms: Some(skew),
            ..HostOptions::default()
        };
        scene.rig.start_host_with(&options).await?;
        scene.reconnect().await?;
        scene.say(&Script::new().say(text).prompt()).await?;
        scene.is_said(text).await?;
    }
    ensure!(scene.rig.host().is_ok(), "the host is gone");
    Ok(())
}
