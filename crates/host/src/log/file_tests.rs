//! Laws of the log: what was appended comes back, a torn tail is cut and said, damage is never silent.

use proptest::prelude::*;

use super::*;

fn open(path: &Path) -> Opened {
    Log::open(path).expect("a log")
}

fn filled(path: &Path, payloads: &[&str]) -> ChainHash {
    let mut log = open(path).log;
    for payload in payloads {
        log.append(payload.as_bytes(), Sync::Now).expect("appended");
    }
    log.hash()
}

fn texts(opened: &Opened) -> Vec<String> {
    let text = |payload: &Vec<u8>| String::from_utf8(payload.clone()).expect("text");
    opened.payloads.iter().map(text).collect()
}

#[test]
fn what_was_appended_comes_back_with_the_same_hash() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("log");
    let hash = filled(&path, &["{\"a\":1}", "", "{\"b\":2}"]);
    let opened = open(&path);
    assert_eq!(texts(&opened), ["{\"a\":1}", "", "{\"b\":2}"]);
    assert_eq!(
        (opened.log.hash(), opened.log.records(), opened.damage),
        (hash, 3, None)
    );
}

#[test]
fn a_line_feed_is_refused_and_nothing_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("log");
    let mut log = open(&path).log;
    assert!(matches!(
        log.append(b"a\nb", Sync::Now),
        Err(AppendError::LineFeed)
    ));
    assert_eq!(std::fs::read(&path).expect("readable"), b"");
}

#[test]
fn damage_is_reported_and_nothing_is_appended_behind_it() {
    for log in [&["one", "two", "three"][..], &["one", "two"]] {
        damage_two(log);
    }
}

/// The last record may be damaged as well: it is whole, so no crash has cut it.
fn damage_two(log: &[&str]) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("log");
    filled(&path, log);
    let mut bytes = std::fs::read(&path).expect("readable");
    let two = bytes
        .windows(3)
        .position(|window| window == b"two")
        .expect("there");
    bytes[two] = b'T';
    std::fs::write(&path, &bytes).expect("written");
    let mut opened = open(&path);
    assert_eq!(texts(&opened), ["one"]);
    assert!(matches!(opened.damage, Some(Damage::Broken(_))));
    assert!(matches!(
        opened.log.append(b"four", Sync::Now),
        Err(AppendError::Poisoned)
    ));
    assert_eq!(
        std::fs::read(&path).expect("readable"),
        bytes,
        "a damaged log is not touched"
    );
}

#[test]
fn the_reserve_goes_back_to_the_disk_and_comes_again() {
    use std::os::unix::fs::MetadataExt as _;

    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("log");
    let mut log = open(&path).log;
    log.append(b"one", Sync::Now).expect("appended");
    let on_disk = || std::fs::metadata(&path).expect("there").blocks() * 512;
    assert!(on_disk() > 1 << 20, "space is kept ready");
    log.give_back().expect("given back");
    assert!(on_disk() < 1 << 20, "{} bytes are kept", on_disk());
    log.append(b"two", Sync::Now).expect("appended");
    assert!(on_disk() > 1 << 20, "space is kept ready again");
    assert_eq!(texts(&open(&path)), ["one", "two"]);
}

#[test]
fn a_damaged_log_is_not_cut_when_its_reserve_goes_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("log");
    filled(&path, &["one", "two", "three"]);
    let mut bytes = std::fs::read(&path).expect("readable");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&path, &bytes).expect("written");
    open(&path).log.give_back().expect("nothing to do");
    assert_eq!(std::fs::read(&path).expect("readable"), bytes);
}

proptest! {
    // Every case waits for the disk a few times.
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Cut anywhere, the log comes back with a prefix of what was appended, and says what it cut.
    #[test]
    fn a_log_cut_anywhere_keeps_a_prefix_and_goes_on(cut in 0usize..200) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("log");
        let payloads = ["first", "second", "third", "fourth"];
        filled(&path, &payloads);
        let bytes = std::fs::read(&path).expect("readable");
        let cut = cut.min(bytes.len());
        std::fs::write(&path, &bytes[..cut]).expect("written");
        let mut opened = open(&path);
        let kept = texts(&opened);
        prop_assert_eq!(&kept[..], &payloads[..kept.len()]);
        let at_a_border = bytes[..cut].is_empty() || bytes[..cut].ends_with(b"\n");
        prop_assert_eq!(opened.damage.is_none(), at_a_border);
        opened.log.append(b"more", Sync::Now).expect("appended");
        let again = open(&path);
        prop_assert_eq!(again.damage, None);
        prop_assert_eq!(again.payloads.len(), kept.len() + 1);
    }
}
