//! Scenes of load, small: they work, and what they promise holds.

use estelle_proof::load::{Scale, page, play};

async fn holds(name: &str) {
    let scenes = play(&Scale::tiny(), name, |_| {}).await;
    assert_eq!(scenes.len(), 1);
    let told = page(&scenes, "a machine of a test", "");
    assert!(scenes[0].is_good(), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crowd_comes_back_after_the_relay_was_killed() {
    holds("crowd").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_app_gets_every_piece_of_what_streams() {
    holds("stream").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn conversations_that_never_rest_do_not_grow_what_serves_them() {
    holds("soak").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn apps_that_read_nothing_are_cut_off_and_cost_what_is_promised() {
    holds("stalled").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_a_long_conversation_costs_what_one_of_a_short_one_does() {
    holds("long").await;
}
