//! The description of one MCP server, of any kind.
//!
//! These types are built by callers or read from a `.mcp.json`; `config_json` writes them in the CLI's form. Fields
//! this version does not know are kept in `extra` and passed on. `Debug` never shows what usually holds secrets: the
//! values of `env` and `headers`, the query of a URL, unknown fields.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value};

use super::server::SdkMcpServer;

/// MCP servers by the name under which their tools appear (`mcp__<name>__<tool>`).
pub type McpServers = BTreeMap<String, McpServerConfig>;

/// How one MCP server is reached.
///
/// ```
/// use estelle_claude::mcp::{McpServerConfig, McpServers, RemoteServer, StdioServer};
///
/// let mut servers = McpServers::new();
/// servers.insert("files".into(), StdioServer::new("mcp-files").arg("--read-only").env("TOKEN", "t").into());
/// servers.insert("search".into(), McpServerConfig::Http(RemoteServer::new("https://mcp.example.com")));
/// assert!(!format!("{servers:?}").contains("\"t\""));
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub enum McpServerConfig {
    /// A program the CLI starts, spoken to over its pipes.
    Stdio(StdioServer),
    /// A remote server over server-sent events.
    Sse(RemoteServer),
    /// A remote server over streamable HTTP.
    Http(RemoteServer),
    /// A server in this process.
    Sdk(SdkMcpServer),
    /// A kind this version does not know (`ws`, say), passed to the CLI as it is.
    Other(Value),
}

/// A program that speaks MCP on its standard input and output.
#[derive(Clone, Default, PartialEq)]
pub struct StdioServer {
    /// The program, looked up on the CLI's `PATH` when it has no slash.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables added to those it inherits.
    pub env: BTreeMap<String, String>,
    /// Where it runs; without it, in the CLI's working directory. The CLI itself ignores a `cwd`, so it is put
    /// into effect by a shell that changes directory and then becomes the program.
    pub cwd: Option<PathBuf>,
    /// The limit of one tool call; the CLI ignores less than a second.
    pub timeout: Option<Duration>,
    /// Whether its tools are in every prompt rather than found by tool search.
    pub always_load: Option<bool>,
    /// Fields not known here.
    pub extra: Map<String, Value>,
}

/// A server reached over the network.
#[derive(Clone, Default, PartialEq)]
pub struct RemoteServer {
    /// Its address.
    pub url: String,
    /// Headers sent with every request.
    pub headers: BTreeMap<String, String>,
    /// Permission policies for single tools of this server.
    pub tools: Vec<McpToolPolicy>,
    /// The limit of one tool call; the CLI ignores less than a second.
    pub timeout: Option<Duration>,
    /// Whether its tools are in every prompt rather than found by tool search.
    pub always_load: Option<bool>,
    /// Fields not known here.
    pub extra: Map<String, Value>,
}

/// The permission policy a host declares for one tool of a server.
#[derive(Clone, Debug, PartialEq)]
pub struct McpToolPolicy {
    /// The tool's name, without the `mcp__<server>__` prefix.
    pub name: String,
    /// What happens on a call.
    pub permission: Option<ToolPermission>,
    /// Fields not known here.
    pub extra: Map<String, Value>,
}

/// What happens when a tool with a policy is called.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolPermission {
    /// No question; ignored for servers in this process, where an allow rule does this.
    AlwaysAllow,
    /// The host is asked before each call, whatever the rules allow.
    AlwaysAsk,
    /// Each call is denied.
    AlwaysDeny,
    /// A policy not known here.
    Unknown(String),
}

impl StdioServer {
    /// A server started by `command`, without arguments.
    pub fn new(command: impl Into<String>) -> Self {
        Self {
            command: command.into(),
            ..Self::default()
        }
    }

    /// Adds one argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<String>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets one environment variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    /// Sets the working directory.
    #[must_use]
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// Limits each tool call.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Says whether its tools are in every prompt.
    #[must_use]
    pub fn always_load(mut self, always_load: bool) -> Self {
        self.always_load = Some(always_load);
        self
    }
}

impl RemoteServer {
    /// A server at `url`, without headers.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            ..Self::default()
        }
    }

    /// Sets one header.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.insert(name.into(), value.into());
        self
    }

    /// Adds a permission policy for one tool.
    #[must_use]
    pub fn tool_policy(mut self, policy: McpToolPolicy) -> Self {
        self.tools.push(policy);
        self
    }

    /// Limits each tool call.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Says whether its tools are in every prompt.
    #[must_use]
    pub fn always_load(mut self, always_load: bool) -> Self {
        self.always_load = Some(always_load);
        self
    }
}

