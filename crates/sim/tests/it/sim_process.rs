//! The simulated CLI as a process: start, end, signals, bad input, conversations on disk, mischief, the truth file.

use std::collections::BTreeSet;

use estelle_sim::cli::truth;
use estelle_sim::script::{Action, Gates, Mischief, Script};
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::process::Command;

use crate::sim_driver::{Place, Start, VERSIONS, user};

const UUID: &str = "3f0c6d1e-8b7a-4c1d-9e2f-0a1b2c3d4e5f";
const SESSION: &str = "8c147c67-c324-4823-a84b-c97b8031b634";

fn is_delta(line: &Value) -> bool {
    line["event"]["type"] == "content_block_delta"
}

fn mischief(deed: Mischief) -> Script {
    Script::new().step(Action::Mischief(deed))
}

#[tokio::test]
async fn it_tells_its_version_and_refuses_what_it_does_not_know() -> anyhow::Result<()> {
    for version in VERSIONS {
        let run = |args: &'static [&'static str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_estelle-sim-claude"));
            command.args(args).env("ESTELLE_SIM_VERSION", version);
            async move { command.output().await }
        };
        let output = run(&["--version"]).await?;
        assert_eq!(
            String::from_utf8(output.stdout)?,
            format!("{version} (Claude Code)\n")
        );
        let output = run(&["--foo=1"]).await?;
        assert_eq!(
            String::from_utf8(output.stderr)?,
            "error: unknown option '--foo=1'\n"
        );
        assert_eq!(output.status.code(), Some(1));
    }
    Ok(())
}

#[tokio::test]
async fn nothing_is_printed_before_the_first_message() -> anyhow::Result<()> {
    for version in VERSIONS {
        let (lines, errors, status) = Start::new(version)?.spawn()?.finish().await?;
        assert!(lines.is_empty() && errors.is_empty());
        assert_eq!(status.code(), Some(0));
    }
    Ok(())
}

