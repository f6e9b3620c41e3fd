//! Every message in every state, and the ways through a whole deploy.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each test looks for a few kinds and passes over the others"
)]

use std::collections::BTreeSet;

use estelle_proto::DeviceId;
use estelle_proto::deploy::{DeployPhase, DeployTask};

use super::machine::*;
use super::plan::{Role, Step};

const OWN: DeviceId = DeviceId(1);
const OTHER: DeviceId = DeviceId(2);
const THIRD: DeviceId = DeviceId(3);

fn build() -> Build {
    Build {
        commit: "abc".to_owned(),
        version: "2.0".to_owned(),
        build_time: "20260125100000".to_owned(),
    }
}

/// The step that was asked for last.
fn run(effects: &[Effect]) -> Option<Order> {
    effects.iter().rev().find_map(|effect| match effect {
        Effect::Run(order) => Some(order.clone()),
        _ => None,
    })
}

fn done(machine: &mut Machine, order: &Order) -> Vec<Effect> {
    let found = match order.step {
        Step::Git => Found::Commit("abc".to_owned()),
        Step::Json => Found::Build(build()),
        _ => Found::Nothing,
    };
    machine.step(Input::Done {
        serial: order.serial,
        result: Ok(found),
    })
}

/// Takes all steps that are asked for; what was done, and what the last one led to.
fn take_all(machine: &mut Machine, mut effects: Vec<Effect>) -> (Vec<Step>, Vec<Effect>) {
    let mut steps = Vec::new();
    while let Some(order) = run(&effects) {
        steps.push(order.step);
        effects = done(machine, &order);
    }
    (steps, effects)
}

fn prepare(machine: &mut Machine, role: Role) -> Vec<Effect> {
    machine.step(Input::Prepare {
        ticket: 7,
        role,
        build_time: build().build_time,
    })
}

fn start() -> Input {
    Input::Start {
        lead: OTHER,
        commit: "abc".to_owned(),
        build_time: build().build_time,
    }
}

/// A machine in a phase.
#[expect(clippy::needless_pass_by_value, reason = "a word")]
fn at(phase: DeployPhase) -> Machine {
    let mut machine = Machine::new(OWN);
    let others = BTreeSet::from([OTHER, THIRD]);
    let _ = machine.step(Input::Pylons(others));
    let confirm = Input::Confirm {
        ticket: 8,
        pre_approved: false,
    };
    let go = Input::Go {
        ticket: 9,
        to_all: false,
    };
    match phase {
        DeployPhase::Idle | DeployPhase::Unknown(_) => {}
        DeployPhase::Preparing => drop(prepare(&mut machine, Role::Lead)),
        DeployPhase::Armed => {
            let effects = machine.step(start());
            take_all(&mut machine, effects);
        }
        DeployPhase::Ready
        | DeployPhase::Started
        | DeployPhase::Going
        | DeployPhase::Restarting => {
            let effects = prepare(&mut machine, Role::Lead);
            take_all(&mut machine, effects);
            if phase != DeployPhase::Ready {
                let _ = machine.step(confirm);
            }
            if matches!(phase, DeployPhase::Going | DeployPhase::Restarting) {
                for from in [OTHER, THIRD] {
                    let _ = machine.step(Input::Ack {
                        from,
                        result: Ok(()),
                    });
                }
                let effects = machine.step(go);
                if phase == DeployPhase::Restarting {
                    take_all(&mut machine, effects);
                }
            }
        }
    }
    assert_eq!(machine.phase(), phase);
    machine
}

const PHASES: [DeployPhase; 7] = [
    DeployPhase::Idle,
    DeployPhase::Preparing,
    DeployPhase::Ready,
    DeployPhase::Started,
    DeployPhase::Armed,
    DeployPhase::Going,
    DeployPhase::Restarting,
];

