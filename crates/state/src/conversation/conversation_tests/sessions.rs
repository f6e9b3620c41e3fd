//! Sessions that change under a conversation, and what a new process knows of the one before.

use super::*;

/// A conversation whose process was stopped after a turn.
fn stopped() -> Stage {
    let mut stage = Stage::in_a_turn();
    check(
        &mut stage,
        "ended => idle
         pause =>
         exit  => process_paused",
    );
    stage
}

/// What people were last told of a resume.
fn told(entries: &[Entry]) -> Vec<bool> {
    let events = entries.iter().flat_map(|entry| &entry.events);
    let told = events.filter_map(|durable| {
        let ClaudeEvent::Resumed(resumed) = &durable.event else {
            return None;
        };
        Some(resumed.resumed_with_history)
    });
    told.collect()
}

#[test]
fn a_session_that_changes_in_a_living_process_is_told_and_forgets_what_was_allowed() {
    let mut stage = Stage::in_a_turn();
    check(
        &mut stage,
        "asks t1 =>
         due     => permission_request, permission",
    );
    let key = stage.key("t1");
    let answer = stage.live.answer(
        Timestamp(50),
        &key,
        None,
        PermissionDecision::AllowAll,
        "yes".to_owned(),
    );
    answer.expect("it is open");
    check(
        &mut stage,
        "returned t1 => toolComplete
         ended       => idle
         turn        => working
         ended       => idle",
    );
    assert_eq!(stage.live.remembered().len(), 1, "the same session goes on");
    check(
        &mut stage,
        "turn 2 => sessionReset, working
         ended  => idle
         turn 2 => working",
    );
    assert!(stage.live.remembered().is_empty());
    assert_eq!(stage.live.session(), Some(&session("2")));
}

#[test]
fn a_process_knows_what_was_said_when_its_first_turn_is_in_the_session_it_was_given() {
    let mut stage = stopped();
    check(
        &mut stage,
        "send m1 => userMessage, working
         due     =>
         started =>
         greet   =>
         greeted =>",
    );
    let entries = stage.read(Timestamp(90), "turn", "");
    assert_eq!(told(&entries), [true], "not before the session is known");
    assert!(told(&stage.read(Timestamp(91), "ended", "")).is_empty());
    assert!(told(&stage.read(Timestamp(92), "turn", "")).is_empty());
}

#[test]
fn a_process_that_works_on_another_session_than_it_was_given_has_no_history() {
    let mut stage = stopped();
    check(
        &mut stage,
        "send m1 => userMessage, working
         due     =>
         started =>
         greet   =>
         greeted =>",
    );
    let entries = stage.read(Timestamp(90), "turn", "2");
    assert_eq!(told(&entries), [false]);
    assert_eq!(published(&entries), "process_resumed");
}

#[test]
fn a_process_without_work_is_believed_until_its_first_turn_is_in_another_session() {
    let mut stage = stopped();
    for deed in ["resume", "due", "started", "greet"] {
        stage.deed(deed);
    }
    let entries = stage.read(Timestamp(90), "greeted", "");
    assert_eq!(told(&entries), [true], "nothing more will be heard of it");
    let mut other = Stage {
        live: stage.live.clone(),
        time: stage.time,
    };
    for deed in ["send m1", "due"] {
        stage.deed(deed);
        other.deed(deed);
    }
    assert!(told(&stage.read(Timestamp(91), "turn", "")).is_empty());
    assert_eq!(told(&other.read(Timestamp(91), "turn", "2")), [false]);
}

#[test]
fn a_stop_takes_back_the_wish_for_a_process_that_is_not_there_yet() {
    let mut stage = stopped();
    stage.deed("resume");
    assert_eq!(stage.due(), "start");
    let entries = {
        let stopped = stage.live.stop(Timestamp(90), None, |_| String::new());
        assert!(!stopped.interrupt, "there is no turn to break off");
        stopped.entries
    };
    assert_eq!((entries.len(), stage.due()), (1, "nothing"));
    assert!(stage.live.intend(Timestamp(91)).is_none());
    let again = stage.live.stop(Timestamp(92), None, |_| String::new());
    assert!(again.entries.is_empty(), "there is nothing left to stop");
    // Whoever changes his mind gets it, and so does whoever says something.
    stage.deed("resume");
    assert_eq!(stage.due(), "start");
    stage.deed("stop");
    stage.deed("send m1");
    assert_eq!(stage.due(), "start");
}

#[test]
fn a_process_that_a_person_asked_for_is_still_wanted_when_it_never_lived() {
    let never = |retry| RunExit::NeverStarted {
        reason: "the host died while starting it".to_owned(),
        retry,
    };
    for (stops, retry, expected) in [
        (false, true, "start"),
        (false, false, "nothing"),
        (true, true, "nothing"),
    ] {
        let mut stage = stopped();
        stage.deed("resume");
        stage.deed("due");
        assert_eq!(stage.due(), "nothing", "it is being started");
        if stops {
            stage.deed("pause");
        }
        stage.end(Timestamp(90), never(retry));
        assert_eq!(stage.due(), expected, "{stops} {retry}");
    }
    // One that was started for a message has that message to come back for, and nothing else.
    let mut stage = stopped();
    for deed in ["send m1", "due"] {
        stage.deed(deed);
    }
    stage.end(Timestamp(90), never(true));
    stage.deed("take m1");
    assert_eq!(stage.due(), "nothing");
}

