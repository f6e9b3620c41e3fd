//! Processes that end, are stopped, resumed and forgotten.

use std::time::Duration;

use estelle_proto::conversations::ConversationStatus;
use estelle_proto::decisions::{DecisionState, PermissionDecision};
use estelle_proto::events::ClaudeEvent;
use estelle_proto::ipc::{
    ClearSession, DeleteSession, HostToPylon, NewSession, PermissionResponse, ProcessStatus,
    ResumeSession, StopSession, Subscribe,
};
use estelle_proto::runs::PauseReason;
use estelle_proto::{ClaudeSessionId, Epoch, ErrorCode, ToolUseId};
use estelle_sim::script::Script;
use serde_json::json;

use super::heard;
use super::stage::{Agent, Listener, Stage, conversation, message, status, submit};
use crate::durable::stage::kill;

pub(super) async fn said(
    stage: &Stage,
    host: &estelle_host::Host,
    listener: &mut Listener,
    text: &str,
) {
    let id = conversation("conv-1");
    let prompt = Script::new().say(text).prompt();
    submit(host, message(stage, &id, &prompt)).await.unwrap();
    listener.result().await;
    listener.idle().await;
    assert_eq!(listener.texts().last().map(String::as_str), Some(text));
}

pub(super) async fn opened(stage: &Stage) -> (estelle_host::Host, Listener) {
    let host = stage.open();
    let id = conversation("conv-1");
    let prompt = Script::new().say("first").prompt();
    submit(&host, message(stage, &id, &prompt)).await.unwrap();
    let mut listener = Listener::new(&host, &id).await;
    listener.result().await;
    listener.idle().await;
    (host, listener)
}

pub(super) async fn a_stopped_process_is_resumed_with_its_history(agent: &Agent) {
    let stage = Stage::new(agent).await;
    let (host, mut listener) = opened(&stage).await;
    let id = conversation("conv-1");
    let session = status(&host, &id).await.claude_session_id;
    let stop = StopSession {
        end_process: Some(true),
        ..StopSession::new(id.clone())
    };
    submit(&host, stop).await.unwrap();
    let event = listener
        .until(|event| matches!(event, ClaudeEvent::Paused(_)))
        .await;
    let ClaudeEvent::Paused(paused) = event else {
        panic!("{event:?}");
    };
    assert_eq!(
        (paused.reason, paused.can_resume),
        (PauseReason::Manual, true)
    );
    assert_eq!(
        status(&host, &id).await.process,
        Some(ProcessStatus::Stopped)
    );
    let done = submit(&host, ResumeSession::new(id.clone())).await.unwrap();
    assert_eq!(done.resumed_with_history, Some(true));
    let again = submit(&host, ResumeSession::new(id.clone()))
        .await
        .unwrap_err();
    assert_eq!(again.error.code, ErrorCode::Conflict);
    said(&stage, &host, &mut listener, "second").await;
    assert_eq!(status(&host, &id).await.claude_session_id, session);
    let resumed = listener.events.iter().any(
        |event| matches!(&event.event, ClaudeEvent::Resumed(resumed) if resumed.resumed_with_history),
    );
    assert!(resumed, "everybody is told");
}

pub(super) async fn a_session_that_is_gone_is_begun_afresh_once(agent: &Agent) {
    heard::begin();
    let stage = Stage::new(agent).await;
    let (host, mut listener) = opened(&stage).await;
    let id = conversation("conv-1");
    let session = status(&host, &id).await.claude_session_id;
    let stop = StopSession {
        end_process: Some(true),
        ..StopSession::new(id.clone())
    };
    submit(&host, stop).await.unwrap();
    std::fs::remove_dir_all(stage.path("home/.claude/projects")).unwrap();
    let prompt = Script::new().say("fresh").prompt();
    submit(&host, message(&stage, &id, &prompt)).await.unwrap();
    let event = listener
        .until(|event| matches!(event, ClaudeEvent::Resumed(_)))
        .await;
    assert!(
        matches!(&event, ClaudeEvent::Resumed(resumed) if !resumed.resumed_with_history),
        "{event:?}"
    );
    listener.result().await;
    listener.idle().await;
    assert_eq!(listener.texts().last().map(String::as_str), Some("fresh"));
    let now = status(&host, &id).await;
    let gone = session.as_ref().map(ClaudeSessionId::as_str).unwrap();
    assert!(heard::warned(gone, "does not exist any more"));
    assert_ne!(now.claude_session_id, session);
    assert_eq!(
        now.evidence
            .unwrap()
            .generation
            .map(|generation| generation.0),
        Some(3)
    );
}

