//! A host that does what is due, a CLI that does as it is told, and people who answer everything.

use estelle_proto::OnBusy;
use estelle_proto::decisions::PermissionDecision;
use estelle_proto::events::{ClaudeEvent, ToolComplete};
use estelle_proto::runs::TaskUpdate;
use estelle_state::conversation::{
    Due, Durable, Place, RunExit, Seen, Totals, Tracked, Unconfirmed, Verdict,
};
use estelle_state::decisions::DecisionKey;

use super::world::{HOST, World, line, message, now, session};

/// The host does the next thing that is due.
pub(super) fn do_due(world: &mut World) {
    let live = &mut world.live;
    let Some(due) = live.due() else {
        return;
    };
    let entries: Vec<_> = match due {
        Due::Start => live.intend(now()).into_iter().collect(),
        Due::Judge(key) => {
            let key = key.clone();
            judge(world, &key);
            return;
        }
        Due::Hand(message) => {
            let id = message.id.clone();
            live.hand(now(), id).into_iter().collect()
        }
        Due::Interrupt => live.make_way(now()).into_iter().collect(),
        Due::Act(key) => {
            let key = key.clone();
            live.acted(now(), &key).into_iter().collect()
        }
        Due::Call(id, _) => {
            let id = id.to_owned();
            let answer = line(&id);
            let begun = live.call(now(), id.clone(), None);
            let done = live.call(now(), id, Some(answer));
            begun.into_iter().chain(done).collect()
        }
    };
    world.write(entries);
}

/// The policy decides about calls with an even number; about the rest, people are asked.
fn judge(world: &mut World, key: &DecisionKey) {
    let is_even = key.tool_use_id.to_string().ends_with(['0', '2']);
    let entry = if is_even && key.generation != HOST {
        let pending = world.live.pending(key);
        let line = line(pending.map_or("", |pending| &pending.request.request_id));
        let verdict = Verdict {
            verdict: "allow".to_owned(),
            reason: "a rule".to_owned(),
        };
        world.live.judged(now(), key, verdict, line)
    } else {
        world.live.show(now(), key, "nobody knows".to_owned())
    };
    world.write(entry);
}

/// Does what is due until nothing is. Everything that is due can be done, and comes to an end.
pub(super) fn do_all_due(world: &mut World) {
    let is_due = |world: &World| world.live.due().is_some();
    for _ in 0..100 {
        if !is_due(world) {
            return;
        }
        let before = world.log.len();
        do_due(world);
        assert!(
            world.log.len() > before,
            "{:?} is due and cannot be done",
            world.live.due()
        );
    }
    panic!("{:?} is due for ever", world.live.due());
}

/// Goes on until there is nothing left to do or to say.
pub(super) fn come_to_rest(world: &mut World) {
    for _ in 0..60 {
        let before = world.log.len();
        do_all_due(world);
        obey(world);
        people_answer(world);
        if world.log.len() == before {
            return;
        }
    }
    panic!("{:?} never comes to rest", world.live);
}

fn people_answer(world: &mut World) {
    let shown: Vec<_> = world.live.shown().map(|(key, _)| key.clone()).collect();
    for key in shown {
        let pending = world.live.pending(&key).expect("it is shown");
        let line = line(&pending.request.request_id);
        let entry = world
            .live
            .answer(now(), &key, None, PermissionDecision::Allow, line);
        world.write(entry);
    }
}

/// The process starts, does the next thing it was told, or ends when it should.
fn obey(world: &mut World) {
    let Some(run) = world.live.run() else { return };
    if run.process.is_none() {
        let entry = world.live.started(now(), 7, 8);
        return world.write(entry);
    }
    if run.stopping.is_some() || run.resume_failed || run.farewell.is_some() {
        let exit = RunExit::Code {
            code: 0,
            stderr: String::new(),
        };
        let entry = world.live.ended_run(now(), exit, |_| false);
        return world.write(entry);
    }
    let generation = run.generation;
    if let Some((seen, events)) = next_words(world) {
        let suspicion = world.read(generation, seen, events);
        assert_eq!(suspicion, None, "an honest CLI is never suspected");
    }
}

/// What the CLI says to the first line that it got, or at the end of its turn.
fn next_words(world: &World) -> Option<(Vec<Seen>, Vec<Durable>)> {
    let ended = Seen::TurnEnded {
        totals: Totals {
            cost: 0.5,
            ..Totals::default()
        },
        messages: Vec::new(),
        failed: false,
    };
    let response = |request_id: &str, digest: &str| Seen::Response {
        request_id: request_id.to_owned(),
        digest: digest.to_owned(),
        error: None,
        cancelled: false,
    };
    if let Some(line) = world.live.unconfirmed().first() {
        return Some(match line {
            Unconfirmed::Message(message) => {
                let began = Seen::TurnBegan {
                    session: session(1),
                };
                let taken = Seen::Taken {
                    message: message.id.clone(),
                };
                (vec![began, taken, ended], Vec::new())
            }
            Unconfirmed::Answer(answer) => {
                let decision = world.live.ledger().get(&answer.key).expect("it is there");
                let echo = response(&decision.asked.request_id, &answer.line);
                let done = ToolComplete {
                    tool_use_id: Some(answer.key.tool_use_id.clone()),
                    ..ToolComplete::new("Bash".to_owned(), true, String::new())
                };
                (vec![echo], vec![ClaudeEvent::ToolComplete(done).into()])
            }
            Unconfirmed::Result(id, text) => (vec![response(id, text)], Vec::new()),
            Unconfirmed::Refusal(id, _) => (vec![response(id, "")], Vec::new()),
        });
    }
    let occupied = world.live.occupied();
    if occupied.turn.is_some() {
        return Some((vec![ended], Vec::new()));
    }
    let is_taken = |one: &Tracked| matches!(one.place, Place::Taken(_));
    if world.live.messages().iter().any(is_taken) {
        let began = Seen::TurnBegan {
            session: session(1),
        };
        return Some((vec![began, ended], Vec::new()));
    }
    let done = TaskUpdate::new("task".to_owned(), "completed".to_owned());
    (occupied.tasks > 0).then(|| (Vec::new(), vec![ClaudeEvent::Task(done).into()]))
}

/// A run that was started for a message and is ready to take more.
pub(super) fn running() -> World {
    let mut world = World::new();
    let accepted = world.live.accept(now(), message(9, 0, OnBusy::Inject));
    world.write(accepted.expect("it is new").entries);
    do_all_due(&mut world);
    obey(&mut world);
    world
}
