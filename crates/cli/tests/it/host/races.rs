//! Commands that come while something else is under way, and what is too large for a pipe.

use std::time::Duration;

use estelle_host::Host;
use estelle_host::ipc::Desk;
use estelle_host::run::RunRecord;
use estelle_proto::decisions::{DecisionKind, PermissionDecision};
use estelle_proto::events::ClaudeEvent;
use estelle_proto::ipc::{
    NewSession, PermissionResponse, ResumeSession, SetModel, SetPermissionMode, StopSession,
};
use estelle_proto::{ClaudeSessionId, ConversationId, ErrorCode, Generation, PermissionMode};
use estelle_sim::script::Script;
use rustix::process::Signal;
use serde_json::json;

use super::lifecycle::{opened, said};
use super::stage::{Agent, Listener, Stage, conversation, message, status, submit};
use crate::durable::stage::signal;
use crate::program::simulator;

/// An agent's program that says its version only when the gate `version` is open.
fn slow_to_say_its_version(stage: &mut Stage) {
    let wait = stage.wait_for("version");
    let first = format!("if [ \"$1\" = --version ]; then {wait}; fi");
    stage.program = stage.wrapped("slow-agent", &first, &stage.program);
}

/// The words of a program whose trial goes on only when the gate `trial` is open.
fn slow_trial(stage: &Stage) -> String {
    let wait = stage.wait_for("trial");
    let work = stage.path("work");
    format!(
        "if [ \"$1\" != --version ] && [ \"$PWD\" != {} ]; then {wait}; fi",
        work.display()
    )
}