#[test]
fn a_lead_goes_through_all_steps_and_takes_the_others_along() {
    let mut machine = at(DeployPhase::Idle);
    let effects = prepare(&mut machine, Role::Lead);
    assert!(!machine.is_ready());
    let (steps, effects) = take_all(&mut machine, effects);
    let wanted = [
        Step::Git,
        Step::Apk,
        Step::Exe,
        Step::Npm,
        Step::Build,
        Step::Json,
    ];
    assert_eq!(steps, wanted);
    assert!(effects.contains(&Effect::Ready(7, Ok(build()))));
    assert!(machine.is_ready());
    let effects = machine.step(Input::Confirm {
        ticket: 8,
        pre_approved: true,
    });
    assert!(effects.contains(&Effect::StartAll(build())));
    assert!(effects.contains(&Effect::Accept(8)));
    let go = || Input::Go {
        ticket: 9,
        to_all: true,
    };
    // Nobody goes before everybody who is there has answered.
    let effects = machine.step(Input::Ack {
        from: OTHER,
        result: Ok(()),
    });
    let told = Effect::TellAck {
        ticket: 7,
        from: OTHER,
        result: Ok(()),
        total: 1,
    };
    assert_eq!(effects, [told]);
    let effects = machine.step(go());
    let [Effect::Refuse(9, refusal)] = &effects[..] else {
        panic!("{effects:?}");
    };
    assert!(refusal.text.contains("Pylon 3"), "{refusal:?}");
    // One that went away is not waited for.
    let effects = machine.step(Input::Pylons(BTreeSet::from([OTHER])));
    assert!(matches!(
        &effects[..],
        [Effect::TellAck {
            from: THIRD,
            result: Err(_),
            total: 2,
            ..
        }]
    ));
    let effects = machine.step(go());
    assert!(effects.contains(&Effect::Accept(9)));
    let (steps, effects) = take_all(&mut machine, effects);
    assert_eq!(steps, [Step::Upload, Step::Relay, Step::Copy]);
    let commit = "abc".to_owned();
    let restart = effects.iter().position(|one| {
        *one == Effect::RestartAll {
            commit: commit.clone(),
        }
    });
    let farewell = effects.iter().position(|one| *one == Effect::Farewell);
    assert!(restart.unwrap() < farewell.unwrap(), "{effects:?}");
    assert_eq!(machine.step(Input::Farewell), [Effect::Become]);
}

#[test]
fn an_approval_beforehand_starts_as_soon_as_the_build_is_ready() {
    for is_approved in [true, false] {
        let mut machine = at(DeployPhase::Idle);
        let effects = prepare(&mut machine, Role::Lead);
        for pre_approved in [true, is_approved] {
            let confirm = Input::Confirm {
                ticket: 8,
                pre_approved,
            };
            assert_eq!(machine.step(confirm), [Effect::Keep, Effect::Accept(8)]);
        }
        let (_, effects) = take_all(&mut machine, effects);
        assert!(effects.contains(&Effect::Ready(7, Ok(build()))));
        assert_eq!(effects.contains(&Effect::StartAll(build())), is_approved);
    }
}

#[test]
fn a_follower_builds_answers_and_restarts_when_its_lead_says_so() {
    let mut machine = at(DeployPhase::Idle);
    let effects = machine.step(start());
    let order = run(&effects).unwrap();
    assert_eq!(order.commit.as_deref(), Some("abc"));
    let (steps, effects) = take_all(&mut machine, effects);
    assert_eq!(steps, [Step::Git, Step::Npm, Step::Build, Step::Json]);
    assert!(effects.contains(&Effect::AckTo(OTHER, Ok(()))));
    // Said again, it is answered again.
    assert_eq!(machine.step(start()), [Effect::AckTo(OTHER, Ok(()))]);
    let restart = |from, commit: Option<&str>| Input::Restart {
        from,
        commit: commit.map(str::to_owned),
    };
    for stray in [
        restart(THIRD, Some("abc")),
        restart(OTHER, Some("abd")),
        restart(OTHER, None),
    ] {
        assert_eq!(machine.step(stray), []);
    }
    let effects = machine.step(restart(OTHER, Some("abc")));
    let (steps, effects) = take_all(&mut machine, effects);
    assert_eq!(steps, [Step::Copy]);
    assert!(
        !effects
            .iter()
            .any(|one| matches!(one, Effect::RestartAll { .. }))
    );
    assert!(effects.contains(&Effect::Farewell));
}

