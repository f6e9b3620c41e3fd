//! Commands and their results: each that asks for one gets one, in order where order matters.

use std::collections::BTreeMap;

use estelle_host::ipc::RequestError;
use estelle_host::mailbox::Letter;
use estelle_proto::ipc::{
    MessagePayload, PermissionResponse, PylonReconnected, SendMessage, ServerShutdown, Subscribe,
    Touch, Unsubscribe,
};
use estelle_proto::{
    ConversationId, DeviceId, ErrorCode, HostToPylon, PathText, PermissionDecision, Prompt,
    PylonToHost, Reply as _, RequestId, Seq, ToolUseId, WorkspaceId,
};
use tokio::io::AsyncWriteExt as _;

use super::desk::conversation;
use super::stage::Stage;

fn message(id: &ConversationId, prompt: &str) -> PylonToHost {
    let payload = MessagePayload::new(
        Prompt::parse(prompt).unwrap(),
        PathText::parse("/").unwrap(),
        WorkspaceId::parse("w").unwrap(),
    );
    SendMessage::new(id.clone(), payload).into()
}

/// The golden examples of all commands but the hello.
fn examples() -> Vec<PylonToHost> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/proto/v1");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let is_ipc = |path: &std::path::PathBuf| {
        path.file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .starts_with("ipc.")
    };
    let texts = paths
        .into_iter()
        .filter(is_ipc)
        .map(|path| std::fs::read_to_string(path).unwrap());
    let commands = texts.filter_map(|text| estelle_proto::ipc::parse_command(&text).ok());
    commands
        .filter(|command| !matches!(command, PylonToHost::Hello(_) | PylonToHost::Unknown(_)))
        .collect()
}

#[tokio::test]
async fn every_command_with_a_name_gets_one_result() {
    let stage = Stage::new();
    stage.desk.open("conv_xxx", 3);
    let mut guest = stage.guest().await;
    let commands = examples();
    assert!(commands.len() >= PylonToHost::KINDS.len() - 1);
    for (number, mut command) in commands.iter().cloned().enumerate() {
        command.set_request_id(RequestId::parse(&format!("r{number}")).unwrap());
        guest.say(&command).await;
    }
    guest.to.shutdown().await.unwrap();
    let mut results: BTreeMap<String, u32> = BTreeMap::new();
    while let Some(heard) = guest.hear().await {
        if let HostToPylon::RequestResult(result) = heard {
            *results
                .entry(result.request_id.unwrap().to_string())
                .or_default() += 1;
        }
    }
    for (number, command) in commands.iter().enumerate() {
        assert!(
            results.contains_key(&format!("r{number}")),
            "no result for {command:?}"
        );
    }
    assert!(results.values().all(|count| *count == 1), "{results:?}");
}

#[tokio::test]
async fn without_a_name_only_failures_are_told() {
    let stage = Stage::new();
    let id = stage.desk.open("c", 0);
    let mut guest = stage.guest().await;
    guest.say(&Touch::new(id.clone()).into()).await;
    guest.say(&Touch::new(conversation("gone")).into()).await;
    let mut last = PylonToHost::from(Touch::new(id));
    last.set_request_id(RequestId::parse("last").unwrap());
    guest.say(&last).await;
    assert_eq!(guest.hear_briefly().await, "unknown_conversation");
    assert_eq!(guest.hear_briefly().await, "done last");
}

#[tokio::test]
async fn the_order_of_commands_is_kept() {
    let stage = Stage::new();
    let ids = ["a", "b", "c"].map(|name| stage.desk.open(name, 0));
    let mut client = stage.client().await;
    let commands: Vec<_> = (0..300)
        .map(|n| message(&ids[n % 3], &n.to_string()))
        .collect();
    let mut names = Vec::new();
    for command in &commands {
        names.push(client.ask(command.clone()).await.unwrap());
    }
    let mut results = BTreeMap::new();
    while results.len() < names.len() {
        if let HostToPylon::RequestResult(result) = client.receive().await.unwrap() {
            results.insert(
                result.request_id.clone().unwrap().to_string(),
                result.seq.unwrap(),
            );
        }
    }
    for (at, name) in names.iter().enumerate() {
        assert_eq!(results[name.as_str()], Seq(at as u64 + 1));
    }
    let unnamed = |mut command: PylonToHost| {
        if let PylonToHost::SendMessage(message) = &mut command {
            message.request_id = None;
        }
        command
    };
    let taken: Vec<_> = stage.desk.taken().into_iter().map(unnamed).collect();
    assert_eq!(taken, commands);
}

