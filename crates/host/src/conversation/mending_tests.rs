//! Failures of the disk and of the task, as those see them who listen.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use estelle_claude::options::Search;
use estelle_proto::ipc::{
    HostEvent, NewSession, ProcessStatus, PylonToHost, SessionStatus, Snapshot, Subscribe, Touch,
};
use estelle_proto::{ConversationId, Epoch, Generation, PermissionMode};
use estelle_state::conversation::{Change, Stretch};
use estelle_state::idle::IdleTimeout;
use tempfile::TempDir;
use tokio::sync::{mpsc, oneshot};
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use super::*;
use crate::conversation::book::{Beginning, SYNC_FAILS};
use crate::conversation::context::{Context, HostSettings};
use crate::conversation::live::Live;
use crate::conversation::subscribing::subscribe;
use crate::ipc::{Done, Refusal};
use crate::mailbox::{Mail, MailReader, mailbox};
use crate::run::lock::{Heirs, Lock};
use crate::run::{LaunchRecord, RunRecord, RunWatch, ShimCommand};
use crate::translate::READER;
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

/// The log of a conversation in which nothing has happened.
fn empty_book(folder: &Path) -> Book {
    let beginning = Beginning {
        id: id(),
        epoch: Epoch(1),
        generation: Generation(0),
        settings: Change::default(),
        events: Vec::new(),
    };
    Book::begin(folder, now(), beginning).unwrap()
}

fn task_of(folder: &Path, book: Book) -> (mpsc::Sender<Command>, Actor) {
    task_with(folder, book, RunWatch::default())
}