#[test]
fn a_deploy_of_this_machine_alone_leaves_the_others_alone() {
    let mut machine = at(DeployPhase::Idle);
    let effects = prepare(&mut machine, Role::Alone);
    let (steps, _) = take_all(&mut machine, effects);
    assert!(!steps.contains(&Step::Apk));
    let effects = machine.step(Input::Confirm {
        ticket: 8,
        pre_approved: false,
    });
    assert!(!effects.contains(&Effect::StartAll(build())));
    let effects = machine.step(Input::Go {
        ticket: 9,
        to_all: false,
    });
    let (steps, effects) = take_all(&mut machine, effects);
    assert_eq!(steps, [Step::Copy]);
    assert!(
        !effects
            .iter()
            .any(|one| matches!(one, Effect::RestartAll { .. }))
    );
}

/// Whether a request was refused and nothing else happened.
fn is_refused(effects: &[Effect]) -> bool {
    matches!(effects, [Effect::Refuse(..) | Effect::Ready(_, Err(_))])
}

#[test]
fn what_comes_in_the_wrong_order_is_refused_and_changes_nothing() {
    use DeployPhase as P;
    for phase in PHASES {
        let cases = [
            (
                Input::Prepare {
                    ticket: 1,
                    role: Role::Lead,
                    build_time: String::new(),
                },
                vec![P::Idle, P::Armed],
            ),
            (
                Input::Confirm {
                    ticket: 1,
                    pre_approved: true,
                },
                vec![P::Preparing, P::Ready],
            ),
            (
                Input::Cancel { ticket: 1 },
                vec![P::Preparing, P::Ready, P::Started, P::Armed],
            ),
            // Started as well, once everybody has answered.
            (
                Input::Go {
                    ticket: 1,
                    to_all: false,
                },
                vec![],
            ),
        ];
        for (input, allowed) in cases {
            let mut machine = at(phase.clone());
            let shown = format!("{input:?} while {phase:?}");
            let effects = machine.step(input);
            let is_allowed = allowed.contains(&phase);
            assert_eq!(is_refused(&effects), !is_allowed, "{shown}: {effects:?}");
            if !is_allowed {
                assert_eq!(machine.phase(), phase, "{shown}");
            }
        }
    }
}

#[test]
fn strangers_among_the_pylons_change_nothing() {
    for phase in PHASES {
        let strays = [
            Input::Ack {
                from: DeviceId(9),
                result: Ok(()),
            },
            Input::Restart {
                from: THIRD,
                commit: Some("abc".to_owned()),
            },
            Input::Cancelled {
                from: THIRD,
                commit: "abc".to_owned(),
            },
            Input::Cancelled {
                from: OTHER,
                commit: "other".to_owned(),
            },
            Input::Done {
                serial: 999,
                result: Err("late".to_owned()),
            },
            Input::Start {
                lead: OWN,
                commit: "abc".to_owned(),
                build_time: build().build_time,
            },
        ];
        for stray in strays {
            let mut machine = at(phase.clone());
            let shown = format!("{stray:?} while {phase:?}");
            assert_eq!(machine.step(stray), [], "{shown}");
            assert_eq!(machine.phase(), phase);
        }
    }
}

#[test]
fn a_cancelled_deploy_disarms_the_others_even_those_who_were_away() {
    let mut machine = at(DeployPhase::Started);
    let effects = machine.step(Input::Cancel { ticket: 1 });
    let cancel = Effect::CancelAll {
        commit: "abc".to_owned(),
    };
    assert!(effects.contains(&cancel) && effects.contains(&Effect::Accept(1)));
    assert_eq!(machine.phase(), DeployPhase::Idle);
    let _ = machine.step(Input::Pylons(BTreeSet::from([OTHER])));
    let effects = machine.step(Input::Pylons(BTreeSet::from([OTHER, THIRD])));
    assert_eq!(effects, [cancel]);
    // Once another deploy has begun nobody is told of the old one.
    let _ = prepare(&mut machine, Role::Lead);
    let _ = machine.step(Input::Pylons(BTreeSet::new()));
    assert_eq!(machine.step(Input::Pylons(BTreeSet::from([OTHER]))), []);

    let mut follower = at(DeployPhase::Armed);
    let _ = follower.step(Input::Cancelled {
        from: OTHER,
        commit: "abc".to_owned(),
    });
    assert_eq!(follower.phase(), DeployPhase::Idle);
    let restart = Input::Restart {
        from: OTHER,
        commit: Some("abc".to_owned()),
    };
    assert_eq!(follower.step(restart), []);
}

