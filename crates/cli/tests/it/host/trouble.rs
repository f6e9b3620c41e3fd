//! What goes wrong around a conversation: agents that flood, pipes that cannot be written, files that are removed.

use std::path::Path;
use std::time::{Duration, Instant};

use estelle_host::ipc::Desk;
use estelle_host::run::shim::start_ticks;
use estelle_proto::events::ClaudeEvent;
use estelle_proto::ipc::StopSession;
use estelle_sim::script::Script;

use super::lifecycle::{opened, said};
use super::stage::{Agent, Listener, Stage, conversation, message, status, submit};

/// Waits for the end of a process.
async fn ended(pid: u32, patience: Duration) -> bool {
    let began = Instant::now();
    while start_ticks(pid).is_ok() {
        if began.elapsed() > patience {
            return false;
        }
        tokio::task::yield_now().await;
    }
    true
}

async fn until_error(listener: &mut Listener) -> String {
    let event = listener
        .until(|event| matches!(event, ClaudeEvent::Error(_)))
        .await;
    let ClaudeEvent::Error(error) = event else {
        panic!("{event:?}");
    };
    error.error
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_floods_and_does_not_obey_is_killed_in_time() {
    let mut stage = Stage::new(&Agent::Simulator).await;
    let work = stage.path("work");
    // A process per round keeps the flood faster than it can be read and slow enough for the disk.
    let flood = format!(
        "if [ \"$PWD\" = {} ]; then trap '' TERM; while :; do for i in 1 2 3 4 5 6 7 8 9; do {}; done; /bin/true; done; fi",
        work.display(),
        "echo '{\"type\":\"keep_alive\"}';"
            .repeat(20)
            .trim_end_matches(';'),
    );
    stage.program = stage.wrapped("flooding-agent", &flood, &stage.program);
    stage.grace = Duration::from_millis(200);
    let host = stage.open();
    let id = conversation("conv-1");
    let sent = message(&stage, &id, &Script::new().say("never").prompt());
    submit(&host, sent).await.unwrap();
    let pid = loop {
        if let Some(pid) = status(&host, &id).await.evidence.unwrap().pid {
            break pid;
        }
    };
    let stop = StopSession {
        end_process: Some(true),
        ..StopSession::new(id.clone())
    };
    let _stopped = host.submit(stop.into()).await;
    assert!(ended(pid, Duration::from_secs(10)).await, "it still runs");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pipe_that_cannot_be_written_holds_nobody_up() {
    let stage = Stage::new(&Agent::Simulator).await;
    let (host, listener) = opened(&stage).await;
    let id = conversation("conv-1");
    drop((host, listener));
    let run = stage.path("data/conversations/conv-1/runs/1");
    std::fs::rename(run.join("in.fifo"), run.join("aside")).unwrap();
    std::fs::write(run.join("in.fifo"), "").unwrap();
    let host = stage.reopen().await;
    let mut listener = Listener::new(&host, &id).await;
    listener.result().await;
    let sent = message(&stage, &id, &Script::new().say("late").prompt());
    submit(&host, sent).await.unwrap();
    let began = Instant::now();
    for _ in 0..50 {
        status(&host, &id).await;
    }
    assert!(began.elapsed() < Duration::from_secs(2));
    std::fs::rename(run.join("aside"), run.join("in.fifo")).unwrap();
    listener.result().await;
    assert_eq!(listener.texts(), ["first", "late"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_is_removed_under_the_host_is_written_again() {
    let stage = Stage::new(&Agent::Simulator).await;
    let (host, mut listener) = opened(&stage).await;
    let id = conversation("conv-1");
    let log = stage.path("data/conversations/conv-1/log.jsonl");
    std::fs::remove_file(&log).unwrap();
    assert!(until_error(&mut listener).await.contains("written again"));
    said(&stage, &host, &mut listener, "second").await;
    listener.assert_dense();
    let pid = status(&host, &id).await.evidence.unwrap().pid;
    drop((host, listener));
    let host = stage.reopen().await;
    let mut listener = Listener::new(&host, &id).await;
    let sent = message(&stage, &id, &Script::new().say("third").prompt());
    submit(&host, sent).await.unwrap();
    while listener.texts().len() < 3 {
        listener.message().await;
    }
    assert_eq!(listener.texts(), ["first", "second", "third"]);
    listener.assert_dense();
    assert_eq!(status(&host, &id).await.evidence.unwrap().pid, pid);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_is_removed_under_the_host_costs_the_process_alone() {
    let stage = Stage::new(&Agent::Simulator).await;
    let (host, mut listener) = opened(&stage).await;
    let id = conversation("conv-1");
    let pid = status(&host, &id).await.evidence.unwrap().pid.unwrap();
    let folder = stage.path("data/conversations/conv-1");
    // In one step: the host may write it again while it is being removed.
    std::fs::rename(folder, stage.path("removed")).unwrap();
    std::fs::remove_dir_all(stage.path("removed")).unwrap();
    while !until_error(&mut listener).await.contains("is gone") {}
    assert!(ended(pid, Duration::from_secs(20)).await);
    said(&stage, &host, &mut listener, "second").await;
    drop((host, listener));
    let host = stage.reopen().await;
    let mut listener = Listener::new(&host, &id).await;
    let sent = message(&stage, &id, &Script::new().say("third").prompt());
    submit(&host, sent).await.unwrap();
    while listener.texts().len() < 3 {
        listener.message().await;
    }
    assert_eq!(listener.texts(), ["first", "second", "third"]);
    listener.assert_dense();
}

/// The process of a run whose host is dead: nothing of it goes on, not even for a moment.
fn left_behind(stage: &Stage) -> u32 {
    let life = || {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let (host, _listener) = opened(stage).await;
            let status = status(&host, &conversation("conv-1")).await;
            status.evidence.unwrap().pid.unwrap()
        })
    };
    std::thread::scope(|scope| scope.spawn(life).join().unwrap())
}

/// A run that lives when its host is away and the given file or folder of its conversation is removed.
async fn a_run_without(what: &str) {
    let stage = Stage::new(&Agent::Simulator).await;
    let id = conversation("conv-1");
    let pid = left_behind(&stage);
    remove(&stage.path("data/conversations").join(what));
    let host = stage.reopen().await;
    assert!(ended(pid, Duration::from_secs(20)).await, "{what}");
    let mut listener = Listener::new(&host, &id).await;
    until_error(&mut listener).await;
    said(&stage, &host, &mut listener, "back again").await;
}

fn remove(path: &Path) {
    if path.is_dir() {
        std::fs::remove_dir_all(path).unwrap();
    } else {
        std::fs::remove_file(path).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_no_log_knows_is_ended_and_that_is_said() {
    for what in ["conv-1", "conv-1/log.jsonl", "conv-1/runs"] {
        a_run_without(what).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_everything_reaches_runs_that_nobody_knows() {
    let stage = Stage::new(&Agent::Simulator).await;
    let pid = left_behind(&stage);
    // The log of another build cannot be read; its run is left alone until everything is to end.
    let log = stage.path("data/conversations/conv-1/log.jsonl");
    let text = std::fs::read_to_string(&log).unwrap();
    let first = text.lines().next().unwrap().to_owned();
    std::fs::write(&log, first.replacen("began", "begun", 1) + "\n").unwrap();
    let host = stage.reopen().await;
    assert!(start_ticks(pid).is_ok(), "nobody asked for its end");
    assert_eq!(host.stop_runs("test").await, 1);
    assert!(ended(pid, Duration::from_secs(5)).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_goes_on_when_the_end_of_its_log_was_lost() {
    let stage = Stage::new(&Agent::Simulator).await;
    let id = conversation("conv-1");
    let pid = left_behind(&stage);
    let log = stage.path("data/conversations/conv-1/log.jsonl");
    let text = std::fs::read_to_string(&log).unwrap();
    let started = text.find("\"started\"").unwrap();
    let cut = text[started..].find('\n').unwrap() + started + 20;
    std::fs::write(&log, &text[..cut]).unwrap();
    let host = stage.reopen().await;
    let mut listener = Listener::new(&host, &id).await;
    said(&stage, &host, &mut listener, "second").await;
    assert_eq!(listener.texts().last().map(String::as_str), Some("second"));
    let evidence = status(&host, &id).await.evidence.unwrap();
    assert_eq!(evidence.pid, Some(pid));
    let half = cut as u64 - text[..cut].rfind('\n').unwrap() as u64 - 1;
    assert_eq!(
        (evidence.log_cuts, evidence.log_cut_bytes),
        (Some(1), Some(half)),
        "what was cut is counted"
    );
    listener.assert_dense();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_record_is_gone_goes_on() {
    let stage = Stage::new(&Agent::Simulator).await;
    let pid = left_behind(&stage);
    std::fs::remove_file(stage.path("data/conversations/conv-1/runs/1/run.json")).unwrap();
    let host = stage.reopen().await;
    let id = conversation("conv-1");
    let mut listener = Listener::new(&host, &id).await;
    let sent = message(&stage, &id, &Script::new().say("second").prompt());
    submit(&host, sent).await.unwrap();
    while listener.texts().len() < 2 {
        listener.message().await;
    }
    assert_eq!(status(&host, &id).await.evidence.unwrap().pid, Some(pid));
    let stop = StopSession {
        end_process: Some(true),
        ..StopSession::new(id)
    };
    submit(&host, stop).await.unwrap();
    assert!(ended(pid, Duration::from_secs(5)).await);
}
