//! A network that lets no WebSocket through: everything goes on over REST (R131).

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use estelle_sim::script::Script;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_util::task::TaskTracker;

use super::client::{Api, PATIENCE};
use crate::host::stage::Agent;
use crate::up::stage::Machine;

/// A proxy in front of a gateway that can cut sockets.
struct Network {
    address: SocketAddr,
    cuts: watch::Sender<bool>,
    refused: Arc<AtomicBool>,
    /// Where the gateway is, once it is there.
    gateway: watch::Sender<String>,
    tasks: TaskTracker,
}

impl Network {
    async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let network = Self {
            address: listener.local_addr().unwrap(),
            cuts: watch::Sender::new(false),
            refused: Arc::default(),
            gateway: watch::Sender::new(String::new()),
            tasks: TaskTracker::new(),
        };
        let (cuts, gateway) = (network.cuts.subscribe(), network.gateway.subscribe());
        let (refused, tasks) = (network.refused.clone(), network.tasks.clone());
        network.tasks.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let to = gateway.borrow().clone();
                tasks.spawn(carry(stream, to, cuts.clone(), refused.clone()));
            }
        });
        network
    }

    fn cut(&self, cuts: bool) {
        self.cuts.send_replace(cuts);
    }
}

/// Carries one connection; one that is or becomes a WebSocket is cut off when the network does that.
async fn carry(
    mut client: TcpStream,
    to: String,
    mut cuts: watch::Receiver<bool>,
    refused: Arc<AtomicBool>,
) {
    let mut head = Vec::new();
    while !head.windows(4).any(|bytes| bytes == b"\r\n\r\n") {
        match client.read_buf(&mut head).await {
            Ok(1..) => {}
            Ok(0) | Err(_) => return,
        }
    }
    let text = String::from_utf8_lossy(&head).to_ascii_lowercase();
    let is_socket = text.contains("upgrade: websocket");
    if is_socket && *cuts.borrow() {
        refused.store(true, Ordering::SeqCst);
        return;
    }
    let Ok(mut gateway) = TcpStream::connect(to).await else {
        return;
    };
    if gateway.write_all(&head).await.is_err() {
        return;
    }
    let carried = tokio::io::copy_bidirectional(&mut client, &mut gateway);
    tokio::select! {
        _ = carried => {}
        _ = cuts.wait_for(|cuts| is_socket && *cuts) => {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn r131_with_every_websocket_cut_a_session_goes_on_over_rest() {
    let network = Network::new().await;
    let host = network.address.to_string();
    let settings = [("ESTELLE_GATEWAY_HOSTS", host.as_str())];
    let machine = Machine::start_with(&Agent::Simulator, &settings).await;
    let direct = Api::of(&machine);
    network.gateway.send_replace(direct.address.clone());
    let api = Api {
        address: host.clone(),
        ..direct.clone()
    };
    let session = api.session(&machine).await;
    let mut watcher = api.watch(&session, "").await;
    let file = machine.path("work/a.txt");
    let script = Script::new()
        .tool("Write", json!({"file_path": &file, "content": "x"}))
        .say("over and done")
        .prompt();
    let input = json!({"type": "input", "content": script, "client_message_id": "m1"});
    watcher.say(input).await;
    let asked = watcher.kind("permission_request").await;

    network.cut(true);
    assert!(watcher.end().await.is_none(), "cut without a word");
    let bearer = format!("Bearer {}", api.token);
    let path = format!("/ws/sessions/{session}");
    let again = api.knock(&path, &[("authorization", &bearer)]).await;
    assert!(again.is_err() && network.refused.load(Ordering::SeqCst));
    // What was said and perhaps not heard is said again; it runs once.
    let line = format!("POST /api/sessions/{session}/input");
    let said = json!({"content": script, "client_message_id": "m1"});
    api.done(&line, Some(said)).await;
    let whole = api
        .done(&format!("GET /api/sessions/{session}"), None)
        .await;
    let request = &whole["permissions"][0]["request_id"];
    assert_eq!(*request, asked["permission"]["request_id"]);
    let answer = json!({"action": "approve", "permission_id": request});
    api.done(
        &format!("POST /api/sessions/{session}/approve"),
        Some(answer),
    )
    .await;
    let line = format!(
        "GET /api/sessions/{session}/messages?after_seq={}",
        asked["seq"]
    );
    let answered = async {
        loop {
            let page: Value = api.done(&line, None).await;
            let messages = page["messages"].as_array().unwrap();
            if messages.iter().any(|m| m["type"] == "result") {
                return page;
            }
        }
    };
    let page = tokio::time::timeout(PATIENCE, answered).await.unwrap();
    assert!(page.to_string().contains("over and done"), "{page}");
    assert!(file.exists());
    let line = format!("GET /api/sessions/{session}/messages");
    let all = api.done(&line, None).await;
    let users = all["messages"].as_array().unwrap().iter();
    let users = users.filter(|m| m["role"] == "user" && m["type"] == "text");
    assert_eq!(users.count(), 1, "{all}");

    // When WebSockets pass again, nothing is told twice.
    network.cut(false);
    let query = format!("?after_seq={}&epoch={}", page["head_seq"], page["epoch"]);
    let mut back = api.watch(&session, &query).await;
    back.status("waiting_input").await;
    let script = Script::new().say("live again").prompt();
    back.say(json!({"type": "input", "content": script})).await;
    back.until(|m| m["type"] == "output" && m["final"] == true)
        .await;
    assert_eq!(back.text(), "live again");
}
