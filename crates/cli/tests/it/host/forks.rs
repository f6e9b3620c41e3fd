//! Conversations made from the beginning of others.

use std::time::Duration;

use estelle_host::Host;
use estelle_proto::events::ClaudeEvent;
use estelle_proto::ipc::{DeleteSession, ForkSession};
use estelle_proto::{ConversationId, ErrorCode, Seq};
use estelle_sim::script::Script;

use super::stage::{Agent, Listener, Stage, conversation, message, status, submit};

pub(super) async fn say(stage: &Stage, host: &Host, id: &ConversationId, text: &str) -> Seq {
    let prompt = Script::new().say(text).prompt();
    let done = submit(host, message(stage, id, &prompt)).await.unwrap();
    let mut listener = Listener::new(host, id).await;
    while listener.texts().last().map(String::as_str) != Some(text) {
        listener.result().await;
    }
    listener.idle().await;
    done.seq.unwrap()
}

pub(super) async fn texts(host: &Host, id: &ConversationId) -> Vec<String> {
    let mut listener = Listener::new(host, id).await;
    listener.caught_up().await;
    listener.assert_dense();
    listener.texts()
}

/// What the agent itself has saved of the session of a conversation.
pub(super) async fn saved(stage: &Stage, host: &Host, id: &ConversationId) -> String {
    let session = status(host, id).await.claude_session_id.unwrap();
    let projects = stage.path("home/.claude/projects");
    // 2.1.197 writes the file of a young session a moment after its result.
    loop {
        let mut folders = std::fs::read_dir(&projects).unwrap();
        let file = folders.find_map(|folder| {
            let file = folder.unwrap().path().join(format!("{session}.jsonl"));
            file.exists().then_some(file)
        });
        match file {
            Some(file) => return std::fs::read_to_string(file).unwrap(),
            None => tokio::task::yield_now().await,
        }
    }
}

