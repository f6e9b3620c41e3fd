//! What a worker does next, and that it does everything once, whoever is killed in between.

use estelle_proto::history::{HistoryAborted, HistoryError, HistoryTurnResult, HistoryUsage};
use proptest::prelude::*;

use super::*;
use crate::tasks::task::{begin, compose, end, put_back};

const AT: Timestamp = Timestamp(1_769_335_200_000);

fn workspace() -> WorkspaceId {
    WorkspaceId::parse("ws-1").unwrap()
}

fn task(file: &str) -> Task {
    Task::read(file, &compose(file, "A title", "work", AT))
}

/// A worker that has taken a task.
fn at_work() -> Worker {
    let mut worker = Worker {
        on: true,
        ..Worker::default()
    };
    assert!(worker.take(&workspace(), &task("a.md"), "work", AT));
    worker
}

fn step(worker: &Worker, turn: Turn) -> Step {
    worker.next(&Facts {
        now: AT,
        is_host_up: true,
        is_busy: false,
        tasks: &[],
        turn,
    })
}

fn over(end: End) -> Turn {
    Turn::Over(end)
}

#[test]
fn a_worker_takes_the_first_task_when_it_can_work() {
    let worker = Worker {
        on: true,
        ..Worker::default()
    };
    let tasks = [task("b.md"), task("a.md")];
    let facts = |is_host_up, is_busy| Facts {
        now: AT,
        is_host_up,
        is_busy,
        tasks: &tasks,
        turn: Turn::Unseen,
    };
    let Step::Take(taken) = worker.next(&facts(true, false)) else {
        panic!("it takes none");
    };
    assert_eq!(taken.file, "a.md");
    assert_eq!(worker.next(&facts(false, false)), Step::Wait(None));
    assert_eq!(worker.next(&facts(true, true)), Step::Wait(None));
    assert_eq!(
        step(&worker, Turn::Unseen),
        Step::TurnOff,
        "nothing is left"
    );
    let off = Worker::default();
    assert_eq!(off.next(&facts(true, false)), Step::TurnOff);
}

#[test]
fn the_message_of_an_attempt_has_one_name_and_one_text() {
    let (one, other) = (at_work().job.unwrap(), at_work().job.unwrap());
    assert_eq!(one, other);
    let mut later = Worker::default();
    assert!(later.take(&workspace(), &task("a.md"), "work", Timestamp(AT.0 + 1)));
    assert_ne!(later.job.unwrap().message, one.message, "another attempt");
    assert!(one.prompt.as_str().ends_with("# A title\n\nwork"));
    let mut long = Worker::default();
    let text = "x".repeat(600 * 1024);
    assert!(long.take(&workspace(), &task("a.md"), &text, AT));
    assert!(
        long.job
            .unwrap()
            .prompt
            .as_str()
            .starts_with("Read the file task/a.md")
    );
}

#[test]
fn a_turn_marks_its_task_and_what_is_nobodys_fault_makes_it_rest() {
    let worker = at_work();
    let finish = |status, why: Option<&str>| Step::Finish(status, why.map(str::to_owned));
    assert_eq!(
        step(&worker, over(End::Done)),
        finish(TaskStatus::Done, None)
    );
    let failed = over(End::Failed("no".to_owned()));
    assert_eq!(
        step(&worker, failed),
        finish(TaskStatus::Failed, Some("no"))
    );
    for cause in [
        RestCause::UsageLimit,
        RestCause::Authentication,
        RestCause::Unavailable,
    ] {
        let turn = over(End::Unavailable(cause.clone(), "later".to_owned()));
        let Step::GiveBack(back) = step(&worker, turn) else {
            panic!("{cause} fails a task");
        };
        let mut resting = worker.clone();
        resting.give_back(back, AT);
        assert!(resting.on && resting.job.is_none());
        let rest = resting.rest.clone().unwrap();
        assert_eq!(rest.cause, cause);
        let until = rest.until.unwrap();
        assert_eq!(step(&resting, Turn::Unseen), Step::Wait(Some(until)));
        resting.lie_down(cause, "again".to_owned(), until);
        let longer = resting.rest.unwrap().until.unwrap();
        assert!(
            longer.0 - until.0 > until.0 - AT.0,
            "it waits longer each time"
        );
        assert!(longer.0 - until.0 <= LONGEST_REST);
    }
}

