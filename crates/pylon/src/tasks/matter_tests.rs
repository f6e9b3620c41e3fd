//! Front matter as people write it, and that a change leaves everything else alone.

use proptest::prelude::*;

use super::*;

const BY_HAND: &str = "---\nid: a1\ntitle: 'It''s a title' # for people\ntags:\n  - one\n- two\nowner: {name: x}\n\n# a remark\nstatus: \"pending\"\n---\n# Goal\n---\nid: no\n";

fn value(text: &str, key: &str) -> Option<String> {
    let matter = Matter::parse(text).unwrap();
    matter.value(key).unwrap().map(str::to_owned)
}

#[test]
fn values_are_read_in_every_way_in_which_people_write_them() {
    let of = |written: &str| value(&format!("---\ntitle:{written}\n---\n"), "title");
    for (written, read) in [
        (" plain", "plain"),
        (" plain # remark", "plain"),
        (" 한국어 제목", "한국어 제목"),
        (" a: b", "a: b"),
        (" \"in \\\"marks\\\"\\n\" # x", "in \"marks\"\n"),
        (" \"\\uc5d0\"", "에"),
        (" 'single ''marks'''", "single 'marks'"),
        (" >\n  folded\n  lines", "folded lines"),
        (" |-\n  one", "one"),
        ("\n  on the next line", "on the next line"),
        (" 2026-01-25T10:00:00Z", "2026-01-25T10:00:00Z"),
    ] {
        assert_eq!(of(written).as_deref(), Some(read), "{written:?}");
    }
    for nothing in ["", " ", " ''", " \"\"", " # remark"] {
        assert_eq!(of(nothing), None, "{nothing:?}");
    }
}

#[test]
fn a_change_touches_its_own_lines_alone() {
    let matter = Matter::parse(BY_HAND).unwrap();
    assert_eq!(matter.value("status"), Ok(Some("pending")));
    assert_eq!(matter.body(), "# Goal\n---\nid: no\n");
    let changed = matter.with(&[("status", Some("running")), ("startedAt", Some("now"))]);
    let expected = BY_HAND.replace(
        "status: \"pending\"\n---\n",
        "status: running\nstartedAt: now\n---\n",
    );
    assert_eq!(changed, expected);
    let matter = Matter::parse(&changed).unwrap();
    let back = matter.with(&[("startedAt", None), ("status", Some("pending"))]);
    assert_eq!(back, BY_HAND.replace("\"pending\"", "pending"));
    assert_eq!(Matter::parse(BY_HAND).unwrap().with(&[]), BY_HAND);
}

#[test]
fn a_file_of_another_system_keeps_its_line_ends_and_its_mark() {
    let text = "\u{feff}---\r\nid: a\r\nstatus: pending\r\n---\r\nbody\r\n";
    let matter = Matter::parse(text).unwrap();
    let changed = matter.with(&[("status", Some("done")), ("completedAt", Some("t"))]);
    let expected = "\u{feff}---\r\nid: a\r\nstatus: done\r\ncompletedAt: t\r\n---\r\nbody\r\n";
    assert_eq!(changed, expected);
}

#[test]
fn a_value_of_several_lines_is_replaced_with_all_of_them() {
    let text = "---\nerror: |\n  one\n  two\nid: a\n---\n";
    let changed = Matter::parse(text).unwrap().with(&[("error", Some("x"))]);
    assert_eq!(changed, "---\nerror: x\nid: a\n---\n");
}

#[test]
fn what_cannot_be_read_is_said_with_its_place() {
    let refused = |text: &str| Matter::parse(text).unwrap_err();
    for missing in ["", "# Title\n", "----\n", "\n---\n---\n"] {
        assert_eq!(refused(missing), MatterError::Missing, "{missing:?}");
    }
    for unclosed in ["---", "---\nid: a\n", "---\nid: a\n\n"] {
        assert_eq!(refused(unclosed), MatterError::Unclosed, "{unclosed:?}");
    }
    for (text, line) in [
        ("---\nno key\n---\n", 2),
        ("---\nid: a\n: b\n---\n", 3),
        ("---\nid:a\n---\n", 2),
        ("---\n  inner: first\n---\n", 2),
        ("---\nid : a\n---\n", 2),
    ] {
        assert_eq!(refused(text), MatterError::NoKey { line }, "{text:?}");
    }
    let twice = Matter::parse("---\nid: a\nother: 1\nother: 2\nid: b\n---\n").unwrap();
    let key = "id".to_owned();
    assert_eq!(twice.value("id"), Err(MatterError::Twice { key }));
    for marks in ["\"open", "'open", "\"a\" b", "'a'b"] {
        let text = format!("---\nid: {marks}\n---\n");
        let key = "id".to_owned();
        let read = Matter::parse(&text).unwrap();
        assert_eq!(
            read.value("id"),
            Err(MatterError::Quotes { key }),
            "{marks}"
        );
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read(value_of in "[^\u{85}\u{2028}\u{2029}]{1,40}") {
        prop_assume!(!value_of.trim().is_empty());
        let text = made_of(&[("id", "a"), ("title", &value_of)]);
        let read = value(&text, "title");
        prop_assert_eq!(read.as_deref(), Some(value_of.as_str()));
        let changed = Matter::parse(BY_HAND).unwrap().with(&[("title", Some(&value_of))]);
        let read = value(&changed, "title");
        prop_assert_eq!(read.as_deref(), Some(value_of.as_str()));
        prop_assert!(changed.ends_with("---\n# Goal\n---\nid: no\n"));
    }

    #[test]
    fn nothing_that_somebody_writes_breaks_it(text in "(---\n)?([a-z]{1,3}:? ?['\"|>#-]?[ a-z]{0,4}['\"]?\r?\n){0,6}(---\n)?.{0,10}") {
        if let Ok(matter) = Matter::parse(&text) {
            prop_assert_eq!(matter.with(&[]), text.as_str());
            let changed = matter.with(&[("status", Some("done"))]);
            let again = Matter::parse(&changed).unwrap();
            if matter.value("status").is_ok() {
                prop_assert_eq!(again.value("status"), Ok(Some("done")));
            }
            prop_assert_eq!(again.body(), matter.body());
        }
    }
}
