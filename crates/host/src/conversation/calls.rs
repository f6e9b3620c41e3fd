//! Calls of our own tools, over the control protocol.
//!
//! The handshake and the list are answered here, from what is kept with the conversation, so that a client that is away holds
//! nothing up. A call is in the log before anybody hears of it, and is offered to every client under one id, again after
//! a reconnect or a restart, until one of them claims it. The claim is in the log before it is granted, and the
//! result before the CLI gets it.
//!
//! **Invariant:** a call is carried out by one client, once. If that client is gone and does not come back, the agent hears
//! that the outcome is unknown; nobody else is asked.

use std::collections::BTreeMap;
use std::time::Duration;

use estelle_proto::ipc::{ClaimCall, HostToPylon, ToolCall, ToolResult};
use estelle_proto::{ApiError, ErrorCode, Json, Retry, ToolUseId};
use estelle_state::conversation::{Call, RefuseClaim};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::actor::{Actor, Broken, now};
use crate::failpoint;
use crate::ipc::{Done, Refusal};
use crate::log::Sync;
use crate::mailbox::{Letter, Mailbox};
use crate::translate::lines;

/// The version of the tool protocol that is spoken when the CLI names none.
const PROTOCOL: &str = "2025-11-25";

/// What JSON-RPC calls a request for a method that is not there.
const NO_METHOD: i64 = -32_601;

/// What JSON-RPC calls a request that cannot be read.
const UNREADABLE: i64 = -32_700;

/// What the agent hears of such a request.
const UNREADABLE_WORDS: &str = "The input of this call has broken characters or is nested too deeply; write it again in \
     plain text.";

/// How long a client that has claimed a call and is gone has to come back.
const TO_COME_BACK: Duration = Duration::from_mins(1);

/// What the agent hears of a call whose client did not come back.
const UNKNOWN_OUTCOME: &str = "The outcome of this call is unknown: the program that carried it out is gone and did not \
     come back. It may have been carried out; find out before you call it again.";

/// The method by which a tool is called.
const CALL: &str = "tools/call";

impl Actor {
    /// Answers a request to our tools, or offers it to the clients.
    pub(super) async fn begin_call(&mut self, request_id: String) -> Result<(), Broken> {
        let run = self.book.conversation().run();
        let Some(call) = run.and_then(|run| run.call(&request_id)) else {
            return Ok(());
        };
        let Some(asked) = self.tool_call(&request_id, call) else {
            // It is begun with its answer: a host that dies before that leaves it to the next one.
            let answer = match unreadable(call) {
                Some(refusal) => refusal,
                None => self.answer_here(&decoded(call)),
            };
            return self.finish_call(request_id, &answer).await;
        };
        if let Some(entry) = self.book.decide().call(now(), request_id, None) {
            self.record(entry, Sync::Now).await?;
        }
        let letter = Letter::message(&HostToPylon::ToolCall(asked));
        self.context.roster.post_to_all(&letter);
        Ok(())
    }

