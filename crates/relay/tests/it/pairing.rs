//! Joining a realm (D): with the secret, within its time, and with a yes at the machine.

use serde_json::{Value, json};

use crate::kit::{ALL, Client, Closed, House};

async fn offer(pylon: &mut Client) -> Value {
    pylon.send(&json!({"type": "pair_offer"})).await;
    let offer = pylon.expect("pair_offer_result").await;
    assert_eq!(offer["success"], true, "{offer}");
    offer
}

fn request(offer: &Value, name: &str) -> Value {
    let payload = json!({"pairId": offer["pairId"], "secret": offer["secret"], "name": name});
    json!({"type": "pair_request", "payload": payload})
}

fn confirm(offer: &Value, decision: &str) -> Value {
    let payload = json!({"pairId": offer["pairId"], "decision": decision, "requestId": "c"});
    json!({"type": "pair_confirm", "payload": payload})
}

async fn refused(house: &House, request: &Value) -> Value {
    let mut stranger = house.connect().await;
    stranger.send(request).await;
    let result = stranger.expect("pair_request_result").await;
    assert_eq!(result["errorCode"], "auth_failed", "{result}");
    assert_eq!(stranger.closed().await, Closed::Code(1008));
    result
}

#[tokio::test]
async fn a_device_joins_with_a_yes_at_the_machine() {
    let house = House::new().await;
    let mut pylon = house.pylon("home", 1).await;
    let offer = offer(&mut pylon).await;
    // 256 bits in base64, after a prefix.
    assert!(offer["secret"].as_str().unwrap().len() >= 43);
    let mut phone = house.connect().await;
    phone.send(&request(&offer, "Phone of Mina")).await;
    let waiting = phone.expect("pair_request_result").await;
    let asked = pylon.expect("pair_requested").await;
    assert_eq!(asked["name"], "Phone of Mina");
    assert_eq!(asked["code"], waiting["code"]);
    assert_eq!(asked["code"].as_str().unwrap().len(), 6);
    assert_eq!(asked["address"], "127.0.0.1");
    assert_eq!(asked["expiresAt"], offer["expiresAt"]);

    pylon.send(&confirm(&offer, "accept")).await;
    let done = pylon.expect("pair_confirm_result").await;
    assert_eq!(done["requestId"], "c");
    assert_eq!(done["device"]["name"], "Phone of Mina");
    assert!(
        done.get("token").is_none(),
        "the secret is for the device alone"
    );
    let result = phone.expect("pair_result").await;
    assert_eq!(result["rights"], json!(["view", "prompt", "approve"]));
    assert_eq!(result["deviceKey"], done["device"]["deviceKey"]);

    // The same connection goes on with `auth`, and any later one.
    let token = estelle_proto::Token::parse(result["token"].as_str().unwrap()).unwrap();
    phone.log_in(&token).await;
    assert_eq!(phone.expect("auth_result").await["success"], true);
    house.app_with(&token).await;
}

