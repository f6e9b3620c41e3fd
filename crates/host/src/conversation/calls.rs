//! Calls of our own tools, over the control protocol.
//!
//! The handshake and the list are answered here, from what is kept with the conversation, so that a client that is away holds
//! nothing up. A call is in the log before anybody hears of it, is put to every client under one id, again after a
//! reconnect or a restart, and its first result is in the log before the CLI gets it.

use estelle_proto::ipc::{HostToPylon, ToolCall, ToolResult};
use estelle_proto::{ApiError, ErrorCode, Json, Retry, ToolUseId};
use estelle_state::conversation::Call;
use serde_json::{Value, json};

use super::actor::{Actor, Broken, now};
use crate::failpoint;
use crate::ipc::{Done, Refusal};
use crate::log::Sync;
use crate::mailbox::Letter;
use crate::translate::lines;

/// The version of the tool protocol that is spoken when the CLI names none.
const PROTOCOL: &str = "2025-11-25";

/// What JSON-RPC calls a request for a method that is not there.
const NO_METHOD: i64 = -32_601;

/// The method by which a tool is called.
const CALL: &str = "tools/call";

impl Actor {
    /// Answers a request to our tools, or puts it to the clients.
    pub(super) async fn begin_call(&mut self, request_id: String) -> Result<(), Broken> {
        let run = self.book.conversation().run();
        let Some(call) = run.and_then(|run| run.call(&request_id)) else {
            return Ok(());
        };
        let Some(asked) = self.tool_call(&request_id, call) else {
            // It is begun with its answer: a host that dies before that leaves it to the next one.
            let answer = self.answer_here(&decoded(call));
            return self.finish_call(request_id, &answer).await;
        };
        if let Some(entry) = self.book.decide().call(now(), request_id, None) {
            self.record(entry, Sync::Now).await?;
        }
        let letter = Letter::message(&HostToPylon::ToolCall(asked));
        self.context.roster.post_to_all(&letter);
        Ok(())
    }

    /// Calls that wait for a client, one message each.
    pub(super) fn open_calls(&self) -> impl Iterator<Item = HostToPylon> {
        let calls = self.book.conversation().open_calls();
        calls.filter_map(|(id, call)| self.tool_call(id, call).map(HostToPylon::ToolCall))
    }

    /// The call as clients see it; none for what is answered here.
    fn tool_call(&self, request_id: &str, call: &Call) -> Option<ToolCall> {
        let message = decoded(call);
        if message.get("method")?.as_str()? != CALL {
            return None;
        }
        let tool = message.pointer("/params/name")?.as_str()?;
        let server = self.book.conversation().settings().tool_server.as_ref()?;
        let is_ours = server.name.as_str() == call.server
            && server.tools.iter().any(|one| one.name.as_str() == tool);
        let arguments = message.pointer("/params/arguments").cloned();
        let arguments = arguments.unwrap_or_else(|| json!({}));
        is_ours.then_some(ToolCall::new(
            self.book.conversation().id().clone(),
            ToolUseId::parse(request_id).ok()?,
            call.server.clone(),
            tool.to_owned(),
            Json::of(&arguments).ok()?,
        ))
    }

    /// A client carried a call out. The first result wins.
    pub(super) async fn finish(
        &mut self,
        result: ToolResult,
    ) -> Result<Result<Done, Refusal>, Broken> {
        let id = result.call_id.to_string();
        let mut open = self.book.conversation().open_calls();
        let found = open.find(|(request_id, _)| *request_id == id);
        let message = found.map(|(_, call)| decoded(call));
        drop(open);
        let Some(message) = message else {
            let text = "there is no such open call: it was answered, taken back, or never made";
            let error = ApiError::new(ErrorCode::UnknownToolUse, text.to_owned(), Retry::Never);
            return Ok(Err(error.into()));
        };
        let is_error = result.error.is_some();
        let text = result.error.or(result.result).unwrap_or_default();
        let answer = reply(
            &message,
            &json!({ "content": [{ "type": "text", "text": text }], "isError": is_error }),
        );
        if !lines::fits(&lines::tool_result(&id, &Json::of(&answer)?)?) {
            return Ok(Err(super::requests::too_long().into()));
        }
        self.finish_call(id, &answer).await?;
        failpoint::reach("call-answered");
        Ok(Ok(Done::default()))
    }

    async fn finish_call(&mut self, request_id: String, answer: &Value) -> Result<(), Broken> {
        let line = lines::tool_result(&request_id, &Json::of(answer)?)?;
        if let Some(entry) = self.book.decide().call(now(), request_id, Some(line)) {
            self.record(entry, Sync::Now).await?;
        }
        Ok(())
    }

    /// What needs no client.
    fn answer_here(&self, message: &Value) -> Value {
        match message.get("method").and_then(Value::as_str) {
            Some("initialize") => {
                let version = message.pointer("/params/protocolVersion").cloned();
                let result = json!({
                    "protocolVersion": version.unwrap_or_else(|| PROTOCOL.into()),
                    "capabilities": { "tools": {} },
                    "serverInfo": { "name": "estelle", "version": env!("CARGO_PKG_VERSION") },
                });
                reply(message, &result)
            }
            Some("tools/list") => reply(message, &json!({ "tools": self.tool_list() })),
            Some("ping" | "notifications/initialized" | "notifications/cancelled") => {
                reply(message, &json!({}))
            }
            method => {
                let text = format!("no such method or tool: {}", method.unwrap_or("none"));
                let id = message.get("id").cloned().unwrap_or_default();
                json!({ "jsonrpc": "2.0", "id": id, "error": { "code": NO_METHOD, "message": text } })
            }
        }
    }

    fn tool_list(&self) -> Vec<Value> {
        let server = self.book.conversation().settings().tool_server.as_ref();
        let tools = server.iter().flat_map(|server| &server.tools);
        tools
            .map(|tool| {
                json!({
                    "name": tool.name,
                    "description": tool.description,
                    "inputSchema": tool.input_schema,
                    // Newer releases hide tools behind a search unless they are told not to.
                    "_meta": { "anthropic/alwaysLoad": true },
                })
            })
            .collect()
    }
}

fn reply(message: &Value, result: &Value) -> Value {
    let id = message.get("id").cloned().unwrap_or_default();
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// The call; nothing for one that is answered, whose words are not kept.
fn decoded(call: &Call) -> Value {
    let message = call.message.as_ref();
    message
        .and_then(|message| message.decode().ok())
        .unwrap_or_default()
}
