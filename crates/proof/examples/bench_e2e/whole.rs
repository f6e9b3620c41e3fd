//! An app, the relay, the Pylon, the host and the CLI.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function looks for a few kinds and passes over the others"
)]

use std::time::Instant;

use anyhow::{Context as _, ensure};
use estelle_proof::rig::{Agent, App, Rig, Talk};
use estelle_proto::events::ClaudeEvent;
use serde_json::{Value, json};

use crate::meter::{memory as memory_of, quantiles};
use crate::stream::{SHORT, Stamps, paced};

/// Turns that are not counted: whatever happens the first time only.
const WARM_UP: usize = 3;
/// Conversations of somebody who uses it.
const FEW: usize = 5;

/// Everything that runs, with an app that is served.
struct Stage {
    rig: Rig,
    app: App,
}

impl Stage {
    async fn new(agent: &Agent) -> anyhow::Result<Self> {
        let mut rig = Rig::new(agent).await?;
        let mut app = rig.app("bench")?;
        rig.start_up().await?;
        app.connect().await?;
        app.is_served().await?;
        Ok(Self { rig, app })
    }

    /// A conversation that the app looks at, with a process that has answered once.
    async fn warm(&mut self, name: &str) -> anyhow::Result<Talk> {
        let folder = self.rig.path().join("work").join(name);
        std::fs::create_dir_all(&folder)?;
        let talk = self.app.begin(&folder).await?;
        self.rig.adopt(&talk.id, &folder);
        self.app.look(&talk).await?;
        self.turn(&talk).await?;
        Ok(talk)
    }

    async fn turn(&mut self, talk: &Talk) -> anyhow::Result<()> {
        let from = self.app.ask(talk, SHORT).await?;
        self.ends(from, talk).await
    }

    async fn ends(&self, from: usize, talk: &Talk) -> anyhow::Result<()> {
        let ended = self
            .app
            .event(from, talk, "the end of the turn", |message| {
                matches!(message.event, ClaudeEvent::Result(_)).then_some(())
            });
        ended.await
    }
}

/// From a prompt at the app to the first delta there.
pub(crate) async fn first_deltas(agent: &Agent, count: usize) -> anyhow::Result<Value> {
    let mut stage = Stage::new(agent).await?;
    let talk = stage.warm("one").await?;
    let mut times = Vec::new();
    for _ in 0..count + WARM_UP {
        let begin = Instant::now();
        let from = stage.app.ask(&talk, SHORT).await?;
        stage.app.piece(from, &talk).await?;
        times.push(begin.elapsed());
        stage.ends(from, &talk).await?;
    }
    Ok(quantiles(times.split_off(WARM_UP)))
}

/// From a line of the CLI to its event at the app.
pub(crate) async fn stream(agent: &Agent, count: usize) -> anyhow::Result<Value> {
    let mut stage = Stage::new(agent).await?;
    let talk = stage.warm("one").await?;
    let from = stage.app.ask(&talk, &paced(count)).await?;
    let (mut stamps, mut failure) = (Stamps::default(), None);
    let ended = stage.app.event(from, &talk, "the end", |message| {
        match &message.event {
            ClaudeEvent::Text(delta) => failure = stamps.take(&delta.content).err(),
            ClaudeEvent::Result(_) => return Some(()),
            _ => {}
        }
        failure.is_some().then_some(())
    });
    ended.await?;
    failure.map_or(Ok(()), Err)?;
    ensure!(stamps.times.len() == count, "some deltas did not come");
    Ok(quantiles(stamps.times))
}

/// Memory of relay, Pylon and host: with nothing, and with a few conversations that have answered.
pub(crate) async fn memory(agent: &Agent, turns: usize) -> anyhow::Result<Value> {
    let mut stage = Stage::new(agent).await?;
    let idle = parts(&stage.rig)?;
    for nth in 0..FEW {
        let talk = stage.warm(&format!("folder-{nth}")).await?;
        for _ in 1..turns {
            stage.turn(&talk).await?;
        }
    }
    Ok(json!({"idle": idle, "few": parts(&stage.rig)?, "conversations": FEW}))
}

fn parts(rig: &Rig) -> anyhow::Result<Value> {
    let (up, host) = (memory_of(rig.up()?), memory_of(rig.kept_host()?));
    Ok(json!({
        "up_rss_kb": up.0, "host_rss_kb": host.0,
        "rss_kb": up.0 + host.0, "pss_kb": up.1 + host.1,
    }))
}

/// From the start of a new process to the next live delta at the app, after relay and Pylon, or the host, were killed.
pub(crate) async fn restart(agent: &Agent, count: usize) -> anyhow::Result<Value> {
    let (mut ups, mut hosts) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let mut stage = Stage::new(agent).await?;
        let talk = stage.warm("one").await?;
        // Longer than both restarts together take.
        let from = stage.app.ask(&talk, &paced(4000)).await?;
        stage.app.piece(from, &talk).await?;
        stage.rig.kill_up()?;
        let begin = Instant::now();
        stage.rig.start_up().await?;
        stage.app.connect().await?;
        stage.app.look(&talk).await?;
        stage.app.piece(stage.app.mark(), &talk).await?;
        ups.push(begin.elapsed());
        let old = stage.rig.kept_host()?;
        stage.rig.kill_kept_host()?;
        let begin = Instant::now();
        stage.rig.another_host(old).await?;
        let from = stage.app.mark();
        stage
            .app
            .piece(from, &talk)
            .await
            .context("after the host")?;
        hosts.push(begin.elapsed());
    }
    Ok(json!({"up": quantiles(ups), "host": quantiles(hosts)}))
}
