//! Server configurations in the CLI's JSON, both ways.
//!
//! Out: the value of `--mcp-config` ([`mcp_config_argument`]), the `initialize` fields for servers in this process
//! ([`SdkServerFields`]) and the `servers` of `mcp_set_servers` ([`set_servers_value`]). In: one entry of an
//! `mcpServers` object ([`McpServerConfig::from_value`]), as files hold it. Reading a file is `dot_mcp_json`'s part.
//!
//! The CLI replaces `${VAR}` and `${VAR:-default}` in what `--mcp-config` gives it, but not in `mcp_set_servers`:
//! [`McpServerConfig::expand_variables`] does it there.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde::ser::{SerializeMap, Serializer};
use serde_json::{Map, Value};

use super::config::{
    McpServerConfig, McpServers, McpToolPolicy, RemoteServer, StdioServer, ToolPermission,
};
use super::server::{SdkMcpServer, ServerManifest};
use super::working_dir;

/// Why a value does not describe an MCP server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidServerConfig {
    /// The entry is not a JSON object.
    #[error("it is not an object")]
    NotAnObject,
    /// Without a `type`, only a `command` says what it is.
    #[error("it has neither a command nor a type")]
    NoKind,
    /// A field is missing or holds something else than it should.
    #[error("its field `{field}` must be {expected}")]
    Field {
        /// The field's name.
        field: &'static str,
        /// What belongs there.
        expected: &'static str,
    },
    /// An in-process server is code and cannot come from data.
    #[error("a server of type sdk lives in a program and cannot be configured as data")]
    Sdk,
}

/// The value for `--mcp-config`: all servers but those in this process; none if there are no others.
pub fn mcp_config_argument(servers: &McpServers) -> Option<String> {
    let external: BTreeMap<&str, External<'_>> = servers
        .iter()
        .filter_map(|(name, config)| Some((name.as_str(), External::of(config)?)))
        .collect();
    if external.is_empty() {
        return None;
    }
    let document = BTreeMap::from([("mcpServers", external)]);
    // Maps with string keys and strings inside cannot fail to serialise.
    serde_json::to_string(&document).ok()
}

/// The `servers` of an `mcp_set_servers` request. The CLI drops every server of an earlier set that is not named
/// here, in-process ones included.
pub fn set_servers_value(servers: &McpServers) -> Value {
    let entry = |name: &String, config: &McpServerConfig| {
        if let McpServerConfig::Sdk(server) = config {
            let mut entry = sdk_settings(server);
            entry.insert("type".into(), "sdk".into());
            entry.insert("name".into(), name.as_str().into());
            return Value::Object(entry);
        }
        External::of(config).map_or(Value::Null, |external| to_value(&external))
    };
    Value::Object(
        servers
            .iter()
            .map(|(name, config)| (name.clone(), entry(name, config)))
            .collect(),
    )
}

/// The fields of `initialize` that announce the servers in this process.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SdkServerFields {
    /// Their names.
    #[serde(rename = "sdkMcpServers", skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// Settings of those that have any.
    #[serde(rename = "sdkMcpServerConfigs", skip_serializing_if = "Map::is_empty")]
    pub configs: Map<String, Value>,
    /// The answers to the MCP handshake, given ahead so that a newer CLI need not ask. Older ones ignore them.
    #[serde(
        rename = "sdkMcpServerManifests",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub manifests: BTreeMap<String, ServerManifest>,
}

impl SdkServerFields {
    /// What `initialize` says about the in-process servers among `servers`.
    pub fn of(servers: &McpServers) -> Self {
        let mut fields = Self::default();
        for (name, config) in servers {
            let McpServerConfig::Sdk(server) = config else {
                continue;
            };
            fields.names.push(name.clone());
            let settings = sdk_settings(server);
            if !settings.is_empty() {
                fields.configs.insert(name.clone(), Value::Object(settings));
            }
            if let Some(manifest) = server.manifest() {
                fields.manifests.insert(name.clone(), manifest);
            }
        }
        fields
    }
}

