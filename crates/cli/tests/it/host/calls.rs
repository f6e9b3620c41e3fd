//! Tools that clients carry out: each call by one client, and once, whoever dies.

use std::time::Duration;

use estelle_host::Host;
use estelle_host::ipc::Desk;
use estelle_host::mailbox::{Mail, MailReader, mailbox};
use estelle_proto::decisions::PermissionDecision;
use estelle_proto::events::{ClaudeEvent, ToolComplete};
use estelle_proto::ipc::{
    ClaimCall, HostToPylon, PermissionResponse, ToolCall, ToolDefinition, ToolResult, ToolServer,
};
use estelle_proto::{ApiError, ClientId, ErrorCode, Json, Name};
use estelle_sim::script::Script;
use serde_json::json;

use super::stage::{Agent, Listener, Stage, conversation, message, submit};

/// A conversation in which the agent has just called a tool of a client.
async fn called(stage: &Stage) -> (Host, Listener, ToolCall) {
    let host = stage.open();
    let id = conversation("conv-1");
    let script = Script::new()
        .tool("mcp__desk__note", json!({"text": "remember"}))
        .say("noted");
    let mut sent = message(stage, &id, &script.prompt());
    let tool = ToolDefinition::new(
        Name::parse("note").unwrap(),
        "Takes a note.".to_owned(),
        Json::of(&json!({"type": "object", "properties": {"text": {"type": "string"}}})).unwrap(),
    );
    let server = ToolServer::new(Name::parse("desk").unwrap(), vec![tool]);
    sent.payload.tool_server = Some(Box::new(server));
    let (everybody, mut mail) = mailbox();
    let enlisted = host.enlist(everybody);
    submit(&host, sent).await.unwrap();
    let mut listener = Listener::new(&host, &id).await;
    let asked = listener.asked().await;
    assert_eq!(asked.tool_name, "mcp__desk__note");
    let allow = PermissionResponse::new(id.clone(), asked.tool_use_id, PermissionDecision::Allow);
    submit(&host, allow).await.unwrap();
    let call = offered(&mut mail).await;
    drop(enlisted);
    assert_eq!(
        (call.tool.as_str(), call.arguments.get()),
        ("note", r#"{"text":"remember"}"#)
    );
    (host, listener, call)
}

async fn offered(mail: &mut MailReader) -> ToolCall {
    loop {
        let Mail::Line(line) = mail.next().await else {
            panic!("cut off");
        };
        if let HostToPylon::ToolCall(call) = serde_json::from_str(&line).unwrap() {
            return call;
        }
    }
}

fn client(name: &str) -> ClientId {
    ClientId::parse(name).unwrap()
}

/// A client claims a call; it is connected for as long as what it gets back lives.
async fn claim(host: &Host, call: &ToolCall, name: &str) -> Result<MailReader, ApiError> {
    let (mailbox, reader) = mailbox();
    let claim = ClaimCall::new(call.session_id.clone(), call.call_id.clone(), client(name));
    host.claim(claim, mailbox).await?;
    Ok(reader)
}

fn result(call: &ToolCall, name: Option<&str>) -> ToolResult {
    ToolResult {
        client: name.map(client),
        result: Some("written down".to_owned()),
        ..ToolResult::new(call.session_id.clone(), call.call_id.clone())
    }
}

async fn refused(host: &Host, result: ToolResult) -> ErrorCode {
    submit(host, result).await.unwrap_err().error.code
}

async fn returned(listener: &mut Listener) -> ToolComplete {
    let event = listener
        .until(|event| matches!(event, ClaudeEvent::ToolComplete(_)))
        .await;
    let ClaudeEvent::ToolComplete(tool) = event else {
        panic!("{event:?}");
    };
    tool
}

/// What a client is told of that waits.
async fn open_decisions(host: &Host) -> Vec<HostToPylon> {
    let (mailbox, mut mail) = mailbox();
    host.tell_decisions(mailbox).await;
    let lines = std::iter::from_fn(|| mail.take());
    let messages = lines.map(|mail| {
        let Mail::Line(line) = mail else {
            panic!("{mail:?}")
        };
        serde_json::from_str(&line).unwrap()
    });
    messages.collect()
}

pub(super) async fn a_tool_of_a_client_is_called_once_over_the_death_of_the_host(agent: &Agent) {
    let stage = Stage::new(agent).await;
    let (host, listener, call) = called(&stage).await;
    drop((host, listener));
    let host = stage.reopen().await;
    assert_eq!(
        open_decisions(&host).await,
        [HostToPylon::ToolCall(call.clone())],
        "nobody has claimed it, so it is offered again under its id"
    );
    let early = refused(&host, result(&call, Some("one"))).await;
    assert_eq!(early, ErrorCode::Conflict, "nobody begins without a claim");
    let holder = claim(&host, &call, "one").await.unwrap();
    let late = claim(&host, &call, "other").await.unwrap_err();
    assert_eq!(late.code, ErrorCode::Conflict);
    drop((host, holder));
    let host = stage.reopen().await;
    assert_eq!(
        open_decisions(&host).await,
        [],
        "it is offered to nobody else"
    );
    let late = claim(&host, &call, "other").await.unwrap_err();
    assert_eq!(
        late.code,
        ErrorCode::Conflict,
        "a new host knows whose it is"
    );
    let _holder = claim(&host, &call, "one").await.unwrap();
    for stranger in [None, Some("other")] {
        let code = refused(&host, result(&call, stranger)).await;
        assert_eq!(code, ErrorCode::Conflict);
    }
    submit(&host, result(&call, Some("one"))).await.unwrap();
    let second = refused(&host, result(&call, Some("one"))).await;
    assert_eq!(second, ErrorCode::UnknownToolUse);
    let mut listener = Listener::new(&host, &conversation("conv-1")).await;
    assert_eq!(returned(&mut listener).await.result, "written down");
    listener.result().await;
    listener.idle().await;
    assert_eq!(listener.texts(), ["noted"]);
}

/// Lets time pass until the log says something.
async fn until_log_says(stage: &Stage, words: &str) {
    let log = stage.path("data/conversations/conv-1/log.jsonl");
    tokio::time::pause();
    while !std::fs::read_to_string(&log).unwrap().contains(words) {
        tokio::time::advance(Duration::from_secs(5)).await;
        tokio::task::yield_now().await;
    }
    tokio::time::resume();
}

#[tokio::test]
async fn a_call_whose_client_does_not_come_back_has_an_unknown_outcome() {
    let stage = Stage::new(&Agent::Simulator).await;
    let (host, mut listener, call) = called(&stage).await;
    let holder = claim(&host, &call, "one").await.unwrap();
    drop(holder);
    until_log_says(&stage, "outcome of this call is unknown").await;
    let tool = returned(&mut listener).await;
    assert!(
        !tool.success && tool.result.contains("may have been carried out"),
        "{tool:?}"
    );
    let late = refused(&host, result(&call, Some("one"))).await;
    assert_eq!(late, ErrorCode::UnknownToolUse);
    listener.result().await;
    assert_eq!(listener.texts(), ["noted"]);
}

#[tokio::test]
async fn a_call_that_was_begun_is_not_begun_again_when_host_and_client_die() {
    let stage = Stage::new(&Agent::Simulator).await;
    let (host, listener, call) = called(&stage).await;
    let holder = claim(&host, &call, "one").await.unwrap();
    drop((host, holder, listener));
    let host = stage.reopen().await;
    let mut listener = Listener::new(&host, &conversation("conv-1")).await;
    listener.caught_up().await;
    // The client that has forgotten is another one.
    let late = claim(&host, &call, "another life of one")
        .await
        .unwrap_err();
    assert_eq!(late.code, ErrorCode::Conflict);
    until_log_says(&stage, "outcome of this call is unknown").await;
    assert!(!returned(&mut listener).await.success);
}

#[tokio::test]
async fn a_client_that_comes_back_in_time_still_has_its_call() {
    let stage = Stage::new(&Agent::Simulator).await;
    let (host, mut listener, call) = called(&stage).await;
    drop(claim(&host, &call, "one").await.unwrap());
    let back = claim(&host, &call, "one").await.unwrap();
    tokio::time::pause();
    for _ in 0..60 {
        tokio::time::advance(Duration::from_secs(5)).await;
        tokio::task::yield_now().await;
    }
    tokio::time::resume();
    submit(&host, result(&call, Some("one"))).await.unwrap();
    assert_eq!(returned(&mut listener).await.result, "written down");
    drop(back);
}
