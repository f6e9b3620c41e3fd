//! The host with real processes: turns, decisions, stopping, and taking up what a dead host left.

mod asking;
mod calls;
mod clearing;
mod costs;
mod endings;
mod folders;
mod forging;
mod forks;
mod gate;
mod heard;
mod lifecycle;
mod long;
mod messages;
mod older;
mod permissions;
mod races;
mod rewinds;
mod rules;
mod sessions;
mod shut;
pub(crate) mod stage;
mod trouble;

use estelle_proto::conversations::ConversationStatus;
use estelle_proto::decisions::PermissionDecision;
use estelle_proto::events::{ClaudeEvent, ToolComplete};
use estelle_proto::ipc::{PermissionResponse, QuestionResponse, StopSession};
use estelle_proto::{Answer, ErrorCode};
use estelle_sim::api::RealCli;
use estelle_sim::script::Script;
use serde_json::json;

use asking::{
    a_stop_leaves_no_elicitation_open, an_elicitation_can_be_declined,
    an_elicitation_is_answered_once_over_the_death_of_the_host,
};
use calls::a_tool_of_a_client_is_called_once_over_the_death_of_the_host;
use costs::a_turn_costs_the_same_in_every_process_of_its_session;
use endings::{
    a_new_session_drops_what_waits_in_the_agent_and_says_so,
    a_shutdown_keeps_what_waits_in_the_agent_for_the_next_process,
    a_stop_ends_what_goes_on_in_the_background, a_stop_takes_what_waits_in_the_agent_with_it,
};
use folders::what_was_done_can_be_proven;
use forging::{
    a_forged_allow_is_noticed, a_forged_interruption_is_noticed, forged_words_are_noticed,
    forged_words_that_pretend_to_be_the_agents_own_are_noticed,
    forged_words_without_an_id_are_noticed,
};
use forks::a_copy_goes_on_from_before_a_message;
use gate::{
    g3_a_question_that_nobody_answers_lets_nothing_run,
    o13_p17_words_about_an_approval_are_only_words,
};
use lifecycle::{
    a_killed_agent_is_reported_and_not_restarted, a_new_session_forgets_what_was_said,
    a_session_belongs_to_one_conversation_at_a_time, a_session_that_is_gone_is_begun_afresh_once,
    a_stopped_process_is_resumed_with_its_history, a_sub_agent_may_ask_after_its_turn_has_ended,
};
use long::a_message_that_no_pipe_holds_can_be_read_and_its_neighbours_cannot;
use messages::{
    a_message_that_is_sent_twice_runs_once, a_prompt_that_begins_with_a_tag_is_answered,
    a_queued_message_can_be_taken_back_until_the_agent_has_it,
    a_queued_message_waits_for_the_end_of_the_turn, an_interrupting_message_ends_the_turn_first,
};
use permissions::{
    a_mode_can_change_in_mid_session, an_agent_that_answers_for_itself_is_stopped,
    an_approved_plan_ends_planning, half_a_character_is_asked_about_in_every_mode,
    trust_reaches_a_process_that_lives, what_a_folder_brings_is_loaded_only_when_it_is_trusted,
};
use rewinds::a_conversation_is_rewound_to_before_a_message;
use rules::{
    a_rule_that_is_set_holds_for_the_next_call_of_a_living_process,
    deny_first_holds_in_a_running_host,
};
use sessions::the_agents_own_clear_is_told_and_forgets_what_was_allowed;
use stage::{Agent, Listener, Stage, conversation, message, status, submit};

async fn a_message_is_answered(agent: &Agent) {
    let stage = Stage::new(agent).await;
    let host = stage.open();
    let id = conversation("conv-1");
    let sent = message(&stage, &id, &Script::new().say("hello there").prompt());
    let done = submit(&host, sent).await.unwrap();
    let mut listener = Listener::new(&host, &id).await;
    assert_eq!(listener.result().await.subtype, "success");
    listener.idle().await;
    assert_eq!(listener.texts(), ["hello there"]);
    listener.assert_dense();
    let first = listener.events.iter().find(|event| event.seq == done.seq);
    assert!(matches!(
        first.map(|event| &event.event),
        Some(ClaudeEvent::UserMessage(_))
    ));
    submit(
        &host,
        message(&stage, &id, &Script::new().say("again").prompt()),
    )
    .await
    .unwrap();
    listener.result().await;
    listener.idle().await;
    assert_eq!(listener.texts(), ["hello there", "again"]);
}

