//! MCP servers: in this process, as a child of the CLI, and changed while the session runs.

use std::sync::Arc;

use anyhow::Context as _;
use estelle_claude::ControlError;
use estelle_claude::mcp::{
    McpServerConfig, McpServers, StdioServer, ToolError, create_sdk_mcp_server, load_dot_mcp_json,
    tool,
};
use estelle_claude::wire::ResultMessage;
use estelle_sim::script::Script;
use serde_json::json;
use tokio::sync::mpsc;

use super::stage::{Stage, ask, turn};

on_both_versions!(
    real_a_tool_in_this_process_takes_typed_input,
    real_a_slow_tool_does_not_hold_up_an_interrupt,
    real_a_stdio_server_from_the_workspace_file_runs_in_its_folder,
);

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Add {
    /// The first number.
    a: i64,
    /// The second.
    b: i64,
}

async fn real_a_tool_in_this_process_takes_typed_input(stage: &Stage) -> anyhow::Result<()> {
    let add = tool("add", "Adds two numbers.", async |input: Add| {
        if input.b == 0 {
            return Err(ToolError::new("nothing to add"));
        }
        Ok(format!("the sum is {}", input.a + input.b))
    });
    let server = create_sdk_mcp_server("calc", "1.0.0", [add])?.with_always_load();
    let options = stage
        .options()
        .mcp_server("calc", server.clone())
        .allowed_tools(["mcp__calc__add", "mcp__other__greet"]);
    let mut session = stage.start(options).await?;

    let call = |input| Script::new().tool("mcp__calc__add", input).say("counted");
    let told = ask(&mut session, call(json!({"a": 2, "b": 40})).prompt()).await?;
    assert_eq!(told.text(), "counted");
    assert_eq!(told.tool_result()?, ("the sum is 42".to_owned(), false));
    assert!(stage.history()?.contains("the sum is 42"));
    let tools = stage.newest()?["tools"].to_string();
    assert!(
        tools.contains("The first number."),
        "the schema reached the model"
    );

    let told = ask(&mut session, call(json!({"a": "two"})).prompt()).await?;
    let (heard, is_error) = told.tool_result()?;
    assert!(is_error, "bad input: {heard}");
    let told = ask(&mut session, call(json!({"a": 1, "b": 0})).prompt()).await?;
    let (heard, is_error) = told.tool_result()?;
    assert!(is_error && heard.contains("nothing to add"), "{heard}");

    let status = session.mcp_server_status().await?;
    let listed = status.iter().find(|server| server.name == "calc");
    let listed = listed.context("the server is listed")?;
    assert_eq!(listed.status.as_deref(), Some("connected"));
    // A caller that has the server need not ask the CLI to call it.
    let refused = session
        .mcp_call("mcp__calc__add", &json!({"a": 1, "b": 1}))
        .await;
    assert!(
        matches!(refused, Err(ControlError::Refused { .. })),
        "{refused:?}"
    );

    // Another server takes its place.
    let other = tool(
        "greet",
        "Greets.",
        async |_: estelle_claude::mcp::NoInput| Ok::<_, ToolError>("good morning"),
    );
    let other = create_sdk_mcp_server("other", "1.0.0", [other])?;
    let servers: McpServers = [("other".to_owned(), McpServerConfig::from(other))].into();
    let changed = session.set_mcp_servers(&servers).await?;
    assert_eq!(changed.added.as_deref(), Some(&["other".to_owned()][..]));
    assert_eq!(changed.removed.as_deref(), Some(&["calc".to_owned()][..]));
    let script = Script::new()
        .tool("mcp__other__greet", json!({}))
        .say("greeted");
    let told = ask(&mut session, script.prompt()).await?;
    assert_eq!(told.tool_result()?, ("good morning".to_owned(), false));
    session.close().await;
    Ok(())
}

