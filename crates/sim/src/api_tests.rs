//! The server as a client on the same machine sees it, one plain connection at a time.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::*;
use crate::script::Script;

struct Answered {
    status: u16,
    head: String,
    body: String,
}

impl Answered {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect("JSON")
    }

    /// The names of the events and the text of the text deltas.
    fn events(&self) -> (Vec<&str>, String) {
        let names = self
            .body
            .lines()
            .filter_map(|line| line.strip_prefix("event: "))
            .collect();
        let data = self
            .body
            .lines()
            .filter_map(|line| line.strip_prefix("data: "));
        let text = data.filter_map(|data| {
            let data: Value = serde_json::from_str(data).ok()?;
            data.pointer("/delta/text")
                .and_then(Value::as_str)
                .map(str::to_owned)
        });
        (names, text.collect())
    }
}

async fn connect(api: &FakeApi) -> TcpStream {
    let address = api.url().strip_prefix("http://").expect("a plain URL");
    TcpStream::connect(address).await.expect("connected")
}

async fn request(api: &FakeApi, method: &str, path: &str, body: &str) -> Answered {
    let mut stream = connect(api).await;
    // The older protocol version keeps the body free of chunk framing.
    let length = body.len();
    let text = format!(
        "{method} {path} HTTP/1.0\r\ncontent-length: {length}\r\nx-claude-code-session-id: s\r\n\r\n{body}"
    );
    stream.write_all(text.as_bytes()).await.expect("sent");
    read(&mut stream).await
}

async fn read(stream: &mut TcpStream) -> Answered {
    let mut text = String::new();
    // A cut connection is an end like any other here.
    let _ = stream.read_to_string(&mut text).await;
    let (head, body) = text.split_once("\r\n\r\n").expect("a response");
    let status = head
        .split(' ')
        .nth(1)
        .expect("a status")
        .parse()
        .expect("a number");
    Answered {
        status,
        head: head.to_owned(),
        body: body.to_owned(),
    }
}

/// What comes until the connection ends, which must be soon; how it ends does not matter.
async fn rest(stream: &mut TcpStream) -> Vec<u8> {
    let mut rest = Vec::new();
    let ended = tokio::time::timeout(
        std::time::Duration::from_secs(10),
        stream.read_to_end(&mut rest),
    )
    .await;
    assert!(ended.is_ok(), "the connection did not end");
    rest
}

fn body(messages: &Value, stream: bool) -> String {
    json!({"model": "claude-test", "max_tokens": 9, "stream": stream, "messages": messages})
        .to_string()
}

async fn ask(api: &FakeApi, messages: &Value) -> Answered {
    request(
        api,
        "POST",
        "/v1/messages?beta=true",
        &body(messages, false),
    )
    .await
}

async fn said(api: &FakeApi, messages: &Value) -> String {
    let answer = ask(api, messages).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.json()["content"][0]["text"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

async fn start() -> FakeApi {
    FakeApi::start(Config::default()).await.expect("started")
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": [{"type": "text", "text": text}]})
}

fn assistant() -> Value {
    json!({"role": "assistant", "content": [{"type": "text", "text": "whatever"}]})
}

fn tool_result(with: &str) -> Value {
    json!({"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": "SCRIPT:[{\"say\":\"from a tool\"}]"},
        {"type": "text", "text": with},
    ]})
}

#[tokio::test]
async fn the_history_alone_says_which_step_answers() {
    let api = start().await;
    let script = user(&Script::new().say("one").say("two").prompt_after("please "));
    let reminder = "<system-reminder>SCRIPT:[{\"say\":\"reminded\"}]</system-reminder>";
    assert_eq!(said(&api, &json!([user("hello")])).await, "ok");
    assert_eq!(said(&api, &json!([script])).await, "one");
    assert_eq!(
        said(
            &api,
            &json!([script, {"role": "system", "content": "x"}, assistant(), tool_result(reminder)])
        )
        .await,
        "two"
    );
    assert_eq!(
        said(
            &api,
            &json!([
                script,
                assistant(),
                tool_result("injected, without a script")
            ])
        )
        .await,
        "two"
    );
    assert_eq!(
        said(
            &api,
            &json!([script, assistant(), user("Stop hook feedback:\nmore")])
        )
        .await,
        "two"
    );
    assert_eq!(
        said(&api, &json!([script, assistant(), assistant()])).await,
        "[script end]"
    );
    assert_eq!(
        said(&api, &json!([script, assistant(), user("and now?")])).await,
        "ok"
    );
    let newer = user(&Script::new().say("newer").prompt());
    assert_eq!(
        said(&api, &json!([script, assistant(), newer])).await,
        "newer"
    );
    let amid = |text: &str| json!({"role": "system", "content": format!("The user sent a new message while you were working:\n{text}\n\nDo.")});
    let injected = amid(&Script::new().say("injected").prompt());
    assert_eq!(
        said(
            &api,
            &json!([script, assistant(), tool_result(""), injected])
        )
        .await,
        "injected"
    );
    assert_eq!(
        said(
            &api,
            &json!([script, assistant(), tool_result(""), amid("hurry")])
        )
        .await,
        "two"
    );
    let broken = said(&api, &json!([user("SCRIPT:[{\"sya\":1}]")])).await;
    assert_eq!(
        broken,
        "[script error] step 0 cannot be read: unknown step \"sya\""
    );
    assert!(
        said(&api, &json!([user("SCRIPT:[{\"stall\":true}]")]))
            .await
            .contains("only the simulated CLI")
    );
}

