//! Carries MCP messages between the CLI's `mcp_message` control requests and the servers in this process.
//!
//! One bridge belongs to one session. It holds that session's connections, answers every message, and collects what
//! the servers want to say of their own accord. It does not speak the control protocol: the engine wraps and sends.

use std::collections::HashMap;
use std::fmt;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::config::{McpServerConfig, McpServers};
use super::json_rpc;
use super::server::{Outbox, SdkMcpServer, ServerConnection};

/// How many messages of servers may wait for the engine. They are rare (a changed tool list, a log line); a server
/// that floods waits.
pub const OUTBOUND_CAPACITY: usize = 64;

/// A message of an in-process server for the CLI, to be sent as an `mcp_message` control request.
#[derive(Debug, Clone, PartialEq)]
pub struct OutboundMessage {
    /// The server's name in the session.
    pub server_name: String,
    /// The JSON-RPC message.
    pub message: Value,
}

/// Why a message could not be delivered. It becomes an error response to the control request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BridgeError {
    /// The session has no such in-process server.
    #[error("no in-process MCP server is named `{server_name}`")]
    UnknownServer {
        /// The name the CLI asked for.
        server_name: String,
    },
}

/// The in-process servers of one session.
pub struct McpBridge {
    connections: HashMap<String, (SdkMcpServer, Box<dyn ServerConnection>)>,
    outbound: mpsc::Sender<OutboundMessage>,
}

impl McpBridge {
    /// Connects to the in-process servers among `servers`. The receiver gives what they send by themselves.
    pub fn new(servers: &McpServers) -> (Self, mpsc::Receiver<OutboundMessage>) {
        let (outbound, receiver) = mpsc::channel(OUTBOUND_CAPACITY);
        let mut bridge = Self {
            connections: HashMap::new(),
            outbound,
        };
        bridge.set_servers(servers);
        (bridge, receiver)
    }

    /// Makes the in-process servers those among `servers`, as `mcp_set_servers` does in the CLI: a server that stays
    /// under its name keeps its connection, others are dropped or made.
    pub fn set_servers(&mut self, servers: &McpServers) {
        let mut before = std::mem::take(&mut self.connections);
        for (name, config) in servers {
            let McpServerConfig::Sdk(server) = config else {
                continue;
            };
            let kept = before.remove(name).filter(|(old, _)| old.is_same(server));
            let entry = kept.unwrap_or_else(|| {
                (
                    server.clone(),
                    server.connect(Outbox::new(name, self.outbound.clone())),
                )
            });
            self.connections.insert(name.clone(), entry);
        }
    }

    /// Delivers one message and gives the `response` of the control response: `{"mcp_response": …}`.
    ///
    /// Must be called in the order of arrival; the futures may then run in any order and side by side. Dropping one
    /// withdraws its request (`control_cancel_request`).
    pub fn answer(
        &self,
        server_name: &str,
        message: Value,
    ) -> BoxFuture<'static, Result<Value, BridgeError>> {
        let Some((_, connection)) = self.connections.get(server_name) else {
            return ready(Err(BridgeError::UnknownServer {
                server_name: server_name.to_owned(),
            }))
            .boxed();
        };
        let unanswered = if json_rpc::wants_answer(&message) {
            json_rpc::error(
                &message["id"],
                json_rpc::INTERNAL_ERROR,
                "the server gave no answer",
            )
        } else {
            // The CLI wants a response to the control request also where JSON-RPC has none; this is the one the
            // TypeScript SDK gives.
            json!({"jsonrpc": "2.0", "result": {}, "id": 0})
        };
        let answer = connection.handle(message);
        async move { Ok(json!({"mcp_response": answer.await.unwrap_or(unanswered)})) }.boxed()
    }
}

impl fmt::Debug for McpBridge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpBridge")
            .field("servers", &self.connections.keys())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "bridge_tests.rs"]
mod tests;
