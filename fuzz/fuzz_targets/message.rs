//! Feeds arbitrary texts to everything that reads a message of ours: relay, Pylon, app, and the host's socket.
//!
//! Asserts what holds for every input: nothing panics; the relay passes a payload on byte for byte under the true
//! sender; nobody can say that they are somebody else; and a message that was understood is understood as the same
//! message when it is written again.

#![no_main]

use estelle_proto::Message as _;
use estelle_proto::{AppInbox, DeviceId, DeviceType, Hint, PylonInbox, RelayFrame, Sender, ipc};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use serde_json::value::RawValue;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let _ = Hint::of(text);
    relay(text);
    pylon(text);
    let _ = AppInbox::parse(text);
    host(text);
});

/// What the relay makes of a frame, and what a Pylon makes of what the relay passes on.
fn relay(text: &str) {
    let Ok(RelayFrame::Forward(forward)) = RelayFrame::parse(text) else {
        return;
    };
    let sender = Sender {
        device_id: DeviceId(103),
        device_type: DeviceType::App,
        name: "phone".to_owned(),
        icon: None,
        rights: None,
        device_key: None,
    };
    let passed = forward
        .splice(&sender)
        .expect("what was read can be written");
    let before: Value = payload(text);
    assert_eq!(payload(&passed), before, "the payload changed on the way");
    let again = RelayFrame::parse(&passed).expect("what the relay writes can be read");
    let RelayFrame::Forward(again) = again else {
        panic!("a message for others became one for the relay");
    };
    assert_eq!(again.kind(), forward.kind());
    assert_eq!(again.request_id(), forward.request_id());
    match PylonInbox::parse(&passed) {
        Ok(PylonInbox::App(envelope)) => {
            let from = envelope.from.expect("the relay signs what it passes on");
            assert_eq!(
                from.device_id, sender.device_id,
                "another sender than the true one"
            );
        }
        Ok(_) => panic!("an app's message was taken for the relay's or a Pylon's"),
        Err(_) => {}
    }
}

/// The payload as the bytes that stand in the frame.
fn payload(frame: &str) -> Value {
    #[derive(serde::Deserialize)]
    struct Sealed<'a> {
        #[serde(borrow)]
        payload: Option<&'a RawValue>,
    }
    let sealed: Sealed<'_> = serde_json::from_str(frame).expect("a frame that was read is JSON");
    sealed.payload.map_or(Value::Null, |payload| {
        Value::String(payload.get().to_owned())
    })
}

fn pylon(text: &str) {
    let Ok(PylonInbox::App(envelope)) = PylonInbox::parse(text) else {
        return;
    };
    let written = envelope
        .to_json()
        .expect("a message that was read can be written");
    let again = PylonInbox::parse(&written).expect("what we write we can read");
    let PylonInbox::App(again) = again else {
        panic!("an app's message became somebody else's by writing it");
    };
    assert_eq!(again.message.kind(), envelope.message.kind());
    assert_eq!(
        again.to_json().expect("it can be written"),
        written,
        "another message"
    );
}

fn host(text: &str) {
    let Ok(command) = ipc::parse_command(text) else {
        return;
    };
    let line = ipc::to_line(&command).expect("a command that was read can be written");
    let again = ipc::parse_command(line.trim_end()).expect("what we write we can read");
    // Of what nobody knows the text is kept, whose line feeds become spaces on a line: so lines are compared.
    assert_eq!(
        ipc::to_line(&again).expect("it can be written"),
        line,
        "another command"
    );
}
