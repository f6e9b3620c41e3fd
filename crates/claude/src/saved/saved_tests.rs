//! Saved conversations in files of our own making; what is expected was seen from the TypeScript SDK on the same lines.

mod editing;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;

const CWD: &str = "/srv/none/such";

/// A configuration directory with conversations.
struct Disk(TempDir);

impl Disk {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary directory"))
    }

    fn saved(&self) -> SavedSessions {
        SavedSessions::new(self.0.path())
    }

    fn folder(&self, cwd: &str) -> PathBuf {
        let folder = self
            .0
            .path()
            .join("projects")
            .join(folder_name(cwd.as_ref()));
        fs::create_dir_all(&folder).expect("a folder");
        folder
    }

    fn file(&self, id: &SessionId) -> PathBuf {
        self.folder(CWD).join(format!("{id}.jsonl"))
    }

    fn put_text(&self, number: u32, text: &str) -> SessionId {
        let id = id(number);
        fs::write(self.file(&id), text).expect("a file");
        id
    }

    fn put(&self, number: u32, lines: &[Value]) -> SessionId {
        self.put_text(number, &text(lines))
    }

    fn info(&self, lines: &[Value]) -> Option<SessionInfo> {
        let id = self.put(1, lines);
        self.saved().load_info(&id).expect("readable")
    }

    /// The numbers of the messages of a conversation, system lines too.
    fn order(&self, lines: &[Value]) -> Vec<u32> {
        let id = self.put(1, lines);
        let options = MessageOptions::new().with_system();
        numbers(&self.saved().load_messages(&id, &options).expect("readable"))
    }

    fn lines(&self, id: &SessionId) -> Vec<Value> {
        let text = fs::read_to_string(self.file(id)).expect("a transcript");
        text.lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect()
    }
}

fn id(number: u32) -> SessionId {
    uuid(number).parse().expect("a UUID")
}

fn uuid(number: u32) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}

fn text(lines: &[Value]) -> String {
    let lines: Vec<_> = lines.iter().map(ToString::to_string).collect();
    lines.join("\n") + "\n"
}

fn numbers(messages: &[SavedMessage]) -> Vec<u32> {
    messages
        .iter()
        .map(|message| message.uuid[24..].parse().expect("a number"))
        .collect()
}

fn entry(kind: &str, number: u32, parent: u32, more: Value) -> Value {
    let mut entry = json!({
        "type": kind, "uuid": uuid(number), "parentUuid": (parent > 0).then(|| uuid(parent)),
        "isSidechain": false, "sessionId": uuid(1), "cwd": CWD, "gitBranch": "main",
        "timestamp": format!("2026-01-01T00:00:{number:02}.000Z"),
    });
    let Value::Object(more) = more else {
        panic!("an object")
    };
    entry.as_object_mut().expect("an object").extend(more);
    entry
}

fn user(number: u32, parent: u32, content: impl Into<Value>) -> Value {
    let message = json!({"role": "user", "content": content.into()});
    entry("user", number, parent, json!({ "message": message }))
}

fn assistant(number: u32, parent: u32) -> Value {
    let content = json!([{"type": "text", "text": "yes"}]);
    answer(number, parent, &format!("m{number}"), &content)
}

fn answer(number: u32, parent: u32, answer: &str, content: &Value) -> Value {
    let message = json!({"role": "assistant", "id": answer, "content": content});
    entry("assistant", number, parent, json!({ "message": message }))
}

fn call(number: u32, parent: u32) -> Value {
    let content = json!([{"type": "tool_use", "id": "t", "name": "Bash", "input": {}}]);
    answer(number, parent, "same", &content)
}

fn result(number: u32, parent: u32) -> Value {
    user(
        number,
        parent,
        json!([{"type": "tool_result", "tool_use_id": "t", "content": "x"}]),
    )
}

fn with(mut entry: Value, name: &str, value: impl Into<Value>) -> Value {
    entry[name] = value.into();
    entry
}

fn plain() -> Vec<Value> {
    vec![
        user(1, 0, "one"),
        assistant(2, 1),
        user(3, 2, "two"),
        assistant(4, 3),
    ]
}

