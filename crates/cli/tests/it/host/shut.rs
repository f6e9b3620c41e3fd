//! Conversations whose log cannot be opened: for a while, or by this version at all.

use std::path::{Path, PathBuf};
use std::time::Duration;

use estelle_host::Host;
use estelle_host::ipc::Desk;
use estelle_host::log::{Log, Sync};
use estelle_host::mailbox::{Mail, MailReader, mailbox};
use estelle_host::run::lock::{Heirs, Lock};
use estelle_host::run::shim::start_ticks;
use estelle_proto::conversations::ConversationStatus;
use estelle_proto::decisions::PermissionDecision;
use estelle_proto::ipc::{
    DeleteSession, ForkSession, HostToPylon, PermissionResponse, ProcessStatus, SessionStatus,
    Subscribe,
};
use estelle_proto::{ErrorCode, Retry, Seq, ToolUseId};
use estelle_sim::script::Script;
use serde_json::json;

use super::stage::{Agent, Listener, Stage, conversation, message, status, submit};

/// A process that asks for a permission, and whose host is dead.
fn left_asking(stage: &Stage) -> (u32, ToolUseId) {
    let life = || {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let host = stage.open();
            let id = conversation("conv-1");
            let file = stage.path("work/a.txt");
            let script = Script::new()
                .tool("Write", json!({"file_path": file, "content": "written"}))
                .say("done");
            submit(&host, message(stage, &id, &script.prompt()))
                .await
                .unwrap();
            let mut listener = Listener::new(&host, &id).await;
            let asked = listener.asked().await;
            let pid = status(&host, &id).await.evidence.unwrap().pid;
            (pid.unwrap(), asked.tool_use_id)
        })
    };
    std::thread::scope(|scope| scope.spawn(life).join().unwrap())
}

fn log(stage: &Stage) -> PathBuf {
    stage.path("data/conversations/conv-1/log.jsonl")
}

/// Puts a log aside and a link to itself in its place, which nobody can open.
fn block(log: &Path) -> PathBuf {
    let aside = log.with_extension("aside");
    std::fs::rename(log, &aside).unwrap();
    std::os::unix::fs::symlink("log.jsonl", log).unwrap();
    aside
}

/// Adds a record that this version does not know.
fn add_newer_record(log: &Path) {
    let mut log = Log::open(log).unwrap().log;
    let newer = json!({"at": 1, "record": {"invented": {"later": true}}, "events": []});
    log.append(newer.to_string().as_bytes(), Sync::Now).unwrap();
}

