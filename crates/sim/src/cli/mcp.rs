//! MCP servers of the host's own process: the handshake and the calls, as `mcp_message` requests.
//!
//! Servers that would be programs or addresses are listed as connected without tools; nothing is started.

use super::json::{Json, obj};
use super::state::{Abort, Answer, Scope, Sim};
use super::tools::{Call, Form, Output};
use super::turn::Turn;

const HANDSHAKE_SECONDS: f64 = 60.0;

/// A server.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct McpServer {
    /// Its name.
    pub(crate) name: String,
    /// Its configuration.
    pub(crate) config: Json,
    /// How far the handshake is.
    pub(crate) phase: Phase,
    /// `serverInfo` of its `initialize` answer.
    pub(crate) info: Json,
    /// Its tools.
    pub(crate) tools: Vec<Json>,
    /// The next JSON-RPC id.
    pub(crate) next_id: i64,
    /// Whether it answered the first message of the handshake.
    pub(crate) greeted: bool,
}

/// How far a server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The handshake is under way.
    Connecting,
    /// Ready.
    Connected,
    /// The handshake failed.
    Failed,
    /// Switched off by the host.
    Disabled,
}

impl McpServer {
    /// A server from its configuration.
    pub(crate) fn new(name: &str, config: Json) -> Self {
        let in_process = config.text("type") == Some("sdk");
        Self {
            name: name.to_owned(),
            config,
            phase: if in_process {
                Phase::Connecting
            } else {
                Phase::Connected
            },
            info: Json::Null,
            tools: Vec::new(),
            next_id: 0,
            greeted: false,
        }
    }

    /// Whether it lives in the host's process.
    pub(crate) fn is_in_process(&self) -> bool {
        self.config.text("type") == Some("sdk")
    }

    /// Whether a turn need not wait for it.
    pub(crate) fn is_settled(&self) -> bool {
        self.phase != Phase::Connecting
    }

    /// Its status as it is printed.
    pub(crate) fn status(&self) -> &'static str {
        match self.phase {
            Phase::Connecting => "pending",
            Phase::Connected => "connected",
            Phase::Failed => "failed",
            Phase::Disabled => "disabled",
        }
    }

    /// The names its tools have for the model.
    pub(crate) fn tool_names(&self) -> Vec<String> {
        if self.phase != Phase::Connected {
            return Vec::new();
        }
        let names = self.tools.iter().filter_map(|tool| tool.text("name"));
        names
            .map(|name| format!("mcp__{}__{name}", self.name))
            .collect()
    }

    /// Its entry in `mcp_status`.
    pub(crate) fn entry(&self, newer: bool) -> Json {
        let connected = self.phase == Phase::Connected;
        let in_process = self.is_in_process();
        let tools: Vec<Json> = self
            .tools
            .iter()
            .map(|tool| {
                let notes = tool.get("annotations").cloned().unwrap_or_else(Json::empty);
                obj! { "name" => tool.text("name"), "annotations" => notes }
            })
            .collect();
        obj! {
            "name" => &self.name,
            "status" => self.status(),
            "serverInfo" if connected && !self.info.is_null() && (newer || !in_process) => &self.info,
            "transport" if newer && in_process => "sdk",
            "config" if !in_process => &self.config,
            "scope" => "dynamic",
            "source" if newer && in_process => "sdk",
            "tools" if connected => tools,
        }
    }
}

impl Sim {
    /// Adds the servers of the command line and of `initialize`, and greets those in the host's process.
    pub(crate) fn connect_servers(&self, named: &[String]) {
        let fresh: Vec<String> = self.with(|state| {
            for name in named {
                if !state.mcp.iter().any(|server| server.name == *name) {
                    let config = obj! { "type" => "sdk", "name" => name };
                    state.mcp.push(McpServer::new(name, config));
                }
            }
            let waiting = state
                .mcp
                .iter()
                .filter(|server| server.phase == Phase::Connecting && server.next_id == 0);
            waiting.map(|server| server.name.clone()).collect()
        });
        for name in fresh {
            let sim = self.clone();
            self.with(|state| bump(state, &name));
            self.spawn(async move { sim.greet(&name).await });
        }
    }

    async fn greet(&self, name: &str) {
        let scope = self.with(super::state::State::open_scope);
        let phase = match self.handshake(scope, name).await {
            Ok(true) => Phase::Connected,
            Ok(false) | Err(_) => Phase::Failed,
        };
        self.with(|state| {
            for server in state.mcp.iter_mut().filter(|server| server.name == name) {
                server.phase = phase;
            }
        });
    }

