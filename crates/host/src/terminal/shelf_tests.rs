//! Terminals on a shelf whose keepers are only locks.

use estelle_proto::terminals::{TerminalKind, TerminalSize};
use estelle_proto::{ConversationId, Timestamp};

use super::*;

fn shelf(data: &Path) -> Shelf {
    let shim = ShimCommand {
        program: "/bin/false".into(),
        args: Vec::new(),
    };
    Shelf::open(data, &shim)
}

fn record(id: &str, conversation: Option<&str>) -> TerminalRecord {
    TerminalRecord {
        terminal_id: TerminalId::parse(id).unwrap(),
        kind: TerminalKind::Shell,
        working_dir: PathText::parse("/").unwrap(),
        size: TerminalSize::new(80, 24),
        created_at: Timestamp(0),
        conversation: conversation.map(|id| ConversationId::parse(id).unwrap()),
        session: conversation.map(|_| ClaudeSessionId::parse("5e55").unwrap()),
    }
}

fn launch() -> LaunchRecord {
    LaunchRecord {
        program: "/bin/true".into(),
        args: Vec::new(),
        env: std::collections::BTreeMap::new(),
        cwd: "/".into(),
        cli_version: String::new(),
    }
}

/// A terminal whose lock is held, as if a keeper lived.
fn living(data: &Path, id: &str, conversation: Option<&str>) -> (TerminalFolder, Lock) {
    let all = data.join("terminals");
    let folder = TerminalFolder::create(&all, &record(id, conversation), &launch()).unwrap();
    let lock = Lock::try_take(&folder.lock(), Heirs::None)
        .unwrap()
        .unwrap();
    (folder, lock)
}

#[tokio::test]
async fn t14_more_terminals_than_a_machine_takes_are_refused() {
    let data = tempfile::tempdir().unwrap();
    let shelf = shelf(data.path());
    let kept: Vec<_> = (0..MAX_RUNNING)
        .map(|number| living(data.path(), &format!("t-{number}"), None))
        .collect();
    let refused = shelf.start(&record("t-more", None), &launch(), None).await;
    assert_eq!(refused.unwrap_err().code, ErrorCode::RateLimited);
    assert_eq!(shelf.list().len(), MAX_RUNNING, "nothing was made for it");
    drop(kept);
    assert!(shelf.has_room().is_ok());
}

#[tokio::test]
async fn a_keeper_that_cannot_start_leaves_nothing_behind() {
    let data = tempfile::tempdir().unwrap();
    let shelf = shelf(data.path());
    let conversation = ConversationId::parse("c").unwrap();
    let wish = record("t-1", Some("c"));
    let hold = shelf.hold(&conversation, &wish.terminal_id).unwrap();
    let refused = shelf.start(&wish, &launch(), Some(hold)).await;
    let error = refused.unwrap_err();
    assert!(error.message.contains("ended at once"), "{error}");
    assert_eq!(shelf.list(), []);
    assert_eq!(shelf.holder(&conversation), None, "it is given back");
}

#[tokio::test]
async fn a_system_without_a_free_pty_is_no_fault_of_ours() {
    use std::os::unix::fs::PermissionsExt as _;
    let data = tempfile::tempdir().unwrap();
    let program = data.path().join("keeper");
    let told = "#!/bin/sh\necho 'the system has no free PTY: close terminals: EMFILE'\n";
    std::fs::write(&program, told).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let shim = ShimCommand {
        program,
        args: Vec::new(),
    };
    let shelf = Shelf::open(data.path(), &shim);
    let refused = shelf.start(&record("t-1", None), &launch(), None).await;
    let error = refused.unwrap_err();
    assert_eq!(error.code, ErrorCode::HostUnavailable);
    assert!(error.message.contains("no free PTY"), "{error}");
    // The keeper says it in these words.
    let said = crate::terminal::keeper::KeepError::Pty(pty_process::Error::Io(
        io::ErrorKind::OutOfMemory.into(),
    ));
    assert!(is_exhausted(&said.to_string()), "{said}");
}

/// Of many that want a conversation at the same moment one gets it.
#[test]
fn a_conversation_is_never_held_twice() {
    let data = tempfile::tempdir().unwrap();
    let shelf = shelf(data.path());
    let conversation = ConversationId::parse("c").unwrap();
    for _ in 0..200 {
        let start = std::sync::Barrier::new(8);
        let held = std::thread::scope(|scope| {
            let takers: Vec<_> = (0..8)
                .map(|number| {
                    let (shelf, conversation, start) = (&shelf, &conversation, &start);
                    scope.spawn(move || {
                        let terminal = TerminalId::parse(&format!("t-{number}")).unwrap();
                        start.wait();
                        shelf.hold(conversation, &terminal).ok()
                    })
                })
                .collect();
            let holds: Vec<_> = takers
                .into_iter()
                .map(|taker| taker.join().unwrap())
                .collect();
            holds.iter().flatten().count()
        });
        assert_eq!(held, 1);
    }
}

#[test]
fn a_conversation_is_held_by_one_terminal_until_that_is_gone() {
    let data = tempfile::tempdir().unwrap();
    let shelf = shelf(data.path());
    let conversation = ConversationId::parse("c").unwrap();
    let [first, second] = ["t-1", "t-2"].map(|id| TerminalId::parse(id).unwrap());
    let hold = shelf.hold(&conversation, &first).unwrap();
    let refused = shelf.hold(&conversation, &second).unwrap_err();
    assert_eq!(refused.code, ErrorCode::Conflict);
    // Given up before anything was made: it is free again.
    drop(hold);
    let hold = shelf.hold(&conversation, &first).unwrap();
    let (folder, lock) = living(data.path(), "t-1", Some("c"));
    let session = ClaudeSessionId::parse("5e55").unwrap();
    hold.keep(Some(session.clone()));
    assert_eq!(shelf.holder(&conversation), Some(first.clone()));
    assert_eq!(shelf.writer_of(&session), Some(conversation.clone()));
    // The next host finds it in the folder.
    let next = super::tests::shelf(data.path());
    assert!(folder.path().exists(), "a keeper lives there");
    assert_eq!(next.holder(&conversation), Some(first));
    // The agent's end gives it back, although the keeper still shows the last screen.
    folder.store_exit(crate::run::ExitRecord::Code(0)).unwrap();
    for shelf in [&shelf, &next] {
        assert_eq!(shelf.holder(&conversation), None);
        assert_eq!(shelf.writer_of(&session), None);
    }
    drop(lock);
}

#[test]
fn what_was_never_started_is_given_up_by_the_next_host() {
    let data = tempfile::tempdir().unwrap();
    let all = data.path().join("terminals");
    let late = TerminalFolder::create(&all, &record("t-1", Some("c")), &launch()).unwrap();
    let (living, _lock) = living(data.path(), "t-2", None);
    let shelf = shelf(data.path());
    assert!(!late.path().exists() && living.path().exists());
    let conversation = ConversationId::parse("c").unwrap();
    assert_eq!(shelf.holder(&conversation), None);
}
