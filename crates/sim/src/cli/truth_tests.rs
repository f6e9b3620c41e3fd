//! The truth file notices what was changed, lost or torn.

use std::path::PathBuf;

use super::{ReadTruthError, TruthLog, read};
use crate::cli::json::obj;

fn written() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("truth.jsonl");
    for generation in ["1-1", "2-2"] {
        let mut log = TruthLog::open(&path, generation.to_owned()).unwrap();
        log.write(1, "start", obj! {}).unwrap();
        log.write(2, "stdout", obj! { "len" => 3 }).unwrap();
    }
    (dir, path)
}

#[test]
fn numbering_goes_on_over_restarts() {
    let (_dir, path) = written();
    let truth = read(&path).unwrap();
    let numbers: Vec<u64> = truth.records.iter().map(|record| record.n).collect();
    assert_eq!(numbers, [1, 2, 3, 4]);
    assert_eq!(truth.records[2].generation, "2-2");
    assert_eq!(truth.torn, 0);
}

#[test]
fn a_torn_last_line_is_reported_and_then_replaced() {
    let (_dir, path) = written();
    let mut text = std::fs::read(&path).unwrap();
    text.truncate(text.len() - 5);
    std::fs::write(&path, &text).unwrap();
    let truth = read(&path).unwrap();
    assert_eq!(truth.records.len(), 3);
    assert!(truth.torn > 0);
    let mut log = TruthLog::open(&path, "3-3".to_owned()).unwrap();
    log.write(3, "exit", obj! {}).unwrap();
    let truth = read(&path).unwrap();
    assert_eq!((truth.records.len(), truth.torn), (4, 0));
}

#[test]
fn a_changed_record_is_noticed() {
    let (_dir, path) = written();
    let text = std::fs::read_to_string(&path)
        .unwrap()
        .replacen("\"len\":3", "\"len\":4", 1);
    std::fs::write(&path, text).unwrap();
    assert!(matches!(
        read(&path),
        Err(ReadTruthError::Checksum { line: 2 })
    ));
}

#[test]
fn a_lost_record_is_noticed() {
    let (_dir, path) = written();
    let text = std::fs::read_to_string(&path).unwrap();
    let kept: Vec<&str> = text
        .lines()
        .enumerate()
        .filter(|(at, _)| *at != 1)
        .map(|(_, line)| line)
        .collect();
    std::fs::write(&path, format!("{}\n", kept.join("\n"))).unwrap();
    assert!(matches!(
        read(&path),
        Err(ReadTruthError::Number { line: 2, .. })
    ));
}
