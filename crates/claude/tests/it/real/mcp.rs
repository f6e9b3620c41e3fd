//! MCP servers in this process: typed tools, slow ones, and those that change while the session runs.

use std::sync::Arc;

use anyhow::Context as _;
use estelle_claude::ControlError;
use estelle_claude::mcp::{
    McpServerConfig, McpServers, NoInput, ToolError, create_sdk_mcp_server, tool,
};
use estelle_claude::wire::ResultMessage;
use estelle_sim::script::Script;
use serde_json::json;
use tokio::sync::mpsc;

use super::desk::Desk;
use super::stage::{Stage, ask, turn};

on_both_versions!(
    real_a_tool_in_this_process_takes_typed_input,
    real_a_slow_tool_does_not_hold_up_an_interrupt,
    real_tools_that_change_are_announced,
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
    let other = tool("greet", "Greets.", async |_: NoInput| {
        Ok::<_, ToolError>("good morning")
    });
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
    let slow = tool("wait", "Waits.", move |_: NoInput| {
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

async fn real_tools_that_change_are_announced(stage: &Stage) -> anyhow::Result<()> {
    let said = |name: &'static str| {
        tool(name, "Says its name.", move |_: NoInput| async move {
            Ok::<_, ToolError>(format!("I am {name}"))
        })
    };
    let server = create_sdk_mcp_server("names", "1.0.0", [said("old")])?.with_always_load();
    let (options, mut desk) = Desk::of(stage.options().mcp_server("names", server.clone()));
    let mut session = stage.start(options).await?;
    let call = |name: &str| {
        let script = Script::new().tool(format!("mcp__names__{name}"), json!({}));
        script.say("called").prompt()
    };
    // A tool that nobody has allowed is asked about like any other.
    session.send(call("old")).await?;
    let asked = desk.next().await?;
    assert_eq!(asked.request.tool_name, "mcp__names__old");
    asked.allow()?;
    assert_eq!(turn(&mut session).await?.tool_result()?.0, "I am old");

    server.set_tools([said("new")]).await?;
    if stage.is_old() {
        // It keeps the first list, whose tool is gone.
        session.send(call("old")).await?;
        desk.next().await?.allow()?;
        assert!(
            turn(&mut session).await?.tool_result()?.1,
            "the tool is gone"
        );
        session.close().await;
        return Ok(());
    }
    // The CLI asks for the list when it is told; the tool is there once it has.
    while !session
        .mcp_server_status()
        .await?
        .iter()
        .flat_map(|server| server.tools.iter().flatten())
        .any(|tool| tool.name == "new")
    {
        tokio::task::yield_now().await;
    }
    session.send(call("new")).await?;
    desk.next().await?.allow()?;
    assert_eq!(turn(&mut session).await?.tool_result()?.0, "I am new");
    assert!(
        stage.newest()?["tools"]
            .to_string()
            .contains("mcp__names__new")
    );
    session.close().await;
    Ok(())
}
