//! Servers in this process: what the CLI reaches through `mcp_message`.
//!
//! [`ToolServer`] is the seam. `builtin` implements it for a list of [`Tool`]s; anything else that speaks MCP can
//! implement it too. A server is shared by all sessions that name it; each session makes one [`ServerConnection`] to
//! it, since JSON-RPC ids and cancellations belong to one peer.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::mpsc;

use super::bridge::OutboundMessage;
use super::builtin::BuiltinServer;
use super::config::McpToolPolicy;
use super::tool::Tool;

/// An MCP server that lives in this process.
pub trait ToolServer: Send + Sync {
    /// Opens a connection for one session. Messages of the server's own go into `outbox`.
    fn connect(&self, outbox: Outbox) -> Box<dyn ServerConnection>;

    /// The answers to `initialize` and `tools/list`, if they are known without a connection. They spare a newer CLI
    /// the handshake; without them it asks.
    fn manifest(&self) -> Option<ServerManifest> {
        None
    }
}

/// One session's connection to a [`ToolServer`]; dropped when the session ends.
pub trait ServerConnection: Send + Sync {
    /// Takes one JSON-RPC message from the CLI and answers a request; notifications and responses give `None`.
    ///
    /// Called in the order of arrival, so what must keep that order happens before this returns. The futures run
    /// side by side, and one that is dropped is a request withdrawn.
    fn handle(&self, message: Value) -> BoxFuture<'static, Option<Value>>;
}

/// What a server says in its handshake, given to the CLI ahead of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerManifest {
    /// The result of `initialize`.
    pub initialize_result: Value,
    /// The result of `tools/list`, if the server has tools and lists them in one page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools_list_result: Option<Value>,
}

/// Where a server puts messages for the CLI.
#[derive(Debug, Clone)]
pub struct Outbox {
    server_name: Arc<str>,
    sender: mpsc::Sender<OutboundMessage>,
}

impl Outbox {
    pub(super) fn new(server_name: &str, sender: mpsc::Sender<OutboundMessage>) -> Self {
        Self {
            server_name: server_name.into(),
            sender,
        }
    }

    /// Sends one JSON-RPC message to the CLI, waiting for room; `false` once the session is over.
    pub async fn send(&self, message: Value) -> bool {
        let server_name = self.server_name.to_string();
        self.sender
            .send(OutboundMessage {
                server_name,
                message,
            })
            .await
            .is_ok()
    }
}

/// Why a list of tools does not make a server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolServerError {
    /// Two tools share a name.
    #[error("two tools are named `{tool}`")]
    DuplicateName {
        /// The name.
        tool: String,
    },
    /// The name would not survive the way to the model.
    #[error("the tool name `{tool}` is not 1 to 128 letters, digits, `_`, `-` or `.`")]
    InvalidName {
        /// The name.
        tool: String,
    },
    /// Models take only objects as input, without a choice at the top.
    #[error(
        "the input of tool `{tool}` is not described by a plain object schema; wrap it in a struct"
    )]
    InputNotAnObject {
        /// The tool's name.
        tool: String,
    },
    /// The server is not made of [`Tool`]s.
    #[error("the server does not hold its tools as a list that can be replaced")]
    FixedTools,
}

/// An in-process server, ready to be named in a session's options. Clones are the same server.
#[derive(Clone)]
pub struct SdkMcpServer {
    name: Arc<str>,
    server: Kind,
    timeout: Option<Duration>,
    tool_policies: Arc<[McpToolPolicy]>,
}

#[derive(Clone)]
enum Kind {
    Builtin(Arc<BuiltinServer>),
    Custom(Arc<dyn ToolServer>),
}

