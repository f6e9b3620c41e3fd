//! Runs that outlive whoever started them, with real processes: the shim, the lock, the FIFO and the journal.
//!
//! Dropping a session here stands for the death of a host: nothing of it is left but what is on the disk.

mod left_behind;
pub(crate) mod stage;

use std::sync::Arc;

use estelle_claude::options::Options;
use estelle_claude::transport::Exit;
use estelle_claude::{Body, Session, StreamError};
use estelle_host::run::{Tombstoned, start, tombstone};
use estelle_sim::api::RealCli;
use estelle_sim::script::Script;
use rustix::process::Signal;
use serde_json::json;
use tokio::sync::Notify;

use stage::{Agent, Run, kill, place, prepared, shim_command, signal, simulated};

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

async fn a_turn_goes_on_when_its_host_dies_in_mid_stream(agent: &Agent) {
    let run = Run::start(agent).await;
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

async fn a_permission_that_was_open_when_the_host_died_can_still_be_given(agent: &Agent) {
    let run = Run::start(agent).await;
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
    let run = Run::start(&Agent::Simulator).await;
    let mut session = run.session(&Options::new());
    kill(run.record.pid);
    let Some(Err(StreamError::Exited(end))) = session.next().await else {
        panic!("the end is reported");
    };
    assert_eq!(end.exit, Exit::Signal(9));
}

#[tokio::test]
async fn a_killed_shim_takes_nothing_with_it() {
    let run = Run::start(&Agent::Simulator).await;
    kill(run.record.shim_pid);
    let mut session = run.session(&Options::new());
    session
        .send(Script::new().say("still here").prompt())
        .await
        .unwrap();
    assert_eq!(texts(&mut session).await.concat(), "still here");
    assert_eq!(session.close().await.exit, Exit::Unknown);
}

/// The kernel hangs up on the group of a stopped process when its last parent in the session dies: a run has a session of
/// its own, so there is none to lose.
async fn a_held_agent_is_not_hung_up_on_when_its_shim_dies(agent: &Agent) {
    let run = Run::start(agent).await;
    signal(run.record.pid, Signal::STOP);
    state_is(run.record.pid, &['T']).await;
    kill(run.record.shim_pid);
    state_is(run.record.shim_pid, &['Z', 'X']).await;
    signal(run.record.pid, Signal::CONT);
    let mut session = run.session(&Options::new());
    session
        .send(Script::new().say("still here").prompt())
        .await
        .unwrap();
    assert_eq!(texts(&mut session).await.concat(), "still here");
    assert_eq!(session.close().await.exit, Exit::Unknown);
}

/// Waits until a process is in one of these states, or gone.
async fn state_is(pid: u32, wanted: &[char]) {
    let is_so = || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let state = stat
            .rsplit_once(") ")
            .and_then(|(_, rest)| rest.chars().next());
        state.is_none_or(|state| wanted.contains(&state))
    };
    let waiting = async {
        while !is_so() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_mins(1), waiting)
        .await
        .unwrap();
}

#[tokio::test]
async fn a_generation_that_was_given_up_is_never_started() {
    let place = place();
    let folder = prepared(place.path(), &simulated(place.path()));
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
    let run = Run::start(&Agent::Simulator).await;
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

macro_rules! on_all_agents {
    ($($scenario:ident),+ $(,)?) => {
        mod simulated_cli {
            use super::*;

            $(#[tokio::test]
            async fn $scenario() {
                super::$scenario(&Agent::Simulator).await;
            })+
        }

        mod real_197 {
            use super::*;

            $(#[tokio::test]
            async fn $scenario() {
                super::$scenario(&Agent::Real(RealCli::v197().unwrap())).await;
            })+
        }

        mod real_325 {
            use super::*;

            $(#[tokio::test]
            async fn $scenario() {
                super::$scenario(&Agent::Real(RealCli::v325().unwrap())).await;
            })+
        }
    };
}

on_all_agents!(
    a_turn_goes_on_when_its_host_dies_in_mid_stream,
    a_permission_that_was_open_when_the_host_died_can_still_be_given,
    a_held_agent_is_not_hung_up_on_when_its_shim_dies,
);
