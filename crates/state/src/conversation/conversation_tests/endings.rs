//! How runs end, and what becomes of what they were given.

use super::*;

#[test]
fn what_a_dead_process_left_waits_and_can_be_taken_back() {
    let mut stage = Stage::in_a_turn();
    check(
        &mut stage,
        "send m1 => userMessage
         send m2 => userMessage
         crash   => claudeAborted, error, idle",
    );
    assert_eq!(stage.queued(), ["m1", "m2"]);
    check(
        &mut stage,
        "take m1 => messageCancelled
         resume  => working",
    );
    assert_eq!(stage.places(), "m2 Waiting");
}

#[test]
fn what_goes_down_with_a_process_that_we_end_is_for_the_next_one() {
    let mut stage = Stage::in_a_turn();
    check(
        &mut stage,
        "send m1    => userMessage
         due        =>
         pause      =>
         dropped m1 =>
         exit       => claudeAborted, process_paused",
    );
    assert_eq!(
        (stage.places().as_str(), stage.due()),
        ("m1 Waiting", "start")
    );
}

#[test]
fn what_a_forgotten_session_had_not_begun_is_dropped_and_told() {
    let mut stage = Stage::in_a_turn();
    check(
        &mut stage,
        "send m1      => userMessage
         due          =>
         queue m2     => userMessage
         forget       =>",
    );
    let queued = |stage: &Stage| {
        let queued = stage.live.queued_in_cli();
        queued.into_iter().map(|id| id.0).collect::<Vec<_>>()
    };
    assert_eq!(queued(&stage), ["m1"]);
    check(&mut stage, "cancel m1 =>");
    assert!(queued(&stage).is_empty(), "it is asked once");
    check(
        &mut stage,
        "cancelled m1 =>
         send m3      => userMessage
         exit         => messageCancelled, claudeAborted, sessionReset",
    );
    assert_eq!(
        (stage.places().as_str(), stage.due()),
        ("m2 Waiting, m3 Waiting", "start")
    );
}

#[test]
fn messages_of_a_process_that_died_wait_for_a_person() {
    let mut stage = Stage::in_a_turn();
    check(
        &mut stage,
        "send m1 => userMessage
         due     =>
         crash   => claudeAborted, error, idle",
    );
    assert_eq!(
        (stage.places().as_str(), stage.due()),
        ("m1 Held", "nothing")
    );
    check(&mut stage, "send m2 => working, userMessage");
    assert_eq!(stage.places(), "m1 Waiting, m2 Waiting");
    assert_eq!(stage.due(), "start");
}

#[test]
fn taking_a_conversation_up_again_sends_what_was_held() {
    let mut stage = Stage::in_a_turn();
    check(
        &mut stage,
        "send m1 => userMessage
         crash   => claudeAborted, error, idle
         resume  => working
         resume  =>",
    );
    assert_eq!(stage.places(), "m1 Waiting");
    assert_eq!(stage.due(), "start");
}

#[test]
fn a_message_that_came_while_an_idle_process_was_ended_starts_the_next() {
    let mut stage = Stage::in_a_turn();
    check(
        &mut stage,
        "ended   => idle
         pause   =>
         send m1 => userMessage, working",
    );
    assert_eq!(
        stage.due(),
        "nothing",
        "nothing goes to a run that is being ended"
    );
    check(&mut stage, "exit => process_paused");
    assert_eq!(
        (stage.places().as_str(), stage.due()),
        ("m1 Waiting", "start")
    );
    check(
        &mut stage,
        "due     =>
         started =>
         due     =>
         turn    => process_resumed
         took m1 =>
         ended   => idle",
    );
}

#[test]
fn a_start_that_nobody_waits_for_any_more_is_not_made() {
    let mut stage = Stage::new();
    check(
        &mut stage,
        "send m1 => userMessage, working
         stop    => claudeAborted, idle",
    );
    assert_eq!(stage.live.intend(Timestamp(99)), None);
}

#[test]
fn a_run_is_not_suspected_for_what_the_log_has_lost() {
    let mut stage = Stage::in_a_turn();
    let lost = stage.live.lost_end(Timestamp(50), 7, 100);
    assert_eq!(lost.events, []);
    for (from, is_suspected) in [(0, false), (100, true)] {
        let stretch = Stretch {
            generation: Generation(1),
            from,
            to: from + 100,
            hash: String::new(),
            open_from: from,
            reader: 1,
            seen: vec![Seen::Taken {
                message: message_of("lost").id,
            }],
        };
        let read = stage
            .live
            .read(Timestamp(99), stretch, Vec::new(), str::to_owned);
        assert_eq!(read.1.is_some(), is_suspected);
    }
}

#[test]
fn what_a_person_stopped_does_not_come_back_when_the_process_is_gone() {
    let mut stage = Stage::new();
    check(
        &mut stage,
        "send m1   => userMessage, working
         due       =>
         started   =>
         due       =>
         stop      => claudeAborted
         cancel m1 =>
         send m2   => userMessage
         due       =>
         crash     => messageCancelled, error, idle",
    );
    assert_eq!(
        stage.places(),
        "m2 Held",
        "only what came later waits for a person"
    );
}

#[test]
fn what_a_process_worked_on_is_named_when_it_is_gone() {
    let mut stage = Stage::in_a_turn();
    check(
        &mut stage,
        "send m1 => userMessage
         due     =>
         send m2 => userMessage
         due     =>",
    );
    let at = stage.now();
    let begun = |id: &MessageId| id.0 == "m1";
    let ended = stage.live.ended_run(at, RunExit::Unknown, begun);
    let ended = ended.expect("it ends");
    let named = ended.events.iter().find_map(|durable| {
        let ClaudeEvent::Aborted(aborted) = &durable.event else {
            return None;
        };
        aborted.messages.clone()
    });
    let named: Vec<_> = named.into_iter().flatten().collect();
    let named: Vec<_> = named
        .iter()
        .map(|one| (one.client_message_id.clone(), one.content.as_str()))
        .collect();
    assert_eq!(
        named,
        [
            (Some(client_id("m0")), "text of m0"),
            (Some(client_id("m1")), "text of m1")
        ]
    );
    assert_eq!(stage.places(), "m2 Held");
}

#[test]
fn a_message_that_was_taken_before_its_turn_began_does_not_vanish_without_a_word() {
    let mut stage = Stage::new();
    check(
        &mut stage,
        "send m1 => userMessage, working
         due     =>
         started =>
         due     =>
         took m1 =>
         crash   => claudeAborted, error, idle",
    );
    assert_eq!(stage.places(), "");
}

#[test]
fn cuts_of_the_log_are_counted() {
    let mut stage = Stage::new();
    let at = Timestamp(9);
    stage.live.lost_end(at, 7, 0);
    stage.live.lost_end(at, 30, 0);
    let found = stage
        .live
        .repair(at, "something else".to_owned(), Vec::new());
    assert_eq!(found.events, []);
    assert_eq!(
        stage.live.cuts(),
        Cuts {
            times: 2,
            bytes: 37
        }
    );
    stage.live.shorten(at, "damaged".to_owned(), Some(100));
    assert_eq!(
        stage.live.cuts(),
        Cuts {
            times: 3,
            bytes: 137
        }
    );
}
