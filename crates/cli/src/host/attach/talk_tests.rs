//! Conversations with a host that is not there: what it says, what is typed, and what follows.

use super::*;
use crate::chat::piece::plain;

fn id() -> ConversationId {
    ConversationId::parse("c").unwrap()
}

fn place(is_new: bool) -> Place {
    Place {
        folder: PathText::parse("/srv").ok(),
        workspace: WorkspaceId::parse("w").ok(),
        is_new,
    }
}

/// A conversation that was attached to and has no history.
fn attached(writer: Writer) -> Talk {
    let mut talk = Talk::new(id(), place(false), Past::End, writer);
    hear(
        &mut talk,
        &[r#"{"type":"request_result","success":true}"#, IDLE],
    );
    talk
}

const IDLE: &str = r#"{"type":"snapshot","sessionId":"c","epoch":1,"seq":0,"status":
    {"sessionId":"c","state":"idle","claudeSessionId":null,"pendingPermission":null,"startTime":null}}"#;
const BASH: &str = r#"{"type":"permission_request","sessionId":"c","toolUseId":"t1","toolName":"Bash",
    "toolInput":{"command":"ls\nrm x"},"inputHash":"seen","reason":"no rule"}"#;
const DONE: &str = r#"{"type":"request_result","success":true}"#;

