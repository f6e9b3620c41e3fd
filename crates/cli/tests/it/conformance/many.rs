//! Two machines, ten clients, one relay: everybody sees the same, one answer counts, rights hold, and nothing crosses
//! from one machine or realm to another.

use estelle_sim::api::RealCli;
use estelle_sim::script::Script;
use serde_json::{Value, json};

use super::all_there;
use super::house::{HOME, House};
use super::probe::{Probe, is_event};
use crate::host::stage::Agent;

/// The ids of the machines.
const MACHINES: [u32; 2] = [1, 2];

/// A conversation on one of the machines.
struct Talk {
    machine: u32,
    workspace: Value,
    id: Value,
}

impl Talk {
    async fn begin(house: &House, probe: &mut Probe, machine: u32) -> Self {
        let folder = house.work(&format!("on-{machine}"));
        let wanted = json!({"name": format!("On {machine}"), "workingDir": folder});
        let made = probe.done(machine, "workspace_create", &wanted).await;
        Self {
            machine,
            workspace: made["workspace"]["workspaceId"].clone(),
            id: made["conversation"]["conversationId"].clone(),
        }
    }

    fn with(&self, more: &Value) -> Value {
        let mut payload = json!({"workspaceId": self.workspace, "conversationId": self.id});
        for (name, value) in more.as_object().unwrap() {
            payload[name] = value.clone();
        }
        payload
    }

    /// The numbers and kinds of what a client saw of it, in order.
    fn seen(&self, probe: &Probe) -> Vec<(u64, String)> {
        let events = probe.since(0).filter(|frame| {
            frame["type"] == "claude_event" && frame["payload"]["conversationId"] == self.id
        });
        let numbered = events.filter_map(|frame| {
            assert_eq!(frame["from"]["deviceId"], self.machine, "{frame}");
            assert_eq!(frame["payload"]["workspaceId"], self.workspace, "{frame}");
            let kind = frame["payload"]["event"]["type"].as_str().unwrap();
            Some((frame["payload"]["seq"].as_u64()?, kind.to_owned()))
        });
        numbered.collect()
    }
}

async fn two_machines_and_ten_clients(agent: &Agent) {
    let mut house = House::new(agent, &[(1, "Selene"), (2, "Stella")]).await;
    let mut tokens = Vec::new();
    for number in 0..9 {
        let rights = if number < 6 {
            "view,prompt,approve"
        } else {
            "view"
        };
        tokens.push(house.app_token(HOME, &format!("Client {number}"), rights));
    }
    let neighbour = house.app_token("elsewhere", "Neighbour", "view,prompt,approve,admin");
    house.start();
    let mut clients = Vec::new();
    for token in &tokens {
        clients.push(house.app(token).await);
    }
    let mut neighbour = house.app(&neighbour).await;
    all_there(&mut clients[0], &MACHINES).await;

    let mut talks = Vec::new();
    for machine in MACHINES {
        talks.push(Talk::begin(&house, &mut clients[0], machine).await);
    }
    // Even clients look at the first conversation, odd ones at the second.
    for (number, client) in clients.iter_mut().enumerate() {
        let talk = &talks[number % 2];
        let look = talk.with(&json!({}));
        client
            .done(talk.machine, "conversation_select", &look)
            .await;
    }
    both_ask(&house, &mut clients, &talks).await;
    rights(&mut clients, &talks).await;
    one_answers(&mut clients, &talks).await;
    the_same(&house, &mut clients, &talks).await;
    nothing_crosses(&mut neighbour, &talks).await;
    house.assert_calm();
}

/// Both agents want to write a file, at the same time.
async fn both_ask(house: &House, clients: &mut [Probe], talks: &[Talk]) {
    for talk in talks {
        let file = house.work(&format!("on-{}", talk.machine)).join("a.txt");
        let script = Script::new()
            .tool("Write", json!({"file_path": file, "content": "written"}))
            .say(format!("by {}", talk.machine));
        let message = talk.with(&json!({"message": script.prompt()}));
        clients[0].done(talk.machine, "claude_send", &message).await;
    }
}

/// Who may only look can neither write nor answer.
async fn rights(clients: &mut [Probe], talks: &[Talk]) {
    let looking = clients.last_mut().unwrap();
    for talk in talks {
        let asked = looking.find_event(&talk.id, "permission_request").await;
        let call = &asked["payload"]["event"]["toolUseId"];
        let allow = talk.with(&json!({"toolUseId": call, "decision": "allow"}));
        let write = talk.with(&json!({"message": "me too"}));
        for (kind, payload) in [("claude_permission", allow), ("claude_send", write)] {
            let refused = looking.ask(talk.machine, kind, &payload).await;
            assert_eq!(refused["payload"]["errorCode"], "forbidden", "{refused}");
        }
    }
}