fn sdk_settings(server: &SdkMcpServer) -> Map<String, Value> {
    let mut settings = Map::new();
    if let Some(timeout) = server.timeout() {
        settings.insert("timeout".into(), millis(timeout).into());
    }
    if !server.tool_policies().is_empty() {
        settings.insert("tools".into(), to_value(server.tool_policies()));
    }
    settings
}

/// A configuration that the CLI itself acts on, in its field order.
enum External<'a> {
    Stdio(&'a StdioServer),
    Remote(&'static str, &'a RemoteServer),
    Other(&'a Value),
}

impl<'a> External<'a> {
    fn of(config: &'a McpServerConfig) -> Option<Self> {
        match config {
            McpServerConfig::Stdio(server) => Some(Self::Stdio(server)),
            McpServerConfig::Sse(server) => Some(Self::Remote("sse", server)),
            McpServerConfig::Http(server) => Some(Self::Remote("http", server)),
            McpServerConfig::Other(value) => Some(Self::Other(value)),
            McpServerConfig::Sdk(_) => None,
        }
    }
}

impl Serialize for External<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Stdio(server) => serialize_stdio(server, serializer),
            Self::Remote(kind, server) => serialize_remote(kind, server, serializer),
            Self::Other(value) => value.serialize(serializer),
        }
    }
}

fn serialize_stdio<S: Serializer>(server: &StdioServer, serializer: S) -> Result<S::Ok, S::Error> {
    let wrapped = server
        .cwd
        .as_deref()
        .map(|cwd| working_dir::arguments(cwd, &server.command, &server.args));
    let (command, args) = match &wrapped {
        Some(args) => (working_dir::SHELL, args),
        None => (server.command.as_str(), &server.args),
    };
    let mut map = serializer.serialize_map(None)?;
    map.serialize_entry("type", "stdio")?;
    map.serialize_entry("command", command)?;
    if !args.is_empty() {
        map.serialize_entry("args", args)?;
    }
    if !server.env.is_empty() {
        map.serialize_entry("env", &server.env)?;
    }
    serialize_rest(&mut map, server.timeout, server.always_load, &server.extra)?;
    map.end()
}

fn serialize_remote<S: Serializer>(
    kind: &str,
    server: &RemoteServer,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    map.serialize_entry("type", kind)?;
    map.serialize_entry("url", &server.url)?;
    if !server.headers.is_empty() {
        map.serialize_entry("headers", &server.headers)?;
    }
    if !server.tools.is_empty() {
        map.serialize_entry("tools", &server.tools)?;
    }
    serialize_rest(&mut map, server.timeout, server.always_load, &server.extra)?;
    map.end()
}

fn serialize_rest<M: SerializeMap>(
    map: &mut M,
    timeout: Option<Duration>,
    always_load: Option<bool>,
    extra: &Map<String, Value>,
) -> Result<(), M::Error> {
    if let Some(timeout) = timeout {
        map.serialize_entry("timeout", &millis(timeout))?;
    }
    if let Some(always_load) = always_load {
        map.serialize_entry("alwaysLoad", &always_load)?;
    }
    extra
        .iter()
        .try_for_each(|(key, value)| map.serialize_entry(key, value))
}

