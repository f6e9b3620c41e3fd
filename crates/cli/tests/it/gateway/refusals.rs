//! What must not get in: other pages, other names, forms, no token, too much. The numbers are those of the catalogue of
//! attacks.

use futures_util::SinkExt as _;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::{Error, Message};

use super::client::{Api, PATIENCE, Watcher};
use crate::host::stage::Agent;
use crate::up::stage::Machine;

/// The status of an upgrade that was refused.
fn refusal<T>(opened: Result<T, Error>) -> u16 {
    match opened {
        Err(Error::Http(response)) => response.status().as_u16(),
        Err(other) => panic!("{other:?}"),
        Ok(_) => 101,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn l1_to_l9_other_pages_and_names_are_refused_on_every_route_and_upgrade() {
    let machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    let bearer = format!("Authorization: Bearer {}\r\n", api.token);
    let document = api.plain("GET /api/openapi.json", "", "").await.json();
    let beside = ["GET /ws/sessions/x", "GET /ws/terminals/x", "GET /nothing"];
    let mut lines: Vec<String> = beside.map(str::to_owned).into();
    for (path, item) in document["paths"].as_object().unwrap() {
        let methods = item
            .as_object()
            .unwrap()
            .keys()
            .filter(|name| *name != "parameters");
        lines.extend(methods.map(|method| format!("{} {path}", method.to_uppercase())));
    }
    for line in &lines {
        for origin in ["https://evil.example", "null", "http://localhost.evil.com"] {
            let headers = format!("{bearer}Origin: {origin}\r\n");
            let answer = api.plain(line, &headers, "").await;
            assert_eq!(answer.status, 403, "{line} from {origin}");
            assert!(
                !answer.head.contains("access-control"),
                "L13: {}",
                answer.head
            );
        }
        for host in ["evil.com", "127.0.0.1", "127.evil.com:80"] {
            let text =
                format!("{line} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{bearer}\r\n");
            assert_eq!(
                api.raw(text.as_bytes()).await.status,
                403,
                "{line} at {host}"
            );
        }
    }
    let session = api.session(&machine).await;
    let path = format!("/ws/sessions/{session}");
    let token = format!("Bearer {}", api.token);
    for (name, value) in [
        ("origin", "https://evil.example"),
        ("origin", "null"),
        ("host", "evil.com"),
    ] {
        for path in [path.as_str(), "/ws/terminals/t-1"] {
            let opened = api
                .knock(path, &[("authorization", &token), (name, value)])
                .await;
            assert_eq!(refusal(opened), 403, "{path} with {name}: {value}");
        }
    }
    let own = format!("http://{}", api.address);
    let opened = api
        .knock(&path, &[("authorization", &token), ("origin", &own)])
        .await;
    assert!(opened.is_ok(), "its own pages may");
}

#[tokio::test(flavor = "multi_thread")]
async fn l2_w3_without_a_token_nothing_is_told() {
    let machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    let session = api.session(&machine).await;
    let answer = api.plain("GET /api/sessions", "", "").await;
    assert_eq!(answer.status, 401);
    assert!(
        answer.head.contains("www-authenticate: bearer"),
        "{}",
        answer.head
    );
    let twice = "Authorization: Bearer a\r\nAuthorization: Bearer b\r\n";
    assert_eq!(api.plain("GET /api/sessions", twice, "").await.status, 401);
    // A token in a query opens nothing.
    let line = format!("GET /api/sessions?token={}", api.token);
    assert_eq!(api.plain(&line, "", "").await.status, 401);
    let path = format!("/ws/sessions/{session}");
    let wrong = api.knock(&path, &[("authorization", "Bearer wrong")]).await;
    assert_eq!(refusal(wrong), 401);
    for first in [
        r#"{"type":"input","content":"hi"}"#,
        r#"{"type":"auth","token":"wrong"}"#,
    ] {
        let mut socket = api.knock(&path, &[]).await.unwrap();
        socket.send(Message::text(first)).await.unwrap();
        let mut watcher = Watcher {
            socket,
            seen: Vec::new(),
        };
        assert_eq!(watcher.end().await, Some(4401), "{first}");
        assert!(watcher.seen.is_empty());
    }
    // W3: somebody who says nothing is put out.
    let socket = api.knock(&path, &[]).await.unwrap();
    let mut silent = Watcher {
        socket,
        seen: Vec::new(),
    };
    assert_eq!(silent.end().await, Some(4401));
}

#[tokio::test(flavor = "multi_thread")]
async fn l10_l11_l13_l14_a_page_can_neither_send_nor_read_anything() {
    let machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    let bearer = format!("Authorization: Bearer {}\r\n", api.token);
    let body = r#"{"name":"x","path":"/"}"#;
    let kinds = [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
    ];
    for kind in kinds {
        let length = body.len();
        let headers = format!("{bearer}Content-Type: {kind}\r\nContent-Length: {length}\r\n");
        let answer = api.plain("POST /api/workspaces", &headers, body).await;
        assert_eq!(answer.status, 415, "{kind}");
    }
    let headers = "Access-Control-Request-Method: POST\r\n";
    let preflight = api.plain("OPTIONS /api/sessions", headers, "").await;
    assert_eq!(preflight.status, 405);
    assert!(
        !preflight.head.contains("access-control"),
        "{}",
        preflight.head
    );
    let answer = api.plain("GET /api/sessions", &bearer, "").await;
    for rule in [
        "x-content-type-options: nosniff",
        "cross-origin-resource-policy: same-origin",
        "cache-control: no-store",
        "x-frame-options: deny",
        "content-security-policy: default-src 'none'",
    ] {
        assert!(answer.head.contains(rule), "{rule}: {}", answer.head);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn l15_an_address_that_others_can_reach_is_refused() {
    let machine = Machine::start(&Agent::Simulator).await;
    let data = machine.path("other");
    let mut command = machine.command(&[
        "up",
        "--demo",
        "--json",
        "--listen",
        "127.0.0.1:0",
        "--data",
    ]);
    let output = command
        .arg(data)
        .env("ESTELLE_GATEWAY_LISTEN", "0.0.0.0:0")
        .output()
        .unwrap();
    assert!(!output.status.success());
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("an address of this machine alone"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn w4_w21_w23_what_is_too_much_is_cut_off_before_it_is_read() {
    let machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    let bearer = format!("Authorization: Bearer {}\r\n", api.token);
    let long = format!("X-Long: {}\r\n", "a".repeat(64 * 1024));
    assert_eq!(api.plain("GET /api/health", &long, "").await.status, 431);
    let many = "X-Many: y\r\n".repeat(1000);
    assert_eq!(api.plain("GET /api/health", &many, "").await.status, 431);
    // W23: a stranger's body is not waited for, whatever its length.
    let claim = "Content-Type: application/json\r\nContent-Length: 1000000000\r\n";
    assert_eq!(
        api.plain("POST /api/workspaces", claim, "").await.status,
        401
    );
    let headers = format!("{bearer}{claim}");
    assert_eq!(
        api.plain("POST /api/workspaces", &headers, "").await.status,
        413
    );
    let smuggled = format!("{bearer}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n");
    let answer = api
        .plain("POST /api/workspaces", &smuggled, "0\r\n\r\n")
        .await;
    assert!((400..500).contains(&answer.status), "{answer:?}");
    // Somebody who never ends the headers is put out.
    let mut slow = TcpStream::connect(&api.address).await.unwrap();
    slow.write_all(b"GET /api/health HTTP/1.1\r\nHost:")
        .await
        .unwrap();
    let mut rest = Vec::new();
    let ended = tokio::time::timeout(PATIENCE, slow.read_to_end(&mut rest)).await;
    assert!(ended.is_ok(), "W1: the connection is closed");
    assert_eq!(api.plain("GET /api/health", "", "").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn w5_to_w13_bad_frames_end_their_connection_alone() {
    let machine = Machine::start(&Agent::Simulator).await;
    let api = Api::of(&machine);
    let session = api.session(&machine).await;
    let mut honest = api.watch(&session, "").await;
    honest.status("waiting_input").await;
    let frames: [(&str, &[u8]); 6] = [
        (
            "W5 a length of 2^63-1",
            &[
                0x81, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4,
            ],
        ),
        ("W9 unmasked", &[0x81, 0x02, b'h', b'i']),
        ("W9 reserved bits", &[0xf1, 0x80, 1, 2, 3, 4]),
        ("W9 a reserved opcode", &[0x83, 0x80, 1, 2, 3, 4]),
        ("W10 a fragmented ping", &[0x09, 0x80, 1, 2, 3, 4]),
        ("W13 no UTF-8", &[0x81, 0x82, 0, 0, 0, 0, 0xc0, 0x80]),
    ];
    for (name, bytes) in frames {
        let mut watcher = api.watch(&session, "").await;
        watcher.status("waiting_input").await;
        watcher.socket.get_mut().write_all(bytes).await.unwrap();
        // Whether it is said why or not, the connection ends.
        let _ = watcher.end().await;
        assert!(
            watcher.seen.iter().all(|m| m["type"] != "accepted"),
            "{name}"
        );
    }
    let mut watcher = api.watch(&session, "").await;
    let large = json!({"type": "input", "content": "x".repeat(2 * 1024 * 1024)});
    // It may be cut off while it still sends.
    let _ = watcher.socket.send(Message::text(large.to_string())).await;
    let _ = watcher.end().await;
    honest
        .say(json!({"type": "deny", "request_id": "toolu_never"}))
        .await;
    assert_eq!(honest.kind("error").await["code"], "unknown_decision");
}

#[tokio::test(flavor = "multi_thread")]
async fn neither_tokens_nor_paths_are_logged() {
    // Whatever somebody who looks for a fault asks for.
    let settings = [("ESTELLE_LOG", "trace,tungstenite::protocol=trace")];
    let machine = Machine::start_with(&Agent::Simulator, &settings).await;
    let api = Api::of(&machine);
    let session = api.session(&machine).await;
    // A token that comes with the first message is read by other hands.
    let path = format!("/ws/sessions/{session}");
    let socket = api.knock(&path, &[]).await.unwrap();
    let mut watcher = super::client::Watcher {
        socket,
        seen: Vec::new(),
    };
    let auth = json!({"type": "auth", "token": api.token});
    watcher.say(auth).await;
    watcher.status("waiting_input").await;
    api.call(&format!("GET /api/sessions/{session}/secret-path"), None)
        .await;
    api.plain(
        "GET /api/sessions",
        "Authorization: Bearer leaked-token\r\n",
        "",
    )
    .await;
    let _ = api
        .knock(
            "/ws/sessions/secret-path",
            &[("authorization", "Bearer leaked-token")],
        )
        .await;
    let log = std::fs::read_to_string(machine.path("data/up.log")).unwrap();
    assert!(log.contains("TRACE") || log.contains("DEBUG"), "{log}");
    for secret in [api.token.as_str(), "leaked-token", "secret-path"] {
        assert!(!log.contains(secret), "{secret}");
    }
}