    async fn handshake(&self, scope: Scope, name: &str) -> Result<bool, Abort> {
        let newer = self.is_325();
        let number = self.version().number();
        let client = obj! {
            "name" => "claude-code",
            "title" => "Claude Code",
            "version" if !newer => number,
            "description" => "Anthropic's agentic coding tool",
            "websiteUrl" => "https://claude.com/claude-code",
            "version" if newer => number,
        };
        let hello = obj! {
            "method" => "initialize",
            "params" => obj! {
                "protocolVersion" => "2025-11-25",
                "capabilities" => Json::empty(),
                "clientInfo" => client,
            },
            "jsonrpc" => "2.0",
            "id" => 0,
        };
        let Some(greeting) = self.mcp_ask(scope, name, hello).await? else {
            return Ok(false);
        };
        let info = greeting
            .at(&["result", "serverInfo"])
            .cloned()
            .unwrap_or_default();
        self.with(|state| {
            for server in state.mcp.iter_mut().filter(|server| server.name == name) {
                server.info = info.clone();
                server.greeted = true;
            }
        });
        // `initialize` of the host is answered before the handshake goes on.
        self.until_in(scope, |state| (state.initializing == 0).then_some(()))
            .await?;
        let ready = obj! {
            "jsonrpc" if newer => "2.0",
            "method" => "notifications/initialized",
            "jsonrpc" if !newer => "2.0",
        };
        if self.mcp_ask(scope, name, ready).await?.is_none() {
            return Ok(false);
        }
        let list = obj! { "method" => "tools/list", "jsonrpc" => "2.0", "id" => 1 };
        let Some(listed) = self.mcp_ask(scope, name, list).await? else {
            return Ok(false);
        };
        let tools = listed
            .at(&["result", "tools"])
            .map(Json::items)
            .unwrap_or_default()
            .to_vec();
        self.with(|state| {
            for server in state.mcp.iter_mut().filter(|server| server.name == name) {
                server.tools.clone_from(&tools);
                server.next_id = 2;
            }
        });
        Ok(true)
    }

    /// Sends one message to a server of the host; nothing if it does not answer in time or fails.
    async fn mcp_ask(
        &self,
        scope: Scope,
        name: &str,
        message: Json,
    ) -> Result<Option<Json>, Abort> {
        let request =
            obj! { "subtype" => "mcp_message", "server_name" => name, "message" => message };
        let reply = self.ask_within(scope, request, HANDSHAKE_SECONDS).await?;
        Ok(match reply {
            super::requests::Reply::Answer(Answer::Success(body)) => {
                Some(body.get("mcp_response").cloned().unwrap_or_default())
            }
            super::requests::Reply::Answer(Answer::Error(_)) | super::requests::Reply::TimedOut => {
                None
            }
        })
    }

    /// Calls a tool of a server.
    pub(crate) async fn use_mcp(&self, turn: &Turn, call: &Call) -> Result<Output, Abort> {
        let named = call
            .tool
            .strip_prefix("mcp__")
            .and_then(|rest| rest.split_once("__"));
        let (server, tool) = named.unwrap_or_default();
        let answer = self
            .call_server(turn.scope, server, tool, &call.input, &call.id)
            .await?;
        let Some(response) = answer else {
            return Ok(Output::failed(format!(
                "MCP server not connected: {server}"
            )));
        };
        let content = response
            .at(&["result", "content"])
            .map(super::schema::ordered_blocks)
            .unwrap_or_default();
        if let Some(text) = response.at(&["error", "message"]).and_then(Json::as_text) {
            return Ok(Output::failed(text));
        }
        if response
            .get("result")
            .is_some_and(|result| result.flag("isError"))
        {
            return Ok(Output::failed(super::queue::text_of(&content)));
        }
        Ok(Output {
            structured: content.clone(),
            content,
            form: Form::Plain,
        })
    }

    /// Sends `tools/call`.
    pub(crate) async fn call_server(
        &self,
        scope: Scope,
        server: &str,
        tool: &str,
        input: &Json,
        call: &str,
    ) -> Result<Option<Json>, Abort> {
        let id = self.with(|state| {
            let found = state.mcp.iter_mut().find(|known| known.name == server);
            found.map(|known| {
                known.next_id += 1;
                known.next_id - 1
            })
        });
        let Some(id) = id else {
            return Ok(None);
        };
        let message = obj! {
            "method" => "tools/call",
            "params" => obj! {
                "name" => tool,
                "arguments" => input,
                "_meta" => obj! { "claudecode/toolUseId" => call, "progressToken" => id },
            },
            "jsonrpc" => "2.0",
            "id" => id,
        };
        let request =
            obj! { "subtype" => "mcp_message", "server_name" => server, "message" => message };
        Ok(match self.ask(scope, request).await? {
            Answer::Success(body) => body.get("mcp_response").cloned(),
            Answer::Error(text) => Some(obj! { "error" => obj! { "message" => text } }),
        })
    }
}

/// Marks a handshake as begun.
fn bump(state: &mut super::state::State, name: &str) {
    for server in state.mcp.iter_mut().filter(|server| server.name == name) {
        server.next_id = 1;
    }
}
