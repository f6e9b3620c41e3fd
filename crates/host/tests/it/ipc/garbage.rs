//! Lines that make no sense are answered, change nothing, and the connection lives on.

use estelle_proto::limits;
use proptest::prelude::*;

use super::stage::{Stage, Stranger};

/// Sends bytes, hears what comes of them, and sees that the host still listens.
async fn answers(guest: &mut Stranger, bytes: &[u8]) -> Vec<String> {
    guest.write(bytes).await;
    guest.write_line("\n").await;
    guest
        .write_line(r#"{"type":"get_status","requestId":"still-there"}"#)
        .await;
    let mut answers = Vec::new();
    loop {
        let answer = guest.hear_briefly().await;
        match answer.as_str() {
            "status_response" => {}
            "done still-there" => return answers,
            "closed" => panic!("the connection did not live on after {answers:?}"),
            _ => answers.push(answer),
        }
    }
}

#[tokio::test]
async fn what_makes_no_sense_is_answered_and_changes_nothing() {
    let stage = Stage::new();
    stage.desk.open("c", 0);
    let mut guest = stage.guest().await;
    let deep = format!(
        r#"{{"type":"touch","sessionId":"c","x":{}{}}}"#,
        "[".repeat(10_000),
        "]".repeat(10_000)
    );
    let twice = r#"{"type":"permission_response","sessionId":"c","toolUseId":"t","decision":"deny","decision":"allow"}"#;
    let nested = r#"{"type":"question_response","sessionId":"c","toolUseId":"t","answer":{"a":"1","a":"2"}}"#;
    let cases: [(&[u8], &str); 14] = [
        (b"\0", "error invalid_message"),
        (b"\xff\xfe", "error invalid_message"),
        (b"\xef\xbb\xbf{}", "error invalid_message"),
        (b"{} {}", "error invalid_message"),
        (b"null", "error invalid_message"),
        (
            br#"{"type":"touch","sessionId":"c","x":1e400}"#,
            "error invalid_message",
        ),
        (
            br#"{"type":"touch","sessionId":""}"#,
            "error invalid_message",
        ),
        (
            br#"{"type":"touch","sessionId":"..","requestId":"r9"}"#,
            "error invalid_message r9",
        ),
        (
            br#"{"type":"TOUCH","sessionId":"c","requestId":"r1"}"#,
            "error unknown_type r1",
        ),
        (br#"{"type":"__proto__"}"#, "error unknown_type"),
        (
            br#"{"type":"hello","protocol":1,"build":"again","capabilities":[]}"#,
            "conflict",
        ),
        (deep.as_bytes(), "error invalid_message"),
        (twice.as_bytes(), "error invalid_message"),
        (nested.as_bytes(), "error invalid_message"),
    ];
    for (bytes, answer) in cases {
        let heard = answers(&mut guest, bytes).await;
        assert_eq!(heard, [answer], "{:.100}", String::from_utf8_lossy(bytes));
    }
    assert_eq!(stage.desk.taken(), []);
}

#[tokio::test]
async fn a_line_that_is_too_long_is_skipped_to_its_end() {
    let stage = Stage::new();
    stage.desk.open("c", 0);
    let mut guest = stage.guest().await;
    let prompt = "x".repeat(50 * 1024 * 1024);
    let line = format!(
        r#"{{"type":"send_message","sessionId":"c","payload":{{"prompt":"{prompt}","workingDir":"/","workspaceId":"w"}}}}"#
    );
    assert_eq!(
        answers(&mut guest, line.as_bytes()).await,
        ["error too_large"]
    );
    // As long as a line may be, and still no message: the prompt has a limit of its own.
    let prompt = "x".repeat(limits::MAX_IPC_LINE_BYTES - 200);
    let line = format!(
        r#"{{"type":"send_message","sessionId":"c","payload":{{"prompt":"{prompt}","workingDir":"/","workspaceId":"w"}}}}"#
    );
    assert_eq!(
        answers(&mut guest, line.as_bytes()).await,
        ["error too_large"]
    );
    assert_eq!(stage.desk.taken(), []);
}

#[test]
fn any_bytes_leave_the_connection_alive() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let (stage, guest) = runtime.block_on(async {
        let stage = Stage::new();
        let guest = stage.guest().await;
        (stage, guest)
    });
    let guest = std::cell::RefCell::new(guest);
    proptest!(|(bytes in prop::collection::vec(any::<u8>(), 0..300))| {
        let lines = bytes.split(|byte| *byte == b'\n');
        let is_blank = |line: &&[u8]| str::from_utf8(line).is_ok_and(|text| text.trim().is_empty());
        let expected = lines.filter(|line| !is_blank(line)).count();
        let answers = runtime.block_on(answers(&mut guest.borrow_mut(), &bytes));
        prop_assert_eq!(answers.len(), expected);
        prop_assert!(answers.iter().all(|answer| answer == "error invalid_message"));
    });
    assert_eq!(stage.desk.taken(), []);
}