#[test]
fn a_process_that_a_person_asked_for_begins_afresh_when_its_session_is_gone() {
    let mut stage = stopped();
    for deed in ["resume", "due", "started", "greet", "gone", "exit"] {
        stage.deed(deed);
    }
    assert_eq!((stage.live.session(), stage.due()), (None, "start"));
    for deed in ["due", "started", "greet"] {
        stage.deed(deed);
    }
    let entries = stage.read(Timestamp(90), "greeted", "");
    assert_eq!(told(&entries), [false]);
    // One that lived and died is not started again by anybody but a person.
    stage.deed("crash");
    assert_eq!(stage.due(), "nothing");
}

#[test]
fn a_process_that_a_person_asked_for_says_that_it_has_no_history_where_there_was_none() {
    let mut stage = Stage::new();
    for deed in ["resume", "due", "started", "greet"] {
        stage.deed(deed);
    }
    let entries = stage.read(Timestamp(90), "greeted", "");
    assert_eq!(told(&entries), [false]);
    for deed in ["send m1", "due"] {
        stage.deed(deed);
    }
    let entries = stage.read(Timestamp(91), "turn", "");
    assert!(told(&entries).is_empty(), "once is enough");
    // A first message begins a conversation and resumes nothing.
    let mut stage = Stage::new();
    for deed in ["send m1", "due", "started", "due"] {
        stage.deed(deed);
    }
    assert!(told(&stage.read(Timestamp(90), "turn", "")).is_empty());
}

#[test]
fn a_process_is_told_what_the_session_that_it_takes_up_had_used() {
    let mut stage = stopped();
    for deed in ["send m1", "due"] {
        stage.deed(deed);
    }
    let run = stage.live.run().expect("one is being started");
    assert_eq!(run.totals, None);
    assert_eq!(run.earlier.as_ref().map(|totals| totals.cost), Some(0.25));
    check(&mut stage, "started =>");
    stage.deed("turn 2");
    stage.deed("ended");
    for deed in ["forget", "exit", "send m2", "due"] {
        stage.deed(deed);
    }
    let run = stage.live.run().expect("one is being started");
    assert_eq!((&run.resume, &run.earlier), (&None, &None));
}

#[test]
fn a_task_keeps_the_call_that_began_it() {
    use estelle_proto::runs::TaskUpdate;
    let mut stage = Stage::in_a_turn();
    let call = ToolUseId::parse("toolu_1").expect("an id");
    let mut update = |status: &str, call: Option<&ToolUseId>| {
        let task = TaskUpdate {
            tool_use_id: call.cloned(),
            ..TaskUpdate::new("a1".to_owned(), status.to_owned())
        };
        stage.live.apply_event(&ClaudeEvent::Task(task).into());
        stage.live.tasks().get("a1").cloned()
    };
    assert_eq!(update("started", Some(&call)), Some(Some(call.clone())));
    assert_eq!(update("running", None), Some(Some(call.clone())));
    assert_eq!(update("completed", Some(&call)), None);
}

#[test]
fn a_new_session_is_begun_although_the_process_is_being_ended_already() {
    let mut stage = Stage::in_a_turn();
    check(
        &mut stage,
        "ended   => idle
         send m1 => userMessage, working
         due     =>
         pause   =>
         forget  =>
         forget  =>
         exit    => messageCancelled, sessionReset, idle",
    );
    assert_eq!(stage.live.session(), None);
    assert_eq!(stage.due(), "nothing");
}

#[test]
fn what_people_must_be_told_of_an_end_stays_its_reason() {
    let mut stage = Stage::in_a_turn();
    let what = "a forged answer".to_owned();
    let tampered = StopReason::Tampered {
        what,
        is_unasked: false,
    };
    assert!(stage.live.stop_run(Timestamp(50), tampered).is_some());
    check(
        &mut stage,
        "forget =>
         exit   => claudeAborted, error, idle",
    );
    assert!(
        stage.live.session().is_some(),
        "whoever asked forgets it now"
    );
}

#[test]
fn words_about_a_missing_session_in_a_later_turn_cost_no_history() {
    let mut stage = stopped();
    for deed in ["resume", "due", "started", "greet"] {
        stage.deed(deed);
    }
    let session = stage.live.session().cloned();
    assert!(session.is_some());
    stage.read(Timestamp(90), "turn", "");
    stage.read(Timestamp(91), "gone", "");
    assert!(stage.live.run().is_some_and(|run| !run.resume_failed));
    stage.deed("exit");
    assert_eq!(stage.live.session(), session.as_ref());
}
