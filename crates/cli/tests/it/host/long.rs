//! Messages that no pipe holds, which the agent reads in a file.

use estelle_proto::ClientMessageId;
use estelle_proto::events::ClaudeEvent;
use estelle_proto::ipc::NewSession;
use estelle_proto::limits::MAX_PROMPT_BYTES;
use estelle_sim::script::Script;
use serde_json::json;

use super::stage::{Agent, Listener, Stage, conversation, message, submit};

const ID: &str = "0b5f6c0e-0c41-4a5e-9f43-3f0d7f7a1c11";

/// What stands in the first line.
const HEART: &str = "the heart of it";

/// A text that may be sent, and of which the JSON is longer than any pipe.
fn long() -> String {
    let line = format!("{}\n", "\"".repeat(79));
    let mut text = format!("{HEART}\n");
    while text.len() + line.len() <= MAX_PROMPT_BYTES {
        text.push_str(&line);
    }
    text.extend(std::iter::repeat_n('"', MAX_PROMPT_BYTES - text.len()));
    text
}

pub(super) async fn a_message_that_no_pipe_holds_can_be_read_and_its_neighbours_cannot(
    agent: &Agent,
) {
    let stage = Stage::new(agent).await;
    let host = stage.open();
    let id = conversation("conv-1");
    let mut sent = message(&stage, &id, &long());
    sent.payload.client_message_id = Some(ClientMessageId::parse(ID).unwrap());
    submit(&host, sent).await.unwrap();
    let mut listener = Listener::new(&host, &id).await;
    listener.result().await;
    listener.idle().await;
    let run = stage.path("data/conversations/conv-1/runs/1");
    let run = run.canonicalize().unwrap();
    let file = run.join(format!("message-{ID}.md"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), long());
    // Which file it is, is not kept in the memory of a host.
    drop((host, listener));
    let host = stage.reopen().await;
    let mut listener = Listener::new(&host, &id).await;
    listener.caught_up().await;
    listener.events.clear();
    let script = Script::new()
        .tool("Read", json!({"file_path": &file, "offset": 1, "limit": 5}))
        .tool("Read", json!({"file_path": run.join("launch.json")}))
        .tool("Read", json!({"file_path": run.join("../../log.jsonl")}))
        .say("read");
    submit(&host, message(&stage, &id, &script.prompt()))
        .await
        .unwrap();
    listener.result().await;
    listener.idle().await;
    let tools = listener.events.iter();
    let tools: Vec<_> = tools
        .filter_map(|event| super::returned_tool(&event.event))
        .collect();
    assert_eq!(tools.len(), 3, "{tools:?}");
    assert!(
        tools[0].success && tools[0].result.contains(HEART),
        "{tools:?}"
    );
    for refused in &tools[1..] {
        assert!(
            !refused.success && refused.result.contains("Protected folder"),
            "{refused:?}"
        );
    }
    let log = std::fs::read_to_string(stage.path("data/conversations/conv-1/log.jsonl")).unwrap();
    assert_eq!(
        log.matches("is a message of the user to this process")
            .count(),
        1,
        "the verdict is in the log"
    );
    submit(&host, NewSession::new(id.clone())).await.unwrap();
    listener
        .until(|event| matches!(event, ClaudeEvent::SessionReset(_)))
        .await;
    assert!(
        !file.exists(),
        "it goes with the process that was told of it"
    );
}
