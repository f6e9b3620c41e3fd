//! Both real CLIs against the fake API: the order of their lines is the one recorded for the same scenarios.
//!
//! Where the two versions differ, the scenario says so. The binaries come from the environment (see [`RealCli`]).

use anyhow::Context as _;
use estelle_sim::api::{Kind, RealCli};
use estelle_sim::script::{Action, Answer, HttpError, Script, ToolCall};
use serde_json::{Value, json};

use super::real_driver::{Driven, Turn, allow};

/// How a turn begins.
const OPENING: &str = "system/init system/status";
/// A response that is one text.
const TEXT: &str = "message_start content_block_start text_delta assistant:text content_block_stop message_delta message_stop";
/// A response that is one tool call.
const CALL: &str = "message_start content_block_start input_json_delta assistant:tool_use content_block_stop message_delta message_stop";
/// A request for permission and the result of a tool: they come beside the stream.
const ASKED: &str = "control_request/can_use_tool";
const RESULT: &str = "user:tool_result";

macro_rules! on_both_versions {
    ($($scenario:ident),* $(,)?) => {
        mod v197 {$(
            #[tokio::test]
            async fn $scenario() -> anyhow::Result<()> {
                super::$scenario(&super::RealCli::v197()?).await
            }
        )*}
        mod v325 {$(
            #[tokio::test]
            async fn $scenario() -> anyhow::Result<()> {
                super::$scenario(&super::RealCli::v325()?).await
            }
        )*}
    };
}

on_both_versions!(
    text_after_thinking_and_a_tool_with_permission,
    question_and_parallel_tools,
    sub_agent_plays_the_script_of_its_prompt,
    errors_without_retry_and_with,
    a_used_up_plan_is_named_once_and_lifted,
    broken_streams_fall_back,
    cut_and_refused_answers_go_on,
    a_gate_lets_a_test_interrupt_in_mid_stream,
    compaction_and_injection_keep_the_steps_in_order,
);

fn shape(parts: &[&str]) -> Vec<String> {
    parts
        .iter()
        .flat_map(|part| part.split(' '))
        .map(str::to_owned)
        .collect()
}

fn assert_says(turn: &Turn, text: &str) {
    assert_eq!(turn.text(), text);
    assert_eq!(turn.result()["is_error"], json!(false));
}

async fn text_after_thinking_and_a_tool_with_permission(cli: &RealCli) -> anyhow::Result<()> {
    let mut cli = Driven::start(cli, &[]).await?;
    let turn = cli
        .turn(
            &Script::new().think_and_say("hmm", "hello world").prompt(),
            allow,
        )
        .await?;
    let thinking = "message_start content_block_start system/thinking_tokens thinking_delta signature_delta \
                    assistant:thinking content_block_stop content_block_start text_delta assistant:text content_block_stop \
                    message_delta message_stop";
    assert_eq!(turn.shape(), shape(&[OPENING, thinking, "result/success"]));
    assert_says(&turn, "hello world");
    assert_eq!(turn.result()["usage"]["input_tokens"], 100);
    assert_eq!(turn.result()["usage"]["output_tokens"], 25);

    let file = cli.work.path().join("a.txt");
    let script = Script::new()
        .tool("Write", json!({"file_path": file, "content": "asked"}))
        .say("written");
    let changed = json!({"file_path": file, "content": "changed"});
    let turn = cli
        .turn(
            &script.prompt(),
            |_| json!({"behavior": "allow", "updatedInput": changed}),
        )
        .await?;
    assert_eq!(
        turn.shape_without(&[ASKED]),
        shape(&[
            OPENING,
            CALL,
            "user:tool_result system/status",
            TEXT,
            "result/success"
        ])
    );
    assert_eq!(turn.shape_of(&[ASKED, RESULT]), [ASKED, RESULT]);
    assert_says(&turn, "written");
    assert_eq!(std::fs::read_to_string(file)?, "changed");
    Ok(())
}