fn plain_and(more: impl IntoIterator<Item = Value>) -> Vec<Value> {
    plain().into_iter().chain(more).collect()
}

/// A compaction that keeps message 2 behind its summary.
fn compacted() -> Vec<Value> {
    let kept = json!({"anchorUuid": uuid(4), "uuids": [uuid(2)], "allUuids": [uuid(2)]});
    let metadata = json!({"trigger": "manual", "preservedMessages": kept, "postTokens": 7});
    let boundary = json!({"subtype": "compact_boundary", "logicalParentUuid": uuid(2), "compactMetadata": metadata});
    vec![
        user(1, 0, "one"),
        assistant(2, 1),
        entry("system", 3, 0, boundary),
        with(user(4, 3, "summary"), "isCompactSummary", true),
        user(5, 4, "go on"),
        assistant(6, 5),
    ]
}

#[test]
fn ids_that_could_leave_the_folder_are_refused() {
    for bad in [
        "",
        "..",
        "../x",
        "a/b",
        "{00000000-0000-4000-8000-0000000000}",
        "00000000000040008000000000000001",
    ] {
        assert!(bad.parse::<SessionId>().is_err(), "{bad}");
    }
    for bad in ["", "../x", "a/b", "a.b", "a\0"] {
        assert!(bad.parse::<AgentId>().is_err(), "{bad}");
    }
}

#[test]
fn title_prefers_what_a_person_chose() {
    let disk = Disk::new();
    let title = |more: &[Value]| {
        let info = disk.info(&plain_and(more.to_vec())).expect("a session");
        info.title().expect("a title").to_owned()
    };
    let custom = json!({"type": "custom-title", "customTitle": "Mine"});
    let made = json!({"type": "ai-title", "aiTitle": "Made"});
    let last = json!({"type": "last-prompt", "lastPrompt": "last"});
    assert_eq!(title(&[]), "one");
    assert_eq!(
        title(&[json!({"type": "summary", "summary": "old"})]),
        "old"
    );
    assert_eq!(title(std::slice::from_ref(&last)), "last");
    assert_eq!(title(&[made.clone(), last.clone()]), "Made");
    assert_eq!(title(&[custom.clone(), made.clone(), last]), "Mine");
    let cleared = json!({"type": "custom-title", "customTitle": ""});
    assert_eq!(title(&[custom, cleared, made]), "Made");
}

#[test]
fn first_prompt_is_what_a_person_asked() {
    let disk = Disk::new();
    let first = |lines: &[Value]| disk.info(lines).and_then(|info| info.first_prompt);
    let behind = |entry: Value| first(&[entry, user(2, 1, "real")]);
    for note in [
        user(1, 0, "<local-command-stdout>x</local-command-stdout>"),
        user(1, 0, "<command-name>/foo</command-name>"),
        user(1, 0, "[Request interrupted by user]"),
        user(1, 0, "  "),
        with(user(1, 0, "note"), "isMeta", true),
        result(1, 0),
    ] {
        assert_eq!(behind(note.clone()).as_deref(), Some("real"), "{note}");
    }
    assert_eq!(
        behind(user(1, 0, "<bash-input>ls</bash-input>")).as_deref(),
        Some("! ls")
    );
    assert_eq!(
        first(&[user(1, 0, "<command-name>/foo</command-name>")]).as_deref(),
        Some("/foo")
    );
    assert_eq!(
        first(&[user(1, 0, "x".repeat(300))]),
        Some(format!("{}…", "x".repeat(200)))
    );
    assert_eq!(
        first(&[with(user(1, 0, "side"), "isSidechain", true)]),
        None
    );
}

#[test]
fn ends_of_a_huge_file_say_what_its_middle_need_not() {
    let disk = Disk::new();
    let filler = |number| with(assistant(number, 1), "pad", "z".repeat(40_000));
    let pasted = user(1, 0, "p".repeat(200_000));
    let lines: Vec<_> = std::iter::once(pasted)
        .chain((2..50).map(filler))
        .chain([
            json!({"type": "tag", "tag": "t"}),
            with(assistant(51, 50), "gitBranch", "late"),
        ])
        .collect();
    let info = disk.info(&lines).expect("a session");
    assert_eq!(info.tag.as_deref(), Some("t"));
    assert_eq!(info.git_branch.as_deref(), Some("late"));
    assert_eq!(
        info.first_prompt.map(|prompt| prompt.chars().count()),
        Some(201)
    );
}

