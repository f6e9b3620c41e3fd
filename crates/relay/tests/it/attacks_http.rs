//! Requests that pages and strangers can make (R7, L8 to L15, W17, W21): none of them changes or tells anything.

use std::net::{Ipv4Addr, SocketAddr};

use estelle_proto::Right;
use estelle_relay::Config;
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;

use crate::http::{get, raw, status};
use crate::kit::{ALL, Client, House};

const ROUTES: [&str; 4] = ["/", "/ws", "/healthz", "/metrics"];

#[tokio::test]
async fn r7_what_stands_in_the_headers_is_ignored() {
    let house = House::new().await;
    let (_, token) = house.device("home", &[Right::View]).await;
    let stream = TcpStream::connect(house.address()).await.unwrap();
    let url = format!("ws://{}/ws?realm=away&role=pylon", house.address());
    let mut request = url.into_client_request().unwrap();
    for name in [
        "x-role",
        "x-realm",
        "x-rights",
        "x-device-id",
        "authorization",
    ] {
        request.headers_mut().insert(name, "admin".parse().unwrap());
    }
    let (mut socket, _) = tokio_tungstenite::client_async(request, stream)
        .await
        .unwrap();
    let payload = json!({"deviceType": "app", "token": token.reveal()});
    let auth = json!({"type": "auth", "payload": payload}).to_string();
    socket.send(auth.into()).await.unwrap();
    let result = loop {
        let text = socket.next().await.unwrap().unwrap().into_text().unwrap();
        let message: Value = serde_json::from_str(&text).unwrap();
        if message["type"] == "auth_result" {
            break message["payload"].clone();
        }
    };
    assert_eq!(result["rights"], json!(["view"]));
    assert_eq!(result["device"]["deviceType"], "app");
}

#[tokio::test]
async fn l8_other_spellings_of_the_loopback_are_other_hosts() {
    let house = House::new().await;
    let port = house.address().port();
    for host in [
        "0.0.0.0",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "2130706433",
        "0x7f000001",
        "127.1",
        "127.0.0.1.",
        "localhost.",
    ] {
        let head = format!("GET /healthz HTTP/1.1\r\nHost: {host}:{port}\r\n");
        let answer = raw(&house, &format!("{head}Connection: close\r\n\r\n")).await;
        assert_eq!(status(&answer), "403", "{host}");
    }
}

/// What is written down, which nothing here may change.
fn registry(house: &House) -> Option<Vec<u8>> {
    std::fs::read(house.folder.path().join("relay.json")).ok()
}

#[tokio::test]
async fn l10_l11_a_page_can_post_what_it_likes_and_nothing_happens() {
    let house = House::new().await;
    house.device("home", &ALL).await;
    let before = registry(&house);
    let body = r#"{"type":"device_add","payload":{"name":"Evil","rights":["admin"]}}"#;
    let kinds = [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/json",
    ];
    for (path, kind) in ROUTES
        .iter()
        .flat_map(|path| kinds.map(|kind| (path, kind)))
    {
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            house.address(),
            body.len(),
        );
        assert_eq!(status(&raw(&house, &request).await), "405", "{path} {kind}");
    }
    assert_eq!(registry(&house), before);
}

#[tokio::test]
async fn l12_no_get_changes_anything() {
    let house = House::new().await;
    let (key, _) = house.device("home", &ALL).await;
    let before = registry(&house);
    let query = format!("?type=device_revoke&deviceKey={key}&confirm=1");
    for path in ROUTES.iter().chain(&["/device_revoke", "/api/devices"]) {
        let answer = get(&house, &format!("{path}{query}"), "").await;
        assert!(matches!(status(&answer), "200" | "404"), "{path}: {answer}");
    }
    assert_eq!(registry(&house), before);
}

#[tokio::test]
async fn l13_l14_no_other_page_is_invited_and_nothing_can_be_embedded() {
    let house = House::new().await;
    let host = house.address();
    let own = format!("http://{host}");
    for (origin, expected) in [("https://evil.com", "403"), (own.as_str(), "405")] {
        let request = format!(
            "OPTIONS /ws HTTP/1.1\r\nHost: {host}\r\nOrigin: {origin}\r\nAccess-Control-Request-Method: POST\r\nConnection: close\r\n\r\n"
        );
        let answer = raw(&house, &request).await.to_lowercase();
        assert_eq!(status(&answer), expected, "{origin}");
        assert!(!answer.contains("access-control-"), "{answer}");
    }
    for path in ROUTES {
        let answer = get(&house, path, "").await.to_lowercase();
        assert!(!answer.contains("access-control-"), "{answer}");
        assert!(
            answer.contains("x-content-type-options: nosniff"),
            "{answer}"
        );
        assert!(
            answer.contains("cross-origin-resource-policy: same-origin"),
            "{answer}"
        );
    }
}

#[tokio::test]
async fn l15_by_default_only_this_machine_is_served_and_nobody_without_a_secret() {
    assert!(Config::default().listen.ip().is_loopback());
    // Nothing switches the login off, wherever it listens.
    let config = Config {
        listen: SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
        ..Config::default()
    };
    let house = House::with(config).await;
    let near = SocketAddr::from((Ipv4Addr::LOCALHOST, house.address().port()));
    let mut client = Client::open(near).await;
    client.send(&json!({"type": "get_devices"})).await;
    client.expect_error("not_authenticated").await;
}

#[tokio::test]
async fn w17_connections_that_come_and_go_leave_nothing_behind() {
    let house = House::new().await;
    let (mut owner, _) = house.app("home", &ALL).await;
    let mut open = std::collections::VecDeque::new();
    for _ in 0..400 {
        open.push_back(house.connect().await);
        if open.len() > 20 {
            open.pop_front();
        }
    }
    owner.expect_nothing().await;
    drop(open);
    house.reaches("connections", 1).await;
    owner.expect_nothing().await;
}

#[tokio::test]
async fn w21_requests_are_read_one_way_only() {
    let house = House::new().await;
    let host = house.address();
    let first = format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n");
    let last = format!("GET /nothing HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    let both = raw(&house, &format!("{first}{last}")).await;
    let (one, two) = (both.find("HTTP/1.1 200"), both.find("HTTP/1.1 404"));
    assert!(one.is_some() && one < two, "{both}");
    let post = format!("POST / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n");
    for lengths in [
        "Content-Length: 5\r\nContent-Length: 6\r\n",
        "Content-Length: +5\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding : chunked\r\n",
    ] {
        let answer = raw(&house, &format!("{post}{lengths}\r\n0\r\n\r\n{last}")).await;
        assert_eq!(status(&answer), "400", "{lengths}: {answer}");
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{answer}");
    }
    // Nobody is invited to send a body, and nobody is waited for.
    let expecting = "Content-Length: 1000000\r\nExpect: 100-continue\r\n";
    let answer = raw(&house, &format!("{post}{expecting}\r\n")).await;
    assert_eq!(status(&answer), "405", "{answer}");
}