async fn question_and_parallel_tools(cli: &RealCli) -> anyhow::Result<()> {
    let mut cli = Driven::start(cli, &[]).await?;
    let options =
        json!([{"label": "Red", "description": "r"}, {"label": "Blue", "description": "b"}]);
    let question =
        json!({"question": "Which?", "header": "Colour", "options": options, "multiSelect": false});
    let script = Script::new()
        .tool("AskUserQuestion", json!({"questions": [question]}))
        .say("thanks");
    let answer = |request: &Value| {
        let questions = &request["input"]["questions"];
        json!({"behavior": "allow", "updatedInput": {"questions": questions, "answers": {"Which?": "Blue"}}})
    };
    let turn = cli.turn(&script.prompt(), answer).await?;
    assert_says(&turn, "thanks");
    let result = turn.all(RESULT)[0].to_string();
    assert!(result.contains("Blue"), "{result}");

    let files = ["p1", "p2"].map(|name| cli.work.path().join(name));
    let calls = files.clone().map(|file| {
        ToolCall::new(
            "Bash",
            json!({"command": format!("touch {}", file.display())}),
        )
    });
    let turn = cli
        .turn(&Script::new().tools(calls).say("both").prompt(), allow)
        .await?;
    assert_says(&turn, "both");
    for wanted in ["assistant:tool_use", ASKED, RESULT] {
        assert_eq!(turn.all(wanted).len(), 2, "{wanted}");
    }
    let [first, second] = turn.all("assistant:tool_use")[..] else {
        unreachable!("two were counted")
    };
    assert_eq!(first["message"]["id"], second["message"]["id"]);
    assert!(files.iter().all(|file| file.exists()));
    Ok(())
}

async fn sub_agent_plays_the_script_of_its_prompt(cli: &RealCli) -> anyhow::Result<()> {
    let mut cli = Driven::start(cli, &[]).await?;
    let inner = Script::new()
        .tool("Bash", json!({"command": "chown 0 /etc/hostname"}))
        .say("sub finished");
    let input =
        json!({"description": "sub", "prompt": inner.prompt(), "subagent_type": "general-purpose"});
    let turn = cli
        .turn(
            &Script::new().tool("Agent", input).say("main done").prompt(),
            allow,
        )
        .await?;
    assert_says(&turn, "main done");
    if cli.version == "2.1.325" {
        // The sub-agent runs in the background, and its end starts a turn that finds the script played to its end.
        let later = cli.read_turn(allow).await?;
        assert_says(&later, "[script end]");
        assert_eq!(later.result()["origin"]["kind"], "task-notification");
        return Ok(());
    }
    let task = "system/task_started user:text system/task_progress control_request/can_use_tool user:tool_result \
                system/task_updated system/task_notification user:tool_result";
    let beside: Vec<&str> = task.split(' ').collect();
    assert_eq!(turn.shape_of(&beside), shape(&[task]));
    assert_eq!(
        turn.shape_without(&beside),
        shape(&[
            OPENING,
            CALL,
            "assistant:tool_use system/status",
            TEXT,
            "result/success"
        ])
    );
    let result = turn
        .all(RESULT)
        .last()
        .context("a tool result")?
        .to_string();
    assert!(result.contains("sub finished"), "{result}");
    Ok(())
}

async fn errors_without_retry_and_with(cli: &RealCli) -> anyhow::Result<()> {
    let mut cli = Driven::start(cli, &[("CLAUDE_CODE_MAX_RETRIES", "2")]).await?;
    let failed = shape(&[OPENING, "assistant:text result/success"]);
    for (status, kind, error) in [
        (403, "permission_error", "authentication_failed"),
        (404, "not_found_error", "model_not_found"),
    ] {
        let turn = cli
            .turn(
                &Script::new().http(status, kind, "forbidden").prompt(),
                allow,
            )
            .await?;
        assert_eq!(turn.shape(), failed);
        assert_eq!(turn.result()["is_error"], json!(true));
        assert_eq!(turn.result()["api_error_status"], json!(status));
        assert_eq!(turn.all("assistant:text")[0]["error"], error);
    }
    let limit = |times| HttpError {
        status: 429,
        etype: "rate_limit_error".to_owned(),
        msg: "slow down".to_owned(),
        times,
        headers: [("retry-after".to_owned(), "0".to_owned())].into(),
    };
    let retries = "system/api_retry system/api_retry";
    let script = Script::new()
        .step(Action::Http(limit(Some(2))))
        .say("through");
    let turn = cli.turn(&script.prompt(), allow).await?;
    assert_eq!(
        turn.shape(),
        shape(&[OPENING, retries, TEXT, "result/success"])
    );
    assert_says(&turn, "through");
    let turn = cli
        .turn(
            &Script::new().step(Action::Http(limit(None))).prompt(),
            allow,
        )
        .await?;
    assert_eq!(
        turn.shape(),
        shape(&[OPENING, retries, "assistant:text result/success"])
    );
    assert_eq!(turn.text(), "API Error: Request rejected (429) · slow down");
    assert_says(
        &cli.turn(&Script::new().say("next turn ok").prompt(), allow)
            .await?,
        "next turn ok",
    );
    Ok(())
}

