//! The protocol between devices, checked from outside: a scripted client goes through every message against the running
//! programs and holds what comes against shapes that were written down by hand.
//!
//! [`table`] says which requirement is shown where, [`files`] looks into folders. [`bad`] sends what no client should, [`many`] has two machines and ten
//! clients, [`older`] puts a new Pylon beside what an older build left.

mod apart;
mod bad;
mod claude;
mod deploys;
pub(crate) mod files;
pub(crate) mod house;
mod many;
mod older;
mod past;
mod places;
pub(crate) mod probe;
mod relay;
mod release;
mod shape;
mod table;
mod tasks;

use estelle_sim::api::RealCli;
use serde_json::{Value, json};

use crate::host::stage::Agent;
use house::{HOME, House};
use probe::Probe;
use shape::check;
use table::Book;

/// The id of a Pylon that is a script.
const SCRIPTED: u32 = 9;
/// The Pylon that is walked through.
const SELENE: u32 = 1;

/// The secrets of the apps.
struct Tokens {
    owner: String,
    phone: String,
    viewer: String,
}

/// Who takes part: apps of different rights, and a Pylon that is a script.
struct Cast {
    tokens: Tokens,
    owner: Probe,
    phone: Probe,
    viewer: Probe,
    pylon: Probe,
}

impl Cast {
    async fn enter(house: &mut House) -> Self {
        let tokens = Tokens {
            owner: house.app_token(HOME, "Owner", "view,prompt,approve,admin"),
            phone: house.app_token(HOME, "Phone", "view,prompt,approve"),
            viewer: house.app_token(HOME, "Viewer", "view"),
        };
        let scripted = house.pylon_token(HOME, SCRIPTED, "Scripted");
        house.start();
        let mut pylon = house.stranger().await;
        let auth = json!({"deviceType": "pylon", "deviceId": SCRIPTED, "token": scripted});
        pylon.enter(auth).await;
        let mut cast = Self {
            owner: house.app(&tokens.owner).await,
            phone: house.app(&tokens.phone).await,
            viewer: house.app(&tokens.viewer).await,
            pylon,
            tokens,
        };
        all_there(&mut cast.owner, &[1, 2]).await;
        cast
    }
}

/// Waits until Pylons are there and have their hosts.
async fn all_there(probe: &mut Probe, pylons: &[u32]) {
    let mut missing = pylons.to_vec();
    while !missing.is_empty() {
        let is_it = |frame: &Value| {
            frame["type"] == "pylon_status" && frame["payload"]["hostConnected"] == true
        };
        let status = probe.until(is_it).await;
        missing.retain(|pylon| status["payload"]["deviceId"] != *pylon);
    }
}

/// A refusal: why, for people and for programs, and of which request.
#[track_caller]
fn failure(frame: &Value, code: &str, request: &str) {
    let payload = &frame["payload"];
    let is_refusal = frame["type"] == "error" || payload["success"] == false;
    assert!(is_refusal, "{frame}");
    assert_eq!(payload["errorCode"], code, "{frame}");
    assert_eq!(payload["requestId"], request, "{frame}");
    check(&payload["error"], &json!("id"));
    check(&payload["retry"], &json!("never|now|later"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_goes_through_every_message() {
    walk(&Agent::Simulator).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_goes_through_every_message_with_2_1_197() {
    walk(&Agent::Real(RealCli::v197().unwrap())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_goes_through_every_message_with_2_1_325() {
    walk(&Agent::Real(RealCli::v325().unwrap())).await;
}

/// The whole book, with an agent behind the host of every machine.
async fn walk(agent: &Agent) {
    let mut house = House::new(agent, &[(1, "Selene"), (2, "Stella")]).await;
    let deploy = [("ESTELLE_DEPLOY_APK_URL", release::APK)];
    crate::deploy::stage::lay_out(&mut house, &[SELENE], &deploy);
    let mut cast = Cast::enter(&mut house).await;
    let mut book = Book::default();
    relay::chapter(&house, &mut cast, &mut book).await;
    places::chapter(&house, &mut cast, &mut book).await;
    claude::chapter(&house, &mut cast, &mut book).await;
    past::chapter(&house, &mut cast, &mut book).await;
    release::chapter(&house, &mut cast, &mut book).await;
    deploys::chapter(&house, &mut cast, &mut book).await;
    tasks::chapter(&house, &mut cast).await;
    for (text, frame) in cast.owner.seen.iter().chain(&cast.pylon.seen) {
        let from = json!({
            "deviceId": "count", "deviceType": "app|pylon", "name": "string", "icon?": "string",
            "rights?": ["string"], "deviceKey?": "id",
        });
        let envelope = json!({
            "type": "id", "to?": "any", "broadcast?": "id", "from?": from, "requestId?": "id", "payload?": "any",
        });
        check(frame, &envelope);
        assert!(text.starts_with(r#"{"type":"#), "{text}");
    }
    book.shows("relay", [2]);
    book.assert_complete();
    house.assert_calm();
}