/// Waits until a start has come to the trial of its program.
async fn is_on_trial(host: &Host, id: &ConversationId) {
    let on_trial = async {
        loop {
            let why = status(host, id).await.evidence.unwrap().why;
            if why.is_some_and(|why| why.contains("on trial")) {
                break;
            }
        }
    };
    let limit = Duration::from_mins(1);
    tokio::time::timeout(limit, on_trial).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_folder_brings_is_judged_after_the_trial_and_not_before() {
    let mut stage = Stage::new(&Agent::Simulator).await;
    stage.program = stage.wrapped("agent", "", simulator());
    let servers =
        |command: &str| json!({"mcpServers": {"theirs": {"command": command}}}).to_string();
    let file = stage.path("work/.mcp.json");
    std::fs::write(&file, servers("/bin/true")).unwrap();
    let host = stage.open();
    let id = conversation("conv-1");
    let say = |text: &str| message(&stage, &id, &Script::new().say(text).prompt());
    let end = || StopSession {
        end_process: Some(true),
        ..StopSession::new(id.clone())
    };
    let allow = |call| PermissionResponse::new(id.clone(), call, PermissionDecision::Allow);
    let servers_of = |run: &str| {
        let file = format!("data/conversations/conv-1/runs/{run}/mcp.json");
        std::fs::read_to_string(stage.path(&file)).ok()
    };
    submit(&host, say("first")).await.unwrap();
    let mut listener = Listener::new(&host, &id).await;
    let trusted = listener.asked().await;
    submit(&host, allow(trusted.tool_use_id.clone()))
        .await
        .unwrap();
    listener.result().await;
    submit(&host, end()).await.unwrap();

    // Another program in its place is on trial again.
    stage.wrapped("agent", &slow_trial(&stage), simulator());
    submit(&host, say("second")).await.unwrap();
    is_on_trial(&host, &id).await;
    std::fs::write(&file, servers("/bin/planted")).unwrap();
    stage.open_gate("trial");
    let again = listener.asked().await;
    assert_eq!(again.kind, Some(DecisionKind::Trust));
    assert_ne!(again.tool_use_id, trusted.tool_use_id);
    assert!(again.tool_input.get().contains("/bin/planted"), "{again:?}");
    listener.result().await;
    assert_eq!(servers_of("2"), None, "nothing of it is loaded");

    // What was trusted is what runs.
    submit(&host, allow(again.tool_use_id)).await.unwrap();
    submit(&host, end()).await.unwrap();
    submit(&host, say("third")).await.unwrap();
    listener.result().await;
    assert!(servers_of("3").unwrap().contains("/bin/planted"));
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

async fn set(host: &Host, id: &ConversationId) {
    let mode = SetPermissionMode {
        session_id: Some(id.clone()),
        ..SetPermissionMode::new(PermissionMode::Plan)
    };
    promptly(submit(host, mode)).await.unwrap();
    let model = SetModel {
        model: Some("small".to_owned()),
        ..SetModel::new(id.clone())
    };
    promptly(submit(host, model)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_was_asked_for_and_stopped_while_it_is_prepared_never_comes() {
    let mut stage = Stage::new(&Agent::Simulator).await;
    stage.program = stage.wrapped("slow-agent", &slow_trial(&stage), &stage.program);
    let host = stage.open();
    let id = conversation("conv-1");
    let end = || StopSession {
        end_process: Some(true),
        ..StopSession::new(id.clone())
    };
    let first = message(&stage, &id, &Script::new().say("never").prompt());
    submit(&host, first).await.unwrap();
    is_on_trial(&host, &id).await;
    submit(&host, end()).await.unwrap();
    let resumed = host.submit(ResumeSession::new(id.clone()).into()).await;
    is_on_trial(&host, &id).await;
    submit(&host, end()).await.unwrap();
    let refused = tokio::time::timeout(Duration::from_mins(1), resumed).await;
    let refused = refused.unwrap().unwrap_err().error;
    assert_eq!(refused.code, ErrorCode::Conflict);
    assert!(refused.message.contains("stopped"), "{refused:?}");
    // Whatever is said next is the first that a process hears, and that process is the first.
    stage.open_gate("trial");
    let next = message(&stage, &id, &Script::new().say("next").prompt());
    submit(&host, next).await.unwrap();
    let mut listener = Listener::new(&host, &id).await;
    listener.result().await;
    assert_eq!(listener.texts(), ["next"]);
    assert!(!stage.path("data/conversations/conv-1/runs/2").exists());
    let is_resumed = |event: &ClaudeEvent| matches!(event, ClaudeEvent::Resumed(_));
    assert!(!listener.events.iter().any(|one| is_resumed(&one.event)));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_set_while_a_start_is_prepared_counts_for_that_start() {
    let mut stage = Stage::new(&Agent::Simulator).await;
    stage.program = stage.wrapped("slow-agent", &slow_trial(&stage), &stage.program);
    let host = stage.open();
    let id = conversation("conv-1");
    let gone = "6f5c1c1e-3d0c-4b57-9d2c-0a6d7c1f3f10";
    let mut first = message(&stage, &id, &Script::new().say("hello").prompt());
    first.payload.claude_session_id = ClaudeSessionId::parse(gone).ok();
    submit(&host, first).await.unwrap();
    promptly(submit(&host, NewSession::new(id.clone())))
        .await
        .unwrap();
    set(&host, &id).await;
    stage.open_gate("trial");
    let mut listener = Listener::new(&host, &id).await;
    listener.result().await;
    assert_eq!(listener.texts(), ["hello"]);
    let launch = stage.path("data/conversations/conv-1/runs/1/launch.json");
    let launch = std::fs::read_to_string(launch).unwrap();
    assert!(!launch.contains(gone), "a forgotten session is not resumed");
    assert!(
        launch.contains("mode=plan") && launch.contains("model=small"),
        "{launch}"
    );
    let generation = status(&host, &id).await.evidence.unwrap().generation;
    assert_eq!(generation, Some(Generation(1)), "started once");
}

/// A host whose shims wait for the gate `shim`, with a run that is being started.
async fn starting(stage: &mut Stage) -> (Host, ConversationId) {
    let wait = stage.wait_for("shim");
    stage.shim.program = stage.wrapped("slow-shim", &wait, &stage.shim.program);
    let host = stage.open();
    let id = conversation("conv-1");
    let first = message(stage, &id, &Script::new().say("hello").prompt());
    submit(&host, first).await.unwrap();
    let folder = stage.path("data/conversations/conv-1/runs/1/launch.json");
    while !folder.exists() {
        tokio::task::yield_now().await;
    }
    (host, id)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_set_while_a_process_starts_reaches_it() {
    let mut stage = Stage::new(&Agent::Simulator).await;
    let (host, id) = starting(&mut stage).await;
    set(&host, &id).await;
    stage.open_gate("shim");
    let mut listener = Listener::new(&host, &id).await;
    listener.result().await;
    let log = stage.path("data/conversations/conv-1/log.jsonl");
    let log = std::fs::read_to_string(log).unwrap();
    let told = [
        r#""control":{"mode":{"mode":"plan"}}"#,
        r#""control":{"model":{"model":"small"}}"#,
    ];
    for told in told {
        assert_eq!(log.matches(told).count(), 1, "{told} in {log}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_session_while_a_process_starts_ends_it_and_starts_another() {
    let mut stage = Stage::new(&Agent::Simulator).await;
    // Whoever is merely asked to end has a quarter of an hour; this one is told as soon as it is there.
    stage.grace = Duration::from_hours(1);
    let (host, id) = starting(&mut stage).await;
    let forgotten = host.submit(NewSession::new(id.clone()).into()).await;
    stage.open_gate("shim");
    let limit = Duration::from_mins(1);
    let forgotten = tokio::time::timeout(limit, forgotten).await;
    forgotten.unwrap().unwrap();
    let mut listener = Listener::new(&host, &id).await;
    listener.result().await;
    assert_eq!(listener.texts(), ["hello"]);
    let generation = status(&host, &id).await.evidence.unwrap().generation;
    assert_eq!(generation, Some(Generation(2)));
    // Only the second one was greeted: nothing is said to a process that is to end.
    let log = stage.path("data/conversations/conv-1/log.jsonl");
    let log = std::fs::read_to_string(log).unwrap();
    let greetings = log.matches(r#""control":"initialize""#).count();
    assert_eq!(greetings, 1, "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_session_while_a_process_is_being_stopped_begins_afresh() {
    let mut stage = Stage::new(&Agent::Simulator).await;
    // It is held until everything was asked for, and then ends by itself.
    stage.grace = Duration::from_hours(1);
    let (host, mut listener) = opened(&stage).await;
    let id = conversation("conv-1");
    let before = status(&host, &id).await.claude_session_id;
    let record = |run: &str| {
        let path = stage.path(&format!("data/conversations/conv-1/runs/{run}/run.json"));
        let record: RunRecord = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        record
    };
    let pid = record("1").pid;
    signal(pid, Signal::STOP);
    let stop = StopSession {
        end_process: Some(true),
        ..StopSession::new(id.clone())
    };
    let stopped = host.submit(stop.into()).await;
    let forgotten = host.submit(NewSession::new(id.clone()).into()).await;
    // It answers in the order in which it is asked.
    status(&host, &id).await;
    signal(pid, Signal::CONT);
    stopped.await.unwrap();
    forgotten.await.unwrap();
    said(&stage, &host, &mut listener, "afresh").await;
    let argv = record("2").argv;
    assert!(
        !argv.iter().any(|word| word.contains("--resume")),
        "{argv:?}"
    );
    assert_ne!(status(&host, &id).await.claude_session_id, before);
    let resets = listener.events.iter();
    let resets = resets.filter(|event| matches!(event.event, ClaudeEvent::SessionReset(_)));
    assert_eq!(resets.count(), 1);
    listener.assert_dense();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_is_no_session_is_refused_and_leaves_nothing() {
    let stage = Stage::new(&Agent::Simulator).await;
    let host = stage.open();
    let id = conversation("conv-1");
    let mut sent = message(&stage, &id, &Script::new().say("hello").prompt());
    sent.payload.claude_session_id = ClaudeSessionId::parse("nope").ok();
    let refused = submit(&host, sent.clone()).await.unwrap_err();
    assert_eq!(refused.error.code, ErrorCode::InvalidMessage);
    assert!(!stage.path("data/conversations/conv-1").exists());
    sent.payload.claude_session_id = None;
    submit(&host, sent.clone()).await.unwrap();
    sent.payload.claude_session_id = ClaudeSessionId::parse("nope").ok();
    submit(&host, sent).await.unwrap_err();
}
