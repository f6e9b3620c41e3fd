//! What goes on beside a conversation for as long as somebody holds a handle on it.
//!
//! Each duty is a task that the handle's drop ends, so that none keeps the process alive.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::ask;
use super::handle::Introduction;
use crate::engine::Connection;
use crate::mcp::OutboundMessage;
use crate::wire::control::Initialize;

/// Introduces us and says how it went.
pub(super) async fn introduce(
    connection: Connection,
    request: Initialize,
    limit: Duration,
    done: watch::Sender<Introduction>,
) {
    let answer = ask::initialize(&connection, &request, limit).await;
    let said = answer.map(|said| Arc::new(said.result)).map_err(Arc::new);
    done.send_replace(Some(said));
}

/// Passes on what in-process MCP servers say by themselves.
pub(super) async fn carry(
    connection: Connection,
    mut outbound: mpsc::Receiver<OutboundMessage>,
    limit: Duration,
) {
    while let Some(OutboundMessage {
        server_name,
        message,
    }) = outbound.recv().await
    {
        let fields = Map::from_iter([
            ("server_name".to_owned(), Value::from(server_name.as_str())),
            ("message".to_owned(), message),
        ]);
        if let Err(error) = ask::ask_fields(&connection, "mcp_message", &fields, limit).await {
            tracing::debug!(%error, server_name, "failed to pass on a message of an MCP server");
        }
    }
}

/// Ends the process when the caller's token fires.
pub(super) async fn abort(connection: Connection, token: CancellationToken) {
    token.cancelled().await;
    connection.abort();
}