    /// Calls that wait for a client to claim them, one message each.
    pub(super) fn open_calls(&self) -> impl Iterator<Item = HostToPylon> {
        let calls = self.book.conversation().open_calls();
        let calls = calls.filter(|(_, call)| call.claim.is_none());
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

    /// A client wants to carry a call out: it may when this is in the log.
    pub(super) async fn claim_call(
        &mut self,
        claim: &ClaimCall,
        mailbox: Mailbox,
    ) -> Result<Result<(), ApiError>, Broken> {
        let id = claim.call_id.as_str();
        let found = self.book.conversation().open_calls();
        let is_offered = found
            .filter(|(open, _)| *open == id)
            .any(|(open, call)| self.tool_call(open, call).is_some());
        if !is_offered {
            return Ok(Err(refused(RefuseClaim::Unknown)));
        }
        match self.book.decide().claim(now(), id, &claim.client) {
            Ok(Some(entry)) => self.record(entry, Sync::Now).await?,
            Ok(None) => {}
            Err(refusal) => return Ok(Err(refused(refusal))),
        }
        self.claimants.hold(id, mailbox);
        Ok(Ok(()))
    }

    /// Calls of clients that are gone and do not come back get the only answer that is true.
    pub(super) async fn look_after_calls(&mut self) -> Result<(), Broken> {
        let open = self.book.conversation().open_calls();
        let claimed = open.filter(|(_, call)| call.claim.is_some());
        let claimed: Vec<String> = claimed.map(|(id, _)| id.to_owned()).collect();
        for id in self.claimants.lost(&claimed) {
            tracing::warn!(call = %id, "the client that carried a call out is gone; its outcome is unknown");
            let message = self.open_message(&id).unwrap_or_default();
            let answer = said(&message, Err(UNKNOWN_OUTCOME));
            self.finish_call(id, &answer).await?;
        }
        Ok(())
    }

    fn open_message(&self, id: &str) -> Option<Value> {
        let mut open = self.book.conversation().open_calls();
        open.find(|(open, _)| *open == id)
            .map(|(_, call)| decoded(call))
    }

    /// A client carried a call out: the one that has it. The first result wins.
    pub(super) async fn finish(
        &mut self,
        result: ToolResult,
    ) -> Result<Result<Done, Refusal>, Broken> {
        let id = result.call_id.to_string();
        let mut open = self.book.conversation().open_calls();
        let found = open.find(|(open, _)| *open == id).map(|(_, call)| call);
        let (message, claim) = match found {
            Some(call) => (decoded(call), call.claim.clone()),
            None => return Ok(Err(refused(RefuseClaim::Unknown).into())),
        };
        drop(open);
        if claim.is_none() {
            let text =
                "nobody has claimed this call, so nobody may carry it out; say claim_call first";
            let error = ApiError::new(ErrorCode::Conflict, text.to_owned(), Retry::Never);
            return Ok(Err(error.into()));
        }
        if claim != result.client {
            return Ok(Err(refused(RefuseClaim::Taken).into()));
        }
        let outcome = match (&result.error, &result.result) {
            (Some(error), _) => Err(error.as_str()),
            (None, given) => Ok(given.as_deref().unwrap_or_default()),
        };
        let answer = said(&message, outcome);
        if !lines::fits(&lines::tool_result(&id, &Json::of(&answer)?)?) {
            return Ok(Err(super::answering::too_long().into()));
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

/// Who carries calls out, as far as this host has seen them. Who has a call is in the log; who is connected is not.
#[derive(Debug, Default)]
pub(super) struct Claimants(BTreeMap<String, Claimant>);

#[derive(Debug, Default)]
struct Claimant {
    /// None if it claimed the call from a host before this one.
    mailbox: Option<Mailbox>,
    gone_since: Option<Instant>,
}

impl Claimants {
    /// A client claimed a call, or says that it still has it.
    fn hold(&mut self, call: &str, mailbox: Mailbox) {
        let claimant = Claimant {
            mailbox: Some(mailbox),
            gone_since: None,
        };
        self.0.insert(call.to_owned(), claimant);
    }

    /// Those of the claimed calls whose clients are gone for too long. Others are not remembered.
    fn lost(&mut self, claimed: &[String]) -> Vec<String> {
        self.0.retain(|call, _| claimed.contains(call));
        let mut lost = Vec::new();
        for call in claimed {
            let claimant = self.0.entry(call.clone()).or_default();
            let mailbox = claimant.mailbox.as_ref();
            if mailbox.is_some_and(|mailbox| !mailbox.is_closed()) {
                continue;
            }
            let since = claimant.gone_since.get_or_insert_with(Instant::now);
            if since.elapsed() >= TO_COME_BACK {
                lost.push(call.clone());
            }
        }
        lost
    }
}

fn refused(refusal: RefuseClaim) -> ApiError {
    let code = match refusal {
        RefuseClaim::Unknown => ErrorCode::UnknownToolUse,
        RefuseClaim::Taken => ErrorCode::Conflict,
    };
    ApiError::new(code, refusal.to_string(), Retry::Never)
}

/// What a tool gave, or why it failed, in the tool protocol's words.
fn said(message: &Value, outcome: Result<&str, &str>) -> Value {
    let (Ok(text) | Err(text)) = outcome;
    let content = json!([{ "type": "text", "text": text }]);
    reply(
        message,
        &json!({ "content": content, "isError": outcome.is_err() }),
    )
}

fn reply(message: &Value, result: &Value) -> Value {
    let id = message.get("id").cloned().unwrap_or_default();
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// The refusal of a call of which no tree can be made. Its id is still a text of its own.
fn unreadable(call: &Call) -> Option<Value> {
    #[derive(serde::Deserialize)]
    struct Named {
        #[serde(default)]
        id: Value,
    }
    let message = call.message.as_ref()?;
    if message.decode::<Value>().is_ok() {
        return None;
    }
    let named = message.decode::<Named>();
    let id = named.map(|named| named.id).unwrap_or_default();
    let error = json!({ "code": UNREADABLE, "message": UNREADABLE_WORDS });
    Some(json!({ "jsonrpc": "2.0", "id": id, "error": error }))
}

/// The call; nothing for one that is answered, whose words are not kept.
fn decoded(call: &Call) -> Value {
    let message = call.message.as_ref();
    message
        .and_then(|message| message.decode().ok())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_cannot_be_read_is_refused_under_its_own_id() {
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        for text in [r#""\ud83d""#, deep.as_str()] {
            for id in ["7", r#""seven""#] {
                let message = format!(
                    r#"{{"jsonrpc":"2.0","method":"tools/call","params":{{"name":"note","arguments":{{"text":{text}}}}},"id":{id}}}"#
                );
                let call = Call {
                    server: "desk".to_owned(),
                    message: Some(Json::parse(&message).unwrap()),
                    begun: false,
                    claim: None,
                    answer: None,
                    delivered: false,
                };
                let refusal = unreadable(&call).unwrap();
                assert_eq!(refusal["id"].to_string(), id);
                assert_eq!(refusal["error"]["code"], UNREADABLE);
            }
        }
    }
}
