//! What people see of decisions, and the laws that hold whatever happens in whatever order.

use proptest::prelude::*;

use super::*;

fn key(generation: u64, call: u8) -> DecisionKey {
    DecisionKey {
        generation: Generation(generation),
        tool_use_id: ToolUseId::parse(&format!("toolu_{call}")).expect("an id"),
    }
}

fn asked(generation: u64, call: u8) -> Asked {
    Asked {
        key: key(generation, call),
        kind: DecisionKind::Permission,
        request_id: format!("request-{call}"),
        input_hash: format!("hash-{call}"),
        at: Timestamp(1),
    }
}

fn answered(generation: u64, call: u8, device: Option<u32>) -> Answered {
    Answered {
        key: key(generation, call),
        by: device.map(DeviceId),
        author: None,
        at: Timestamp(2),
        line: format!("answer of {device:?}"),
    }
}

/// A ledger with one decision asked by generation 1.
fn opened() -> Ledger {
    Ledger::replay([Fact::Opened(asked(1, 7))])
}

#[test]
fn the_first_answer_wins_and_the_second_learns_whose_it_was() {
    let mut ledger = opened();
    let first = ledger
        .answer(answered(1, 7, Some(100)), "hash-7")
        .expect("taken");
    ledger.apply(first);
    assert_eq!(
        ledger.answer(answered(1, 7, Some(101)), "hash-7"),
        Err(RefuseAnswer::AlreadyAnswered {
            by: Some(DeviceId(100)),
            at: Some(Timestamp(2))
        })
    );
    assert!(ledger.open().is_empty());
}

#[test]
fn an_answer_to_something_else_than_what_will_run_is_refused() {
    let ledger = opened();
    assert_eq!(
        ledger.answer(answered(1, 7, Some(100)), "hash-8"),
        Err(RefuseAnswer::Changed)
    );
}

#[test]
fn an_answer_never_reaches_another_generation() {
    let mut ledger = opened();
    for fact in ledger.process_gone(Generation(1)) {
        ledger.apply(fact);
    }
    assert_eq!(
        ledger.answer(answered(1, 7, Some(100)), "hash-7"),
        Err(RefuseAnswer::Void)
    );
    assert_eq!(
        ledger.answer(answered(2, 7, Some(100)), "hash-7"),
        Err(RefuseAnswer::Unknown)
    );
    ledger.apply(Fact::Opened(asked(2, 7)));
    assert!(
        ledger.answer(answered(2, 7, Some(100)), "hash-7").is_ok(),
        "asked anew, it can be answered"
    );
}

#[test]
fn an_answer_is_sent_again_until_its_echo_is_seen() {
    let mut ledger = opened();
    ledger.apply(Fact::Answered(answered(1, 7, None)));
    assert_eq!(ledger.undelivered(Generation(1)), [&answered(1, 7, None)]);
    assert!(ledger.undelivered(Generation(2)).is_empty());
    let echo = ledger.echoed(Generation(1), "request-7").expect("news");
    ledger.apply(echo);
    assert!(ledger.undelivered(Generation(1)).is_empty());
    assert_eq!(
        ledger.echoed(Generation(1), "request-7"),
        None,
        "an echo seen twice is no news"
    );
}

#[test]
fn a_question_that_the_cli_withdrew_is_settled_without_an_answer() {
    let mut ledger = opened();
    let fact = ledger.settled(&key(1, 7)).expect("news");
    ledger.apply(fact);
    assert_eq!(
        ledger.get(&key(1, 7)).map(Decision::state),
        Some(DecisionState::Settled)
    );
    assert_eq!(
        ledger.answer(answered(1, 7, Some(100)), "hash-7"),
        Err(RefuseAnswer::AlreadyAnswered { by: None, at: None })
    );
}

#[test]
fn decisions_wait_in_the_order_they_were_asked() {
    let ledger = Ledger::replay([9, 3, 5].map(|call| Fact::Opened(asked(1, call))));
    let waiting: Vec<_> = ledger
        .open()
        .iter()
        .map(|decision| decision.asked.request_id.as_str())
        .collect();
    assert_eq!(waiting, ["request-9", "request-3", "request-5"]);
}

#[test]
fn a_long_conversation_keeps_only_its_newest_decisions() {
    let mut ledger = Ledger::default();
    ledger.apply(Fact::Opened(asked(1, 7)));
    for call in 0..5_000u32 {
        let id = format!("long_{call}");
        let key = DecisionKey {
            generation: Generation(1),
            tool_use_id: ToolUseId::parse(&id).expect("an id"),
        };
        ledger.apply(Fact::Opened(Asked {
            key: key.clone(),
            request_id: id.clone(),
            ..asked(1, 0)
        }));
        ledger.apply(Fact::Answered(Answered {
            key: key.clone(),
            ..answered(1, 0, Some(100))
        }));
        assert!(ledger.asked_as(Generation(1), &id).is_some());
        ledger.apply(Fact::Settled(key));
    }
    assert_eq!(ledger.decisions.len(), KEPT + 1);
    assert_eq!(ledger.requests.len(), KEPT + 1);
    assert_eq!(ledger.open().len(), 1, "what is open is never forgotten");
    let id = |call: u32| ToolUseId::parse(&format!("long_{call}")).expect("an id");
    let newest = ledger.newest(&id(4_999)).expect("it is kept");
    assert_eq!(
        ledger.refusal(&newest),
        RefuseAnswer::AlreadyAnswered {
            by: Some(DeviceId(100)),
            at: Some(Timestamp(2))
        }
    );
    let kept = ledger.get(&newest).and_then(|kept| kept.answer.as_ref());
    assert_eq!(
        kept.map(|answer| answer.line.as_str()),
        Some(""),
        "nobody needs its line"
    );
    assert_eq!(ledger.newest(&id(0)), None);
    assert_eq!(
        ledger.refusal(&DecisionKey {
            tool_use_id: id(0),
            ..newest
        }),
        RefuseAnswer::Unknown
    );
}

