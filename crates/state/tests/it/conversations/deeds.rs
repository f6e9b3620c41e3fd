//! Everything that can be done to a conversation: by people, by the host, by its CLI, and by a CLI that lies.

use estelle_proto::decisions::{DecisionKind, PermissionDecision};
use estelle_proto::events::{ClaudeEvent, ErrorEvent, ToolComplete, ToolInfo};
use estelle_proto::runs::{PauseReason, TaskUpdate};
use estelle_proto::{Generation, Json, OnBusy, PermissionMode, Seq};
use estelle_state::conversation::{
    Change, Control, Durable, RunExit, Seen, StopReason, Totals, Verdict,
};
use proptest::prelude::*;

use super::driving::do_due;
use super::world::{
    HOST, World, call_id, client_id, key, line, message, message_id, now, request, request_id,
    session,
};

/// Of which generation something is said to be.
#[derive(Debug, Clone, Copy)]
pub(super) enum Whose {
    TheRun,
    TheHost,
    Another(u64),
}

/// What a CLI says, with names from the pools.
#[derive(Debug, Clone, Copy)]
pub(super) enum Say {
    Begin(u8),
    End(u8),
    Take(u8),
    Drop(u8),
    Ask(u8, u8),
    Withdraw(u8, u8),
    /// Repeats our answer to a request.
    Echo(u8),
    /// Repeats an answer that is not ours.
    Lie(u8),
    /// Answers a control request of ours.
    Reply(u8),
    Call(u8),
    Result(u8),
    Unknown(u8),
    Mode,
    ResumeFailed,
    Tool(u8),
    ToolDone(u8),
    TaskBegan,
    TaskDone,
    Fail,
}

#[derive(Debug, Clone)]
pub(super) enum Deed {
    /// The host does the next thing that is due.
    Due,
    Change(u8),
    Accept(u8, u8, OnBusy),
    /// Takes a message back.
    Cancel(u8),
    Release,
    Want,
    Hand(u8),
    Request(u8, Control),
    Stop,
    StopRun(StopReason),
    Forget,
    /// Goes back to before the nth event, with or without a session.
    Rewind(u64, bool),
    Repair,
    Answer(Whose, u8, PermissionDecision),
    Judge(Whose, u8),
    Show(Whose, u8),
    Ask(u8),
    Acted(u8),
    Begin(u8),
    Finish(u8),
    MakeWay,
    Intend,
    Started,
    Ended(RunExit, bool),
    Read(Whose, Vec<Say>),
}

impl Deed {
    /// Whether a person did it, in a way that asks the host to go on.
    pub(super) fn is_a_wish_to_go_on(&self) -> bool {
        matches!(self, Self::Accept(..) | Self::Release | Self::Want)
    }
}

fn whose() -> impl Strategy<Value = Whose> {
    prop_oneof![
        8 => Just(Whose::TheRun),
        2 => Just(Whose::TheHost),
        1 => (0u64..5).prop_map(Whose::Another),
    ]
}

fn say() -> impl Strategy<Value = Say> {
    let small = 0u8..4;
    prop_oneof![
        4 => small.clone().prop_map(Say::Begin),
        4 => small.clone().prop_map(Say::End),
        4 => small.clone().prop_map(Say::Take),
        2 => small.clone().prop_map(Say::Drop),
        4 => (small.clone(), 0u8..2).prop_map(|(call, twin)| Say::Ask(call, twin)),
        2 => (small.clone(), 0u8..2).prop_map(|(call, twin)| Say::Withdraw(call, twin)),
        3 => small.clone().prop_map(Say::Echo),
        1 => small.clone().prop_map(Say::Lie),
        2 => small.clone().prop_map(Say::Reply),
        2 => small.clone().prop_map(Say::Call),
        2 => small.clone().prop_map(Say::Result),
        1 => small.clone().prop_map(Say::Unknown),
        1 => Just(Say::Mode),
        1 => Just(Say::ResumeFailed),
        2 => small.clone().prop_map(Say::Tool),
        3 => small.prop_map(Say::ToolDone),
        1 => Just(Say::TaskBegan),
        1 => Just(Say::TaskDone),
        1 => Just(Say::Fail),
    ]
}

