//! Commands that come while something else is under way, and what is too large for a pipe.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use estelle_host::Host;
use estelle_host::ipc::Desk;
use estelle_proto::ErrorCode;
use estelle_proto::decisions::PermissionDecision;
use estelle_proto::ipc::PermissionResponse;
use estelle_sim::script::Script;
use serde_json::json;

use super::stage::{Agent, Listener, Stage, conversation, message, submit};

/// An agent's program that says its version only when the gate `version` is open.
fn slow_to_say_its_version(stage: &mut Stage) {
    let path = stage.path("slow-agent");
    let gate = stage.path("gates/version");
    let script = format!(
        "#!/bin/sh\nif [ \"$1\" = --version ]; then until [ -e {} ]; do sleep 0.02; done; fi\nexec {} \"$@\"\n",
        gate.display(),
        stage.program.display()
    );
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    stage.program = path;
}

/// Nobody is held up.
async fn promptly<T>(what: impl Future<Output = T>) -> T {
    let limit = Duration::from_secs(3);
    let done = tokio::time::timeout(limit, what).await;
    done.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_message_holds_up_nobody_while_it_is_examined() {
    let mut stage = Stage::new(&Agent::Simulator).await;
    slow_to_say_its_version(&mut stage);
    let host = stage.open();
    let id = conversation("conv-1");
    let first = message(&stage, &id, &Script::new().say("first").prompt());
    let second = message(&stage, &id, &Script::new().say("second").prompt());
    let first = promptly(host.submit(first.into())).await;
    // Its place is fixed: what comes behind it, from anywhere, is behind it.
    let second = promptly(host.submit(second.into())).await;
    let listening = tokio_util::task::TaskTracker::new().spawn({
        let (host, id): (Host, _) = (host.clone(), id.clone());
        async move { Listener::new(&host, &id).await }
    });
    stage.open_gate("version");
    let first = first.await.unwrap().seq.unwrap();
    let second = second.await.unwrap().seq.unwrap();
    assert!(first < second);
    let mut listener = listening.await.unwrap();
    while listener.texts().len() < 2 {
        listener.message().await;
    }
    assert_eq!(listener.texts(), ["first", "second"]);
    listener.assert_dense();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_first_message_does_not_spoil_the_one_behind_it() {
    let stage = Stage::new(&Agent::Simulator).await;
    let host = stage.open();
    let id = conversation("conv-1");
    let good = message(&stage, &id, &Script::new().say("good").prompt());
    let mut bad = good.clone();
    bad.payload.working_dir = estelle_proto::PathText::parse("/no/such/folder").unwrap();
    let bad = host.submit(bad.into()).await;
    let good = host.submit(good.into()).await;
    assert_eq!(bad.await.unwrap_err().error.code, ErrorCode::BadPath);
    good.await.unwrap();
    let mut listener = Listener::new(&host, &id).await;
    listener.result().await;
    assert_eq!(listener.texts(), ["good"]);
    drop(host);
    let host = stage.reopen().await;
    let mut listener = Listener::new(&host, &id).await;
    listener.result().await;
    submit(
        &host,
        message(&stage, &id, &Script::new().say("on").prompt()),
    )
    .await
    .unwrap();
    listener.result().await;
    assert_eq!(
        listener.texts(),
        ["good", "on"],
        "the log is the one on the disk"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_no_pipe_holds_is_refused_and_the_question_stays_open() {
    let stage = Stage::new(&Agent::Simulator).await;
    let host = stage.open();
    let id = conversation("conv-1");
    let file = stage.path("work/a.txt");
    let script = Script::new()
        .tool("Write", json!({"file_path": &file, "content": "written"}))
        .say("done");
    submit(&host, message(&stage, &id, &script.prompt()))
        .await
        .unwrap();
    let mut listener = Listener::new(&host, &id).await;
    let asked = listener.asked().await;
    let answer = |decision, message| PermissionResponse {
        message,
        ..PermissionResponse::new(id.clone(), asked.tool_use_id.clone(), decision)
    };
    let long = answer(PermissionDecision::Deny, Some("no ".repeat(500_000)));
    let refused = submit(&host, long).await.unwrap_err();
    assert_eq!(refused.error.code, ErrorCode::TooLarge);
    submit(&host, answer(PermissionDecision::Allow, None))
        .await
        .unwrap();
    listener.result().await;
    assert_eq!(std::fs::read_to_string(file).unwrap(), "written");
}
