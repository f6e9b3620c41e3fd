//! What a tool server or the CLI itself asks of people: elicitations and dialogs.
//!
//! With a real CLI a tool server asks; the simulator, which starts no servers, prints the same request by its script.

use std::collections::BTreeMap;

use estelle_host::Host;
use estelle_proto::conversations::ConversationStatus;
use estelle_proto::decisions::{DecisionKind, DecisionState, PermissionDecision};
use estelle_proto::events::{ClaudeEvent, PermissionAsked};
use estelle_proto::ipc::{PermissionResponse, QuestionResponse, SendMessage, StopSession};
use estelle_proto::{Answer, Choice, ConversationId, ErrorCode, Json};
use estelle_sim::script::{Action, Mischief, Script};
use serde_json::{Value, json};

use super::stage::{Agent, Listener, Stage, conversation, message, status, submit};
use crate::durable::stage::kill;

/// A tool server that asks a person for a size before it answers a call, and writes down what it hears.
const SERVER: &str = r#"
id() { printf '%s' "$1" | sed 's/.*"id":\([0-9][0-9]*\).*/\1/'; }
say() { printf '%s\n' "$1"; }
while IFS= read -r line; do
  case "$line" in
    *'"method":"initialize"'*)
      say '{"jsonrpc":"2.0","id":'"$(id "$line")"',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"forms","version":"1"}}}' ;;
    *'"method":"tools/list"'*)
      say '{"jsonrpc":"2.0","id":'"$(id "$line")"',"result":{"tools":[{"name":"order","description":"Orders.","inputSchema":{"type":"object","properties":{}}}]}}' ;;
    *'"method":"tools/call"'*)
      call=$(id "$line")
      say '{"jsonrpc":"2.0","id":"size","method":"elicitation/create","params":{"message":"Which size?","requestedSchema":{"type":"object","properties":{"size":{"type":"string"}},"required":["size"]}}}' ;;
    *'"id":"size"'*)
      printf '%s\n' "$line" >> "$HEARD"
      say '{"jsonrpc":"2.0","id":'"$call"',"result":{"content":[{"type":"text","text":"ordered"}]}}' ;;
    *'"method":"ping"'*)
      say '{"jsonrpc":"2.0","id":'"$(id "$line")"',"result":{}}' ;;
  esac
done
"#;

/// How the simulator says what it was answered.
const ANSWERED: &str = "answered: ";

/// A step in which the simulated CLI asks.
fn ask(request: &Value) -> Action {
    Action::Mischief(Mischief::Ask(request.to_string()))
}

fn dialog() -> Action {
    let payload = json!({"title": "Go on?", "options": ["yes", "no"]});
    ask(&json!({"subtype": "request_user_dialog", "dialog_kind": "confirm", "payload": payload}))
}

fn elicitation() -> Action {
    let size = json!({"type": "object", "properties": {"size": {"type": "string"}}});
    ask(&json!({
        "subtype": "elicitation", "mcp_server_name": "forms", "message": "Which size?",
        "mode": "form", "requested_schema": size,
    }))
}

/// A message whose turn calls the tool of that server.
fn ordering(stage: &Stage, id: &ConversationId) -> SendMessage {
    let server = stage.path("server.sh");
    std::fs::write(&server, SERVER).unwrap();
    let script = Script::new()
        .tool("mcp__forms__order", json!({}))
        .say("done");
    let mut sent = message(stage, id, &script.prompt());
    let servers = json!({"mcpServers": {"forms": {
        "command": "/bin/sh", "args": [server], "env": {"HEARD": stage.path("heard")},
    }}});
    sent.payload.mcp_config = Some(Json::of(&servers).unwrap());
    sent
}

