//! `estelle up` from end to end: a device that was let in, the relay, the Pylon, the host and an agent; and what happens
//! when `up` or the host is killed with -9 in the middle of it.

mod attached;
mod budgeted;
pub(crate) mod client;
mod continued;
mod devices;
mod forks;
mod killed;
pub(crate) mod limits;
mod notified;
mod removed;
mod rewinds;
mod saved;
mod secured;
pub(crate) mod stage;
mod turns;

use estelle_sim::api::RealCli;
use estelle_sim::script::Script;
use serde_json::{Value, json};

use crate::host::stage::Agent;
use client::Client;
use stage::Machine;

/// A conversation that somebody looks at.
pub(crate) struct Talk {
    pub(crate) client: Client,
    workspace: Value,
    conversation: Value,
}

impl Talk {
    /// Makes a workspace and looks at its first conversation.
    pub(crate) async fn begin(machine: &Machine) -> Self {
        let mut client = machine.connect(&machine.phone).await;
        let folder = machine.path("work");
        let wanted = json!({"name": "Project", "workingDir": folder});
        let made = client.done("workspace_create", wanted).await;
        let (workspace, conversation) = (
            made["workspace"]["workspaceId"].clone(),
            made["conversation"]["conversationId"].clone(),
        );
        let mut talk = Self {
            client,
            workspace,
            conversation,
        };
        talk.look().await;
        talk
    }

    /// Comes back with the same secret, after everything was started anew.
    pub(crate) async fn again(self, machine: &Machine) -> Self {
        let client = machine.connect(&machine.phone).await;
        Self { client, ..self }
    }

    fn payload(&self, more: &Value) -> Value {
        let mut payload =
            json!({"workspaceId": self.workspace, "conversationId": self.conversation});
        for (name, value) in more.as_object().unwrap() {
            payload[name] = value.clone();
        }
        payload
    }

    /// Looks at the conversation; the answer is its newest page.
    pub(crate) async fn look(&mut self) -> Value {
        let payload = self.payload(&json!({}));
        self.client
            .brings_about("conversation_select", payload)
            .await
    }

    pub(crate) async fn send(&mut self, script: &str, name: &str) {
        let payload = self.payload(&json!({"message": script, "clientMessageId": name}));
        let sent = self.client.brings_about("claude_send", payload).await;
        assert_eq!(sent["clientMessageId"], name);
    }

    pub(crate) async fn allow(&mut self, tool_use_id: &Value) -> Value {
        let payload = self.payload(&json!({"toolUseId": tool_use_id, "decision": "allow"}));
        self.client.ask("claude_permission", payload).await
    }

    /// The whole history, as soon as it is as long as this: a Pylon that has just started may still have to read it.
    pub(crate) async fn history_of(&mut self, length: usize) -> Vec<String> {
        loop {
            let history = self.history().await;
            if history.len() >= length {
                return history;
            }
        }
    }

    /// The whole history, as kinds with their texts.
    pub(crate) async fn history(&mut self) -> Vec<String> {
        let payload = self.payload(&json!({"limit": 50, "offset": 0}));
        let page = self.client.done("history_request", payload).await;
        assert_eq!(page["hasMore"], false);
        let entries = page["messages"].as_array().unwrap();
        assert_eq!(page["totalCount"], entries.len());
        let short = entries.iter().map(|entry| {
            let kind = entry["type"].as_str().unwrap();
            match kind {
                "text" => format!("{}: {}", entry["role"].as_str().unwrap(), said(entry)),
                "tool_start" | "tool_complete" => {
                    format!("{kind} {}", entry["toolName"].as_str().unwrap())
                }
                other => other.to_owned(),
            }
        });
        short.collect()
    }
}

/// The text of an entry; a script stands for itself.
fn said(entry: &Value) -> String {
    let text = entry["content"].as_str().unwrap();
    let is_script = text.contains("SCRIPT:");
    if is_script {
        "<script>".to_owned()
    } else {
        text.to_owned()
    }
}

/// A text in four pieces, with a gate before the second.
pub(crate) fn half_said(text: &str) -> String {
    let script = Script::new().say(text).gated_at("half", 1);
    script
        .prompt()
        .replacen("\"say\":", "\"chunks\":4,\"say\":", 1)
}