async fn a_turn_goes_on_when_the_host_dies_in_mid_stream(agent: &Agent) {
    let stage = Stage::new(agent).await;
    let host = stage.open();
    let id = conversation("conv-1");
    let script = Script::new().say("one two three four").gated_at("half", 1);
    let prompt = script
        .prompt()
        .replacen("\"say\":", "\"chunks\":4,\"say\":", 1);
    submit(&host, message(&stage, &id, &prompt)).await.unwrap();
    let mut listener = Listener::new(&host, &id).await;
    listener
        .until(|event| matches!(event, ClaudeEvent::Text(_)))
        .await;
    drop(host);
    drop(listener);
    stage.open_gate("half");
    let host = stage.reopen().await;
    let mut listener = Listener::new(&host, &id).await;
    listener.result().await;
    listener.idle().await;
    assert_eq!(listener.texts(), ["one two three four"]);
    listener.assert_dense();
    submit(
        &host,
        message(&stage, &id, &Script::new().say("and on").prompt()),
    )
    .await
    .unwrap();
    listener.result().await;
    assert_eq!(listener.texts(), ["one two three four", "and on"]);
}

async fn a_permission_waits_over_the_death_of_the_host(agent: &Agent) {
    let stage = Stage::new(agent).await;
    let host = stage.open();
    let id = conversation("conv-1");
    let file = stage.path("work/a.txt");
    let script = Script::new()
        .tool("Write", json!({"file_path": &file, "content": "written"}))
        .say("done");
    submit(&host, message(&stage, &id, &script.prompt()))
        .await
        .unwrap();
    let mut listener = Listener::new(&host, &id).await;
    let asked = listener.asked().await;
    assert_eq!(asked.tool_name, "Write");
    drop(host);
    drop(listener);
    let host = stage.reopen().await;
    assert_eq!(
        status(&host, &id).await.state,
        ConversationStatus::Permission
    );
    assert!(!file.exists(), "nothing runs without an answer");
    let mut listener = Listener::new(&host, &id).await;
    let answer =
        |decision| PermissionResponse::new(id.clone(), asked.tool_use_id.clone(), decision);
    submit(&host, answer(PermissionDecision::Allow))
        .await
        .unwrap();
    let late = submit(&host, answer(PermissionDecision::Deny))
        .await
        .unwrap_err();
    assert_eq!(late.error.code, ErrorCode::AlreadyAnswered);
    listener.result().await;
    listener.idle().await;
    assert_eq!(std::fs::read_to_string(file).unwrap(), "written");
    assert_eq!(listener.texts(), ["done"]);
    listener.assert_dense();
}

async fn a_question_waits_over_the_death_of_the_host(agent: &Agent) {
    let stage = Stage::new(agent).await;
    let host = stage.open();
    let id = conversation("conv-1");
    let question = json!({"questions": [{
        "question": "Which size?", "header": "Size", "multiSelect": false,
        "options": [{"label": "S", "description": "small"}, {"label": "L", "description": "large"}],
    }]});
    let script = Script::new()
        .tool("AskUserQuestion", question)
        .say("thanks");
    submit(&host, message(&stage, &id, &script.prompt()))
        .await
        .unwrap();
    let mut listener = Listener::new(&host, &id).await;
    let asked = listener
        .until(|event| matches!(event, ClaudeEvent::QuestionAsked(_)))
        .await;
    let ClaudeEvent::QuestionAsked(asked) = asked else {
        panic!("{asked:?}");
    };
    assert_eq!(asked.questions[0].question, "Which size?");
    drop(host);
    drop(listener);
    let host = stage.reopen().await;
    let mut listener = Listener::new(&host, &id).await;
    let answer_to = |hash: Option<String>| QuestionResponse {
        input_hash: hash,
        ..QuestionResponse::new(
            id.clone(),
            asked.tool_use_id.clone(),
            Answer::One("L".to_owned()),
        )
    };
    let other = answer_to(Some("another".to_owned()));
    let refused = submit(&host, other).await.unwrap_err();
    assert_eq!(refused.error.code, estelle_proto::ErrorCode::Conflict);
    let shown = asked.input_hash.clone();
    assert!(shown.is_some(), "an answer can be bound to what was shown");
    submit(&host, answer_to(shown)).await.unwrap();
    listener.result().await;
    listener.idle().await;
    assert_eq!(listener.texts(), ["thanks"]);
    let back = listener
        .events
        .iter()
        .filter_map(|event| returned_tool(&event.event))
        .map(|tool| tool.result.clone())
        .next();
    assert!(
        back.as_ref().is_some_and(|text| text.contains('L')),
        "{back:?}"
    );
}

