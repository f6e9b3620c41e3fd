//! Rules are in force where they belong, survive a restart, and never allow by being unreadable.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use estelle_proto::ipc::{PermissionRule, RuleEffect};
use estelle_proto::{ErrorCode, RuleText, Timestamp, WorkspaceId};
use estelle_state::policy::Effect;

use super::*;

const NOW: Timestamp = Timestamp(1_000);

fn text(rule: &str) -> RuleText {
    RuleText::parse(rule).unwrap()
}

fn workspace(id: &str) -> WorkspaceId {
    WorkspaceId::parse(id).unwrap()
}

fn rule(rule: &str, effect: RuleEffect, of: Option<&str>) -> PermissionRule {
    PermissionRule {
        workspace_id: of.map(workspace),
        ..PermissionRule::new(text(rule), effect)
    }
}

fn shown(book: &RuleBook, of: Option<&str>) -> Vec<(String, Effect)> {
    match book.in_force(of.map(workspace).as_ref()) {
        InForce::Rules(rules) => rules
            .iter()
            .map(|rule| (rule.text().to_owned(), rule.effect()))
            .collect(),
        InForce::AskEverything(damaged) => panic!("{damaged}"),
    }
}

fn some(data: &Path) -> RuleBook {
    let mut book = RuleBook::load(data);
    book.set(rule("Bash(git push:*)", RuleEffect::Ask, None), NOW)
        .unwrap();
    book.set(rule("Read(*.pem)", RuleEffect::Deny, Some("one")), NOW)
        .unwrap();
    book.set(rule("Bash(make)", RuleEffect::Allow, Some("two")), NOW)
        .unwrap();
    book
}

#[test]
fn a_rule_holds_where_it_belongs_also_after_a_restart() {
    let data = tempfile::tempdir().unwrap();
    some(data.path());
    let book = RuleBook::load(data.path());
    let push = ("Bash(git push:*)".to_owned(), Effect::Ask);
    let pem = ("Read(*.pem)".to_owned(), Effect::Deny);
    assert_eq!(shown(&book, None), std::slice::from_ref(&push));
    assert_eq!(shown(&book, Some("one")), [pem, push.clone()]);
    assert_eq!(shown(&book, Some("other")), [push]);
    assert_eq!(book.list(None).rules.len(), 3);
    assert_eq!(book.list(Some(&workspace("one"))).rules.len(), 2);
    let mode = fs::metadata(data.path().join("rules.json"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn setting_again_replaces_and_removing_takes_away() {
    let data = tempfile::tempdir().unwrap();
    let mut book = some(data.path());
    book.set(rule(" Bash(git push:*) ", RuleEffect::Deny, None), NOW)
        .unwrap();
    assert_eq!(shown(&book, None)[0].1, Effect::Deny);
    assert_eq!(shown(&book, None).len(), 1);
    book.remove(&text("Read(*.pem)"), None).unwrap();
    assert_eq!(shown(&book, Some("one")).len(), 2);
    book.remove(&text("Read(*.pem)"), Some(&workspace("one")))
        .unwrap();
    assert_eq!(shown(&book, Some("one")).len(), 1);
    book.forget_workspace(&workspace("two")).unwrap();
    assert_eq!(RuleBook::load(data.path()).list(None).rules.len(), 1);
}

#[test]
fn a_rule_is_as_old_as_its_effect_whatever_the_sender_says() {
    let data = tempfile::tempdir().unwrap();
    let mut book = some(data.path());
    let later = Timestamp(2_000);
    let claimed = PermissionRule {
        since: Some(Timestamp(7)),
        ..rule("Bash(git push:*)", RuleEffect::Ask, None)
    };
    book.set(claimed.clone(), later).unwrap();
    let since = |book: &RuleBook| book.list(None).rules[0].since;
    assert_eq!(since(&book), Some(NOW));
    let denied = PermissionRule {
        effect: RuleEffect::Deny,
        ..claimed
    };
    book.set(denied, later).unwrap();
    assert_eq!(since(&RuleBook::load(data.path())), Some(later));
}

#[test]
fn what_is_no_rule_changes_nothing() {
    let data = tempfile::tempdir().unwrap();
    let mut book = some(data.path());
    let unknown = RuleEffect::Unknown("perhaps".to_owned());
    for bad in [
        rule("Bash(", RuleEffect::Allow, None),
        rule("no tool!", RuleEffect::Allow, None),
        rule("Bash", unknown, None),
    ] {
        let error = book.set(bad, NOW).unwrap_err();
        assert_eq!(error.to_api().code, ErrorCode::InvalidMessage);
    }
    assert_eq!(RuleBook::load(data.path()).list(None).rules.len(), 3);
}

#[test]
fn a_damaged_file_asks_about_everything_until_it_is_mended() {
    for damage in [
        "",
        "{\"format\":1,\"rules\":[",
        r#"{"format":2,"rules":[]}"#,
        r#"{"format":1,"rules":[{"rule":"Bash(","effect":"deny"}]}"#,
        r#"{"format":1,"rules":[{"rule":"Bash","effect":"perhaps"}]}"#,
    ] {
        let data = tempfile::tempdir().unwrap();
        let path = data.path().join("rules.json");
        fs::write(&path, damage).unwrap();
        let mut book = RuleBook::load(data.path());
        assert!(
            matches!(book.in_force(None), InForce::AskEverything(_)),
            "{damage}"
        );
        assert!(book.list(None).warning.is_some());
        let error = book
            .set(rule("Bash", RuleEffect::Allow, None), NOW)
            .unwrap_err();
        assert!(error.to_string().contains("move it away"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), damage);
        fs::remove_file(&path).unwrap();
        book.set(rule("Bash", RuleEffect::Allow, None), NOW)
            .unwrap();
        assert_eq!(shown(&book, None).len(), 1);
    }
}

#[test]
fn a_rule_that_cannot_be_written_down_is_not_in_force() {
    let data = tempfile::tempdir().unwrap();
    let mut book = some(data.path());
    fs::remove_dir_all(data.path()).unwrap();
    let error = book
        .set(rule("Bash", RuleEffect::Allow, None), NOW)
        .unwrap_err();
    assert!(matches!(error, SetRuleError::Write(_)));
    assert_eq!(shown(&book, None).len(), 1);
}