#[test]
fn list_is_newest_first_paged_and_without_links_or_doubles() {
    let disk = Disk::new();
    for number in 1..=3 {
        disk.put(number, &plain());
        let file = fs::File::options()
            .append(true)
            .open(disk.file(&id(number)))
            .expect("it");
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(u64::from(number));
        file.set_modified(time).expect("a time");
    }
    let older = disk.folder("/srv/other").join(format!("{}.jsonl", id(2)));
    fs::write(
        &older,
        text(&plain_and([json!({"type": "tag", "tag": "new"})])),
    )
    .expect("a file");
    symlink(disk.file(&id(1)), disk.file(&id(4))).expect("a link");
    fs::write(disk.folder(CWD).join("agent-x.jsonl"), text(&plain())).expect("a file");
    let list = |saved: SavedSessions, options| -> Vec<_> {
        saved
            .load_sessions(&options)
            .expect("a list")
            .into_iter()
            .map(|info| info.id)
            .collect()
    };
    let all = ListOptions::new;
    assert_eq!(list(disk.saved(), all()), [id(2), id(3), id(1)]);
    assert_eq!(list(disk.saved(), all().offset(1).limit(1)), [id(3)]);
    assert_eq!(list(disk.saved().within(CWD), all()), [id(3), id(2), id(1)]);
    assert_eq!(list(disk.saved().within_only("/srv/other"), all()), [id(2)]);
    assert!(list(SavedSessions::new("/srv/none"), all()).is_empty());
    let tag = |saved: SavedSessions| saved.load_sessions(&all()).expect("a list")[0].tag.clone();
    assert_eq!(tag(disk.saved()).as_deref(), Some("new"));
}

#[test]
fn list_of_a_directory_covers_the_work_trees_of_its_repository() {
    let disk = Disk::new();
    let root = disk.0.path().canonicalize().expect("a path");
    let (main, side) = (root.join("main"), root.join("side"));
    let link = main.join(".git/worktrees/side");
    fs::create_dir_all(&link).expect("a directory");
    fs::create_dir_all(side.join("deep")).expect("a directory");
    fs::write(
        link.join("gitdir"),
        format!("{}\n", side.join(".git").display()),
    )
    .expect("a file");
    fs::write(link.join("commondir"), "../..\n").expect("a file");
    fs::write(side.join(".git"), format!("gitdir: {}\n", link.display())).expect("a file");
    for (number, cwd) in [(1, &main), (2, &side), (3, &root.join("elsewhere"))] {
        let folder = disk.folder(&cwd.to_string_lossy());
        fs::write(folder.join(format!("{}.jsonl", id(number))), text(&plain())).expect("a file");
    }
    let ids = |saved: SavedSessions| {
        let list = saved.load_sessions(&ListOptions::new()).expect("a list");
        let mut ids: Vec<_> = list.into_iter().map(|info| info.id).collect();
        ids.sort();
        ids
    };
    assert_eq!(ids(disk.saved().within(&main)), [id(1), id(2)]);
    assert_eq!(ids(disk.saved().within(side.join("deep"))), [id(1), id(2)]);
    assert_eq!(ids(disk.saved().within_only(&side)), [id(2)]);
}

