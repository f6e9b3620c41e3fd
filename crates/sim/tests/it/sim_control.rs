//! The control protocol of the simulated CLI: initialize, every request, hooks, MCP, API errors, limits, commands.

use estelle_sim::script::{Action, Answer, HttpError, Script};
use serde_json::{Value, json};

use crate::sim_driver::{Sim, Start, VERSIONS, kinds};

/// Answers everything the CLI asks for until a result, and says what it asked.
async fn serve(
    sim: &mut Sim,
    hook: impl Fn(&Value) -> Value,
) -> anyhow::Result<(Vec<String>, Value)> {
    let mut asked = Vec::new();
    loop {
        let line = sim.next().await?;
        let request = &line["request"];
        match request["subtype"].as_str() {
            Some("can_use_tool") => {
                asked.push("can_use_tool".to_owned());
                sim.allow(&line).await?;
            }
            Some("hook_callback") => {
                let event = request["input"]["hook_event_name"]
                    .as_str()
                    .unwrap_or_default();
                asked.push(event.to_owned());
                sim.answer(&line, hook(request)).await?;
            }
            Some(_) | None if line["type"] == "result" => return Ok((asked, line)),
            Some(_) | None => {}
        }
    }
}

fn hooks(events: &[&str]) -> Value {
    let entries = events.iter().map(|event| {
        (
            (*event).to_owned(),
            json!([{ "hookCallbackIds": [format!("h_{event}")] }]),
        )
    });
    json!({ "subtype": "initialize", "hooks": Value::Object(entries.collect()) })
}