#[tokio::test]
async fn side_requests_leave_the_script_alone() {
    let api = start().await;
    let script = user("SCRIPT:[{\"http\":429,\"times\":1},{\"say\":\"main\"}]");
    let summary = json!([script, user("CRITICAL: Respond with TEXT ONLY. Summarise.")]);
    assert!(said(&api, &summary).await.contains("<summary>"));
    let aside = json!([
        script,
        user("<system-reminder>This is a side question from the user.</system-reminder>why?")
    ]);
    assert_eq!(said(&api, &aside).await, "ok");
    let probe = json!({"max_tokens": 1, "messages": [script]}).to_string();
    assert_eq!(
        request(&api, "POST", "/v1/messages", &probe).await.status,
        200
    );
    let title =
        json!({"max_tokens": 9, "system": "Write a title.", "messages": [script]}).to_string();
    assert!(
        request(&api, "POST", "/v1/messages", &title)
            .await
            .body
            .contains("Scripted conversation")
    );
    let kinds: Vec<Option<Kind>> = api.requests().iter().map(|request| request.kind).collect();
    assert_eq!(
        kinds,
        [Kind::Summary, Kind::SideQuestion, Kind::Probe, Kind::Title].map(Some)
    );
    assert_eq!(ask(&api, &json!([script])).await.status, 429);
}

#[tokio::test]
async fn an_error_is_given_as_often_as_the_step_says() {
    let api = start().await;
    let once = json!([user(
        "SCRIPT:[{\"http\":529,\"etype\":\"overloaded_error\",\"msg\":\"busy\",\"times\":2,\"hdr\":{\"retry-after\":\"3\"}}]"
    )]);
    for _ in 0..2 {
        let answer = ask(&api, &once).await;
        assert_eq!(answer.status, 529);
        assert!(answer.head.contains("retry-after: 3"), "{}", answer.head);
        assert_eq!(
            answer.json(),
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}})
        );
    }
    assert_eq!(said(&api, &once).await, "recovered after 2");
    let other_prompt = json!([user("hi"), assistant(), once[0]]);
    assert_eq!(ask(&api, &other_prompt).await.status, 529);
    let forever = json!([user(
        &Script::new().http(403, "permission_error", "no").prompt()
    )]);
    for _ in 0..3 {
        assert_eq!(ask(&api, &forever).await.status, 403);
    }
}

#[tokio::test]
async fn a_stream_can_be_whole_malformed_or_cut() {
    let api = start().await;
    let mut streams = Vec::new();
    for prompt in [
        "SCRIPT:[{\"say\":\"hello\"}]",
        "SCRIPT:[{\"malformed\":\"event: message_start\\ndata: {broken\\n\\n\"}]",
        "SCRIPT:[{\"say\":\"hello\",\"drop\":true}]",
    ] {
        streams.push(
            request(
                &api,
                "POST",
                "/v1/messages",
                &body(&json!([user(prompt)]), true),
            )
            .await,
        );
    }
    let (names, text) = streams[0].events();
    assert_eq!((names.len(), text.as_str()), (8, "hello"));
    assert_eq!(names.last(), Some(&"message_stop"));
    assert_eq!(streams[1].body, "event: message_start\ndata: {broken\n\n");
    let (names, text) = streams[2].events();
    assert_eq!(
        (names.last(), text.as_str()),
        (Some(&"content_block_delta"), "hello")
    );
}