#[test]
fn cancelling_while_a_step_runs_ends_the_step_and_its_late_result_counts_for_nothing() {
    let mut machine = at(DeployPhase::Idle);
    let effects = prepare(&mut machine, Role::Lead);
    let order = run(&effects).unwrap();
    let effects = machine.step(Input::Cancel { ticket: 1 });
    assert!(effects.contains(&Effect::Abort));
    assert!(matches!(
        effects.iter().find(|one| matches!(one, Effect::Ready(..))),
        Some(Effect::Ready(7, Err(_)))
    ));
    assert_eq!(done(&mut machine, &order), []);
    let effects = prepare(&mut machine, Role::Lead);
    assert!(run(&effects).unwrap().serial > order.serial);
    assert_eq!(done(&mut machine, &order), []);
}

#[test]
fn a_step_that_fails_ends_the_deploy_and_only_that_step_is_an_error() {
    let mut machine = at(DeployPhase::Idle);
    let effects = prepare(&mut machine, Role::Lead);
    let first = run(&effects).unwrap();
    let effects = done(&mut machine, &first);
    let second = run(&effects).unwrap();
    let effects = machine.step(Input::Done {
        serial: second.serial,
        result: Err("it broke".to_owned()),
    });
    let ready = effects.iter().find(|one| matches!(one, Effect::Ready(..)));
    let Some(Effect::Ready(7, Err(refusal))) = ready else {
        panic!("{effects:?}");
    };
    assert_eq!(refusal.text, "APK: it broke");
    assert_eq!(machine.phase(), DeployPhase::Idle);
    let tasks = machine.tasks().wire();
    assert_eq!(
        (tasks.git, tasks.apk, tasks.exe),
        (DeployTask::Done, DeployTask::Error, DeployTask::Waiting)
    );
}

#[test]
fn a_failure_at_the_end_is_undone_and_the_others_are_let_go() {
    let mut machine = at(DeployPhase::Going);
    let serial = machine.deploy.as_ref().unwrap().running.unwrap().0;
    let effects = machine.step(Input::Done {
        serial,
        result: Err("disk full".to_owned()),
    });
    for wanted in [
        Effect::Undo,
        Effect::Failed("Upload: disk full".to_owned()),
        Effect::CancelAll {
            commit: "abc".to_owned(),
        },
    ] {
        assert!(effects.contains(&wanted), "{effects:?}");
    }
    assert!(!effects.contains(&Effect::Farewell));
    // Forgotten before it is undone, a process that dies in between would leave it published.
    assert!(!effects.contains(&Effect::Keep), "{effects:?}");
    assert_eq!(machine.phase(), DeployPhase::Idle);
}

#[test]
fn another_lead_takes_over_and_the_first_one_is_told() {
    let mut machine = at(DeployPhase::Armed);
    let effects = machine.step(Input::Start {
        lead: THIRD,
        commit: "def".to_owned(),
        build_time: build().build_time,
    });
    assert!(
        effects
            .iter()
            .any(|one| matches!(one, Effect::AckTo(OTHER, Err(_))))
    );
    assert_eq!(run(&effects).unwrap().commit.as_deref(), Some("def"));
    // A machine with a deploy of its own follows nobody.
    let mut lead = at(DeployPhase::Ready);
    let effects = lead.step(start());
    assert!(matches!(&effects[..], [Effect::AckTo(OTHER, Err(_))]));
    assert_eq!(lead.phase(), DeployPhase::Ready);
}

#[test]
fn a_go_to_everybody_is_for_the_one_that_leads() {
    for phase in [DeployPhase::Idle, DeployPhase::Armed] {
        let mut machine = at(phase.clone());
        let go = Input::Go {
            ticket: 1,
            to_all: true,
        };
        assert_eq!(machine.step(go), []);
        assert_eq!(machine.phase(), phase);
    }
}

#[test]
fn those_who_missed_the_restart_are_told_when_they_come() {
    let mut machine = Machine::new(OWN);
    let _ = machine.arrived("abc".to_owned(), Role::Lead);
    let effects = machine.step(Input::Pylons(BTreeSet::from([OTHER])));
    assert_eq!(
        effects,
        [Effect::RestartAll {
            commit: "abc".to_owned()
        }]
    );
    let tasks = machine.tasks().wire();
    assert_eq!(
        (tasks.git, tasks.copy),
        (DeployTask::Done, Some(DeployTask::Done))
    );
}
