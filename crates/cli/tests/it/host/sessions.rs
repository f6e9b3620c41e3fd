//! Sessions that change under a conversation: the agent's own `/clear`, and an agent that takes up another one.

use estelle_proto::decisions::PermissionDecision;
use estelle_proto::events::ClaudeEvent;
use estelle_proto::ipc::{PermissionResponse, StopSession};
use estelle_sim::script::Script;
use serde_json::json;

use super::heard;
use super::lifecycle::{opened, said};
use super::stage::{Agent, Listener, Stage, conversation, message, status, submit};

/// Makes the agent write a file, and answers it when it asks.
async fn written(
    stage: &Stage,
    host: &estelle_host::Host,
    listener: &mut Listener,
    name: &str,
    decision: PermissionDecision,
) {
    let id = conversation("conv-1");
    let input = json!({"file_path": stage.path("work").join(name), "content": "x"});
    let prompt = Script::new().tool("Write", input).say("done").prompt();
    submit(host, message(stage, &id, &prompt)).await.unwrap();
    let asked = listener.asked().await;
    let answer = PermissionResponse::new(id, asked.tool_use_id, decision);
    submit(host, answer).await.unwrap();
    listener.result().await;
}

pub(super) async fn the_agents_own_clear_is_told_and_forgets_what_was_allowed(agent: &Agent) {
    let stage = Stage::new(agent).await;
    let (host, mut listener) = opened(&stage).await;
    let id = conversation("conv-1");
    let all = PermissionDecision::AllowAll;
    written(&stage, &host, &mut listener, "a.txt", all).await;
    listener.idle().await;
    let session = status(&host, &id).await.claude_session_id;
    submit(&host, message(&stage, &id, "/clear")).await.unwrap();
    let event = listener
        .until(|event| matches!(event, ClaudeEvent::SessionReset(_)))
        .await;
    assert!(
        matches!(&event, ClaudeEvent::SessionReset(reset) if reset.reason == "clear"),
        "{event:?}"
    );
    let event = listener
        .until(|event| matches!(event, ClaudeEvent::Init(_)))
        .await;
    let ClaudeEvent::Init(init) = event else {
        panic!("{event:?}");
    };
    assert_ne!(Some(init.session_id), session);
    // It is asked about again: what was allowed was allowed in the session before.
    let deny = PermissionDecision::Deny;
    written(&stage, &host, &mut listener, "b.txt", deny).await;
    assert!(stage.path("work/a.txt").exists() && !stage.path("work/b.txt").exists());
    listener.assert_dense();
}

/// C28: an agent that was told to take a session up and works on another one has no history.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_works_on_another_session_than_it_was_given_is_not_said_to_remember() {
    heard::begin();
    let mut stage = Stage::new(&Agent::Simulator).await;
    let forget = r#"left=$#
while [ "$left" -gt 0 ]; do
  word=$1; shift; left=$((left - 1))
  case "$word" in
    --resume=*) ;;
    --resume) shift; left=$((left - 1));;
    *) set -- "$@" "$word";;
  esac
done"#;
    stage.program = stage.wrapped("agent", forget, &stage.program);
    let (host, mut listener) = opened(&stage).await;
    let id = conversation("conv-1");
    let session = status(&host, &id).await.claude_session_id.unwrap();
    let stop = StopSession {
        end_process: Some(true),
        ..StopSession::new(id.clone())
    };
    submit(&host, stop).await.unwrap();
    said(&stage, &host, &mut listener, "second").await;
    let told = listener.events.iter().filter_map(|event| {
        let ClaudeEvent::Resumed(resumed) = &event.event else {
            return None;
        };
        Some(resumed.resumed_with_history)
    });
    let told: Vec<_> = told.collect();
    assert_eq!(told, [false]);
    assert_ne!(
        status(&host, &id).await.claude_session_id,
        Some(session.clone())
    );
    let is_warned = heard::warned(session.as_str(), "did not take up the session");
    assert!(is_warned, "somebody is told why the history is gone");
}
