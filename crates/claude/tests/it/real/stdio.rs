//! MCP servers that the CLI runs: started in the folder the workspace file names, and asking the user something.

use anyhow::Context as _;
use estelle_claude::mcp::{McpServerConfig, McpServers, StdioServer, load_dot_mcp_json};
use estelle_claude::wire::Json;
use estelle_claude::wire::control::{ElicitationAction, ElicitationMode, ElicitationResult};
use estelle_sim::script::Script;
use serde_json::json;

use super::stage::{Stage, ask};

on_both_versions!(
    real_a_stdio_server_from_the_workspace_file_runs_in_its_folder,
    real_a_server_that_asks_the_user_gets_the_answer,
);

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

/// A stdio server whose tool asks the user for a name.
const ASKING: &str = r#"
import json, sys
def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
call = None
for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if method == "initialize":
        send({"id": message["id"], "result": {"protocolVersion": message["params"]["protocolVersion"],
              "capabilities": {"tools": {}}, "serverInfo": {"name": "asking", "version": "1"}}})
    elif method == "tools/list":
        send({"id": message["id"], "result": {"tools": [{"name": "greet", "description": "Greets.",
              "inputSchema": {"type": "object", "properties": {}}}]}})
    elif method == "tools/call":
        call = message["id"]
        schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
        send({"id": "q1", "method": "elicitation/create",
              "params": {"message": "What is your name?", "requestedSchema": schema}})
    elif message.get("id") == "q1":
        text = "answer " + json.dumps(message.get("result", message.get("error")))
        send({"id": call, "result": {"content": [{"type": "text", "text": text}]}})
    elif "id" in message and method:
        send({"id": message["id"], "result": {}})
"#;

async fn real_a_server_that_asks_the_user_gets_the_answer(stage: &Stage) -> anyhow::Result<()> {
    std::fs::write(stage.path("asking.py"), ASKING)?;
    let server = StdioServer::new("python3").arg(stage.path("asking.py").to_string_lossy());
    let plain = stage
        .options()
        .mcp_server("asking", server)
        .allowed_tools(["mcp__asking__greet"]);
    let script = || {
        Script::new()
            .tool("mcp__asking__greet", json!({}))
            .say("greeted")
    };

    let options = plain.clone().on_elicitation(|request, _| async move {
        assert_eq!(request.mcp_server_name, "asking");
        assert_eq!(request.message, "What is your name?");
        assert_ne!(request.mode, Some(ElicitationMode::Url));
        let mut result = ElicitationResult::new(ElicitationAction::Accept);
        result.content = Some([("name".to_owned(), Json::from(json!("Ada")))].into());
        result
    });
    let mut session = stage.start(options).await?;
    let (heard, is_error) = ask(&mut session, script().prompt()).await?.tool_result()?;
    assert!(
        !is_error && heard.contains("accept") && heard.contains("Ada"),
        "{heard}"
    );
    session.close().await;

    // Without anybody to ask the server is declined, not left waiting.
    let mut session = stage.start(plain).await?;
    let (heard, _) = ask(&mut session, script().prompt()).await?.tool_result()?;
    assert!(
        heard.contains("decline") || heard.contains("cancel"),
        "{heard}"
    );
    session.close().await;
    Ok(())
}