#[test]
fn a_rest_at_a_limit_ends_with_the_limit_if_its_reset_is_known() {
    let mut worker = at_work();
    let later = Back::Later(RestCause::UsageLimit, "used up".to_owned());
    worker.give_back(later, AT);
    let usual = worker.rest.clone();
    worker.rest_until_reset(Timestamp(AT.0 - 1), AT);
    assert_eq!(worker.rest, usual, "it is over and says nothing");
    for hours in [1, 30] {
        let resets_at = Timestamp(AT.0 + hours * 3_600_000);
        worker.rest_until_reset(resets_at, AT);
        let until = worker.rest.as_ref().unwrap().until.unwrap();
        assert_eq!(until.0, resets_at.0 + AFTER_RESET);
    }
}

#[test]
fn a_task_whose_process_dies_is_tried_once_more() {
    let mut worker = at_work();
    let died = || over(End::Died("signal 9".to_owned()));
    let Step::GiveBack(Back::Again) = step(&worker, died()) else {
        panic!("it is not tried again");
    };
    worker.give_back(Back::Again, AT);
    assert!(worker.on);
    assert!(worker.take(&workspace(), &task("a.md"), "work", AT));
    let why = Some("signal 9".to_owned());
    assert_eq!(step(&worker, died()), Step::Finish(TaskStatus::Failed, why));
}

#[test]
fn a_stop_puts_the_task_back_unless_it_is_done() {
    let mut worker = at_work();
    worker.on = false;
    worker.job.as_mut().unwrap().stop = true;
    assert_eq!(
        step(&worker, Turn::Unseen),
        Step::Send,
        "to know that it is there"
    );
    assert_eq!(step(&worker, Turn::UnderWay), Step::Stop);
    worker.job.as_mut().unwrap().stopped = true;
    assert_eq!(step(&worker, Turn::UnderWay), Step::Wait(None));
    let back = Step::GiveBack(Back::Stopped);
    for end in [
        End::Stopped,
        End::Failed("broken off".to_owned()),
        End::Died("gone".to_owned()),
    ] {
        assert_eq!(step(&worker, over(end)), back);
    }
    assert_eq!(step(&worker, Turn::Gone), back);
    let done = Step::Finish(TaskStatus::Done, None);
    assert_eq!(step(&worker, over(End::Done)), done);
    worker.give_back(Back::Stopped, AT);
    assert!(worker.is_asleep() && worker.rest.is_none());
}

#[test]
fn a_stop_does_not_wait_until_a_rest_with_a_task_in_hand_is_over() {
    let mut worker = at_work();
    worker.lie_down(RestCause::Files, "no space".to_owned(), AT);
    let until = worker.rest.as_ref().unwrap().until;
    assert_eq!(step(&worker, over(End::Stopped)), Step::Wait(until));
    worker.on = false;
    worker.job.as_mut().unwrap().stop = true;
    assert_eq!(step(&worker, Turn::UnderWay), Step::Stop);
    let back = Step::GiveBack(Back::Stopped);
    assert_eq!(step(&worker, over(End::Stopped)), back);
}

#[test]
fn a_person_who_stops_the_turn_stops_the_worker() {
    for turn in [over(End::Stopped), Turn::Gone] {
        let mut worker = at_work();
        let Step::GiveBack(back) = step(&worker, turn) else {
            panic!("the task is not put back");
        };
        worker.give_back(back, AT);
        assert!(worker.is_asleep());
        assert_eq!(worker.rest.unwrap().cause, RestCause::Stopped);
    }
}

fn result(cause: Option<Cause>) -> HistoryMessage {
    let result = HistoryTurnResult {
        cause,
        ..HistoryTurnResult::new(1, HistoryUsage::new(0, 0, 0), AT)
    };
    result.into()
}

fn aborted(reason: &str) -> HistoryMessage {
    HistoryAborted::new(reason.to_owned(), AT).into()
}

fn error(text: &str) -> HistoryMessage {
    HistoryError::new(text.to_owned(), AT).into()
}

