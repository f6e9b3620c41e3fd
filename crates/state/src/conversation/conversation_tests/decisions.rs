//! Decisions, calls of our own tools, and what is not believed of the journal.

use estelle_proto::{Author, DeviceKey};

use super::*;
use crate::decisions::By;

#[test]
fn a_call_belongs_to_the_client_that_claimed_it_first() {
    let mut stage = Stage::in_a_turn();
    let (one, other) = (client("one"), client("other"));
    let at = Timestamp(99);
    assert_eq!(
        stage.live.claim(at, "c1", &one),
        Err(RefuseClaim::Unknown),
        "nobody called"
    );
    check(&mut stage, "calls c1 =>");
    assert_eq!(
        stage.live.claim(at, "c1", &one),
        Err(RefuseClaim::Unknown),
        "nobody was offered it"
    );
    let mut entries = vec![stage.live.call(at, "c1".to_owned(), None).expect("begun")];
    let claimed = stage.live.claim(at, "c1", &one);
    entries.extend(claimed.expect("the first one has it"));
    assert_eq!(entries.len(), 2);
    assert_eq!(stage.live.claim(at, "c1", &other), Err(RefuseClaim::Taken));
    assert_eq!(
        stage.live.claim(at, "c1", &one),
        Ok(None),
        "it still has it"
    );
    let holder = stage
        .live
        .open_calls()
        .next()
        .and_then(|(_, call)| call.claim.clone());
    assert_eq!(holder, Some(one.clone()));
    let answer = stage
        .live
        .call(at, "c1".to_owned(), Some("done".to_owned()));
    assert!(answer.is_some());
    assert_eq!(
        stage.live.claim(at, "c1", &one),
        Err(RefuseClaim::Unknown),
        "it is done"
    );
}

fn client(name: &str) -> ClientId {
    ClientId::parse(name).expect("an id")
}

#[test]
fn what_is_asked_is_shown_answered_and_dealt_with() {
    let mut stage = Stage::in_a_turn();
    check(
        &mut stage,
        "asks t1     =>
         due         => permission_request, permission
         allow t1    => decisionAnswered, working
         allow t1    => refused: this was already answered
         returned t1 => toolComplete
         allow t1    => refused: this was already answered
         ended       => idle",
    );
}

#[test]
fn a_question_that_goes_away_disappears_from_screens() {
    let mut stage = Stage::in_a_turn();
    check(
        &mut stage,
        "asks t1      =>
         due          => permission_request, permission
         withdraws t1 => decisionAnswered, working
         asks t2      =>
         due          => permission_request, permission
         returned t2  => toolComplete, decisionAnswered, working
         allow t2     => refused: this was already answered",
    );
}

#[test]
fn what_a_process_asked_is_void_when_it_is_gone() {
    let mut stage = Stage::in_a_turn();
    check(
        &mut stage,
        "asks t1  =>
         due      => permission_request, permission
         crash    => decisionAnswered, claudeAborted, error, idle
         allow t1 => refused: the process that asked is gone",
    );
}

#[test]
fn a_question_of_the_host_outlives_runs_and_a_host_that_died_before_showing_it() {
    let mut stage = Stage::in_a_turn();
    let asked = stage
        .live
        .ask(Timestamp(50), request("trust"), "a new folder".to_owned());
    check(&mut stage, "crash => claudeAborted, error");
    assert_eq!(stage.live.status(), ConversationStatus::Permission);

    let (mut half, began) = Conversation::begin(
        Timestamp(0),
        stage.live.id().clone(),
        Epoch(1),
        Generation(0),
    );
    half.apply(&asked[0]);
    assert!(
        matches!(half.due(), Some(Due::Judge(key)) if key.generation == Generation(0)),
        "it is shown by the next host"
    );
    assert!(began.events.is_empty());
}

#[test]
fn a_second_request_about_a_call_is_refused_and_not_left_waiting() {
    let mut stage = Stage::in_a_turn();
    check(&mut stage, "asks t1 =>");
    let again = Request {
        request_id: "again".to_owned(),
        ..request("t1")
    };
    let stretch = Stretch {
        generation: Generation(1),
        from: 0,
        to: 0,
        hash: String::new(),
        open_from: 0,
        reader: 1,
        seen: vec![Seen::Asked(Box::new(again))],
    };
    let _ = stage
        .live
        .read(Timestamp(99), stretch, Vec::new(), str::to_owned);
    let refused = [Unconfirmed::Refusal("again", "can_use_tool")];
    assert_eq!(stage.live.unconfirmed(), refused);
}

#[test]
fn an_unknown_decision_has_no_answer() {
    let stage = Stage::new();
    let id = ToolUseId::parse("t9").expect("an id");
    assert_eq!(stage.live.find_decision(&id), Err(RefuseAnswer::Unknown));
}

