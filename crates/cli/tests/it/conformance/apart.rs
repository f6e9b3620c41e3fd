//! Relay, Pylon and host apart, as on a server and a machine elsewhere: the person at the machine has the same commands as
//! with `estelle up`.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::house::House;
use crate::host::stage::Agent;

/// How long the parts may take to start on a busy machine.
const PATIENCE: Duration = Duration::from_mins(2);

async fn house() -> House {
    let mut house = House::new(&Agent::Simulator, &[(1, "Selene")]).await;
    house.start();
    house
}

/// Runs a command until it has found the parts, which are only just starting.
fn json_of(house: &House, args: &[&str]) -> Value {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        let done = house.command(1, args).output().unwrap();
        if done.status.success() {
            return serde_json::from_slice(&done.stdout).unwrap();
        }
        let told = String::from_utf8(done.stderr).unwrap();
        assert!(
            told.contains("does not run") || told.contains("away"),
            "{told}"
        );
    }
    panic!("{args:?} finds nobody");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_commands_of_a_machine_find_a_relay_that_is_elsewhere() {
    let house = house().await;
    let added = json_of(&house, &["devices", "add", "--name", "Script", "--json"]);
    assert_eq!(added["address"], house.page());
    house.app(added["token"].as_str().unwrap()).await;
    for _ in 0..2 {
        json_of(&house, &["ls", "--json"]);
    }
    let devices = json_of(&house, &["devices", "--json"]);
    let names = devices.as_array().unwrap().iter().map(|one| &one["name"]);
    let own = names.filter(|name| *name == "Terminal").count();
    assert_eq!(own, 1, "a secret is asked for once: {devices}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_phone_is_let_in_at_a_machine_whose_relay_is_elsewhere() {
    let house = house().await;
    json_of(&house, &["devices", "--json"]);
    let mut pair = house
        .command(1, &["pair", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut shown = BufReader::new(pair.stdout.take().unwrap());
    let mut line = String::new();
    shown.read_line(&mut line).unwrap();
    let told: Value = serde_json::from_str(&line).unwrap();
    let (page, offer) = told["link"]
        .as_str()
        .unwrap()
        .split_once("/#pair=")
        .unwrap();
    assert_eq!(page, house.page());
    let (id, secret) = offer.split_once('.').unwrap();
    let mut phone = house.stranger().await;
    let wanted = json!({"pairId": id, "secret": secret, "name": "Phone of Ada"});
    phone
        .send(&json!({"type": "pair_request", "payload": wanted}))
        .await;
    phone
        .until(|frame| frame["type"] == "pair_request_result")
        .await;
    pair.stdin.take().unwrap().write_all(b"y\n").unwrap();
    let result = phone.until(|frame| frame["type"] == "pair_result").await;
    let mut rest = String::new();
    shown.read_to_string(&mut rest).unwrap();
    assert!(pair.wait().unwrap().success(), "{rest}");
    house
        .app(result["payload"]["token"].as_str().unwrap())
        .await;
}
