//! Turns of the simulated CLI: order of lines, permissions, interrupts, injection, background work.

use estelle_sim::script::{Answer, Script};
use serde_json::{Value, json};

use crate::sim_driver::{Start, VERSIONS, fields, kinds, user};

const UUID: &str = "3f0c6d1e-8b7a-4c1d-9e2f-0a1b2c3d4e5f";
const OTHER: &str = "5e7ac0b3-8cd1-4595-bfdd-47d1f6bc167c";

fn slow(chunks: usize) -> Script {
    Script::new().answer(Answer {
        say: Some("slow".to_owned()),
        chunks: Some(chunks),
        delay_ms: 20,
        stamp: true,
        ..Answer::default()
    })
}

fn is_delta(line: &Value) -> bool {
    line["event"]["type"] == "content_block_delta"
}

#[tokio::test]
async fn a_text_turn_prints_the_recorded_order() -> anyhow::Result<()> {
    for version in VERSIONS {
        let mut sim = Start::new(version)?.spawn()?;
        sim.play(&Script::new().think_and_say("hmm", "hello world"))
            .await?;
        let lines = sim.until(|line| line["type"] == "result").await?;
        let expected = [
            "init",
            "status",
            "message_start",
            "content_block_start",
            "thinking_tokens",
            "content_block_delta",
            "assistant",
            "content_block_stop",
            "content_block_start",
            "content_block_delta",
            "assistant",
            "content_block_stop",
            "message_delta",
            "message_stop",
            "result/success",
        ];
        assert_eq!(kinds(&lines), expected, "{version}");
        let result = lines.last().unwrap();
        assert_eq!(result["result"], "hello world");
        assert_eq!(result["num_turns"], 1);
        let newer = [
            "result_index",
            "queued_turn_count",
            "subagent_stats",
            "model_usage_since_last_result",
        ];
        for field in newer {
            assert_eq!(
                result.get(field).is_some(),
                version == "2.1.325",
                "{version} {field}"
            );
        }
        assert!(fields(&lines[0]).contains(&"slash_commands"));
        assert_eq!(lines[0]["claude_code_version"], version);
    }
    Ok(())
}

#[tokio::test]
async fn cost_is_cumulative_and_the_session_stays() -> anyhow::Result<()> {
    for version in VERSIONS {
        let mut sim = Start::new(version)?.spawn()?;
        let mut costs = Vec::new();
        let mut sessions = Vec::new();
        for _ in 0..2 {
            sim.play(&Script::new().say("x")).await?;
            let result = sim.result().await?;
            costs.push(result["total_cost_usd"].as_f64().unwrap());
            sessions.push(result["session_id"].clone());
        }
        assert!(costs[1] > costs[0] && costs[0] > 0.0);
        assert_eq!(sessions[0], sessions[1]);
    }
    Ok(())
}

#[tokio::test]
async fn an_allowed_write_uses_the_changed_input_and_leaves_a_marker() -> anyhow::Result<()> {
    for version in VERSIONS {
        let start = Start::new(version)?;
        let markers = start.place.path("markers");
        let file = start.place.work().join("a.txt");
        let mut sim = start.env("ESTELLE_SIM_MARKERS", &markers).spawn()?;
        let script = Script::new()
            .tool("Write", json!({ "file_path": file, "content": "orig" }))
            .say("done");
        sim.play(&script).await?;
        let asked = sim.asked("can_use_tool").await?;
        assert_eq!(
            asked["request"]["permission_suggestions"][0]["mode"],
            "acceptEdits"
        );
        assert!(
            std::fs::read_dir(&markers)?.next().is_none(),
            "nothing ran before the answer"
        );
        let input = json!({ "file_path": file, "content": "CHANGED" });
        sim.answer(
            &asked,
            json!({ "behavior": "allow", "updatedInput": input }),
        )
        .await?;
        assert_eq!(sim.result().await?["result"], "done");
        assert_eq!(std::fs::read_to_string(&file)?, "CHANGED");
        let call = asked["request"]["tool_use_id"].as_str().unwrap();
        assert!(markers.join(call).exists());
    }
    Ok(())
}