fn control() -> impl Strategy<Value = Control> {
    prop_oneof![
        3 => Just(Control::Initialize),
        3 => Just(Control::Interrupt),
        1 => (0u8..4).prop_map(|number| Control::Cancel { message: message_id(number) }),
        1 => Just(Control::Mode { mode: PermissionMode::Plan }),
        1 => Just(Control::Model { model: None }),
        1 => Just(Control::StopTask { task: "b1".to_owned() }),
        1 => Just(Control::End),
    ]
}

fn why() -> impl Strategy<Value = StopReason> {
    let pause = prop::sample::select(vec![
        PauseReason::IdleTimeout,
        PauseReason::Manual,
        PauseReason::ServerShutdown,
    ]);
    let paused = pause.prop_map(|reason| StopReason::Paused {
        reason,
        idle_minutes: 30,
    });
    let tampered = StopReason::Tampered {
        what: "a line".to_owned(),
        is_unasked: false,
    };
    let reconfigured = StopReason::Reconfigured {
        what: "a file".to_owned(),
    };
    prop_oneof![
        3 => paused,
        1 => Just(reconfigured),
        1 => Just(StopReason::NewSession),
        1 => Just(StopReason::Rewinding),
        1 => Just(StopReason::Disobeyed),
        1 => Just(StopReason::Trusted),
        1 => Just(tampered),
    ]
}

fn exit() -> impl Strategy<Value = RunExit> {
    let never = any::<bool>().prop_map(|retry| RunExit::NeverStarted {
        reason: "no".to_owned(),
        retry,
    });
    let code = prop::sample::select(vec![0, 1]).prop_map(|code| RunExit::Code {
        code,
        stderr: "oh".to_owned(),
    });
    let signal = RunExit::Signal {
        signal: 9,
        stderr: String::new(),
    };
    prop_oneof![never, code, Just(signal), Just(RunExit::Unknown)]
}

fn by_people() -> impl Strategy<Value = Deed> {
    let small = 0u8..4;
    let on_busy = prop::sample::select(vec![OnBusy::Inject, OnBusy::Queue, OnBusy::Interrupt]);
    let decision = prop::sample::select(vec![
        PermissionDecision::Allow,
        PermissionDecision::AllowAll,
        PermissionDecision::Deny,
    ]);
    prop_oneof![
        8 => (0u8..6, 0u8..2, on_busy).prop_map(|(id, text, on_busy)| Deed::Accept(id, text, on_busy)),
        2 => (0u8..6).prop_map(Deed::Cancel),
        4 => (whose(), small.clone(), decision).prop_map(|(whose, call, decision)| Deed::Answer(whose, call, decision)),
        1 => small.prop_map(Deed::Change),
        1 => Just(Deed::Release),
        1 => Just(Deed::Want),
        2 => Just(Deed::Stop),
        1 => Just(Deed::Forget),
        2 => (1u64..40, any::<bool>()).prop_map(|(before, any)| Deed::Rewind(before, any)),
    ]
}

fn by_the_host() -> impl Strategy<Value = Deed> {
    let small = 0u8..4;
    prop_oneof![
        12 => Just(Deed::Due),
        4 => Just(Deed::Intend),
        4 => Just(Deed::Started),
        2 => (0u8..6).prop_map(Deed::Hand),
        3 => (small.clone(), control()).prop_map(|(id, control)| Deed::Request(id, control)),
        1 => why().prop_map(Deed::StopRun),
        1 => Just(Deed::Repair),
        2 => (whose(), small.clone()).prop_map(|(whose, call)| Deed::Judge(whose, call)),
        2 => (whose(), small.clone()).prop_map(|(whose, call)| Deed::Show(whose, call)),
        1 => small.clone().prop_map(Deed::Ask),
        1 => small.clone().prop_map(Deed::Acted),
        1 => small.clone().prop_map(Deed::Begin),
        1 => small.prop_map(Deed::Finish),
        1 => Just(Deed::MakeWay),
        2 => (exit(), any::<bool>()).prop_map(|(exit, saved)| Deed::Ended(exit, saved)),
    ]
}