async fn a_stop_ends_the_turn_and_the_process_goes_on(agent: &Agent) {
    let stage = Stage::new(agent).await;
    let host = stage.open();
    let id = conversation("conv-1");
    let script = Script::new().say("one two three four").gated_at("half", 1);
    let prompt = script
        .prompt()
        .replacen("\"say\":", "\"chunks\":4,\"say\":", 1);
    submit(&host, message(&stage, &id, &prompt)).await.unwrap();
    let mut listener = Listener::new(&host, &id).await;
    listener
        .until(|event| matches!(event, ClaudeEvent::Text(_)))
        .await;
    submit(&host, StopSession::new(id.clone())).await.unwrap();
    listener
        .until(|event| matches!(event, ClaudeEvent::Aborted(_)))
        .await;
    listener.idle().await;
    let pid = status(&host, &id).await.evidence.unwrap().pid;
    assert!(pid.is_some(), "the process lives");
    submit(
        &host,
        message(&stage, &id, &Script::new().say("after").prompt()),
    )
    .await
    .unwrap();
    listener.result().await;
    assert_eq!(listener.texts().last().map(String::as_str), Some("after"));
    assert_eq!(status(&host, &id).await.evidence.unwrap().pid, pid);
    let errors = listener
        .events
        .iter()
        .filter(|event| matches!(event.event, ClaudeEvent::Error(_)));
    assert_eq!(errors.count(), 0, "a stop is no failure");
}

async fn an_allowed_tool_runs_without_asking_and_a_denied_one_never(agent: &Agent) {
    let stage = Stage::new(agent).await;
    let host = stage.open();
    let id = conversation("conv-1");
    std::fs::write(stage.path("work/notes.txt"), "some notes").unwrap();
    let env = stage.path("work/.env");
    let script = Script::new()
        .tool("Read", json!({"file_path": stage.path("work/notes.txt")}))
        .tool("Write", json!({"file_path": &env, "content": "SECRET=1"}))
        .say("done");
    submit(&host, message(&stage, &id, &script.prompt()))
        .await
        .unwrap();
    let mut listener = Listener::new(&host, &id).await;
    listener.result().await;
    listener.idle().await;
    let tools: Vec<_> = listener
        .events
        .iter()
        .filter_map(|event| returned_tool(&event.event))
        .map(|tool| (tool.tool_name.clone(), tool.success, tool.result.clone()))
        .collect();
    assert_eq!(tools.len(), 2, "{tools:?}");
    assert!(tools[0].1 && tools[0].2.contains("some notes"), "{tools:?}");
    assert!(
        !tools[1].1 && tools[1].2.contains("Protected file"),
        "{tools:?}"
    );
    assert!(!env.exists());
    let asked = listener
        .events
        .iter()
        .any(|event| matches!(event.event, ClaudeEvent::PermissionAsked(_)));
    assert!(!asked, "rules answered both");
}

async fn a_picture_that_was_read_is_kept_with_its_bytes(agent: &Agent) {
    let picture = include_bytes!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../web/public/icon-192.png"
    ));
    let stage = Stage::new(agent).await;
    let host = stage.open();
    let id = conversation("conv-1");
    std::fs::write(stage.path("work/star.png"), picture).unwrap();
    let script = Script::new()
        .tool("Read", json!({"file_path": stage.path("work/star.png")}))
        .say("done");
    submit(&host, message(&stage, &id, &script.prompt()))
        .await
        .unwrap();
    let mut listener = Listener::new(&host, &id).await;
    listener.result().await;
    let mut returned = listener.events.iter();
    let event = returned
        .find(|event| returned_tool(&event.event).is_some())
        .unwrap();
    let tool = returned_tool(&event.event).unwrap();
    let named = tool.images.as_deref().unwrap_or_default();
    assert_eq!(named.len(), 1, "{tool:?}");
    assert_eq!(named[0].mime_type, "image/png");
    let bytes = event.full_images.as_deref().unwrap_or_default();
    let bytes = data_encoding::BASE64.decode(bytes[0].as_bytes()).unwrap();
    assert_eq!(named[0].size, bytes.len() as u64);
    assert!(
        bytes.starts_with(b"\x89PNG"),
        "the agent may have made it smaller"
    );
}

