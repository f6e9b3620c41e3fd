//! A rebuild from a host that is played: one log is broken, one is long, and one is of a conversation that nobody told of.

use estelle_proto::events::TextComplete;
use estelle_proto::ipc::{
    CutOff, Hello, RequestResult, Snapshot, StatusResponse, Subscribed, parse_line, to_line,
};
use estelle_proto::{
    ApiError, ChainHash, ConversationStatus, Epoch, ErrorCode, PylonToHost, RequestId, Retry, Seq,
};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixListener;
use tokio::net::unix::OwnedWriteHalf;

use super::*;

/// More than a batch.
const LONG: u64 = 600;

fn id(name: &str) -> ConversationId {
    ConversationId::parse(name).unwrap()
}

fn status(name: &str) -> SessionStatus {
    SessionStatus::new(id(name), ConversationStatus::Idle)
}

async fn say(to: &mut OwnedWriteHalf, message: impl Into<HostToPylon>) {
    let line = to_line(&message.into()).unwrap();
    to.write_all(line.as_bytes()).await.unwrap();
}

fn event(name: &str, seq: u64) -> HostEvent {
    let text = TextComplete::new(format!("entry {seq}")).into();
    HostEvent {
        seq: Some(Seq(seq)),
        epoch: Some(Epoch(1)),
        chain_hash: ChainHash::parse(&format!("h{seq}")).ok(),
        timestamp: Some(Timestamp(1)),
        ..HostEvent::new(id(name), text)
    }
}

/// Tells the log of a conversation; whoever listens to the long one is cut off once in the middle.
async fn tell(to: &mut OwnedWriteHalf, wish: Subscribe) {
    let name = wish.session_id.as_str().to_owned();
    if name == "broken" {
        let text = "its log is damaged".to_owned();
        let error = ApiError::new(ErrorCode::Internal, text, Retry::Never);
        return say(to, RequestResult::default().failed(error)).await;
    }
    let from = wish.seq.map_or(0, |seq| seq.0);
    let head = Seq(LONG);
    say(to, Subscribed::new(id(&name), Epoch(1), head, false)).await;
    for seq in from + 1..=LONG {
        if from == 0 && seq > LONG / 2 {
            return say(to, CutOff::new(Vec::new())).await;
        }
        say(to, event(&name, seq)).await;
    }
    say(
        to,
        Snapshot::new(id(&name), Epoch(1), head, Box::new(status(&name))),
    )
    .await;
}

async fn host(listener: UnixListener) {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let (from, mut to) = stream.into_split();
        let mut lines = BufReader::new(from).lines();
        say(&mut to, Hello::of_this_build("test".to_owned(), Vec::new())).await;
        while let Ok(Some(line)) = lines.next_line().await {
            let command = parse_line::<PylonToHost>(&line).unwrap();
            if let PylonToHost::Subscribe(wish) = command {
                tell(&mut to, wish).await;
            } else if let PylonToHost::GetStatus(wish) = command {
                list(&mut to, wish.request_id.as_ref()).await;
            }
        }
    }
}

async fn list(to: &mut OwnedWriteHalf, request: Option<&RequestId>) {
    let mut response = StatusResponse::new(["broken", "long", "deleted"].map(status).to_vec());
    response.request_id = request.cloned();
    say(to, response).await;
    say(to, RequestResult::default().in_reply_to(request)).await;
}

#[tokio::test]
async fn a_log_that_cannot_be_told_does_not_cost_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("host.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let rebuild = Rebuild::begin(&folder.path().join("pylon")).unwrap();
    let done = tokio::select! {
        done = fill(rebuild, folder.path()) => done.unwrap(),
        () = host(listener) => unreachable!(),
    };
    assert_eq!((done.conversations, done.events), (2, 1200));
    let [(untold, why)] = done.untold.as_slice() else {
        panic!("{done:?}");
    };
    assert_eq!(*untold, id("broken"));
    assert!(why.contains("damaged"), "{why}");
    let store = estelle_pylon::store::Store::open(&folder.path().join("pylon")).unwrap();
    let listed = store.workspaces(None).await.unwrap().workspaces;
    let mut names: Vec<&str> = listed
        .iter()
        .flat_map(|workspace| &workspace.conversations)
        .map(|one| one.conversation_id.as_str())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["broken", "deleted", "long"]);
}