impl Serialize for McpToolPolicy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &self.name)?;
        if let Some(permission) = &self.permission {
            map.serialize_entry("permission_policy", permission.as_str())?;
        }
        for (key, value) in &self.extra {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl ToolPermission {
    /// The CLI's word for it.
    pub fn as_str(&self) -> &str {
        match self {
            Self::AlwaysAllow => "always_allow",
            Self::AlwaysAsk => "always_ask",
            Self::AlwaysDeny => "always_deny",
            Self::Unknown(word) => word,
        }
    }

    fn from_word(word: String) -> Self {
        match word.as_str() {
            "always_allow" => Self::AlwaysAllow,
            "always_ask" => Self::AlwaysAsk,
            "always_deny" => Self::AlwaysDeny,
            _ => Self::Unknown(word),
        }
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn to_value<T: Serialize + ?Sized>(value: &T) -> Value {
    // Only maps with string keys come here, which always have a JSON form.
    serde_json::to_value(value).unwrap_or(Value::Null)
}

impl McpServerConfig {
    /// Reads one entry of an `mcpServers` object. A known kind must have well-formed fields; an unknown kind is
    /// taken as it is; unknown fields are kept.
    pub fn from_value(value: Value) -> Result<Self, InvalidServerConfig> {
        let Value::Object(mut map) = value else {
            return Err(InvalidServerConfig::NotAnObject);
        };
        let kind = take::<String>(&mut map, "type", "a string")?;
        match kind.as_deref() {
            None if map.contains_key("command") => stdio_from(map).map(Self::Stdio),
            None => Err(InvalidServerConfig::NoKind),
            Some("stdio") => stdio_from(map).map(Self::Stdio),
            Some("sse") => remote_from(map).map(Self::Sse),
            Some("http") => remote_from(map).map(Self::Http),
            Some("sdk") => Err(InvalidServerConfig::Sdk),
            Some(other) => {
                map.insert("type".into(), other.into());
                Ok(Self::Other(Value::Object(map)))
            }
        }
    }
}

fn stdio_from(mut map: Map<String, Value>) -> Result<StdioServer, InvalidServerConfig> {
    let command =
        take::<String>(&mut map, "command", "a string")?.filter(|command| !command.is_empty());
    let cwd = take::<String>(&mut map, "cwd", "a string")?.filter(|cwd| !cwd.is_empty());
    Ok(StdioServer {
        command: command.ok_or(InvalidServerConfig::Field {
            field: "command",
            expected: "a non-empty string",
        })?,
        args: take(&mut map, "args", "an array of strings")?.unwrap_or_default(),
        env: take(&mut map, "env", "an object of strings")?.unwrap_or_default(),
        cwd: cwd.map(Into::into),
        timeout: take(&mut map, "timeout", "milliseconds")?.map(Duration::from_millis),
        always_load: take(&mut map, "alwaysLoad", "a boolean")?,
        extra: map,
    })
}

fn remote_from(mut map: Map<String, Value>) -> Result<RemoteServer, InvalidServerConfig> {
    let url = take::<String>(&mut map, "url", "a string")?.filter(|url| !url.is_empty());
    let tools: Vec<Map<String, Value>> =
        take(&mut map, "tools", "an array of objects")?.unwrap_or_default();
    Ok(RemoteServer {
        url: url.ok_or(InvalidServerConfig::Field {
            field: "url",
            expected: "a non-empty string",
        })?,
        headers: take(&mut map, "headers", "an object of strings")?.unwrap_or_default(),
        tools: tools
            .into_iter()
            .map(policy_from)
            .collect::<Result<_, _>>()?,
        timeout: take(&mut map, "timeout", "milliseconds")?.map(Duration::from_millis),
        always_load: take(&mut map, "alwaysLoad", "a boolean")?,
        extra: map,
    })
}

fn policy_from(mut map: Map<String, Value>) -> Result<McpToolPolicy, InvalidServerConfig> {
    let name = take::<String>(&mut map, "name", "a string")?;
    Ok(McpToolPolicy {
        name: name.ok_or(InvalidServerConfig::Field {
            field: "name",
            expected: "a string",
        })?,
        permission: take(&mut map, "permission_policy", "a string")?.map(ToolPermission::from_word),
        extra: map,
    })
}

/// Takes a field out of `map`; null counts as absent.
fn take<T: DeserializeOwned>(
    map: &mut Map<String, Value>,
    field: &'static str,
    expected: &'static str,
) -> Result<Option<T>, InvalidServerConfig> {
    match map.remove(field) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => serde_json::from_value(value)
            .map(Some)
            .map_err(|_| InvalidServerConfig::Field { field, expected }),
    }
}

#[cfg(test)]
#[path = "config_json_tests.rs"]
mod tests;
