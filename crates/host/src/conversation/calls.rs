//! Calls of our own tools, over the control protocol.
//!
//! A call is in the log before it is begun, and its answer before it is sent. One that was begun by a host that died has an
//! unknown outcome: it is answered with that, and never run again.

use estelle_proto::Json;
use serde_json::{Value, json};

use super::actor::{Actor, Broken, now};
use crate::log::Sync;
use crate::translate::lines;

/// The version of the tool protocol that is spoken when the CLI names none.
const PROTOCOL: &str = "2025-11-25";

/// What JSON-RPC calls a request for a method that is not there.
const NO_METHOD: i64 = -32_601;

/// What JSON-RPC calls a failure that is the server's own.
const INTERNAL: i64 = -32_603;

impl Actor {
    /// Answers a call.
    pub(super) async fn begin_call(&mut self, request_id: String) -> Result<(), Broken> {
        let message = self.call_message(&request_id).unwrap_or_default();
        if let Some(entry) = self.book.decide().call(now(), request_id.clone(), None) {
            self.record(entry, Sync::Now).await?;
        }
        let answer = answer(&message);
        self.finish_call(request_id, &answer).await
    }

    /// A call that a host before this one began.
    pub(super) async fn lose_call(&mut self, request_id: String) -> Result<(), Broken> {
        let message = self.call_message(&request_id).unwrap_or_default();
        let text = "the outcome of this call is unknown: the host was restarted while it ran";
        let answer = json!({
            "jsonrpc": "2.0",
            "id": message.get("id").cloned().unwrap_or_default(),
            "error": { "code": INTERNAL, "message": text },
        });
        self.finish_call(request_id, &answer).await
    }

    fn call_message(&self, request_id: &str) -> Option<Value> {
        let run = self.book.conversation().run()?;
        run.call(request_id)?.message.as_ref()?.decode().ok()
    }

    async fn finish_call(&mut self, request_id: String, answer: &Value) -> Result<(), Broken> {
        let line = lines::tool_result(&request_id, &Json::of(answer)?)?;
        if let Some(entry) = self.book.decide().call(now(), request_id, Some(line)) {
            self.record(entry, Sync::Now).await?;
        }
        Ok(())
    }
}

/// What a server without tools says.
fn answer(message: &Value) -> Value {
    let id = message.get("id").cloned().unwrap_or_default();
    let result = match message.get("method").and_then(Value::as_str) {
        Some("initialize") => json!({
            "protocolVersion": message.pointer("/params/protocolVersion").cloned().unwrap_or_else(|| PROTOCOL.into()),
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "estelle", "version": env!("CARGO_PKG_VERSION") },
        }),
        Some("tools/list") => json!({ "tools": [] }),
        Some("ping" | "notifications/initialized") => json!({}),
        method => {
            let text = format!("no such method: {}", method.unwrap_or("none"));
            return json!({ "jsonrpc": "2.0", "id": id, "error": { "code": NO_METHOD, "message": text } });
        }
    };
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}
