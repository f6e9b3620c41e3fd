//! A handler written for `rmcp` behind the same bridge as the built-in server.

use std::sync::atomic::{AtomicUsize, Ordering};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, Tool,
};
use tokio::sync::Notify;

use super::*;
use crate::mcp::{McpBridge, McpServers};

/// A handler with a tool that answers, one that panics and one that ends only when cancelled.
#[derive(Clone, Default)]
struct Probe {
    entered: Arc<Notify>,
    cancelled: Arc<Notify>,
    made: Arc<AtomicUsize>,
}

impl ServerHandler for Probe {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = json!({"type": "object"})
            .as_object()
            .cloned()
            .unwrap_or_default();
        Ok(ListToolsResult::with_all_items(vec![Tool::new(
            "echo",
            "Says it back.",
            schema,
        )]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match request.name.as_ref() {
            "echo" => {}
            "announce" => drop(context.peer.notify_tool_list_changed().await),
            "wait" => {
                self.entered.notify_one();
                context.ct.cancelled().await;
                self.cancelled.notify_one();
            }
            other => panic!("no tool {other}"),
        }
        let text = serde_json::to_string(&request.arguments).unwrap_or_default();
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

fn bridge(probe: &Probe) -> (McpBridge, mpsc::Receiver<crate::mcp::OutboundMessage>) {
    let probe = probe.clone();
    let server = rmcp_server("r", move || {
        probe.made.fetch_add(1, Ordering::SeqCst);
        probe.clone()
    });
    McpBridge::new(&McpServers::from([("r".to_owned(), server.into())]))
}

async fn ask(bridge: &McpBridge, id: u64, method: &str, params: Value) -> Value {
    let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    let mut answer = bridge.answer("r", message).await.expect("an answer");
    assert_eq!(answer["mcp_response"]["id"], id);
    answer["mcp_response"].take()
}

async fn shake_hands(bridge: &McpBridge) {
    let client = json!({"name": "claude-code", "version": "2"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let answer = ask(bridge, 0, "initialize", params).await;
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    bridge.answer("r", ready).await.expect("an acknowledgement");
}

fn call(id: u64, tool: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": {"a": 1}}})
}

#[tokio::test]
async fn a_handler_serves_the_session() {
    let probe = Probe::default();
    let (bridge, _outbound) = bridge(&probe);
    shake_hands(&bridge).await;
    let listed = ask(&bridge, 1, "tools/list", json!({})).await;
    assert_eq!(listed["result"]["tools"][0]["name"], "echo");
    let echoed = ask(
        &bridge,
        2,
        "tools/call",
        json!({"name": "echo", "arguments": {"a": 1}}),
    )
    .await;
    assert_eq!(echoed["result"]["content"][0]["text"], "{\"a\":1}");
}

#[tokio::test]
async fn a_panic_is_an_error_and_the_server_lives_on() {
    let (bridge, _outbound) = bridge(&Probe::default());
    shake_hands(&bridge).await;
    assert_eq!(
        ask(&bridge, 1, "tools/call", json!({"name": "nope"})).await["error"]["code"],
        -32603
    );
    assert!(
        ask(&bridge, 2, "tools/list", json!({}))
            .await
            .get("result")
            .is_some()
    );
}

#[tokio::test]
async fn the_servers_own_messages_reach_the_outbox() {
    let (bridge, mut outbound) = bridge(&Probe::default());
    shake_hands(&bridge).await;
    ask(&bridge, 1, "tools/call", json!({"name": "announce"})).await;
    let sent = outbound.recv().await.expect("a message");
    assert_eq!(
        (sent.server_name.as_str(), &sent.message["method"]),
        ("r", &json!("notifications/tools/list_changed"))
    );
}

#[tokio::test]
async fn a_cancelled_call_is_answered_and_stopped() {
    let probe = Probe::default();
    let (bridge, _outbound) = bridge(&probe);
    shake_hands(&bridge).await;
    let mut waiting = bridge.answer("r", call(5, "wait"));
    assert!(futures_util::poll!(&mut waiting).is_pending());
    probe.entered.notified().await;
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}});
    bridge
        .answer("r", cancel)
        .await
        .expect("an acknowledgement");
    assert_eq!(
        waiting.await.expect("an answer")["mcp_response"]["error"]["code"],
        -32800
    );
    probe.cancelled.notified().await;
}

#[tokio::test]
async fn a_dropped_call_is_withdrawn_from_the_handler() {
    let probe = Probe::default();
    let (bridge, _outbound) = bridge(&probe);
    shake_hands(&bridge).await;
    let mut waiting = bridge.answer("r", call(5, "wait"));
    assert!(futures_util::poll!(&mut waiting).is_pending());
    probe.entered.notified().await;
    drop(waiting);
    probe.cancelled.notified().await;
}

#[tokio::test]
async fn the_end_of_the_session_stops_the_handler() {
    let probe = Probe::default();
    let (bridge, _outbound) = bridge(&probe);
    shake_hands(&bridge).await;
    let mut waiting = bridge.answer("r", call(5, "wait"));
    assert!(futures_util::poll!(&mut waiting).is_pending());
    probe.entered.notified().await;
    drop(bridge);
    probe.cancelled.notified().await;
    // The handler's last word or an error: the point is that nobody waits forever.
    waiting.await.expect("an answer");
}

#[tokio::test]
async fn before_the_handshake_nothing_hangs_and_each_handshake_starts_afresh() {
    let probe = Probe::default();
    let (bridge, _outbound) = bridge(&probe);
    assert_eq!(
        ask(&bridge, 1, "tools/list", json!({})).await["error"]["code"],
        -32603
    );
    shake_hands(&bridge).await;
    shake_hands(&bridge).await;
    assert_eq!(probe.made.load(Ordering::SeqCst), 2);
    assert!(
        ask(&bridge, 2, "tools/list", json!({}))
            .await
            .get("result")
            .is_some()
    );
    let malformed = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": 4});
    assert!(
        bridge.answer("r", malformed).await.expect("an answer")["mcp_response"]
            .get("error")
            .is_some()
    );
}
