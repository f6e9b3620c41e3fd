//! The bridge against the exchanges recorded from a real CLI, and against servers that misbehave.

use serde_json::json;

use super::*;
use crate::mcp::{NoInput, Tool, ToolServer, create_sdk_mcp_server, tool};

/// What the CLI asked of an in-process server in a recorded session, and what it was answered. The recorded server
/// declared fewer capabilities, so that part of the first answer differs.
const RECORDED: &str = include_str!("bridge_recorded.jsonl");

fn greeter() -> SdkMcpServer {
    let schema = json!({"type": "object", "properties": {"n": {"type": "string"}}});
    let greet = Tool::from_schema("greet", "greet", schema, async |call| {
        Ok(format!(
            "hello {}",
            call.arguments["n"].as_str().unwrap_or_default()
        ))
    });
    create_sdk_mcp_server("inproc", "1", [greet]).expect("a valid server")
}

fn servers(server: SdkMcpServer) -> McpServers {
    McpServers::from([("inproc".to_owned(), server.into())])
}

#[tokio::test]
async fn a_recorded_session_is_answered_as_it_was() {
    let (bridge, _outbound) = McpBridge::new(&servers(greeter()));
    let mut methods = Vec::new();
    for line in RECORDED.lines() {
        let mut exchange: Value = serde_json::from_str(line).expect("a recorded exchange");
        let request = exchange["request"].take();
        let method = request["message"]["method"]
            .as_str()
            .expect("a method")
            .to_owned();
        let name = request["server_name"].as_str().expect("a server");
        let mut answer = bridge
            .answer(name, request["message"].clone())
            .await
            .expect("an answer");
        if method == "initialize" {
            assert_eq!(
                answer["mcp_response"]["result"]["capabilities"].take(),
                json!({"tools": {"listChanged": true}})
            );
            exchange["response"]["mcp_response"]["result"]["capabilities"].take();
        }
        assert_eq!(answer, exchange["response"], "{method}");
        methods.push(method);
    }
    assert_eq!(
        methods,
        [
            "initialize",
            "notifications/initialized",
            "tools/list",
            "tools/call"
        ]
    );
}

#[tokio::test]
async fn an_unknown_server_is_an_error() {
    let (bridge, _outbound) = McpBridge::new(&servers(greeter()));
    let error = bridge
        .answer("other", json!({"method": "ping", "id": 1}))
        .await
        .expect_err("unknown");
    assert_eq!(
        error.to_string(),
        "no in-process MCP server is named `other`"
    );
}

/// A server of the user's own that never answers.
struct Mute;

impl ToolServer for Mute {
    fn connect(&self, _: Outbox) -> Box<dyn ServerConnection> {
        Box::new(Self)
    }
}

impl ServerConnection for Mute {
    fn handle(&self, _: Value) -> BoxFuture<'static, Option<Value>> {
        ready(None).boxed()
    }
}

#[tokio::test]
async fn a_server_that_does_not_answer_leaves_nobody_waiting() {
    let (bridge, _outbound) = McpBridge::new(&servers(SdkMcpServer::new("mute", Mute)));
    let answer = bridge
        .answer("inproc", json!({"method": "tools/list", "id": 7}))
        .await;
    let error = json!({"code": -32603, "message": "the server gave no answer"});
    assert_eq!(
        answer,
        Ok(json!({"mcp_response": {"jsonrpc": "2.0", "id": 7, "error": error}}))
    );

    let acknowledged = Ok(json!({"mcp_response": {"jsonrpc": "2.0", "result": {}, "id": 0}}));
    for message in [
        json!({"method": "notifications/x"}),
        json!({"id": 3, "result": {}}),
    ] {
        assert_eq!(bridge.answer("inproc", message).await, acknowledged);
    }
}

#[tokio::test]
async fn changed_tools_are_announced_to_every_session_that_has_the_server() {
    let server = greeter();
    let (one, mut one_outbound) = McpBridge::new(&servers(server.clone()));
    let (two, mut two_outbound) = McpBridge::new(&servers(server.clone()));
    drop(two);
    server
        .set_tools([tool("new", "d", async |_: NoInput| Ok(""))])
        .await
        .expect("valid tools");

    let message = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
    let expected = OutboundMessage {
        server_name: "inproc".into(),
        message,
    };
    assert_eq!(one_outbound.recv().await, Some(expected));
    assert_eq!(
        two_outbound.recv().await,
        None,
        "an ended session is told nothing"
    );

    let listed = one
        .answer("inproc", json!({"method": "tools/list", "id": 1}))
        .await
        .expect("an answer");
    assert_eq!(listed["mcp_response"]["result"]["tools"][0]["name"], "new");
}

/// A server that answers each request with the number of its connection.
#[derive(Default)]
struct Counting(std::sync::atomic::AtomicU64);

struct Numbered(u64);

impl ToolServer for Counting {
    fn connect(&self, _: Outbox) -> Box<dyn ServerConnection> {
        Box::new(Numbered(
            self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst),
        ))
    }
}

impl ServerConnection for Numbered {
    fn handle(&self, _: Value) -> BoxFuture<'static, Option<Value>> {
        ready(Some(self.0.into())).boxed()
    }
}

#[tokio::test]
async fn replacing_servers_keeps_the_connections_of_those_that_stay() {
    let ping = || json!({"method": "ping", "id": 1});
    let server = SdkMcpServer::new("counting", Counting::default());
    let (mut bridge, _outbound) = McpBridge::new(&servers(server.clone()));
    bridge.set_servers(&McpServers::from([
        ("inproc".to_owned(), server.clone().into()),
        ("second".to_owned(), server.into()),
    ]));
    assert_eq!(
        bridge.answer("inproc", ping()).await,
        Ok(json!({"mcp_response": 0})),
        "kept"
    );
    assert_eq!(
        bridge.answer("second", ping()).await,
        Ok(json!({"mcp_response": 1})),
        "made"
    );

    bridge.set_servers(&servers(greeter()));
    let other = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
    assert_eq!(
        bridge.answer("inproc", ping()).await,
        Ok(json!({"mcp_response": other})),
        "replaced"
    );
    assert!(bridge.answer("second", ping()).await.is_err(), "dropped");
}
