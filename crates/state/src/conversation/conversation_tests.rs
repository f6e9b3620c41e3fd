//! What people see of a conversation, as transcripts: what happens on the left, what comes of it on the right.
//!
//! A transcript is written line by line as `deed => outcome`. The outcome is what is published, then the state of
//! things after it if that matters: where messages are, and what is due.

use estelle_proto::decisions::{DecisionKind, PermissionDecision};
use estelle_proto::events::{ClaudeEvent, ErrorEvent, ToolComplete};
use estelle_proto::{ClientId, ClientMessageId, DeviceId, OnBusy, PermissionMode};

use super::*;
use crate::decisions::RefuseAnswer;
use estelle_proto::runs::PauseReason;

/// A conversation that is told what happens in short words.
struct Stage {
    live: Conversation,
    time: i64,
}

impl Stage {
    fn new() -> Self {
        let id = ConversationId::parse("conv-1").expect("an id");
        let (live, _) = Conversation::begin(Timestamp(0), id, Epoch(1), Generation(0));
        Self { live, time: 0 }
    }

    /// One with a run that has taken message `m0` in an open turn.
    fn in_a_turn() -> Self {
        let mut stage = Self::new();
        for deed in ["send m0", "due", "started", "due", "turn", "took m0"] {
            stage.deed(deed);
        }
        stage
    }

    fn now(&mut self) -> Timestamp {
        self.time += 1;
        Timestamp(self.time)
    }

    /// Does what a line says, and tells what came of it.
    fn deed(&mut self, deed: &str) -> String {
        let (word, name) = deed.split_once(' ').unwrap_or((deed, ""));
        let at = self.now();
        let live = &mut self.live;
        let entries: Vec<Entry> = match word {
            "send" => accept(live, at, name, OnBusy::Inject),
            "queue" => accept(live, at, name, OnBusy::Queue),
            "barge" => accept(live, at, name, OnBusy::Interrupt),
            "take" => {
                let by = Some(DeviceId(7));
                live.cancel(at, &client_id(name), by).into_iter().collect()
            }
            "resume" => live.want(at).into_iter().collect(),
            "stop" => {
                live.stop(at, Some(DeviceId(7)), |_| "denied".to_owned())
                    .entries
            }
            "allow" => {
                let key = self.key(name);
                let answer = self.live.answer(
                    at,
                    &key,
                    Some(DeviceId(7)),
                    PermissionDecision::Allow,
                    "yes".to_owned(),
                );
                match answer {
                    Ok(entry) => vec![entry],
                    Err(refused) => return format!("refused: {refused}"),
                }
            }
            "pause" => live
                .stop_run(
                    at,
                    StopReason::Paused {
                        reason: PauseReason::IdleTimeout,
                        idle_minutes: 30,
                    },
                )
                .into_iter()
                .collect(),
            "forget" => live
                .stop_run(at, StopReason::NewSession)
                .into_iter()
                .collect(),
            "cancel" => {
                let message = MessageId(name.to_owned());
                let control = Control::Cancel { message };
                let entry = live.request(at, format!("cancel {name}"), control);
                entry.into_iter().collect()
            }
            "due" => self.do_due(at),
            "started" => live.started(at, 1, 1).into_iter().collect(),
            "crash" => self.end(at, RunExit::Unknown),
            "exit" => {
                let stderr = String::new();
                self.end(at, RunExit::Code { code: 0, stderr })
            }
            _ => self.read(at, word, name),
        };
        published(&entries)
    }

    fn key(&self, name: &str) -> DecisionKey {
        let id = ToolUseId::parse(name).expect("an id");
        let found = self.live.find_decision(&id);
        found.unwrap_or(DecisionKey {
            generation: Generation(1),
            tool_use_id: id,
        })
    }

    fn do_due(&mut self, at: Timestamp) -> Vec<Entry> {
        let live = &mut self.live;
        let entry = match live.due() {
            Some(Due::Start) => live.intend(at),
            Some(Due::Hand(message)) => {
                let id = message.id.clone();
                live.hand(at, id)
            }
            Some(Due::Judge(key)) => {
                let key = key.clone();
                live.show(at, &key, "no rule".to_owned())
            }
            Some(Due::Interrupt) => live.make_way(at),
            Some(Due::Act(key)) => {
                let key = key.clone();
                live.acted(at, &key)
            }
            Some(Due::Call(..)) | None => None,
        };
        entry.into_iter().collect()
    }

    fn end(&mut self, at: Timestamp, exit: RunExit) -> Vec<Entry> {
        let entry = self.live.ended_run(at, exit, |_| false);
        entry.into_iter().collect()
    }

