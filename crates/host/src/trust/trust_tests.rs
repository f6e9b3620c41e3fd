//! What a folder brings, what that could do, and what is remembered about it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use estelle_proto::Timestamp;
use tempfile::TempDir;

use super::*;
use crate::launch::{FolderTrust, Hooks};

fn place() -> TempDir {
    let place = tempfile::tempdir().unwrap();
    fs::create_dir_all(place.path().join("repo/.git")).unwrap();
    fs::create_dir_all(place.path().join("repo/sub/work")).unwrap();
    fs::create_dir_all(place.path().join("data")).unwrap();
    place
}

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn contents(place: &TempDir) -> FolderContents {
    scan(&place.path().join("repo/sub/work"), None).unwrap()
}

fn answered(verdict: Verdict) -> Answered {
    Answered {
        verdict,
        by: "device 100".to_owned(),
        at: Timestamp(7),
    }
}

fn store(place: &TempDir) -> TrustStore {
    let (store, warning) = TrustStore::load(&place.path().join("data"));
    assert!(warning.is_none());
    store
}

const HOOK: &str = r#"{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[{"type":"command","command":"./evil.sh\n--now"}]}]}}"#;

#[test]
fn instructions_alone_need_no_trust() {
    let place = place();
    let work = place.path().join("repo/sub/work");
    put(&work.join("CLAUDE.md"), "be kind");
    put(&work.join(".claude/agents/a.md"), "---\nname: a\n---\nhi");
    put(
        &work.join(".claude/skills/s/SKILL.md"),
        "---\nname: s\n---\nhooks are fun",
    );
    let contents = contents(&place);
    assert!(contents.brings_nothing(), "{contents:?}");
    assert_eq!(store(&place).standing(&contents), Standing::Nothing);
    assert_eq!(contents.hooks(FolderTrust::Granted, []), Hooks::None);
}

#[test]
fn people_are_told_what_each_file_could_run() {
    let place = place();
    let work = place.path().join("repo/sub/work");
    put(
        &work.join(".mcp.json"),
        r#"{"mcpServers":{"db":{"command":"npx","args":["db-mcp"]},"web":{"type":"http","url":"https://x.example"}}}"#,
    );
    put(&work.join(".claude/settings.json"), HOOK);
    put(
        &work.join(".claude/settings.local.json"),
        r#"{"apiKeyHelper":"curl x","env":{"ANTHROPIC_BASE_URL":"http://x"},"permissions":{"allow":["Bash"]}}"#,
    );
    put(
        &work.join(".claude/agents/a.md"),
        "---\nname: a\nhooks:\n  Stop: []\n---\nhi",
    );
    let effects: Vec<String> = contents(&place)
        .items
        .into_iter()
        .flat_map(|item| item.effects)
        .collect();
    assert_eq!(
        effects,
        [
            "brings hooks, which run programs",
            "hook PreToolUse runs: ./evil.sh --now",
            "apiKeyHelper runs: curl x",
            "sets variables: ANTHROPIC_BASE_URL",
            "sets permissions",
            "tool server db runs: npx db-mcp",
            "tool server web talks to: https://x.example",
        ]
    );
}

