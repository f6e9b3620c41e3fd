//! The log has every line, no secret, and bounds.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};

use super::*;

const DAY: i64 = 24 * 60 * 60 * 1000;
const TODAY: Timestamp = Timestamp(1_794_700_800_000);

fn conversation() -> ConversationId {
    ConversationId::parse("conv-1").unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn every_line_is_logged_with_when_whose_and_which_way() {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().join("logs");
    let (log, writer) = TrafficLog::open(&logs, Limits::default(), Redactor::default()).unwrap();
    log.record(
        &conversation(),
        Direction::Input,
        TODAY,
        r#"{"type":"user"}"#,
    );
    log.record(&conversation(), Direction::Output, TODAY, "no json");
    drop(log);
    writer.join().unwrap();
    let file = logs.join("sdk-2026-11-15.jsonl");
    assert_eq!(
        lines(&file),
        [
            json!({"timestamp": TODAY, "sessionId": "conv-1", "direction": "input", "data": {"type": "user"}}),
            json!({"timestamp": TODAY, "sessionId": "conv-1", "direction": "output", "data": "no json"}),
        ]
    );
    assert_eq!(
        fs::metadata(&file).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert_eq!(
        fs::metadata(&logs).unwrap().permissions().mode() & 0o777,
        0o700
    );
}

#[test]
fn files_are_cut_by_day_and_size_and_the_oldest_go() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits {
        file_bytes: 200,
        files: 3,
    };
    for start in 0..2 {
        let (log, writer) = TrafficLog::open(folder.path(), limits, Redactor::default()).unwrap();
        for at in [TODAY, TODAY, Timestamp(TODAY.0 + DAY)] {
            for _ in 0..3 {
                let at = Timestamp(at.0 + start * DAY);
                log.record(
                    &conversation(),
                    Direction::Output,
                    at,
                    r#"{"type":"result"}"#,
                );
            }
        }
        drop(log);
        writer.join().unwrap();
    }
    fs::write(folder.path().join("notes.txt"), "not ours").unwrap();
    let kept = names(folder.path());
    assert_eq!(kept.len(), 4, "{kept:?}");
    assert!(
        kept.contains(&"sdk-2026-11-17.jsonl".to_owned()),
        "{kept:?}"
    );
    assert!(!kept.iter().any(|name| name.contains("11-15")), "{kept:?}");
    for name in kept.iter().filter(|name| name.starts_with("sdk-")) {
        let path = folder.path().join(name);
        assert!(fs::metadata(&path).unwrap().len() <= 200, "{name}");
        assert!(!lines(&path).is_empty());
    }
}

#[test]
fn what_does_not_fit_is_counted_and_the_count_is_written() {
    let folder = tempfile::tempdir().unwrap();
    // The writer cannot begin before the folder is there again, so the queue fills up.
    let (queue, entries) = sync_channel(2);
    let counters: Arc<Counters> = Arc::default();
    let log = TrafficLog {
        queue,
        counters: Arc::clone(&counters),
    };
    for _ in 0..5 {
        log.record(&conversation(), Direction::Output, TODAY, "{}");
    }
    let huge = "x".repeat(MAX_LINE_BYTES + 1);
    for _ in 0..20 {
        log.record(&conversation(), Direction::Output, TODAY, &huge);
    }
    drop(log);
    let files = LogFiles::open(folder.path(), Limits::default()).unwrap();
    Writer {
        files,
        redactor: Redactor::default(),
        counters: Arc::clone(&counters),
    }
    .run(&entries);
    let written = lines(&folder.path().join("sdk-2026-11-15.jsonl"));
    assert_eq!(
        written[0]["data"],
        json!({"type": "lines_dropped", "count": 23})
    );
    assert_eq!(written.len(), 3);
    assert_eq!(counters.queued_bytes.load(Ordering::Relaxed), 0);
}

#[test]
fn a_line_that_is_too_long_is_logged_by_its_length() {
    let folder = tempfile::tempdir().unwrap();
    let (log, writer) =
        TrafficLog::open(folder.path(), Limits::default(), Redactor::default()).unwrap();
    log.record(
        &conversation(),
        Direction::Output,
        TODAY,
        &"x".repeat(2 * MAX_LINE_BYTES),
    );
    drop(log);
    writer.join().unwrap();
    let written = lines(&folder.path().join("sdk-2026-11-15.jsonl"));
    assert_eq!(
        written[0]["data"],
        json!({"type": "too_long", "bytes": 2 * MAX_LINE_BYTES})
    );
}

#[test]
fn no_secret_reaches_the_log() {
    let redactor = Redactor::new(["known-by-value-c4n4ry".to_owned()]);
    let cases = [
        json!({"text": "the value known-by-value-c4n4ry itself"}),
        json!({"request": {"env": {"ANYTHING": "c4n4ry"}}}),
        json!({"headers": {"X-Thing": "c4n4ry"}}),
        json!({"api_key": "c4n4ry", "nested": {"clientSecret": {"deep": ["c4n4ry"]}}}),
        json!({"Authorization": "Bearer c4n4ry"}),
        json!({"command": "curl -H 'Authorization: Bearer c4n4ryc4n4ry' https://x"}),
        json!({"command": "ANTHROPIC_API_KEY=c4n4ry claude"}),
        json!({"command": "export DB_PASSWORD='c4n4ry with spaces'"}),
        json!({"input": "{\"api_key\": \"c4n4ry\", \"a\": 1}"}),
        json!({"input": "{\\\"token\\\":\\\"c4n4ry\\\"}"}),
        json!({"text": "my key is sk-ant-api03-c4n4ryc4n4ryc4n4ry, keep it"}),
        json!({"text": "(ghp_c4n4ryc4n4ryc4n4ryc4n4ry)"}),
        json!({"text": "eyJhbGciOi.c4n4ryc4n4ry.c4n4ry"}),
        json!({"text": "git clone https://bob:c4n4ry@example.com/x"}),
        json!({"text": "-----BEGIN RSA PRIVATE KEY-----\nc4n4ry\nc4n4ry\n-----END RSA PRIVATE KEY-----\nrest"}),
        json!({"text": "-----BEGIN PRIVATE KEY-----\nc4n4ry cut off"}),
        json!({"type": "stream_event", "event": {"delta": {"type": "text_delta", "text": "c4n4ry"}}}),
        json!({"type": "stream_event", "event": {"delta": {"partial_json": "c4n4ry"}}}),
        json!("TOKEN: c4n4ry"),
    ];
    for case in cases {
        let clean = redactor.line(&case.to_string());
        assert!(!clean.contains("c4n4ry"), "{clean}");
        serde_json::from_str::<Value>(&clean).unwrap();
    }
    let raw = redactor.line("not json: token=c4n4ry");
    assert!(!raw.contains("c4n4ry"), "{raw}");
}

#[test]
fn ordinary_lines_stay_as_they_are() {
    let ordinary = [
        json!({"usage": {"input_tokens": 5, "output_tokens": 7}, "max_tokens": 4096}),
        json!({"text": "The token count is: 12. See https://example.com/a?b=c and a:b."}),
        json!({"text": "monkey = banana; keyboard: qwerty; sk-1; the basic understanding of it all"}),
        json!({"type": "control_request", "request_id": "1a10", "request": {"subtype": "can_use_tool"}}),
        json!({"command": "git log --format=%H -- src/key.rs"}),
        json!({"text": "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----"}),
    ];
    for case in ordinary {
        let line = case.to_string();
        assert_eq!(Redactor::default().line(&line), line);
    }
}

proptest::proptest! {
    #[test]
    fn any_text_comes_back_as_json(text in "[ -~\\n=:\"'\\\\é-]{0,200}") {
        let clean = Redactor::default().line(&text);
        proptest::prop_assert!(serde_json::from_str::<Value>(&clean).is_ok());
        let quoted = Value::from(text).to_string();
        let clean = Redactor::default().line(&quoted);
        proptest::prop_assert!(serde_json::from_str::<Value>(&clean).is_ok());
    }
}
