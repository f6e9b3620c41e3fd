//! MCP servers: how the CLI is told about them, and those that live in this process.
//!
//! [`McpServerConfig`] describes a server of any kind; [`mcp_config_argument`] and [`SdkServerFields`] turn a set
//! of them into what the CLI takes on its command line and in `initialize`. [`load_dot_mcp_json`] reads a
//! workspace's `.mcp.json`. [`tool`] and [`create_sdk_mcp_server`] make a server out of Rust functions, which
//! [`McpBridge`] connects to the CLI's `mcp_message` requests.
//!
//! Nothing here starts a process or touches the CLI's pipes: stdio, SSE and HTTP servers are the CLI's to run, and
//! the engine carries the messages of in-process ones.

mod bridge;
mod builtin;
mod config;
mod config_json;
mod dot_mcp_json;
mod json_rpc;
#[cfg(feature = "rmcp")]
mod rmcp_adapter;
mod schema;
mod server;
mod tool;
mod tool_result;
mod variables;
mod working_dir;

pub use bridge::{BridgeError, McpBridge, OUTBOUND_CAPACITY, OutboundMessage};
pub use config::{
    McpServerConfig, McpServers, McpToolPolicy, RemoteServer, StdioServer, ToolPermission,
};
pub use config_json::{
    InvalidServerConfig, SdkServerFields, mcp_config_argument, set_servers_value,
};
pub use dot_mcp_json::{
    DotMcpJson, DotMcpJsonError, MAX_DOT_MCP_JSON_BYTES, SkippedServer, load_dot_mcp_json,
    parse_dot_mcp_json,
};
#[cfg(feature = "rmcp")]
pub use rmcp_adapter::rmcp_server;
pub use server::{
    Outbox, SdkMcpServer, ServerConnection, ServerManifest, ToolServer, ToolServerError,
    create_sdk_mcp_server,
};
pub use tool::{NoInput, Tool, ToolAnnotations, ToolCall, tool};
pub use tool_result::{ToolContent, ToolError, ToolResult};
