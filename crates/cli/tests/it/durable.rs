//! Runs that outlive whoever started them, with real processes: the shim, the lock, the FIFO and the journal.
//!
//! Dropping a session here stands for the death of a host: nothing of it is left but what is on the disk.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use estelle_claude::options::Options;
use estelle_claude::transport::{Exit, Link};
use estelle_claude::{Body, Session, StreamError};
use estelle_host::run::{
    Generation, LaunchRecord, RunFolder, RunRecord, RunWatch, ShimCommand, Tombstoned, attach,
    start, tombstone,
};
use estelle_sim::script::Script;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tempfile::TempDir;
use tokio::sync::Notify;

use crate::program::simulator;

/// A run of the simulator and what a host keeps of it.
struct Run {
    place: TempDir,
    folder: RunFolder,
    record: RunRecord,
    watch: RunWatch,
    shim: std::process::Child,
}

fn launch(place: &Path) -> LaunchRecord {
    let text = |path: &str| place.join(path).to_string_lossy().into_owned();
    let args = "--output-format stream-json --verbose --input-format stream-json --include-partial-messages \
                --permission-prompt-tool=stdio";
    LaunchRecord {
        program: simulator().to_owned(),
        args: args.split_whitespace().map(str::to_owned).collect(),
        env: BTreeMap::from([
            ("HOME".to_owned(), text("home")),
            ("ESTELLE_SIM_PLAIN".to_owned(), "1".to_owned()),
            ("ESTELLE_SIM_GATES".to_owned(), text("gates")),
            ("ESTELLE_SIM_MARKERS".to_owned(), text("markers")),
        ]),
        cwd: place.join("work"),
        cli_version: "2.1.325".to_owned(),
    }
}

fn shim_command() -> ShimCommand {
    ShimCommand {
        program: env!("CARGO_BIN_EXE_estelle").into(),
        args: vec!["shim".to_owned()],
    }
}

fn prepared() -> (TempDir, RunFolder) {
    let place = tempfile::tempdir().unwrap();
    for folder in ["home", "gates", "markers", "work"] {
        std::fs::create_dir(place.path().join(folder)).unwrap();
    }
    let runs = place.path().join("runs");
    let folder = RunFolder::create(&runs, Generation(1), &launch(place.path())).unwrap();
    (place, folder)
}

impl Run {
    async fn start() -> Self {
        let (place, folder) = prepared();
        let watch = RunWatch::new().unwrap();
        let bell = watch.watch(folder.path()).unwrap();
        let shim = start(&folder, &shim_command()).unwrap();
        let record = loop {
            let rung = bell.notified();
            if let Some(record) = folder.load_run().unwrap() {
                break record;
            }
            rung.await;
        };
        Self {
            place,
            folder,
            record,
            watch,
            shim,
        }
    }

    /// Attaches as a host would that knows nothing yet.
    fn link(&self) -> Link {
        attach(&self.folder, self.record.clone(), 0, &self.watch).unwrap()
    }

    fn session(&self, options: &Options) -> Session {
        Session::over(self.link(), options)
    }

    fn open_gate(&self, name: &str) {
        std::fs::write(self.place.path().join("gates").join(name), "").unwrap();
    }
}

fn kill(pid: u32) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
}

impl Drop for Run {
    fn drop(&mut self) {
        if self.folder.is_alive().unwrap_or_default() {
            kill(self.record.pid);
        }
        // It may have been killed by the test.
        let _ = self.shim.wait();
    }
}

/// Every piece of text, up to the result.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the other messages are beside the point"
)]
async fn texts(session: &mut Session) -> Vec<String> {
    let mut texts = Vec::new();
    while let Some(message) = session.next().await {
        match message.unwrap().body {
            Body::StreamEvent(event) => texts.extend(event.text_delta().map(str::to_owned)),
            Body::Result(result) => {
                assert!(!result.is_error(), "{result:?}");
                break;
            }
            _ => {}
        }
    }
    texts
}

#[tokio::test]
async fn a_turn_goes_on_when_its_host_dies_in_mid_stream() {
    let run = Run::start().await;
    let session = run.session(&Options::new());
    let script = Script::new().say("one two three four").gated_at("half", 1);
    session.send(chunked(&script.prompt(), 4)).await.unwrap();
    let mut first = session;
    loop {
        let message = first.next().await.unwrap().unwrap();
        if matches!(&message.body, Body::StreamEvent(event) if event.text_delta().is_some()) {
            break;
        }
    }
    drop(first);
    run.open_gate("half");
    let mut second = run.session(&Options::new());
    assert_eq!(texts(&mut second).await.concat(), "one two three four");
    assert_eq!(second.send("and you?").await.unwrap().len(), 36);
    assert_eq!(texts(&mut second).await.concat(), "ok");
}

#[tokio::test]
async fn a_permission_that_was_open_when_the_host_died_can_still_be_given() {
    let run = Run::start().await;
    let asked = Arc::new(Notify::new());
    let ring = Arc::clone(&asked);
    let silent = Options::new().can_use_tool(move |_, _| {
        ring.notify_one();
        std::future::pending()
    });
    let file = run.place.path().join("work/a.txt");
    let session = run.session(&silent);
    let script = Script::new()
        .tool("Write", json!({"file_path": &file, "content": "written"}))
        .say("done");
    session.send(script.prompt()).await.unwrap();
    asked.notified().await;
    drop(session);
    assert!(!file.exists(), "nothing runs without an answer");
    let willing = Options::new().can_use_tool(|request, _| async move { request.allow() });
    let mut second = run.session(&willing);
    assert_eq!(texts(&mut second).await.concat(), "done");
    assert_eq!(std::fs::read_to_string(file).unwrap(), "written");
}

#[tokio::test]
async fn the_shim_writes_down_how_the_cli_ended() {
    let run = Run::start().await;
    let mut session = run.session(&Options::new());
    kill(run.record.pid);
    let Some(Err(StreamError::Exited(end))) = session.next().await else {
        panic!("the end is reported");
    };
    assert_eq!(end.exit, Exit::Signal(9));
}

#[tokio::test]
async fn a_killed_shim_takes_nothing_with_it() {
    let run = Run::start().await;
    kill(run.record.shim_pid);
    let mut session = run.session(&Options::new());
    session
        .send(Script::new().say("still here").prompt())
        .await
        .unwrap();
    assert_eq!(texts(&mut session).await.concat(), "still here");
    assert_eq!(session.close().await.exit, Exit::Unknown);
}

#[tokio::test]
async fn a_generation_that_was_given_up_is_never_started() {
    let (_place, folder) = prepared();
    assert_eq!(
        tombstone(&folder, "the host died before it started").unwrap(),
        Tombstoned::Yes
    );
    let mut late = start(&folder, &shim_command()).unwrap();
    assert!(late.wait().unwrap().success());
    assert_eq!(folder.load_run().unwrap(), None);
}

#[tokio::test]
async fn a_living_run_cannot_be_given_up_or_started_twice() {
    let run = Run::start().await;
    assert_eq!(
        tombstone(&run.folder, "by mistake").unwrap(),
        Tombstoned::Alive
    );
    kill(run.record.pid);
    let mut session = run.session(&Options::new());
    assert!(session.next().await.unwrap().is_err());
    let mut again = start(&run.folder, &shim_command()).unwrap();
    assert!(again.wait().unwrap().success());
    assert_eq!(run.folder.load_run().unwrap(), Some(run.record.clone()));
}

fn chunked(prompt: &str, chunks: usize) -> String {
    prompt.replacen("\"say\":", &format!("\"chunks\":{chunks},\"say\":"), 1)
}