impl McpToolPolicy {
    /// The policy `permission` for the tool `name`.
    pub fn new(name: impl Into<String>, permission: ToolPermission) -> Self {
        Self {
            name: name.into(),
            permission: Some(permission),
            extra: Map::new(),
        }
    }
}

impl From<StdioServer> for McpServerConfig {
    fn from(server: StdioServer) -> Self {
        Self::Stdio(server)
    }
}

impl From<SdkMcpServer> for McpServerConfig {
    fn from(server: SdkMcpServer) -> Self {
        Self::Sdk(server)
    }
}

impl fmt::Debug for McpServerConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdio(server) => f.debug_tuple("Stdio").field(server).finish(),
            Self::Sse(server) => f.debug_tuple("Sse").field(server).finish(),
            Self::Http(server) => f.debug_tuple("Http").field(server).finish(),
            Self::Sdk(server) => f.debug_tuple("Sdk").field(server).finish(),
            Self::Other(value) => {
                let kind = value.get("type").and_then(Value::as_str).unwrap_or("?");
                f.debug_tuple("Other").field(&kind).finish()
            }
        }
    }
}

impl fmt::Debug for StdioServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StdioServer")
            .field("command", &self.command)
            .field("args", &self.args)
            .field("env", &KeysOnly(self.env.keys()))
            .field("cwd", &self.cwd)
            .field("timeout", &self.timeout)
            .field("always_load", &self.always_load)
            .field("extra", &KeysOnly(self.extra.keys()))
            .finish()
    }
}

impl fmt::Debug for RemoteServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteServer")
            .field("url", &address_without_secrets(&self.url))
            .field("headers", &KeysOnly(self.headers.keys()))
            .field("tools", &self.tools)
            .field("timeout", &self.timeout)
            .field("always_load", &self.always_load)
            .field("extra", &KeysOnly(self.extra.keys()))
            .finish()
    }
}

/// Shows a map's keys, each with a hidden value.
struct KeysOnly<I>(I);

impl<'a, I: Iterator<Item = &'a String> + Clone> fmt::Debug for KeysOnly<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(self.0.clone().map(|key| (key, format_args!("<hidden>"))))
            .finish()
    }
}

/// The URL without its user, password, query and fragment: all of them are places for keys.
fn address_without_secrets(url: &str) -> String {
    let path_end = url.find(['?', '#']).unwrap_or(url.len());
    let (plain, rest) = url.split_at(path_end);
    let hidden = if rest.is_empty() { "" } else { "?<hidden>" };
    let Some((scheme, after)) = plain.split_once("://") else {
        return format!("{plain}{hidden}");
    };
    let authority_end = after.find('/').unwrap_or(after.len());
    let (authority, path) = after.split_at(authority_end);
    match authority.rsplit_once('@') {
        Some((_, host)) => format!("{scheme}://<hidden>@{host}{path}{hidden}"),
        None => format!("{scheme}://{authority}{path}{hidden}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_no_secret() {
        let stdio = StdioServer::new("srv").env("API_KEY", "s3cret");
        let mut remote = RemoteServer::new("https://bob:s3cret@host/p?key=s3cret#s3cret")
            .header("Authorization", "s3cret");
        remote.extra.insert("oauth".into(), "s3cret".into());
        let other = serde_json::json!({"type": "ws", "url": "ws://h/?k=s3cret"});
        let shown = format!(
            "{:?}",
            [
                McpServerConfig::Stdio(stdio),
                McpServerConfig::Sse(remote.clone()),
                McpServerConfig::Http(remote),
                McpServerConfig::Other(other),
            ]
        );
        assert!(!shown.contains("s3cret"), "{shown}");
        for key in [
            "API_KEY",
            "Authorization",
            "https://<hidden>@host/p?<hidden>",
            "oauth",
            "\"ws\"",
        ] {
            assert!(shown.contains(key), "{key} in {shown}");
        }
    }

    #[test]
    fn an_address_without_secrets_is_shown_whole() {
        for url in ["http://127.0.0.1:1/m", "not a url", "https://host"] {
            assert_eq!(address_without_secrets(url), url);
        }
    }
}
