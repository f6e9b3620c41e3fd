//! Sessions and queries against a CLI played by hand.

use futures_util::StreamExt;
use serde_json::{Value, json};

use super::start::connect;
use super::*;
use crate::engine::peer::Peer;
use crate::framing::Frame;
use crate::options::Options;
use crate::transport::Exit;
use crate::wire::{Body, Message, PermissionResult, UserMessage};

/// A CLI that has answered `initialize`, and the session on it.
async fn session(options: Options) -> (Session, Peer) {
    let (link, mut peer) = Peer::link();
    let session = Session::over(link, &options);
    peer.answer_next(json!({"commands": [{"name": "compact"}], "pid": 7}))
        .await;
    (session, peer)
}

async fn running(prompt: impl Into<Prompt>) -> (Query, Peer) {
    let (link, mut peer) = Peer::link();
    let query = Query::run(connect(link, &Options::new()), prompt.into());
    peer.answer_next(json!({})).await;
    (query, peer)
}

fn system(subtype: &str, fields: Value) -> Value {
    let mut line = json!({"type": "system", "subtype": subtype, "uuid": "u", "session_id": "s"});
    let Value::Object(fields) = fields else {
        panic!("an object")
    };
    line.as_object_mut().expect("an object").extend(fields);
    line
}

fn init() -> Value {
    system(
        "init",
        json!({"apiKeySource": "none", "claude_code_version": "2.1.325", "cwd": "/w", "tools": [], "mcp_servers": [],
            "model": "m", "permissionMode": "default", "slash_commands": [], "output_style": "default", "skills": [],
            "plugins": []}),
    )
}

fn result(text: &str) -> Value {
    json!({"type": "result", "subtype": "success", "is_error": false, "duration_ms": 1, "duration_api_ms": 1,
        "num_turns": 1, "result": text, "stop_reason": "end_turn", "session_id": "s", "total_cost_usd": 0.1,
        "usage": {}, "modelUsage": {}, "permission_denials": [], "uuid": "u"})
}

async fn next_kind(query: &mut Query) -> String {
    query
        .next()
        .await
        .expect("a message")
        .expect("no error")
        .kind()
        .to_string()
}

/// The query ends the input, the CLI exits, nothing more comes.
async fn ends(query: &mut Query, peer: &mut Peer) {
    let exit = async {
        assert!(peer.input_ended().await, "something was sent instead");
        peer.exit(Exit::Code(0));
    };
    let both = async { tokio::join!(query.next(), exit) };
    // The clock is paused, so this passes at once when nothing else can happen.
    let ended = tokio::time::timeout(std::time::Duration::from_hours(1), both).await;
    let (rest, ()) = ended.expect("the query goes on for ever");
    assert!(rest.is_none());
}

#[tokio::test]
async fn a_message_carries_a_uuid_and_the_caller_learns_it() {
    let (session, mut peer) = session(Options::new().verbatim_prompts(true)).await;
    let uuid = session.send("hello").await.expect("sent");
    let line = peer.reads().await;
    assert_eq!(line["uuid"], uuid.as_str());
    assert_eq!(
        line["message"],
        json!({"role": "user", "content": [{"type": "text", "text": "hello"}]})
    );
    assert_eq!(line["client_composed"], true);
}

#[tokio::test]
async fn a_raw_line_that_would_end_the_cli_is_refused() {
    let (session, mut peer) = session(Options::new()).await;
    for line in ["null", "[1]", " ", "{\"type\":"] {
        assert!(session.send_raw(line).await.is_err(), "{line}");
    }
    session
        .send_raw("{\"type\":\n\"keep_alive\"}")
        .await
        .expect("sent");
    assert_eq!(peer.reads().await, json!({"type": "keep_alive"}));
}

#[tokio::test]
async fn the_introduction_is_kept_for_later_questions() {
    let (session, _peer) = session(Options::new()).await;
    assert_eq!(
        session.supported_commands().await.expect("ready")[0].name,
        "compact"
    );
    assert_eq!(session.ready().await.expect("ready").pid, Some(7));
}

