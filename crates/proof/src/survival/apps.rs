//! Relay, Pylon and host die while apps behind the relay watch a text being written and a prompt waits.

use std::time::Duration;

use anyhow::ensure;
use estelle_proto::decisions::PermissionDecision;
use estelle_proto::events::ClaudeEvent;
use estelle_sim::script::{Answer as Say, Script};
use futures_util::FutureExt as _;
use serde_json::json;
use tokio::time::Instant;

use super::{Row, Scene};
use crate::history::Part;
use crate::rig::Talk;

pub(super) const ROWS: &[Row] = &[
    Row {
        name: "relay_killed",
        what: "the relay",
        when: "while one conversation writes and another asks",
        then: "apps come back and see the text go on; the prompt is there again and one answer counts",
        real: true,
        story: |scene| killed(scene, Victims::Relay).boxed(),
    },
    Row {
        name: "pylon_killed",
        what: "the Pylon",
        when: "while one conversation writes and another asks",
        then: "its history has every row once; apps see the text go on, the prompt is there again",
        real: true,
        story: |scene| killed(scene, Victims::Pylon).boxed(),
    },
    Row {
        name: "host_killed_behind_apps",
        what: "the host",
        when: "while one conversation writes and another asks, seen by apps",
        then: "apps keep their connection, the text goes on, the prompt can be answered",
        real: true,
        story: |scene| killed(scene, Victims::Host).boxed(),
    },
    Row {
        name: "all_three_killed",
        what: "relay, Pylon and host at once",
        when: "while one conversation writes and another asks",
        then: "apps come back, the text goes on, the prompt is there again and one answer counts",
        real: true,
        story: |scene| killed(scene, Victims::AllThree).boxed(),
    },
    Row {
        name: "up_killed",
        what: "`estelle up` (relay and Pylon)",
        when: "while one conversation writes and another asks",
        then: "the host lives on; apps come back to the same text and the same prompt",
        real: true,
        story: |scene| killed(scene, Victims::Up).boxed(),
    },
    Row {
        name: "up_and_host_killed",
        what: "`estelle up` and its host at once",
        when: "while one conversation writes and another asks",
        then: "the next `estelle up` starts a host that takes everything up",
        real: true,
        story: |scene| killed(scene, Victims::UpAndHost).boxed(),
    },
    Row {
        name: "up_killed_again_and_again",
        what: "`estelle up`",
        when: "four times within one turn",
        then: "every row of history is there once",
        real: true,
        story: |scene| again_and_again(scene).boxed(),
    },
];

/// Who dies, and with that how everything is arranged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victims {
    Relay,
    Pylon,
    Host,
    AllThree,
    Up,
    UpAndHost,
}

impl Victims {
    /// Whether relay and Pylon are one process.
    fn together(self) -> bool {
        matches!(self, Self::Up | Self::UpAndHost)
    }
}

/// Long enough to be still written when everything is back: pieces, and the time between two.
const SLOW: (usize, u64) = (160, 25);
/// Apps must have live text again within this.
const RESUME: Duration = Duration::from_secs(1);
/// The same where every test runs at once, beside much else. The page is made without that.
const RESUME_IN_A_CROWD: Duration = Duration::from_secs(4);

/// What is promised here. `cargo xtask survival` plays one story after the other and sets `ESTELLE_SURVIVAL_ALONE`.
fn promise() -> Duration {
    match std::env::var_os("ESTELLE_SURVIVAL_ALONE") {
        Some(_) => RESUME,
        None => RESUME_IN_A_CROWD,
    }
}

fn slow(text: &str) -> Script {
    let (chunks, delay_ms) = SLOW;
    Script::new().answer(Say {
        say: Some(text.to_owned()),
        chunks: Some(chunks),
        delay_ms,
        ..Say::default()
    })
}

fn long_text() -> String {
    let words: Vec<String> = (0..SLOW.0).map(|number| format!("word {number}")).collect();
    words.join(", ")
}

/// Everything runs, and two apps are there.
async fn open(scene: &mut Scene, victims: Victims) -> anyhow::Result<()> {
    for name in ["anna", "ben"] {
        let app = scene.rig.app(name)?;
        scene.apps.push(app);
    }
    if victims.together() {
        scene.rig.start_up().await?;
    } else {
        scene.rig.add_pylon()?;
        scene.rig.start_relay().await?;
        scene.rig.start_host().await?;
        scene.rig.start_pylon()?;
    }
    for app in &mut scene.apps {
        app.connect().await?;
        app.is_served().await?;
    }
    Ok(())
}

/// A conversation in a folder of its own.
async fn begin(scene: &mut Scene, name: &str) -> anyhow::Result<Talk> {
    let folder = scene.rig.path().join("work").join(name);
    std::fs::create_dir_all(&folder)?;
    let talk = scene.apps[0].begin(&folder).await?;
    scene.rig.adopt(&talk.id, &folder);
    Ok(talk)
}