#[tokio::test]
async fn a_second_initialize_lists_what_is_open() -> anyhow::Result<()> {
    for version in VERSIONS {
        let mut sim = Start::new(version)?.spawn()?;
        sim.request("a", json!({ "subtype": "initialize" })).await?;
        let first = sim.response("a").await?;
        assert!(first["response"]["commands"].is_array());
        assert!(first["response"]["pid"].is_number());
        sim.play(
            &Script::new()
                .tool("Bash", json!({ "command": "chown 0 /x" }))
                .say("end"),
        )
        .await?;
        let asked = sim.asked("can_use_tool").await?;
        sim.request("b", json!({ "subtype": "initialize" })).await?;
        let again = sim.response("b").await?;
        assert_eq!(
            again["pending_permission_requests"],
            json!([asked]),
            "{version}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn every_request_is_answered_as_its_version_does() -> anyhow::Result<()> {
    let both = [
        "set_max_thinking_tokens",
        "mcp_status",
        "interrupt",
        "get_context_usage",
        "get_settings",
        "get_session_cost",
        "get_usage",
        "get_binary_version",
        "file_suggestions",
        "seed_read_state",
        "rename_session",
        "reload_plugins",
        "reload_skills",
        "cancel_async_message",
        "stop_task",
        "background_tasks",
        "mcp_set_servers",
        "generate_session_title",
        "set_model",
        "apply_flag_settings",
    ];
    let newer = [
        "list_models",
        "list_permission_rules",
        "get_hooks_listing",
        "reload_output_styles",
        "set_has_subscribers",
        "update_settings",
    ];
    for version in VERSIONS {
        let mut sim = Start::new(version)?.spawn()?;
        for subtype in both {
            sim.request(subtype, json!({ "subtype": subtype })).await?;
            assert_eq!(
                sim.response(subtype).await?["subtype"],
                "success",
                "{version} {subtype}"
            );
        }
        for subtype in newer {
            sim.request(subtype, json!({ "subtype": subtype })).await?;
            let response = sim.response(subtype).await?;
            assert_eq!(
                response["subtype"] == "success",
                sim.newer(),
                "{version} {subtype}"
            );
        }
        for subtype in ["set_color", "wibble"] {
            sim.request(subtype, json!({ "subtype": subtype })).await?;
            let response = sim.response(subtype).await?;
            let text = format!("Unsupported control request subtype: {subtype}");
            assert_eq!(response["error"], text);
            assert_eq!(response.get("error_code").is_some(), sim.newer());
        }
    }
    Ok(())
}

#[tokio::test]
async fn modes_are_validated_by_the_newer_one() -> anyhow::Result<()> {
    for version in VERSIONS {
        let mut sim = Start::new(version)?.spawn()?;
        sim.request(
            "m",
            json!({ "subtype": "set_permission_mode", "mode": "bogus" }),
        )
        .await?;
        assert_eq!(sim.response("m").await?["subtype"] == "error", sim.newer());
        sim.request(
            "b",
            json!({ "subtype": "set_permission_mode", "mode": "bypassPermissions" }),
        )
        .await?;
        assert_eq!(sim.response("b").await?["subtype"], "error");
        let mut sim = Start::new(version)?
            .args(&["--allow-dangerously-skip-permissions"])
            .spawn()?;
        sim.request(
            "b",
            json!({ "subtype": "set_permission_mode", "mode": "bypassPermissions" }),
        )
        .await?;
        assert_eq!(sim.response("b").await?["subtype"], "success");
    }
    Ok(())
}

#[tokio::test]
async fn hooks_are_called_in_the_recorded_order() -> anyhow::Result<()> {
    let events = [
        "UserPromptSubmit",
        "PreToolUse",
        "PermissionRequest",
        "PostToolUse",
        "PostToolUseFailure",
        "PostToolBatch",
        "MessageDisplay",
        "Stop",
    ];
    for version in VERSIONS {
        let mut sim = Start::new(version)?.spawn()?;
        sim.request("i", hooks(&events)).await?;
        let script = Script::new()
            .tool("Write", json!({ "file_path": "a", "content": "1" }))
            .tool("Bash", json!({ "command": "false" }))
            .say("done");
        sim.play(&script).await?;
        let (asked, result) = serve(&mut sim, |_| json!({})).await?;
        let expected = [
            "UserPromptSubmit",
            "PreToolUse",
            "can_use_tool",
            "PermissionRequest",
            "PostToolUse",
            "PostToolBatch",
            "PreToolUse",
            "PostToolUseFailure",
            "PostToolBatch",
            "MessageDisplay",
            "Stop",
        ];
        assert_eq!(asked, expected, "{version}");
        assert_eq!(result["num_turns"], 3);
    }
    Ok(())
}

#[tokio::test]
async fn hook_answers_have_their_effect() -> anyhow::Result<()> {
    let bash = || {
        Script::new()
            .tool("Bash", json!({ "command": "chown 0 /x" }))
            .say("end")
    };
    let decide = |decision: Value| move |_: &Value| json!({ "hookSpecificOutput": decision });
    for version in VERSIONS {
        let mut sim = Start::new(version)?.spawn()?;
        sim.request("i", hooks(&["PreToolUse"])).await?;
        sim.play(&bash()).await?;
        let (asked, result) = serve(
            &mut sim,
            decide(json!({ "permissionDecision": "deny", "permissionDecisionReason": "no" })),
        )
        .await?;
        assert_eq!(asked, ["PreToolUse"]);
        assert_eq!(result["permission_denials"].as_array().unwrap().len(), 1);
        sim.play(&bash()).await?;
        let (asked, _) = serve(
            &mut sim,
            decide(
                json!({ "permissionDecision": "allow", "updatedInput": { "command": "echo y" } }),
            ),
        )
        .await?;
        assert_eq!(
            asked,
            ["PreToolUse"],
            "an allowing hook leaves nothing to ask"
        );
        sim.play(&bash()).await?;
        let (_, result) = serve(&mut sim, decide(json!({ "permissionDecision": "defer" }))).await?;
        assert_eq!(result["terminal_reason"], "tool_deferred");
        assert_eq!(result["deferred_tool_use"]["name"], "Bash", "{version}");
    }
    Ok(())
}

#[tokio::test]
async fn a_stop_hook_keeps_the_turn_going() -> anyhow::Result<()> {
    for version in VERSIONS {
        let mut sim = Start::new(version)?.spawn()?;
        sim.request("i", hooks(&["Stop"])).await?;
        sim.play(&Script::new().say("one").say("two")).await?;
        let again = |request: &Value| match request["input"]["stop_hook_active"].as_bool() {
            Some(false) => json!({ "decision": "block", "reason": "go on" }),
            _ => json!({}),
        };
        let (asked, result) = serve(&mut sim, again).await?;
        assert_eq!(asked, ["Stop", "Stop"]);
        assert_eq!(result["result"], "two", "{version}");
    }
    Ok(())
}

#[tokio::test]
async fn a_hook_without_an_answer_rejects_the_call_in_time() -> anyhow::Result<()> {
    for version in VERSIONS {
        let mut sim = Start::new(version)?
            .env("ESTELLE_SIM_TIME_SCALE", "0.01")
            .spawn()?;
        let hook = json!({ "PreToolUse": [{ "matcher": "Bash", "hookCallbackIds": ["h"], "timeout": 3 }] });
        sim.request("i", json!({ "subtype": "initialize", "hooks": hook }))
            .await?;
        sim.play(
            &Script::new()
                .tool("Bash", json!({ "command": "echo x" }))
                .say("went on"),
        )
        .await?;
        let lines = sim.until(|line| line["type"] == "result").await?;
        assert!(
            lines
                .iter()
                .any(|line| line["type"] == "control_cancel_request")
        );
        let refused = lines.iter().find(|line| line["type"] == "user").unwrap();
        let text = refused["message"]["content"][0]["content"]
            .as_str()
            .unwrap();
        assert!(
            text.starts_with("The user doesn't want to take this action"),
            "{version}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn an_in_process_server_is_greeted_and_called() -> anyhow::Result<()> {
    for version in VERSIONS {
        let mut sim = Start::new(version)?.spawn()?;
        sim.request(
            "i",
            json!({ "subtype": "initialize", "sdkMcpServers": ["s"] }),
        )
        .await?;
        sim.play(
            &Script::new()
                .tool("mcp__s__greet", json!({ "n": "bob" }))
                .say("end"),
        )
        .await?;
        let mut methods = Vec::new();
        let result = loop {
            let line = sim.next().await?;
            if line["type"] == "result" {
                break line;
            }
            let message = &line["request"]["message"];
            if line["request"]["subtype"] == "can_use_tool" {
                sim.allow(&line).await?;
            }
            let Some(method) = message["method"].as_str() else {
                continue;
            };
            methods.push(method.to_owned());
            let body = match method {
                "initialize" => {
                    json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": { "name": "s", "version": "1" } })
                }
                "tools/list" => {
                    json!({ "tools": [{ "name": "greet", "inputSchema": { "type": "object" } }] })
                }
                "tools/call" => json!({ "content": [{ "type": "text", "text": "hello bob" }] }),
                _ => json!({}),
            };
            let reply = json!({ "mcp_response": { "jsonrpc": "2.0", "id": message["id"], "result": body } });
            sim.answer(&line, reply).await?;
        };
        assert_eq!(
            methods,
            [
                "initialize",
                "notifications/initialized",
                "tools/list",
                "tools/call"
            ]
        );
        assert_eq!(result["result"], "end");
        sim.request("m", json!({ "subtype": "mcp_status" })).await?;
        assert_eq!(
            sim.response("m").await?["response"]["mcpServers"][0]["status"],
            "connected"
        );
        sim.request("r", json!({ "subtype": "mcp_set_servers", "servers": {} }))
            .await?;
        assert_eq!(
            sim.response("r").await?["response"]["removed"],
            json!(["s"]),
            "{version}"
        );
    }
    Ok(())
}

fn refusing(status: u16, etype: &str, msg: &str, times: Option<u32>) -> Script {
    Script::new().step(Action::Http(HttpError {
        status,
        etype: etype.to_owned(),
        msg: msg.to_owned(),
        times,
        headers: std::collections::BTreeMap::new(),
    }))
}

#[tokio::test]
async fn api_errors_are_retried_or_told() -> anyhow::Result<()> {
    let cases = [
        (400, "unknown", "API Error: 400 m", 0),
        (
            401,
            "authentication_failed",
            "Invalid API key · Fix external API key",
            2,
        ),
        (
            403,
            "authentication_failed",
            "Failed to authenticate. API Error: 403 m",
            0,
        ),
        (
            429,
            "rate_limit",
            "API Error: Request rejected (429) · m",
            2,
        ),
        (
            529,
            "server_error",
            "API Error: 529 m. This is a server-side issue, usually temporary — try again in a moment.",
            2,
        ),
    ];
    for version in VERSIONS {
        let start = Start::new(version)?
            .env("CLAUDE_CODE_MAX_RETRIES", "2")
            .env("ESTELLE_SIM_TIME_SCALE", "0");
        let mut sim = start.spawn()?;
        for (status, name, text, retries) in cases {
            sim.play(&refusing(status, "t", "m", None)).await?;
            let lines = sim.until(|line| line["type"] == "result").await?;
            let retried = kinds(&lines)
                .iter()
                .filter(|kind| *kind == "api_retry")
                .count();
            assert_eq!(retried, retries, "{version} {status}");
            let told = lines
                .iter()
                .find(|line| line["type"] == "assistant")
                .unwrap();
            assert_eq!(told["error"], name);
            assert_eq!(told["message"]["model"], "<synthetic>");
            let result = lines.last().unwrap();
            assert_eq!(result["result"], text);
            assert_eq!(result["subtype"], "success");
            assert_eq!(result["is_error"], true);
            assert_eq!(result["api_error_status"], status);
        }
        sim.play(&refusing(529, "overloaded_error", "m", Some(2)))
            .await?;
        assert_eq!(sim.result().await?["result"], "recovered after 2");
    }
    Ok(())
}

#[tokio::test]
async fn turns_and_money_have_limits() -> anyhow::Result<()> {
    for version in VERSIONS {
        let mut sim = Start::new(version)?.args(&["--max-turns", "2"]).spawn()?;
        let echo = || json!({ "command": "echo 1" });
        sim.play(
            &Script::new()
                .tool("Bash", echo())
                .tool("Bash", echo())
                .say("never"),
        )
        .await?;
        let result = sim.result().await?;
        assert_eq!(result["subtype"], "error_max_turns");
        assert_eq!(result["errors"][0], "Reached maximum number of turns (2)");
        sim.play(&Script::new().say("next")).await?;
        assert_eq!(sim.result().await?["result"], "next");
        let mut sim = Start::new(version)?
            .args(&["--max-budget-usd", "0.0001"])
            .spawn()?;
        for _ in 0..2 {
            sim.play(&Script::new().say("x")).await?;
            assert_eq!(
                sim.result().await?["subtype"],
                "error_max_budget_usd",
                "{version}"
            );
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_cut_answer_is_continued() -> anyhow::Result<()> {
    for version in VERSIONS {
        let mut sim = Start::new(version)?.spawn()?;
        let cut = Answer {
            say: Some("cut".to_owned()),
            stop: Some("max_tokens".to_owned()),
            ..Answer::default()
        };
        sim.play(&Script::new().answer(cut).say("rest")).await?;
        assert_eq!(sim.result().await?["result"], "rest", "{version}");
    }
    Ok(())
}

#[tokio::test]
async fn slash_commands_do_what_they_say() -> anyhow::Result<()> {
    for version in VERSIONS {
        let mut sim = Start::new(version)?.spawn()?;
        sim.say("/nosuchcommand foo").await?;
        let said = sim.result().await?["result"].clone();
        let expected = if sim.newer() {
            "ok"
        } else {
            "Unknown command: /nosuchcommand"
        };
        assert_eq!(said, expected);
        sim.play(&Script::new().say("one")).await?;
        let before = sim.result().await?["session_id"].clone();
        sim.say("/compact").await?;
        let lines = sim.until(|line| line["type"] == "result").await?;
        let seen = kinds(&lines);
        let at = |kind: &str| seen.iter().position(|seen| seen == kind);
        assert!(
            at("status") < at("init") && at("init") < at("compact_boundary"),
            "{seen:?}"
        );
        sim.say("/clear").await?;
        assert_ne!(sim.result().await?["session_id"], before, "{version}");
    }
    Ok(())
}

#[tokio::test]
async fn state_changes_are_told_when_asked_for() -> anyhow::Result<()> {
    for version in VERSIONS {
        let mut sim = Start::new(version)?
            .env("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", "1")
            .spawn()?;
        sim.play(
            &Script::new()
                .tool("Bash", json!({ "command": "chown 0 /x" }))
                .say("end"),
        )
        .await?;
        let mut states = Vec::new();
        while states.last().is_none_or(|state| state != "idle") {
            let line = sim.next().await?;
            if line["request"]["subtype"] == "can_use_tool" {
                sim.allow(&line).await?;
            }
            if let Some(state) = line["state"].as_str().filter(|_| line["type"] == "system") {
                states.push(state.to_owned());
            }
        }
        assert_eq!(
            states,
            ["running", "requires_action", "running", "idle"],
            "{version}"
        );
    }
    Ok(())
}

/// A plan whose window is used up, as both real releases print it (see `a_used_up_plan_is_named_once` in `real_api`).
#[tokio::test]
async fn a_used_up_plan_is_named_once_and_lifted() -> anyhow::Result<()> {
    let used_up = HttpError {
        status: 429,
        etype: "rate_limit_error".to_owned(),
        msg: "no".to_owned(),
        times: None,
        headers: estelle_sim::script::used_up("five_hour", 1_794_829_222),
    };
    let used_up = Script::new().step(Action::Http(used_up));
    for (version, name) in VERSIONS.into_iter().zip(["session", "5-hour"]) {
        let mut sim = Start::new(version)?
            .env("CLAUDE_CODE_OAUTH_TOKEN", "fake")
            .spawn()?;
        let mut told = Vec::new();
        for prompt in [&used_up, &used_up, &Script::new().say("fine")] {
            sim.play(prompt).await?;
            let lines = sim.until(|line| line["type"] == "result").await?;
            let limits = lines
                .iter()
                .filter(|line| line["type"] == "rate_limit_event");
            told.push(
                limits
                    .map(|line| line["rate_limit_info"]["status"].clone())
                    .collect::<Vec<_>>(),
            );
            assert!(!kinds(&lines).iter().any(|kind| kind == "api_retry"));
            if *prompt == used_up {
                let text = format!("You've hit your {name} limit · resets 11:40am (UTC)");
                assert_eq!(lines.last().unwrap()["result"], text);
                assert_eq!(lines.last().unwrap()["api_error_status"], 429);
            }
        }
        assert_eq!(
            told,
            [vec![json!("rejected")], vec![], vec![json!("allowed")]]
        );
    }
    Ok(())
}
