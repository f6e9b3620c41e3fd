//! Failures of the disk and of the task, as those see them who listen.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use estelle_claude::options::Search;
use estelle_proto::ipc::{
    HostEvent, NewSession, ProcessStatus, PylonToHost, SessionStatus, Snapshot, Subscribe, Touch,
};
use estelle_proto::{ConversationId, Epoch, Generation, PermissionMode};
use estelle_state::conversation::Change;
use estelle_state::idle::IdleTimeout;
use tempfile::TempDir;
use tokio::sync::{mpsc, oneshot};
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use super::*;
use crate::conversation::book::{Beginning, SYNC_FAILS};
use crate::conversation::context::{Context, HostSettings};
use crate::conversation::subscribing::subscribe;
use crate::ipc::{Done, Refusal};
use crate::mailbox::{Mail, MailReader, mailbox};
use crate::run::{RunWatch, ShimCommand};
use crate::trust::TrustStore;

/// A conversation without a process, and its task.
struct Place {
    folder: TempDir,
    actor: mpsc::Sender<Command>,
    _task: AbortOnDropHandle<()>,
}

fn id() -> ConversationId {
    ConversationId::parse("conv-1").unwrap()
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let beginning = Beginning {
            id: id(),
            epoch: Epoch(1),
            generation: Generation(0),
            settings: Change::default(),
        };
        let book = Book::begin(folder.path(), now(), beginning).unwrap();
        let settings = HostSettings {
            data: folder.path().join("data"),
            shim: ShimCommand {
                program: "/nowhere".into(),
                args: Vec::new(),
            },
            search: Search::default(),
            environment: BTreeMap::new(),
            home: None,
            deny_first: false,
            patterns: estelle_state::policy::DenyPatterns::default(),
            on_busy: estelle_proto::OnBusy::Inject,
            turn_limit: None,
            idle: IdleTimeout::default(),
            grace: Duration::from_secs(5),
        };
        let (trust, _) = TrustStore::load(&settings.data);
        let watch = RunWatch::new().unwrap();
        let context = Context::new(settings, watch, trust, PermissionMode::Default);
        let (actor, inbox) = mpsc::channel(64);
        let task = Actor::new(Arc::new(context), folder.path().to_owned(), book, inbox);
        let task = TaskTracker::new().spawn(task.run(None));
        Self {
            folder,
            actor,
            _task: AbortOnDropHandle::new(task),
        }
    }

    fn set_disk_fails(&self, fails: bool) {
        let mark = self.folder.path().join(SYNC_FAILS);
        if fails {
            std::fs::write(mark, "").unwrap();
        } else {
            std::fs::remove_file(mark).unwrap();
        }
    }

    /// The result of a command; none if it was lost.
    async fn submit(&self, command: impl Into<PylonToHost>) -> Option<Result<Done, Refusal>> {
        let (reply, answer) = oneshot::channel();
        let command = Command::Submit(Box::new(command.into()), reply);
        self.actor.send(command).await.unwrap();
        answer.await.ok()
    }

    async fn status(&self) -> SessionStatus {
        let (reply, answer) = oneshot::channel();
        self.actor.send(Command::Status(reply)).await.unwrap();
        answer.await.unwrap()
    }

    async fn listen(&self) -> MailReader {
        let (mailbox, reader) = mailbox();
        let asked = subscribe(self.actor.clone(), Subscribe::new(id()), mailbox);
        asked.await.unwrap();
        reader
    }
}

async fn message(reader: &mut MailReader) -> HostToPylon {
    let mail = tokio::time::timeout(Duration::from_secs(20), reader.next()).await;
    let Ok(Mail::Line(line)) = mail else {
        panic!("nothing more came");
    };
    serde_json::from_str(&line).unwrap()
}

