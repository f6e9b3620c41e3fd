//! Answers in crowds and in races (P5, P16): each question is answered once, by whoever was first.

use estelle_proto::decisions::{DecisionKind, DecisionState};
use estelle_proto::{DeviceId, Generation, Timestamp, ToolUseId};
use estelle_state::decisions::{
    Answered, Asked, Decision, DecisionKey, Fact, Ledger, RefuseAnswer,
};

fn key(number: u32) -> DecisionKey {
    DecisionKey {
        generation: Generation(1),
        tool_use_id: ToolUseId::parse(&format!("toolu_{number}")).expect("an id"),
    }
}

fn asked(number: u32) -> Asked {
    Asked {
        key: key(number),
        kind: DecisionKind::Permission,
        request_id: format!("request-{number}"),
        input_hash: format!("hash-{number}"),
        at: Timestamp(1),
    }
}

fn answer(ledger: &mut Ledger, number: u32, device: u32) -> Result<(), RefuseAnswer> {
    let answered = Answered {
        key: key(number),
        by: Some(DeviceId(device)),
        author: None,
        at: Timestamp(2),
        line: format!("answer of {device}"),
    };
    let fact = ledger.answer(answered, &format!("hash-{number}"))?;
    ledger.apply(fact);
    Ok(())
}

#[test]
fn p5_of_two_answers_exactly_one_counts_ten_thousand_times() {
    let mut ledger = Ledger::default();
    let mut wins = [0_u32; 2];
    for race in 0..10_000 {
        ledger.apply(Fact::Opened(asked(race)));
        // Who is first changes, as it does on a network.
        let first = race.wrapping_mul(2_654_435_761) >> 31;
        let (first, second) = (100 + first, 101 - first);
        assert_eq!(answer(&mut ledger, race, first), Ok(()));
        let late = answer(&mut ledger, race, second);
        let (by, at) = (Some(DeviceId(first)), Some(Timestamp(2)));
        assert_eq!(late, Err(RefuseAnswer::AlreadyAnswered { by, at }));
        let kept = ledger.get(&key(race)).and_then(|one| one.answer.as_ref());
        let line = format!("answer of {first}");
        assert_eq!(kept.map(|answer| &answer.line), Some(&line));
        ledger.apply(Fact::Settled(key(race)));
        wins[usize::try_from(first - 100).expect("one of two")] += 1;
    }
    assert!(wins.iter().all(|wins| *wins > 1_000), "{wins:?}");
}

#[test]
fn p16_a_thousand_open_questions_are_each_answered_once() {
    let mut ledger = Ledger::default();
    for number in 0..1_500 {
        ledger.apply(Fact::Opened(asked(number)));
    }
    assert_eq!(ledger.open().len(), 1_500);
    // Another read of the same lines asks nothing again.
    assert!((0..1_500).all(|number| ledger.ask(asked(number)).is_none()));
    for number in (0..1_500).rev() {
        assert_eq!(answer(&mut ledger, number, 100), Ok(()));
        assert!(answer(&mut ledger, number, 101).is_err());
    }
    assert!(ledger.open().is_empty());
    assert_eq!(ledger.undelivered(Generation(1)).len(), 1_500);
    let state = ledger.get(&key(0)).map(Decision::state);
    assert_eq!(state, Some(DecisionState::Answered));
}