#[tokio::test]
async fn bad_lines_end_it_with_the_words_of_its_version() -> anyhow::Result<()> {
    let cases = [
        (
            "{\"type\":\"user\", broken",
            "Error parsing streaming input line",
        ),
        ("null", "Error parsing streaming input line"),
        (
            r#"{"type":"user","message":{"content":"hi"}}"#,
            "Error: Expected message role 'user', got 'undefined'",
        ),
    ];
    for version in VERSIONS {
        for (line, words) in cases {
            let mut sim = Start::new(version)?.spawn()?;
            sim.raw(line).await?;
            let (lines, errors, status) = sim.finish().await?;
            assert!(
                lines.is_empty() && errors.starts_with(words),
                "{version} {line}: {errors}"
            );
            assert_eq!(status.code(), Some(1));
        }
        let mut sim = Start::new(version)?.spawn()?;
        sim.raw("").await?;
        sim.raw(r#"{"type":"keep_alive"}"#).await?;
        sim.play(&Script::new().say("alive")).await?;
        assert_eq!(sim.result().await?["result"], "alive");
    }
    Ok(())
}

#[tokio::test]
async fn exit_codes_of_signals() -> anyhow::Result<()> {
    for version in VERSIONS {
        for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 0), (Signal::HUP, 129)] {
            let mut sim = Start::new(version)?.spawn()?;
            sim.play(&mischief(Mischief::Stall(None))).await?;
            sim.find(|line| line["subtype"] == "status").await?;
            sim.signal(signal)?;
            let status = sim.child.wait().await?;
            assert_eq!(status.code(), Some(code), "{version} {signal:?}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn the_end_of_a_session() -> anyhow::Result<()> {
    for version in VERSIONS {
        let mut sim = Start::new(version)?.spawn()?;
        sim.play(&Script::new().say("x")).await?;
        sim.result().await?;
        sim.request("e", json!({ "subtype": "end_session" }))
            .await?;
        sim.response("e").await?;
        assert_eq!(sim.child.wait().await?.code(), Some(0));
        let mut sim = Start::new(version)?.spawn()?;
        sim.play(&Script::new().http(403, "permission_error", "no"))
            .await?;
        sim.result().await?;
        let (_, _, status) = sim.finish().await?;
        assert_eq!(status.code(), Some(1), "the last result was an error");
        let mut sim = Start::new(version)?.spawn()?;
        sim.play(&mischief(Mischief::Stall(None))).await?;
        sim.find(|line| line["subtype"] == "status").await?;
        sim.request("e", json!({ "subtype": "end_session" }))
            .await?;
        assert_eq!(sim.result().await?["subtype"], "error_during_execution");
        assert_eq!(sim.child.wait().await?.code(), Some(1), "{version}");
    }
    Ok(())
}

#[tokio::test]
async fn the_end_of_the_input_waits_for_background_work() -> anyhow::Result<()> {
    for version in VERSIONS {
        let mut sim = Start::new(version)?
            .env("ESTELLE_SIM_TIME_SCALE", "0.01")
            .spawn()?;
        let input = json!({ "command": "sleep 60", "run_in_background": true });
        sim.play(&Script::new().tool("Bash", input).say("started"))
            .await?;
        sim.result().await?;
        let newer = sim.newer();
        let (lines, _, status) = sim.finish().await?;
        let all = lines.join("\n");
        // The older one kills a command after five seconds, the newer one waits and takes the extra turn.
        assert_eq!(all.contains("\"status\":\"killed\""), !newer, "{version}");
        assert_eq!(all.contains("task-notification"), newer, "{version}");
        assert_eq!(status.code(), Some(0));
    }
    Ok(())
}

#[tokio::test]
async fn conversations_are_found_again() -> anyhow::Result<()> {
    for version in VERSIONS {
        let place = Place::new()?;
        let mut message = user(r#"SCRIPT:[{"say":"first"}]"#);
        message["uuid"] = UUID.into();
        let mut sim = Start::at(version, &place)
            .args(&["--session-id", SESSION])
            .spawn()?;
        sim.send(message.clone()).await?;
        assert_eq!(sim.result().await?["session_id"], SESSION);
        sim.finish().await?;
        // The same uuid never runs twice, not even in the next process.
        let mut sim = Start::at(version, &place)
            .args(&["--resume", SESSION])
            .spawn()?;
        sim.send(message).await?;
        sim.play(&Script::new().say("again")).await?;
        let result = sim.result().await?;
        assert_eq!(
            (&result["result"], &result["session_id"]),
            (&json!("again"), &json!(SESSION))
        );
        sim.finish().await?;
        let mut sim = Start::at(version, &place).args(&["--continue"]).spawn()?;
        sim.play(&Script::new().say("latest")).await?;
        assert_eq!(sim.result().await?["session_id"], SESSION);
        sim.finish().await?;
        let fork = ["--resume", SESSION, "--fork-session", "--session-id", UUID];
        let mut sim = Start::at(version, &place).args(&fork).spawn()?;
        sim.play(&Script::new().say("forked")).await?;
        assert_eq!(sim.result().await?["session_id"], UUID, "{version}");
    }
    Ok(())
}

#[tokio::test]
async fn conversations_that_cannot_be_opened() -> anyhow::Result<()> {
    for version in VERSIONS {
        let place = Place::new()?;
        let mut sim = Start::at(version, &place)
            .args(&["--session-id", SESSION])
            .spawn()?;
        sim.play(&Script::new().say("x")).await?;
        sim.result().await?;
        sim.finish().await?;
        let unknown = format!("No conversation found with session ID: {UUID}");
        let no_message = format!("No message found with message.uuid of: {UUID}");
        let taken = format!("Error: Session ID {SESSION} is already in use.");
        let cases: [(&[&str], &str, usize); 4] = [
            (&["--resume", UUID], &unknown, 1),
            (
                &["--resume", SESSION, "--resume-session-at", UUID],
                &no_message,
                1,
            ),
            (
                &["--resume", "not-a-uuid"],
                "Error: --resume requires a valid session ID",
                1,
            ),
            (&["--session-id", SESSION], &taken, 0),
        ];
        for (args, words, results) in cases {
            let (lines, errors, status) = Start::at(version, &place)
                .args(args)
                .spawn()?
                .finish()
                .await?;
            assert!(errors.starts_with(words), "{version} {args:?}: {errors}");
            assert_eq!(
                (lines.len(), status.code()),
                (results, Some(1)),
                "{version} {args:?}"
            );
        }
        let (lines, errors, _) = Start::at(version, &place)
            .args(&["--session-id", "bad"])
            .spawn()?
            .finish()
            .await?;
        assert!(lines.is_empty());
        assert_eq!(errors, "Error: Invalid session ID. Must be a valid UUID.\n");
    }
    Ok(())
}

#[tokio::test]
async fn nothing_is_kept_when_nothing_shall_be() -> anyhow::Result<()> {
    for version in VERSIONS {
        let place = Place::new()?;
        let mut sim = Start::at(version, &place)
            .args(&["--no-session-persistence"])
            .spawn()?;
        sim.play(&Script::new().say("x")).await?;
        sim.result().await?;
        sim.finish().await?;
        assert!(!place.path(".claude").exists(), "{version}");
    }
    Ok(())
}

#[tokio::test]
async fn crashes_garbage_and_floods() -> anyhow::Result<()> {
    let mut sim = Start::new("2.1.325")?.spawn()?;
    sim.play(&mischief(Mischief::Exit(42))).await?;
    assert_eq!(sim.child.wait().await?.code(), Some(42));
    let mut sim = Start::new("2.1.325")?.spawn()?;
    sim.play(&mischief(Mischief::Signal("SIGKILL".to_owned())))
        .await?;
    let status = sim.child.wait().await?;
    assert_eq!(
        std::os::unix::process::ExitStatusExt::signal(&status),
        Some(9)
    );
    let mut sim = Start::new("2.1.325")?.spawn()?;
    sim.play(&mischief(Mischief::HalfLine("{\"type\":".to_owned())))
        .await?;
    let (lines, _, status) = sim.finish().await?;
    assert_eq!(lines.last().map(String::as_str), Some("{\"type\":"));
    assert_eq!(status.code(), Some(1));
    let mut sim = Start::new("2.1.325")?.spawn()?;
    let script = mischief(Mischief::Garbage("not json".to_owned()))
        .step(Action::Mischief(Mischief::Huge(300_000)));
    sim.play(&script).await?;
    let mut garbage = false;
    let mut longest = 0;
    while let Some(line) = sim.next_raw().await? {
        garbage |= line == "not json";
        longest = longest.max(line.len());
        if line.contains("\"type\":\"result\"") {
            break;
        }
    }
    assert!(garbage, "the raw line came through");
    sim.play(&mischief(Mischief::Huge(300_000))).await?;
    let huge = sim.find(|line| line["subtype"] == "informational").await?;
    assert_eq!(huge.to_string().len(), 300_000);
    Ok(())
}

#[tokio::test]
async fn a_flood_loses_no_delta_and_can_be_interrupted() -> anyhow::Result<()> {
    let mut sim = Start::new("2.1.325")?.spawn()?;
    sim.play(&mischief(Mischief::Flood(5000))).await?;
    let lines = sim.until(|line| line["type"] == "result").await?;
    let texts = lines
        .iter()
        .filter(|line| is_delta(line))
        .filter_map(|line| line["event"]["delta"]["text"].as_str());
    let numbers: Vec<usize> = texts
        .filter_map(|text| text.split(':').next()?.parse().ok())
        .collect();
    assert_eq!(numbers, (0..5000).collect::<Vec<_>>());
    sim.play(&mischief(Mischief::Flood(1_000_000))).await?;
    sim.find(is_delta).await?;
    sim.request("i", json!({ "subtype": "interrupt" })).await?;
    assert_eq!(sim.result().await?["terminal_reason"], "aborted_streaming");
    Ok(())
}

#[tokio::test]
async fn a_gate_holds_the_answer_back() -> anyhow::Result<()> {
    let start = Start::new("2.1.325")?;
    let dir = start.place.path("gates");
    std::fs::create_dir(&dir)?;
    let mut sim = start.env("ESTELLE_SIM_GATES", &dir).spawn()?;
    sim.play(&Script::new().say("abc").gated_at("mid", 1))
        .await?;
    sim.find(is_delta).await?;
    sim.request("p", json!({ "subtype": "get_binary_version" }))
        .await?;
    let lines = sim
        .until(|line| line["response"]["request_id"] == "p")
        .await?;
    assert!(!lines.iter().any(is_delta), "the gate is closed");
    Gates::new(&dir).open("mid")?;
    assert_eq!(sim.result().await?["result"], "abc");
    Ok(())
}

#[tokio::test]
async fn the_truth_holds_every_line_and_every_run() -> anyhow::Result<()> {
    let place = Place::new()?;
    let (path, markers) = (place.path("truth.jsonl"), place.path("markers"));
    let mut seen: Vec<String> = Vec::new();
    for round in 0..2 {
        let start = Start::at("2.1.325", &place)
            .env("ESTELLE_SIM_TRUTH", &path)
            .env("ESTELLE_SIM_MARKERS", &markers);
        let start = if round == 0 {
            start.args(&["--session-id", SESSION])
        } else {
            start.args(&["--resume", SESSION])
        };
        let mut sim = start.spawn()?;
        sim.play(
            &Script::new()
                .tool("Bash", json!({ "command": "chown 0 /x" }))
                .say("end"),
        )
        .await?;
        loop {
            let raw = sim.next_raw().await?.unwrap_or_default();
            let line: Value = serde_json::from_str(&raw)?;
            seen.push(raw);
            if line["request"]["subtype"] == "can_use_tool" {
                sim.allow(&line).await?;
            }
            if line["type"] == "result" {
                break;
            }
        }
        let (rest, _, _) = sim.finish().await?;
        seen.extend(rest);
    }
    let truth = truth::read(&path)?;
    assert_eq!(truth.torn, 0);
    let of = |kind: &str| {
        truth
            .records
            .iter()
            .filter(|record| record.kind == kind)
            .collect::<Vec<_>>()
    };
    let printed: Vec<Value> = of("stdout")
        .iter()
        .map(|record| serde_json::from_str(&record.data))
        .collect::<Result<_, _>>()?;
    let sums: Vec<&str> = printed
        .iter()
        .filter_map(|data| data["fnv"].as_str())
        .collect();
    let expected: Vec<String> = seen
        .iter()
        .map(|line| truth::checksum(line.as_bytes()))
        .collect();
    assert_eq!(sums, expected, "every line, in order");
    assert_eq!(of("tool_run").len(), 2);
    assert!(
        of("tool_rerun").is_empty(),
        "the same seed gives the second process other ids"
    );
    assert_eq!(
        (of("ask").len(), of("answer").len(), of("exit").len()),
        (2, 2, 2)
    );
    let generations: BTreeSet<&str> = truth
        .records
        .iter()
        .map(|record| record.generation.as_str())
        .collect();
    assert_eq!(generations.len(), 2);
    assert_eq!(std::fs::read_dir(&markers)?.count(), 2);
    Ok(())
}

#[tokio::test]
async fn an_old_answer_runs_a_tool_of_the_next_process_on_the_older_one() -> anyhow::Result<()> {
    for version in VERSIONS {
        let place = Place::new()?;
        let markers = place.path("markers");
        let start = Start::at(version, &place).args(&["--session-id", SESSION]);
        let mut sim = start.env("ESTELLE_SIM_MARKERS", &markers).spawn()?;
        let command = json!({ "command": "chown 0 /x" });
        sim.play(&Script::new().tool("Bash", command.clone()).say("end"))
            .await?;
        let asked = sim.asked("can_use_tool").await?;
        sim.signal(Signal::TERM)?;
        sim.child.wait().await?;
        let start = Start::at(version, &place).args(&["--resume", SESSION]);
        let mut sim = start.env("ESTELLE_SIM_MARKERS", &markers).spawn()?;
        let call = &asked["request"]["tool_use_id"];
        sim.answer(
            &asked,
            json!({ "behavior": "allow", "updatedInput": command, "toolUseID": call }),
        )
        .await?;
        sim.play(&Script::new().say("next")).await?;
        sim.result().await?;
        let ran = std::fs::read_dir(&markers)?.count();
        assert_eq!(ran, usize::from(!sim.newer()), "{version}");
    }
    Ok(())
}

#[tokio::test]
async fn the_same_seed_prints_the_same_ids() -> anyhow::Result<()> {
    let mut runs = Vec::new();
    for _ in 0..2 {
        let mut sim = Start::new("2.1.325")?.spawn()?;
        sim.play(
            &Script::new()
                .tool("Bash", json!({ "command": "echo x" }))
                .say("y"),
        )
        .await?;
        let lines = sim.until(|line| line["type"] == "result").await?;
        runs.push(
            lines
                .iter()
                .map(|line| line["uuid"].clone())
                .collect::<Vec<_>>(),
        );
    }
    assert_eq!(runs[0], runs[1]);
    Ok(())
}

#[tokio::test]
async fn plain_words_are_played_by_the_demo_agent() -> anyhow::Result<()> {
    let mut sim = Start::new("2.1.325")?
        .env("ESTELLE_SIM_PLAIN", "0")
        .spawn()?;
    sim.say("help").await?;
    let help = sim.result().await?["result"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    assert!(help.contains("run <command>"));
    sim.say("run rm -rf /").await?;
    let asked = sim.asked("can_use_tool").await?;
    assert_eq!(asked["request"]["input"]["command"], "rm -rf /");
    sim.allow(&asked).await?;
    sim.result().await?;
    assert!(std::path::Path::new("/").exists());
    Ok(())
}
