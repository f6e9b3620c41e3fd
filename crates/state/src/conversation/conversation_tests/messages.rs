//! Messages: in which order they go to the agent, what is taken back, and what a stop reaches.

use super::*;

#[test]
fn a_conversation_that_begins_is_idle_and_has_nothing_to_do() {
    let id = ConversationId::parse("conv-1").expect("an id");
    let (conversation, entry) = Conversation::begin(Timestamp(1), id, Epoch(1), Generation(0));
    assert_eq!(conversation.status(), ConversationStatus::Idle);
    assert_eq!(conversation.due(), None);
    assert_eq!(Conversation::replay([entry]), Some(conversation));
}

#[test]
fn a_message_starts_a_run_and_is_answered() {
    let mut stage = Stage::new();
    check(
        &mut stage,
        "send m1  => userMessage, working
         due      =>
         started  =>
         due      =>
         turn     =>
         took m1  =>
         ended    => idle",
    );
    assert_eq!((stage.places().as_str(), stage.due()), ("", "nothing"));
}

#[test]
fn a_message_sent_twice_runs_once_and_another_text_under_its_id_is_refused() {
    let mut stage = Stage::in_a_turn();
    check(
        &mut stage,
        "ended   => idle
         send m0 =>",
    );
    let other = Message {
        content: "other".to_owned(),
        ..message_of("m0")
    };
    let refused = stage.live.accept(Timestamp(99), other);
    assert_eq!(
        refused,
        Err(RefuseMessage::OtherText),
        "even when it is done"
    );
}

#[test]
fn a_queued_message_waits_for_the_turn_to_end() {
    let mut stage = Stage::in_a_turn();
    check(&mut stage, "queue m1 => userMessage");
    assert_eq!(stage.due(), "nothing");
    check(&mut stage, "ended =>");
    assert_eq!(stage.due(), "hand");
}

#[test]
fn a_message_that_waits_can_be_taken_back_and_is_not_answered() {
    let mut stage = Stage::in_a_turn();
    check(&mut stage, "queue m1 => userMessage");
    assert_eq!(stage.queued(), ["m1"]);
    check(
        &mut stage,
        "take m1  => messageCancelled
         take m1  =>
         queue m1 =>
         ended    => idle",
    );
    assert_eq!((stage.places().as_str(), stage.due()), ("", "nothing"));
    assert!(stage.queued().is_empty());
}

#[test]
fn a_message_that_the_agent_was_given_cannot_be_taken_back() {
    let mut stage = Stage::in_a_turn();
    check(
        &mut stage,
        "take m0 =>
         send m1 => userMessage
         due     =>
         take m1 =>
         take m9 =>",
    );
    assert!(stage.queued().is_empty(), "they do not wait for us");
    let places = stage.places();
    assert_eq!(places, "m0 Taken(Generation(1)), m1 Handed(Generation(1))");
}

#[test]
fn a_message_that_was_taken_out_of_the_queue_is_done() {
    let mut stage = Stage::new();
    check(
        &mut stage,
        "send m1      => userMessage, working
         due          =>
         started      =>
         due          =>
         stop         => claudeAborted
         cancel m1    =>
         cancelled m1 => idle",
    );
    assert_eq!(stage.places(), "");
}

#[test]
fn a_message_that_barges_in_breaks_the_turn_off_and_is_next() {
    let mut stage = Stage::in_a_turn();
    check(
        &mut stage,
        "barge m1 => userMessage
         due      => claudeAborted
         due      =>
         fails    =>
         ended    =>",
    );
    assert_eq!(
        (stage.places().as_str(), stage.due()),
        ("m1 Waiting", "hand")
    );
}

#[test]
fn a_message_that_barges_in_while_nothing_runs_breaks_nothing_off() {
    let mut stage = Stage::new();
    check(
        &mut stage,
        "send m1  => userMessage, working
         barge m2 => userMessage
         due      =>
         started  =>",
    );
    assert_eq!(stage.due(), "hand");
    assert!(!stage.live.is_interrupted());
}

#[test]
fn a_stop_before_the_agent_has_the_message_is_told_as_well() {
    let mut stage = Stage::new();
    check(
        &mut stage,
        "send m1 => userMessage, working
         due     =>
         stop    => claudeAborted, idle
         stop    =>",
    );
    assert_eq!(stage.places(), "");
}

#[test]
fn a_stop_does_not_outlive_what_it_stopped() {
    let mut stage = Stage::new();
    check(
        &mut stage,
        "send m1    => userMessage, working
         due        =>
         started    =>
         due        =>
         stop       => claudeAborted
         dropped m1 => idle
         send m2    => userMessage, working
         due        =>
         turn       =>
         took m2    =>
         fails      => error
         stop       => claudeAborted
         stop       =>
         ended      => idle",
    );
}

#[test]
fn a_message_that_the_cli_was_never_given_is_not_believed() {
    let mut stage = Stage::in_a_turn();
    check(&mut stage, "queue m1 => userMessage");
    let stretch = Stretch {
        generation: Generation(1),
        from: 0,
        to: 0,
        hash: String::new(),
        open_from: 0,
        reader: 1,
        seen: vec![Seen::Taken {
            message: MessageId("m1".to_owned()),
        }],
    };
    let (_, suspicion) = stage
        .live
        .read(Timestamp(99), stretch, Vec::new(), str::to_owned);
    assert!(matches!(suspicion, Some(Suspicion::Message { .. })));
    assert_eq!(stage.places(), "m0 Taken(Generation(1)), m1 Waiting");
}

#[test]
fn a_message_that_the_cli_took_and_will_not_answer_can_be_given_up() {
    let mut stage = Stage::new();
    for deed in ["send m1", "due", "started", "due"] {
        stage.deed(deed);
    }
    let id = message_of("m1").id;
    let at = stage.now();
    stage.live.withdraw(at, vec![id.clone()]);
    assert_eq!(
        stage.live.messages().len(),
        1,
        "what is on its way may begin"
    );
    stage.deed("took m1");
    let at = stage.now();
    stage.live.withdraw(at, vec![id]);
    assert_eq!(stage.live.messages(), []);
    assert_eq!(stage.live.status(), ConversationStatus::Idle);
}