/// Makes a server of tools.
///
/// ```
/// use estelle_claude::mcp::{McpServers, NoInput, create_sdk_mcp_server, tool};
///
/// let ping = tool("ping", "Answers pong.", async |_: NoInput| Ok("pong"));
/// let server = create_sdk_mcp_server("demo", "1.0.0", [ping])?;
/// let servers = McpServers::from([("demo".to_owned(), server.into())]);
/// # assert_eq!(servers.len(), 1);
/// # Ok::<(), estelle_claude::mcp::ToolServerError>(())
/// ```
pub fn create_sdk_mcp_server(
    name: impl Into<String>,
    version: impl Into<String>,
    tools: impl IntoIterator<Item = Tool>,
) -> Result<SdkMcpServer, ToolServerError> {
    let name = name.into();
    let server = BuiltinServer::new(name.clone(), version.into(), tools.into_iter().collect())?;
    Ok(SdkMcpServer::from_kind(
        &name,
        Kind::Builtin(Arc::new(server)),
    ))
}

impl SdkMcpServer {
    /// A server with an implementation of its own.
    pub fn new(name: &str, server: impl ToolServer + 'static) -> Self {
        Self::from_kind(name, Kind::Custom(Arc::new(server)))
    }

    fn from_kind(name: &str, server: Kind) -> Self {
        Self {
            name: name.into(),
            server,
            timeout: None,
            tool_policies: Arc::new([]),
        }
    }

    /// What the server tells the model about itself. Only for servers made of [`Tool`]s, before their first session:
    /// others say it in their own `initialize`.
    #[must_use]
    pub fn with_instructions(self, instructions: impl Into<String>) -> Self {
        if let Kind::Builtin(server) = &self.server {
            server.set_instructions(instructions.into());
        }
        self
    }

    /// Keeps all its tools in every prompt; newer CLIs otherwise leave them for tool search to find. Only for servers
    /// made of [`Tool`]s.
    #[must_use]
    pub fn with_always_load(self) -> Self {
        if let Kind::Builtin(server) = &self.server {
            server.set_always_load();
        }
        self
    }

    /// Limits each tool call; the CLI ignores less than a second.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Declares a permission policy for one tool.
    #[must_use]
    pub fn with_tool_policy(mut self, policy: McpToolPolicy) -> Self {
        self.tool_policies = self.tool_policies.iter().cloned().chain([policy]).collect();
        self
    }

    /// Replaces all tools and tells every session that has the server. Calls under way go on.
    ///
    /// CLI 2.1.325 lists the tools anew when told; 2.1.197 takes no notice and keeps the first list.
    pub async fn set_tools(
        &self,
        tools: impl IntoIterator<Item = Tool>,
    ) -> Result<(), ToolServerError> {
        let Kind::Builtin(server) = &self.server else {
            return Err(ToolServerError::FixedTools);
        };
        server.replace_tools(tools.into_iter().collect())?;
        server.notify_tools_changed().await;
        Ok(())
    }

    /// The name the server gives itself; its tools appear under the name it has in the options.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The limit of each call, if one was set.
    pub fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// The permission policies declared for its tools.
    pub fn tool_policies(&self) -> &[McpToolPolicy] {
        &self.tool_policies
    }

    /// What the server says in its handshake, where it is known beforehand.
    pub fn manifest(&self) -> Option<ServerManifest> {
        self.as_tool_server().manifest()
    }

    pub(super) fn connect(&self, outbox: Outbox) -> Box<dyn ServerConnection> {
        self.as_tool_server().connect(outbox)
    }

    /// Whether both are the same server, so that a connection to one serves the other.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (&self.server, &other.server) {
            (Kind::Builtin(one), Kind::Builtin(two)) => Arc::ptr_eq(one, two),
            (Kind::Custom(one), Kind::Custom(two)) => Arc::ptr_eq(one, two),
            _ => false,
        }
    }

    fn as_tool_server(&self) -> &dyn ToolServer {
        match &self.server {
            Kind::Builtin(server) => server.as_ref(),
            Kind::Custom(server) => server.as_ref(),
        }
    }
}

impl fmt::Debug for SdkMcpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SdkMcpServer")
            .field("name", &self.name)
            .field("timeout", &self.timeout)
            .field("tool_policies", &self.tool_policies)
            .finish_non_exhaustive()
    }
}
