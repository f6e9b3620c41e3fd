//! The checker finds nothing in a good history and something in every bad one.

use std::collections::BTreeSet;

use estelle_proof::bugs;
use estelle_proof::chaos;
use estelle_proof::checker::{Rule, check};
use estelle_proof::rig::Agent;
use estelle_proof::survival::rows;

use crate::sample;

#[test]
fn a_good_history_breaks_no_promise() {
    let found = check(&sample::history());
    let lines: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert!(found.is_empty(), "{lines:#?}");
}

#[test]
fn every_planted_fault_is_found_wherever_it_is_planted() {
    let good = sample::history();
    let mut missed = Vec::new();
    let mut planted = 0;
    for bug in bugs::all() {
        let mut places = 0;
        loop {
            let mut bad = good.clone();
            if !bug.plant(&mut bad, places) {
                break;
            }
            let found = check(&bad);
            if !found.iter().any(|violation| violation.rule == bug.rule) {
                let rules: Vec<Rule> = found.iter().map(|violation| violation.rule).collect();
                missed.push(format!("{} at {places}: found {rules:?}", bug.name));
            }
            places += 1;
        }
        assert!(places > 0, "{} could not be planted", bug.name);
        planted += places;
    }
    assert!(missed.is_empty(), "{missed:#?}");
    assert!(
        bugs::all().len() >= 90 && planted >= 500,
        "{planted} faults"
    );
}

/// The same with what the real host wrote: a checker that finds faults only in histories made for it is worth nothing.
#[tokio::test]
async fn planted_faults_are_found_in_a_recorded_history() {
    let rows = rows();
    let stories = ["cli_killed", "host_killed_permission_pending", "up_killed"];
    let mut kinds = BTreeSet::new();
    for story in stories {
        let row = rows.iter().find(|row| row.name == story).unwrap();
        let good = row.record(&Agent::simulator()).await.unwrap();
        for bug in bugs::all() {
            let mut place = 0;
            let mut bad = good.clone();
            while place < 40 && bug.plant(&mut bad, place) {
                let found = check(&bad);
                assert!(!found.is_empty(), "{story}: {} at {place}", bug.name);
                kinds.insert(bug.name);
                place += 1;
                bad = good.clone();
            }
        }
    }
    assert!(kinds.len() >= 70, "{} kinds", kinds.len());
}

#[test]
fn every_rule_is_proven_by_a_planted_fault() {
    let proven: BTreeSet<Rule> = bugs::all().iter().map(|bug| bug.rule).collect();
    let unproven: Vec<&Rule> = Rule::ALL
        .iter()
        .filter(|rule| !proven.contains(rule))
        .collect();
    assert!(unproven.is_empty(), "{unproven:?}");
}

/// What a person has to read after a failure is what shows the fault, and nothing else.
#[test]
fn the_smallest_history_still_breaks_the_promise_and_has_little_else() {
    let lost = |bug: &&bugs::Bug| bug.name == "an app loses an event";
    let bug = bugs::all().iter().find(lost).copied().unwrap();
    let mut bad = sample::history();
    assert!(bug.plant(&mut bad, 2));
    let found = check(&bad);
    let first = found.iter().find(|one| one.rule == bug.rule).unwrap();
    let small = chaos::smallest(&bad, first);
    assert!(check(&small).contains(first));
    assert_eq!((small.apps.len(), small.clients.len()), (1, 0));
    assert!(small.apps[0].steps.len() <= 4, "{:#?}", small.apps[0].steps);
    assert!(chaos::tell(&small).contains("app "));
}