#[test]
fn the_end_of_a_turn_is_told_by_its_cause_and_not_by_words() {
    let idle = ConversationStatus::Idle;
    let end = |entries: &[HistoryMessage]| end_of(entries.iter(), &idle);
    assert_eq!(end(&[]), None);
    assert_eq!(end(&[result(None)]), Some(End::Done));
    assert_eq!(
        end_of([result(None)].iter(), &ConversationStatus::Working),
        None
    );
    let limit = [result(Some(Cause::UsageLimit)), error("x")];
    let unavailable = |cause| Some(End::Unavailable(cause, "x".to_owned()));
    assert_eq!(end(&limit), unavailable(RestCause::UsageLimit));
    let words = [
        result(Some(Cause::InvalidRequest)),
        error("429 usage limit 401"),
    ];
    let failed = Some(End::Failed("429 usage limit 401".to_owned()));
    assert_eq!(end(&words), failed);
    assert_eq!(end(&[aborted("user")]), Some(End::Stopped));
    let stopped = [aborted("user"), result(Some(Cause::Aborted)), error("x")];
    assert_eq!(end(&stopped), Some(End::Stopped));
    let died = [aborted("session_ended"), error("x")];
    assert_eq!(end(&died), Some(End::Died("x".to_owned())));
    assert_eq!(end(&[error("x")]), unavailable(RestCause::Agent));
    let steered = [result(Some(Cause::Other)), error("x"), result(None)];
    assert_eq!(end(&steered), Some(End::Done), "the last one counts");
}

/// What is on the disk and in the host, and what outlives every crash.
#[derive(Debug, Default)]
struct World {
    worker: Worker,
    files: Vec<(String, String)>,
    /// Messages that the host has, and how their turns ended.
    turns: Vec<(ClientMessageId, Option<End>)>,
    clock: i64,
}

impl World {
    fn tasks(&self) -> Vec<Task> {
        let mut tasks: Vec<Task> = self
            .files
            .iter()
            .map(|(file, text)| Task::read(file, text))
            .collect();
        task::arrange(&mut tasks);
        tasks
    }

    fn change(&mut self, file: &str, change: impl Fn(&str) -> String) {
        let found = self.files.iter_mut().find(|(name, _)| name == file);
        if let Some((_, text)) = found {
            *text = change(text);
        }
    }

    /// The host takes a message; the same one again changes nothing.
    fn submit(&mut self, message: &ClientMessageId) -> Seq {
        let known = self.turns.iter().position(|(id, _)| id == message);
        let at = known.unwrap_or_else(|| {
            self.turns.push((message.clone(), None));
            self.turns.len() - 1
        });
        Seq(at as u64 + 1)
    }

    /// One visit; it dies after so many effects.
    #[expect(
        clippy::excessive_nesting,
        reason = "each step, and what a death in it leaves"
    )]
    fn visit(&mut self, mut effects: u32) {
        let mut worker = self.worker.clone();
        loop {
            let tasks = self.tasks();
            let job = worker.job.clone();
            let turn = job.as_ref().and_then(|job| job.seq).map(|seq| {
                let place = usize::try_from(seq.0).unwrap() - 1;
                self.turns[place]
                    .1
                    .clone()
                    .map_or(Turn::UnderWay, Turn::Over)
            });
            let now = Timestamp(AT.0 + self.clock);
            let facts = Facts {
                now,
                is_host_up: true,
                is_busy: false,
                tasks: &tasks,
                turn: turn.unwrap_or(Turn::Unseen),
            };
            let next = worker.next(&facts);
            let file = job.as_ref().map(|job| job.file.clone()).unwrap_or_default();
            self.clock += 1;
            let mut effect = |world: &mut Self, effect: &dyn Fn(&mut Self)| {
                if effects == 0 {
                    return false;
                }
                effects -= 1;
                effect(world);
                true
            };
            let lives = match next {
                Step::Wait(_) | Step::Stop => return,
                Step::TurnOff => {
                    worker.on = false;
                    let kept = worker.clone();
                    effect(self, &|world| world.worker = kept.clone());
                    return;
                }
                Step::Take(task) => {
                    assert!(worker.take(&workspace(), &task, "work", now));
                    let kept = worker.clone();
                    effect(self, &|world| world.worker = kept.clone())
                }
                Step::Send => {
                    let job = job.unwrap();
                    let sent = effect(self, &|world| {
                        world.change(&file, |text| begin(text, now).unwrap());
                    }) && effect(self, &|world| {
                        world.submit(&job.message);
                    });
                    let seq = self.turns.iter().position(|(id, _)| *id == job.message);
                    worker.job.as_mut().unwrap().seq = seq.map(|at| Seq(at as u64 + 1));
                    let kept = worker.clone();
                    sent && effect(self, &|world| world.worker = kept.clone())
                }
                Step::Finish(status, why) => {
                    worker.finish();
                    let kept = worker.clone();
                    effect(self, &|world| {
                        world.change(&file, |text| {
                            end(text, &status, why.as_deref(), now).unwrap()
                        });
                    }) && effect(self, &|world| world.worker = kept.clone())
                }
                Step::GiveBack(why) => {
                    worker.give_back(why, now);
                    let kept = worker.clone();
                    effect(self, &|world| {
                        world.change(&file, |text| put_back(text, now).unwrap());
                    }) && effect(self, &|world| world.worker = kept.clone())
                }
            };
            if !lives {
                return;
            }
        }
    }
}

