//! Opens conversation logs of arbitrary bytes, and good ones that were damaged.
//!
//! With an even first byte the rest is the file itself. With an odd one the rest, cut at each zero byte, is written as
//! records first and then damaged at one place. Asserts what holds for every input: nothing panics; what was proven is
//! a prefix of what was written; looking changes nothing and sees the same as opening; a broken log takes no record;
//! and a log whose torn tail was cut takes one and is whole afterwards.

#![no_main]

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;

// The log as the host has it, without the rest of the host, which would take minutes to build with instruments.
#[expect(dead_code, reason = "the host uses more of it than is tried here")]
#[path = "../../crates/host/src/failpoint.rs"]
mod failpoint;
#[expect(
    dead_code,
    unused_imports,
    reason = "the host uses more of it than is tried here"
)]
#[path = "../../crates/host/src/log/mod.rs"]
mod log;

use log::{AppendError, ChainHash, Damage, Log, Sync, inspect};

fuzz_target!(|data: &[u8]| {
    let Some((&first, rest)) = data.split_first() else {
        return;
    };
    let path = FILE.as_path();
    let _ = std::fs::remove_file(path);
    let written = if first % 2 == 0 {
        std::fs::write(path, rest).expect("the file can be written");
        None
    } else {
        Some(damaged(path, first, rest))
    };
    check(path, written.as_deref());
});

/// Memory rather than a disk where there is such a folder; each process has its own file.
static FILE: LazyLock<PathBuf> = LazyLock::new(|| {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() {
        memory.to_owned()
    } else {
        std::env::temp_dir()
    };
    folder.join(format!("estelle-fuzz-log-{}", std::process::id()))
});

/// Writes records, then changes one byte, cuts the file, or puts bytes behind it.
fn damaged(path: &Path, first: u8, rest: &[u8]) -> Vec<Vec<u8>> {
    let (place, texts) = rest.split_at(rest.len().min(2));
    let records: Vec<Vec<u8>> = texts
        .split(|byte| *byte == 0)
        .map(|text| text.iter().copied().filter(|byte| *byte != b'\n').collect())
        .collect();
    let mut bytes = Vec::new();
    let mut hash = ChainHash::EMPTY;
    for record in &records {
        hash = hash.next(record);
        bytes.extend_from_slice(format!("{hash} ").as_bytes());
        bytes.extend_from_slice(record);
        bytes.push(b'\n');
    }
    let place = place
        .iter()
        .fold(0, |sum, byte| sum * 256 + usize::from(*byte))
        % bytes.len();
    match (first / 2) % 3 {
        0 => bytes[place] ^= first | 1,
        1 => bytes.truncate(place),
        _ => bytes.extend_from_slice(&[first, b'x', b'\n'][..usize::from(first % 4).min(3)]),
    }
    std::fs::write(path, &bytes).expect("the file can be written");
    records
}

fn check(path: &Path, written: Option<&[Vec<u8>]>) {
    let bytes = std::fs::read(path).expect("the file can be read");
    let seen = inspect(path).expect("a file can be looked at");
    assert_eq!(
        std::fs::read(path).expect("still there"),
        bytes,
        "looking changed the log"
    );
    let opened = Log::open(path).expect("a file can be opened");
    let proven: Vec<&Vec<u8>> = seen.records.iter().map(|record| &record.payload).collect();
    assert_eq!(
        opened.payloads.iter().collect::<Vec<_>>(),
        proven,
        "two readers, two logs"
    );
    assert_eq!(opened.damage, seen.damage, "two readers, two opinions");
    if let Some(written) = written {
        assert!(
            written.starts_with(&opened.payloads),
            "records that nobody wrote were proven"
        );
    }
    let mut log = opened.log;
    let appended = log.append(b"{\"next\":true}", Sync::Later);
    match opened.damage {
        Some(Damage::Broken(_)) => {
            assert!(
                matches!(appended, Err(AppendError::Poisoned)),
                "a record behind damage"
            );
            assert_eq!(
                std::fs::read(path).expect("still there"),
                bytes,
                "damage was touched"
            );
        }
        Some(Damage::TornTail(_)) | None => {
            appended.expect("a whole log takes a record");
            log.give_back().expect("the rest is given back");
            drop(log);
            let again = Log::open(path).expect("it opens again");
            assert_eq!(again.damage, None, "not whole after an append");
            assert_eq!(again.payloads.len(), opened.payloads.len() + 1);
        }
    }
}