async fn real_a_slow_tool_does_not_hold_up_an_interrupt(stage: &Stage) -> anyhow::Result<()> {
    let (calling, mut called) = mpsc::channel(1);
    // Dropped when the call is withdrawn.
    let alive = Arc::new(());
    let held = Arc::downgrade(&alive);
    let calling = Arc::new(calling);
    let slow = tool("wait", "Waits.", move |_: estelle_claude::mcp::NoInput| {
        let calling = Arc::clone(&calling);
        let alive = Arc::clone(&alive);
        async move {
            // A test that stopped listening has failed already.
            let _ = calling.send(()).await;
            let never = std::future::pending::<Result<String, ToolError>>().await;
            drop(alive);
            never
        }
    });
    let server = create_sdk_mcp_server("slow", "1.0.0", [slow])?;
    let options = stage
        .options()
        .mcp_server("slow", server)
        .allowed_tools(["mcp__slow__wait"]);
    let mut session = stage.start(options).await?;
    let script = Script::new()
        .tool("mcp__slow__wait", json!({}))
        .say("never");
    session.send(script.prompt()).await?;
    called.recv().await.context("the tool is called")?;
    session.interrupt().await?;
    let told = turn(&mut session).await?;
    assert!(
        matches!(told.result, ResultMessage::Error(_)),
        "{:?}",
        told.result
    );
    let told = ask(&mut session, Script::new().say("alive").prompt()).await?;
    assert_eq!(told.text(), "alive");
    assert_eq!(held.strong_count(), 1, "the call itself was dropped");
    session.close().await;
    Ok(())
}

/// A stdio server in few lines: one tool that says where it runs.
const SERVER: &str = r#"
import json, os, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    method = message["method"]
    result = {}
    if method == "initialize":
        result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "where", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [{"name": "cwd", "description": "Says where it runs.",
                             "inputSchema": {"type": "object", "properties": {}}}]}
    elif method == "tools/call":
        result = {"content": [{"type": "text", "text": "running in " + os.getcwd()}]}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"#;

async fn real_a_stdio_server_from_the_workspace_file_runs_in_its_folder(
    stage: &Stage,
) -> anyhow::Result<()> {
    std::fs::create_dir(stage.path("servers"))?;
    std::fs::write(stage.path("servers/where.py"), SERVER)?;
    let config = json!({"mcpServers": {"where": {"command": "python3", "args": ["where.py"], "cwd": "servers"}}});
    std::fs::write(stage.path(".mcp.json"), config.to_string())?;
    let loaded = load_dot_mcp_json(stage.work.path())?.context("the file is there")?;
    let options = stage
        .options()
        .strict_mcp_config(true)
        .mcp_servers(loaded.servers.clone())
        .allowed_tools(["mcp__where__cwd"]);
    let mut session = stage.start(options).await?;
    let script = Script::new()
        .tool("mcp__where__cwd", json!({}))
        .say("there");
    let told = ask(&mut session, script.prompt()).await?;
    let folder = stage.path("servers").canonicalize()?;
    let expected = format!("running in {}", folder.display());
    assert_eq!(told.tool_result()?, (expected.clone(), false));
    assert!(stage.history()?.contains(&expected));

    let called = session.mcp_call("mcp__where__cwd", &json!({})).await?;
    assert!(called.to_string().contains(&expected), "{called}");
    session
        .disable_mcp_server("where")
        .await
        .context("disable")?;
    // The older one connects again by the file itself, whose relative folder it does not understand.
    std::fs::remove_file(stage.path(".mcp.json"))?;
    session.enable_mcp_server("where").await.context("enable")?;
    session
        .reconnect_mcp_server("where")
        .await
        .context("reconnect")?;
    let status = session.mcp_server_status().await?;
    let server = status.iter().find(|server| server.name == "where");
    let server = server.context("the server is listed")?;
    assert_eq!(server.status.as_deref(), Some("connected"), "{server:?}");
    assert_eq!(server.tools.as_ref().map(Vec::len), Some(1));

    // One more while the session runs, without the model.
    let script = stage.path("servers/where.py");
    let second = StdioServer::new("python3").arg(script.to_string_lossy());
    let servers: McpServers = [("second".to_owned(), McpServerConfig::from(second))].into();
    let changed = session.set_mcp_servers(&servers).await?;
    assert_eq!(
        changed.added.as_deref(),
        Some(&["second".to_owned()][..]),
        "{changed:?}"
    );
    let called = session.mcp_call("mcp__second__cwd", &json!({})).await?;
    assert!(called.to_string().contains("running in"), "{called}");
    session.close().await;
    Ok(())
}