async fn the_main_path(agent: &Agent) {
    let machine = Machine::start(agent).await;
    let is_simulated = matches!(agent, Agent::Simulator);
    assert_eq!(machine.greeting["agent"]["simulated"], is_simulated);
    let mut talk = Talk::begin(&machine).await;
    let list = talk.client.done("workspace_list", json!({})).await;
    assert_eq!(list["workspaces"][0]["name"], "Project");
    assert_eq!(
        list["workspaces"][0]["conversations"][0]["conversationId"],
        talk.conversation
    );

    let file = machine.path("work/a.txt");
    let script = Script::new()
        .tool("Write", json!({"file_path": &file, "content": "written"}))
        .say("it is done");
    talk.send(&script.prompt(), "m1").await;
    let asked = talk.client.event("permission_request").await;
    assert_eq!(asked["toolName"], "Write");
    assert!(!file.exists(), "nothing runs without an answer");
    let answered = talk.allow(&asked["toolUseId"]).await;
    assert_eq!(answered["success"], true, "{answered}");
    let result = talk.client.event("result").await;
    assert_eq!(result["subtype"], "success");
    talk.client.idle().await;
    // Not before the end of the turn: whoever waits for this answer passes over what comes before it.
    let late = talk.allow(&asked["toolUseId"]).await;
    assert_eq!(late["errorCode"], "already_answered", "{late}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "written");

    // The same message again, as after a lost connection, runs once.
    talk.send(&script.prompt(), "m1").await;
    let expected = [
        "user: <script>",
        "tool_start Write",
        "user_response",
        "tool_complete Write",
        "assistant: it is done",
        "result",
    ];
    assert_eq!(talk.history().await, expected);
    let numbers = talk.client.numbers();
    let dense: Vec<u64> = (1..=numbers.len() as u64).collect();
    assert_eq!(numbers, dense, "every event once and in order");
    let texts = talk.client.seen.iter();
    let texts = texts.filter(|frame| frame["payload"]["event"]["type"] == "text");
    let streamed: String = texts
        .map(|frame| frame["payload"]["event"]["content"].as_str().unwrap())
        .collect();
    assert_eq!(streamed, "it is done", "the answer comes in pieces as well");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_main_path_with_the_simulator() {
    the_main_path(&Agent::Simulator).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_main_path_with_claude_2_1_197() {
    the_main_path(&Agent::Real(RealCli::v197().unwrap())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_main_path_with_claude_2_1_325() {
    the_main_path(&Agent::Real(RealCli::v325().unwrap())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_one_on_the_same_folder_is_told_about_the_first() {
    let machine = Machine::start(&Agent::Simulator).await;
    let second = machine.command(&["up", "--demo", "--listen", "127.0.0.1:0"]);
    let second = { second }.output().unwrap();
    assert!(!second.status.success());
    let told = String::from_utf8(second.stderr).unwrap();
    assert!(told.contains("runs already on"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_without_the_right_is_refused() {
    let machine = Machine::start(&Agent::Simulator).await;
    let mut client = machine.connect(&machine.viewer).await;
    let wanted = json!({"name": "Project", "workingDir": machine.path("work")});
    let refused = client.ask("workspace_create", wanted).await;
    assert_eq!(refused["errorCode"], "forbidden", "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn folders_are_shown_at_home_and_nowhere_else_unless_it_is_said() {
    let machine = Machine::start(&Agent::Simulator).await;
    let home = machine.path("home").canonicalize().unwrap();
    for folder in ["garden", ".config/inner"] {
        std::fs::create_dir_all(home.join(folder)).unwrap();
    }
    let mut client = machine.connect(&machine.phone).await;
    let usual = client.done("folder_list", json!({})).await;
    assert_eq!(usual["path"], json!(home));
    assert_eq!(usual["folders"], json!(["garden"]));
    assert_eq!(usual["drives"][0]["path"], json!(home), "{usual}");
    assert_eq!(usual["drives"].as_array().unwrap().len(), 1);
    client
        .done("folder_list", json!({"path": home.join("garden")}))
        .await;
    let hidden = [home.join(".config"), home.join(".config/inner")];
    for path in hidden.into_iter().chain(["/".into(), "/etc".into()]) {
        let refused = client.ask("folder_list", json!({"path": path})).await;
        assert_eq!(refused["errorCode"], "bad_path", "{refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_claude_the_simulated_agent_answers_and_it_is_said() {
    let nothing = tempfile::tempdir().unwrap();
    let path = nothing.path().to_str().unwrap();
    let machine = Machine::start_unsaid(&[("PATH", path)]);
    assert_eq!(machine.greeting["agent"]["simulated"], true);
    let mut talk = Talk::begin(&machine).await;
    let script = Script::new().say("nobody is needed for this");
    talk.send(&script.prompt(), "m1").await;
    let said = talk.client.event("textComplete").await;
    assert_eq!(said["text"], "nobody is needed for this");
    let result = talk.client.event("result").await;
    assert_eq!(result["subtype"], "success");
}