fn task_with(folder: &Path, book: Book, watch: RunWatch) -> (mpsc::Sender<Command>, Actor) {
    let settings = HostSettings {
        data: folder.join("data"),
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
    let context = Context::new(settings, watch, trust, PermissionMode::Default);
    let (actor, inbox) = mpsc::channel(64);
    let task = Actor::new(Arc::new(context), folder.to_owned(), book, inbox);
    (actor, task)
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let book = empty_book(folder.path());
        Self::over(folder, book, RunWatch::default())
    }

    fn over(folder: TempDir, book: Book, watch: RunWatch) -> Self {
        let (actor, task) = task_with(folder.path(), book, watch);
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

/// A message may have passed the host's door just before the conversation was held for a terminal.
#[tokio::test(start_paused = true)]
async fn a_message_that_was_on_its_way_while_the_conversation_was_lent_makes_no_second_writer() {
    let folder = tempfile::tempdir().unwrap();
    let (commands, actor) = task_of(folder.path(), empty_book(folder.path()));
    let context = Arc::clone(&actor.context);
    let terminal = estelle_proto::TerminalId::parse("t-1").unwrap();
    let hold = context.shelf.hold(&id(), &terminal).unwrap();
    let task = TaskTracker::new().spawn(actor.run(None));
    let place = Place {
        folder,
        actor: commands,
        _task: AbortOnDropHandle::new(task),
    };
    let (to, lent) = oneshot::channel();
    place.actor.send(Command::Lend(to)).await.unwrap();
    let folder = place.folder.path().to_string_lossy().into_owned();
    let message = || {
        let payload = estelle_proto::ipc::MessagePayload::new(
            estelle_proto::Prompt::parse("hello").unwrap(),
            estelle_proto::PathText::parse(&folder).unwrap(),
            estelle_proto::WorkspaceId::parse("w").unwrap(),
        );
        estelle_proto::ipc::SendMessage::new(id(), payload)
    };
    let refused = place.submit(message()).await.unwrap().unwrap_err();
    assert!(lent.await.unwrap().is_ok(), "it was lent before");
    assert_eq!(refused.error.code, ErrorCode::Conflict);
    assert!(refused.error.message.contains("t-1"), "{refused:?}");
    assert_eq!(place.status().await.process, None, "nothing is started");
    // The terminal gave it back.
    drop(hold);
    let answered = place.submit(message()).await.unwrap();
    let is_held = |refused: Refusal| refused.error.code == ErrorCode::Conflict;
    assert!(!answered.is_err_and(is_held));
}

/// A line of a journal with a piece of text.
fn streamed(text: &str) -> String {
    let delta = serde_json::json!({"type": "text_delta", "text": text});
    let event = serde_json::json!({"type": "content_block_delta", "index": 0, "delta": delta});
    let line = serde_json::json!({"type": "stream_event", "event": event, "session_id": "s"});
    format!("{line}\n")
}

/// A run of which the log has the journal up to here, while a text is being written since its beginning.
fn run_in(folder: &Path, book: &mut Book, read_to: u64) -> (RunFolder, RunRecord) {
    let record = RunRecord {
        pid: std::process::id(),
        // Nobody is watched: this is not when we were started.
        start_ticks: 0,
        shim_pid: 0,
        argv: Vec::new(),
        cli_version: String::new(),
    };
    let stretch = Stretch {
        generation: Generation(1),
        from: 0,
        to: read_to,
        hash: String::new(),
        open_from: 0,
        reader: READER,
        seen: Vec::new(),
    };
    let machine = book.decide();
    let (at, pid, ticks) = (now(), record.pid, record.start_ticks);
    let entries = [
        machine.want(at).unwrap(),
        machine.intend(at).unwrap(),
        machine.started(at, pid, ticks).unwrap(),
        machine.read(at, stretch, Vec::new(), str::to_owned).0,
    ];
    book.append_all(&entries).unwrap();
    (first_run(folder), record)
}

/// The folder of the first run, in which nothing was started.
fn first_run(folder: &Path) -> RunFolder {
    let launch = LaunchRecord {
        program: "/nowhere".into(),
        args: Vec::new(),
        env: BTreeMap::new(),
        cwd: folder.to_owned(),
        cli_version: String::new(),
    };
    RunFolder::create(&folder.join("runs"), Generation(1), &launch).unwrap()
}

/// H4: the kernel has no watch left.
#[tokio::test(start_paused = true)]
async fn a_run_that_cannot_be_watched_is_read_within_a_second() {
    let folder = tempfile::tempdir().unwrap();
    let mut book = empty_book(folder.path());
    let (run, record) = run_in(folder.path(), &mut book, 0);
    // Its end would be heard of: only its output is not.
    let record = RunRecord {
        start_ticks: crate::run::shim::start_ticks(record.pid).unwrap(),
        ..record
    };
    crate::run::write_record(&run.path().join("run.json"), &record).unwrap();
    std::fs::write(run.journal(), "").unwrap();
    let _alive = Lock::take(&run.lock(), Heirs::None).unwrap();
    let place = Place::over(folder, book, RunWatch::refused());
    let mut listener = place.listen().await;
    until_snapshot(&mut listener).await;
    let content = serde_json::json!([{"type": "text", "text": "hello"}]);
    let said = serde_json::json!({"role": "assistant", "content": content});
    let line = serde_json::json!({"type": "assistant", "message": said, "session_id": "s"});
    let began = Instant::now();
    std::fs::write(run.journal(), format!("{line}\n")).unwrap();
    let HostToPylon::Event(event) = message(&mut listener).await else {
        panic!("no event");
    };
    assert!(
        matches!(event.event, ClaudeEvent::TextComplete(_)),
        "{event:?}"
    );
    assert!(began.elapsed() <= Duration::from_secs(1));
}

/// The shim is killed by whoever comes to lead the run: this host did not start it.
#[tokio::test(start_paused = true)]
async fn a_start_that_is_held_is_given_up_after_its_time() {
    let folder = tempfile::tempdir().unwrap();
    let mut book = empty_book(folder.path());
    let machine = book.decide();
    let entries = [machine.want(now()).unwrap(), machine.intend(now()).unwrap()];
    book.append_all(&entries).unwrap();
    let run = first_run(folder.path());
    // A shim that has the lock and goes no further: it is that of the open file, whoever has it.
    let lock = std::fs::File::create(run.lock()).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let mut command = std::process::Command::new("sleep");
    let mut shim = command.arg("1000").stdin(lock).spawn().unwrap();
    drop(command);
    let place = Place::over(folder, book, RunWatch::default());
    let mut listener = place.listen().await;
    until_snapshot(&mut listener).await;
    let limit = Duration::from_mins(2);
    let mail = tokio::time::timeout(limit, listener.next()).await;
    let Ok(Mail::Line(line)) = mail else {
        shim.kill().unwrap();
        panic!("it waits for ever");
    };
    assert!(line.contains("could not be started in time"), "{line}");
    assert!(run.is_tombstoned(), "nor will it be");
    shim.wait().unwrap();
    assert_eq!(place.status().await.process, Some(ProcessStatus::Error));
}

#[tokio::test]
async fn those_who_listen_are_told_all_that_is_written_and_nothing_of_it_twice() {
    let folder = tempfile::tempdir().unwrap();
    let mut book = empty_book(folder.path());
    let begun = streamed("one");
    let read_to = begun.len() as u64;
    let (run, record) = run_in(folder.path(), &mut book, read_to);
    let content = serde_json::json!([{"type": "text", "text": "one two"}]);
    let message = serde_json::json!({"role": "assistant", "content": content});
    let whole = serde_json::json!({"type": "assistant", "message": message, "session_id": "s"});
    let journal = format!("{begun}{}{whole}\n", streamed(" two"));
    std::fs::write(run.journal(), journal).unwrap();
    let (_commands, mut actor) = task_of(folder.path(), book);
    let live = Live::attach(actor.book.conversation(), run, record, &actor.context).unwrap();
    actor.phase = Phase::Live(Box::new(live));
    let (mailbox, mut reader) = mailbox();
    actor.listeners.push(mailbox);
    assert_eq!(actor.take_up().await.unwrap(), Flow::On);
    let (events, snapshot) = until_snapshot(&mut reader).await;
    assert!(events.is_empty(), "{events:?}");
    assert_eq!(snapshot.status.partial_text.as_deref(), Some("one two"));
    actor.read_journal().await.unwrap();
    let HostToPylon::Event(event) = self::message(&mut reader).await else {
        panic!("no event");
    };
    assert!(
        matches!(event.event, ClaudeEvent::TextComplete(_)),
        "{event:?}"
    );
    // What was read without a word is part of what the log says was read.
    let run = actor.book.conversation().run().unwrap();
    let end = std::fs::metadata(actor.folder.join("runs/1/out.jsonl")).unwrap();
    assert_eq!(run.read_to, end.len());
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
            events: Vec::new(),
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