/// Begins a turn in which people are asked for a size.
async fn begin_elicitation(
    agent: &Agent,
    stage: &Stage,
    host: &Host,
) -> (Listener, PermissionAsked) {
    let id = conversation("conv-1");
    let mut listener = match agent {
        Agent::Simulator => begin(stage, host, Script::new().step(elicitation())).await,
        Agent::Real(_) => {
            submit(host, ordering(stage, &id)).await.unwrap();
            let mut listener = Listener::new(host, &id).await;
            let called = listener.asked().await;
            assert_eq!(called.tool_name, "mcp__forms__order");
            answer(host, &called, PermissionDecision::Allow).await;
            listener
        }
    };
    let asked = listener.asked().await;
    assert_eq!(asked.kind, Some(DecisionKind::Elicitation));
    assert_eq!(asked.tool_name, "forms");
    assert!(asked.tool_input.get().contains("Which size?"), "{asked:?}");
    (listener, asked)
}

async fn begin(stage: &Stage, host: &Host, script: Script) -> Listener {
    let id = conversation("conv-1");
    submit(host, message(stage, &id, &script.prompt()))
        .await
        .unwrap();
    Listener::new(host, &id).await
}

async fn answer(host: &Host, asked: &PermissionAsked, decision: PermissionDecision) {
    let id = conversation("conv-1");
    let answer = PermissionResponse::new(id, asked.tool_use_id.clone(), decision);
    submit(host, answer).await.unwrap();
}

/// What the one who asked has heard.
fn heard(stage: &Stage, listener: &Listener) -> Vec<Value> {
    let said = listener.texts().into_iter();
    let said = said.filter_map(|text| text.strip_prefix(ANSWERED).map(str::to_owned));
    let file = std::fs::read_to_string(stage.path("heard")).unwrap_or_default();
    let lines = file.lines().map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        line["result"].to_string()
    });
    let all = said.chain(lines);
    all.map(|text| serde_json::from_str(&text).unwrap())
        .collect()
}

/// The host dies while it is open: it is still there, is answered once, and the CLI hears it once.
async fn is_answered_over_a_death(
    stage: &Stage,
    host: Host,
    listener: Listener,
    asked: &PermissionAsked,
    given: Answer,
) -> Listener {
    let id = conversation("conv-1");
    drop((host, listener));
    let host = stage.reopen().await;
    let now = status(&host, &id).await;
    assert_eq!(now.state, ConversationStatus::Permission);
    let open = now.pending_permission.unwrap();
    assert_eq!(
        (open.tool_use_id, open.kind),
        (asked.tool_use_id.clone(), asked.kind.clone())
    );
    let mut listener = Listener::new(&host, &id).await;
    let answer = QuestionResponse::new(id.clone(), asked.tool_use_id.clone(), given);
    submit(&host, answer.clone()).await.unwrap();
    let late = submit(&host, answer).await.unwrap_err();
    assert_eq!(late.error.code, ErrorCode::AlreadyAnswered);
    listener.result().await;
    listener.idle().await;
    listener.assert_dense();
    listener
}

pub(super) async fn an_elicitation_is_answered_once_over_the_death_of_the_host(agent: &Agent) {
    let stage = Stage::new(agent).await;
    let host = stage.open();
    let (listener, asked) = begin_elicitation(agent, &stage, &host).await;
    let filled = |name: &str| {
        let value = Choice::One("L".to_owned());
        Answer::Map(BTreeMap::from([(name.to_owned(), value)]))
    };
    // One that does not fit is refused with what would, and the form stays open.
    let id = conversation("conv-1");
    let wrong = QuestionResponse::new(id, asked.tool_use_id.clone(), filled("sise"));
    let refused = submit(&host, wrong).await.unwrap_err();
    assert_eq!(refused.error.code, ErrorCode::InvalidMessage);
    assert!(refused.error.message.contains("it has size"), "{refused}");
    let given = filled("size");
    let listener = is_answered_over_a_death(&stage, host, listener, &asked, given).await;
    assert_eq!(
        heard(&stage, &listener),
        [json!({"action": "accept", "content": {"size": "L"}})]
    );
}

pub(super) async fn an_elicitation_can_be_declined(agent: &Agent) {
    let stage = Stage::new(agent).await;
    let host = stage.open();
    let (mut listener, asked) = begin_elicitation(agent, &stage, &host).await;
    answer(&host, &asked, PermissionDecision::Deny).await;
    listener.result().await;
    assert_eq!(heard(&stage, &listener), [json!({"action": "decline"})]);
}

