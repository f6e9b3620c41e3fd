//! The Pylon is killed in each phase of a deploy. The next one says so, nothing is left behind, and all runs as before.

use serde_json::{Value, json};

use super::Waiting;
use super::stage::{SCRIPTED, SOUND, Stage, WAIT, is_gone};

/// Kills the Pylon and starts what is started then.
async fn kill(stage: &mut Stage) -> Value {
    stage.house.kill_pylon(1);
    stage.house.start_pylon(1);
    stage.hear(1, "deploy_error").await["payload"].clone()
}

/// It is as if there had been no deploy.
async fn is_as_before(stage: &mut Stage, told: &Value, word: &str) {
    let text = told["error"].as_str().unwrap();
    assert!(text.contains("was interrupted"), "{text}");
    assert!(text.contains(word), "{text}");
    let status = stage.status(1).await;
    assert_eq!(
        (&status["phase"], &status["runningCommit"]),
        (&json!("idle"), &Value::Null)
    );
    assert!(!stage.house.data(1).join("deploy/deploy.json").exists());
}

/// Begins to prepare, and waits until a step waits at the gate. Gives its process.
async fn prepare(stage: &mut Stage) -> u32 {
    let prepare = json!({"type": "deploy_prepare", "to": 1, "payload": {"relayDeploy": true}});
    stage.owner.send(&prepare).await;
    at_gate(stage).await
}

async fn at_gate(stage: &mut Stage) -> u32 {
    let said =
        |frame: &Value| frame["type"] == "deploy_log" && frame["payload"]["line"] == "waiting";
    stage.owner.until(said).await;
    stage.waiting(1)
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_it_prepares_and_while_it_waits() {
    let mut stage = Stage::configured(&[1], &[("ESTELLE_DEPLOY_NPM", WAIT)]).await;
    stage.close_gate();
    let turn = Waiting::begin(&mut stage, 1).await;
    let before = stage.behind(1);
    let waiting = prepare(&mut stage).await;
    // What a killed `git` leaves.
    let lock = stage.house.data(1).join("deploy/tree/.git/index.lock");
    std::fs::write(&lock, "").unwrap();
    let told = kill(&mut stage).await;
    is_as_before(&mut stage, &told, "being prepared").await;
    is_gone(waiting).await;

    // It can be prepared again, and is killed when it is ready.
    prepare(&mut stage).await;
    stage.open_gate();
    stage.hear(1, "deploy_ready").await;
    let told = kill(&mut stage).await;
    is_as_before(&mut stage, &told, "was ready").await;

    // And when the others were asked: they are let go, even if they come later.
    prepare(&mut stage).await;
    stage.open_gate();
    let ready = stage.hear(1, "deploy_ready").await;
    stage.confirm(1).await;
    let told = kill(&mut stage).await;
    is_as_before(&mut stage, &told, "waiting for the word").await;
    let mut other = stage.house.stranger().await;
    let auth = json!({"deviceType": "pylon", "deviceId": SCRIPTED, "token": stage.scripted});
    other.enter(auth).await;
    let cancelled = other
        .until(|frame| frame["type"] == "deploy_cancelled")
        .await;
    assert_eq!(
        cancelled["payload"]["commitHash"],
        ready["payload"]["commitHash"]
    );
    assert_eq!(stage.behind(1), before);
    turn.goes_on(&mut stage).await;
    stage.house.assert_calm();
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_it_is_put_in_place() {
    let mut stage = Stage::configured(&[1], &[("ESTELLE_DEPLOY_RELAY", WAIT)]).await;
    stage.close_gate();
    let turn = Waiting::begin(&mut stage, 1).await;
    let before = stage.behind(1);
    assert_eq!(stage.prepare(1, true).await["success"], true);
    stage.confirm(1).await;
    stage.tell(1, "deploy_go", &json!({})).await;
    let waiting = at_gate(&mut stage).await;
    assert!(stage.house.data(1).join("deploy/deploy.json").exists());
    let told = kill(&mut stage).await;
    is_as_before(&mut stage, &told, "being put in place").await;
    is_gone(waiting).await;
    assert_eq!(stage.behind(1), before);
    turn.goes_on(&mut stage).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_it_restarts_it_comes_back_as_the_new_build() {
    let mut stage = Stage::new(&[1]).await;
    let turn = Waiting::begin(&mut stage, 1).await;
    let commit = stage.commit("2.0", SOUND);
    assert_eq!(stage.prepare(1, true).await["success"], true);
    stage.confirm(1).await;
    stage.tell(1, "deploy_go", &json!({})).await;
    stage.hear(1, "deploy_restarting").await;
    // It may still be the old program, or be the new one already: the link is what counts.
    stage.house.kill_pylon(1);
    stage.house.start_pylon(1);
    stage.runs(1, "2.0").await;
    let status = stage.status(1).await;
    assert_eq!(
        (&status["phase"], &status["runningCommit"]),
        (&json!("idle"), &json!(commit))
    );
    // It answers a moment before all of it stands.
    let note = stage.house.data(1).join("deploy/succession.json");
    let mut pace = tokio::time::interval(std::time::Duration::from_millis(20));
    while note.exists() {
        pace.tick().await;
    }
    turn.goes_on(&mut stage).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_follows_tells_its_lead_that_it_was_killed() {
    let mut stage = Stage::new(&[1]).await;
    let mut lead = stage.house.stranger().await;
    let auth = json!({"deviceType": "pylon", "deviceId": SCRIPTED, "token": stage.scripted});
    lead.enter(auth).await;
    let commit = stage.commit("2.0", SOUND);
    let start = json!({
        "type": "deploy_start", "broadcast": "all",
        "payload": {"commitHash": commit, "version": "2.0", "leadPylonId": SCRIPTED},
    });
    lead.send(&start).await;
    let ack = lead
        .until(|frame| frame["type"] == "deploy_start_ack")
        .await;
    assert_eq!(ack["payload"]["success"], true, "{ack}");
    let told = kill(&mut stage).await;
    is_as_before(&mut stage, &told, "waiting for its lead").await;
    let ack = lead
        .until(|frame| frame["type"] == "deploy_start_ack")
        .await;
    assert_eq!(ack["payload"]["success"], false, "{ack}");
    // It is not armed any more.
    let restart = json!({
        "type": "deploy_restart", "broadcast": "all",
        "payload": {"commitHash": commit, "leadPylonId": SCRIPTED},
    });
    lead.send(&restart).await;
    let again = lead.new_id();
    lead.send(
        &json!({"type": "deploy_start", "to": 1, "requestId": again, "payload": start["payload"]}),
    )
    .await;
    let ack = lead
        .until(|frame| frame["type"] == "deploy_start_ack")
        .await;
    assert_eq!(ack["payload"]["success"], true, "{ack}");
    assert_eq!(stage.status(1).await["phase"], "armed");
}