/// The one conversation in the list.
async fn listed(host: &Host) -> SessionStatus {
    let mut all = host.status(None).await.unwrap();
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

fn why(status: &SessionStatus) -> &str {
    status.evidence.as_ref().unwrap().why.as_deref().unwrap()
}

async fn next(mail: &mut MailReader) -> HostToPylon {
    let mail = tokio::time::timeout(Duration::from_mins(1), mail.next()).await;
    let Ok(Mail::Line(line)) = mail else {
        panic!("{mail:?}");
    };
    serde_json::from_str(&line).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_cannot_be_opened_for_a_while_is_taken_up_with_its_run() {
    let stage = Stage::new(&Agent::Simulator).await;
    let id = conversation("conv-1");
    let (pid, call) = left_asking(&stage);
    let log = log(&stage);
    let aside = block(&log);
    let host = stage.reopen().await;
    let (everything, mut mail) = mailbox();
    let _enlisted = host.enlist(everything);

    let shut = listed(&host).await;
    assert_eq!(shut.process, Some(ProcessStatus::Suspect));
    assert_eq!(shut.state, ConversationStatus::Working, "its process lives");
    assert_eq!(shut.evidence.as_ref().unwrap().pid, Some(pid));
    assert!(why(&shut).contains("tried again by itself"), "{shut:?}");
    let (unheard, _mail) = mailbox();
    let refused = host.subscribe(Subscribe::new(id.clone()), unheard).await;
    let refused = refused.unwrap_err();
    assert_eq!(
        (&refused.code, &refused.retry),
        (&ErrorCode::Internal, &Retry::Later)
    );
    let refused = submit(&host, message(&stage, &id, "hello")).await;
    assert!(refused.unwrap_err().error.message.contains("log.jsonl"));
    assert!(start_ticks(pid).is_ok(), "its process is left alone");

    std::fs::rename(aside, &log).unwrap();
    // Nobody asks: everybody is told how all conversations are, and what waits for a person.
    let told = loop {
        if let HostToPylon::StatusResponse(told) = next(&mut mail).await {
            break told;
        }
    };
    assert_eq!(told.sessions[0].process, Some(ProcessStatus::WaitingInput));
    let open = loop {
        if let HostToPylon::PermissionRequest(open) = next(&mut mail).await {
            break open;
        }
    };
    assert_eq!(open.tool_use_id, call);
    let mut listener = Listener::new(&host, &id).await;
    let allow = PermissionResponse::new(id.clone(), call, PermissionDecision::Allow);
    submit(&host, allow).await.unwrap();
    listener.result().await;
    assert_eq!(listener.texts(), ["done"]);
    listener.assert_dense();
    assert_eq!(status(&host, &id).await.evidence.unwrap().pid, Some(pid));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_can_be_opened_again_is_opened_for_whoever_asks() {
    let stage = Stage::new(&Agent::Simulator).await;
    let id = conversation("conv-1");
    let (_, call) = left_asking(&stage);
    let log = log(&stage);
    let aside = block(&log);
    let host = stage.reopen().await;
    std::fs::rename(aside, &log).unwrap();
    let allow = PermissionResponse::new(id.clone(), call, PermissionDecision::Allow);
    submit(&host, allow).await.unwrap();
    let mut listener = Listener::new(&host, &id).await;
    listener.result().await;
    assert_eq!(listener.texts(), ["done"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_of_a_newer_version_is_listed_and_can_be_deleted_with_its_run() {
    let stage = Stage::new(&Agent::Simulator).await;
    let id = conversation("conv-1");
    let (pid, _) = left_asking(&stage);
    add_newer_record(&log(&stage));
    // Nor does it touch the end of what it does not understand.
    let mut whole = std::fs::read(log(&stage)).unwrap();
    whole.extend_from_slice(b"0123 {\"half\":");
    std::fs::write(log(&stage), &whole).unwrap();
    let host = stage.reopen().await;
    let shut = listed(&host).await;
    assert_eq!(shut.process, Some(ProcessStatus::Suspect));
    assert!(why(&shut).contains("newer version"), "{shut:?}");
    assert_eq!(std::fs::read(log(&stage)).unwrap(), whole);
    assert!(why(&shut).contains("delete the conversation"), "{shut:?}");
    let refused = submit(&host, message(&stage, &id, "hello"))
        .await
        .unwrap_err();
    assert_eq!(refused.error.retry, Retry::Never);
    let copy = ForkSession::new(id.clone(), conversation("conv-2"), Seq(1));
    let refused = submit(&host, copy).await.unwrap_err();
    assert!(refused.error.message.contains("newer version"), "{refused}");

    // Whatever holds the lock of a run may be alive, and is never left behind without its folder.
    let run = stage.path("data/conversations/conv-1/runs/2");
    std::fs::create_dir(&run).unwrap();
    let held = Lock::take(&run.join("lock"), Heirs::None).unwrap();
    let refused = submit(&host, DeleteSession::new(id.clone()))
        .await
        .unwrap_err();
    assert!(
        refused.error.message.contains("run 2 still lives"),
        "{refused}"
    );
    assert!(log(&stage).exists());
    drop(held);

    submit(&host, DeleteSession::new(id.clone())).await.unwrap();
    assert!(start_ticks(pid).is_err(), "its process is gone");
    assert!(!stage.path("data/conversations/conv-1").exists());
    assert_eq!(host.status(None).await.unwrap(), []);
    let fresh = message(&stage, &id, &Script::new().say("afresh").prompt());
    submit(&host, fresh).await.unwrap();
    let mut listener = Listener::new(&host, &id).await;
    listener.result().await;
    assert_eq!(listener.texts(), ["afresh"]);
}
