//! The relay's part: strangers, who is let in, who is there, and who receives what.

use serde_json::{Value, json};

use super::house::House;
use super::probe::Probe;
use super::shape::check;
use super::table::Book;
use super::{Cast, SCRIPTED, failure};

pub(super) async fn chapter(house: &House, cast: &mut Cast, book: &mut Book) {
    strangers(house).await;
    book.shows("relay", [3]);
    let device = json!({
        "deviceId": "count", "deviceType": "app", "name": "string", "icon": "string", "role": "client",
    });
    let admitted = json!({
        "success": "bool", "device": device, "rights?": ["string"], "deviceKey?": "id",
        "protocol?": "count", "relayVersion?": "string",
    });
    check(
        &cast.owner.admitted,
        &json!({"type": "auth_result", "payload": admitted}),
    );
    let pylon = &cast.pylon.admitted["payload"]["device"];
    let expected = json!({
        "deviceId": SCRIPTED, "deviceType": "pylon", "name": "Scripted", "icon": "🌙", "role": "home",
    });
    assert_eq!(*pylon, expected);
    let mut ids = [cast.owner.id(), cast.phone.id(), cast.viewer.id()];
    ids.sort_unstable();
    assert!(
        ids[0] >= 100 && ids[0] != ids[1] && ids[1] != ids[2],
        "{ids:?}"
    );
    book.shows("relay", [9, 10, 11]);
    presence(house, cast).await;
    book.shows("relay", [8, 12, 13]);
    addresses(cast).await;
    book.shows("relay", [4, 6, 7]);
    groups(cast).await;
    book.shows("relay", [1, 5]);
}

/// What somebody gets who has not said who it is, or says it wrongly.
async fn strangers(house: &House) {
    let mut stranger = house.stranger().await;
    let greeting = stranger.until(|frame| frame["type"] == "connected").await;
    let expected = json!({"clientId": "id", "message": "string"});
    check(
        &greeting,
        &json!({"type": "connected", "payload": expected}),
    );
    let early = json!({"type": "workspace_list", "broadcast": "pylons", "requestId": "early"});
    stranger.send(&early).await;
    let refused = stranger.until(|frame| frame["type"] == "error").await;
    failure(&refused, "not_authenticated", "early");
    for text in [
        "no JSON",
        "[]",
        "{}",
        r#"{"type": 7}"#,
        r#"{"type":"a","type":"b"}"#,
    ] {
        stranger.send_text(text).await;
        let refused = stranger.until(|frame| frame["type"] == "error").await;
        assert_eq!(refused["payload"]["errorCode"], "invalid_message", "{text}");
    }
    let pylon = house.path("machine-1/pylon.token");
    let pylon = std::fs::read_to_string(pylon).unwrap();
    for auth in [
        json!({}),
        json!({"deviceType": "app"}),
        json!({"deviceType": "app", "token": "est_wrong"}),
        json!({"deviceType": "app", "token": 5}),
        json!({"deviceType": "toaster", "token": &pylon}),
        json!({"deviceType": "app", "token": &pylon}),
        json!({"deviceType": "pylon", "token": &pylon}),
        json!({"deviceType": "pylon", "deviceId": 2, "token": &pylon}),
        json!({"deviceType": "pylon", "deviceId": "1", "token": &pylon}),
    ] {
        let mut stranger = house.stranger().await;
        let mut auth = json!({"type": "auth", "payload": auth});
        auth["payload"]["requestId"] = json!("in");
        stranger.send(&auth).await;
        let refused = stranger.until(|frame| frame["type"] == "auth_result").await;
        failure(&refused, "auth_failed", "in");
        stranger.ended().await;
    }
}

/// Everybody hears who is there; Pylons hear at once who went.
async fn presence(house: &House, cast: &mut Cast) {
    let mut guest = house.app(&cast.tokens.phone).await;
    let id = guest.id();
    let device = json!({
        "deviceId": "count", "deviceType": "app|pylon", "name": "string", "icon": "string",
        "role": "string", "connectedAt": "iso",
    });
    let shape = json!({"type": "device_status", "payload": {"devices": [device]}});
    let lists = |frame: &Value, id: u64| {
        let devices = frame["payload"]["devices"].as_array();
        devices.is_some_and(|all| all.iter().any(|device| device["deviceId"] == id))
    };
    for probe in [
        &mut cast.owner,
        &mut cast.viewer,
        &mut cast.pylon,
        &mut guest,
    ] {
        let is_it = |frame: &Value| frame["type"] == "device_status" && lists(frame, id);
        let status = probe.until(is_it).await;
        check(&status, &shape);
        assert!(
            lists(&status, 1) && lists(&status, u64::from(SCRIPTED)),
            "{status}"
        );
    }
    drop(guest);
    let is_it = |frame: &Value| frame["type"] == "client_disconnect";
    let gone = cast.pylon.until(is_it).await;
    let expected = json!({"deviceId": id, "deviceType": "app"});
    assert_eq!(
        gone,
        json!({"type": "client_disconnect", "payload": expected})
    );
    for probe in [&mut cast.owner, &mut cast.pylon] {
        let is_it = |frame: &Value| frame["type"] == "device_status" && !lists(frame, id);
        probe.until(is_it).await;
    }
    assert!(
        !cast
            .owner
            .kinds(0)
            .contains(&"client_disconnect".to_owned())
    );
}

