//! What holds in whatever order things happen, with an honest CLI and with one that lies.

use estelle_proto::conversations::ConversationStatus;
use estelle_state::conversation::{Place, RunExit, Seen};
use estelle_state::idle::Occupation;
use proptest::prelude::*;

use super::deeds::{Deed, deed};
use super::driving::{come_to_rest, do_all_due, running};
use super::watcher::{check_log, check_step};
use super::world::{World, now};

/// Does everything, and looks at every step.
fn live_through(mut world: World, deeds: &[Deed]) -> World {
    for deed in deeds {
        let before = world.live.clone();
        let written = world.log.len();
        world.act(deed);
        check_step(&before, &world, &world.log[written..], deed);
    }
    check_log(&world);
    world
}

fn worlds() -> impl Strategy<Value = World> {
    prop_oneof![
        1 => Just(()).prop_map(|()| World::new()),
        3 => Just(()).prop_map(|()| running()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_conversation_told_by_its_log_is_the_one_that_wrote_it(world in worlds(), deeds in prop::collection::vec(deed(), 0..60)) {
        let world = live_through(world, &deeds);
        prop_assert_eq!(world.replayed(), world.live.clone());
        prop_assert_eq!(world.outlined(), world.live);
    }

    #[test]
    fn what_is_due_can_be_done_and_comes_to_an_end(world in worlds(), deeds in prop::collection::vec(deed(), 0..60)) {
        let mut world = live_through(world, &deeds);
        do_all_due(&mut world);
        check_log(&world);
    }

    #[test]
    fn with_an_honest_cli_everything_comes_to_rest(world in worlds(), deeds in prop::collection::vec(deed(), 0..60)) {
        let mut world = live_through(world, &deeds);
        come_to_rest(&mut world);
        check_log(&world);
        prop_assert_eq!(world.live.status(), ConversationStatus::Idle);
        prop_assert_eq!(world.live.occupation(), Occupation::Idle);
        let held = world.live.messages().iter().filter(|one| one.place == Place::Held);
        prop_assert_eq!(held.count(), world.live.messages().len(), "only what nobody asked for is left");
        prop_assert_eq!(world.replayed(), world.live);
    }

    #[test]
    fn a_host_that_dies_at_any_moment_finds_the_same_things_due(deeds in prop::collection::vec(deed(), 0..60), cut in 0usize..60) {
        let world = live_through(running(), &deeds);
        let kept = world.log.len().min(cut + 1);
        let mut before = world;
        before.log.truncate(kept);
        before.live = before.replayed();
        check_due_is_doable(&mut before);
    }
}

/// A long life of turns, prompts, deaths and restarts; then an honest CLI, and everything comes to rest.
fn outlives(world: World, deeds: &[Deed]) {
    let mut world = live_through(world, deeds);
    assert_eq!(world.replayed(), world.live);
    assert_eq!(world.outlined(), world.live);
    come_to_rest(&mut world);
    check_log(&world);
    assert_eq!(world.live.status(), ConversationStatus::Idle);
    assert_eq!(world.replayed(), world.live);
}

/// Five hundred lives in all; apart, so that a slow machine plays them side by side.
macro_rules! long_lives {
    ($($name:ident),+) => {
        mod a_long_life_told_by_its_log_is_the_one_that_was_lived {
            use super::*;

            proptest! {
                #![proptest_config(ProptestConfig { cases: 50, failure_persistence: None, ..ProptestConfig::default() })]

                $(#[test]
                fn $name(world in worlds(), deeds in prop::collection::vec(deed(), 200..240)) {
                    outlives(world, &deeds);
                })+
            }
        }
    };
}

long_lives!(
    first, second, third, fourth, fifth, sixth, seventh, eighth, ninth, tenth
);

/// A log may end between two entries that were decided together.
fn check_due_is_doable(world: &mut World) {
    let open = world.live.open_calls().map(|(id, _)| id.to_owned());
    for id in open.collect::<Vec<_>>() {
        let entry = world.live.call(now(), id, Some("lost".to_owned()));
        world.write(entry);
    }
    come_to_rest(world);
    assert_eq!(world.live.status(), ConversationStatus::Idle);
    assert_eq!(world.replayed(), world.live);
}

#[test]
fn a_cli_that_never_finds_its_session_is_not_started_for_ever() {
    let mut world = running();
    for _ in 0..10 {
        let generation = world.generation();
        world.read(generation, vec![Seen::ResumeFailed], Vec::new());
        let exit = RunExit::Code {
            code: 1,
            stderr: "no session".to_owned(),
        };
        let entry = world.live.ended_run(now(), exit, |_| false);
        world.write(entry);
        if world.live.due().is_none() {
            return;
        }
        do_all_due(&mut world);
        let entry = world.live.started(now(), 7, 8);
        world.write(entry);
    }
    panic!("it is started again and again");
}