/// Something that may happen at any time.
pub(super) fn deed() -> impl Strategy<Value = Deed> {
    let read = (whose(), prop::collection::vec(say(), 0..4));
    prop_oneof![
        2 => by_people(),
        3 => by_the_host(),
        3 => read.prop_map(|(whose, says)| Deed::Read(whose, says)),
    ]
}

impl World {
    fn of(&self, whose: Whose) -> Generation {
        match whose {
            Whose::TheRun => self.generation(),
            Whose::TheHost => HOST,
            Whose::Another(number) => Generation(number),
        }
    }

    /// Does it, whether or not it makes sense.
    pub(super) fn act(&mut self, deed: &Deed) {
        match deed {
            Deed::Due => do_due(self),
            Deed::Read(whose, says) => {
                let generation = self.of(*whose);
                let seen = says.iter().filter_map(|say| seen(*say)).collect();
                let events = says.iter().filter_map(|say| event(*say)).collect();
                self.read(generation, seen, events);
            }
            Deed::Change(_)
            | Deed::Accept(..)
            | Deed::Cancel(_)
            | Deed::Release
            | Deed::Want
            | Deed::Stop
            | Deed::Forget
            | Deed::Rewind(..)
            | Deed::Answer(..) => self.act_as_people(deed),
            Deed::Hand(_)
            | Deed::Request(..)
            | Deed::StopRun(_)
            | Deed::Repair
            | Deed::Judge(..)
            | Deed::Show(..)
            | Deed::Ask(_)
            | Deed::Acted(_)
            | Deed::Begin(_)
            | Deed::Finish(_)
            | Deed::MakeWay
            | Deed::Intend
            | Deed::Started
            | Deed::Ended(..) => self.act_as_host(deed),
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "`act` says who does the rest"
    )]
    fn act_as_people(&mut self, deed: &Deed) {
        let machine = &mut self.live;
        match deed {
            Deed::Change(number) => {
                let change = Change {
                    model: Some(format!("model-{number}")),
                    session: (*number == 3).then(|| session(3)),
                    ..Change::default()
                };
                let entry = machine.change(now(), change);
                self.write(entry);
            }
            Deed::Accept(id, text, on_busy) => {
                let accepted = machine.accept(now(), message(*id, *text, on_busy.clone()));
                self.write(accepted.into_iter().flat_map(|accepted| accepted.entries));
            }
            Deed::Cancel(id) => {
                let entry = machine.cancel(now(), &client_id(*id), None);
                self.write(entry);
            }
            Deed::Release => {
                let entry = machine.release(now());
                self.write(entry);
            }
            Deed::Want => {
                let entry = machine.want(now());
                self.write(entry);
            }
            Deed::Stop => {
                let stopped = machine.stop(now(), None, |request| line(&request.request_id));
                self.write(stopped.entries);
            }
            Deed::Forget => {
                let entry = machine.forget(now());
                self.write(entry);
            }
            Deed::Rewind(before, has_session) => {
                let session = has_session.then(|| session(9));
                let rewound = machine.rewind(now(), Seq(*before), session, None);
                self.write(rewound.into_iter().flatten());
            }
            Deed::Answer(whose, call, decision) => {
                let key = key(self.of(*whose), *call);
                let line = line(&request_id(*call, 0));
                let entry = self.live.answer(now(), &key, None, decision.clone(), line);
                self.write(entry);
            }
            _ => {}
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "`act` says who does the rest"
    )]
    fn act_as_host(&mut self, deed: &Deed) {
        let key = match deed {
            Deed::Judge(whose, call) | Deed::Show(whose, call) => key(self.of(*whose), *call),
            Deed::Acted(call) => key(HOST, *call),
            _ => key(HOST, 99),
        };
        let machine = &mut self.live;
        let entry = match deed {
            Deed::Hand(id) => machine.hand(now(), message_id(*id)),
            Deed::Request(id, control) => {
                machine.request(now(), format!("control-{id}"), control.clone())
            }
            Deed::StopRun(why) => machine.stop_run(now(), why.clone()),
            Deed::Repair => {
                let event = ClaudeEvent::Error(ErrorEvent::new("repaired".to_owned()));
                Some(machine.repair(now(), "something".to_owned(), vec![event]))
            }
            Deed::Judge(_, call) => {
                let verdict = Verdict {
                    verdict: "allow".to_owned(),
                    reason: "a rule".to_owned(),
                };
                machine.judged(now(), &key, verdict, line(&request_id(*call, 0)))
            }
            Deed::Show(..) => machine.show(now(), &key, "nobody knows".to_owned()),
            Deed::Acted(_) => machine.acted(now(), &key),
            Deed::Begin(id) => machine.call(now(), format!("call-{id}"), None),
            Deed::Finish(id) => {
                let id = format!("call-{id}");
                let answer = line(&id);
                machine.call(now(), id, Some(answer))
            }
            Deed::MakeWay => machine.make_way(now()),
            Deed::Intend => machine.intend(now()),
            Deed::Started => machine.started(now(), 7, 8),
            Deed::Ended(exit, saved) => machine.ended_run(now(), exit.clone(), |_| *saved),
            Deed::Ask(number) => {
                let request = request(*number, 0, DecisionKind::Trust);
                let entries = machine.ask(now(), request, "a new folder".to_owned());
                return self.write(entries);
            }
            _ => None,
        };
        self.write(entry);
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the others are events, not facts"
)]
fn seen(say: Say) -> Option<Seen> {
    let response = |request_id: String, digest: String| Seen::Response {
        request_id,
        digest,
        error: None,
        cancelled: false,
    };
    Some(match say {
        Say::Begin(number) => Seen::TurnBegan {
            session: session(number),
        },
        Say::End(number) => Seen::TurnEnded {
            totals: Totals {
                cost: f64::from(number) / 4.0,
                ..Totals::default()
            },
            messages: vec![message_id(number)],
            failed: number == 0,
        },
        Say::Take(number) => Seen::Taken {
            message: message_id(number),
        },
        Say::Drop(number) => Seen::Dropped {
            message: message_id(number),
        },
        Say::Ask(number, twin) => {
            Seen::Asked(Box::new(request(number, twin, DecisionKind::Permission)))
        }
        Say::Withdraw(number, twin) => Seen::Withdrew {
            request_id: request_id(number, twin),
        },
        Say::Echo(number) => {
            let id = request_id(number, 0);
            response(id.clone(), line(&id))
        }
        Say::Lie(number) => response(request_id(number, 0), "a lie".to_owned()),
        Say::Reply(number) => response(format!("control-{number}"), "done".to_owned()),
        Say::Result(number) => {
            let id = format!("call-{number}");
            response(id.clone(), line(&id))
        }
        Say::Call(number) => Seen::Called {
            request_id: format!("call-{number}"),
            server: "estelle".to_owned(),
            message: Json::parse("{}").ok()?,
        },
        Say::Unknown(number) => Seen::Unknown {
            request_id: format!("unknown-{number}"),
            subtype: "dance".to_owned(),
        },
        Say::Mode => Seen::Mode {
            mode: "bypassPermissions".to_owned(),
        },
        Say::ResumeFailed => Seen::ResumeFailed,
        _ => return None,
    })
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the others are facts, not events"
)]
fn event(say: Say) -> Option<Durable> {
    let task =
        |status: &str| ClaudeEvent::Task(TaskUpdate::new("task".to_owned(), status.to_owned()));
    Some(Durable::from(match say {
        Say::Tool(number) => ClaudeEvent::ToolInfo(ToolInfo {
            tool_use_id: Some(call_id(number)),
            ..ToolInfo::new("Bash".to_owned(), Json::parse("{}").ok()?)
        }),
        Say::ToolDone(number) => ClaudeEvent::ToolComplete(ToolComplete {
            tool_use_id: Some(call_id(number)),
            ..ToolComplete::new("Bash".to_owned(), true, "fine".to_owned())
        }),
        Say::TaskBegan => task("started"),
        Say::TaskDone => task("completed"),
        Say::Fail => ClaudeEvent::Error(ErrorEvent::new("failed".to_owned())),
        _ => return None,
    }))
}
