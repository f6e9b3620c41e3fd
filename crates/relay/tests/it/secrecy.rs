//! No secret and no payload in the log (I9, K2), whatever level it has.

use std::io;
use std::sync::{Arc, Mutex};

use serde_json::json;
use tracing_subscriber::fmt::MakeWriter;

use crate::kit::{ALL, House};

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

#[tokio::test]
async fn k2_the_log_tells_what_happened_and_no_secret() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
        .with_writer(log.clone())
        .finish();
    // The tasks of the relay run on this very thread.
    let _here = tracing::subscriber::set_default(subscriber);
    let house = House::new().await;
    let mut pylon = house.pylon("home", 1).await;
    let (_, token) = house.device("home", &ALL).await;
    let (mut app, _) = house.app_with(&token).await;
    pylon.send(&json!({"type": "pair_offer"})).await;
    let offer = pylon.expect("pair_offer_result").await;
    let mut phone = house.connect().await;
    let payload = json!({"pairId": offer["pairId"], "secret": offer["secret"], "name": "Phone"});
    phone
        .send(&json!({"type": "pair_request", "payload": payload}))
        .await;
    pylon.expect("pair_requested").await;
    let payload = json!({"pairId": offer["pairId"], "decision": "accept"});
    pylon
        .send(&json!({"type": "pair_confirm", "payload": payload}))
        .await;
    phone.expect("pair_request_result").await;
    let paired = phone.expect("pair_result").await;
    app.send(&json!({"type": "claude_send", "payload": {"message": "canary-in-a-payload"}}))
        .await;
    app.send(&json!({"type": "claude_send", "to": 9, "payload": "canary-in-a-payload"}))
        .await;
    app.expect_error("undeliverable").await;
    let mut thief = house.connect().await;
    let wrong = json!({"deviceType": "app", "token": "canary-that-is-wrong"});
    thief.send(&json!({"type": "auth", "payload": wrong})).await;
    thief.closed().await;
    house.relay.stop().await;

    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    for said in ["joined", "login refused", "pairing offered", "device added"] {
        assert!(text.contains(said), "{said} in {text}");
    }
    let secrets = [
        token.reveal(),
        offer["secret"].as_str().unwrap(),
        paired["token"].as_str().unwrap(),
        "canary-in-a-payload",
        "canary-that-is-wrong",
    ];
    for secret in secrets {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
}
