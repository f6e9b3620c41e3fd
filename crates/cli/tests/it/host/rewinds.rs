//! Conversations that go on from before one of their messages, in their own log.

use estelle_host::Host;
use estelle_proto::events::ClaudeEvent;
use estelle_proto::ipc::{ForkSession, RewindSession};
use estelle_proto::{ApiError, ConversationId, ErrorCode, Retry, Seq};
use estelle_sim::script::Script;

use super::forks::{saved, say, texts};
use super::stage::{Agent, Listener, Stage, conversation, message, status, submit};

async fn rewind(host: &Host, id: &ConversationId, before: Seq) -> Result<(), ApiError> {
    let done = submit(host, RewindSession::new(id.clone(), before)).await;
    done.map(drop).map_err(|refused| refused.error)
}

/// The messages that the conversation was brought to before, in order.
async fn rewinds(host: &Host, id: &ConversationId) -> Vec<Seq> {
    let mut listener = Listener::new(host, id).await;
    listener.caught_up().await;
    listener.assert_dense();
    let rewound = listener.events.iter().filter_map(|event| {
        let ClaudeEvent::Rewound(rewound) = &event.event else {
            return None;
        };
        Some(rewound.before_seq)
    });
    rewound.collect()
}

pub(super) async fn a_conversation_is_rewound_to_before_a_message(agent: &Agent) {
    let stage = Stage::new(agent).await;
    let host = stage.open();
    let id = conversation("conv-1");
    let first = say(&stage, &host, &id, "apples").await;
    let second = say(&stage, &host, &id, "quinces").await;
    let old = status(&host, &id).await.claude_session_id;
    rewind(&host, &id, second).await.unwrap();
    assert_ne!(status(&host, &id).await.claude_session_id, old);
    // Asked again before anything was said, it is done.
    rewind(&host, &id, second).await.unwrap();
    assert_eq!(rewinds(&host, &id).await, [second]);
    let session = saved(&stage, &host, &id).await;
    assert!(session.contains("apples") && !session.contains("quinces"));

    say(&stage, &host, &id, "plums").await;
    assert_eq!(texts(&host, &id).await, ["apples", "quinces", "plums"]);
    let session = saved(&stage, &host, &id).await;
    assert!(session.contains("apples"), "the agent knows what was said");
    assert!(!session.contains("quinces"), "and not what was taken back");

    drop(host);
    let host = stage.reopen().await;
    let refused = rewind(&host, &id, second).await.unwrap_err();
    assert!(refused.message.contains("taken back"), "{refused:?}");
    rewind(&host, &id, first).await.unwrap();
    assert_eq!(rewinds(&host, &id).await, [second, first]);
    assert_eq!(status(&host, &id).await.claude_session_id, None);
    say(&stage, &host, &id, "cherries").await;
    assert!(!saved(&stage, &host, &id).await.contains("apples"));
    let report = estelle_host::verify::verify(&stage.path("data"), Some(&id)).unwrap();
    assert!(report.is_sound(), "{report:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_taken_back_can_be_forked_and_a_copy_can_be_rewound() {
    let stage = Stage::new(&Agent::Simulator).await;
    let host = stage.open();
    let [old, back, new] = ["conv-1", "conv-2", "conv-3"].map(conversation);
    say(&stage, &host, &old, "apples").await;
    let second = say(&stage, &host, &old, "quinces").await;
    let third = say(&stage, &host, &old, "plums").await;
    rewind(&host, &old, second).await.unwrap();
    let fourth = say(&stage, &host, &old, "cherries").await;
    let fork = |to: &ConversationId, before| {
        submit(&host, ForkSession::new(old.clone(), to.clone(), before))
    };
    fork(&back, third).await.unwrap();
    assert_eq!(texts(&host, &back).await, ["apples", "quinces"]);
    assert_eq!(rewinds(&host, &back).await, []);
    let session = saved(&stage, &host, &back).await;
    assert!(session.contains("quinces") && !session.contains("plums"));

    fork(&new, fourth).await.unwrap();
    assert_eq!(rewinds(&host, &new).await, [second]);
    let taken = rewind(&host, &new, third).await.unwrap_err();
    assert_eq!(
        (taken.code, taken.retry),
        (ErrorCode::Conflict, Retry::Never)
    );
    say(&stage, &host, &new, "figs").await;
    let session = saved(&stage, &host, &new).await;
    assert!(session.contains("apples") && !session.contains("quinces"));
    // A message that was written in the old conversation is found there.
    rewind(&host, &new, Seq(1)).await.unwrap();
    assert_eq!(rewinds(&host, &new).await, [second, Seq(1)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_rewound_while_the_agent_works_or_to_what_no_person_said() {
    let stage = Stage::new(&Agent::Simulator).await;
    let host = stage.open();
    let id = conversation("conv-1");
    let first = say(&stage, &host, &id, "apples").await;
    let script = Script::new().say("one two").gated_at("half", 1);
    let prompt = script
        .prompt()
        .replacen("\"say\":", "\"chunks\":2,\"say\":", 1);
    // Before the message: pieces of text are told to those who listen, and never again.
    let mut listener = Listener::new(&host, &id).await;
    submit(&host, message(&stage, &id, &prompt)).await.unwrap();
    listener
        .until(|event| matches!(event, ClaudeEvent::Text(_)))
        .await;
    let busy = rewind(&host, &id, first).await.unwrap_err();
    assert!(busy.message.contains("stop it first"), "{busy:?}");
    assert_eq!((busy.code, busy.retry), (ErrorCode::Conflict, Retry::Later));
    stage.open_gate("half");
    listener.result().await;
    listener.idle().await;
    let none = rewind(&host, &id, Seq(first.0 + 1)).await.unwrap_err();
    assert!(none.message.contains("no message of a person"), "{none:?}");
    let beyond = rewind(&host, &id, Seq(9999)).await.unwrap_err();
    assert_eq!(beyond.code, ErrorCode::Conflict);
    let unknown = rewind(&host, &conversation("conv-2"), first).await;
    assert_eq!(unknown.unwrap_err().code, ErrorCode::UnknownConversation);
    assert_eq!(rewinds(&host, &id).await, [], "nothing was marked");
}