#[tokio::test]
async fn a_second_introduction_tells_what_waits_for_an_answer() {
    let (session, mut peer) = session(Options::new()).await;
    let answer = async {
        let asked = peer.reads().await;
        assert_eq!(asked["request"]["subtype"], "initialize");
        let open = |id: &str| json!([{"type": "control_request", "request_id": id, "request": {"subtype": "novel"}}]);
        let response = json!({"subtype": "success", "request_id": asked["request_id"], "response": {},
            "pending_permission_requests": open("p"), "pending_user_dialog_requests": open("d"),
            "pending_elicitation_requests": open("e")});
        peer.print(json!({"type": "control_response", "response": response}))
            .await;
    };
    let (introduced, ()) = tokio::join!(session.reinitialize(), answer);
    let introduced = introduced.expect("an answer");
    let ids = [
        introduced.pending_permission_requests,
        introduced.pending_user_dialog_requests,
        introduced.pending_elicitation_requests,
    ]
    .map(|open| open[0].request_id.clone());
    assert_eq!(ids, ["p", "d", "e"]);
}

#[tokio::test]
async fn a_refused_request_says_what_the_cli_said() {
    let (session, mut peer) = session(Options::new()).await;
    let refuse = async {
        let asked = peer.reads().await;
        let response = json!({"subtype": "error", "request_id": asked["request_id"], "error": "no such mode", "error_code": "invalid_mode"});
        peer.print(json!({"type": "control_response", "response": response}))
            .await;
    };
    let (answer, ()) = tokio::join!(session.set_permission_mode("bogus".into()), refuse);
    assert_eq!(
        answer.expect_err("refused").to_string(),
        "the CLI refused `set_permission_mode`: no such mode"
    );
}

#[tokio::test]
async fn a_permission_is_decided_by_the_callback() {
    let options = Options::new().can_use_tool(|request, _| async move {
        if request.tool_name == "Bash" {
            request.allow()
        } else {
            PermissionResult::deny("not this one")
        }
    });
    let (_session, mut peer) = session(options).await;
    for (tool, expected) in [
        (
            "Bash",
            json!({"behavior": "allow", "updatedInput": {"command": "ls"}}),
        ),
        (
            "Write",
            json!({"behavior": "deny", "message": "not this one"}),
        ),
    ] {
        let request = json!({"subtype": "can_use_tool", "tool_name": tool, "input": {"command": "ls"}, "tool_use_id": "t"});
        peer.print(json!({"type": "control_request", "request_id": "p", "request": request}))
            .await;
        assert_eq!(peer.reads().await["response"]["response"], expected);
    }
}

#[tokio::test]
async fn without_a_permission_callback_nothing_is_allowed() {
    let (_session, mut peer) = session(Options::new()).await;
    let request =
        json!({"subtype": "can_use_tool", "tool_name": "Bash", "input": {}, "tool_use_id": "t"});
    peer.print(json!({"type": "control_request", "request_id": "p", "request": request}))
        .await;
    assert_eq!(peer.reads().await["response"]["subtype"], "error");
}

#[tokio::test]
async fn an_unexpected_end_is_reported_once() {
    let (mut session, mut peer) = session(Options::new()).await;
    peer.exit(Exit::Code(7));
    let error = session
        .next()
        .await
        .expect("an item")
        .expect_err("an error");
    assert_eq!(
        error.to_string(),
        "the CLI ended unexpectedly with exit code 7: its last words"
    );
    assert!(session.next().await.is_none());
}

#[tokio::test]
async fn an_end_without_an_answer_is_reported_even_if_the_exit_code_is_good() {
    let (mut query, mut peer) = running("hello").await;
    peer.exit(Exit::Code(0));
    let end = query.next().await.expect("the end is reported");
    assert!(
        matches!(&end, Err(StreamError::Exited(end)) if end.exit == Exit::Code(0)),
        "{end:?}"
    );
    assert!(query.next().await.is_none());
}

#[tokio::test]
async fn a_failed_turn_is_not_reported_a_second_time_by_the_exit_code() {
    let (mut session, mut peer) = session(Options::new()).await;
    let mut failed = result("API Error: 500");
    failed["is_error"] = true.into();
    peer.print(failed).await;
    peer.exit(Exit::Code(1));
    assert!(matches!(
        session.next().await,
        Some(Ok(Message {
            body: Body::Result(_),
            ..
        }))
    ));
    assert!(session.next().await.is_none());
}

#[tokio::test]
async fn a_failed_turn_does_not_hide_a_crash() {
    let mut failed = result("");
    failed["is_error"] = true.into();
    // By a signal after it, and by a code in the turn behind it.
    for (lines, exit) in [
        (vec![failed.clone()], Exit::Signal(9)),
        (vec![failed, init()], Exit::Code(1)),
    ] {
        let (mut session, mut peer) = session(Options::new()).await;
        for line in &lines {
            peer.print(line.clone()).await;
        }
        peer.exit(exit);
        for _ in lines {
            assert!(matches!(session.next().await, Some(Ok(_))));
        }
        let end = session.next().await.expect("the end is reported");
        assert!(
            matches!(&end, Err(StreamError::Exited(end)) if end.exit == exit),
            "{end:?}"
        );
    }
}

