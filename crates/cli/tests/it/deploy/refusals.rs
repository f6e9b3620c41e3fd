//! What is refused, what fails, and what is cancelled: everything runs on as before.

use serde_json::{Value, json};

use super::stage::{SCRIPTED, SOUND, Stage, WAIT, git, is_gone};

#[track_caller]
fn refused(answer: &Value, code: &str, word: &str) {
    assert_eq!(answer["success"], false, "{answer}");
    assert_eq!(answer["errorCode"], code, "{answer}");
    let text = answer["error"].as_str().unwrap();
    assert!(text.contains(word), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_build_that_fails_changes_nothing_and_says_why() {
    let mut stage = Stage::new(&[1]).await;
    let before = stage.behind(1);
    for (script, word) in [
        ("echo broken >&2; exit 3", "`build` failed (exit status: 3)"),
        ("true", "made no program"),
        (
            r#"printf '#!/bin/sh\nexit 7\n' > "$ESTELLE_DEPLOY_OUT/estelle"; chmod +x "$ESTELLE_DEPLOY_OUT/estelle""#,
            "does not start",
        ),
        (
            r#"echo text > "$ESTELLE_DEPLOY_OUT/estelle""#,
            "does not start",
        ),
    ] {
        stage.commit("2.0", script);
        let ready = stage.prepare(1, true).await;
        refused(&ready, "internal", word);
        stage.step(1, "build", "error").await;
        let status = stage.status(1).await;
        assert_eq!(status["phase"], "idle", "{status}");
        assert_eq!(status["tasks"]["json"], "waiting", "{status}");
    }
    let log = stage.status(1).await["log"].to_string();
    assert!(log.contains("broken"), "{log}");
    std::fs::rename(stage.repository(), stage.house.path("moved")).unwrap();
    refused(
        &stage.prepare(1, true).await,
        "internal",
        "there is no repository",
    );
    std::fs::rename(stage.house.path("moved"), stage.repository()).unwrap();
    git(&stage.repository(), &["branch", "-m", "main", "other"]);
    refused(
        &stage.prepare(1, true).await,
        "internal",
        "`git fetch` failed",
    );
    assert_eq!(stage.behind(1), before);
    assert!(!stage.house.data(1).join("deploy/deploy.json").exists());
    stage.house.assert_calm();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remote_that_is_ahead_is_not_overtaken() {
    let mut stage = Stage::configured(&[1], &[("ESTELLE_DEPLOY_REMOTE", "origin")]).await;
    let (repository, remote) = (stage.repository(), stage.house.path("remote.git"));
    let remote_text = remote.to_str().unwrap();
    git(
        &repository,
        &["clone", "--quiet", "--bare", ".", remote_text],
    );
    git(&repository, &["remote", "add", "origin", remote_text]);
    // What the remote has not is pushed.
    let commit = stage.commit("2.0", SOUND);
    assert_eq!(stage.prepare(1, true).await["commitHash"], commit);
    assert_eq!(git(&remote, &["rev-parse", "main"]), commit);
    stage.cancel(1).await;
    git(&repository, &["reset", "--quiet", "--hard", "HEAD~1"]);
    let ready = stage.prepare(1, true).await;
    refused(&ready, "internal", "pull them first");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_in_the_wrong_order_is_refused() {
    let gate = [("ESTELLE_DEPLOY_NPM", WAIT)];
    let mut stage = Stage::configured(&[1], &gate).await;
    stage.close_gate();
    let confirm = json!({"preApproved": false, "cancel": false});
    for (kind, payload) in [("deploy_confirm", &confirm), ("deploy_go", &json!({}))] {
        let told = stage.tell(1, kind, payload).await;
        refused(&told, "conflict", "no deploy is prepared");
    }
    refused(&stage.cancel(1).await, "conflict", "no deploy is prepared");
    let id = stage.owner.new_id();
    let prepare = json!({
        "type": "deploy_prepare", "to": 1, "requestId": id,
        "payload": {"relayDeploy": true, "requestId": id},
    });
    stage.owner.send(&prepare).await;
    stage.step(1, "npm", "running").await;
    let again = stage.prepare(1, true).await;
    refused(&again, "conflict", "being prepared here already");
    let told = stage.tell(1, "deploy_go", &json!({})).await;
    refused(&told, "conflict", "not confirmed");
    stage.open_gate();
    assert_eq!(stage.owner.answer(&id).await["payload"]["success"], true);
    let told = stage.tell(1, "deploy_go", &json!({})).await;
    refused(&told, "conflict", "not confirmed");
    assert_eq!(stage.confirm(1).await["success"], true);
    refused(&stage.confirm(1).await, "conflict", "confirmed already");
    assert_eq!(stage.cancel(1).await["success"], true);
    refused(&stage.confirm(1).await, "conflict", "no deploy is prepared");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_deploy_ends_its_commands_and_disarms_the_others() {
    let gate = [("ESTELLE_DEPLOY_NPM", WAIT)];
    let mut stage = Stage::configured(&[1], &gate).await;
    stage.close_gate();
    let before = stage.behind(1);
    let mut other = stage.house.stranger().await;
    let auth = json!({"deviceType": "pylon", "deviceId": SCRIPTED, "token": stage.scripted});
    other.enter(auth).await;

    let id = stage.owner.new_id();
    let prepare = json!({
        "type": "deploy_prepare", "to": 1, "requestId": id,
        "payload": {"relayDeploy": true, "requestId": id},
    });
    stage.owner.send(&prepare).await;
    let said =
        |frame: &Value| frame["type"] == "deploy_log" && frame["payload"]["line"] == "waiting";
    stage.owner.until(said).await;
    let waiting = stage.waiting(1);
    assert_eq!(stage.cancel(1).await["phase"], "idle");
    refused(
        &stage.owner.answer(&id).await["payload"],
        "conflict",
        "cancelled",
    );
    is_gone(waiting).await;

    let (path, gate) = (stage.house.path("gate"), stage.house.path("open"));
    std::fs::rename(&path, gate).unwrap();
    std::fs::write(&path, "go\n").unwrap();
    let ready = stage.prepare(1, true).await;
    assert_eq!(ready["success"], true, "{ready}");
    stage.confirm(1).await;
    let start = other.until(|frame| frame["type"] == "deploy_start").await;
    assert_eq!(start["payload"]["commitHash"], ready["commitHash"]);
    let told = stage.tell(1, "deploy_go", &json!({})).await;
    refused(&told, "conflict", "has not answered yet");
    let no = json!({
        "type": "deploy_start_ack", "to": 1,
        "payload": {"deviceId": SCRIPTED, "success": false, "error": "no room"},
    });
    other.send(&no).await;
    let ack = stage.hear(1, "deploy_ack_received").await;
    assert_eq!(
        (&ack["payload"]["success"], &ack["payload"]["error"]),
        (&json!(false), &json!("no room"))
    );
    let status = stage.status(1).await;
    assert_eq!(
        status["acks"],
        json!([{"deviceId": SCRIPTED, "success": false, "error": "no room"}])
    );
    assert_eq!(stage.cancel(1).await["success"], true);
    let cancelled = other
        .until(|frame| frame["type"] == "deploy_cancelled")
        .await;
    let wanted = json!({"commitHash": ready["commitHash"], "leadPylonId": 1});
    assert_eq!(cancelled["payload"], wanted);
    assert_eq!(stage.behind(1), before);
    assert!(!stage.house.data(1).join("deploy/deploy.json").exists());
    stage.house.assert_calm();
}

#[tokio::test(flavor = "multi_thread")]
async fn another_pylon_cannot_lead_us_astray() {
    let mut stage = Stage::new(&[1]).await;
    let before = stage.behind(1);
    let mut lead = stage.house.stranger().await;
    let auth = json!({"deviceType": "pylon", "deviceId": SCRIPTED, "token": stage.scripted});
    lead.enter(auth).await;
    let start = |commit: &str, leader: u32| {
        json!({
            "type": "deploy_start", "broadcast": "all",
            "payload": {"commitHash": commit, "version": "9", "leadPylonId": leader, "buildTime": "../../../../x"},
        })
    };
    let former = git(&stage.repository(), &["rev-parse", "HEAD"]);
    let former = former.trim().to_owned();
    let commit = stage.commit("2.0", SOUND);
    git(&stage.repository(), &["checkout", "--quiet", "-b", "side"]);
    let aside = stage.commit("evil", SOUND);
    git(&stage.repository(), &["checkout", "--quiet", "main"]);
    for (bad, word) in [
        ("--upload-pack=/bin/true", "is no commit"),
        (
            "0123456789abcdef0123456789abcdef01234567",
            "is not on the branch",
        ),
        (aside.as_str(), "is not on the branch"),
    ] {
        lead.send(&start(bad, SCRIPTED)).await;
        let ack = lead
            .until(|frame| frame["type"] == "deploy_start_ack")
            .await;
        refused(&ack["payload"], "internal", word);
    }
    // In the name of another it is not even answered; the next answer is that to the good one.
    lead.send(&start(&commit, 7)).await;
    lead.send(&start(&commit, SCRIPTED)).await;
    let ack = lead
        .until(|frame| frame["type"] == "deploy_start_ack")
        .await;
    assert_eq!(ack["payload"]["success"], true, "{ack}");
    assert_eq!(stage.status(1).await["phase"], "armed");
    assert_eq!(stage.status(1).await["leadPylonId"], SCRIPTED);
    // A restart without a build, and one of another, count for nothing.
    for payload in [
        json!({}),
        json!({"commitHash": aside, "leadPylonId": SCRIPTED}),
    ] {
        let restart = json!({"type": "deploy_restart", "broadcast": "all", "payload": payload});
        lead.send(&restart).await;
    }
    let told = stage.tell(1, "deploy_go", &json!({})).await;
    refused(&told, "conflict", "no deploy is prepared");
    assert_eq!(stage.status(1).await["phase"], "armed");
    assert_eq!(stage.behind(1), before);
    let restart = json!({
        "type": "deploy_restart", "broadcast": "all",
        "payload": {"commitHash": commit, "leadPylonId": SCRIPTED},
    });
    lead.send(&restart).await;
    stage.runs(1, "2.0").await;
    // Nor is it led back to a build that it left, with all the faults that are mended since.
    lead.send(&start(&former, SCRIPTED)).await;
    let ack = lead
        .until(|frame| frame["type"] == "deploy_start_ack" && frame["payload"]["success"] == false)
        .await;
    refused(&ack["payload"], "internal", "is older than");
    stage.house.assert_calm();
}