async fn killed(scene: &mut Scene, victims: Victims) -> anyhow::Result<()> {
    open(scene, victims).await?;
    let writes = begin(scene, "writes").await?;
    let asks = begin(scene, "asks").await?;
    scene.apps[0].look(&writes).await?;
    scene.apps[1].look(&asks).await?;
    let tool = |name: &str| json!({"command": format!("echo x > {name}")});
    let script = Script::new()
        .tool("Bash", tool("one"))
        .tool("Bash", tool("two"))
        .say("nobody answers the second");
    scene.apps[1].say(&asks, &script.prompt()).await?;
    let call = scene.apps[0].prompt(0, &asks, &[]).await?;
    scene.apps[1].prompt(0, &asks, &[]).await?;
    let text = long_text();
    let from = scene.apps[0].mark();
    scene.apps[0].say(&writes, &slow(&text).prompt()).await?;
    scene.apps[0].piece(from, &writes).await?;

    let marks = die_and_return(scene, victims).await?;
    let back = Instant::now();
    come_back(scene, victims, [&writes, &asks]).await?;
    scene.apps[0].piece(marks[0], &writes).await?;
    let resumed = back.elapsed();
    ensure!(resumed < promise(), "live text came after {resumed:?}");
    scene.resumed = Some(resumed);

    // Who was cut off is asked again; the others know.
    let from = |mark: usize| if victims == Victims::Host { 0 } else { mark };
    for (app, mark) in scene.apps.iter().zip(&marks) {
        let again = app.prompt(from(*mark), &asks, &[]).await?;
        ensure!(again == call, "another prompt: {again} instead of {call}");
    }
    answer(scene, &asks, &call).await?;
    // The second prompt stays open, and both must have seen it.
    for app in &scene.apps {
        app.prompt(0, &asks, std::slice::from_ref(&call)).await?;
    }
    is_said(scene, &writes, &text).await
}

/// Kills and starts again; gives where the recordings were.
async fn die_and_return(scene: &mut Scene, victims: Victims) -> anyhow::Result<Vec<usize>> {
    let kept = victims.together().then(|| scene.rig.kept_host());
    let kept = kept.transpose()?;
    match victims {
        Victims::Relay => scene.rig.kill_relay()?,
        Victims::Pylon => scene.rig.kill_pylon()?,
        Victims::Host => scene.rig.kill_host()?,
        Victims::AllThree => {
            scene.rig.kill_relay()?;
            scene.rig.kill_pylon()?;
            scene.rig.kill_host()?;
        }
        Victims::Up => scene.rig.kill_up()?,
        Victims::UpAndHost => {
            scene.rig.kill_kept_host()?;
            scene.rig.kill_up()?;
        }
    }
    let mut marks = Vec::new();
    for app in &mut scene.apps {
        match victims {
            Victims::Pylon => app.note(Part::Pylon),
            Victims::Host => app.note(Part::Host),
            Victims::Relay | Victims::AllThree | Victims::Up | Victims::UpAndHost => {
                app.lost().await?;
            }
        }
        marks.push(app.mark());
    }
    match victims {
        Victims::Relay => scene.rig.start_relay().await?,
        Victims::Pylon => scene.rig.start_pylon()?,
        Victims::Host => scene.rig.start_host().await?,
        Victims::AllThree => {
            scene.rig.start_host().await?;
            scene.rig.start_pylon()?;
            scene.rig.start_relay().await?;
        }
        Victims::Up => {
            scene.rig.start_up().await?;
            ensure!(
                Some(scene.rig.kept_host()?) == kept,
                "the host did not live on"
            );
        }
        Victims::UpAndHost => {
            scene.rig.start_up().await?;
            scene.rig.another_host(kept.unwrap_or_default()).await?;
        }
    }
    Ok(marks)
}

/// Apps do what apps do: whoever was cut off comes back, and looks again at what it looked at.
async fn come_back(scene: &mut Scene, victims: Victims, talks: [&Talk; 2]) -> anyhow::Result<()> {
    for (app, talk) in scene.apps.iter_mut().zip(talks) {
        match victims {
            // The Pylon tells them what they missed.
            Victims::Host => continue,
            Victims::Pylon => {}
            Victims::Relay | Victims::AllThree | Victims::Up | Victims::UpAndHost => {
                app.connect().await?;
            }
        }
        app.is_served().await?;
        app.look(talk).await?;
    }
    Ok(())
}

/// Both answer at the same time; one of them is the first.
async fn answer(
    scene: &mut Scene,
    talk: &Talk,
    call: &estelle_proto::ToolUseId,
) -> anyhow::Result<()> {
    let [anna, ben] = &mut scene.apps[..] else {
        anyhow::bail!("two apps are needed");
    };
    let (yes, also_yes) = tokio::try_join!(
        anna.decide(talk, call, PermissionDecision::Allow),
        ben.decide(talk, call, PermissionDecision::Allow),
    )?;
    ensure!(
        yes.success != also_yes.success,
        "not one winner: {yes:?} and {also_yes:?}"
    );
    Ok(())
}

/// Waits until Anna has the whole text and the end of its turn.
async fn is_said(scene: &Scene, talk: &Talk, text: &str) -> anyhow::Result<()> {
    let mut said = false;
    scene.apps[0]
        .event(0, talk, "the whole text and a result", |message| {
            said |=
                matches!(&message.event, ClaudeEvent::TextComplete(whole) if whole.text == text);
            (said && matches!(message.event, ClaudeEvent::Result(_))).then_some(())
        })
        .await
}

async fn again_and_again(scene: &mut Scene) -> anyhow::Result<()> {
    open(scene, Victims::Up).await?;
    let writes = begin(scene, "writes").await?;
    for app in &mut scene.apps {
        app.look(&writes).await?;
    }
    let text = long_text();
    scene.apps[0].say(&writes, &slow(&text).prompt()).await?;
    for _ in 0..4 {
        die_and_return(scene, Victims::Up).await?;
        come_back(scene, Victims::Up, [&writes, &writes]).await?;
    }
    is_said(scene, &writes, &text).await
}
