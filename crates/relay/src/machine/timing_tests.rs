//! How long a refusal takes tells nothing (R14).

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::tests::Bench;

/// How long it takes to refuse a login.
fn refused(bench: &mut Bench, payload: &Value) -> Duration {
    let conn = bench.open();
    bench.heard(conn);
    let message = json!({"type": "auth", "payload": payload});
    let begun = Instant::now();
    bench.say(conn, &message);
    let took = begun.elapsed();
    let heard = bench.heard(conn);
    assert_eq!(heard[0]["payload"]["errorCode"], "auth_failed", "{heard:?}");
    took
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

#[test]
fn r14_a_machine_that_exists_is_refused_as_quickly_as_one_that_does_not() {
    let mut bench = Bench::new();
    for id in 1..=50 {
        bench.pylon("home", id);
    }
    let wrong = "est_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    let login = |id: u32| json!({"deviceType": "pylon", "deviceId": id, "token": wrong});
    let (known, unknown) = (login(7), login(77));
    let (mut of_known, mut of_unknown) = (Vec::new(), Vec::new());
    // By turns, so that whatever else the machine does falls on both.
    for _ in 0..1001 {
        of_known.push(refused(&mut bench, &known));
        of_unknown.push(refused(&mut bench, &unknown));
    }
    let (known, unknown) = (median(of_known), median(of_unknown));
    let (less, more) = (known.min(unknown), known.max(unknown));
    assert!(more < less * 2, "{known:?} and {unknown:?}");
}