#[test]
fn allowing_all_of_a_form_or_a_dialog_allows_no_tool_of_that_name() {
    let kinds = [
        DecisionKind::Elicitation,
        DecisionKind::Dialog,
        DecisionKind::Plan,
        DecisionKind::Question,
    ];
    for (kind, is_remembered) in kinds
        .map(|kind| (kind, false))
        .into_iter()
        .chain([(DecisionKind::Permission, true)])
    {
        let mut stage = Stage::in_a_turn();
        let asked = Request {
            kind: kind.clone(),
            ..request("c1")
        };
        let seen = Seen::Asked(Box::new(asked));
        let at = stage.now();
        let read = stage
            .live
            .read(at, stretch(seen), Vec::new(), str::to_owned);
        assert_eq!(read.1, None);
        let key = stage.key("c1");
        let all = PermissionDecision::AllowAll;
        let answered = stage.live.answer(at, &key, None, all, "yes".to_owned());
        assert!(answered.is_ok());
        let remembered = stage.live.remembered().contains("Bash");
        assert_eq!(remembered, is_remembered, "{kind:?}");
    }
}

#[test]
fn a_second_reply_to_a_request_of_ours_is_somebody_elses_doing() {
    let mut stage = Stage::in_a_turn();
    let at = stage.now();
    let requests = [("hello", Control::Initialize), ("stop", Control::Interrupt)];
    for (id, control) in requests {
        let asked = stage.live.request(at, id.to_owned(), control);
        assert!(asked.is_some());
    }
    let mut reply = |id: &str| {
        let seen = Seen::Response {
            request_id: id.to_owned(),
            digest: String::new(),
            error: None,
            cancelled: false,
        };
        let read = stage
            .live
            .read(at, stretch(seen), Vec::new(), str::to_owned);
        read.1
    };
    assert_eq!(reply("hello"), None);
    assert_eq!(reply("hello"), None, "another host may have greeted again");
    assert_eq!(reply("stop"), None);
    let request_id = "stop".to_owned();
    assert_eq!(reply("stop"), Some(Suspicion::Control { request_id }));
}

#[test]
fn an_agent_whose_plan_was_approved_no_longer_plans() {
    let plan = PermissionMode::Plan;
    let mut stage = Stage::new();
    let change = Change {
        mode: Some(plan.clone()),
        ..Change::default()
    };
    assert!(stage.live.change(Timestamp(1), change).is_some());
    for deed in ["send m0", "due", "started", "due", "turn", "took m0"] {
        stage.deed(deed);
    }
    let mode_is = |stage: &mut Stage, mode: &str| {
        let (at, mode) = (stage.now(), mode.to_owned());
        let read = stage
            .live
            .read(at, stretch(Seen::Mode { mode }), Vec::new(), str::to_owned);
        assert_eq!(read.1, None);
    };
    let modes = |stage: &Stage| {
        let run = stage.live.run().expect("a run");
        (stage.live.settings().mode.clone(), run.mode.clone())
    };
    mode_is(&mut stage, "plan");
    assert_eq!(modes(&stage), (Some(plan.clone()), Some(plan.clone())));
    mode_is(&mut stage, "default");
    let default = PermissionMode::Default;
    assert_eq!(modes(&stage), (Some(default.clone()), Some(default)));
    // Somebody wants a plan again: what the agent says before it has heard so means nothing.
    let at = stage.now();
    let change = Change {
        mode: Some(plan.clone()),
        ..Change::default()
    };
    assert!(stage.live.change(at, change).is_some());
    mode_is(&mut stage, "plan");
    let control = Control::Mode { mode: plan.clone() };
    assert!(stage.live.request(at, "c1".to_owned(), control).is_some());
    mode_is(&mut stage, "default");
    assert_eq!(modes(&stage), (Some(plan.clone()), Some(plan)));
}

fn stretch(seen: Seen) -> Stretch {
    Stretch {
        generation: Generation(1),
        from: 0,
        to: 0,
        hash: String::new(),
        open_from: 0,
        reader: 1,
        seen: vec![seen],
    }
}

/// A tool that a device allowed for the conversation.
fn granted() -> Stage {
    let mut stage = Stage::in_a_turn();
    let at = stage.now();
    let seen = Seen::Asked(Box::new(request("c1")));
    let read = stage
        .live
        .read(at, stretch(seen), Vec::new(), str::to_owned);
    assert_eq!(read.1, None);
    let by = By {
        device: Some(DeviceId(7)),
        author: Some(phone()),
    };
    let (key, all) = (stage.key("c1"), PermissionDecision::AllowAll);
    let shown = stage.live.show(at, &key, "no rule".to_owned());
    assert!(shown.is_some());
    let answered = stage.live.answer(at, &key, by, all, "yes".to_owned());
    let told = answered.expect("the first answer").events;
    let Some(ClaudeEvent::DecisionAnswered(told)) = told.first().map(|told| &told.event) else {
        panic!("nobody is told: {told:?}");
    };
    assert_eq!(told.author, Some(phone()));
    stage
}

