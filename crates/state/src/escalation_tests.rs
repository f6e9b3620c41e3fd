//! Who is pushed when, as tables of seconds, and that nothing is ever postponed.

use proptest::prelude::*;

use super::*;

const GRACE: Duration = Duration::from_secs(8);

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

/// What is done to a process until a time, when the shell wakes exactly when it should.
fn pushes(escalation: &mut Escalation, until: Duration) -> Vec<(u64, Push)> {
    let mut pushes = Vec::new();
    while let Some(at) = escalation.wake_at().filter(|at| *at <= until) {
        while let Some(push) = escalation.overdue(at) {
            pushes.push((at.as_secs(), push));
        }
    }
    pushes
}

#[test]
fn a_process_is_asked_then_told_then_killed_until_it_is_gone() {
    let mut escalation = Escalation::new(GRACE);
    escalation.asked(seconds(0));
    let expected = [
        (2, Push::Terminate),
        (8, Push::Kill),
        (9, Push::Kill),
        (10, Push::Kill),
    ];
    assert_eq!(pushes(&mut escalation, seconds(10)), expected);
    escalation.gone();
    assert_eq!(escalation.wake_at(), None);
}

#[test]
fn a_process_that_was_told_has_the_whole_grace_and_never_more_than_before() {
    let mut at_once = Escalation::new(GRACE);
    at_once.told(seconds(1));
    assert_eq!(pushes(&mut at_once, seconds(9)), [(9, Push::Kill)]);

    let mut asked_and_told = Escalation::new(GRACE);
    asked_and_told.asked(seconds(1));
    asked_and_told.told(seconds(1));
    assert_eq!(pushes(&mut asked_and_told, seconds(9)), [(9, Push::Kill)]);

    let mut asked_before = Escalation::new(GRACE);
    asked_before.asked(seconds(0));
    asked_before.told(seconds(1));
    assert_eq!(pushes(&mut asked_before, seconds(8)), [(8, Push::Kill)]);

    let mut condemned = Escalation::new(GRACE);
    condemned.condemn(seconds(0));
    condemned.told(seconds(0));
    assert_eq!(pushes(&mut condemned, seconds(0)), [(0, Push::Kill)]);
}

#[test]
fn a_turn_that_does_not_end_costs_its_process() {
    let mut escalation = Escalation::new(GRACE);
    escalation.interrupted(seconds(1));
    assert_eq!(pushes(&mut escalation, seconds(8)), []);
    assert_eq!(
        pushes(&mut escalation, seconds(20)),
        [(9, Push::EndProcess)]
    );
}

#[test]
fn a_turn_that_ends_in_time_costs_nothing() {
    let mut escalation = Escalation::new(GRACE);
    escalation.interrupted(seconds(1));
    escalation.turn_ended();
    assert_eq!(pushes(&mut escalation, seconds(60)), []);
}

#[test]
fn pressing_stop_again_gives_no_more_time() {
    let mut escalation = Escalation::new(GRACE);
    escalation.interrupted(seconds(0));
    escalation.interrupted(seconds(7));
    assert_eq!(
        pushes(&mut escalation, seconds(20)),
        [(8, Push::EndProcess)]
    );
}

#[test]
fn a_process_that_a_host_before_this_one_asked_is_told_at_once() {
    let mut escalation = Escalation::new(GRACE);
    escalation.go_on(seconds(0));
    assert_eq!(
        pushes(&mut escalation, seconds(6)),
        [(0, Push::Terminate), (6, Push::Kill)]
    );
}

#[test]
fn a_process_that_must_not_live_is_killed_even_if_it_was_asked_before() {
    let mut escalation = Escalation::new(GRACE);
    escalation.asked(seconds(0));
    escalation.condemn(seconds(1));
    assert_eq!(pushes(&mut escalation, seconds(1)), [(1, Push::Kill)]);
}

#[test]
fn a_process_that_was_told_is_not_killed_sooner_for_being_asked_again() {
    let mut escalation = Escalation::new(GRACE);
    escalation.asked(seconds(0));
    assert_eq!(pushes(&mut escalation, seconds(3)), [(2, Push::Terminate)]);
    escalation.asked(seconds(3));
    assert_eq!(pushes(&mut escalation, seconds(8)), [(8, Push::Kill)]);
}

#[derive(Debug, Clone, Copy)]
enum Deed {
    Interrupt,
    TurnEnded,
    Ask,
    Tell,
    GoOn,
    Condemn,
    Gone,
    Wait(u64),
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        Just(Deed::Interrupt),
        Just(Deed::TurnEnded),
        Just(Deed::Ask),
        Just(Deed::Tell),
        Just(Deed::GoOn),
        Just(Deed::Condemn),
        Just(Deed::Gone),
        (0u64..12).prop_map(Deed::Wait),
    ]
}

/// When a process is killed at the latest, if this is what is planned for it.
fn killed_at(escalation: &Escalation, (at, push): (Duration, Push)) -> Duration {
    match push {
        Push::EndProcess | Push::Terminate => at + escalation.rest(),
        Push::Kill => at,
    }
}

proptest! {
    #[test]
    fn a_process_is_pushed_ever_harder_and_never_later(grace in 0u64..10, deeds in prop::collection::vec(deed(), 0..60)) {
        let mut escalation = Escalation::new(seconds(grace));
        let mut now = Duration::ZERO;
        let mut hardest = None;
        for deed in deeds {
            let before = escalation.process;
            match deed {
                Deed::Interrupt => escalation.interrupted(now),
                Deed::TurnEnded => escalation.turn_ended(),
                Deed::Ask => escalation.asked(now),
                Deed::Tell => {
                    escalation.told(now);
                    hardest = hardest.max(Some(Push::Terminate));
                    let killed_at = escalation.process.map(|planned| killed_at(&escalation, planned));
                    prop_assert!(killed_at <= Some(now + seconds(grace)), "more than the grace");
                }
                Deed::GoOn => escalation.go_on(now),
                Deed::Condemn => escalation.condemn(now),
                Deed::Gone => {
                    escalation.gone();
                    hardest = None;
                    prop_assert_eq!(escalation.wake_at(), None);
                }
                Deed::Wait(wait) => now += seconds(wait),
            }
            if let (Some(before), Some(after)) = (before, escalation.process) {
                let (was, is) = (killed_at(&escalation, before), killed_at(&escalation, after));
                prop_assert!(is <= was && after.1 >= before.1, "it got more time");
                // Only being told takes the place of a step that was planned.
                let is_told = matches!(deed, Deed::Tell);
                prop_assert!(is_told || after.0 <= before.0, "the next step comes later");
            }
            for _ in 0..3 {
                let Some(push) = escalation.overdue(now) else { break };
                if push != Push::EndProcess {
                    prop_assert!(Some(push) >= hardest, "{push:?} after {hardest:?}");
                    hardest = Some(push);
                }
            }
            prop_assert!(escalation.wake_at().is_none_or(|at| at > now), "the shell would spin");
        }
    }
}