#[tokio::test]
async fn d2_three_wrong_guesses_end_the_offer() {
    let house = House::new().await;
    let mut pylon = house.pylon("home", 1).await;
    let offer = offer(&mut pylon).await;
    let mut guess = request(&offer, "Thief");
    guess["payload"]["secret"] = json!("est_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
    let mut answers = Vec::new();
    for _ in 0..3 {
        answers.push(refused(&house, &guess).await);
    }
    let closed = pylon.expect("pair_closed").await;
    assert_eq!(closed["reason"], "guessed");
    // The true secret comes too late, and nothing says what was wrong.
    answers.push(refused(&house, &request(&offer, "Phone")).await);
    let mut unheard = guess.clone();
    unheard["payload"]["pairId"] = json!("pair-0000");
    answers.push(refused(&house, &unheard).await);
    assert!(
        answers.iter().all(|answer| *answer == answers[0]),
        "{answers:?}"
    );
    assert_eq!(house.count("pair_refusals_total"), 5);
}

#[tokio::test]
async fn d3_d5_a_secret_serves_one_device() {
    let house = House::new().await;
    let mut pylon = house.pylon("home", 1).await;
    let offer = offer(&mut pylon).await;
    let mut first = house.connect().await;
    first.send(&request(&offer, "First")).await;
    first.expect("pair_request_result").await;
    pylon.expect("pair_requested").await;
    // Somebody photographed the code and comes second.
    refused(&house, &request(&offer, "Second")).await;
    pylon.expect_nothing().await;
    pylon.send(&confirm(&offer, "accept")).await;
    first.expect("pair_result").await;
    pylon.expect("pair_confirm_result").await;
    refused(&house, &request(&offer, "Third")).await;
    pylon.send(&confirm(&offer, "accept")).await;
    let again = pylon.expect("pair_confirm_result").await;
    assert_eq!(again["errorCode"], "conflict");
}

#[tokio::test]
async fn d7_nobody_joins_without_a_yes() {
    let house = House::new().await;
    let mut pylon = house.pylon("home", 1).await;
    let mut neighbour = house.pylon("home", 2).await;
    let mut stranger = house.pylon("away", 1).await;
    let (mut admin, _) = house.app("home", &ALL).await;
    let offer = offer(&mut pylon).await;
    let mut phone = house.connect().await;
    phone.send(&request(&offer, "Phone")).await;
    phone.expect("pair_request_result").await;
    // Neither another machine, nor another realm, nor an app can say it.
    for (other, code) in [
        (&mut neighbour, "conflict"),
        (&mut stranger, "conflict"),
        (&mut admin, "forbidden"),
    ] {
        other.send(&confirm(&offer, "accept")).await;
        let result = other.expect("pair_confirm_result").await;
        assert_eq!(result["errorCode"], code);
    }
    // Nor the device itself.
    phone.send(&confirm(&offer, "accept")).await;
    phone.expect_error("not_authenticated").await;
    phone.send(&json!({"type": "workspace_list"})).await;
    phone.expect_error("not_authenticated").await;
    pylon.expect("pair_requested").await;
    pylon.send(&confirm(&offer, "reject")).await;
    assert_eq!(pylon.expect("pair_confirm_result").await["success"], true);
    assert_eq!(phone.expect("pair_result").await["success"], false);
    assert_eq!(phone.closed().await, Closed::Code(1008));
}

#[tokio::test]
async fn d10_a_name_is_cleaned_or_refused() {
    let house = House::new().await;
    let mut pylon = house.pylon("home", 1).await;
    let offer = offer(&mut pylon).await;
    for bad in [
        json!(""),
        json!("a\nb"),
        json!("x".repeat(257)),
        json!(7),
        json!(null),
    ] {
        let mut stranger = house.connect().await;
        let mut message = request(&offer, "x");
        message["payload"]["name"] = bad;
        stranger.send(&message).await;
        stranger.expect_error("invalid_message").await;
    }
    let mut phone = house.connect().await;
    phone
        .send(&request(&offer, "\u{202e}<b>enohP\u{200b}"))
        .await;
    phone.expect("pair_request_result").await;
    assert_eq!(pylon.expect("pair_requested").await["name"], "<b>enohP");
}

#[tokio::test]
async fn a_device_that_leaves_takes_the_offer_with_it() {
    let house = House::new().await;
    let mut pylon = house.pylon("home", 1).await;
    let offer = offer(&mut pylon).await;
    let mut phone = house.connect().await;
    phone.send(&request(&offer, "Phone")).await;
    phone.expect("pair_request_result").await;
    pylon.expect("pair_requested").await;
    drop(phone);
    let closed = pylon.expect("pair_closed").await;
    assert_eq!(closed, json!({"pairId": offer["pairId"], "reason": "left"}));
    refused(&house, &request(&offer, "Phone")).await;
}

#[tokio::test]
async fn a_device_that_waits_and_says_nonsense_is_still_let_in() {
    let house = House::new().await;
    let mut pylon = house.pylon("home", 1).await;
    let offer = offer(&mut pylon).await;
    let mut phone = house.connect().await;
    phone.send(&request(&offer, "Phone")).await;
    phone.expect("pair_request_result").await;
    phone
        .send(&json!({"type": "auth", "payload": {"deviceType": 7}}))
        .await;
    phone.expect_error("invalid_message").await;
    pylon.send(&confirm(&offer, "accept")).await;
    phone.expect("pair_result").await;
}

#[tokio::test]
async fn a_pylon_that_reconnects_is_asked_again() {
    let house = House::new().await;
    let token = house
        .relay
        .put_pylon(crate::kit::realm("home"), crate::kit::profile(1))
        .await;
    let token = token.unwrap();
    let mut pylon = house.pylon_with(&token, 1).await;
    let offer = offer(&mut pylon).await;
    let mut phone = house.connect().await;
    phone.send(&request(&offer, "Phone")).await;
    phone.expect("pair_request_result").await;
    pylon.expect("pair_requested").await;
    drop(pylon);
    let mut pylon = house.pylon_with(&token, 1).await;
    assert_eq!(pylon.expect("pair_requested").await["name"], "Phone");
    pylon.send(&confirm(&offer, "accept")).await;
    phone.expect("pair_result").await;
}

#[tokio::test]
async fn offers_are_bounded_and_can_be_taken_back() {
    let house = House::new().await;
    let mut pylon = house.pylon("home", 1).await;
    let mut offers = Vec::new();
    for _ in 0..8 {
        offers.push(offer(&mut pylon).await);
    }
    pylon.send(&json!({"type": "pair_offer"})).await;
    let result = pylon.expect("pair_offer_result").await;
    assert_eq!(result["errorCode"], "rate_limited");
    pylon.send(&confirm(&offers[0], "accept")).await;
    let early = pylon.expect("pair_confirm_result").await;
    assert_eq!(early["errorCode"], "conflict");
    pylon.send(&confirm(&offers[0], "reject")).await;
    assert_eq!(pylon.expect("pair_confirm_result").await["success"], true);
    offer(&mut pylon).await;
}
