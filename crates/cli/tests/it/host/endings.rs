//! What becomes of messages that wait in the agent's own queue when its process is ended.

use estelle_host::Host;
use estelle_proto::events::ClaudeEvent;
use estelle_proto::ipc::{ClearSession, NewSession, ResumeSession, StopSession};
use estelle_proto::{ClientMessageId, Epoch, OnBusy, PermissionMode};
use estelle_sim::script::Script;
use serde_json::json;

use super::lifecycle::said;
use super::messages::gated;
use super::stage::{Agent, Listener, Stage, conversation, message, status, submit};

/// The id of the message that waits.
const QUEUED: &str = "5d0f1f0a-52c5-4b0e-8d0e-6a1c1f7a9b01";

/// What it would make the agent say.
const SAYS: &str = "said too late";

/// A turn that does not end, and a message that waits in the agent behind it.
async fn queued(stage: &Stage) -> (Host, Listener) {
    let host = stage.open();
    let id = conversation("conv-1");
    let first = message(stage, &id, &gated("one two three four", "never"));
    submit(&host, first).await.unwrap();
    let mut listener = Listener::new(&host, &id).await;
    listener
        .until(|event| matches!(event, ClaudeEvent::Text(_)))
        .await;
    let mut second = message(stage, &id, &Script::new().say(SAYS).prompt());
    second.payload.client_message_id = Some(ClientMessageId::parse(QUEUED).unwrap());
    second.payload.on_busy = Some(OnBusy::Inject);
    submit(&host, second).await.unwrap();
    let handed = format!(r#""handed":{{"generation":1,"message":"{QUEUED}""#);
    while !log(stage).contains(&handed) {
        tokio::task::yield_now().await;
    }
    (host, listener)
}

fn log(stage: &Stage) -> String {
    std::fs::read_to_string(stage.path("data/conversations/conv-1/log.jsonl")).unwrap()
}

/// The message was never begun by the first process.
fn assert_not_begun(stage: &Stage) {
    let journal = stage.path("data/conversations/conv-1/runs/1/out.jsonl");
    let journal = std::fs::read_to_string(journal).unwrap();
    let begun = journal
        .lines()
        .filter(|line| line.contains(r#""type":"assistant""#) && line.contains(SAYS));
    assert_eq!(begun.count(), 0, "{journal}");
}

fn is_cancelled(event: &ClaudeEvent) -> bool {
    matches!(event, ClaudeEvent::MessageCancelled(one) if one.client_message_id.as_str() == QUEUED)
}

pub(super) async fn a_stop_ends_what_goes_on_in_the_background(agent: &Agent) {
    let stage = Stage::new(agent).await;
    let host = stage.open();
    let id = conversation("conv-1");
    let pid = stage.path("work/pid");
    let command = format!("echo $$ > {}; exec sleep 600", pid.display());
    let input = json!({"command": command, "run_in_background": true, "description": "wait"});
    let script = Script::new().tool("Bash", input).say("started");
    let mut sent = message(&stage, &id, &script.prompt());
    sent.payload.permission_mode = Some(PermissionMode::BypassPermissions);
    submit(&host, sent).await.unwrap();
    let mut listener = Listener::new(&host, &id).await;
    listener.result().await;
    let pid = loop {
        // Its first line may not be written whole yet.
        match std::fs::read_to_string(&pid) {
            Ok(text) if text.ends_with('\n') => break text.trim().to_owned(),
            Ok(_) | Err(_) => tokio::task::yield_now().await,
        }
    };
    submit(&host, StopSession::new(id.clone())).await.unwrap();
    listener
        .until(|event| {
            let is_over = |status: &str| !matches!(status, "started" | "running");
            matches!(event, ClaudeEvent::Task(task) if is_over(&task.status))
        })
        .await;
    while is_running(&pid) {
        tokio::task::yield_now().await;
    }
    listener.idle().await;
    let agent = status(&host, &id).await.evidence.unwrap().pid;
    assert!(agent.is_some(), "the agent lives");
    said(&stage, &host, &mut listener, "after").await;
}

/// Whether a process is there and has not ended.
fn is_running(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_that_hangs_is_ended_by_a_stop() {
    let mut stage = Stage::new(&Agent::Simulator).await;
    // It passes its trial, and then it never says a word.
    let hang = format!(
        "case \"$PWD $*\" in *canary*|*--version*) exec {} \"$@\";; esac\n{}",
        stage.program.display(),
        stage.wait_for("go")
    );
    stage.program = stage.wrapped("agent", &hang, &stage.program);
    stage.grace = std::time::Duration::from_millis(300);
    let host = stage.open();
    let id = conversation("conv-1");
    let lost = message(&stage, &id, &Script::new().say("never").prompt());
    submit(&host, lost).await.unwrap();
    let mut listener = Listener::new(&host, &id).await;
    let pid = |status: estelle_proto::ipc::SessionStatus| status.evidence.and_then(|one| one.pid);
    while pid(status(&host, &id).await).is_none() {
        tokio::task::yield_now().await;
    }
    submit(&host, StopSession::new(id.clone())).await.unwrap();
    listener.idle().await;
    while pid(status(&host, &id).await).is_some() {
        tokio::task::yield_now().await;
    }
    stage.open_gate("go");
    said(&stage, &host, &mut listener, "after").await;
    assert!(!listener.texts().iter().any(|text| text == "never"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shutdown_sends_sigterm_at_once_and_not_after_a_part_of_the_grace() {
    let mut stage = Stage::new(&Agent::Simulator).await;
    // It hears no word of ours, only signals.
    let deaf = format!(
        "case \"$PWD $*\" in *canary*|*--version*) exec {} \"$@\";; esac\n{}",
        stage.program.display(),
        stage.wait_for("go")
    );
    stage.program = stage.wrapped("agent", &deaf, &stage.program);
    stage.grace = std::time::Duration::from_hours(1);
    let host = stage.open();
    let id = conversation("conv-1");
    let lost = message(&stage, &id, &Script::new().say("never").prompt());
    submit(&host, lost).await.unwrap();
    while status(&host, &id)
        .await
        .evidence
        .and_then(|one| one.pid)
        .is_none()
    {
        tokio::task::yield_now().await;
    }
    let limit = std::time::Duration::from_mins(2);
    let ended = tokio::time::timeout(limit, host.stop_runs("SIGTERM")).await;
    assert_eq!(ended, Ok(1), "a quarter of an hour is not at once");
}

pub(super) async fn a_new_session_drops_what_waits_in_the_agent_and_says_so(agent: &Agent) {
    let stage = Stage::new(agent).await;
    let (host, mut listener) = queued(&stage).await;
    let id = conversation("conv-1");
    submit(&host, NewSession::new(id.clone())).await.unwrap();
    listener.until(is_cancelled).await;
    assert_not_begun(&stage);
    said(&stage, &host, &mut listener, "anew").await;
    let texts = listener.texts();
    assert!(!texts.iter().any(|text| text == SAYS), "{texts:?}");
    listener.assert_dense();
}

pub(super) async fn a_shutdown_keeps_what_waits_in_the_agent_for_the_next_process(agent: &Agent) {
    let stage = Stage::new(agent).await;
    let (host, listener) = queued(&stage).await;
    let id = conversation("conv-1");
    assert_eq!(host.stop_runs("SIGTERM").await, 1);
    assert_not_begun(&stage);
    let waiting = |status: estelle_proto::ipc::SessionStatus| {
        let waiting = status.waiting.unwrap_or_default();
        let ids = waiting.into_iter().filter_map(|one| one.client_message_id);
        ids.map(|id| id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(waiting(status(&host, &id).await), [QUEUED]);
    drop((host, listener));
    let host = stage.reopen().await;
    assert_eq!(
        waiting(status(&host, &id).await),
        [QUEUED],
        "it waits until somebody asks for more"
    );
    let mut listener = Listener::new(&host, &id).await;
    listener.caught_up().await;
    submit(&host, ResumeSession::new(id.clone())).await.unwrap();
    listener.result().await;
    listener.idle().await;
    assert_eq!(listener.texts().last().map(String::as_str), Some(SAYS));
    assert_eq!(log(&stage).matches(&accepted()).count(), 1);
}

fn accepted() -> String {
    format!(r#""accepted":{{"id":"{QUEUED}""#)
}

pub(super) async fn a_stop_takes_what_waits_in_the_agent_with_it(agent: &Agent) {
    let stage = Stage::new(agent).await;
    let (host, mut listener) = queued(&stage).await;
    let id = conversation("conv-1");
    submit(&host, StopSession::new(id.clone())).await.unwrap();
    // Nothing is left to be done, so nothing is written again later.
    listener.idle().await;
    said(&stage, &host, &mut listener, "after").await;
    let texts = listener.texts();
    assert!(!texts.iter().any(|text| text == SAYS), "{texts:?}");
    assert_not_begun(&stage);
}

#[tokio::test(flavor = "multi_thread")]
async fn clearing_drops_what_waits_in_the_agent_and_tells_those_who_listen() {
    let stage = Stage::new(&Agent::Simulator).await;
    let (host, mut listener) = queued(&stage).await;
    let id = conversation("conv-1");
    submit(&host, ClearSession::new(id.clone())).await.unwrap();
    listener.until(is_cancelled).await;
    let cleared = status(&host, &id).await;
    assert_eq!(cleared.epoch, Some(Epoch(2)));
    assert_eq!(cleared.waiting, Some(Vec::new()));
}
