//! Sessions that the agent saved without us: listed, shown, and gone on with in a conversation, from a copy.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use estelle_sim::api::RealCli;
use estelle_sim::script::Script;
use serde_json::{Value, json};

use super::Talk;
use super::forks::say;
use super::stage::Machine;
use crate::client::run;
use crate::host::stage::Agent;
use crate::program::simulator;

/// What the agent prints in one call without Estelle, as a person makes it in the folder: its last line.
fn bare(machine: &Machine, agent: &Agent, prompt: &str, more: &[&str]) -> Value {
    let (program, words, input) = match agent {
        Agent::Real(cli) => {
            let words = ["-p", prompt, "--output-format", "json"];
            (cli.path().to_owned(), words.to_vec(), String::new())
        }
        Agent::Simulator => {
            let words = ["-p", "--verbose", "--input-format", "stream-json"];
            let words = [&words[..], &["--output-format", "stream-json"]].concat();
            let message = json!({"role": "user", "content": prompt});
            let line = json!({"type": "user", "message": message});
            (simulator().to_owned(), words, format!("{line}\n"))
        }
    };
    let mut child = machine
        .beside(&program, &[&words[..], more].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let last = text.lines().last().unwrap_or_default();
    serde_json::from_str(last).unwrap_or_else(|_| panic!("{text}"))
}

/// The file of a session.
fn file(machine: &Machine, session: &str) -> PathBuf {
    let folders = std::fs::read_dir(machine.path("home/.claude/projects")).unwrap();
    let files = folders.map(|folder| folder.unwrap().path().join(format!("{session}.jsonl")));
    let mut files = files.filter(|file| file.exists());
    files.next().unwrap_or_else(|| panic!("no {session}"))
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap()
}

/// The session of the conversation that is looked at, as the list names it.
async fn own_session(talk: &mut Talk) -> String {
    let list = talk.client.done("workspace_list", json!({})).await;
    let all = list["workspaces"][0]["conversations"].as_array().unwrap();
    let own = all
        .iter()
        .find(|one| one["conversationId"] == talk.conversation);
    own.unwrap()["claudeSessionId"].as_str().unwrap().to_owned()
}

async fn a_session_made_without_us_is_gone_on_with(agent: &Agent) {
    let machine = Machine::start(agent).await;
    let prompt = Script::new().say("the pears are ripe").prompt();
    let made = bare(&machine, agent, &prompt, &[]);
    let session = made["session_id"].as_str().unwrap().to_owned();
    let original = file(&machine, &session);
    let before = read(&original);

    let mut talk = Talk::begin(&machine).await;
    let place = json!({"workspaceId": talk.workspace});
    let list = talk.client.done("saved_list", place.clone()).await;
    let listed = list["sessions"].as_array().unwrap();
    assert_eq!(listed.len(), 1, "{list}");
    assert_eq!(listed[0]["claudeSessionId"], session);
    assert_eq!(listed[0]["conversationId"], Value::Null);
    assert_eq!(listed[0]["bytes"], before.len());

    let one = json!({"workspaceId": talk.workspace, "claudeSessionId": session});
    let shown = talk.client.done("saved_read", one.clone()).await;
    let entries = shown["messages"].as_array().unwrap().iter();
    let texts = entries.filter(|entry| entry["type"] == "text");
    let texts: Vec<_> = texts
        .map(|entry| (entry["role"].as_str().unwrap(), super::said(entry)))
        .collect();
    let expected = [("user", "<script>"), ("assistant", "the pears are ripe")];
    let expected = expected.map(|(role, text)| (role, text.to_owned()));
    assert_eq!(texts, expected, "{shown}");

    let made = talk.client.done("saved_continue", one).await;
    talk.conversation = made["conversation"]["conversationId"].clone();
    talk.look().await;
    let copy = own_session(&mut talk).await;
    assert_ne!(copy, session);
    say(&mut talk, "plums").await;
    assert_eq!(own_session(&mut talk).await, copy, "it is resumed as it is");
    assert_eq!(read(&original), before, "the original is as it was");
    if let Some(api) = &machine.api {
        let asked = api
            .requests()
            .into_iter()
            .filter_map(|request| request.body);
        let asked = asked.filter(|body| body["messages"].to_string().contains("plums"));
        let newest = asked.last().unwrap()["messages"].to_string();
        assert!(newest.contains("the pears are ripe"), "{newest}");
    }
    both_go_on(&machine, agent, &mut talk, [&session, &copy]).await;

    let list = talk.client.done("saved_list", place).await;
    let owner = |id: &str| {
        let all = list["sessions"].as_array().unwrap().iter();
        let mut found = all.filter(|one| one["claudeSessionId"] == *id);
        found.next().unwrap()["conversationId"].clone()
    };
    assert_eq!(owner(&copy), talk.conversation);
    assert_eq!(owner(&session), Value::Null);
}

/// The person at the terminal goes on as well: each file has its own, and none of the other.
async fn both_go_on(machine: &Machine, agent: &Agent, talk: &mut Talk, [old, new]: [&str; 2]) {
    let prompt = Script::new().say("figs at the terminal").prompt();
    bare(machine, agent, &prompt, &["--resume", old]);
    say(talk, "cherries").await;
    let (old, new) = (file(machine, old), file(machine, new));
    let has = |file: &Path, text: &str| read(file).contains(text);
    assert!(has(&old, "figs at the terminal") && !has(&old, "cherries"));
    assert!(has(&new, "plums") && !has(&new, "figs at the terminal"));
    assert!(has(&new, "the pears are ripe"));
    let shown = talk.history().await;
    let said: Vec<_> = shown
        .iter()
        .filter(|entry| entry.starts_with("assistant"))
        .collect();
    assert_eq!(said, ["assistant: plums", "assistant: cherries"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_made_without_us_is_gone_on_with_from_a_copy() {
    a_session_made_without_us_is_gone_on_with(&Agent::Simulator).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_made_without_us_is_gone_on_with_from_a_copy_197() {
    a_session_made_without_us_is_gone_on_with(&Agent::Real(RealCli::v197().unwrap())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_made_without_us_is_gone_on_with_from_a_copy_325() {
    a_session_made_without_us_is_gone_on_with(&Agent::Real(RealCli::v325().unwrap())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_that_are_not_there_are_refused_and_nothing_is_made() {
    let machine = Machine::start(&Agent::Simulator).await;
    let mut talk = Talk::begin(&machine).await;
    say(&mut talk, "apples").await;
    let own = own_session(&mut talk).await;
    // A session of another folder, and one that ends in the middle of a line.
    let project = file(&machine, &own).parent().unwrap().to_owned();
    let elsewhere = project.with_file_name("-elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let other = "0190b8c2-7c1e-4000-8000-0000000a1b2c";
    let content = read(&file(&machine, &own)).replace(&own, other);
    std::fs::write(elsewhere.join(format!("{other}.jsonl")), content).unwrap();
    let torn = "0190b8c2-7c1e-4000-8000-0000000a1b2d";
    std::fs::write(project.join(format!("{torn}.jsonl")), "{\"type\":\"us").unwrap();

    let never = "0190b8c2-7c1e-4000-8000-00000000dead";
    for id in [other, torn, never, "no-uuid", "../../../etc/passwd"] {
        for kind in ["saved_read", "saved_continue"] {
            let asked = json!({"workspaceId": talk.workspace, "claudeSessionId": id});
            let refused = talk.client.ask(kind, asked).await;
            // A file without a message is a session to read, in which nothing was said.
            if (kind, id) == ("saved_read", torn) {
                assert_eq!(refused["messages"], json!([]), "{refused}");
                continue;
            }
            let code = refused["errorCode"].as_str().unwrap();
            let expected = match id {
                "../../../etc/passwd" => "invalid_message",
                _ => "unknown_session",
            };
            assert_eq!(code, expected, "{kind} {id}: {refused}");
        }
    }
    for kind in ["saved_list", "saved_read", "saved_continue"] {
        let asked = json!({"workspaceId": "none", "claudeSessionId": never});
        let refused = talk.client.ask(kind, asked).await;
        assert_eq!(refused["errorCode"], "unknown_workspace", "{refused}");
    }
    let list = talk.client.done("workspace_list", json!({})).await;
    let listed = list["workspaces"][0]["conversations"].as_array().unwrap();
    assert_eq!(listed.len(), 1, "{list}");

    let mut viewer = machine.connect(&machine.viewer).await;
    let asked = json!({"workspaceId": talk.workspace});
    let refused = viewer.ask("saved_list", asked).await;
    assert_eq!(refused["errorCode"], "forbidden", "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_session_is_read_in_pages_that_join() {
    let machine = Machine::start(&Agent::Simulator).await;
    let mut script = Script::new();
    for number in 0..70 {
        let command = json!({"command": format!("echo {number}")});
        script = script.tool("Bash", command);
    }
    let prompt = script.say("all of them").prompt();
    let more = ["--permission-mode", "bypassPermissions"];
    let made = bare(&machine, &Agent::Simulator, &prompt, &more);
    let mut talk = Talk::begin(&machine).await;
    let (mut starts, mut pages, mut offset) = (Vec::new(), 0, Value::Null);
    loop {
        let mut asked =
            json!({"workspaceId": talk.workspace, "claudeSessionId": made["session_id"]});
        if !offset.is_null() {
            asked["offset"] = offset;
        }
        let page = talk.client.done("saved_read", asked).await;
        pages += 1;
        let entries = page["messages"].as_array().unwrap().iter();
        let calls = entries.filter(|entry| entry["type"] == "tool_start");
        starts.extend(calls.map(|entry| entry["toolInput"]["command"].clone()));
        offset = page["nextOffset"].clone();
        if offset.is_null() {
            break;
        }
    }
    let expected: Vec<_> = (0..70)
        .map(|number| json!(format!("echo {number}")))
        .collect();
    assert_eq!(starts, expected);
    assert!(pages > 1, "one page has it all");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_lists_shows_and_goes_on() {
    let machine = Machine::start(&Agent::Simulator).await;
    run(&machine, &["new", "workspace", "Project"]).with_code(0);
    let none = run(&machine, &["sessions", "list", "Project"]).with_code(0);
    assert!(none.out.contains("no sessions"), "{none:?}");
    let prompt = Script::new().say("the pears are ripe").prompt();
    let made = bare(&machine, &Agent::Simulator, &prompt, &[]);
    let session = made["session_id"].as_str().unwrap();
    let listed = run(&machine, &["sessions", "list", "Project"]).with_code(0);
    assert!(listed.out.contains(&session[..8]), "{listed:?}");
    let shown = run(&machine, &["sessions", "show", "Project", &session[..8]]).with_code(0);
    assert!(shown.out.contains("the pears are ripe"), "{shown:?}");
    let go_on = ["sessions", "continue", "Project", session];
    let go_on = [&go_on[..], &["--name", "Pears"]].concat();
    let id = run(&machine, &go_on).with_code(0).out.trim().to_owned();
    let next = Script::new().say("and the plums").prompt();
    let sent = run(&machine, &["send", "-q", "Pears", &next]).with_code(0);
    assert_eq!(sent.out, "and the plums\n");
    let listed = run(&machine, &["ls", "--json"]).with_code(0);
    assert!(listed.out.contains(&id), "{listed:?}");
    run(&machine, &["sessions", "show", "Project", "f00"]).with_code(5);
    run(&machine, &["sessions", "list", "Nowhere"]).with_code(5);
}