pub(super) async fn a_stop_leaves_no_elicitation_open(agent: &Agent) {
    let stage = Stage::new(agent).await;
    let host = stage.open();
    let id = conversation("conv-1");
    let (mut listener, asked) = begin_elicitation(agent, &stage, &host).await;
    submit(&host, StopSession::new(id.clone())).await.unwrap();
    listener.idle().await;
    assert_eq!(status(&host, &id).await.pending_permission, None);
    let late = PermissionResponse::new(id.clone(), asked.tool_use_id, PermissionDecision::Allow);
    submit(&host, late).await.unwrap_err();
    // The server is told that nobody answers, not that somebody said no.
    for told in heard(&stage, &listener) {
        assert_eq!(told, json!({"action": "cancel"}));
    }
    let next = message(&stage, &id, &Script::new().say("after").prompt());
    submit(&host, next).await.unwrap();
    listener.result().await;
    assert_eq!(listener.texts().last().map(String::as_str), Some("after"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dialog_is_answered_once_over_the_death_of_the_host() {
    let stage = Stage::new(&Agent::Simulator).await;
    let host = stage.open();
    let mut listener = begin(&stage, &host, Script::new().step(dialog())).await;
    let asked = listener.asked().await;
    assert_eq!(asked.kind, Some(DecisionKind::Dialog));
    assert_eq!(asked.tool_name, "confirm");
    let given = Answer::One("yes".to_owned());
    let listener = is_answered_over_a_death(&stage, host, listener, &asked, given).await;
    assert_eq!(
        heard(&stage, &listener),
        [json!({"behavior": "completed", "result": "yes"})]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dialog_that_is_denied_is_cancelled() {
    let stage = Stage::new(&Agent::Simulator).await;
    let host = stage.open();
    let mut listener = begin(&stage, &host, Script::new().step(dialog())).await;
    let asked = listener.asked().await;
    answer(&host, &asked, PermissionDecision::Deny).await;
    listener.result().await;
    assert_eq!(heard(&stage, &listener), [json!({"behavior": "cancelled"})]);
}

/// Waits until a decision is over without an answer, and shows that it takes none any more.
async fn is_over(
    host: &Host,
    listener: &mut Listener,
    asked: &PermissionAsked,
    (state, refusal): (DecisionState, ErrorCode),
) {
    let event = listener.until(|event| matches!(event, ClaudeEvent::DecisionAnswered(_)));
    let ClaudeEvent::DecisionAnswered(over) = event.await else {
        panic!("no decision");
    };
    assert_eq!(
        (&over.tool_use_id, &over.state),
        (&asked.tool_use_id, &state)
    );
    let id = conversation("conv-1");
    assert_eq!(status(host, &id).await.pending_permission, None);
    let allow = PermissionDecision::Allow;
    let late = PermissionResponse::new(id, asked.tool_use_id.clone(), allow);
    let late = submit(host, late).await.unwrap_err();
    assert_eq!(late.error.code, refusal);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_cli_takes_back_takes_no_answer() {
    for step in [elicitation(), dialog()] {
        let stage = Stage::new(&Agent::Simulator).await;
        let host = stage.open();
        let script = Script::new().step(step).gated_at("back", 0);
        let mut listener = begin(&stage, &host, script).await;
        let asked = listener.asked().await;
        stage.open_gate("back");
        // Only the end of the process makes it void.
        let settled = (DecisionState::Settled, ErrorCode::AlreadyAnswered);
        is_over(&host, &mut listener, &asked, settled).await;
        listener.result().await;
        assert_eq!(heard(&stage, &listener), [] as [Value; 0]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_dead_cli_asked_is_void() {
    for step in [elicitation(), dialog()] {
        let stage = Stage::new(&Agent::Simulator).await;
        let host = stage.open();
        let mut listener = begin(&stage, &host, Script::new().step(step)).await;
        let asked = listener.asked().await;
        let pid = status(&host, &conversation("conv-1")).await;
        kill(pid.evidence.unwrap().pid.unwrap());
        let void = (DecisionState::Void, ErrorCode::DecisionVoid);
        is_over(&host, &mut listener, &asked, void).await;
    }
}