fn returned_tool(event: &ClaudeEvent) -> Option<&ToolComplete> {
    let ClaudeEvent::ToolComplete(tool) = event else {
        return None;
    };
    Some(tool)
}

macro_rules! on_all_agents {
    ($($scenario:ident),+ ; only real: $($real:ident),+ $(,)?) => {
        mod simulated_cli {
            use super::*;

            $(#[tokio::test(flavor = "multi_thread")]
            async fn $scenario() {
                super::$scenario(&Agent::Simulator).await;
            })+
        }

        on_real_agents!($($scenario),+, $($real),+);
    };
}

macro_rules! on_real_agents {
    ($($scenario:ident),+ $(,)?) => {
        mod real_197 {
            use super::*;

            $(#[tokio::test(flavor = "multi_thread")]
            async fn $scenario() {
                super::$scenario(&Agent::Real(RealCli::v197().unwrap())).await;
            })+
        }

        mod real_325 {
            use super::*;

            $(#[tokio::test(flavor = "multi_thread")]
            async fn $scenario() {
                super::$scenario(&Agent::Real(RealCli::v325().unwrap())).await;
            })+
        }
    };
}

on_all_agents!(
    a_message_is_answered,
    a_picture_that_was_read_is_kept_with_its_bytes,
    half_a_character_is_asked_about_in_every_mode,
    a_turn_goes_on_when_the_host_dies_in_mid_stream,
    a_permission_waits_over_the_death_of_the_host,
    a_question_waits_over_the_death_of_the_host,
    a_stop_ends_the_turn_and_the_process_goes_on,
    an_allowed_tool_runs_without_asking_and_a_denied_one_never,
    a_stopped_process_is_resumed_with_its_history,
    a_session_that_is_gone_is_begun_afresh_once,
    a_turn_costs_the_same_in_every_process_of_its_session,
    a_killed_agent_is_reported_and_not_restarted,
    a_new_session_forgets_what_was_said,
    the_agents_own_clear_is_told_and_forgets_what_was_allowed,
    deny_first_holds_in_a_running_host,
    a_rule_that_is_set_holds_for_the_next_call_of_a_living_process,
    a_queued_message_waits_for_the_end_of_the_turn,
    a_queued_message_can_be_taken_back_until_the_agent_has_it,
    an_interrupting_message_ends_the_turn_first,
    a_message_that_is_sent_twice_runs_once,
    a_prompt_that_begins_with_a_tag_is_answered,
    a_tool_of_a_client_is_called_once_over_the_death_of_the_host,
    a_mode_can_change_in_mid_session,
    an_approved_plan_ends_planning,
    a_new_session_drops_what_waits_in_the_agent_and_says_so,
    a_shutdown_keeps_what_waits_in_the_agent_for_the_next_process,
    a_stop_takes_what_waits_in_the_agent_with_it,
    a_message_that_no_pipe_holds_can_be_read_and_its_neighbours_cannot,
    a_copy_goes_on_from_before_a_message,
    a_conversation_is_rewound_to_before_a_message,
    a_sub_agent_may_ask_after_its_turn_has_ended,
    a_session_belongs_to_one_conversation_at_a_time,
    an_elicitation_is_answered_once_over_the_death_of_the_host,
    an_elicitation_can_be_declined,
    a_stop_leaves_no_elicitation_open,
    o13_p17_words_about_an_approval_are_only_words,
    what_was_done_can_be_proven;
    only real:
    a_forged_allow_is_noticed,
    a_forged_interruption_is_noticed,
    forged_words_are_noticed,
    forged_words_without_an_id_are_noticed,
    forged_words_that_pretend_to_be_the_agents_own_are_noticed,
    what_a_folder_brings_is_loaded_only_when_it_is_trusted,
    trust_reaches_a_process_that_lives,
    a_stop_ends_what_goes_on_in_the_background,
    an_agent_that_answers_for_itself_is_stopped,
    g3_a_question_that_nobody_answers_lets_nothing_run,
);