proptest! {
    #[test]
    fn every_task_is_carried_out_once_over_any_crash(
        deaths in prop::collection::vec(0_u32..6, 0..30),
        ends in prop::collection::vec(prop::bool::ANY, 3),
    ) {
        let mut world = World { worker: Worker { on: true, ..Worker::default() }, ..World::default() };
        for name in ["a.md", "b.md", "c.md"] {
            world.files.push((name.to_owned(), compose(name, name, "work", AT)));
        }
        let mut deaths = deaths.into_iter();
        for _ in 0..60 {
            world.visit(deaths.next().unwrap_or(1000));
            // Whatever runs comes to its end.
            let number = world.turns.len();
            if let Some((_, end)) = world.turns.last_mut() {
                let is_well = ends[(number - 1) % ends.len()];
                end.get_or_insert(if is_well { End::Done } else { End::Failed("no".to_owned()) });
            }
        }
        prop_assert!(world.worker.is_asleep());
        prop_assert_eq!(world.turns.len(), 3, "each task became one turn");
        let expected = |is_well: &bool| if *is_well { TaskStatus::Done } else { TaskStatus::Failed };
        let statuses: Vec<TaskStatus> = world.files.iter().map(|(file, text)| Task::read(file, text).status).collect();
        let wanted: Vec<TaskStatus> = ends.iter().map(expected).collect();
        prop_assert_eq!(statuses, wanted);
    }
}

#[test]
fn a_task_that_is_apart_has_a_place_of_its_own_and_goes_on_there() {
    let own = ConversationId::parse("own").unwrap();
    let mut worker = Worker {
        on: true,
        conversation: Some(ConversationId::parse("shared").unwrap()),
        apart: true,
        ..Worker::default()
    };
    let apart = task("a.md");
    assert!(worker.keeps_apart(&apart));
    let mut together = task("b.md");
    together.worktree = Some(false);
    assert!(!worker.keeps_apart(&together));
    assert!(worker.take_apart(&workspace(), &apart, "work", "/home/me/task/a.md", AT));
    assert_eq!(worker.place(), None);
    let prompt = worker.job.as_ref().unwrap().prompt.as_str().to_owned();
    assert!(
        prompt.contains("/home/me/task/a.md") && prompt.contains("commit"),
        "{prompt}"
    );
    worker.job.as_mut().unwrap().conversation = Some(own.clone());
    assert_eq!(worker.place(), Some(&own));
    worker.give_back(Back::Again, AT);
    assert_eq!(worker.place().unwrap().as_str(), "shared");
    let kept = serde_json::to_string(&worker).unwrap();
    let mut worker: Worker = serde_json::from_str(&kept).unwrap();
    assert!(worker.take_apart(&workspace(), &apart, "work", "/home/me/task/a.md", AT));
    assert_eq!(worker.place(), Some(&own));
    worker.finish();
    assert!(worker.take_apart(&workspace(), &apart, "work", "/home/me/task/a.md", AT));
    assert_eq!(worker.place(), None, "done is done");
}

#[test]
fn what_an_older_build_remembers_is_read() {
    let kept = r#"{"on":true,"conversation":"c","job":{"file":"a.md","id":"a","title":"A","at":1,
        "message":"m","prompt":"p","seq":null,"stop":false,"stopped":false}}"#;
    let worker: Worker = serde_json::from_str(kept).unwrap();
    assert!(!worker.apart && !worker.job.as_ref().unwrap().apart);
    assert_eq!(worker.place().unwrap().as_str(), "c");
}
