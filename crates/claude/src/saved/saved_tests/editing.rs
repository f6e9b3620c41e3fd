//! Changing what is saved: names and tags, the archive, deletion, copies.

use super::*;

#[test]
fn rename_and_tag_append_one_line_even_behind_half_a_line() {
    let disk = Disk::new();
    let half = format!("{}{{\"half", text(&plain()));
    let id = disk.put_text(1, &half);
    let saved = disk.saved();
    saved.rename(&id, "  A \"title\" ").expect("renamed");
    saved.tag(&id, "work").expect("tagged");
    let number = uuid(1);
    let title =
        format!(r#"{{"type":"custom-title","customTitle":"A \"title\"","sessionId":"{number}"}}"#);
    let tag = format!(r#"{{"type":"tag","tag":"work","sessionId":"{number}"}}"#);
    let written = fs::read_to_string(disk.file(&id)).expect("it");
    assert_eq!(written, format!("{half}\n{title}\n{tag}\n"));
    let info = || saved.load_info(&id).expect("readable").expect("a session");
    assert_eq!(info().title(), Some("A \"title\""));
    assert_eq!(info().tag.as_deref(), Some("work"));
    saved.clear_tag(&id).expect("cleared");
    assert_eq!(info().tag, None);
    assert!(matches!(saved.rename(&id, " "), Err(EditError::Empty)));
    let unknown = saved.rename(&self::id(9), "x");
    assert!(matches!(
        unknown,
        Err(EditError::Load(LoadError::NotFound(_)))
    ));
}

#[test]
fn archive_lasts_until_the_next_prompt() {
    let disk = Disk::new();
    let id = disk.put(1, &plain());
    let saved = disk.saved();
    let archived = || {
        saved
            .load_info(&id)
            .expect("readable")
            .expect("a session")
            .archived
    };
    let before = fs::read(disk.file(&id)).expect("it");
    assert_eq!(archived(), None);
    saved.archive(&id).expect("archived");
    assert_eq!(archived(), Some(true));
    let mark = disk.folder(CWD).join(id.as_str()).join("archived.json");
    let mode = fs::metadata(&mark).expect("a mark").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    saved.unarchive(&id).expect("unarchived");
    assert_eq!(archived(), Some(false));
    saved.archive(&id).expect("archived");
    assert_eq!(
        fs::read(disk.file(&id)).expect("it"),
        before,
        "the transcript is left alone"
    );
    let later = |entry: Value| with(entry, "timestamp", "2999-01-01T00:00:00.000Z");
    disk.put(1, &plain_and([later(assistant(5, 4)), later(result(6, 5))]));
    assert_eq!(archived(), Some(true), "nobody asked anything");
    disk.put(1, &plain_and([later(user(5, 4, "again"))]));
    assert_eq!(archived(), Some(false));
    fs::write(&mark, "junk").expect("a file");
    assert_eq!(archived(), None);
}

#[test]
fn delete_takes_only_what_belongs_to_the_session() {
    let disk = Disk::new();
    let (id, other) = (disk.put(1, &plain()), disk.put(2, &plain()));
    let outside = disk.0.path().join("outside");
    fs::create_dir_all(&outside).expect("a directory");
    let side = disk.folder(CWD).join(id.as_str());
    fs::create_dir_all(side.join("subagents")).expect("a directory");
    symlink(&outside, side.join("link")).expect("a link");
    disk.saved().delete(&id).expect("deleted");
    assert!(!disk.file(&id).exists() && !side.exists());
    assert!(disk.file(&other).exists() && outside.exists());
    assert!(disk.saved().delete(&id).is_err());
    symlink(disk.file(&other), disk.file(&id)).expect("a link");
    assert!(disk.saved().delete(&id).is_err(), "a link is no session");
}

#[test]
fn fork_renews_ids_and_nothing_else() {
    let disk = Disk::new();
    let progress = entry("progress", 5, 4, json!({}));
    let last = with(
        with(user(6, 5, "end"), "slug", "s"),
        "big",
        12_345_678_901_234_567_890_u64,
    );
    let notes = [
        json!({"type": "tools-used", "sessionId": uuid(1), "tools": ["A"]}),
        json!({"type": "tools-used", "sessionId": uuid(1), "tools": ["A", "B"]}),
        json!({"type": "queue-operation", "sessionId": uuid(1)}),
    ];
    let id = disk.put(1, &plain_and([progress, last].into_iter().chain(notes)));
    let before = fs::read(disk.file(&id)).expect("it");
    let fork = disk.saved().fork(&id, &ForkOptions::new()).expect("a fork");
    assert_eq!(fs::read(disk.file(&id)).expect("it"), before);
    let lines = disk.lines(&fork);
    let from: Vec<_> = lines
        .iter()
        .map(|line| line["forkedFrom"]["messageUuid"].as_str())
        .collect();
    let expected = [1, 2, 3, 4, 6].map(uuid);
    assert_eq!(
        from[..5],
        expected.each_ref().map(|uuid| Some(uuid.as_str()))
    );
    for pair in lines[..5].windows(2) {
        assert_eq!(pair[1]["parentUuid"], pair[0]["uuid"]);
    }
    assert!(
        lines[..5]
            .iter()
            .all(|line| !expected.iter().any(|old| line["uuid"] == **old))
    );
    assert!(lines.iter().all(|line| line["sessionId"] == fork.as_str()));
    assert_eq!(lines[0]["message"], plain()[0]["message"]);
    assert_eq!(
        (&lines[4]["big"], lines[4].get("slug")),
        (&json!(12_345_678_901_234_567_890_u64), None)
    );
    assert_eq!(lines[5]["tools"], json!(["A", "B"]));
    assert_eq!(lines[6]["customTitle"], "one (fork)");
    assert_eq!(lines.len(), 7);
    let names = fs::read_dir(disk.folder(CWD)).expect("a folder").count();
    assert_eq!(names, 2, "no draft stays behind");
}

#[test]
fn fork_ends_where_it_is_told() {
    let disk = Disk::new();
    let id = disk.put(1, &compacted());
    let fork = |number| {
        let options = ForkOptions::new().up_to(uuid(number)).title("T");
        disk.saved()
            .fork(&id, &options)
            .map(|fork| disk.lines(&fork))
    };
    let kinds = |number| {
        let lines = fork(number).expect("a fork");
        lines
            .iter()
            .map(|line| line["type"].as_str().expect("a type").to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(kinds(1), ["user", "custom-title"]);
    let without = |number| {
        let options = ForkOptions::new().before(uuid(number)).title("T");
        disk.saved().fork(&id, &options)
    };
    let lines = disk.lines(&without(2).expect("a fork"));
    assert_eq!(lines.len(), 2, "the first message and the title");
    assert!(matches!(without(1), Err(ForkError::NoMessages(_))));
    assert!(matches!(without(99), Err(ForkError::NoSuchMessage(_))));
    assert_eq!(
        kinds(3),
        ["user", "assistant", "custom-title"],
        "before the boundary"
    );
    let at_summary = fork(4).expect("a fork");
    assert_eq!(
        at_summary[2]["compactMetadata"],
        json!({"trigger": "manual"})
    );
    let behind = fork(5).expect("a fork");
    assert_eq!(
        behind[2]["compactMetadata"]["preservedMessages"]["anchorUuid"],
        behind[3]["uuid"]
    );
    assert_eq!(behind[5]["customTitle"], "T");
    assert!(matches!(fork(99), Err(ForkError::NoSuchMessage(_))));
    let empty = disk.put(2, &[json!({"type": "custom-title", "customTitle": "C"})]);
    let refused = disk.saved().fork(&empty, &ForkOptions::new());
    assert!(matches!(refused, Err(ForkError::NoMessages(_))));
}