/// With a plan instead of a key. The simulator prints the same (`sim_control`).
async fn a_used_up_plan_is_named_once_and_lifted(cli: &RealCli) -> anyhow::Result<()> {
    let plan = [
        ("CLAUDE_CODE_OAUTH_TOKEN", "fake"),
        ("ANTHROPIC_API_KEY", ""),
    ];
    let mut cli = Driven::start(cli, &plan).await?;
    let used_up = HttpError {
        status: 429,
        etype: "rate_limit_error".to_owned(),
        msg: "no".to_owned(),
        times: None,
        // Far from now, so that the text has the same form at any hour.
        headers: estelle_sim::script::used_up("five_hour", 4_102_444_800),
    };
    let used_up = Script::new().step(Action::Http(used_up)).prompt();
    let refused = "assistant:text result/success";
    for (prompt, rest) in [
        (&used_up, format!("rate_limit_event {refused}")),
        (&used_up, refused.to_owned()),
    ] {
        let turn = cli.turn(prompt, allow).await?;
        assert_eq!(turn.shape(), shape(&[OPENING, &rest]));
        assert!(
            turn.text().starts_with("You've hit your"),
            "{}",
            turn.text()
        );
        assert_eq!(turn.result()["api_error_status"], json!(429));
        assert_eq!(turn.all("assistant:text")[0]["error"], "rate_limit");
        for event in turn.all("rate_limit_event") {
            let info = &event["rate_limit_info"];
            assert_eq!(info["status"], "rejected");
            assert_eq!(info["rateLimitType"], "five_hour");
            assert_eq!(info["resetsAt"], 4_102_444_800_u64);
        }
    }
    let turn = cli.turn(&Script::new().say("fine").prompt(), allow).await?;
    let lifted = turn.all("rate_limit_event");
    assert_eq!(lifted.len(), 1);
    assert_eq!(lifted[0]["rate_limit_info"]["status"], "allowed");
    Ok(())
}

async fn broken_streams_fall_back(cli: &RealCli) -> anyhow::Result<()> {
    let mut cli = Driven::start(cli, &[("CLAUDE_CODE_MAX_RETRIES", "1")]).await?;
    let broken = "event: message_start\ndata: {broken json\n\n".to_owned();
    let turn = cli
        .turn(
            &Script::new().step(Action::Malformed(broken)).prompt(),
            allow,
        )
        .await?;
    assert_eq!(
        turn.shape(),
        shape(&[OPENING, "assistant:text result/success"])
    );
    assert_says(&turn, "ok");

    let dropped = Answer {
        say: Some("partial text here".to_owned()),
        drop: true,
        ..Answer::default()
    };
    let turn = cli
        .turn(&Script::new().answer(dropped).prompt(), allow)
        .await?;
    assert_says(&turn, "partial text here");
    let partial = "message_start content_block_start text_delta";
    if cli.version == "2.1.197" {
        assert_eq!(
            turn.shape(),
            shape(&[OPENING, partial, "assistant:text result/success"])
        );
    } else {
        // This version streams again as often as it may retry before it falls back.
        assert_eq!(turn.all("system/api_retry")[0]["error"], "unknown");
        let abandoned = format!("{partial} content_block_stop message_stop");
        let again = "system/api_retry";
        assert_eq!(
            turn.shape(),
            shape(&[
                OPENING,
                &abandoned,
                again,
                &abandoned,
                "assistant:text result/success"
            ])
        );
    }
    let whole = |request: &estelle_sim::api::Request| {
        request.kind == Some(Kind::Turn)
            && request
                .body
                .as_ref()
                .is_some_and(|body| body["stream"] != json!(true))
    };
    assert_eq!(
        cli.api
            .requests()
            .iter()
            .filter(|request| whole(request))
            .count(),
        2
    );
    Ok(())
}