#[tokio::test]
async fn a_stream_stops_at_each_result() {
    let (mut session, peer) = session(Options::new()).await;
    for line in [init(), result("one"), init(), result("two")] {
        peer.print(line).await;
    }
    for expected in ["one", "two"] {
        let turn: Vec<_> = session.stream().collect().await;
        let Some(Ok(Message {
            body: Body::Result(last),
            ..
        })) = turn.last()
        else {
            panic!("{turn:?}")
        };
        assert_eq!((turn.len(), last.text()), (2, expected.to_owned()));
    }
}

#[tokio::test(start_paused = true)]
async fn a_query_ends_the_input_after_its_only_result() {
    let (mut query, mut peer) = running("hi").await;
    peer.reads().await;
    peer.print(init()).await;
    peer.print(result("hello")).await;
    assert_eq!(next_kind(&mut query).await, "SystemInit");
    assert_eq!(next_kind(&mut query).await, "ResultSuccess");
    ends(&mut query, &mut peer).await;
}

#[tokio::test(start_paused = true)]
async fn a_query_outlives_its_first_result_while_background_work_runs() {
    let (mut query, mut peer) = running("hi").await;
    peer.reads().await;
    let first = [
        init(),
        system("task_started", json!({"task_id": "b1", "description": "d"})),
        result("started"),
    ];
    let later = [
        system(
            "task_notification",
            json!({"task_id": "b1", "status": "completed", "output_file": "", "summary": ""}),
        ),
        init(),
        result("done"),
    ];
    for line in first {
        peer.print(line).await;
        next_kind(&mut query).await;
    }
    // An hour passes while nothing is printed; the input must stay open.
    let waited = tokio::time::timeout(std::time::Duration::from_hours(1), query.next()).await;
    assert!(waited.is_err(), "the query ended");
    assert!(!peer.input_has_ended());
    for line in later {
        peer.print(line).await;
        next_kind(&mut query).await;
    }
    ends(&mut query, &mut peer).await;
}

#[tokio::test(start_paused = true)]
async fn prompts_that_come_later_keep_the_input_open() {
    let (prompts, source) = tokio::sync::mpsc::channel::<UserMessage>(4);
    let source = futures_util::stream::unfold(source, |mut source| async move {
        Some((source.recv().await?, source))
    });
    let (mut query, mut peer) = running(Prompt::stream(source)).await;
    for text in ["one", "two"] {
        prompts.send(text.into()).await.expect("taken");
        assert_eq!(peer.reads().await["message"]["content"][0]["text"], text);
        peer.print(result(text)).await;
        next_kind(&mut query).await;
    }
    let waited = tokio::time::timeout(std::time::Duration::from_mins(1), query.next()).await;
    assert!(waited.is_err(), "the query ended before its prompts did");
    drop(prompts);
    ends(&mut query, &mut peer).await;
}

#[tokio::test(start_paused = true)]
async fn a_message_sent_while_a_query_settles_keeps_the_input_open() {
    let (mut query, mut peer) = running("hi").await;
    peer.reads().await;
    for line in [
        init(),
        system("task_started", json!({"task_id": "b1", "description": "d"})),
        system(
            "task_notification",
            json!({"task_id": "b1", "status": "completed"}),
        ),
        result("one"),
    ] {
        peer.print(line).await;
        next_kind(&mut query).await;
    }
    let handle = query.handle().clone();
    let inject = async {
        tokio::time::advance(quiet::SETTLE / 2).await;
        handle.send("and this").await.expect("sent");
        peer.reads().await;
    };
    let hour = std::time::Duration::from_hours(1);
    let (waited, ()) = tokio::join!(tokio::time::timeout(hour, query.next()), inject);
    assert!(waited.is_err(), "the query ended");
    assert!(!peer.input_has_ended());
}

#[tokio::test(start_paused = true)]
async fn tasks_that_are_no_work_do_not_keep_a_query_open() {
    let (mut query, mut peer) = running("hi").await;
    peer.reads().await;
    let watcher = json!({"task_id": "w", "description": "d", "ambient": true});
    for line in [
        init(),
        system("background_tasks_changed", json!({"tasks": [watcher]})),
        system("task_started", watcher.clone()),
        result("one"),
    ] {
        peer.print(line).await;
        next_kind(&mut query).await;
    }
    ends(&mut query, &mut peer).await;
}

