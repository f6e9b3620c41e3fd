//! Somebody outside is told, and the Pylon is killed with -9 while that waits.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::Talk;
use super::forks::say;
use super::stage::Machine;
use crate::client::run;
use crate::host::stage::Agent;

/// The next message that comes, which is answered with this.
async fn told(hook: &TcpListener, status: u16) -> Value {
    loop {
        let (mut stream, _) = hook.accept().await.unwrap();
        let mut bytes = Vec::new();
        let body = loop {
            if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
                break None;
            }
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let Some((head, body)) = text.split_once("\r\n\r\n") else {
                continue;
            };
            let head = head.to_lowercase();
            assert!(head.contains("estelle-signature: t="), "{head}");
            if let Ok(body) = serde_json::from_str::<Value>(body) {
                break Some(body);
            }
        };
        // A Pylon that was killed in the middle of it says it again.
        let Some(body) = body else { continue };
        let answer = format!("HTTP/1.1 {status} x\r\ncontent-length: 0\r\n\r\n");
        let _ = stream.write_all(answer.as_bytes()).await;
        return body;
    }
}

async fn until_nothing_waits(talk: &mut Talk) {
    loop {
        let told = talk.client.done("notifications_request", json!({})).await;
        if told["waiting"] == 0 {
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_notification_that_waits_outlives_a_pylon_that_is_killed() {
    let hook = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", hook.local_addr().unwrap());
    let secret = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(secret.path(), "a secret of sixteen characters").unwrap();
    let settings = [
        ("ESTELLE_NOTIFICATIONS_WEBHOOK", url.as_str()),
        (
            "ESTELLE_NOTIFICATIONS_WEBHOOK_SECRET_FILE",
            secret.path().to_str().unwrap(),
        ),
        // Somebody looks all the time.
        ("ESTELLE_NOTIFICATIONS_WEBHOOK_QUIET", "false"),
    ];
    let mut machine = Machine::start_with(&Agent::Simulator, &settings).await;
    let mut talk = Talk::begin(&machine).await;
    say(&mut talk, "apples").await;
    let first = told(&hook, 503).await;
    assert_eq!(first["kind"], "finished");
    assert_eq!(first["title"], Value::Null, "no content");
    machine.kill_up();
    machine.up();
    assert_eq!(
        told(&hook, 204).await,
        first,
        "it is told again, under the same id"
    );
    let mut talk = talk.again(&machine).await;
    until_nothing_waits(&mut talk).await;
    let shown = run(&machine, &["notifications"]).with_code(0).out;
    assert!(shown.contains("webhook"), "{shown}");
    assert!(!shown.contains("still to be delivered"), "{shown}");
    // Another death, with nothing to tell: the next message is about the next turn.
    machine.kill_up();
    machine.up();
    let mut talk = talk.again(&machine).await;
    talk.look().await;
    say(&mut talk, "quinces").await;
    let second = told(&hook, 410).await;
    assert_ne!(second["id"], first["id"]);
    until_nothing_waits(&mut talk).await;
    let shown = run(&machine, &["notifications"]).with_code(0).out;
    assert!(shown.contains("the webhook is not there"), "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_without_a_secret_is_refused_before_anything_starts() {
    let place = tempfile::tempdir().unwrap();
    let up = std::process::Command::new(env!("CARGO_BIN_EXE_estelle"))
        .args(["up", "--demo", "--listen", "127.0.0.1:0"])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", place.path())
        .env("ESTELLE_DATA", place.path().join("data"))
        .env("ESTELLE_NOTIFICATIONS_WEBHOOK", "https://example.org/hook")
        .output()
        .unwrap();
    assert!(!up.status.success());
    let error = String::from_utf8(up.stderr).unwrap();
    assert!(error.contains("webhook_secret_file"), "{error}");
}
