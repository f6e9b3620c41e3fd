//! What HTTP gives away (L, W): nothing to a wrong host or page, and little to anybody.

use std::sync::Arc;

use bytes::Bytes;
use estelle_proto::{Name, Right, Token};
use estelle_relay::{Config, NewDevice, Pages, TlsFiles};
use futures_util::StreamExt as _;
use hyper::Response;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::kit::{House, realm};

/// Sends bytes and reads until the relay closes or answers with a whole head and body.
pub(crate) async fn raw(house: &House, request: &str) -> String {
    let mut stream = TcpStream::connect(house.address()).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    // The requests ask for the connection to be closed, or are refused with a close.
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8(answer).unwrap()
}

pub(crate) async fn get(house: &House, path: &str, headers: &str) -> String {
    let host = house.address();
    let head = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n");
    raw(house, &format!("{head}{headers}\r\n")).await
}

pub(crate) fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or("none")
}

#[tokio::test]
async fn health_is_public_and_counters_are_not() {
    let house = House::new().await;
    let health = get(&house, "/healthz", "").await;
    assert_eq!(status(&health), "200");
    assert!(health.ends_with("\r\n\r\nok\n"), "{health}");
    assert_eq!(status(&get(&house, "/metrics", "").await), "404");
    let config = Config {
        metrics_token: Some(Token::parse("count-von-count").unwrap()),
        ..Config::default()
    };
    let house = House::with(config).await;
    assert_eq!(status(&get(&house, "/metrics", "").await), "401");
    let wrong = "Authorization: Bearer count\r\n";
    assert_eq!(status(&get(&house, "/metrics", wrong).await), "401");
    let right = "Authorization: Bearer count-von-count\r\n";
    let counters = get(&house, "/metrics", right).await;
    assert!(
        counters.contains("\nestelle_relay_connections 0\n"),
        "{counters}"
    );
}

#[tokio::test]
async fn health_tells_when_nothing_can_be_kept() {
    let house = House::new().await;
    let device = || NewDevice {
        name: Name::parse("Phone").unwrap(),
        rights: vec![Right::View],
        expires_at: None,
    };
    house.device("home", &[Right::View]).await;
    // Where the next version is to be written is a folder.
    let obstacle = house.folder.path().join("relay.json.new");
    std::fs::create_dir(&obstacle).unwrap();
    let added = house.relay.add_device(realm("home"), device()).await;
    assert!(added.is_err(), "it cannot be kept");
    let health = get(&house, "/healthz", "").await;
    assert_eq!(status(&health), "503");
    assert!(
        health.contains("the registry could not be written"),
        "{health}"
    );
    std::fs::remove_dir(&obstacle).unwrap();
    house.device("home", &[Right::View]).await;
    let health = get(&house, "/healthz", "").await;
    assert_eq!(status(&health), "200");
}

#[tokio::test]
async fn l5_a_wrong_host_is_refused_on_every_route() {
    let house = House::new().await;
    for path in ["/", "/ws", "/healthz", "/metrics", "/any"] {
        for host in ["evil.com", "localhost", "127.0.0.1:1"] {
            let request =
                format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
            assert_eq!(status(&raw(&house, &request).await), "403", "{path} {host}");
        }
    }
    let none = "GET /healthz HTTP/1.0\r\n\r\n";
    assert_eq!(status(&raw(&house, none).await), "403");
}

fn upgrade(host: &str, extra: &str) -> String {
    format!(
        "GET /ws HTTP/1.1\r\nHost: {host}\r\nConnection: close, Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{extra}\r\n"
    )
}

#[tokio::test]
async fn l1_l3_a_page_of_another_origin_cannot_connect() {
    let house = House::new().await;
    let host = house.address().to_string();
    for origin in ["https://evil.com", "null", "http://localhost.evil.com"] {
        let request = upgrade(&host, &format!("Origin: {origin}\r\n"));
        assert_eq!(status(&raw(&house, &request).await), "403", "{origin}");
    }
    let mut stream = TcpStream::connect(house.address()).await.unwrap();
    let request = upgrade(&host, &format!("Origin: http://{host}\r\n"));
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut head = [0; 12];
    stream.read_exact(&mut head).await.unwrap();
    assert_eq!(&head, b"HTTP/1.1 101");
}

