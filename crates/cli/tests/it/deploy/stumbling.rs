//! A build that passes its trial and then does not come to stand: it hangs, or dies before it can say anything.

use serde_json::{Value, json};

use super::Waiting;
use super::stage::{SOUND, Stage, runs_build};

/// Deploys a build that stumbles.
async fn deploy(stage: &mut Stage) {
    stage.commit("2.0", SOUND);
    assert_eq!(stage.prepare(1, true).await["success"], true);
    stage.confirm(1).await;
    stage.tell(1, "deploy_go", &json!({})).await;
    stage.hear(1, "deploy_restarting").await;
}

/// The former program runs, says why, and nothing else is different.
async fn is_as_before(stage: &mut Stage, waiting: &Waiting, word: &str) {
    let error = stage.hear(1, "deploy_error").await;
    let text = error["payload"]["error"].as_str().unwrap();
    assert!(text.contains("the former runs again"), "{text}");
    assert!(text.contains(word), "{text}");
    let status = stage.status(1).await;
    assert_eq!(
        (&status["phase"], &status["runningCommit"]),
        (&json!("idle"), &Value::Null)
    );
    assert!(!runs_build(stage.house.pylon_pid(1), "2.0"));
    assert!(!stage.house.data(1).join("deploy/deploy.json").exists());
    waiting.goes_on(stage).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_build_that_hangs_when_it_starts_gives_way_to_the_former() {
    let settings = [
        ("ESTELLE_FAILPOINT", "successor:hang"),
        ("ESTELLE_SUCCESSOR_PATIENCE_MS", "1000"),
    ];
    let mut stage = Stage::configured(&[1], &settings).await;
    let waiting = Waiting::begin(&mut stage, 1).await;
    let pylon = stage.house.pylon_pid(1);
    deploy(&mut stage).await;
    is_as_before(&mut stage, &waiting, "it was not ready after 1 s").await;
    assert_eq!(
        stage.house.pylon_pid(1),
        pylon,
        "a supervisor notices nothing"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_build_that_is_killed_whenever_it_starts_gives_way_after_three_attempts() {
    let settings = [("ESTELLE_FAILPOINT", "successor:kill")];
    let mut stage = Stage::configured(&[1], &settings).await;
    let waiting = Waiting::begin(&mut stage, 1).await;
    deploy(&mut stage).await;
    // It starts by itself once, and whoever supervises it starts it again.
    for _ in 0..3 {
        stage.house.wait_for_pylon(1);
        stage.house.start_pylon(1);
    }
    is_as_before(&mut stage, &waiting, "it began to start 3 times").await;
}