/// One client answers for each machine, and another one is told that it is too late.
async fn one_answers(clients: &mut [Probe], talks: &[Talk]) {
    for (talk, [first, second]) in talks.iter().zip([[2, 3], [4, 5]]) {
        let asked = clients[first]
            .find_event(&talk.id, "permission_request")
            .await;
        let call = &asked["payload"]["event"]["toolUseId"];
        let allow = talk.with(&json!({"toolUseId": call, "decision": "allow"}));
        let deny = talk.with(&json!({"toolUseId": call, "decision": "deny"}));
        // The machine that it is not on does not know it.
        let other = 3 - talk.machine;
        let stray = clients[first].ask(other, "claude_permission", &allow).await;
        assert_eq!(
            stray["payload"]["errorCode"], "unknown_conversation",
            "{stray}"
        );
        clients[first]
            .done(talk.machine, "claude_permission", &allow)
            .await;
        let late = clients[second]
            .ask(talk.machine, "claude_permission", &deny)
            .await;
        assert_eq!(late["payload"]["errorCode"], "already_answered", "{late}");
        assert_eq!(late["payload"]["answeredBy"], clients[first].id(), "{late}");
    }
}

/// Who looks has every event, in one order; who does not has those that nobody may miss; all saw the same answer.
async fn the_same(house: &House, clients: &mut [Probe], talks: &[Talk]) {
    for (number, talk) in talks.iter().enumerate() {
        for client in clients.iter_mut() {
            client.find_event(&talk.id, "result").await;
            client.find_idle(&talk.id).await;
        }
        let (looking, others): (Vec<_>, Vec<_>) =
            (0..clients.len()).partition(|client| client % 2 == number);
        let whole = talk.seen(&clients[looking[0]]);
        let dense: Vec<u64> = (1..=whole.len() as u64).collect();
        let numbers: Vec<u64> = whole.iter().map(|(seq, _)| *seq).collect();
        assert_eq!(numbers, dense, "every event once and in order: {whole:?}");
        for client in looking {
            assert_eq!(talk.seen(&clients[client]), whole);
        }
        let told = [
            "userMessage",
            "permission_request",
            "decisionAnswered",
            "state",
            "result",
        ];
        let told: Vec<_> = whole
            .iter()
            .filter(|(_, kind)| told.contains(&kind.as_str()))
            .cloned()
            .collect();
        for client in others {
            assert_eq!(talk.seen(&clients[client]), told);
        }
        let answers = |probe: &Probe| -> Vec<Value> {
            let events = probe
                .since(0)
                .filter(|frame| is_event(frame, &talk.id, "decisionAnswered"));
            events
                .map(|frame| frame["payload"]["event"].clone())
                .collect()
        };
        let first = answers(&clients[0]);
        assert_eq!(first.len(), 1);
        assert_eq!(
            (&first[0]["decision"], &first[0]["deviceId"]),
            (&json!("allow"), &json!(clients[2 + 2 * number].id()))
        );
        assert!(clients.iter().all(|client| answers(client) == first));
        let file = house.work(&format!("on-{}", talk.machine)).join("a.txt");
        assert_eq!(std::fs::read_to_string(file).unwrap(), "written");
    }
}

/// A device of another realm has heard nothing, and reaches nobody.
async fn nothing_crosses(neighbour: &mut Probe, talks: &[Talk]) {
    for talk in talks {
        let payload = talk.with(&json!({"message": "hello"}));
        let lost = neighbour.ask(talk.machine, "claude_send", &payload).await;
        assert_eq!(lost["payload"]["errorCode"], "undeliverable", "{lost}");
    }
    neighbour.fence().await;
    let mut heard = neighbour.kinds(0);
    heard.retain(|kind| !kind.starts_with("error"));
    assert_eq!(heard, ["connected", "auth_result", "device_status", "pong"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_machines_and_ten_clients_with_the_simulator() {
    two_machines_and_ten_clients(&Agent::Simulator).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_machines_and_ten_clients_with_claude_2_1_325() {
    two_machines_and_ten_clients(&Agent::Real(RealCli::v325().unwrap())).await;
}