#[tokio::test]
async fn a_gate_holds_the_stream_in_the_middle() {
    let api = start().await;
    let script = Script::new().say("hello").gated_at("go", 1);
    let body = body(&json!([user(&script.prompt())]), true);
    let mut stream = connect(&api).await;
    let text = format!(
        "POST /v1/messages HTTP/1.0\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(text.as_bytes()).await.expect("sent");
    let mut early = Vec::new();
    while !String::from_utf8_lossy(&early).contains("text_delta") {
        assert!(
            stream.read_buf(&mut early).await.expect("read") > 0,
            "the stream ended before the gate"
        );
    }
    assert!(!String::from_utf8_lossy(&early).contains("message_stop"));
    api.open("go").expect("opened");
    let mut late = String::new();
    stream.read_to_string(&mut late).await.expect("read");
    assert!(late.contains("message_stop"));
}

#[tokio::test]
async fn dropping_the_handle_cuts_a_held_response() {
    let api = start().await;
    let script = Script::new().say("hello").gated("never");
    let body = body(&json!([user(&script.prompt())]), true);
    let mut stream = connect(&api).await;
    let text = format!(
        "POST /v1/messages HTTP/1.0\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(text.as_bytes()).await.expect("sent");
    api.wait_for_request(|request| request.path == "/v1/messages")
        .await;
    drop(api);
    let rest = rest(&mut stream).await;
    assert!(!String::from_utf8_lossy(&rest).contains("message_stop"));
}

#[tokio::test]
async fn dropping_the_handle_ends_a_half_sent_request() {
    let api = start().await;
    let mut stream = connect(&api).await;
    // The interim response proves that the server has taken the request and waits for its body.
    let head = b"POST /v1/messages HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 100\r\n\r\n";
    stream.write_all(head).await.expect("sent");
    let mut interim = Vec::new();
    while !interim.ends_with(b"\r\n\r\n") {
        assert!(stream.read_buf(&mut interim).await.expect("read") > 0);
    }
    drop(api);
    assert!(!String::from_utf8_lossy(&rest(&mut stream).await).contains("200 OK"));
}

#[tokio::test]
async fn connections_beyond_the_limit_wait_for_their_turn() {
    let api = FakeApi::start(Config {
        max_connections: 1,
        ..Config::default()
    })
    .await
    .expect("started");
    let mut first = connect(&api).await;
    first
        .write_all(b"HEAD / HTTP/1.1\r\nhost: x\r\n\r\n")
        .await
        .expect("sent");
    api.wait_for_request(|request| request.method == "HEAD")
        .await;
    let second = request(&api, "GET", "/v1/models", "");
    tokio::pin!(second);
    let early = tokio::time::timeout(std::time::Duration::from_millis(50), &mut second).await;
    assert!(
        early.is_err(),
        "the second connection was served beside the first"
    );
    drop(first);
    assert_eq!(second.await.status, 200);
}

#[tokio::test]
async fn the_other_paths_answer_in_the_shape_of_the_api() {
    let api = FakeApi::start(Config {
        max_body: 1000,
        ..Config::default()
    })
    .await
    .expect("started");
    assert_eq!(request(&api, "HEAD", "/", "").await.status, 200);
    assert_eq!(
        request(&api, "GET", "/v1/models", "").await.json()["data"][0]["type"],
        "model"
    );
    let counted = request(&api, "POST", "/v1/messages/count_tokens", "{}").await;
    assert_eq!(counted.json(), json!({"input_tokens": 100}));
    for (path, body, status, kind) in [
        ("/v1/nothing", "{}", 404, "not_found_error"),
        ("/v1/messages", "{", 400, "invalid_request_error"),
        ("/v1/messages", &"x".repeat(2000), 413, "request_too_large"),
    ] {
        let answer = request(&api, "POST", path, body).await;
        assert_eq!(
            (answer.status, answer.json()["error"]["type"].as_str()),
            (status, Some(kind))
        );
    }
}

#[tokio::test]
async fn ids_follow_from_the_seed() {
    async fn ids(seed: u64) -> Vec<Value> {
        let api = FakeApi::start(Config {
            seed,
            ..Config::default()
        })
        .await
        .expect("started");
        let messages = json!([user(
            "SCRIPT:[{\"tools\":[{\"tool\":\"A\"},{\"tool\":\"B\"}]}]"
        )]);
        let first = ask(&api, &messages).await.json();
        let second = ask(&api, &messages).await.json();
        let calls = [
            first["content"][0]["id"].clone(),
            first["content"][1]["id"].clone(),
        ];
        [first["id"].clone(), second["id"].clone()]
            .into_iter()
            .chain(calls)
            .collect()
    }
    let once = ids(7).await;
    assert_eq!(once, ids(7).await);
    assert_ne!(once, ids(8).await);
    assert_ne!(once[0], once[1]);
    assert_ne!(once[2], once[3]);
}