#[tokio::test]
async fn a_bad_handshake_is_refused() {
    let house = House::new().await;
    let host = house.address().to_string();
    let good = upgrade(&host, "");
    let cases = [
        (good.replace("Version: 13", "Version: 8"), "426"),
        (good.replace("dGhlIHNhbXBsZSBub25jZQ==", "short"), "400"),
        (good.replace("Upgrade: websocket", "Upgrade: h2c"), "400"),
        (good.replace("close, Upgrade", "close"), "400"),
        (good.replace("GET /ws", "GET /elsewhere"), "404"),
        (good.replace("GET", "POST"), "405"),
    ];
    for (request, expected) in cases {
        assert_eq!(status(&raw(&house, &request).await), expected, "{request}");
    }
}

#[tokio::test]
async fn w14_no_extension_is_agreed_on() {
    let house = House::new().await;
    let host = house.address().to_string();
    let mut stream = TcpStream::connect(house.address()).await.unwrap();
    let request = upgrade(&host, "Sec-WebSocket-Extensions: permessage-deflate\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = vec![0; 1024];
    let count = stream.read(&mut answer).await.unwrap();
    let head = String::from_utf8_lossy(&answer[..count]).to_lowercase();
    assert!(head.starts_with("http/1.1 101"), "{head}");
    assert!(!head.contains("extensions"), "{head}");
}

#[tokio::test]
async fn w4_large_headers_are_refused() {
    let house = House::new().await;
    let host = house.address();
    let long = format!(
        "GET / HTTP/1.1\r\nHost: {host}\r\nX: {}\r\n\r\n",
        "x".repeat(64 * 1024)
    );
    let mut stream = TcpStream::connect(house.address()).await.unwrap();
    // The relay may close before it has read all of it.
    let _ = stream.write_all(long.as_bytes()).await;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    assert!(answer.is_empty() || status(&answer) == "431", "{answer}");
    let many = "X: y\r\n".repeat(100);
    let answer = raw(
        &house,
        &format!("GET / HTTP/1.1\r\nHost: {host}\r\n{many}\r\n"),
    )
    .await;
    assert_eq!(status(&answer), "431");
}

/// hyper forgets this timeout in silence when it has no timer.
#[tokio::test]
async fn w1_headers_that_do_not_come_end_the_connection() {
    let house = House::new().await;
    let mut stream = TcpStream::connect(house.address()).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nHo").await.unwrap();
    let mut idle = TcpStream::connect(house.address()).await.unwrap();
    let waited = std::time::Instant::now();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    idle.read_to_end(&mut answer).await.unwrap();
    assert!(waited.elapsed().as_secs() < 10, "{:?}", waited.elapsed());
}

#[tokio::test]
async fn w23_no_body_is_read() {
    let house = House::new().await;
    let host = house.address();
    for extra in [
        "Content-Length: 1000000000\r\n",
        "Transfer-Encoding: chunked\r\n",
    ] {
        let head = format!("POST /ws HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{extra}");
        assert_eq!(status(&raw(&house, &format!("{head}\r\n")).await), "405");
    }
    let both = format!(
        "POST / HTTP/1.1\r\nHost: {host}\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n"
    );
    let answer = raw(&house, &both).await;
    assert!(matches!(status(&answer), "400" | "405"), "{answer}");
}

#[tokio::test]
async fn d9_pages_come_from_the_hook_and_cannot_be_framed() {
    let pages: Pages = Arc::new(|request| {
        (request.uri().path() == "/").then(|| {
            let page = Response::builder().header("content-type", "text/html");
            page.body(Bytes::from_static(b"<h1>Estelle</h1>")).unwrap()
        })
    });
    let config = Config {
        pages: Some(pages),
        ..Config::default()
    };
    let house = House::with(config).await;
    let page = get(&house, "/", "").await.to_lowercase();
    assert_eq!(status(&page), "200");
    for header in [
        "content-type: text/html",
        "x-frame-options: deny",
        "frame-ancestors 'none'",
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
    ] {
        assert!(page.contains(header), "{header} in {page}");
    }
    assert!(!page.contains("access-control-allow"), "{page}");
    assert_eq!(status(&get(&house, "/other", "").await), "404");
}

#[tokio::test]
async fn tls_is_spoken_when_it_is_configured() {
    let folder = tempfile::tempdir().unwrap();
    let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let files = TlsFiles {
        certificates: folder.path().join("cert.pem"),
        key: folder.path().join("key.pem"),
    };
    std::fs::write(&files.certificates, own.cert.pem()).unwrap();
    std::fs::write(&files.key, own.signing_key.serialize_pem()).unwrap();
    let config = Config {
        tls: Some(files),
        ..Config::default()
    };
    let house = House::with(config).await;
    let mut roots = rustls::RootCertStore::empty();
    roots.add(own.cert.der().clone()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let client = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let connector = tokio_rustls::TlsConnector::from(Arc::new(client));
    let stream = TcpStream::connect(house.address()).await.unwrap();
    let name = "localhost".try_into().unwrap();
    let stream = connector.connect(name, stream).await.unwrap();
    let url = format!("ws://localhost:{}/ws", house.address().port());
    let (mut socket, _) = tokio_tungstenite::client_async(url, stream).await.unwrap();
    let greeting = socket.next().await.unwrap().unwrap().into_text().unwrap();
    assert!(greeting.contains("connected"), "{greeting}");
    // Without TLS nobody is understood.
    let plain = raw(&house, "GET /healthz HTTP/1.1\r\n\r\n");
    assert!(!plain.await.contains("200"));
}

#[tokio::test]
async fn w2_a_handshake_of_tls_that_stalls_is_ended() {
    let folder = tempfile::tempdir().unwrap();
    let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let files = TlsFiles {
        certificates: folder.path().join("cert.pem"),
        key: folder.path().join("key.pem"),
    };
    std::fs::write(&files.certificates, own.cert.pem()).unwrap();
    std::fs::write(&files.key, own.signing_key.serialize_pem()).unwrap();
    let config = Config {
        tls: Some(files),
        ..Config::default()
    };
    let house = House::with(config).await;
    let mut stream = TcpStream::connect(house.address()).await.unwrap();
    stream.write_all(b"\x16\x03\x01").await.unwrap();
    let waited = std::time::Instant::now();
    let mut answer = Vec::new();
    // It may end with a reset, because not all was read.
    let _ = stream.read_to_end(&mut answer).await;
    assert!(waited.elapsed().as_secs() < 10, "{:?}", waited.elapsed());
}

#[tokio::test]
async fn w22_the_second_version_of_http_is_not_spoken() {
    let house = House::new().await;
    let mut stream = TcpStream::connect(house.address()).await.unwrap();
    stream
        .write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0")
        .await
        .unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    assert!(
        answer.is_empty() || answer.starts_with("HTTP/1.1 4"),
        "{answer}"
    );
}

#[tokio::test]
async fn files_that_make_no_certificate_keep_the_relay_from_starting() {
    let folder = tempfile::tempdir().unwrap();
    let files = TlsFiles {
        certificates: folder.path().join("cert.pem"),
        key: folder.path().join("key.pem"),
    };
    std::fs::write(&files.certificates, "no certificate").unwrap();
    let config = Config {
        tls: Some(files),
        ..Config::default()
    };
    let registry = estelle_relay::Registry::open(folder.path().join("relay.json")).unwrap();
    let error = estelle_relay::Relay::bind(config, registry)
        .await
        .unwrap_err();
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(cause.contains("cert.pem"), "{cause}");
}