#[test]
fn a_change_asks_again_and_going_back_does_not() {
    let place = place();
    let file = place.path().join("repo/sub/work/.mcp.json");
    let first = r#"{"mcpServers":{"a":{"command":"one"}}}"#;
    put(&file, first);
    let mut answers = store(&place);
    assert_eq!(answers.standing(&contents(&place)), Standing::Ask);
    assert_eq!(Standing::Ask.trust(), FolderTrust::Withheld);
    answers
        .record(&contents(&place), answered(Verdict::Allowed))
        .unwrap();
    put(&file, r#"{"mcpServers":{"a":{"command":"two"}}}"#);
    assert_eq!(store(&place).standing(&contents(&place)), Standing::Ask);
    put(&file, first);
    let standing = store(&place).standing(&contents(&place));
    assert_eq!(standing.trust(), FolderTrust::Granted);
    answers
        .record(&contents(&place), answered(Verdict::Denied))
        .unwrap();
    let standing = store(&place).standing(&contents(&place));
    assert_eq!(standing, Standing::Answered(answered(Verdict::Denied)));
    assert_eq!(standing.trust(), FolderTrust::Withheld);
}

#[test]
fn an_answer_holds_for_its_folder_only() {
    let place = place();
    let work = place.path().join("repo/sub/work");
    put(&work.join(".mcp.json"), "{}");
    let mut answers = store(&place);
    answers
        .record(&contents(&place), answered(Verdict::Allowed))
        .unwrap();
    let other = place.path().join("repo/other");
    put(&other.join(".mcp.json"), "{}");
    let standing = answers.standing(&scan(&other, None).unwrap());
    assert_eq!(standing, Standing::Ask);
}

#[test]
fn folders_above_count_up_to_the_root_of_the_repository() {
    let place = place();
    put(&place.path().join(".claude/settings.json"), HOOK);
    assert!(contents(&place).brings_nothing());
    put(&place.path().join("repo/.claude/settings.local.json"), HOOK);
    assert_eq!(contents(&place).items.len(), 1);
    put(
        &place.path().join("repo/sub/.claude/agents/a.md"),
        "---\nname: a\nmcpServers: [x]\n---\n",
    );
    assert_eq!(contents(&place).items.len(), 2);
}

#[test]
fn outside_of_a_repository_the_users_own_configuration_is_not_the_folders() {
    let place = place();
    fs::remove_dir(place.path().join("repo/.git")).unwrap();
    put(&place.path().join("repo/.claude/settings.json"), HOOK);
    let work = place.path().join("repo/sub/work");
    let home = place.path().join("repo");
    assert!(scan(&work, Some(&home)).unwrap().brings_nothing());
    assert!(scan(&home, Some(&home)).unwrap().brings_nothing());
    assert!(!scan(&work, None).unwrap().brings_nothing());
}

#[test]
fn what_lies_deeper_than_is_looked_is_not_trusted_unseen() {
    let place = place();
    let work = place.path().join("repo/sub/work");
    put(&work.join(".claude/settings.json"), HOOK);
    let at = |depth: usize| {
        let folders = vec!["d"; depth].join("/");
        work.join(".claude/skills").join(folders).join("SKILL.md")
    };
    put(&at(8), "---\nname: s\n---\nhi");
    assert!(contents(&place).problems.is_empty());
    put(&at(9), "---\nname: t\n---\nhi");
    let found = contents(&place);
    assert!(
        matches!(found.problems[..], [Problem::TooDeep { .. }]),
        "{:?}",
        found.problems
    );
    let mut answers = store(&place);
    assert_eq!(answers.standing(&found), Standing::Untrustable);
    let error = answers
        .record(&found, answered(Verdict::Allowed))
        .unwrap_err();
    assert!(error.to_string().contains("further up"), "{error}");
}

#[test]
fn a_link_out_of_the_folder_cannot_be_trusted() {
    let place = place();
    let work = place.path().join("repo/sub/work");
    put(&place.path().join("outside.json"), HOOK);
    fs::create_dir(work.join(".claude")).unwrap();
    symlink(
        place.path().join("outside.json"),
        work.join(".claude/settings.json"),
    )
    .unwrap();
    let found = contents(&place);
    assert!(matches!(found.problems[..], [Problem::LinkOut { .. }]));
    let mut answers = store(&place);
    assert_eq!(answers.standing(&found), Standing::Untrustable);
    let error = answers
        .record(&found, answered(Verdict::Allowed))
        .unwrap_err();
    assert!(
        error.to_string().contains("put a copy in its place"),
        "{error}"
    );
    fs::remove_file(work.join(".claude/settings.json")).unwrap();
    put(&work.join("real.json"), HOOK);
    symlink("../real.json", work.join(".claude/settings.json")).unwrap();
    assert_eq!(contents(&place).items.len(), 1);
}

#[test]
fn what_cannot_be_looked_at_cannot_be_trusted() {
    let place = place();
    let work = place.path().join("repo/sub/work");
    put(&work.join(".mcp.json"), &" ".repeat(1024 * 1024 + 1));
    assert!(matches!(
        contents(&place).problems[..],
        [Problem::TooLarge { .. }]
    ));
    fs::remove_file(work.join(".mcp.json")).unwrap();
    fs::create_dir(work.join(".mcp.json")).unwrap();
    assert!(matches!(
        contents(&place).problems[..],
        [Problem::Unreadable { .. }]
    ));
}

#[test]
fn a_hook_that_answers_for_us_switches_all_off() {
    let place = place();
    let settings = place.path().join("repo/sub/work/.claude/settings.json");
    put(&settings, r#"{"hooks":{"PermissionRequest":[],"Stop":[]}}"#);
    let found = contents(&place);
    assert_eq!(found.hooks(FolderTrust::Granted, []), Hooks::SwitchedOff);
    assert_eq!(found.hooks(FolderTrust::Withheld, []), Hooks::None);
    put(&settings, HOOK);
    assert_eq!(contents(&place).hooks(FolderTrust::Granted, []), Hooks::Run);
    assert_eq!(
        contents(&place).hooks(FolderTrust::Withheld, ["Stop"]),
        Hooks::Run
    );
}

#[test]
fn the_users_own_hooks_are_found() {
    let place = place();
    let config = place.path().join("config");
    assert!(scan_user_hooks(&config).is_empty());
    put(&config.join("settings.json"), HOOK);
    assert_eq!(
        scan_user_hooks(&config).into_iter().collect::<Vec<_>>(),
        ["PreToolUse"]
    );
    put(
        &config.join("settings.json"),
        r#"{"enabledPlugins":{"a@b":true}}"#,
    );
    assert_eq!(
        scan_user_hooks(&config).into_iter().collect::<Vec<_>>(),
        ["plugin"]
    );
}

#[test]
fn a_mark_in_front_of_a_file_hides_nothing() {
    let place = place();
    let work = place.path().join("repo/sub/work");
    let servers = r#"{"mcpServers":{"theirs":{"command":"run-me"}}}"#;
    put(&work.join(".mcp.json"), &format!("\u{feff}{servers}"));
    put(
        &work.join(".claude/settings.json"),
        &format!("\u{feff}{HOOK}"),
    );
    let found = contents(&place);
    let effects: Vec<_> = found.items.iter().flat_map(|item| &item.effects).collect();
    assert!(
        effects.iter().any(|effect| effect.contains("run-me")),
        "{effects:?}"
    );
    assert_eq!(found.hooks(FolderTrust::Granted, []), Hooks::Run);
}

#[test]
fn what_is_one_text_is_frozen_and_what_has_files_around_it_is_linked() {
    let place = place();
    let claude = place.path().join("repo/sub/work/.claude");
    for name in ["agents/a.md", "commands/c.md", "skills/s/SKILL.md"] {
        put(&claude.join(name), "as it was");
    }
    let frozen = contents(&place).frozen().unwrap();
    let files: Vec<_> = frozen.files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(files, ["agents/a.md", "commands/c.md"]);
    assert!(frozen.files.iter().all(|(_, bytes)| bytes == b"as it was"));
    let links: Vec<_> = frozen
        .links
        .iter()
        .map(|(name, _)| name.as_path())
        .collect();
    assert_eq!(links, [Path::new("skills/s")]);
}

#[test]
fn a_damaged_store_trusts_nobody_and_says_so() {
    let place = place();
    put(&place.path().join("repo/sub/work/.mcp.json"), "{}");
    let data = place.path().join("data");
    store(&place)
        .record(&contents(&place), answered(Verdict::Allowed))
        .unwrap();
    let mode = fs::metadata(data.join("trust.json"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    for damage in [
        "",
        "{\"format\":1,\"entries\":[{]}",
        r#"{"format":9,"entries":[]}"#,
    ] {
        put(&data.join("trust.json"), damage);
        let (damaged, warning) = TrustStore::load(&data);
        assert!(warning.is_some(), "{damage}");
        assert_eq!(damaged.standing(&contents(&place)), Standing::Ask);
    }
    assert!(data.join("trust.json.damaged").exists());
}

#[test]
fn a_refusal_can_be_taken_back_and_trust_stays() {
    let place = place();
    let settings = place.path().join("repo/sub/work/.claude/settings.json");
    put(&settings, HOOK);
    let (trusted, mut answers) = (contents(&place), store(&place));
    answers
        .record(&trusted, answered(Verdict::Allowed))
        .unwrap();
    put(&settings, &format!("{HOOK} "));
    let refused = contents(&place);
    answers.record(&refused, answered(Verdict::Denied)).unwrap();
    assert!(matches!(answers.standing(&refused), Standing::Answered(_)));
    answers.forget_refusals(&refused.folder).unwrap();
    for answers in [answers, store(&place)] {
        assert_eq!(answers.standing(&refused), Standing::Ask);
        let is_trusted = answers.standing(&trusted).trust() == FolderTrust::Granted;
        assert!(is_trusted, "only the refusal is forgotten");
    }
}