#[tokio::test]
async fn a_command_that_takes_long_holds_up_no_other() {
    let stage = Stage::new();
    let (a, b) = (stage.desk.open("a", 0), stage.desk.open("b", 0));
    let mut client = stage.client().await;
    let long = client.ask(message(&a, "wait")).await.unwrap();
    client.request(message(&a, "quick")).await.unwrap();
    client.request(Touch::new(b)).await.unwrap();
    client.status(None).await.unwrap();
    stage.desk.go_on.notify_one();
    let HostToPylon::RequestResult(result) = client.receive().await.unwrap() else {
        panic!("the long one ends last")
    };
    assert_eq!(result.request_id, Some(long));
}

#[tokio::test]
async fn a_refusal_says_who_was_first() {
    let stage = Stage::new();
    let id = stage.desk.open("c", 0);
    let mut client = stage.client().await;
    let call = ToolUseId::parse("call-1").unwrap();
    client
        .ask(PermissionResponse::new(id, call, PermissionDecision::Allow))
        .await
        .unwrap();
    let HostToPylon::RequestResult(result) = client.receive().await.unwrap() else {
        panic!("a result")
    };
    assert_eq!(
        result.outcome().unwrap_err().code,
        ErrorCode::AlreadyAnswered
    );
    assert_eq!(
        (result.answered_by, result.answered_at.unwrap().0),
        (Some(DeviceId(7)), 99)
    );
}

#[tokio::test]
async fn words_that_nobody_knows_never_reach_the_host() {
    let stage = Stage::new();
    let id = stage.desk.open("c", 0);
    let mut client = stage.client().await;
    let call = ToolUseId::parse("call-1").unwrap();
    let answer = PermissionResponse::new(id, call, PermissionDecision::from("maybe"));
    let refused = client.request(answer).await.unwrap_err();
    let RequestError::Refused(error) = &refused else {
        panic!("{refused}")
    };
    assert!(error.message.contains("allow, allowAll, deny"), "{error}");
    assert_eq!(stage.desk.taken(), []);
}

#[tokio::test]
async fn a_pylon_that_comes_back_hears_everything_in_order() {
    let stage = Stage::new();
    let ids = [stage.desk.open("a", 2), stage.desk.open("b", 1)];
    let mut guest = stage.guest().await;
    guest.say(&PylonReconnected::default().into()).await;
    for id in &ids {
        guest.say(&Subscribe::new(id.clone()).into()).await;
    }
    let mut heard = Vec::new();
    while heard.len() < 10 {
        heard.push(guest.hear_briefly().await);
    }
    assert_eq!(
        heard[..3],
        [
            "status_response",
            "permission_request",
            "permission_request"
        ]
    );
    let mut rest = heard.split_off(3);
    rest.sort();
    let replay = ["claude_event"; 3]
        .into_iter()
        .chain(["snapshot"; 2])
        .chain(["subscribed"; 2]);
    assert_eq!(rest, replay.collect::<Vec<_>>());
}

#[tokio::test]
async fn everybody_hears_of_a_decision_and_of_the_end() {
    let stage = Stage::new();
    let id = stage.desk.open("c", 0);
    let mut guests = [stage.guest().await, stage.guest().await];
    for guest in &mut guests {
        guest.say(&message(&id, "hi")).await;
        guest
            .write_line(r#"{"type":"get_status","requestId":"r"}"#)
            .await;
        assert_eq!(guest.hear_briefly().await, "status_response");
        assert_eq!(guest.hear_briefly().await, "done r");
    }
    stage
        .desk
        .roster
        .post_to_all(&Letter::message(&super::desk::decision(&id)));
    let notice = ServerShutdown::new("SIGTERM".to_owned(), 5);
    stage
        .desk
        .roster
        .post_to_all(&Letter::message(&notice.into()));
    stage.stop.cancel();
    for guest in &mut guests {
        assert_eq!(guest.hear_briefly().await, "permission_request");
        assert_eq!(guest.hear_briefly().await, "server_shutdown");
        assert_eq!(guest.hear_briefly().await, "closed");
    }
    stage.tasks.close();
    stage.tasks.wait().await;
    assert!(!stage.socket().exists());
}

#[tokio::test]
async fn unsubscribing_ends_the_events_of_one_conversation() {
    let stage = Stage::new();
    let (a, b) = (stage.desk.open("a", 0), stage.desk.open("b", 0));
    let mut client = stage.client().await;
    // Twice the same does not double what comes.
    for id in [&a, &b, &a] {
        client.request(Subscribe::new(id.clone())).await.unwrap();
    }
    assert_eq!((stage.desk.listeners(&a), stage.desk.listeners(&b)), (1, 1));
    client.request(Unsubscribe::new(a.clone())).await.unwrap();
    stage.desk.publish(&a, "unheard");
    stage.desk.publish(&b, "heard");
    let mut sessions = Vec::new();
    while sessions.is_empty() {
        if let HostToPylon::Event(event) = client.receive().await.unwrap() {
            sessions.push(event.session_id);
        }
    }
    assert_eq!(sessions, [b]);
}