#[test]
fn messages_follow_the_newest_branch() {
    let disk = Disk::new();
    let rewound = plain_and([user(5, 2, "other"), assistant(6, 5)]);
    assert_eq!(disk.order(&rewound), [1, 2, 5, 6]);
    let side = with(user(5, 0, "side"), "isSidechain", true);
    assert_eq!(disk.order(&plain_and([side])), [1, 2, 3, 4]);
    let note = with(user(5, 4, "note"), "isMeta", true);
    assert_eq!(disk.order(&plain_and([note])), [1, 2, 3, 4]);
    let lost = plain_and([user(6, 5, "parent is gone"), assistant(7, 6)]);
    assert_eq!(disk.order(&lost), [6, 7]);
    let circle = [user(1, 2, "a"), assistant(2, 1)];
    assert!(disk.order(&circle).is_empty());
    let attached = [
        user(1, 0, "a"),
        entry("attachment", 2, 1, json!({})),
        assistant(3, 2),
    ];
    assert_eq!(disk.order(&attached), [1, 3]);
}

#[test]
fn messages_keep_parallel_calls_together() {
    let disk = Disk::new();
    let end = |parent| assistant(9, parent);
    let first = [
        user(1, 0, "q"),
        call(2, 1),
        call(3, 2),
        result(4, 2),
        result(5, 3),
        end(5),
    ];
    assert_eq!(disk.order(&first), [1, 2, 3, 4, 5, 9]);
    let late = [
        user(1, 0, "q"),
        call(2, 1),
        call(3, 2),
        result(5, 3),
        result(4, 2),
        end(4),
    ];
    assert_eq!(disk.order(&late), [1, 2, 3, 5, 4, 9]);
}

#[test]
fn messages_begin_at_a_compaction_with_what_it_kept() {
    assert_eq!(Disk::new().order(&compacted()), [3, 4, 2, 5, 6]);
}

#[test]
fn messages_survive_damage_and_come_in_pages_with_their_lines() {
    let disk = Disk::new();
    let good = text(&plain());
    let id = disk.put_text(
        1,
        &format!("junk\n[]\nnull\n\n{good}{{\"type\":\"user\",\"uu"),
    );
    let load = |options| disk.saved().load_messages(&id, &options).expect("readable");
    assert_eq!(numbers(&load(MessageOptions::new())), [1, 2, 3, 4]);
    let page = load(MessageOptions::new().offset(1).limit(2));
    assert_eq!(numbers(&page), [2, 3]);
    assert_eq!(page[1].message.raw(), good.lines().nth(2).expect("a line"));
    let crate::wire::Body::User(user) = &page[1].message.body else {
        panic!("{page:?}")
    };
    assert_eq!(user.text(), "two");
}

#[test]
fn subagents_are_read_from_files_of_their_own() {
    let disk = Disk::new();
    let id = disk.put(1, &plain());
    let dir = disk.folder(CWD).join(id.as_str()).join("subagents");
    fs::create_dir_all(dir.join("deeper")).expect("a directory");
    let side: Vec<_> = plain()
        .into_iter()
        .map(|line| with(line, "isSidechain", true))
        .collect();
    for name in ["agent-abc.jsonl", "deeper/agent-x_y.jsonl", "other.jsonl"] {
        fs::write(dir.join(name), text(&side)).expect("a file");
    }
    symlink(disk.file(&id), dir.join("agent-link.jsonl")).expect("a link");
    let meta = json!({"toolUseId": "toolu_1", "parentAgentId": "p"});
    fs::write(dir.join("agent-abc.meta.json"), meta.to_string()).expect("a file");
    symlink(
        dir.join("agent-abc.meta.json"),
        dir.join("deeper/agent-x_y.meta.json"),
    )
    .expect("a link");
    let saved = disk.saved();
    let agents = saved.load_subagents(&id).expect("a list");
    assert_eq!(
        agents.iter().map(AgentId::as_str).collect::<Vec<_>>(),
        ["abc", "x_y"]
    );
    let options = MessageOptions::new().limit(3);
    let messages = saved
        .load_subagent_messages(&id, &agents[0], &options)
        .expect("readable");
    assert_eq!(numbers(&messages), [1, 2, 3]);
    assert_eq!(messages[0].parent_tool_use_id.as_deref(), Some("toolu_1"));
    assert_eq!(messages[0].parent_agent_id.as_deref(), Some("p"));
    let messages = saved
        .load_subagent_messages(&id, &agents[1], &options)
        .expect("readable");
    assert_eq!(messages[0].parent_agent_id, None, "a link is not followed");
}
