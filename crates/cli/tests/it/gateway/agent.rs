//! The agent's own interface in a terminal: it takes a conversation from the chat and gives it back.

use std::time::Duration;

use estelle_sim::api::RealCli;
use estelle_sim::script::Script;
use serde_json::json;

use super::client::{Api, PATIENCE};
use super::looker::{Looker, marked};
use crate::conformance::files::repository;
use crate::host::stage::Agent;
use crate::up::stage::Machine;

/// How long the agent may take to act on an answer before it is given once more.
const MOMENT: Duration = Duration::from_secs(4);

/// What the agent asks before it writes a file.
const QUESTION: &str = "Do you want to create";

/// What a person would have answered at the first start of the agent.
fn prepared(machine: &Machine) {
    let work = machine.path("work").canonicalize().unwrap();
    let config = json!({
        "hasCompletedOnboarding": true, "theme": "dark", "bypassPermissionsModeAccepted": true,
        "customApiKeyResponses": {"approved": ["fake"], "rejected": []},
        "projects": {work.to_str().unwrap(): {"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}},
    });
    std::fs::write(machine.path("home/.claude.json"), config.to_string()).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::too_many_lines, reason = "one story, told in its order")]
async fn r103_r109_the_agents_own_interface_takes_a_conversation_and_gives_it_back() {
    let machine = Machine::start(&Agent::Real(RealCli::v325().unwrap())).await;
    prepared(&machine);
    let api = Api::of(&machine);
    let session = api.session(&machine).await;
    let mut chat = api.watch(&session, "").await;
    let input = format!("POST /api/sessions/{session}/input");
    let say = |text: &str| json!({"content": Script::new().say(text).prompt()});
    api.done(&input, Some(say("roses in the chat"))).await;
    chat.until(|m| m["type"] == "output" && m["final"] == true)
        .await;
    chat.status("waiting_input").await;
    let whole = api
        .done(&format!("GET /api/sessions/{session}"), None)
        .await;
    let before = whole["session"]["resume_session_id"].clone();

    let wanted = json!({"kind": "agent", "cols": 100, "rows": 40, "session_id": session});
    let made = api.call("POST /api/terminals", Some(wanted.clone())).await;
    assert_eq!(made.status, 201, "{made:?}");
    let made = made.json();
    let id = made["terminal"]["id"].as_str().unwrap().to_owned();
    assert_eq!(made["terminal"]["session_id"], session.as_str());
    // The idle process of the chat was ended for it, and nothing else writes to the conversation.
    chat.kind("process_paused").await;
    let refused = api.refused(&input, Some(say("second writer"))).await;
    assert_eq!(refused, (409, "conflict".to_owned()));
    let refused = api
        .refused("POST /api/terminals", Some(wanted.clone()))
        .await;
    assert_eq!(refused, (409, "conflict".to_owned()));
    // It is stopped, and yet it cannot be resumed now: the terminal is why.
    let resume = format!("POST /api/sessions/{session}/resume");
    let refused = api.refused(&resume, None).await;
    assert_eq!(refused, (409, "conflict".to_owned()));
    let refused = api
        .refused(&format!("DELETE /api/sessions/{session}"), None)
        .await;
    assert_eq!(refused, (409, "conflict".to_owned()));

    let mut looker = Looker::at(&api, &id, "").await;
    looker.until_shown("roses in the chat").await;
    // A prompt of the agent is answered by typing.
    let file = machine.path("work/typed.txt");
    let script = Script::new()
        .tool("Write", json!({"file_path": &file, "content": "typed"}))
        .say("violets in the terminal");
    let paste = json!({"type": "paste", "data": script.prompt()});
    looker.watcher.say(paste).await;
    while !["violets", "Pasted text"]
        .iter()
        .any(|text| looker.shown().contains(text))
    {
        looker.see().await;
    }
    looker.types("\r").await;
    looker.until_shown(QUESTION).await;
    assert!(!file.exists(), "it waits for an answer");
    answer(&mut looker, "1").await;
    let is_written = || std::fs::read_to_string(&file).ok().as_deref() == Some("typed");
    // The answer, not the prompt that asks for it.
    looker.until_shown("● violets in the terminal").await;
    assert!(is_written(), "{}", looker.shown());
    let line = format!("DELETE /api/terminals/{id}");
    assert_eq!(api.call(&line, None).await.status, 204);

    // It is given back: the chat goes on in the same session, with what was said in the terminal.
    api.done(&input, Some(say("and on"))).await;
    chat.until(|m| m["type"] == "output" && m["final"] == true)
        .await;
    let whole = api
        .done(&format!("GET /api/sessions/{session}"), None)
        .await;
    assert_eq!(whole["session"]["resume_session_id"], before);
    // A conversation that never had a session gets one of ours, and the chat goes on with it.
    let workspaces = api.done("GET /api/workspaces", None).await;
    let workspace = &workspaces["workspaces"][0]["id"];
    let wanted = json!({"workspace_id": workspace, "name": "Second"});
    let made = api.done("POST /api/sessions", Some(wanted)).await;
    let second = made["session"]["id"].as_str().unwrap().to_owned();
    let prompt = Script::new().say("lilies").prompt();
    let wanted =
        json!({"kind": "agent", "cols": 100, "rows": 40, "session_id": second, "prompt": prompt});
    let made = api.done("POST /api/terminals", Some(wanted)).await;
    let id = made["terminal"]["id"].as_str().unwrap().to_owned();
    let mut looker = Looker::at(&api, &id, "").await;
    looker.until_shown("lilies").await;
    api.call(&format!("DELETE /api/terminals/{id}"), None).await;
    let input = format!("POST /api/sessions/{second}/input");
    let mut chat = api.watch(&second, "").await;
    api.done(&input, Some(say("back in the chat"))).await;
    chat.until(|m| m["type"] == "output" && m["final"] == true)
        .await;
}

/// Types an answer until the question is gone from the screen. The agent does not listen in the moment in which it shows the
/// question, so that nobody answers by mistake: what is typed then is lost, and the question stays.
async fn answer(looker: &mut Looker, key: &str) {
    let answered = async {
        loop {
            looker.types(key).await;
            let gone = async {
                while looker.shown().contains(QUESTION) {
                    looker.see().await;
                }
            };
            if tokio::time::timeout(MOMENT, gone).await.is_ok() {
                return;
            }
        }
    };
    let answered = tokio::time::timeout(PATIENCE, answered).await;
    assert!(answered.is_ok(), "{key:?} answers nothing");
}

/// R109: the prompts of the agent are answered by typing: the number of an answer, or Escape for none.
#[tokio::test(flavor = "multi_thread")]
async fn r109_the_prompts_of_the_agent_are_answered_by_typing() {
    for cli in [RealCli::v197(), RealCli::v325()] {
        let machine = Machine::start(&Agent::Real(cli.unwrap())).await;
        prepared(&machine);
        let api = Api::of(&machine);
        let session = api.session(&machine).await;
        let wanted = json!({"kind": "agent", "cols": 100, "rows": 40, "session_id": session});
        let made = api.done("POST /api/terminals", Some(wanted)).await;
        let id = made["terminal"]["id"].as_str().unwrap().to_owned();
        let mut looker = Looker::at(&api, &id, "").await;
        looker.until_shown("? for shortcuts").await;
        for (key, name, is_allowed) in [("1", "allowed.txt", true), ("\x1b", "denied.txt", false)] {
            let file = machine.path("work").join(name);
            let script = Script::new()
                .tool("Write", json!({"file_path": &file, "content": name}))
                .say("done with it");
            let paste = json!({"type": "paste", "data": script.prompt()});
            looker.watcher.say(paste).await;
            while ![name, "Pasted text"]
                .iter()
                .any(|text| looker.shown().contains(text))
            {
                looker.see().await;
            }
            looker.types("\r").await;
            looker.until_shown(QUESTION).await;
            assert!(!file.exists(), "it waits for an answer");
            answer(&mut looker, key).await;
            if is_allowed {
                looker.until_shown("● done with it").await;
            }
            assert_eq!(file.exists(), is_allowed, "{key:?}\n{}", looker.shown());
        }
    }
}

/// R103: the interface of a session that has a worktree works there.
#[tokio::test(flavor = "multi_thread")]
async fn r103_the_interface_of_a_session_with_a_worktree_works_in_it() {
    let machine = Machine::start(&Agent::Real(RealCli::v325().unwrap())).await;
    let api = Api::of(&machine);
    api.session(&machine).await;
    std::fs::write(machine.path("work/a.txt"), "one\n").unwrap();
    repository(&machine.path("work"));
    let workspaces = api.done("GET /api/workspaces", None).await;
    let workspace = &workspaces["workspaces"][0]["id"];
    let wish = json!({"workspace_id": workspace, "name": "Apart", "worktree": {"branch": "apart"}});
    let made = api.done("POST /api/sessions", Some(wish)).await["session"].clone();
    let folder = made["worktree_path"].as_str().unwrap();
    let wanted = json!({"kind": "agent", "cols": 100, "rows": 40, "session_id": made["id"]});
    let opened = api.done("POST /api/terminals", Some(wanted)).await;
    let id = opened["terminal"]["id"].as_str().unwrap();
    let works_there = || {
        let pids = marked(id).into_iter();
        let mut places = pids.filter_map(|pid| std::fs::read_link(format!("/proc/{pid}/cwd")).ok());
        places.any(|place| place == std::path::Path::new(folder))
    };
    let found = async {
        while !works_there() {
            tokio::task::yield_now().await;
        }
    };
    let found = tokio::time::timeout(PATIENCE, found).await;
    assert!(found.is_ok(), "nothing of it works in {folder}");
}

/// Somebody who opens the agent's interface and leaves it without a word finds it again.
#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_of_the_agent_that_was_left_without_a_word_opens_again() {
    for cli in [RealCli::v197(), RealCli::v325()] {
        let machine = Machine::start(&Agent::Real(cli.unwrap())).await;
        prepared(&machine);
        let api = Api::of(&machine);
        let session = api.session(&machine).await;
        for _ in 0..2 {
            let wanted = json!({"kind": "agent", "cols": 100, "rows": 40, "session_id": session});
            let made = api.done("POST /api/terminals", Some(wanted)).await;
            let id = made["terminal"]["id"].as_str().unwrap().to_owned();
            let mut looker = Looker::at(&api, &id, "").await;
            // The line in which a person writes.
            looker.until_shown("? for shortcuts").await;
            api.call(&format!("DELETE /api/terminals/{id}"), None).await;
        }
        // The chat goes on with the same session.
        let mut chat = api.watch(&session, "").await;
        let input = format!("POST /api/sessions/{session}/input");
        let said = json!({"content": Script::new().say("in the chat").prompt()});
        api.done(&input, Some(said)).await;
        chat.until(|m| m["type"] == "output" && m["final"] == true)
            .await;
    }
}
