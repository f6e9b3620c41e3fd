//! Who gets in: the socket's rights, the hello, versions, and how many.

use std::fs;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::sync::Arc;

use estelle_host::data::DataFolder;
use estelle_host::ipc::{Client, ConnectError, Listener, MAX_CLIENTS};
use estelle_proto::ErrorCode;
use rustix::fs::Mode;

use super::stage::Stage;

#[tokio::test]
async fn the_socket_is_private_and_takes_the_place_of_a_stale_one() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("host.sock");
    // What a host leaves behind that was killed: a socket with nobody behind it.
    drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
    let refused = Client::connect(&socket).await.unwrap_err();
    assert!(matches!(refused, ConnectError::NoHost { .. }), "{refused}");
    assert!(refused.to_string().contains("no host runs"), "{refused}");

    let data = Arc::new(DataFolder::take(folder.path()).unwrap());
    let before = rustix::process::umask(Mode::empty());
    let listener = Listener::bind(data);
    rustix::process::umask(before);
    let found = fs::symlink_metadata(&socket).unwrap();
    assert!(found.file_type().is_socket());
    assert_eq!(found.permissions().mode() & 0o777, 0o600);
    assert!(
        DataFolder::take(folder.path()).is_err(),
        "the lock goes with the socket"
    );
    drop(listener);
    assert!(!socket.exists());
    assert!(DataFolder::take(folder.path()).is_ok());
}

#[tokio::test]
async fn versions_are_negotiated() {
    let stage = Stage::new();
    let cases = [
        (
            r#"{"type":"hello","protocol":1,"build":"old","capabilities":[]}"#,
            "hello",
        ),
        (
            r#"{"type":"hello","protocol":1,"build":"old","capabilities":[],"more":{"a":1}}"#,
            "hello",
        ),
        (
            r#"{"type":"hello","protocol":9,"build":"new","capabilities":["x"],"oldest":1}"#,
            "hello",
        ),
        (
            r#"{"type":"hello","protocol":9,"build":"new","capabilities":[]}"#,
            "error protocol_mismatch",
        ),
        (
            r#"{"type":"hello","protocol":0,"build":"ancient","capabilities":[]}"#,
            "error protocol_mismatch",
        ),
        (
            r#"{"type":"hello","protocol":"1","build":"odd","capabilities":[]}"#,
            "error invalid_message",
        ),
        (
            r#"{"type":"get_status","requestId":"r1"}"#,
            "error invalid_message r1",
        ),
        ("GET / HTTP/1.1", "error invalid_message"),
        (&"x".repeat(100_000), "error too_large"),
    ];
    for (line, answer) in cases {
        let mut stranger = stage.stranger().await;
        stranger.write_line(line).await;
        assert_eq!(stranger.hear_briefly().await, answer, "{line:.80}");
        if answer != "hello" {
            assert_eq!(stranger.hear_briefly().await, "closed", "{line:.80}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn who_says_nothing_is_shown_out() {
    let stage = Stage::new();
    let mut stranger = stage.stranger().await;
    stranger.write(b"{\"type\":\"hel").await;
    let began = tokio::time::Instant::now();
    assert_eq!(stranger.hear_briefly().await, "error invalid_message");
    assert_eq!(stranger.hear_briefly().await, "closed");
    assert_eq!(began.elapsed().as_secs(), 5);
    assert_eq!(stage.desk.roster.count(), 0);
}

#[tokio::test]
async fn the_host_takes_so_many_and_no_more() {
    let stage = Stage::new();
    let mut guests = Vec::new();
    for _ in 0..MAX_CLIENTS {
        guests.push(stage.client().await);
    }
    let refused = Client::connect(&stage.socket()).await.unwrap_err();
    let ConnectError::Refused(error) = &refused else {
        panic!("{refused}")
    };
    assert_eq!(error.code, ErrorCode::RateLimited);
    // One leaves, and there is room again.
    drop(guests.pop());
    while Client::connect(&stage.socket()).await.is_err() {
        tokio::task::yield_now().await;
    }
    guests[0].status(None).await.unwrap();
}