    /// What the CLI prints.
    fn read(&mut self, at: Timestamp, word: &str, name: &str) -> Vec<Entry> {
        let message = MessageId(name.to_owned());
        let mut events = Vec::new();
        let seen = match word {
            "turn" => Some(Seen::TurnBegan {
                session: ClaudeSessionId::parse("00000000-0000-4000-8000-000000000001")
                    .expect("an id"),
            }),
            "took" => Some(Seen::Taken { message }),
            "dropped" => Some(Seen::Dropped { message }),
            "cancelled" => Some(Seen::Response {
                request_id: format!("cancel {name}"),
                digest: String::new(),
                error: None,
                cancelled: true,
            }),
            "ended" => Some(Seen::TurnEnded {
                cost: 0.25,
                messages: Vec::new(),
                failed: false,
            }),
            "calls" => Some(Seen::Called {
                request_id: name.to_owned(),
                server: "desk".to_owned(),
                message: Json::of("a call").expect("JSON"),
            }),
            "asks" => Some(Seen::Asked(Box::new(request(name)))),
            "withdraws" => Some(Seen::Withdrew {
                request_id: format!("about {name}"),
            }),
            "fails" => {
                let error = ClaudeEvent::Error(ErrorEvent::new("failed".to_owned()));
                events.push(error.into());
                None
            }
            "returned" => {
                let done = ToolComplete {
                    tool_use_id: ToolUseId::parse(name).ok(),
                    ..ToolComplete::new("Bash".to_owned(), true, String::new())
                };
                events.push(ClaudeEvent::ToolComplete(done).into());
                None
            }
            other => panic!("what is {other}?"),
        };
        let generation = self.live.last_generation();
        let stretch = Stretch {
            generation,
            from: 0,
            to: 0,
            hash: String::new(),
            open_from: 0,
            reader: 1,
            seen: seen.into_iter().collect(),
        };
        let (entry, suspicion) = self.live.read(at, stretch, events, str::to_owned);
        assert_eq!(suspicion, None);
        vec![entry]
    }

    fn places(&self) -> String {
        let tracked = self.live.messages().iter();
        let places = tracked.map(|one| format!("{} {:?}", one.message.id.0, one.place));
        places.collect::<Vec<_>>().join(", ")
    }

    fn queued(&self) -> Vec<&str> {
        let queued = self.live.queued();
        queued.map(|message| message.id.0.as_str()).collect()
    }

    fn due(&self) -> &'static str {
        match self.live.due() {
            None => "nothing",
            Some(Due::Start) => "start",
            Some(Due::Judge(_)) => "judge",
            Some(Due::Hand(_)) => "hand",
            Some(Due::Call(..)) => "call",
            Some(Due::Act(_)) => "act",
            Some(Due::Interrupt) => "interrupt",
        }
    }
}

fn accept(live: &mut Conversation, at: Timestamp, id: &str, on_busy: OnBusy) -> Vec<Entry> {
    let message = Message {
        id: MessageId(id.to_owned()),
        content: format!("text of {id}"),
        on_busy,
        client_message_id: Some(client_id(id)),
        device_id: None,
    };
    live.accept(at, message).expect("it is taken").entries
}

fn client_id(name: &str) -> ClientMessageId {
    ClientMessageId::parse(name).expect("an id")
}

fn request(name: &str) -> Request {
    Request {
        request_id: format!("about {name}"),
        tool_use_id: ToolUseId::parse(name).expect("an id"),
        kind: DecisionKind::Permission,
        tool_name: "Bash".to_owned(),
        input: Json::parse("{}").expect("JSON"),
        input_hash: "hash".to_owned(),
        questions: Vec::new(),
        parent_tool_use_id: None,
    }
}

/// The kinds of the events, in order; a change of state with what it is now.
fn published(entries: &[Entry]) -> String {
    let events = entries.iter().flat_map(|entry| &entry.events);
    let words = events.map(|durable| {
        if let ClaudeEvent::State(state) = &durable.event {
            return state.state.as_str().to_owned();
        }
        let event = serde_json::to_value(&durable.event).expect("JSON");
        event["type"].as_str().unwrap_or_default().to_owned()
    });
    words.collect::<Vec<_>>().join(", ")
}

/// Plays a transcript and compares every line.
fn check(stage: &mut Stage, transcript: &str) {
    let lines = transcript.lines().map(str::trim);
    for line in lines.filter(|line| !line.is_empty()) {
        let (deed, expected) = line.split_once("=>").expect("a line of a transcript");
        let found = stage.deed(deed.trim());
        assert_eq!(found, expected.trim(), "{line}");
    }
}

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

fn message_of(id: &str) -> Message {
    Message {
        id: MessageId(id.to_owned()),
        content: String::new(),
        on_busy: OnBusy::Inject,
        client_message_id: None,
        device_id: None,
    }
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
fn a_run_is_not_suspected_for_what_the_log_has_lost() {
    let mut stage = Stage::in_a_turn();
    let lost = stage.live.lost_end(Timestamp(50), "cut".to_owned(), 100);
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
fn an_unknown_decision_has_no_answer() {
    let stage = Stage::new();
    let id = ToolUseId::parse("t9").expect("an id");
    assert_eq!(stage.live.find_decision(&id), Err(RefuseAnswer::Unknown));
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