pub(super) async fn a_killed_agent_is_reported_and_not_restarted(agent: &Agent) {
    let stage = Stage::new(agent).await;
    let host = stage.open();
    let id = conversation("conv-1");
    let file = stage.path("work/a.txt");
    let script = Script::new()
        .tool("Write", json!({"file_path": &file, "content": "x"}))
        .say("done");
    submit(&host, message(&stage, &id, &script.prompt()))
        .await
        .unwrap();
    let mut listener = Listener::new(&host, &id).await;
    let asked = listener.asked().await;
    kill(status(&host, &id).await.evidence.unwrap().pid.unwrap());
    let event = listener
        .until(|event| matches!(event, ClaudeEvent::Error(_)))
        .await;
    assert!(
        matches!(&event, ClaudeEvent::Error(error) if error.exit_code == Some(137)),
        "{event:?}"
    );
    listener.idle().await;
    let void = listener.events.iter().any(|event| {
        matches!(&event.event, ClaudeEvent::DecisionAnswered(answered) if answered.state == DecisionState::Void)
    });
    assert!(void, "the card disappears");
    let late = PermissionResponse::new(id.clone(), asked.tool_use_id, PermissionDecision::Allow);
    let refused = submit(&host, late).await.unwrap_err();
    assert_eq!(refused.error.code, ErrorCode::DecisionVoid);
    let now = status(&host, &id).await;
    assert_eq!(now.process, Some(ProcessStatus::Error));
    assert_eq!(now.evidence.unwrap().exit_code, Some(137));
    assert!(!file.exists());
    said(&stage, &host, &mut listener, "back again").await;
    listener.assert_dense();
}

pub(super) async fn a_new_session_forgets_what_was_said(agent: &Agent) {
    let stage = Stage::new(agent).await;
    let (host, mut listener) = opened(&stage).await;
    let id = conversation("conv-1");
    let session = status(&host, &id).await.claude_session_id;
    submit(&host, NewSession::new(id.clone())).await.unwrap();
    listener
        .until(|event| matches!(event, ClaudeEvent::SessionReset(_)))
        .await;
    assert_eq!(status(&host, &id).await.claude_session_id, None);
    said(&stage, &host, &mut listener, "anew").await;
    assert_ne!(status(&host, &id).await.claude_session_id, session);
    let resumed = listener
        .events
        .iter()
        .any(|event| matches!(event.event, ClaudeEvent::Resumed(_)));
    assert!(!resumed, "a new session resumes nothing");
    listener.assert_dense();
}

/// The calls by which sub-agents were begun.
fn calls_of_agents(listener: &Listener) -> Vec<ToolUseId> {
    let calls = listener.events.iter().filter_map(|event| {
        let ClaudeEvent::ToolInfo(tool) = &event.event else {
            return None;
        };
        let is_agent = ["Agent", "Task"].contains(&tool.tool_name.as_str());
        tool.tool_use_id.clone().filter(|_| is_agent)
    });
    calls.collect()
}

pub(super) async fn a_sub_agent_may_ask_after_its_turn_has_ended(agent: &Agent) {
    let stage = Stage::new(agent).await;
    let host = stage.open();
    let id = conversation("conv-1");
    let file = stage.path("work/from-sub");
    let sub = Script::new()
        .tool("Write", json!({"file_path": &file, "content": "x"}))
        .say("sub done")
        .prompt();
    let input = json!({
        "description": "write it", "prompt": sub, "subagent_type": "general-purpose", "run_in_background": true,
    });
    let script = Script::new().tool("Agent", input).say("main done");
    let mut sent = message(&stage, &id, &script.prompt());
    sent.payload.permission_mode = None;
    submit(&host, sent).await.unwrap();
    let mut listener = Listener::new(&host, &id).await;
    loop {
        let asked = listener.asked().await;
        let is_last = asked.tool_name == "Write";
        if is_last {
            assert_eq!(asked.parent_tool_use_id, calls_of_agents(&listener).pop());
            assert!(!file.exists());
            assert_eq!(
                status(&host, &id).await.state,
                ConversationStatus::Permission
            );
        }
        let allow =
            PermissionResponse::new(id.clone(), asked.tool_use_id, PermissionDecision::Allow);
        submit(&host, allow).await.unwrap();
        if is_last {
            break;
        }
    }
    listener.idle().await;
    assert!(file.exists());
    let tasks = listener
        .events
        .iter()
        .any(|event| matches!(&event.event, ClaudeEvent::Task(task) if task.status == "completed"));
    assert!(tasks, "the end of the background task is told");
    listener.assert_dense();
}