#[tokio::test]
async fn a_denied_call_does_not_run_and_is_listed() -> anyhow::Result<()> {
    for version in VERSIONS {
        let start = Start::new(version)?;
        let markers = start.place.path("markers");
        let mut sim = start.env("ESTELLE_SIM_MARKERS", &markers).spawn()?;
        sim.play(
            &Script::new()
                .tool("Bash", json!({ "command": "chown 0 /x" }))
                .say("went on"),
        )
        .await?;
        let asked = sim.asked("can_use_tool").await?;
        assert_eq!(
            asked["request"]["decision_reason"],
            "This command requires approval"
        );
        sim.answer(&asked, json!({ "behavior": "deny", "message": "no" }))
            .await?;
        let result = sim.result().await?;
        assert_eq!(result["result"], "went on");
        assert_eq!(result["permission_denials"][0]["tool_name"], "Bash");
        assert!(std::fs::read_dir(&markers)?.next().is_none());
    }
    Ok(())
}

#[tokio::test]
async fn allow_without_input_works_on_the_newer_one_only() -> anyhow::Result<()> {
    for version in VERSIONS {
        let mut sim = Start::new(version)?.spawn()?;
        sim.play(
            &Script::new()
                .tool("Bash", json!({ "command": "chown 0 /x" }))
                .say("end"),
        )
        .await?;
        let asked = sim.asked("can_use_tool").await?;
        sim.answer(&asked, json!({ "behavior": "allow" })).await?;
        let denials = sim.result().await?["permission_denials"].clone();
        assert_eq!(
            denials.as_array().unwrap().is_empty(),
            sim.newer(),
            "{version}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn reading_runs_unasked_unless_a_rule_asks() -> anyhow::Result<()> {
    for version in VERSIONS {
        let mut sim = Start::new(version)?.spawn()?;
        sim.play(
            &Script::new()
                .tool("Bash", json!({ "command": "echo hi" }))
                .say("end"),
        )
        .await?;
        let lines = sim.until(|line| line["type"] == "result").await?;
        assert!(!kinds(&lines).contains(&"asks can_use_tool".to_owned()));
        let rules = r#"{"permissions":{"ask":["Bash"]}}"#;
        let args = ["--settings", rules, "--permission-mode", "acceptEdits"];
        let mut sim = Start::new(version)?.args(&args).spawn()?;
        sim.play(
            &Script::new()
                .tool("Bash", json!({ "command": "echo hi" }))
                .say("end"),
        )
        .await?;
        let asked = sim.asked("can_use_tool").await?;
        assert_eq!(asked["request"]["decision_reason_type"], "rule");
    }
    Ok(())
}

#[tokio::test]
async fn a_rule_from_an_answer_and_a_mode_hold() -> anyhow::Result<()> {
    for version in VERSIONS {
        let mut sim = Start::new(version)?.spawn()?;
        let touch = |name: &str| json!({ "command": format!("touch {name}") });
        sim.play(
            &Script::new()
                .tool("Bash", touch("a"))
                .tool("Bash", touch("b"))
                .say("end"),
        )
        .await?;
        let asked = sim.asked("can_use_tool").await?;
        let rule = json!([{ "type": "addRules", "rules": [{ "toolName": "Bash", "ruleContent": "touch:*" }], "behavior": "allow", "destination": "session" }]);
        let input = asked["request"]["input"].clone();
        sim.answer(
            &asked,
            json!({ "behavior": "allow", "updatedInput": input, "updatedPermissions": rule }),
        )
        .await?;
        let lines = sim.until(|line| line["type"] == "result").await?;
        assert!(
            !kinds(&lines).contains(&"asks can_use_tool".to_owned()),
            "{version}"
        );
        sim.request(
            "m",
            json!({ "subtype": "set_permission_mode", "mode": "acceptEdits" }),
        )
        .await?;
        assert_eq!(sim.response("m").await?["response"]["mode"], "acceptEdits");
        sim.play(
            &Script::new()
                .tool("Write", json!({ "file_path": "f", "content": "x" }))
                .say("end"),
        )
        .await?;
        let lines = sim.until(|line| line["type"] == "result").await?;
        assert!(
            !kinds(&lines).contains(&"asks can_use_tool".to_owned()),
            "{version}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn without_anybody_to_ask_the_call_is_denied() -> anyhow::Result<()> {
    for version in VERSIONS {
        let mut sim = Start::new(version)?.mute().spawn()?;
        sim.play(
            &Script::new()
                .tool("Bash", json!({ "command": "chown 0 /x" }))
                .say("end"),
        )
        .await?;
        let refused = sim.find(|line| line["type"] == "user").await?;
        assert_eq!(
            refused["message"]["content"][0]["content"],
            "This command requires approval"
        );
    }
    Ok(())
}

#[tokio::test]
async fn questions_are_answered_through_the_input() -> anyhow::Result<()> {
    for version in VERSIONS {
        let mut sim = Start::new(version)?.spawn()?;
        let questions =
            json!([{ "question": "Which?", "header": "H", "options": [], "multiSelect": true }]);
        sim.play(
            &Script::new()
                .tool("AskUserQuestion", json!({ "questions": questions }))
                .say("end"),
        )
        .await?;
        let asked = sim.asked("can_use_tool").await?;
        let input = json!({ "questions": questions, "answers": { "Which?": ["S", "L"] } });
        sim.answer(
            &asked,
            json!({ "behavior": "allow", "updatedInput": input }),
        )
        .await?;
        let told = sim.find(|line| line["type"] == "user").await?;
        let text = told["message"]["content"][0]["content"]
            .as_str()
            .unwrap()
            .to_owned();
        assert!(text.contains(r#""Which?"="S,L""#), "{text}");
    }
    Ok(())
}

#[tokio::test]
async fn a_plan_that_is_allowed_leaves_plan_mode() -> anyhow::Result<()> {
    for version in VERSIONS {
        let mut sim = Start::new(version)?
            .args(&["--permission-mode", "plan"])
            .spawn()?;
        sim.play(
            &Script::new()
                .tool("ExitPlanMode", json!({ "plan": "p" }))
                .say("end"),
        )
        .await?;
        let asked = sim.asked("can_use_tool").await?;
        sim.allow(&asked).await?;
        let status = sim.find(|line| line["subtype"] == "status").await?;
        assert_eq!(status["permissionMode"], "default", "{version}");
    }
    Ok(())
}

#[tokio::test]
async fn an_interrupt_cuts_the_text_and_the_process_stays_usable() -> anyhow::Result<()> {
    for version in VERSIONS {
        let mut sim = Start::new(version)?.spawn()?;
        sim.play(&slow(500)).await?;
        sim.find(is_delta).await?;
        sim.request("i", json!({ "subtype": "interrupt" })).await?;
        let lines = sim.until(|line| line["type"] == "result").await?;
        let result = lines.last().unwrap();
        assert_eq!(result["subtype"], "error_during_execution");
        assert_eq!(result["terminal_reason"], "aborted_streaming");
        let response = lines
            .iter()
            .position(|line| line["type"] == "control_response");
        let partial = lines.iter().position(|line| line["type"] == "assistant");
        assert!(response < partial, "{version}");
        sim.play(&Script::new().say("alive")).await?;
        assert_eq!(sim.result().await?["result"], "alive");
    }
    Ok(())
}

#[tokio::test]
async fn an_interrupt_takes_an_open_request_back() -> anyhow::Result<()> {
    for version in VERSIONS {
        let start = Start::new(version)?;
        let markers = start.place.path("markers");
        let mut sim = start.env("ESTELLE_SIM_MARKERS", &markers).spawn()?;
        sim.play(
            &Script::new()
                .tool("Bash", json!({ "command": "chown 0 /x" }))
                .say("never"),
        )
        .await?;
        let asked = sim.asked("can_use_tool").await?;
        sim.request("i", json!({ "subtype": "interrupt" })).await?;
        let lines = sim.until(|line| line["type"] == "result").await?;
        assert_eq!(lines[0]["type"], "control_cancel_request");
        assert_eq!(lines[0]["request_id"], asked["request_id"]);
        assert_eq!(lines.last().unwrap()["terminal_reason"], "aborted_tools");
        sim.allow(&asked).await?;
        sim.play(&Script::new().say("next")).await?;
        assert_eq!(sim.result().await?["result"], "next");
        assert!(
            std::fs::read_dir(&markers)?.next().is_none(),
            "a late answer runs nothing"
        );
    }
    Ok(())
}

#[tokio::test]
async fn a_denial_with_interrupt_ends_the_turn() -> anyhow::Result<()> {
    for version in VERSIONS {
        let mut sim = Start::new(version)?.spawn()?;
        sim.play(
            &Script::new()
                .tool("Bash", json!({ "command": "chown 0 /x" }))
                .say("never"),
        )
        .await?;
        let asked = sim.asked("can_use_tool").await?;
        sim.answer(
            &asked,
            json!({ "behavior": "deny", "message": "stop", "interrupt": true }),
        )
        .await?;
        let result = sim.result().await?;
        assert_eq!(result["terminal_reason"], "aborted_tools");
        assert_eq!(result["num_turns"], 3);
    }
    Ok(())
}

#[tokio::test]
async fn a_message_during_a_tool_folds_into_the_turn() -> anyhow::Result<()> {
    for version in VERSIONS {
        let mut sim = Start::new(version)?
            .args(&["--replay-user-messages"])
            .spawn()?;
        sim.play(
            &Script::new()
                .tool("Bash", json!({ "command": "sleep 0.3; echo x" }))
                .say("both"),
        )
        .await?;
        sim.find(|line| line["type"] == "assistant").await?;
        let mut folded = user("also this");
        folded["uuid"] = UUID.into();
        sim.send(folded).await?;
        let lines = sim.until(|line| line["type"] == "result").await?;
        assert!(
            lines
                .iter()
                .any(|line| line["isReplay"] == true && line["uuid"] == UUID)
        );
        assert_eq!(lines.last().unwrap()["result"], "both", "{version}");
    }
    Ok(())
}

#[tokio::test]
async fn messages_during_a_text_are_merged_into_the_next_turn() -> anyhow::Result<()> {
    for version in VERSIONS {
        let mut sim = Start::new(version)?.spawn()?;
        sim.play(&slow(10)).await?;
        sim.find(is_delta).await?;
        sim.say("first").await?;
        sim.say(r#"second SCRIPT:[{"say":"merged"}]"#).await?;
        sim.result().await?;
        assert_eq!(sim.result().await?["result"], "merged", "{version}");
    }
    Ok(())
}

#[tokio::test]
async fn a_message_can_be_taken_back_or_come_first() -> anyhow::Result<()> {
    for version in VERSIONS {
        let mut sim = Start::new(version)?.spawn()?;
        sim.play(&slow(200)).await?;
        sim.find(is_delta).await?;
        let mut queued = user("never");
        queued["uuid"] = UUID.into();
        sim.send(queued).await?;
        sim.request(
            "c",
            json!({ "subtype": "cancel_async_message", "message_uuid": UUID }),
        )
        .await?;
        assert_eq!(sim.response("c").await?["response"]["cancelled"], true);
        let mut now = user(r#"SCRIPT:[{"say":"at once"}]"#);
        now["priority"] = "now".into();
        sim.send(now).await?;
        assert_eq!(sim.result().await?["terminal_reason"], "aborted_streaming");
        assert_eq!(sim.result().await?["result"], "at once", "{version}");
    }
    Ok(())
}

#[tokio::test]
async fn a_repeated_uuid_is_only_echoed() -> anyhow::Result<()> {
    for version in VERSIONS {
        let mut sim = Start::new(version)?
            .args(&["--replay-user-messages"])
            .spawn()?;
        let mut message = user(r#"SCRIPT:[{"say":"once"}]"#);
        message["uuid"] = UUID.into();
        sim.send(message.clone()).await?;
        sim.result().await?;
        sim.send(message).await?;
        let mut next = user(r#"SCRIPT:[{"say":"next"}]"#);
        next["uuid"] = OTHER.into();
        sim.send(next).await?;
        let lines = sim.until(|line| line["type"] == "result").await?;
        assert!(
            lines
                .iter()
                .any(|line| line["isReplay"] == true && line["uuid"] == UUID)
        );
        assert_eq!(lines.last().unwrap()["result"], "next", "{version}");
    }
    Ok(())
}

#[tokio::test]
async fn a_background_command_reports_in_a_turn_of_its_own() -> anyhow::Result<()> {
    for version in VERSIONS {
        let mut sim = Start::new(version)?.spawn()?;
        let input = json!({ "command": "sleep 0.2; echo x", "run_in_background": true });
        sim.play(&Script::new().tool("Bash", input).say("started"))
            .await?;
        assert_eq!(sim.result().await?["result"], "started");
        let lines = sim.until(|line| line["type"] == "result").await?;
        let seen = kinds(&lines);
        let order = ["task_updated", "task_notification", "init"]
            .map(|kind| seen.iter().position(|seen| seen == kind));
        assert!(
            order[0].is_some() && order[0] < order[1] && order[1] < order[2],
            "{seen:?}"
        );
        assert_eq!(lines.last().unwrap()["origin"]["kind"], "task-notification");
    }
    Ok(())
}

#[tokio::test]
async fn a_sub_agent_runs_behind_on_the_newer_one() -> anyhow::Result<()> {
    for version in VERSIONS {
        let mut sim = Start::new(version)?.spawn()?;
        let inner = Script::new()
            .tool("Bash", json!({ "command": "chown 0 /x" }))
            .say("sub done");
        let input = json!({ "description": "d", "prompt": inner.prompt(), "subagent_type": "general-purpose" });
        sim.play(&Script::new().tool("Agent", input).say("main done"))
            .await?;
        let behind = sim.newer();
        if behind {
            assert_eq!(sim.result().await?["result"], "main done");
        }
        let asked = sim.asked("can_use_tool").await?;
        assert!(asked["request"]["agent_id"].is_string());
        sim.allow(&asked).await?;
        let notified = sim
            .find(|line| line["subtype"] == "task_notification")
            .await?;
        assert_eq!(notified["status"], "completed");
        let result = sim.result().await?;
        assert_eq!(result.get("origin").is_some(), behind, "{version}");
    }
    Ok(())
}

#[tokio::test]
async fn a_command_can_be_moved_behind_and_stopped() -> anyhow::Result<()> {
    for version in VERSIONS {
        let mut sim = Start::new(version)?
            .env("ESTELLE_SIM_TIME_SCALE", "0.05")
            .spawn()?;
        sim.play(
            &Script::new()
                .tool("Bash", json!({ "command": "sleep 600; echo x" }))
                .say("moved"),
        )
        .await?;
        let task = sim.find(|line| line["subtype"] == "task_started").await?["task_id"].clone();
        sim.request("b", json!({ "subtype": "background_tasks" }))
            .await?;
        assert_eq!(sim.result().await?["result"], "moved");
        sim.request("s", json!({ "subtype": "stop_task", "task_id": task }))
            .await?;
        let stopped = sim
            .find(|line| line["subtype"] == "task_notification")
            .await?;
        assert_eq!(stopped["status"], "stopped", "{version}");
    }
    Ok(())
}
