//! The built-in server, message by message: handshake, listing, calls, cancellation and every refusal.

use std::sync::atomic::{AtomicUsize, Ordering};

use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::{Notify, mpsc};

use super::*;
use crate::mcp::{NoInput, ToolError, tool};

#[derive(Deserialize, JsonSchema)]
struct Greeting {
    name: String,
}

struct Peer(Box<dyn ServerConnection>);

impl Peer {
    fn new(tools: impl IntoIterator<Item = Tool>) -> Self {
        let server = BuiltinServer::new("srv".into(), "2".into(), tools.into_iter().collect())
            .expect("valid tools");
        let (sender, _) = mpsc::channel(1);
        Self(server.connect(Outbox::new("srv", sender)))
    }

    async fn ask(&self, method: &str, params: Value) -> Value {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let mut answer = self.0.handle(message).await.expect("requests are answered");
        assert_eq!(
            (answer["jsonrpc"].take(), answer["id"].take()),
            (json!("2.0"), json!(1))
        );
        if answer.get("result").is_some() {
            answer["result"].take()
        } else {
            answer["error"].take()
        }
    }

    async fn call(&self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({"name": tool, "arguments": arguments}))
            .await
    }
}

fn error_result(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}], "isError": true})
}

fn greet() -> Tool {
    tool("greet", "Greets.", async |input: Greeting| {
        Ok(format!("hello {}", input.name))
    })
}

#[tokio::test]
async fn the_protocol_version_is_the_clients_if_known_and_else_the_newest() {
    let peer = Peer::new([greet()]);
    for (asked, given) in [
        (json!({"protocolVersion": "2025-11-25"}), "2025-11-25"),
        (json!({"protocolVersion": "2024-11-05"}), "2024-11-05"),
        (json!({"protocolVersion": "2031-01-01"}), "2025-11-25"),
        (Value::Null, "2025-11-25"),
    ] {
        let answer = peer.ask("initialize", asked).await;
        assert_eq!(answer["protocolVersion"], given);
        assert_eq!(answer["serverInfo"], json!({"name": "srv", "version": "2"}));
    }
}

#[tokio::test]
async fn the_manifest_is_what_the_handshake_says() {
    let server = BuiltinServer::new("srv".into(), "2".into(), vec![greet().read_only()])
        .expect("valid tools");
    server.set_instructions("be kind".into());
    server.set_always_load();
    let manifest = server.manifest().expect("a manifest");
    let (sender, _) = mpsc::channel(1);
    let peer = Peer(server.connect(Outbox::new("srv", sender)));
    let initialize = peer
        .ask("initialize", json!({"protocolVersion": "2025-11-25"}))
        .await;
    assert_eq!(initialize["instructions"], "be kind");
    assert_eq!(manifest.initialize_result, initialize);
    assert_eq!(
        manifest.tools_list_result,
        Some(peer.ask("tools/list", Value::Null).await)
    );
    let written = serde_json::to_value(&manifest).expect("JSON");
    assert_eq!(
        written["toolsListResult"]["tools"][0]["annotations"],
        json!({"readOnlyHint": true})
    );
    assert_eq!(
        written["toolsListResult"]["tools"][0]["_meta"],
        json!({"anthropic/alwaysLoad": true})
    );
    assert_eq!(
        written["initializeResult"]["capabilities"],
        json!({"tools": {"listChanged": true}})
    );
}

#[tokio::test]
async fn ping_is_answered_and_unknown_methods_refused() {
    let peer = Peer::new([]);
    assert_eq!(peer.ask("ping", Value::Null).await, json!({}));
    let refused = json!({"code": -32601, "message": "method not found: resources/list"});
    assert_eq!(peer.ask("resources/list", Value::Null).await, refused);
}

#[tokio::test]
async fn bad_parameters_are_protocol_errors() {
    let peer = Peer::new([greet()]);
    for (params, message) in [
        (Value::Null, "tools/call needs the `name` of a tool"),
        (json!({"name": 3}), "tools/call needs the `name` of a tool"),
        (json!({"name": "nope"}), "unknown tool: nope"),
        (
            json!({"name": "greet", "arguments": [1]}),
            "the `arguments` of tools/call must be an object",
        ),
    ] {
        let expected = json!({"code": -32602, "message": message});
        assert_eq!(peer.ask("tools/call", params).await, expected);
    }
}

#[tokio::test]
async fn messages_that_are_no_requests() {
    let peer = Peer::new([]);
    for silent in [
        json!({"method": "notifications/initialized"}),
        json!({"method": "notifications/cancelled", "params": {"requestId": 99}}),
        json!({"method": "notifications/cancelled"}),
        json!({"id": 4, "result": {}}),
    ] {
        assert_eq!(peer.0.handle(silent).await, None);
    }
    let answer = peer.0.handle(json!("hi")).await.expect("refused");
    assert_eq!(
        (&answer["error"]["code"], &answer["id"]),
        (&json!(-32600), &Value::Null)
    );
}

#[tokio::test]
async fn what_goes_wrong_in_a_tool_is_told_to_the_model() {
    let peer = Peer::new([
        greet(),
        tool("fails", "d", async |_: NoInput| {
            Err::<String, _>(ToolError::new("no luck"))
        }),
        tool(
            "panics",
            "d",
            async |_: NoInput| -> Result<String, ToolError> { panic!("boom {}", 1) },
        ),
        Tool::from_schema(
            "early",
            "d",
            json!({"type": "object"}),
            |_| -> BoxFuture<'static, Result<String, ToolError>> {
                panic!("before the first await")
            },
        ),
    ]);
    assert_eq!(
        peer.call("greet", json!({})).await,
        error_result("invalid input: missing field `name`")
    );
    assert_eq!(
        peer.call("greet", json!({"name": 3})).await,
        error_result("invalid input at `name`: invalid type: integer `3`, expected a string")
    );
    assert_eq!(
        peer.call("fails", Value::Null).await,
        error_result("no luck")
    );
    assert_eq!(
        peer.call("panics", json!({})).await,
        error_result("the tool `panics` failed: boom 1")
    );
    assert_eq!(
        peer.call("early", json!({})).await,
        error_result("the tool `early` failed: before the first await")
    );
    assert_eq!(
        peer.call("greet", json!({"name": "bob"})).await["content"][0]["text"],
        "hello bob"
    );
}