pub(super) async fn a_copy_goes_on_from_before_a_message(agent: &Agent) {
    let stage = Stage::new(agent).await;
    let host = stage.open();
    let (old, new) = (conversation("conv-1"), conversation("conv-2"));
    say(&stage, &host, &old, "apples").await;
    let second = say(&stage, &host, &old, "quinces").await;
    let fork = ForkSession::new(old.clone(), new.clone(), second);
    submit(&host, fork.clone()).await.unwrap();
    assert_eq!(texts(&host, &new).await, ["apples"]);
    let session = saved(&stage, &host, &new).await;
    assert!(session.contains("apples") && !session.contains("quinces"));

    say(&stage, &host, &new, "plums").await;
    assert_eq!(texts(&host, &new).await, ["apples", "plums"]);
    let mut listener = Listener::new(&host, &new).await;
    listener.caught_up().await;
    let copied = listener
        .events
        .iter()
        .filter(|event| event.copied == Some(true));
    assert_eq!(copied.count() as u64, second.0 - 1);
    let resumed = saved(&stage, &host, &new).await;
    assert!(resumed.contains("apples"), "the agent knows what was said");

    // Asked again, it is there already.
    submit(&host, fork).await.unwrap();
    say(&stage, &host, &old, "cherries").await;
    assert_eq!(texts(&host, &old).await, ["apples", "quinces", "cherries"]);
    drop((host, listener));
    let host = stage.reopen().await;
    assert_eq!(texts(&host, &new).await, ["apples", "plums"]);
    let report = estelle_host::verify::verify(&stage.path("data"), Some(&new)).unwrap();
    assert!(report.is_sound(), "{report:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_of_a_copy_goes_back_to_where_the_message_was_written() {
    let stage = Stage::new(&Agent::Simulator).await;
    let host = stage.open();
    let [old, new, newer] = ["conv-1", "conv-2", "conv-3"].map(conversation);
    let first = say(&stage, &host, &old, "apples").await;
    let second = say(&stage, &host, &old, "quinces").await;
    let third = say(&stage, &host, &old, "plums").await;
    let fork = |from: &ConversationId, to: &ConversationId, before| {
        submit(&host, ForkSession::new(from.clone(), to.clone(), before))
    };
    fork(&old, &new, third).await.unwrap();
    fork(&new, &newer, second).await.unwrap();
    // Asked again, it is there; asked for something else, it is in the way.
    fork(&new, &newer, second).await.unwrap();
    let other = fork(&new, &newer, first).await.unwrap_err();
    assert_eq!(other.error.code, ErrorCode::Conflict);
    assert_eq!(texts(&host, &newer).await, ["apples"]);
    say(&stage, &host, &newer, "figs").await;
    assert_eq!(texts(&host, &newer).await, ["apples", "figs"]);
    let empty = conversation("conv-4");
    fork(&newer, &empty, first).await.unwrap();
    assert_eq!(texts(&host, &empty).await, Vec::<String>::new());
    say(&stage, &host, &empty, "afresh").await;
    submit(&host, DeleteSession::new(old.clone()))
        .await
        .unwrap();
    let gone = fork(&new, &conversation("conv-5"), second)
        .await
        .unwrap_err();
    assert_eq!(gone.error.code, ErrorCode::UnknownConversation);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_whose_session_is_gone_says_that_the_agent_has_forgotten() {
    let stage = Stage::new(&Agent::Simulator).await;
    let host = stage.open();
    let (old, new) = (conversation("conv-1"), conversation("conv-2"));
    say(&stage, &host, &old, "apples").await;
    let second = say(&stage, &host, &old, "quinces").await;
    submit(&host, ForkSession::new(old, new.clone(), second))
        .await
        .unwrap();
    std::fs::remove_dir_all(stage.path("home/.claude/projects")).unwrap();
    say(&stage, &host, &new, "plums").await;
    let mut listener = Listener::new(&host, &new).await;
    listener.caught_up().await;
    let told = listener.events.iter().filter_map(|event| {
        let ClaudeEvent::Resumed(resumed) = &event.event else {
            return None;
        };
        Some(resumed.resumed_with_history)
    });
    assert_eq!(told.collect::<Vec<_>>(), [false]);
}

/// An agent saves a session a moment after its turn has ended; one of 2.1.197 then appears all at once.
#[tokio::test(flavor = "multi_thread")]
async fn a_copy_waits_for_a_session_that_is_not_saved_yet() {
    let stage = Stage::new(&Agent::Simulator).await;
    let host = stage.open();
    let (old, new) = (conversation("conv-1"), conversation("conv-2"));
    say(&stage, &host, &old, "apples").await;
    let second = say(&stage, &host, &old, "quinces").await;
    let (saved, aside) = (stage.path("home/.claude/projects"), stage.path("aside"));
    std::fs::rename(&saved, &aside).unwrap();
    let copying = submit(&host, ForkSession::new(old, new.clone(), second));
    tokio::pin!(copying);
    let patience = Duration::from_millis(200);
    let answer = tokio::time::timeout(patience, &mut copying).await;
    assert!(answer.is_err(), "it gave up: {answer:?}");
    std::fs::rename(&aside, &saved).unwrap();
    copying.await.unwrap();
    assert_eq!(texts(&host, &new).await, ["apples"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_copied_is_refused_and_nothing_is_made() {
    let stage = Stage::new(&Agent::Simulator).await;
    let host = stage.open();
    let (old, new) = (conversation("conv-1"), conversation("conv-2"));
    let second = {
        say(&stage, &host, &old, "apples").await;
        say(&stage, &host, &old, "quinces").await
    };
    let script = Script::new().say("one two").gated_at("half", 1);
    let prompt = script
        .prompt()
        .replacen("\"say\":", "\"chunks\":2,\"say\":", 1);
    submit(&host, message(&stage, &old, &prompt)).await.unwrap();
    let mut listener = Listener::new(&host, &old).await;
    listener
        .until(|event| matches!(event, ClaudeEvent::Text(_)))
        .await;
    let inner = submit(&host, message(&stage, &old, "and this"))
        .await
        .unwrap();
    stage.open_gate("half");
    let refused = async |from: &ConversationId, to: &ConversationId, before| {
        let command = ForkSession::new(from.clone(), to.clone(), before);
        submit(&host, command).await.unwrap_err().error
    };
    assert_eq!(
        refused(&old, &new, Seq(second.0 + 1)).await.code,
        ErrorCode::Conflict,
        "an entry that no person wrote"
    );
    assert_eq!(
        refused(&old, &new, Seq(9999)).await.code,
        ErrorCode::Conflict
    );
    let error = refused(&old, &new, inner.seq.unwrap()).await;
    assert!(error.message.contains("middle of a turn"), "{error:?}");
    let error = refused(&new, &conversation("conv-3"), second).await;
    assert_eq!(error.code, ErrorCode::UnknownConversation);
    std::fs::remove_dir_all(stage.path("home/.claude/projects")).unwrap();
    let error = refused(&old, &new, second).await;
    assert!(error.message.contains("own record"), "{error:?}");
    assert!(!stage.path("data/conversations/conv-2").exists());
    say(&stage, &host, &new, "unrelated").await;
    let error = refused(&old, &new, second).await;
    assert!(error.message.contains("already"), "{error:?}");
}
