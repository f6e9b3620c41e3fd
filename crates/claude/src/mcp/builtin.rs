//! The MCP server side for a list of [`Tool`]s.
//!
//! Answers `initialize`, `ping`, `tools/list` and `tools/call`; takes `notifications/cancelled`; ignores other
//! notifications. Nothing a tool does ends the session: an error or a panic becomes a result the model reads.
//! **Invariant:** a request always gets exactly one answer, also when it is cancelled, since the control request that
//! carries it waits for one.

use std::any::Any;
use std::collections::{HashMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::json_rpc::{self, Message};
use super::schema;
use super::server::{Outbox, ServerConnection, ServerManifest, ToolServer, ToolServerError};
use super::tool::{Tool, ToolCall};
use super::tool_result::ToolResult;

/// MCP revisions this server speaks, newest first. They differ in nothing that concerns tools.
const PROTOCOL_VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// The longest tool name MCP allows.
const MAX_TOOL_NAME: usize = 128;

/// The tools a server offers.
struct Catalogue {
    tools: Arc<[Tool]>,
    /// Whether all of them are in every prompt, whatever each says.
    always_load: bool,
}

impl Catalogue {
    /// The result of `tools/list`.
    fn listing(&self) -> Value {
        let listing = |tool: &Tool| {
            if self.always_load {
                tool.clone().always_load().listing()
            } else {
                tool.listing()
            }
        };
        json!({"tools": self.tools.iter().map(listing).collect::<Vec<_>>()})
    }
}

/// A server made of a list of tools.
pub(super) struct BuiltinServer {
    name: String,
    version: String,
    instructions: Mutex<Option<String>>,
    catalogue: Arc<Mutex<Catalogue>>,
    connections: Mutex<Vec<Weak<Outbox>>>,
}

impl BuiltinServer {
    pub(super) fn new(
        name: String,
        version: String,
        tools: Vec<Tool>,
    ) -> Result<Self, ToolServerError> {
        check(&tools)?;
        Ok(Self {
            name,
            version,
            instructions: Mutex::new(None),
            catalogue: Arc::new(Mutex::new(Catalogue {
                tools: tools.into(),
                always_load: false,
            })),
            connections: Mutex::new(Vec::new()),
        })
    }

    pub(super) fn set_instructions(&self, instructions: String) {
        *lock(&self.instructions) = Some(instructions);
    }

    pub(super) fn replace_tools(&self, tools: Vec<Tool>) -> Result<(), ToolServerError> {
        check(&tools)?;
        lock(&self.catalogue).tools = tools.into();
        Ok(())
    }

    pub(super) fn set_always_load(&self) {
        lock(&self.catalogue).always_load = true;
    }

    pub(super) async fn notify_tools_changed(&self) {
        let live: Vec<Arc<Outbox>> = {
            let mut connections = lock(&self.connections);
            connections.retain(|outbox| outbox.strong_count() > 0);
            connections.iter().filter_map(Weak::upgrade).collect()
        };
        for outbox in live {
            // A session that ended in the meantime has no use for it.
            let _ = outbox
                .send(json_rpc::notification("notifications/tools/list_changed"))
                .await;
        }
    }

    /// The result of `initialize` for a client that asked for `version`.
    fn initialize_result(&self, version: &str) -> Value {
        let mut result = json!({
            "protocolVersion": version,
            "capabilities": {"tools": {"listChanged": true}},
            "serverInfo": {"name": self.name, "version": self.version},
        });
        if let Some(instructions) = &*lock(&self.instructions) {
            result["instructions"] = instructions.as_str().into();
        }
        result
    }
}

impl ToolServer for BuiltinServer {
    fn connect(&self, outbox: Outbox) -> Box<dyn ServerConnection> {
        let outbox = Arc::new(outbox);
        lock(&self.connections).push(Arc::downgrade(&outbox));
        Box::new(BuiltinConnection {
            greeting: self.initialize_result(PROTOCOL_VERSIONS[0]),
            catalogue: Arc::clone(&self.catalogue),
            running: Arc::default(),
            _outbox: outbox,
        })
    }

    fn manifest(&self) -> Option<ServerManifest> {
        Some(ServerManifest {
            initialize_result: self.initialize_result(PROTOCOL_VERSIONS[0]),
            tools_list_result: Some(lock(&self.catalogue).listing()),
        })
    }
}

struct BuiltinConnection {
    greeting: Value,
    catalogue: Arc<Mutex<Catalogue>>,
    running: Arc<Mutex<HashMap<String, CancellationToken>>>,
    /// Held so that the server knows of the connection for as long as it lives.
    _outbox: Arc<Outbox>,
}

impl ServerConnection for BuiltinConnection {
    fn handle(&self, message: Value) -> BoxFuture<'static, Option<Value>> {
        match Message::read(message) {
            Message::Request { id, method, params } => {
                self.request(id, &method, params).map(Some).boxed()
            }
            Message::Notification { method, params } => {
                if method == "notifications/cancelled" {
                    self.cancel(&params);
                }
                ready(None).boxed()
            }
            Message::Response => ready(None).boxed(),
            Message::Invalid => {
                let answer = json_rpc::error(
                    &Value::Null,
                    json_rpc::INVALID_REQUEST,
                    "not a JSON-RPC message",
                );
                ready(Some(answer)).boxed()
            }
        }
    }
}

