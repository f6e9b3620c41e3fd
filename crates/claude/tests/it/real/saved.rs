//! Conversations that a real CLI saved: found, read, renamed, forked, and the fork taken up again.

use anyhow::Context as _;
use estelle_claude::Body;
use estelle_claude::saved::{ForkOptions, ListOptions, MessageOptions, SavedSessions, SessionId};
use estelle_sim::script::Script;
use serde_json::json;
use uuid::Uuid;

use super::stage::{Stage, ask};

on_both_versions!(real_a_saved_conversation_is_read_changed_and_forked);

async fn real_a_saved_conversation_is_read_changed_and_forked(stage: &Stage) -> anyhow::Result<()> {
    let id: SessionId = Uuid::new_v4().to_string().parse()?;
    let mut session = stage.start(stage.options().session_id(id.as_str())).await?;
    let command = json!({"command": "echo hi", "description": "d"});
    let with_tool = Script::new().tool("Bash", command).say("alpha");
    ask(&mut session, with_tool.prompt()).await?;
    ask(&mut session, Script::new().say("bravo").prompt()).await?;
    session.close().await;

    // From the working directory alone, so the folder's name is the one the CLI made.
    let saved = SavedSessions::new(stage.home.path().join(".claude")).within(stage.work.path());
    let listed = saved.load_sessions(&ListOptions::new())?;
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!(listed[0].id, id);
    assert!(listed[0].is_programmatic() && listed[0].created_at.is_some());
    let work = stage.work.path().canonicalize()?;
    assert_eq!(listed[0].cwd.as_deref(), work.to_str());

    let messages = saved.load_messages(&id, &MessageOptions::new())?;
    let kinds: Vec<_> = messages
        .iter()
        .map(|message| message.message.kind().to_string())
        .collect();
    let expected = [
        "User",
        "Assistant",
        "User",
        "Assistant",
        "User",
        "Assistant",
    ];
    assert_eq!(kinds, expected);
    let answers: Vec<_> = messages
        .iter()
        .filter_map(|message| match &message.message.body {
            Body::Assistant(answer) => Some(answer.text()),
            _ => None,
        })
        .collect();
    assert_eq!(answers, ["", "alpha", "bravo"]);

    saved.rename(&id, "Greek letters")?;
    let info = saved.load_info(&id)?.context("it is still there")?;
    assert_eq!(info.title(), Some("Greek letters"));

    let fork = saved.fork(&id, &ForkOptions::new().up_to(&messages[3].uuid))?;
    let mut session = stage.start(stage.options().resume(fork.as_str())).await?;
    let told = ask(&mut session, Script::new().say("gamma").prompt()).await?;
    assert_eq!(told.session_id()?, fork.as_str());
    session.close().await;
    let history = stage.history()?;
    assert!(
        history.contains("alpha"),
        "the fork has its past: {history}"
    );
    assert!(
        !history.contains("bravo"),
        "and nothing behind its end: {history}"
    );

    let of_fork = saved.load_messages(&fork, &MessageOptions::new())?;
    assert_eq!(of_fork.len(), 6, "four of the source and a turn of its own");
    let info = saved.load_info(&fork)?.context("the fork is listed")?;
    assert!(info.title().is_some_and(|title| title.ends_with("(fork)")));
    assert_eq!(saved.load_messages(&id, &MessageOptions::new())?.len(), 6);
    Ok(())
}
