//! What the relay does to a frame: it signs it, and touches nothing else.

use estelle_proto::{
    AppInbox, AppToPylon, Broadcast, DeviceId, DeviceToRelay, DeviceType, Forward, PylonInbox,
    RelayFrame, Sender,
};
use proptest::prelude::*;

fn client() -> Sender {
    Sender::new(DeviceId(100), DeviceType::App, "Client 100".to_owned())
}

fn pylon() -> Sender {
    Sender::new(DeviceId(1), DeviceType::Pylon, "Selene".to_owned())
}

fn forward(frame: &str) -> Forward<'_> {
    match RelayFrame::parse(frame).unwrap() {
        RelayFrame::Forward(forward) => forward,
        RelayFrame::Own(own) => panic!("taken for one of the relay's own: {own:?}"),
    }
}

#[test]
fn the_relay_reads_its_own_messages_and_no_others() {
    let auth = r#"{"type":"auth","payload":{"deviceType":"app"}}"#;
    let Ok(RelayFrame::Own(DeviceToRelay::Auth(auth))) = RelayFrame::parse(auth) else {
        panic!("auth is not for others");
    };
    assert_eq!(auth.device_type, DeviceType::App);
    let older = r#"{"type":"getDevices"}"#;
    assert!(matches!(
        RelayFrame::parse(older),
        Ok(RelayFrame::Own(DeviceToRelay::GetDevices(_)))
    ));
    // A payload that makes no sense to anybody is none of the relay's business.
    let sealed =
        forward(r#"{"type":"claude_send","broadcast":"pylons","payload":[1,{"deep":"x"}]}"#);
    assert_eq!(sealed.kind(), "claude_send");
    assert_eq!(sealed.broadcast(), Some(&Broadcast::Pylons));
}

#[test]
fn a_sender_cannot_sign_for_another() {
    let frame =
        r#"{"type":"workspace_list","from":{"deviceId":1,"deviceType":"pylon","name":"x"}}"#;
    let spliced = forward(frame).splice(&client()).unwrap();
    assert_eq!(
        spliced,
        r#"{"type":"workspace_list","from":{"deviceId":100,"deviceType":"app","name":"Client 100"}}"#
    );
    // Not even with something that is no sender at all.
    let spliced = forward(r#"{"from":7,"type":"workspace_list"}"#)
        .splice(&client())
        .unwrap();
    assert!(matches!(
        PylonInbox::parse(&spliced),
        Ok(PylonInbox::App(_))
    ));
}

#[test]
fn a_client_cannot_speak_as_the_relay_or_as_a_pylon() {
    let frame = r#"{"type":"auth_result","to":1,"payload":{"success":true}}"#;
    let spliced = forward(frame).splice(&client()).unwrap();
    let Ok(PylonInbox::App(envelope)) = PylonInbox::parse(&spliced) else {
        panic!("taken for the relay's: {spliced}");
    };
    assert!(matches!(envelope.message, AppToPylon::Unknown(_)));
    let event = r#"{"type":"claude_event","to":101,"payload":{}}"#;
    let spliced = forward(event).splice(&client()).unwrap();
    assert_eq!(
        AppInbox::parse(&spliced).unwrap(),
        AppInbox::Stray(client())
    );
}

#[test]
fn members_of_a_newer_version_travel_along() {
    let frame = r#"{"type":"x","exclude":[1, 2],"to":["7"],"requestId":"r","payload":null}"#;
    assert_eq!(
        forward(frame).splice(&pylon()).unwrap(),
        r#"{"type":"x","to":{"deviceId":7},"from":{"deviceId":1,"deviceType":"pylon","name":"Selene"},"requestId":"r","exclude":[1, 2],"payload":null}"#
    );
}

#[test]
fn frames_that_two_readers_could_read_differently_are_refused() {
    for bad in [
        r#"{"type":"a","type":"b"}"#,
        r#"{"type":"a","payload":{},"payload":{}}"#,
        r#"{"type":"a","to":1,"to":2}"#,
        r#"{"type":"a","from":1,"from":2}"#,
        r#"{"type":"a","x":1,"x":2}"#,
        r#"{"type":"a"} {}"#,
        r#"{"to":1}"#,
        r#"{"type":7}"#,
        r#"["type"]"#,
        r#"{"type":"a","to":[]}"#,
        "",
    ] {
        assert!(RelayFrame::parse(bad).is_err(), "{bad}");
    }
    let many: Vec<_> = (0..40).map(|n| format!(r#""x{n}":1"#)).collect();
    let crowded = format!(r#"{{"type":"a",{}}}"#, many.join(","));
    assert!(RelayFrame::parse(&crowded).is_err());
}

#[test]
fn nesting_without_end_overflows_nothing() {
    let depth = 100_000;
    let deep = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let frame = format!(r#"{{"type":"x","from":{deep},"other":{deep},"payload":{deep}}}"#);
    assert!(forward(&frame).splice(&client()).unwrap().contains(&deep));
    let event = format!(r#"{{"type":"toolInfo","toolName":"X","input":{deep},"unknown":{deep}}}"#);
    let read: Result<estelle_proto::ClaudeEvent, _> = serde_json::from_str(&event);
    assert!(read.is_ok());
    let to = format!(r#"{{"type":"x","to":{deep}}}"#);
    assert!(RelayFrame::parse(&to).is_err());
}

fn spaced_json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("1.50e+01".to_owned()),
        Just("-0.0".to_owned()),
        Just(r#""\u00e9\/\ud83c\udf19""#.to_owned()),
        any::<i128>().prop_map(|number| number.to_string()),
        ".{0,12}".prop_map(|text| serde_json::to_string(&text).unwrap()),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5)
                .prop_map(|list| format!("[ {} ]", list.join(" ,\t"))),
            prop::collection::vec(inner, 0..5).prop_map(|list| {
                let members = list.into_iter().map(|value| format!("\"a\" : {value}"));
                format!("{{{}}}", members.collect::<Vec<_>>().join(",\n"))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn the_payload_passes_byte_for_byte(payload in spaced_json(), kind in "[a-z_]{1,12}x") {
        let frame = format!(r#"{{ "payload": {payload} , "type":"{kind}","to":[1,2] }}"#);
        let spliced = forward(&frame).splice(&client()).unwrap();
        let expected = format!(
            r#"{{"type":"{kind}","to":[1,2],"from":{{"deviceId":100,"deviceType":"app","name":"Client 100"}},"payload":{payload}}}"#
        );
        prop_assert_eq!(spliced, expected);
    }
}