/// Every form of `to`, what arrives, and what nobody gets.
async fn addresses(cast: &mut Cast) {
    let (pylon, phone) = (SCRIPTED, cast.phone.id());
    let payload = r#"{"b":1.50,"a":"\u00e9","b2":{"z":[],"y":1e3}}"#;
    for to in [
        json!({"deviceId": pylon}),
        json!({"deviceId": pylon, "deviceType": "pylon"}),
        json!(pylon),
        json!(pylon.to_string()),
        json!([pylon]),
        json!([pylon.to_string(), {"deviceId": pylon}]),
    ] {
        let mark = cast.pylon.mark();
        let forged = r#""from":{"deviceId":1,"deviceType":"pylon","name":"Selene"}"#;
        let frame = format!(
            r#"{{"type":"workspace_list","to":{to},"broadcast":"all",{forged},"payload":{payload}}}"#
        );
        cast.phone.send_text(&frame).await;
        cast.phone.fence().await;
        cast.pylon.fence().await;
        let got: Vec<_> = cast.pylon.seen[mark..]
            .iter()
            .filter(|(_, got)| got["type"] == "workspace_list")
            .collect();
        assert_eq!(got.len(), 1, "{to}: {got:?}");
        let (text, got) = got[0];
        assert!(text.contains(&format!(r#""payload":{payload}"#)), "{text}");
        let from = json!({
            "deviceId": "count", "deviceType": "app", "name": "Phone", "icon?": "string",
            "rights?": ["string"], "deviceKey?": "id",
        });
        let frame = json!({
            "type": "workspace_list", "to": "any", "broadcast?": "all", "from": from, "payload": "any",
        });
        check(got, &frame);
        assert_eq!(got["from"]["deviceId"], phone);
    }
    for (to, missing) in [
        (json!({"deviceId": pylon, "deviceType": "app"}), pylon),
        (json!(77), 77),
        (json!([pylon, "78"]), 78),
    ] {
        let lost = json!({"type": "workspace_list", "to": to, "requestId": "lost"});
        cast.phone.send(&lost).await;
        let told = cast.phone.until(|frame| frame["type"] == "error").await;
        failure(&told, "undeliverable", "lost");
        assert_eq!(told["payload"]["about"], "workspace_list");
        let text = told["payload"]["error"].as_str().unwrap();
        assert!(text.contains(&missing.to_string()), "{text}");
    }
    // Nobody else got any of it.
    cast.owner.fence().await;
    assert!(!cast.owner.kinds(0).contains(&"workspace_list".to_owned()));
}

/// Who gets a message to a group, or to nobody in particular.
async fn groups(cast: &mut Cast) {
    // Owner, viewer, scripted Pylon, and the sender itself.
    let (apps, pylons, all) = ([true, true, false], [false, false, true], [true; 3]);
    let from_app = [
        (json!({"broadcast": "all"}), all),
        (json!({"broadcast": "pylons"}), pylons),
        (json!({"broadcast": "clients"}), apps),
        (json!({"broadcast": "app"}), apps),
        (json!({"broadcast": "pylon"}), pylons),
        (json!({"broadcast": "toaster"}), [false; 3]),
        (json!({}), pylons),
        (json!({"to": SCRIPTED, "broadcast": "clients"}), pylons),
    ];
    for (address, expected) in from_app {
        let mark = Marks::of(cast);
        say(&mut cast.phone, "tool_detail", &address).await;
        assert_eq!(
            mark.heard(cast, "tool_detail").await,
            expected,
            "{address} from an app"
        );
        let own = cast
            .phone
            .since(mark.phone)
            .any(|frame| frame["type"] == "tool_detail");
        assert!(!own, "the sender is left out");
    }
    let phone = cast.phone.id();
    let from_pylon = [
        (json!({"broadcast": "all"}), [true, true]),
        (json!({"broadcast": "pylons"}), [false, false]),
        (json!({"broadcast": "clients"}), [true, true]),
        (json!({"broadcast": "app"}), [true, true]),
        (json!({}), [true, true]),
        (json!({"to": [phone], "broadcast": "all"}), [false, false]),
    ];
    for (address, expected) in from_pylon {
        let mark = Marks::of(cast);
        say(&mut cast.pylon, "conversation_status", &address).await;
        let heard = mark.heard(cast, "conversation_status").await;
        assert_eq!(heard[..2], expected, "{address} from a Pylon");
        assert!(!heard[2], "the sender is left out");
    }
}

async fn say(probe: &mut Probe, kind: &str, address: &Value) {
    let mut frame = json!({"type": kind});
    for (name, value) in address.as_object().unwrap() {
        frame[name] = value.clone();
    }
    probe.send(&frame).await;
    probe.fence().await;
}

/// Where everybody was.
struct Marks {
    owner: usize,
    phone: usize,
    viewer: usize,
    pylon: usize,
}

impl Marks {
    fn of(cast: &Cast) -> Self {
        Self {
            owner: cast.owner.mark(),
            phone: cast.phone.mark(),
            viewer: cast.viewer.mark(),
            pylon: cast.pylon.mark(),
        }
    }

    /// Whether owner, viewer and the scripted Pylon got a message without a payload since.
    async fn heard(&self, cast: &mut Cast, kind: &str) -> [bool; 3] {
        let mut heard = [false; 3];
        let probes = [
            (&mut cast.owner, self.owner),
            (&mut cast.viewer, self.viewer),
            (&mut cast.pylon, self.pylon),
        ];
        for (heard, (probe, mark)) in heard.iter_mut().zip(probes) {
            probe.fence().await;
            let is_it = |frame: &&Value| frame["type"] == kind && frame["payload"].is_null();
            let count = probe.since(mark).filter(is_it).count();
            assert!(count <= 1, "it came {count} times");
            *heard = count == 1;
        }
        heard
    }
}
