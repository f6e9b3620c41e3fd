//! Every row of the survival matrix with the simulator, and some with each real CLI.

use estelle_proof::rig::Agent;
use estelle_proof::survival::{Death, OPERATIONS, dies_at_place, places, rows};
use estelle_sim::api::RealCli;

async fn play(name: &str, agent: &Agent) {
    let rows = rows();
    let row = rows.iter().find(|row| row.name == name).unwrap();
    if let Err(error) = row.play(agent).await {
        panic!("{name} with {}: {error:#}", agent.name());
    }
}

macro_rules! played {
    ($($name:ident),+ $(,)?) => {
        $(#[tokio::test]
        async fn $name() {
            play(stringify!($name), &Agent::simulator()).await;
        })+

        #[test]
        fn every_row_is_played() {
            let played = [$(stringify!($name)),+];
            let missing: Vec<_> = rows()
                .iter()
                .map(|row| row.name)
                .filter(|name| !played.contains(name))
                .collect();
            assert!(missing.is_empty(), "{missing:?}");
        }
    };
}

macro_rules! played_for_real {
    ($($name:ident),+ $(,)?) => {
        mod real_197 {
            use super::*;

            $(#[tokio::test]
            async fn $name() {
                play(stringify!($name), &Agent::Real(RealCli::v197().unwrap())).await;
            })+
        }

        mod real_325 {
            use super::*;

            $(#[tokio::test]
            async fn $name() {
                play(stringify!($name), &Agent::Real(RealCli::v325().unwrap())).await;
            })+
        }
    };
}

played!(
    host_killed_mid_stream,
    host_killed_mid_tool,
    host_killed_permission_pending,
    host_killed_question_pending,
    host_killed_answer_not_delivered,
    host_killed_during_start,
    host_killed_during_stop,
    host_killed_twenty_conversations,
    host_killed_again_and_again,
    host_started_twice,
    dies_at_log_torn,
    dies_at_log_appended,
    dies_at_accepted,
    dies_at_intended,
    dies_at_folder_made,
    dies_at_shim_started,
    dies_at_started,
    dies_at_handed,
    dies_at_line_written,
    dies_at_shown,
    dies_at_answered,
    dies_at_read,
    dies_at_stopping,
    dies_at_ended,
    dies_at_forgotten,
    dies_at_cleared,
    dies_at_deleted,
    dies_at_copied,
    dies_at_retired,
    dies_at_called,
    host_held,
    cli_held,
    shim_killed,
    shim_held,
    shim_held_cli_killed,
    cli_killed,
    cli_killed_while_host_away,
    cli_hangs,
    host_killed_during_clear,
    host_killed_during_delete,
    host_told_to_go,
    host_told_to_go_with_its_runs,
    stop_all,
    cli_killed_with_input_unread,
    dies_at_interrupt_unwritten,
    dies_at_interrupt_written,
    stopped_with_messages_waiting,
    cli_does_not_obey,
    client_cut_off,
    client_does_not_read,
    two_answers_at_once,
    two_first_messages_at_once,
    disk_full,
    disk_full_for_a_while,
    no_descriptors_left,
    clock_jumps,
    log_damaged,
    log_shut_for_a_while,
    relay_killed,
    pylon_killed,
    host_killed_behind_apps,
    all_three_killed,
    up_killed,
    up_and_host_killed,
    up_killed_again_and_again,
);

played_for_real!(
    host_killed_mid_stream,
    host_killed_mid_tool,
    host_killed_permission_pending,
    host_killed_answer_not_delivered,
    host_told_to_go,
    up_killed,
    up_and_host_killed,
);

/// Every failpoint once; none may be forgotten by the code.
#[tokio::test]
async fn a_host_may_die_at_every_place() {
    for place in places() {
        let reached = dies_at_place(&Agent::simulator(), &place, Death::Kill)
            .await
            .unwrap();
        assert!(reached, "{place} is never reached");
    }
}

/// What was acknowledged, and what people were asked, is on the disk, not only in the system's cache. Other events that were
/// read from a journal are published before they are synced, because the journal has them: after a power cut they are told
/// again, and cursors behind them are void.
#[tokio::test]
async fn b2_a_power_cut_takes_nothing_that_was_acknowledged() {
    let places = places();
    for place in places.iter().filter(|place| !place.contains(':')) {
        let reached = dies_at_place(&Agent::simulator(), place, Death::PowerCut)
            .await
            .unwrap();
        assert!(reached, "{place} is never reached");
    }
}

/// The nth append is torn, for every n until the turn has no more.
#[tokio::test]
async fn any_append_to_the_log_may_be_torn() {
    let mut torn = 0;
    let nth = |torn: u64| format!("log-torn:{torn}");
    while dies_at_place(&Agent::simulator(), &nth(torn + 1), Death::Kill)
        .await
        .unwrap()
    {
        torn += 1;
    }
    assert!(torn > 10, "only {torn} appends");
}

macro_rules! operations {
    ($($name:ident),+ $(,)?) => {
        mod a_host_may_die_while {
            use super::*;

            $(#[tokio::test]
            async fn $name() {
                let one = OPERATIONS.iter().find(|one| one.name == stringify!($name)).unwrap();
                if let Err(error) = one.play(&Agent::simulator()).await {
                    panic!("{error:#}");
                }
            })+

            #[test]
            fn every_operation_is_played() {
                let played = [$(stringify!($name)),+];
                let missing: Vec<_> = OPERATIONS
                    .iter()
                    .map(|one| one.name)
                    .filter(|name| !played.contains(name))
                    .collect();
                assert!(missing.is_empty(), "{missing:?}");
            }
        }
    };
}

operations!(
    ending, forgetting, clearing, deleting, copying, retiring, calling
);