#[tokio::test]
async fn a_handler_learns_which_tool_use_it_serves() {
    let peer = Peer::new([Tool::with_call(
        "id",
        "d",
        |_: NoInput, call: ToolCall| async move {
            Ok(format!(
                "{:?} {}",
                call.tool_use_id, call.meta["progressToken"]
            ))
        },
    )]);
    let meta = json!({"claudecode/toolUseId": "toolu_1", "progressToken": 2});
    let answer = peer
        .ask("tools/call", json!({"name": "id", "_meta": meta}))
        .await;
    assert_eq!(answer["content"][0]["text"], "Some(\"toolu_1\") 2");
}

/// A tool that counts how often it was dropped before its end, and ends when told.
fn waiting(release: Arc<Notify>, dropped: Arc<AtomicUsize>) -> Tool {
    struct CountDrop(Arc<AtomicUsize>);
    impl Drop for CountDrop {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    tool("wait", "d", move |_: NoInput| {
        let (release, guard) = (Arc::clone(&release), CountDrop(Arc::clone(&dropped)));
        async move {
            release.notified().await;
            std::mem::forget(guard);
            Ok("done")
        }
    })
}

fn request(id: impl Into<Value>) -> Value {
    json!({"id": id.into(), "method": "tools/call", "params": {"name": "wait"}})
}

#[tokio::test]
async fn calls_run_side_by_side() {
    let release = Arc::new(Notify::new());
    let peer = Peer::new([waiting(Arc::clone(&release), Arc::default()), greet()]);
    let mut slow = peer.0.handle(request(1));
    assert!(futures_util::poll!(&mut slow).is_pending());
    assert_eq!(
        peer.call("greet", json!({"name": "x"})).await["content"][0]["text"],
        "hello x"
    );
    release.notify_one();
    assert_eq!(
        slow.await.expect("answered")["result"]["content"][0]["text"],
        "done"
    );
}

#[tokio::test]
async fn a_cancelled_call_stops_and_is_answered() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let release = Arc::new(Notify::new());
    let peer = Peer::new([waiting(Arc::clone(&release), Arc::clone(&dropped))]);
    let mut number = peer.0.handle(request(1));
    let mut text = peer.0.handle(request("1"));
    assert!(futures_util::poll!(&mut number).is_pending());
    assert!(futures_util::poll!(&mut text).is_pending());

    let cancel =
        json!({"method": "notifications/cancelled", "params": {"requestId": 1, "reason": "stop"}});
    assert_eq!(peer.0.handle(cancel).await, None);
    let answer = number.await.expect("answered");
    assert_eq!(
        (&answer["error"]["code"], &answer["id"]),
        (&json!(-32800), &json!(1))
    );
    assert_eq!(dropped.load(Ordering::SeqCst), 1, "the handler was stopped");

    release.notify_one();
    assert_eq!(
        text.await.expect("the other call goes on")["result"]["content"][0]["text"],
        "done"
    );
}

#[tokio::test]
async fn a_cancellation_that_overtakes_the_first_poll_holds() {
    let peer = Peer::new([waiting(Arc::default(), Arc::default())]);
    let call = peer.0.handle(request(5));
    peer.0
        .handle(json!({"method": "notifications/cancelled", "params": {"requestId": 5}}))
        .await;
    assert_eq!(call.await.expect("answered")["error"]["code"], -32800);
}

#[tokio::test]
async fn a_dropped_call_leaves_nothing_behind() {
    let server = BuiltinServer::new(
        "srv".into(),
        "2".into(),
        vec![waiting(Arc::default(), Arc::default())],
    );
    let server = server.expect("valid tools");
    let connection = BuiltinConnection {
        greeting: Value::Null,
        catalogue: Arc::clone(&server.catalogue),
        running: Arc::default(),
        _outbox: Arc::new(Outbox::new("srv", mpsc::channel(1).0)),
    };
    let call = connection.handle(request(1));
    assert_eq!(lock(&connection.running).len(), 1);
    drop(call);
    assert!(lock(&connection.running).is_empty());
}

#[test]
fn tools_that_no_model_could_call_are_refused() {
    let named = |name: &str| tool(name, "d", async |_: NoInput| Ok(""));
    let refused = |tools: Vec<Tool>| {
        BuiltinServer::new("s".into(), "1".into(), tools)
            .err()
            .map(|error| error.to_string())
    };
    assert_eq!(refused(vec![named("a"), named("b.c-d_E9")]), None);
    assert_eq!(
        refused(vec![named("a"), named("a")]).as_deref(),
        Some("two tools are named `a`")
    );
    for bad in ["", "a b", "ä", &"x".repeat(129)] {
        assert!(
            refused(vec![named(bad)])
                .is_some_and(|error| error.contains("is not 1 to 128 letters")),
            "{bad}"
        );
    }
    let text = tool("t", "d", async |text: String| Ok(text));
    assert!(
        refused(vec![text])
            .is_some_and(|error| error.contains("`t` is not described by a plain object schema"))
    );
}