async fn cut_and_refused_answers_go_on(cli: &RealCli) -> anyhow::Result<()> {
    let mut cli = Driven::start(cli, &[]).await?;
    let stopped = |reason: &str| Answer {
        say: Some("cut".to_owned()),
        stop: Some(reason.to_owned()),
        ..Answer::default()
    };
    let turn = cli
        .turn(&Script::new().answer(stopped("max_tokens")).prompt(), allow)
        .await?;
    // The newer version also prints the message with which it asks the model to go on.
    let again = if cli.version == "2.1.197" {
        "system/status"
    } else {
        "user:text system/status"
    };
    assert_eq!(
        turn.shape(),
        shape(&[OPENING, TEXT, again, TEXT, "result/success"])
    );
    assert_says(&turn, "[script end]");

    let turn = cli
        .turn(
            &Script::new()
                .answer(stopped("refusal"))
                .say("went on")
                .prompt(),
            allow,
        )
        .await?;
    if cli.version == "2.1.197" {
        assert_eq!(turn.all("system/model_refusal_no_fallback").len(), 1);
        assert_eq!(turn.result()["is_error"], json!(true));
    } else {
        assert_eq!(
            turn.shape(),
            shape(&[
                OPENING,
                TEXT,
                "system/informational",
                again,
                TEXT,
                "result/success"
            ])
        );
        assert_says(&turn, "went on");
    }
    Ok(())
}

async fn a_gate_lets_a_test_interrupt_in_mid_stream(cli: &RealCli) -> anyhow::Result<()> {
    let mut cli = Driven::start(cli, &[]).await?;
    cli.prompt(&Script::new().say("abcdef").gated_at("go", 1).prompt())
        .await?;
    while cli.next().await?["event"]["delta"]["text"] != "ab" {}
    let interrupt = json!({"subtype": "interrupt"});
    cli.send(&json!({"type": "control_request", "request_id": "stop", "request": interrupt}))
        .await?;
    let turn = cli.read_turn(allow).await?;
    assert_eq!(turn.result()["subtype"], "error_during_execution");
    assert_eq!(
        turn.all("assistant:text")[0]["message"]["content"][0]["text"],
        "ab"
    );

    cli.prompt(&Script::new().say("held").gated("later").prompt())
        .await?;
    cli.api
        .wait_for_request(|request| {
            request
                .body
                .as_ref()
                .is_some_and(|body| body.to_string().contains("later"))
        })
        .await;
    cli.api.open("later")?;
    assert_says(&cli.read_turn(allow).await?, "held");
    Ok(())
}

async fn compaction_and_injection_keep_the_steps_in_order(cli: &RealCli) -> anyhow::Result<()> {
    let mut cli = Driven::start(cli, &[]).await?;
    let script = Script::new()
        .tool("Bash", json!({"command": "chown 0 /etc/hostname"}))
        .say("after tool")
        .say("extra");
    for (injected, said) in [
        ("hurry up".to_owned(), "after tool"),
        (Script::new().say("of mine").prompt(), "of mine"),
    ] {
        cli.prompt(&script.prompt()).await?;
        let request = loop {
            let line = cli.next().await?;
            if line["type"] == "control_request" {
                break line;
            }
        };
        cli.prompt(&injected).await?;
        cli.answer(&request, &allow(&request["request"])).await?;
        assert_says(&cli.read_turn(allow).await?, said);
    }
    let turn = cli.turn("/compact", allow).await?;
    assert_eq!(turn.all("system/compact_boundary").len(), 1);
    assert_says(
        &cli.turn(&Script::new().say("after compact").prompt(), allow)
            .await?,
        "after compact",
    );
    assert_says(&cli.turn("no script here", allow).await?, "ok");
    assert!(
        cli.api
            .requests()
            .iter()
            .any(|request| request.kind == Some(Kind::Summary))
    );
    Ok(())
}
