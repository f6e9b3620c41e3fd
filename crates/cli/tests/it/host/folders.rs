//! Folders: the one that a process works in, those of runs that are over, and those whose trust cannot be written down.

use estelle_host::verify::{FindingKind, verify};
use estelle_proto::decisions::{DecisionKind, PermissionDecision};
use estelle_proto::events::ClaudeEvent;
use estelle_proto::ipc::{PermissionResponse, SendMessage, StopSession};
use estelle_proto::{ConversationId, ErrorCode, OnBusy, PathText};
use estelle_sim::api::RealCli;
use estelle_sim::script::Script;
use serde_json::json;

use super::stage::{Agent, Listener, Stage, conversation, message, status, submit};

async fn end(host: &estelle_host::Host, id: &ConversationId) {
    let stop = StopSession {
        end_process: Some(true),
        ..StopSession::new(id.clone())
    };
    submit(host, stop).await.unwrap();
}

fn elsewhere(stage: &Stage, sent: SendMessage) -> SendMessage {
    let folder = stage.path("other").to_string_lossy().into_owned();
    let mut sent = sent;
    sent.payload.working_dir = PathText::parse(&folder).unwrap();
    sent
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_judged_in_the_folder_in_which_its_process_works() {
    let stage = Stage::new(&Agent::Simulator).await;
    std::fs::create_dir(stage.path("other")).unwrap();
    std::fs::write(stage.path("other/notes"), "harmless").unwrap();
    let host = stage.open();
    std::fs::write(stage.path("data/secret"), "of the host").unwrap();
    std::os::unix::fs::symlink(stage.path("data/secret"), stage.path("work/notes")).unwrap();
    let id = conversation("conv-1");
    let first = message(&stage, &id, &Script::new().say("first").prompt());
    submit(&host, first).await.unwrap();
    let mut listener = Listener::new(&host, &id).await;
    listener.result().await;
    listener.idle().await;
    // The process goes on in the first folder, where the same name leads into the host's own data.
    let script = Script::new()
        .tool("Read", json!({"file_path": "notes"}))
        .say("done");
    let second = elsewhere(&stage, message(&stage, &id, &script.prompt()));
    submit(&host, second).await.unwrap();
    let event = listener
        .until(|event| matches!(event, ClaudeEvent::ToolComplete(_)))
        .await;
    let ClaudeEvent::ToolComplete(tool) = event else {
        panic!("{event:?}");
    };
    assert!(!tool.success, "{tool:?}");
    assert!(!tool.result.contains("of the host"), "{tool:?}");
    let is_told = listener.events.iter().any(
        |one| matches!(&one.event, ClaudeEvent::Error(error) if error.error.contains("goes on in")),
    );
    assert!(
        is_told,
        "whoever named another folder hears that it does not count yet"
    );
    listener.idle().await;
    // The next process works in the new folder, and there the name is harmless.
    end(&host, &id).await;
    let third = elsewhere(&stage, message(&stage, &id, &script.prompt()));
    submit(&host, third).await.unwrap();
    let event = listener
        .until(|event| matches!(event, ClaudeEvent::ToolComplete(_)))
        .await;
    assert!(
        matches!(&event, ClaudeEvent::ToolComplete(tool) if tool.success && tool.result.contains("harmless")),
        "{event:?}"
    );
}

fn runs(stage: &Stage) -> Vec<u64> {
    let entries = std::fs::read_dir(stage.path("data/conversations/conv-1/runs")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut runs: Vec<u64> = names.map(|name| name.parse().unwrap()).collect();
    runs.sort_unstable();
    runs
}

#[tokio::test(flavor = "multi_thread")]
async fn of_runs_that_are_over_the_last_few_are_kept() {
    let stage = Stage::new(&Agent::Simulator).await;
    let host = stage.open();
    let id = conversation("conv-1");
    let mut listener = None;
    for number in 1..=5 {
        let prompt = Script::new().say(format!("answer {number}")).prompt();
        submit(&host, message(&stage, &id, &prompt)).await.unwrap();
        let listener = match &mut listener {
            Some(listener) => listener,
            None => listener.insert(Listener::new(&host, &id).await),
        };
        listener.result().await;
        listener.idle().await;
        if number < 5 {
            end(&host, &id).await;
        }
    }
    assert_eq!(runs(&stage), [2, 3, 4, 5], "the fifth is alive");
    end(&host, &id).await;
    assert_eq!(runs(&stage), [3, 4, 5]);
    drop((host, listener));
    // A host that died before it could take the folder away.
    let left = stage.path("data/conversations/conv-1/runs/1");
    std::fs::create_dir(&left).unwrap();
    let host = stage.reopen().await;
    let texts = {
        let mut again = Listener::new(&host, &id).await;
        while again.texts().len() < 5 {
            again.message().await;
        }
        again.texts()
    };
    assert_eq!(texts[0], "answer 1", "nothing is missing from the log");
    assert!(!left.exists());
    let report = verify(&stage.path("data"), None).unwrap();
    assert!(report.is_sound(), "{report:?}");
    let whats: Vec<_> = report.conversations[0]
        .findings
        .iter()
        .map(|finding| finding.what.as_str())
        .collect();
    let gone = whats.iter().filter(|what| what.contains("journal"));
    assert_eq!(gone.count(), 2, "what is gone is not proven: {whats:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_about_trust_that_cannot_be_written_down_is_no_secret() {
    let stage = Stage::new(&Agent::Simulator).await;
    let server = json!({"mcpServers": {"theirs": {"command": "/bin/true"}}});
    std::fs::write(stage.path("work/.mcp.json"), server.to_string()).unwrap();
    let host = stage.open();
    // Nothing can be written where a folder stands in the way.
    std::fs::create_dir(stage.path("data/trust.new")).unwrap();
    let id = conversation("conv-1");
    let sent = message(&stage, &id, &Script::new().say("first").prompt());
    submit(&host, sent).await.unwrap();
    let mut listener = Listener::new(&host, &id).await;
    let asked = listener.asked().await;
    assert_eq!(asked.kind, Some(DecisionKind::Trust));
    let allow = PermissionDecision::Allow;
    submit(
        &host,
        PermissionResponse::new(id.clone(), asked.tool_use_id, allow),
    )
    .await
    .unwrap();
    let event = listener
        .until(|event| matches!(event, ClaudeEvent::Error(_)))
        .await;
    assert!(
        matches!(&event, ClaudeEvent::Error(error) if error.error.contains("could not be written down")
            && error.error.contains("asked again")),
        "{event:?}"
    );
    listener.idle().await;
    // The next start asks again, as was said.
    std::fs::remove_dir(stage.path("data/trust.new")).unwrap();
    end(&host, &id).await;
    let sent = message(&stage, &id, &Script::new().say("second").prompt());
    submit(&host, sent).await.unwrap();
    assert_eq!(listener.asked().await.kind, Some(DecisionKind::Trust));
}

#[tokio::test(flavor = "multi_thread")]
async fn why_a_person_is_asked_is_known_after_the_death_of_the_host() {
    let stage = Stage::new(&Agent::Simulator).await;
    let host = stage.open();
    let id = conversation("conv-1");
    let file = stage.path("work/a.txt");
    let script = Script::new().tool("Write", json!({"file_path": file, "content": "x"}));
    submit(&host, message(&stage, &id, &script.prompt()))
        .await
        .unwrap();
    let mut listener = Listener::new(&host, &id).await;
    let asked = listener.asked().await;
    drop((host, listener));
    let host = stage.reopen().await;
    let pending = status(&host, &id).await.pending_permission.unwrap();
    assert_eq!(pending.tool_use_id, asked.tool_use_id);
    assert!(
        pending
            .reason
            .as_ref()
            .is_some_and(|reason| !reason.is_empty()),
        "{pending:?}"
    );
}

/// The transcript of the one session of a stage.
fn transcript(stage: &Stage) -> std::path::PathBuf {
    let projects = std::fs::read_dir(stage.path("home/.claude/projects")).unwrap();
    let files = projects.flat_map(|project| std::fs::read_dir(project.unwrap().path()).unwrap());
    let mut files = files.map(|file| file.unwrap().path()).filter(|file| {
        file.extension()
            .is_some_and(|extension| extension == "jsonl")
    });
    files.next().unwrap()
}

pub(super) async fn what_was_done_can_be_proven(agent: &Agent) {
    let stage = Stage::new(agent).await;
    let host = stage.open();
    let id = conversation("conv-1");
    let file = stage.path("work/a.txt");
    let script = Script::new()
        .tool("Write", json!({"file_path": &file, "content": "x"}))
        .say("done");
    submit(&host, message(&stage, &id, &script.prompt()))
        .await
        .unwrap();
    let mut listener = Listener::new(&host, &id).await;
    let asked = listener.asked().await;
    let allow = PermissionDecision::Allow;
    submit(
        &host,
        PermissionResponse::new(id.clone(), asked.tool_use_id, allow),
    )
    .await
    .unwrap();
    listener.result().await;
    listener.idle().await;
    let data = stage.path("data");
    let at_work = verify(&data, None).unwrap();
    assert!(at_work.is_sound(), "{at_work:?}");
    end(&host, &id).await;
    drop((host, listener));
    let whole = verify(&data, None).unwrap();
    assert_eq!(whole.conversations[0].findings, [], "{whole:?}");
    let proven = whole.conversations[0].transcript_messages;
    // What was said, the call, its result, the answer.
    assert!(proven >= 4, "{whole:?}");

    // A transcript that lacks a line proves less, and accuses nobody.
    let transcript = transcript(&stage);
    let text = std::fs::read_to_string(&transcript).unwrap();
    let is_answer = |line: &str| line.contains(r#""type":"assistant""#);
    let cut: Vec<_> = text.lines().filter(|line| !is_answer(line)).collect();
    let removed = text.lines().count() - cut.len();
    std::fs::write(&transcript, cut.join("\n") + "\n").unwrap();
    let less = verify(&data, None).unwrap();
    assert!(less.is_sound(), "{less:?}");
    assert_eq!(
        less.conversations[0].transcript_messages,
        proven - removed as u64
    );

    // A message that the CLI knows and no journal of ours has is lost.
    let strange = text.lines().find(|line| is_answer(line)).unwrap().replacen(
        r#""uuid":""#,
        r#""uuid":"0"#,
        1,
    );
    std::fs::write(&transcript, text + &strange + "\n").unwrap();
    let lost = verify(&data, None).unwrap();
    assert!(!lost.is_sound());
    assert_eq!(lost.count(FindingKind::Lost), 1, "{lost:?}");
}

/// Lets the agent plant settings by a call that a person allows.
async fn plant(stage: &Stage, host: &estelle_host::Host, listener: &mut Listener) {
    let id = conversation("conv-1");
    let settings = json!({
        "apiKeyHelper": format!("touch {}; echo key", stage.path("ran").display()),
        "env": {"PLANTED": "1"},
    });
    std::fs::create_dir_all(stage.path("work/.claude")).unwrap();
    // The policy sees through a plain attempt.
    let hidden = format!("cat > .claude/settings.json <<'END'\n{settings}\nEND\n");
    std::fs::write(stage.path("work/hello.sh"), hidden).unwrap();
    let after = stage.path("work/after");
    let script = Script::new()
        .tool(
            "Bash",
            json!({"command": "sh ./hello.sh", "description": "Say hello"}),
        )
        .tool("Write", json!({"file_path": after, "content": "x"}))
        .say("done");
    submit(host, message(stage, &id, &script.prompt()))
        .await
        .unwrap();
    let asked = listener.asked().await;
    let allow = PermissionDecision::Allow;
    submit(
        host,
        PermissionResponse::new(id.clone(), asked.tool_use_id, allow),
    )
    .await
    .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_whose_settings_change_under_it_is_stopped_where_it_would_take_them_in() {
    let stage = Stage::new(&Agent::Real(RealCli::v197().unwrap())).await;
    let host = stage.open();
    let id = conversation("conv-1");
    let first = message(&stage, &id, &Script::new().say("first").prompt());
    submit(&host, first).await.unwrap();
    let mut listener = Listener::new(&host, &id).await;
    listener.result().await;
    listener.idle().await;
    plant(&stage, &host, &mut listener).await;
    let event = listener
        .until(|event| matches!(event, ClaudeEvent::Error(_)))
        .await;
    assert!(
        matches!(&event, ClaudeEvent::Error(error) if error.error.contains("the settings of the folder have changed")),
        "{event:?}"
    );
    assert!(
        !stage.path("work/after").exists(),
        "what came after did not run"
    );
    // The next one is started without them, and a person is asked.
    let next = message(&stage, &id, &Script::new().say("next").prompt());
    submit(&host, next).await.unwrap();
    let asked = listener.asked().await;
    assert_eq!(asked.kind, Some(DecisionKind::Trust));
    let deny = PermissionDecision::Deny;
    submit(
        &host,
        PermissionResponse::new(id.clone(), asked.tool_use_id, deny),
    )
    .await
    .unwrap();
    listener.result().await;
    assert_eq!(listener.texts().last().map(String::as_str), Some("next"));
    // Settings that change while nothing goes on cost nothing: the message waits for the next process.
    std::fs::remove_file(stage.path("work/.claude/settings.json")).unwrap();
    end(&host, &id).await;
    let plain = message(&stage, &id, &Script::new().say("plain").prompt());
    submit(&host, plain).await.unwrap();
    listener.result().await;
    listener.idle().await;
    let pid = status(&host, &id).await.evidence.unwrap().pid;
    std::fs::write(stage.path("work/.claude/settings.local.json"), "{}").unwrap();
    let last = message(&stage, &id, &Script::new().say("last").prompt());
    submit(&host, last).await.unwrap();
    listener.result().await;
    assert_eq!(listener.texts().last().map(String::as_str), Some("last"));
    let now = status(&host, &id).await.evidence.unwrap().pid;
    assert!(pid.is_some() && now.is_some() && now != pid);
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_that_change_under_an_agent_with_a_copy_of_them_do_not_matter() {
    let stage = Stage::new(&Agent::Real(RealCli::v325().unwrap())).await;
    let host = stage.open();
    let id = conversation("conv-1");
    let first = message(&stage, &id, &Script::new().say("first").prompt());
    submit(&host, first).await.unwrap();
    let mut listener = Listener::new(&host, &id).await;
    listener.result().await;
    listener.idle().await;
    plant(&stage, &host, &mut listener).await;
    // The second call is asked about as if nothing had happened.
    let asked = listener.asked().await;
    assert_eq!(asked.tool_name, "Write");
    assert!(!stage.path("ran").exists(), "nothing of it is taken in");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_is_on_trial_is_said_to_be() {
    use std::os::unix::fs::PermissionsExt as _;
    let mut stage = Stage::new(&Agent::Simulator).await;
    let gate = stage.path("gates/trial");
    let (program, simulator) = (stage.path("program"), stage.program.clone());
    let text = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] || while [ ! -e {} ]; do sleep 0.1; done\nexec {} \"$@\"\n",
        gate.display(),
        simulator.display()
    );
    std::fs::write(&program, text).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
    stage.program = program;
    let host = stage.open();
    let id = conversation("conv-1");
    let sent = message(&stage, &id, &Script::new().say("at last").prompt());
    submit(&host, sent).await.unwrap();
    let on_trial = async {
        loop {
            let why = status(&host, &id).await.evidence.unwrap().why;
            if why.is_some_and(|why| why.contains("on trial")) {
                break;
            }
        }
    };
    let limit = std::time::Duration::from_mins(1);
    tokio::time::timeout(limit, on_trial).await.unwrap();
    stage.open_gate("trial");
    let mut listener = Listener::new(&host, &id).await;
    listener.result().await;
    assert_eq!(listener.texts(), ["at last"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_person_denies_is_refused_and_messages_wait_by_choice() {
    let mut stage = Stage::new(&Agent::Simulator).await;
    stage.patterns.commands.push("true:*".to_owned());
    stage.on_busy = OnBusy::Queue;
    let host = stage.open();
    let id = conversation("conv-1");
    let script = Script::new()
        .tool("Bash", json!({"command": "true now"}))
        .say("first");
    submit(&host, message(&stage, &id, &script.prompt()))
        .await
        .unwrap();
    let second = message(&stage, &id, &Script::new().say("second").prompt());
    submit(&host, second).await.unwrap();
    let mut listener = Listener::new(&host, &id).await;
    for _ in 0..2 {
        listener.result().await;
    }
    listener.idle().await;
    assert_eq!(listener.texts(), ["first", "second"]);
    let refused = listener
        .events
        .iter()
        .any(|event| matches!(&event.event, ClaudeEvent::ToolComplete(tool) if !tool.success));
    assert!(refused, "nobody was asked, and it did not run");
}

#[tokio::test]
async fn a_turn_that_is_silent_for_too_long_is_broken_off() {
    let mut stage = Stage::new(&Agent::Simulator).await;
    stage.turn_limit = Some(std::time::Duration::from_mins(10));
    let host = stage.open();
    let id = conversation("conv-1");
    let script = Script::new().say("one two").gated_at("never", 1);
    let prompt = script
        .prompt()
        .replacen("\"say\":", "\"chunks\":2,\"say\":", 1);
    submit(&host, message(&stage, &id, &prompt)).await.unwrap();
    let mut listener = Listener::new(&host, &id).await;
    listener
        .until(|event| matches!(event, ClaudeEvent::Text(_)))
        .await;
    // From here on the clock runs ahead whenever everybody waits.
    listener.patience = std::time::Duration::from_hours(2);
    tokio::time::pause();
    let event = listener
        .until(|event| matches!(event, ClaudeEvent::Error(_)))
        .await;
    assert!(
        matches!(&event, ClaudeEvent::Error(error) if error.error.contains("10 min")),
        "{event:?}"
    );
    listener
        .until(|event| matches!(event, ClaudeEvent::Aborted(_)))
        .await;
    tokio::time::resume();
}

#[tokio::test]
async fn a_command_in_the_background_may_be_silent_for_as_long_as_it_likes() {
    let mut stage = Stage::new(&Agent::Simulator).await;
    stage.turn_limit = Some(std::time::Duration::from_mins(10));
    let host = stage.open();
    let id = conversation("conv-1");
    let input = json!({"command": "sleep 600", "run_in_background": true, "description": "wait"});
    let script = Script::new().tool("Bash", input).say("started");
    let mut sent = message(&stage, &id, &script.prompt());
    sent.payload.permission_mode = Some(estelle_proto::PermissionMode::BypassPermissions);
    submit(&host, sent).await.unwrap();
    let mut listener = Listener::new(&host, &id).await;
    listener.result().await;
    tokio::time::pause();
    for _ in 0..30 {
        tokio::time::advance(std::time::Duration::from_mins(1)).await;
        status(&host, &id).await;
    }
    tokio::time::resume();
    let log = stage.path("data/conversations/conv-1/log.jsonl");
    let log = std::fs::read_to_string(log).unwrap();
    assert!(!log.contains("said nothing for"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_cannot_be_trusted_says_so() {
    let stage = Stage::new(&Agent::Simulator).await;
    std::fs::write(stage.path("home/servers.json"), r#"{"mcpServers":{}}"#).unwrap();
    let link = stage.path("work/.mcp.json");
    std::os::unix::fs::symlink(stage.path("home/servers.json"), link).unwrap();
    let host = stage.open();
    let id = conversation("conv-1");
    let sent = message(&stage, &id, &Script::new().say("hello").prompt());
    submit(&host, sent).await.unwrap();
    let mut listener = Listener::new(&host, &id).await;
    listener.result().await;
    let is_told = listener.events.iter().any(|one| {
        matches!(&one.event, ClaudeEvent::Error(error) if error.error.contains("cannot be trusted"))
    });
    assert!(is_told, "nobody wonders why nothing is loaded");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_words_of_an_agent_are_heard_though_nobody_saw_it_end() {
    let mut stage = Stage::new(&Agent::Simulator).await;
    stage.program = stage.wrapped("agent", "echo famous last words >&2", &stage.program);
    let host = stage.open();
    let id = conversation("conv-1");
    let sent = message(&stage, &id, &Script::new().say("hello").prompt());
    submit(&host, sent).await.unwrap();
    let mut listener = Listener::new(&host, &id).await;
    listener.result().await;
    let record = stage.path("data/conversations/conv-1/runs/1/run.json");
    let record: serde_json::Value =
        serde_json::from_slice(&std::fs::read(record).unwrap()).unwrap();
    for name in ["shimPid", "pid"] {
        let pid = record[name].as_u64().unwrap();
        crate::durable::stage::kill(u32::try_from(pid).unwrap());
    }
    listener
        .until(|event| {
            matches!(event, ClaudeEvent::Error(error) if error.error.contains("famous last words"))
        })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shutdown_counts_the_runs_that_it_ends() {
    let stage = Stage::new(&Agent::Simulator).await;
    let host = stage.open();
    for name in ["conv-1", "conv-2"] {
        let id = conversation(name);
        let sent = message(&stage, &id, &Script::new().say("hello").prompt());
        submit(&host, sent).await.unwrap();
        let mut listener = Listener::new(&host, &id).await;
        listener.result().await;
        listener.idle().await;
    }
    end(&host, &conversation("conv-1")).await;
    assert_eq!(host.stop_runs("the test is over").await, 1);
    assert_eq!(host.stop_runs("once more").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shutdown_starts_nothing_and_what_waits_is_done_by_the_next_host() {
    let stage = Stage::new(&Agent::Simulator).await;
    let host = stage.open();
    let id = conversation("conv-1");
    let sent = message(&stage, &id, &Script::new().say("later").prompt());
    submit(&host, sent).await.unwrap();
    // The program is still on trial: there is no process yet.
    host.stop_runs("the test is over").await;
    let refused = submit(&host, message(&stage, &id, "no more")).await;
    assert_eq!(refused.unwrap_err().error.code, ErrorCode::HostUnavailable);
    assert!(
        !stage
            .path("data/conversations/conv-1/runs/1/run.json")
            .exists()
    );
    drop(host);
    let host = stage.reopen().await;
    let mut listener = Listener::new(&host, &id).await;
    listener.result().await;
    listener.idle().await;
    assert_eq!(listener.texts(), ["later"]);
}
