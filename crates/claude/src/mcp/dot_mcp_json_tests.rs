//! Reading `.mcp.json`: whole files, broken ones, single bad entries, relative folders.

use std::error::Error as _;

use serde_json::json;

use super::*;
use crate::mcp::StdioServer;

fn parse(document: &Value) -> DotMcpJson {
    parse_dot_mcp_json(document.to_string().as_bytes(), Path::new("/w"))
        .expect("a well-formed file")
}

fn stdio<'a>(file: &'a DotMcpJson, name: &str) -> &'a StdioServer {
    match file.servers.get(name) {
        Some(McpServerConfig::Stdio(server)) => server,
        other => panic!("{name} is {other:?}"),
    }
}

#[test]
fn a_relative_working_directory_is_resolved_against_the_files_folder() {
    for (written, resolved) in [
        ("./mcp", "/w/mcp"),
        ("mcp/./a", "/w/mcp/a"),
        (".", "/w"),
        ("../x", "/w/../x"),
        ("/abs", "/abs"),
        ("${HOME}/x", "${HOME}/x"),
    ] {
        let file =
            parse(&json!({"mcpServers": {"s": {"command": "c", "args": ["a"], "cwd": written}}}));
        let server = stdio(&file, "s");
        // As text: paths that differ only in a `.` are equal.
        let cwd = server.cwd.as_deref().and_then(Path::to_str);
        assert_eq!(
            (cwd, server.args.as_slice()),
            (Some(resolved), &["a".to_owned()][..])
        );
    }
}

#[test]
fn without_a_working_directory_none_is_invented() {
    let file =
        parse(&json!({"mcpServers": {"s": {"command": "c"}, "e": {"command": "c", "cwd": ""}}}));
    assert_eq!(stdio(&file, "s").cwd, None);
    assert_eq!(stdio(&file, "e").cwd, None);
}

#[test]
fn variables_are_left_to_the_cli_and_unknown_fields_kept() {
    let file = parse(
        &json!({"mcpServers": {"s": {"command": "${BIN}", "env": {"A": "${B:-c}"}, "note": [1]}}}),
    );
    let server = stdio(&file, "s");
    assert_eq!(
        (server.command.as_str(), server.env["A"].as_str()),
        ("${BIN}", "${B:-c}")
    );
    assert_eq!(server.extra["note"], json!([1]));
}

#[test]
fn a_bad_entry_costs_only_itself() {
    let file = parse(&json!({"mcpServers": {"bad": {"args": []}, "good": {"command": "c"}}}));
    assert_eq!(file.servers.keys().collect::<Vec<_>>(), ["good"]);
    let warnings: Vec<_> = file.skipped.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        ["the MCP server `bad` is left out: it has neither a command nor a type"]
    );
}

#[test]
fn a_file_without_servers_has_none() {
    for document in [
        json!({}),
        json!({"mcpServers": {}}),
        json!({"mcpServers": null}),
        json!({"other": 1}),
    ] {
        assert!(parse(&document).servers.is_empty(), "{document}");
    }
}

#[test]
fn a_broken_file_says_where() {
    for (text, place) in [
        (
            "{\n  \"mcpServers\": {,}\n}",
            "/w/.mcp.json:2:18: not a list of MCP servers",
        ),
        ("", "/w/.mcp.json:1:0: not a list of MCP servers"),
        (
            "{\"mcpServers\": 3}",
            "/w/.mcp.json:1:16: not a list of MCP servers",
        ),
    ] {
        let error = parse_dot_mcp_json(text.as_bytes(), Path::new("/w")).expect_err("broken");
        assert_eq!(error.to_string(), place);
        assert!(error.source().is_some());
    }
    assert!(parse_dot_mcp_json(b"\xff\xfe", Path::new("/w")).is_err());
}

#[test]
fn a_byte_order_mark_is_no_error() {
    let file = parse_dot_mcp_json(
        b"\xef\xbb\xbf{\"mcpServers\":{\"s\":{\"command\":\"c\"}}}",
        Path::new("/w"),
    );
    assert_eq!(file.expect("read").servers.len(), 1);
}

#[test]
fn files_are_read_with_care() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join(".mcp.json");
    assert!(
        load_dot_mcp_json(folder.path())
            .expect("no file is no error")
            .is_none()
    );

    std::fs::write(&path, r#"{"mcpServers":{"s":{"command":"c","cwd":"./d"}}}"#).expect("written");
    let file = load_dot_mcp_json(folder.path())
        .expect("read")
        .expect("there");
    assert_eq!(stdio(&file, "s").cwd, Some(folder.path().join("d")));

    let limit = usize::try_from(MAX_DOT_MCP_JSON_BYTES).expect("small");
    std::fs::write(&path, vec![b' '; limit + 1]).expect("written");
    assert!(matches!(
        load_dot_mcp_json(folder.path()),
        Err(DotMcpJsonError::TooLarge { .. })
    ));

    std::fs::remove_file(&path).expect("removed");
    std::fs::create_dir(&path).expect("a folder in its place");
    assert!(matches!(
        load_dot_mcp_json(folder.path()),
        Err(DotMcpJsonError::Read { .. })
    ));
}
