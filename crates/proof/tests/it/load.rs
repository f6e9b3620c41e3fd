//! Scenes of load, small: they work, and what they promise holds. Apps that read nothing need megabytes each, and are
//! tried with the relay alone in its own tests.

use estelle_proof::load::{Scale, page, play};

async fn holds(name: &str) {
    let scenes = play(&Scale::tiny(), name, |_| {}).await;
    assert_eq!(scenes.len(), 1);
    let told = page(&scenes, "a machine of a test");
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