/// Everything up to the next snapshot.
async fn until_snapshot(reader: &mut MailReader) -> (Vec<HostEvent>, Snapshot) {
    let mut events = Vec::new();
    loop {
        let message = message(reader).await;
        if let HostToPylon::Snapshot(snapshot) = message {
            return (events, snapshot);
        }
        if let HostToPylon::Event(event) = message {
            events.push(event);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_written_and_not_kept_reaches_everybody_once() {
    let place = Place::new();
    let mut first = place.listen().await;
    until_snapshot(&mut first).await;
    place.set_disk_fails(true);
    assert!(place.submit(NewSession::new(id())).await.is_none());
    // Nobody waits for the disk, and nobody hears of what it does not have.
    let status = place.status().await;
    assert_eq!(status.process, Some(ProcessStatus::Suspect));
    assert_eq!(status.seq.map(|seq| seq.0), Some(0));
    let mut second = place.listen().await;
    let (events, snapshot) = until_snapshot(&mut second).await;
    assert_eq!((events.len(), snapshot.seq.0), (0, 0));
    let refused = place.submit(Touch::new(id())).await.unwrap().unwrap_err();
    assert_eq!(refused.error.code, ErrorCode::DiskFull);
    place.set_disk_fails(false);
    for reader in [&mut first, &mut second] {
        let (events, snapshot) = until_snapshot(reader).await;
        let resets = events.iter().filter(|event| event.seq.is_some());
        assert!(
            resets
                .clone()
                .all(|event| event.seq.map(|seq| seq.0) == Some(1))
        );
        assert_eq!(resets.count(), 1, "{events:?}");
        assert!(matches!(events[0].event, ClaudeEvent::SessionReset(_)));
        assert_eq!(snapshot.seq.0, 1);
    }
    place.submit(NewSession::new(id())).await.unwrap().unwrap();
    let HostToPylon::Event(event) = message(&mut first).await else {
        panic!("no event");
    };
    assert_eq!(event.seq.map(|seq| seq.0), Some(2), "it goes on");
}

#[tokio::test(start_paused = true)]
async fn a_task_that_fails_begins_again_and_says_so_and_is_given_up_at_last() {
    let place = Place::new();
    let mut listener = place.listen().await;
    until_snapshot(&mut listener).await;
    for failure in 1..=FAILURES as u64 {
        place.actor.send(Command::Fail).await.unwrap();
        let (events, snapshot) = until_snapshot(&mut listener).await;
        assert!(
            matches!(events[0].event, ClaudeEvent::Error(_)),
            "{events:?}"
        );
        assert_eq!(snapshot.seq.0, failure, "the same listener hears of it");
        place.submit(Touch::new(id())).await.unwrap().unwrap();
    }
    place.actor.send(Command::Fail).await.unwrap();
    assert!(matches!(
        message(&mut listener).await,
        HostToPylon::Event(_)
    ));
    let refused = place.submit(Touch::new(id())).await.unwrap().unwrap_err();
    assert_eq!(refused.error.code, ErrorCode::Internal);
    assert_eq!(place.status().await.process, Some(ProcessStatus::Suspect));
    let mut late = place.listen().await;
    let (events, _) = until_snapshot(&mut late).await;
    assert_eq!(events.len(), FAILURES, "what happened can still be read");
    let (reply, ended) = oneshot::channel();
    place.actor.send(Command::ShutDown(reply)).await.unwrap();
    ended.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn who_has_everything_and_is_cut_off_is_told_where_it_was() {
    let place = Place::new();
    let mut first = place.listen().await;
    place.submit(NewSession::new(id())).await.unwrap().unwrap();
    until_snapshot(&mut first).await;
    let HostToPylon::Event(last) = message(&mut first).await else {
        panic!("no event");
    };
    let cursor = Subscribe {
        epoch: last.epoch,
        seq: last.seq,
        chain_hash: last.chain_hash,
        ..Subscribe::new(id())
    };
    let (mailbox, mut reader) = mailbox();
    let asked = subscribe(place.actor.clone(), cursor, mailbox.clone());
    asked.await.unwrap();
    assert!(until_snapshot(&mut reader).await.0.is_empty());
    let large: Arc<str> = " ".repeat(4 * 1024 * 1024).into();
    while mailbox.post(Letter::line(Arc::clone(&large))).is_ok() {}
    let Mail::CutOff(cursors) = reader.next().await else {
        panic!("not cut off");
    };
    let seqs: Vec<_> = cursors.iter().map(|cursor| cursor.seq.0).collect();
    assert_eq!(seqs, [1]);
}

#[test]
fn a_replay_keeps_to_its_log_when_that_is_begun_anew() {
    let folder = tempfile::tempdir().unwrap();
    let begin = |epoch| {
        let beginning = Beginning {
            id: id(),
            epoch: Epoch(epoch),
            generation: Generation(0),
            settings: Change {
                model: Some("small".to_owned()),
                ..Change::default()
            },
        };
        Book::begin(folder.path(), now(), beginning).unwrap()
    };
    let mut old = begin(1);
    for _ in 0..3 {
        let entry = old.decide().forget(now()).unwrap();
        old.append(&entry, Sync::Now).unwrap();
    }
    let view = old.view(old.conversation().seq());
    let mut new = begin(2);
    let entry = new.decide().forget(now()).unwrap();
    new.append(&entry, Sync::Now).unwrap();
    let (letters, reached) = view.read(View::start(), 10).unwrap();
    assert_eq!((letters.len(), reached.seq.0), (3, 3));
    let again = Book::open(folder.path(), now()).unwrap().book;
    assert_eq!(again.conversation().epoch(), Epoch(2));
    let settings = again.conversation().settings();
    assert_eq!(
        settings.model.as_deref(),
        Some("small"),
        "what was set is there with the first byte of the log"
    );
}