fn phone() -> Author {
    let key = DeviceKey::parse("phone").expect("a key");
    Author::new(key, "Pixel".to_owned())
}

#[test]
fn what_was_allowed_is_known_with_its_device_and_taken_back_once() {
    let mut stage = granted();
    let known: Vec<_> = stage.live.grants().map(|(tool, _)| tool.clone()).collect();
    assert_eq!(known, ["Bash"]);
    let grant = stage.live.grants().next().expect("one").1.clone();
    assert_eq!(grant.by, Some(DeviceId(7)));
    assert_eq!(grant.author, Some(phone()));
    let at = stage.now();
    assert!(grant.since <= at);
    let before = stage.live.seq();
    assert_eq!(stage.live.revoke(at, "Write", None), None);
    let entry = stage.live.revoke(at, "Bash", Some(DeviceId(8)));
    let entry = entry.expect("it was allowed");
    assert_eq!(entry.events.len(), 1, "people are told");
    assert_eq!(stage.live.seq().0, before.0 + 1);
    assert!(stage.live.remembered().is_empty());
    assert_eq!(stage.live.revoke(at, "Bash", None), None);
}

#[test]
fn what_is_remembered_of_a_run_is_bounded_and_what_is_open_is_not_forgotten() {
    let mut stage = Stage::in_a_turn();
    let respond = |stage: &mut Stage, request_id: String| {
        let response = Seen::Response {
            request_id,
            digest: "answer".to_owned(),
            error: None,
            cancelled: false,
        };
        see(stage, response)
    };
    stage.deed("calls open");
    for number in 0..3_000 {
        let (call, control) = (format!("c{number}"), format!("r{number}"));
        stage.deed(&format!("calls {call}"));
        let answer = Some("answer".to_owned());
        let live = &mut stage.live;
        live.call(Timestamp(50), call.clone(), None).unwrap();
        live.call(Timestamp(50), call.clone(), answer).unwrap();
        let sent = live.request(Timestamp(50), control.clone(), Control::Interrupt);
        assert!(sent.is_some());
        let unknown = Seen::Unknown {
            request_id: format!("u{number}"),
            subtype: "new".to_owned(),
        };
        assert_eq!(see(&mut stage, unknown), None);
        assert_eq!(respond(&mut stage, call), None);
        assert_eq!(respond(&mut stage, control), None);
    }
    let run = stage.live.run().unwrap();
    assert!(run.call("open").is_some());
    assert!(run.controls.is_empty());
    assert_eq!((run.calls.len(), run.refused.len()), (1_001, 1_000));
    // A host before this one may have written the answer as well; nobody asks the same twice.
    assert_eq!(respond(&mut stage, "c2999".to_owned()), None);
    for known in ["r0", "r2999"] {
        let suspicion = respond(&mut stage, known.to_owned());
        assert!(
            matches!(suspicion, Some(Suspicion::Control { .. })),
            "{known}"
        );
    }
}

/// Takes in one thing that the CLI printed.
fn see(stage: &mut Stage, seen: Seen) -> Option<Suspicion> {
    let stretch = Stretch {
        generation: stage.live.last_generation(),
        from: 0,
        to: 0,
        hash: String::new(),
        open_from: 0,
        reader: 1,
        seen: vec![seen],
    };
    let at = stage.now();
    stage.live.read(at, stretch, Vec::new(), str::to_owned).1
}

#[test]
fn an_answer_that_does_not_say_what_was_shown_is_not_for_a_call_of_a_later_process() {
    let mut stage = Stage::in_a_turn();
    let id = ToolUseId::parse("t1").expect("an id");
    stage.deed("asks t1");
    stage.deed("due");
    let found = |stage: &Stage, hash| {
        let found = stage.live.decision_shown(&id, hash);
        found.map(|(key, _)| key.generation.0)
    };
    assert_eq!(found(&stage, None), Ok(1), "there is one such call");
    stage.deed("crash");
    assert_eq!(found(&stage, None), Err(RefuseAnswer::Void));

    for deed in [
        "send m1", "due", "started", "due", "turn", "took m1", "asks t1", "due",
    ] {
        stage.deed(deed);
    }
    assert_eq!(found(&stage, Some("hash")), Ok(2));
    assert_eq!(found(&stage, Some("other")), Err(RefuseAnswer::Changed));
    assert_eq!(
        found(&stage, None),
        Err(RefuseAnswer::Changed),
        "nobody knows which of the two was seen"
    );
    stage.deed("allow t1");
    assert!(matches!(
        found(&stage, None),
        Err(RefuseAnswer::AlreadyAnswered { .. })
    ));
}