#[test]
fn two_requests_under_one_id_do_not_lose_each_other() {
    let twin = Asked {
        request_id: "request-7".to_owned(),
        ..asked(1, 8)
    };
    let mut ledger = Ledger::replay([Fact::Opened(asked(1, 7)), Fact::Opened(twin)]);
    ledger.apply(Fact::Settled(key(1, 8)));
    let found = ledger.asked_as(Generation(1), "request-7");
    assert_eq!(found.map(|found| &found.asked.key), Some(&key(1, 7)));
}

/// Something the shell may ask of the ledger.
#[derive(Debug, Clone)]
enum Deed {
    Ask(u64, u8),
    Answer(u64, u8, u32),
    Echo(u64, u8),
    Settle(u64, u8),
    Gone(u64),
}

fn deed() -> impl Strategy<Value = Deed> {
    let place = || (1u64..3, 0u8..4);
    prop_oneof![
        3 => place().prop_map(|(generation, call)| Deed::Ask(generation, call)),
        3 => (place(), 100u32..103).prop_map(|((generation, call), device)| Deed::Answer(generation, call, device)),
        2 => place().prop_map(|(generation, call)| Deed::Echo(generation, call)),
        2 => place().prop_map(|(generation, call)| Deed::Settle(generation, call)),
        1 => (1u64..3).prop_map(Deed::Gone),
    ]
}

fn facts(ledger: &Ledger, deed: &Deed) -> Vec<Fact> {
    match *deed {
        Deed::Ask(generation, call) => ledger.ask(asked(generation, call)).into_iter().collect(),
        Deed::Answer(generation, call, device) => {
            let answer = answered(generation, call, Some(device));
            ledger
                .answer(answer, &format!("hash-{call}"))
                .into_iter()
                .collect()
        }
        Deed::Echo(generation, call) => ledger
            .echoed(Generation(generation), &format!("request-{call}"))
            .into_iter()
            .collect(),
        Deed::Settle(generation, call) => {
            ledger.settled(&key(generation, call)).into_iter().collect()
        }
        Deed::Gone(generation) => ledger.process_gone(Generation(generation)),
    }
}

proptest! {
    #[test]
    fn a_ledger_told_by_its_log_is_the_ledger_that_wrote_it(deeds in proptest::collection::vec(deed(), 0..60)) {
        let mut live = Ledger::default();
        let mut log = Vec::new();
        for deed in &deeds {
            for fact in facts(&live, deed) {
                log.push(fact.clone());
                live.apply(fact);
            }
        }
        let stored = serde_json::to_string(&log).expect("JSON");
        let log: Vec<Fact> = serde_json::from_str(&stored).expect("facts");
        prop_assert_eq!(Ledger::replay(log.clone()), live);
        for generation in 1..3 {
            for call in 0..4 {
                let key = key(generation, call);
                let answers = log.iter().filter(|fact| matches!(fact, Fact::Answered(answer) if answer.key == key));
                prop_assert!(answers.count() <= 1, "answered twice");
                let ends = log.iter().filter(|fact| matches!(fact, Fact::Settled(it) | Fact::Voided(it) if *it == key));
                prop_assert!(ends.count() <= 1, "ended twice");
            }
        }
    }

    #[test]
    fn a_deed_done_twice_makes_no_second_fact(deeds in proptest::collection::vec(deed(), 0..40)) {
        let mut ledger = Ledger::default();
        for deed in &deeds {
            for fact in facts(&ledger, deed) {
                ledger.apply(fact);
            }
            prop_assert!(facts(&ledger, deed).is_empty(), "{deed:?}");
        }
    }
}

#[test]
fn a_call_is_known_elsewhere_when_another_generation_made_one_under_its_id() {
    let mut ledger = opened();
    assert!(!ledger.is_known_elsewhere(&key(1, 7)));
    ledger.apply(Fact::Opened(asked(2, 8)));
    assert!(!ledger.is_known_elsewhere(&key(1, 7)), "another call");
    ledger.apply(Fact::Voided(key(1, 7)));
    ledger.apply(Fact::Opened(asked(2, 7)));
    assert!(ledger.is_known_elsewhere(&key(2, 7)));
}