pub(super) async fn a_session_belongs_to_one_conversation_at_a_time(agent: &Agent) {
    let stage = Stage::new(agent).await;
    let (host, _listener) = opened(&stage).await;
    let session = status(&host, &conversation("conv-1"))
        .await
        .claude_session_id;
    let other = conversation("conv-2");
    let mut sent = message(&stage, &other, &Script::new().say("mine now").prompt());
    sent.payload.claude_session_id = session;
    submit(&host, sent).await.unwrap();
    let mut listener = Listener::new(&host, &other).await;
    let event = listener
        .until(|event| matches!(event, ClaudeEvent::Error(_)))
        .await;
    assert!(
        matches!(&event, ClaudeEvent::Error(error) if error.error.contains("conv-1")),
        "{event:?}"
    );
    listener.idle().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn clearing_begins_a_new_epoch_and_tells_those_who_listen() {
    let stage = Stage::new(&Agent::Simulator).await;
    let (host, mut listener) = opened(&stage).await;
    let id = conversation("conv-1");
    let last = listener.events.last().cloned().unwrap();
    submit(&host, ClearSession::new(id.clone())).await.unwrap();
    let began = loop {
        if let HostToPylon::Subscribed(began) = listener.message().await
            && began.epoch == Epoch(2)
        {
            break began;
        }
    };
    assert!(began.fresh);
    let cursor = Subscribe {
        epoch: last.epoch,
        seq: last.seq,
        chain_hash: last.chain_hash,
        ..Subscribe::new(id.clone())
    };
    let mut late = Listener::from(&host, cursor).await;
    let HostToPylon::Subscribed(began) = late.message().await else {
        panic!("no beginning");
    };
    assert!(began.fresh, "an old cursor is void, and that is said");
    said(&stage, &host, &mut late, "after").await;
    assert_eq!(late.texts(), ["after"]);
    assert_eq!(
        late.events
            .first()
            .and_then(|event| event.seq)
            .map(|seq| seq.0),
        Some(1)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_conversation_leaves_nothing() {
    let stage = Stage::new(&Agent::Simulator).await;
    let (host, _listener) = opened(&stage).await;
    let id = conversation("conv-1");
    let pid = status(&host, &id).await.evidence.unwrap().pid.unwrap();
    submit(&host, DeleteSession::new(id.clone())).await.unwrap();
    assert!(
        estelle_host::run::shim::start_ticks(pid).is_err(),
        "its process is gone"
    );
    assert!(!stage.path("data/conversations/conv-1").exists());
    let refused = submit(&host, StopSession::new(id.clone()))
        .await
        .unwrap_err();
    assert_eq!(refused.error.code, ErrorCode::UnknownConversation);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_files_were_removed_is_ended_and_the_conversation_goes_on() {
    for file in ["out.jsonl", "in.fifo"] {
        let stage = Stage::new(&Agent::Simulator).await;
        let (host, listener) = opened(&stage).await;
        let id = conversation("conv-1");
        let pid = status(&host, &id).await.evidence.unwrap().pid.unwrap();
        drop((host, listener));
        std::fs::remove_file(stage.path("data/conversations/conv-1/runs/1").join(file)).unwrap();
        let host = stage.reopen().await;
        let mut listener = Listener::new(&host, &id).await;
        listener
            .until(|event| matches!(event, ClaudeEvent::Error(_)))
            .await;
        assert!(
            estelle_host::run::shim::start_ticks(pid).is_err(),
            "nobody can hear it, so it is ended ({file})"
        );
        said(&stage, &host, &mut listener, "back again").await;
        listener.assert_dense();
    }
}

#[tokio::test]
async fn an_idle_process_is_stopped_after_a_warning() {
    let stage = Stage::new(&Agent::Simulator).await;
    let (host, mut listener) = opened(&stage).await;
    let id = conversation("conv-1");
    // From here on the clock runs ahead whenever everybody waits.
    listener.patience = Duration::from_hours(2);
    tokio::time::pause();
    listener
        .until(|event| matches!(event, ClaudeEvent::IdleWarning(_)))
        .await;
    let event = listener
        .until(|event| matches!(event, ClaudeEvent::Paused(_)))
        .await;
    assert!(
        matches!(&event, ClaudeEvent::Paused(paused) if paused.reason == PauseReason::IdleTimeout && paused.idle_minutes >= 30),
        "{event:?}"
    );
    tokio::time::resume();
    assert_eq!(
        status(&host, &id).await.process,
        Some(ProcessStatus::Stopped)
    );
    assert_eq!(status(&host, &id).await.state, ConversationStatus::Idle);
    said(&stage, &host, &mut listener, "awake").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_ends_in_good_order_is_noticed_at_once() {
    let stage = Stage::new(&Agent::Simulator).await;
    let (host, mut listener) = opened(&stage).await;
    let id = conversation("conv-1");
    let pid = status(&host, &id).await.evidence.unwrap().pid.unwrap();
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    // The simulator ends with the code 0 then, as the agent does.
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    loop {
        let HostToPylon::Event(told) = listener.message().await else {
            continue;
        };
        assert!(!matches!(told.event, ClaudeEvent::Error(_)), "{told:?}");
        if matches!(told.event, ClaudeEvent::Waiting(_)) {
            break;
        }
    }
    let now = status(&host, &id).await;
    assert_eq!(now.process, Some(ProcessStatus::Completed));
}