impl BuiltinConnection {
    fn request(&self, id: Value, method: &str, params: Value) -> BoxFuture<'static, Value> {
        let answer = match method {
            "initialize" => Ok(self.initialize(&params)),
            "ping" => Ok(json!({})),
            "tools/list" => Ok(lock(&self.catalogue).listing()),
            "tools/call" => match self.find_call(params) {
                Ok((tool, call)) => return self.call(id, tool, call),
                Err(reason) => Err((json_rpc::INVALID_PARAMS, reason)),
            },
            _ => Err((
                json_rpc::METHOD_NOT_FOUND,
                format!("method not found: {method}"),
            )),
        };
        let message = match answer {
            Ok(result) => json_rpc::result(&id, &result),
            Err((code, reason)) => json_rpc::error(&id, code, &reason),
        };
        ready(message).boxed()
    }

    fn initialize(&self, params: &Value) -> Value {
        let asked = params
            .get("protocolVersion")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let mut result = self.greeting.clone();
        if PROTOCOL_VERSIONS.contains(&asked) {
            result["protocolVersion"] = asked.into();
        }
        result
    }

    fn find_call(&self, mut params: Value) -> Result<(Tool, ToolCall), String> {
        let Some(name) = params.get("name").and_then(Value::as_str) else {
            return Err("tools/call needs the `name` of a tool".to_owned());
        };
        let tools = Arc::clone(&lock(&self.catalogue).tools);
        let Some(tool) = tools.iter().find(|tool| tool.name() == name).cloned() else {
            return Err(format!("unknown tool: {name}"));
        };
        let arguments = match params.get_mut("arguments").map(Value::take) {
            None | Some(Value::Null) => Value::Object(Map::new()),
            Some(arguments @ Value::Object(_)) => arguments,
            Some(_) => return Err("the `arguments` of tools/call must be an object".to_owned()),
        };
        let meta = match params.get_mut("_meta").map(Value::take) {
            Some(Value::Object(meta)) => meta,
            _ => Map::new(),
        };
        let tool_use_id = meta
            .get("claudecode/toolUseId")
            .and_then(Value::as_str)
            .map(str::to_owned);
        Ok((
            tool,
            ToolCall {
                arguments,
                tool_use_id,
                meta,
            },
        ))
    }

    fn call(&self, id: Value, tool: Tool, call: ToolCall) -> BoxFuture<'static, Value> {
        let running = Running::register(&self.running, &id);
        Box::pin(async move {
            // Inside a block of its own, so that a panic before the handler's first await is caught too.
            let outcome = AssertUnwindSafe(async { tool.run(call).await }).catch_unwind();
            let outcome = tokio::select! {
                biased;
                () = running.cancelled.cancelled() => {
                    return json_rpc::error(&id, json_rpc::REQUEST_CANCELLED, "the call was cancelled");
                }
                outcome = outcome => outcome,
            };
            let result = match outcome {
                Ok(Ok(result)) => result,
                Ok(Err(error)) => ToolResult::error(error.message()),
                Err(panic) => {
                    let reason = panic_text(panic.as_ref());
                    tracing::error!(tool = tool.name(), reason, "a tool panicked");
                    ToolResult::error(format!("the tool `{}` failed: {reason}", tool.name()))
                }
            };
            json_rpc::result(&id, &result.into_value())
        })
    }

    fn cancel(&self, params: &Value) {
        if let Some(id) = params.get("requestId")
            && let Some(token) = lock(&self.running).get(&id.to_string())
        {
            token.cancel();
        }
    }
}

/// A call under way: in the table from its arrival to its end, dropped or not.
struct Running {
    key: String,
    table: Arc<Mutex<HashMap<String, CancellationToken>>>,
    cancelled: CancellationToken,
}

impl Running {
    fn register(table: &Arc<Mutex<HashMap<String, CancellationToken>>>, id: &Value) -> Self {
        let running = Self {
            key: id.to_string(),
            table: Arc::clone(table),
            cancelled: CancellationToken::new(),
        };
        lock(table).insert(running.key.clone(), running.cancelled.clone());
        running
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        lock(&self.table).remove(&self.key);
    }
}

fn check(tools: &[Tool]) -> Result<(), ToolServerError> {
    let mut names = HashSet::new();
    for tool in tools {
        let name = || tool.name().to_owned();
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        if !(1..=MAX_TOOL_NAME).contains(&tool.name().len()) || !tool.name().bytes().all(allowed) {
            return Err(ToolServerError::InvalidName { tool: name() });
        }
        if !names.insert(tool.name()) {
            return Err(ToolServerError::DuplicateName { tool: name() });
        }
        if !schema::is_object_schema(tool.input_schema()) {
            return Err(ToolServerError::InputNotAnObject { tool: name() });
        }
    }
    Ok(())
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("it panicked")
}

/// Nothing panics while one of these locks is held, so a poisoned one is as good as any.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "builtin_tests.rs"]
mod tests;