#[tokio::test(start_paused = true)]
async fn a_query_whose_introduction_fails_sends_no_prompt_and_says_why() {
    let refusal = "the CLI refused `initialize`: no such agent";
    let silence = "the CLI did not answer `initialize` within 60s";
    for expected in [refusal, silence] {
        let (link, mut peer) = Peer::link();
        let mut query = Query::run(connect(link, &Options::new()), "hi".into());
        let asked = peer.reads().await;
        if expected == refusal {
            let response = json!({"subtype": "error", "request_id": asked["request_id"], "error": "no such agent"});
            peer.print(json!({"type": "control_response", "response": response}))
                .await;
        }
        let Some(Err(StreamError::NotReady(reason))) = query.next().await else {
            panic!("no reason")
        };
        assert_eq!(reason.to_string(), expected);
        assert!(query.next().await.is_none());
        assert!(peer.stops.recv().await.is_some(), "the process lives on");
        peer.exit(Exit::Code(143));
        if expected == silence {
            assert_eq!(peer.reads().await["type"], "control_cancel_request");
        }
        assert!(peer.input_ended().await, "a prompt was sent");
    }
}

#[tokio::test(start_paused = true)]
async fn dropping_a_query_whose_prompts_never_end_ends_the_process() {
    let (query, mut peer) = running(Prompt::stream(futures_util::stream::pending())).await;
    drop(query);
    assert!(peer.stops.recv().await.is_some());
}

#[tokio::test(start_paused = true)]
async fn closing_asks_first() {
    let (session, mut peer) = session(Options::new()).await;
    let polite = async {
        assert_eq!(peer.reads().await["request"]["subtype"], "end_session");
        peer.exit(Exit::Code(0));
    };
    let (end, ()) = tokio::join!(session.close(), polite);
    assert_eq!(end.exit, Exit::Code(0));
}

#[tokio::test(start_paused = true)]
async fn the_abort_token_ends_process_and_messages() {
    let abort = tokio_util::sync::CancellationToken::new();
    let (mut session, mut peer) = session(Options::new().abort(abort.clone())).await;
    abort.cancel();
    assert!(peer.stops.recv().await.is_some());
    peer.exit(Exit::Code(143));
    assert!(matches!(
        session.next().await,
        Some(Err(StreamError::Aborted))
    ));
    assert!(session.next().await.is_none());
}

#[tokio::test]
async fn raw_lines_come_as_printed_and_may_be_mixed_with_messages() {
    let (mut session, peer) = session(Options::new()).await;
    let novel = json!({"type": "novel", "x": 1.0});
    peer.print(novel.clone()).await;
    peer.print(init()).await;
    let frame = session
        .next_frame()
        .await
        .expect("a frame")
        .expect("no end");
    assert_eq!(frame, Frame::Line(novel.to_string().into()));
    let message = session.next().await.expect("a message").expect("no end");
    assert_eq!(message.kind().to_string(), "SystemInit");
}

#[tokio::test]
async fn a_failed_turn_read_as_raw_lines_explains_the_exit_too() {
    let (mut session, mut peer) = session(Options::new()).await;
    let mut failed = result("");
    failed["is_error"] = json!(true);
    peer.print(failed).await;
    peer.exit(Exit::Code(1));
    assert!(matches!(
        session.next_frame().await,
        Some(Ok(Frame::Line(_)))
    ));
    assert!(session.next_frame().await.is_none());
}

#[tokio::test]
async fn a_permission_found_after_a_restart_can_be_answered() {
    let (session, mut peer) = session(Options::new()).await;
    let answer = PermissionResult::deny("not now");
    session
        .answer_permission("p7", &answer)
        .await
        .expect("sent");
    let expected = json!({"subtype": "success", "request_id": "p7",
        "response": {"behavior": "deny", "message": "not now"}});
    assert_eq!(
        peer.reads().await,
        json!({"type": "control_response", "response": expected})
    );
}

#[tokio::test]
async fn the_session_id_is_that_of_the_last_turn() {
    let (mut session, peer) = session(Options::new()).await;
    assert_eq!(session.session_id(), None);
    let mut cleared = init();
    cleared["session_id"] = "after clear".into();
    for (line, expected) in [(init(), "s"), (cleared, "after clear")] {
        peer.print(line).await;
        session.next().await.expect("a message").expect("no error");
        assert_eq!(session.session_id().as_deref(), Some(expected));
    }
}
