//! Letting devices in while everything runs: with `estelle devices add`, and by a link that somebody confirms.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::Stdio;

use serde_json::{Value, json};

use super::client::Client;
use super::stage::Machine;
use crate::host::stage::Agent;

#[tokio::test(flavor = "multi_thread")]
async fn a_device_is_added_listed_and_taken_out() {
    let machine = Machine::start(&Agent::Simulator).await;
    let run = |args: &[&str]| {
        let output = machine.command(args).output().unwrap();
        let (out, err) = (output.stdout, String::from_utf8(output.stderr).unwrap());
        (
            output.status.success(),
            serde_json::from_slice::<Value>(&out),
            err,
        )
    };
    let (done, added, told) = run(&["devices", "add", "--name", "Script", "--json"]);
    assert!(done, "{told}");
    let added = added.unwrap();
    assert_eq!(added["address"], machine.greeting["address"]);
    let token = added["token"].as_str().unwrap();
    machine.connect(token).await;
    let (_, list, _) = run(&["devices", "--json"]);
    let list = list.unwrap();
    let names = list
        .as_array()
        .unwrap()
        .iter()
        .map(|device| &device["name"]);
    assert!(names.clone().any(|name| name == "Script"), "{list}");
    let key = added["deviceKey"].as_str().unwrap();
    assert!(run(&["devices", "revoke", key]).0);
    let (_, list, _) = run(&["devices", "--json"]);
    assert!(!list.unwrap().to_string().contains(key));
    let (done, _, told) = run(&["devices", "add", "--name", "X", "--rights", "fly"]);
    assert!(!done && told.contains("`fly` is no right"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_that_is_revoked_at_the_machine_is_told_nothing_any_more() {
    let machine = Machine::start(&Agent::Simulator).await;
    let added = crate::client::run(&machine, &["devices", "add", "--name", "Lost", "--json"]);
    let added: Value = serde_json::from_str(&added.with_code(0).out).unwrap();
    let mut lost = machine.connect(added["token"].as_str().unwrap()).await;
    let way = json!({
        "endpoint": "https://push.example.org/abc",
        "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
        "auth": "BTBZMqHH6r4Tts7J_aSIgg",
    });
    lost.done("push_subscribe", way).await;
    let mut phone = machine.connect(&machine.phone).await;
    let told = phone.done("notifications_request", json!({})).await;
    assert_eq!(told["subscriptions"].as_array().unwrap().len(), 1, "{told}");
    let key = added["deviceKey"].as_str().unwrap();
    crate::client::run(&machine, &["devices", "revoke", key]).with_code(0);
    let forgotten = async {
        loop {
            let told = phone.done("notifications_request", json!({})).await;
            if told["subscriptions"].as_array().unwrap().is_empty() {
                return;
            }
        }
    };
    let forgotten = tokio::time::timeout(std::time::Duration::from_mins(1), forgotten).await;
    assert!(forgotten.is_ok(), "the way to a lost phone is kept");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_phone_comes_in_by_a_link_when_the_person_at_the_machine_says_so() {
    let machine = Machine::start(&Agent::Simulator).await;
    let mut pair = machine
        .command(&["pair", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut shown = BufReader::new(pair.stdout.take().unwrap());
    let link = loop {
        let mut line = String::new();
        assert_ne!(shown.read_line(&mut line).unwrap(), 0, "no link was shown");
        let told: Value = serde_json::from_str(&line).unwrap();
        let address = told["link"].as_str().unwrap_or_default();
        if let Some((page, offer)) = address.split_once("/#pair=") {
            assert_eq!(machine.greeting["address"], page);
            break offer.to_owned();
        }
    };
    let (id, secret) = link.split_once('.').unwrap();
    let mut phone = Client::stranger(machine.address()).await;
    let wanted = json!({"pairId": id, "secret": secret, "name": "Phone of Ada"});
    phone
        .send(&json!({"type": "pair_request", "payload": wanted}))
        .await;
    let waits = phone
        .until(|frame| frame["type"] == "pair_request_result")
        .await;
    let code = waits["payload"]["code"].as_str().unwrap().to_owned();
    pair.stdin.take().unwrap().write_all(b"y\n").unwrap();
    let result = phone.until(|frame| frame["type"] == "pair_result").await;
    let mut rest = String::new();
    shown.read_to_string(&mut rest).unwrap();
    assert!(pair.wait().unwrap().success(), "{rest}");
    assert!(
        rest.contains("Phone of Ada") && rest.contains(&code),
        "{rest}"
    );
    let token = result["payload"]["token"].as_str().unwrap();
    machine.connect(token).await;
}