fn event(event: &str) -> String {
    format!(r#"{{"type":"claude_event","sessionId":"c","event":{event}}}"#)
}

fn told(effects: &[Effect]) -> String {
    let one = |effect: &Effect| match effect {
        Effect::Show(pieces) => plain(pieces),
        Effect::Send(command) => format!("[{}]\n", command.kind()),
        Effect::Leave => "[leave]\n".to_owned(),
    };
    effects.iter().map(one).collect()
}

fn hear(talk: &mut Talk, lines: &[&str]) -> String {
    let heard = lines
        .iter()
        .flat_map(|line| talk.heard(serde_json::from_str(line).unwrap()));
    told(&heard.collect::<Vec<_>>())
}

fn sent(effects: Vec<Effect>) -> PylonToHost {
    let mut sent = effects.into_iter().filter_map(|effect| match effect {
        Effect::Send(command) => Some(*command),
        Effect::Show(_) | Effect::Leave => None,
    });
    sent.next().expect("something is sent")
}

#[test]
fn text_is_shown_once_however_it_comes() {
    let mut talk = attached(Writer::Person);
    let pieces = [
        event(r#"{"type":"text","content":"Hel","at":0}"#),
        event(r#"{"type":"text","content":"lo","at":3}"#),
        event(r#"{"type":"text","content":"lo","at":3}"#),
        event(r#"{"type":"textComplete","text":"Hello there"}"#),
        event(r#"{"type":"textComplete","text":"Not streamed"}"#),
    ];
    let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
    assert_eq!(hear(&mut talk, &pieces), "\nHello there\n\nNot streamed\n");
}

#[test]
fn a_later_snapshot_shows_what_of_the_text_was_not_seen() {
    let mut talk = attached(Writer::Person);
    let snapshot = IDLE.replace("\"state\"", "\"partialText\":\"Hello\",\"state\"");
    let lines = [
        event(r#"{"type":"text","content":"Hel","at":0}"#),
        snapshot.clone(),
        snapshot,
        event(r#"{"type":"text","content":" there","at":5}"#),
        event(r#"{"type":"textComplete","text":"Hello there"}"#),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(hear(&mut talk, &lines), "\nHello there\n");
}

#[test]
fn the_end_of_the_history_is_shown_when_it_is_complete() {
    let mut talk = Talk::new(id(), place(false), Past::End, Writer::Person);
    let old: Vec<String> = (0..100)
        .map(|n| event(&format!(r#"{{"type":"error","error":"e{n}"}}"#)))
        .collect();
    let old: Vec<&str> = old.iter().map(String::as_str).collect();
    assert_eq!(hear(&mut talk, &old), "");
    assert!(!talk.wants_line() && talk.prompt().is_none());
    let shown = hear(&mut talk, &[IDLE, DONE]);
    assert!(
        shown.starts_with("✗ e40\n") && shown.ends_with("✗ e99\n"),
        "{shown}"
    );
    assert_eq!((talk.wants_line(), talk.prompt()), (true, Some("› ")));
}

#[test]
fn a_permission_shows_all_of_the_call_and_takes_an_answer() {
    let mut talk = attached(Writer::Person);
    let shown = hear(&mut talk, &[BASH]);
    assert!(
        shown.contains("ls\n") && shown.contains("rm x\n") && shown.contains("no rule"),
        "{shown}"
    );
    assert_eq!(hear(&mut talk, &[BASH]), "", "it is asked once");
    assert_eq!(talk.prompt(), Some("Allow? y/a/n › "));
    assert_eq!(told(&talk.typed("perhaps")).lines().count(), 1);
    let PylonToHost::PermissionResponse(answer) = sent(talk.typed("n: too dangerous")) else {
        panic!("an answer")
    };
    assert_eq!(answer.decision.as_str(), "deny");
    assert_eq!(answer.message.as_deref(), Some("too dangerous"));
    assert_eq!(answer.input_hash.as_deref(), Some("seen"));
    assert_eq!(talk.prompt(), Some("› "));
}

#[test]
fn a_decision_that_is_answered_elsewhere_goes_away() {
    let mut talk = attached(Writer::Person);
    hear(&mut talk, &[BASH]);
    let answered = event(r#"{"type":"decisionAnswered","toolUseId":"t1","state":"answered"}"#);
    assert_eq!(
        hear(&mut talk, &[&answered]),
        "This was answered elsewhere.\n"
    );
    assert_eq!(talk.prompt(), Some("› "));
}

#[test]
fn questions_are_answered_one_after_the_other() {
    let mut talk = attached(Writer::Person);
    let ask = r#"{"type":"question_request","sessionId":"c","toolUseId":"q","inputHash":"shown","questions":[
        {"question":"Which?","header":"h","multiSelect":false,"options":[{"label":"A","description":"a"},{"label":"B","description":"b"}]},
        {"question":"More?","header":"h","multiSelect":true,"options":[{"label":"C","description":"c"},{"label":"D","description":"d"}]}]}"#;
    assert!(hear(&mut talk, &[ask]).contains("1  A  a"));
    assert_eq!(
        told(&talk.typed("3")),
        "Type the number of an option, or an answer of your own.\n"
    );
    assert!(told(&talk.typed("2")).contains("More?"));
    let PylonToHost::QuestionResponse(answer) = sent(talk.typed("1, 2")) else {
        panic!("an answer")
    };
    assert_eq!(
        serde_json::to_string(&answer.answer).unwrap(),
        r#"["B",["C","D"]]"#
    );
    let bound = answer.input_hash.as_deref();
    assert_eq!(bound, Some("shown"), "an answer to what was shown");
}

#[test]
fn a_pipe_waits_for_the_end_of_each_turn() {
    let mut talk = attached(Writer::Pipe);
    assert_eq!(told(&talk.typed("hi")), "› hi\n[send_message]\n");
    let working = event(r#"{"type":"state","state":"working"}"#);
    let idle = event(r#"{"type":"state","state":"idle"}"#);
    hear(&mut talk, &[DONE, &idle, &working]);
    assert!(!talk.wants_line());
    hear(&mut talk, &[BASH]);
    assert!(talk.wants_line(), "the next line is the answer");
    talk.typed("y");
    let end = r#"{"type":"result","subtype":"success","duration_ms":5,"total_cost_usd":0.1,"num_turns":1,
        "usage":{"inputTokens":1,"outputTokens":1,"cacheReadInputTokens":0,"cacheCreationInputTokens":0}}"#;
    assert_eq!(told(&talk.lines_over()), "");
    let told = hear(&mut talk, &[DONE, &event(end), &idle]);
    assert!(told.ends_with("[leave]\n"), "{told}");
}

#[test]
fn a_new_conversation_is_followed_once_it_exists() {
    let mut talk = Talk::new(id(), place(true), Past::End, Writer::Person);
    assert_eq!(talk.prompt(), Some("› "));
    let PylonToHost::SendMessage(message) = sent(talk.typed("hi")) else {
        panic!("a message")
    };
    assert_eq!(message.payload.working_dir.as_str(), "/srv");
    assert_eq!(hear(&mut talk, &[DONE]), "[subscribe]\n");
    let own = message.payload.client_message_id.unwrap();
    let echo = event(&format!(
        r#"{{"type":"userMessage","content":"hi","timestamp":1,"clientMessageId":"{own}"}}"#
    ));
    assert_eq!(
        hear(&mut talk, &[&echo, IDLE]),
        "",
        "what was typed is not shown again"
    );
}

#[test]
fn ctrl_c_stops_a_turn_and_leaves_when_there_is_none() {
    let mut talk = attached(Writer::Person);
    talk.typed("hi");
    assert_eq!(told(&talk.interrupted()), "[stop_session]\n");
    let mut idle = attached(Writer::Person);
    assert_eq!(told(&idle.interrupted()), "[leave]\n");
}

#[test]
fn a_refusal_is_shown_and_the_prompt_comes_back() {
    let mut talk = attached(Writer::Person);
    talk.typed("hi");
    let refused = r#"{"type":"request_result","success":false,"error":"the folder is gone","errorCode":"bad_path"}"#;
    assert_eq!(hear(&mut talk, &[refused]), "✗ the folder is gone\n");
    assert_eq!(talk.prompt(), Some("› "));
}
