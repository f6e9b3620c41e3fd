//! What the CLI is given for each kind of server, compared as JSON.

use serde_json::json;

use super::*;
use crate::mcp::{Tool, create_sdk_mcp_server};

fn servers<const N: usize>(list: [(&str, McpServerConfig); N]) -> McpServers {
    list.into_iter()
        .map(|(name, config)| (name.to_owned(), config))
        .collect()
}

fn sdk(name: &str) -> SdkMcpServer {
    create_sdk_mcp_server(name, "1", Vec::<Tool>::new()).expect("a server without tools")
}

#[test]
fn stdio_is_written_as_the_typescript_sdk_writes_it() {
    let servers = servers([("s", StdioServer::new("x").arg("y").env("A", "b").into())]);
    assert_eq!(
        mcp_config_argument(&servers).as_deref(),
        Some(r#"{"mcpServers":{"s":{"type":"stdio","command":"x","args":["y"],"env":{"A":"b"}}}}"#)
    );
}

#[test]
fn in_process_servers_are_announced_in_initialize_only() {
    let http = McpServerConfig::Http(RemoteServer::new("http://127.0.0.1:1/m"));
    let servers = servers([("h", http), ("inproc", sdk("x").into())]);
    assert_eq!(
        mcp_config_argument(&servers).as_deref(),
        Some(r#"{"mcpServers":{"h":{"type":"http","url":"http://127.0.0.1:1/m"}}}"#)
    );
    let fields = SdkServerFields::of(&servers);
    assert_eq!(fields.names, ["inproc"]);
    assert!(fields.configs.is_empty());
    assert!(fields.manifests.contains_key("inproc"));
}

#[test]
fn without_external_servers_there_is_no_argument() {
    assert_eq!(mcp_config_argument(&McpServers::new()), None);
    assert_eq!(
        mcp_config_argument(&servers([("inproc", sdk("x").into())])),
        None
    );
}

#[test]
fn settings_of_in_process_servers_go_to_their_own_field() {
    let server = sdk("x")
        .with_timeout(Duration::from_secs(5))
        .with_tool_policy(McpToolPolicy::new("rm", ToolPermission::AlwaysAsk));
    let servers = servers([("inproc", server.into())]);
    let settings =
        json!({"timeout": 5000, "tools": [{"name": "rm", "permission_policy": "always_ask"}]});
    assert_eq!(
        Value::Object(SdkServerFields::of(&servers).configs),
        json!({"inproc": settings})
    );
    assert_eq!(
        set_servers_value(&servers)["inproc"],
        json!({
            "type": "sdk", "name": "inproc", "timeout": 5000,
            "tools": [{"name": "rm", "permission_policy": "always_ask"}],
        })
    );
}

#[test]
fn a_working_directory_becomes_a_shell_that_changes_to_it() {
    let servers = servers([("s", StdioServer::new("srv").arg("a").cwd("/w").into())]);
    assert_eq!(
        set_servers_value(&servers),
        json!({"s": {
            "type": "stdio",
            "command": "/bin/sh",
            "args": ["-c", "CDPATH= cd -- \"$1\" && shift && exec \"$@\"", "sh", "/w", "srv", "a"],
        }})
    );
}

#[test]
fn every_kind_survives_the_way_in_and_out() {
    let written = json!({
        "h": {"type": "http", "url": "u", "headers": {"a": "b"}, "timeout": 2000, "alwaysLoad": true, "oauth": {"x": 1},
              "tools": [{"name": "t", "permission_policy": "later", "org_max_permission": "ask"}]},
        "o": {"type": "ws", "url": "ws://h"},
        "p": {"type": "stdio", "command": "c", "args": ["a"], "env": {"k": "v"}, "timeout": 1, "foo": [1]},
        "s": {"type": "sse", "url": "u"},
    });
    let Value::Object(entries) = written.clone() else {
        unreachable!("an object")
    };
    let read: McpServers = entries
        .into_iter()
        .map(|(name, value)| {
            (
                name,
                McpServerConfig::from_value(value).expect("a valid entry"),
            )
        })
        .collect();
    assert_eq!(set_servers_value(&read), written);
}

#[test]
fn malformed_entries_say_which_field() {
    for (entry, message) in [
        (json!("x"), "it is not an object"),
        (json!({}), "it has neither a command nor a type"),
        (
            json!({"url": "http://h"}),
            "it has neither a command nor a type",
        ),
        (json!({"type": 1}), "its field `type` must be a string"),
        (
            json!({"command": ""}),
            "its field `command` must be a non-empty string",
        ),
        (
            json!({"type": "stdio"}),
            "its field `command` must be a non-empty string",
        ),
        (
            json!({"command": "c", "args": "a"}),
            "its field `args` must be an array of strings",
        ),
        (
            json!({"command": "c", "env": {"A": 1}}),
            "its field `env` must be an object of strings",
        ),
        (
            json!({"type": "http"}),
            "its field `url` must be a non-empty string",
        ),
        (
            json!({"type": "sse", "url": "u", "tools": [{}]}),
            "its field `name` must be a string",
        ),
        (
            json!({"type": "sdk", "name": "x"}),
            "a server of type sdk lives in a program and cannot be configured as data",
        ),
    ] {
        let error = McpServerConfig::from_value(entry.clone()).expect_err("malformed");
        assert_eq!(error.to_string(), message, "{entry}");
    }
}

#[test]
fn null_is_as_good_as_absent() {
    let entry = json!({"type": null, "command": "c", "args": null, "env": null, "cwd": null, "timeout": null});
    let Ok(McpServerConfig::Stdio(server)) = McpServerConfig::from_value(entry) else {
        panic!("a stdio server");
    };
    assert_eq!(server, StdioServer::new("c"));
}
