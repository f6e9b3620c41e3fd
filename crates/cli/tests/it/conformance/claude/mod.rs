//! Talking to the agent: every event, who gets it and in which order, decisions, stopping, and modes.

mod decisions;
mod events;
mod steering;

use estelle_sim::script::Script;
use serde_json::{Value, json};

use super::house::House;
use super::probe::{Probe, is_event, kind};
use super::shape::check;
use super::table::Book;
use super::{Cast, SELENE, places};
use decisions::{permissions, questions};
use events::check_event;
use steering::{controls, modes, trouble};

/// A conversation of the walk.
pub(super) struct Talk {
    pub(super) workspace: Value,
    pub(super) id: Value,
}

impl Talk {
    /// A new one that the owner looks at.
    pub(super) async fn begin(owner: &mut Probe, workspace: &Value, name: &str) -> Self {
        let wanted = json!({"workspaceId": workspace, "name": name, "skillType": "general"});
        let made = owner.done(SELENE, "conversation_create", &wanted).await;
        Self {
            workspace: workspace.clone(),
            id: made["conversation"]["conversationId"].clone(),
        }
    }

    pub(super) fn with(&self, more: &Value) -> Value {
        let mut payload = json!({"workspaceId": self.workspace, "conversationId": self.id});
        for (name, value) in more.as_object().unwrap() {
            payload[name] = value.clone();
        }
        payload
    }

    /// Sends a script; where the sender was before.
    pub(super) async fn send(&self, probe: &mut Probe, script: &Script) -> usize {
        let mark = probe.mark();
        let payload = self.with(&json!({"message": script.prompt()}));
        probe.done(SELENE, "claude_send", &payload).await;
        mark
    }

    pub(super) async fn idle(&self, probe: &mut Probe) {
        probe.status(&self.id, "idle").await;
    }

    /// Sends a script and waits for the end of the turn.
    pub(super) async fn turn(&self, probe: &mut Probe, script: &Script) -> usize {
        let mark = self.send(probe, script).await;
        probe.event(&self.id, "result").await;
        self.idle(probe).await;
        mark
    }

    /// The events of one kind since then.
    pub(super) fn events(&self, probe: &Probe, mark: usize, kind: &str) -> Vec<Value> {
        let events = probe
            .since(mark)
            .filter(|frame| is_event(frame, &self.id, kind));
        events
            .map(|frame| frame["payload"]["event"].clone())
            .collect()
    }
}

pub(super) async fn chapter(house: &House, cast: &mut Cast, book: &mut Book) {
    let listed = cast.owner.ask(SELENE, "workspace_list", &json!({})).await;
    let workspace = listed["payload"]["workspaces"][0]["workspaceId"].clone();
    let talk = Talk::begin(&mut cast.owner, &workspace, "Talk").await;
    a_turn(cast, &talk).await;
    book.shows("claude", [33, 34, 35, 36, 38, 39]);
    tools(house, cast, &talk).await;
    book.shows("claude", [29, 37, 40, 41, 42, 44, 45]);
    permissions(house, cast, &talk).await;
    book.shows("claude", [47]);
    questions(cast, &talk).await;
    book.shows("claude", [43, 48]);
    trouble(cast, &workspace).await;
    book.shows("claude", [46]);
    controls(house, cast, &talk).await;
    book.shows("claude", [49]);
    modes(house, cast, &workspace).await;
    book.shows("claude", [50]);
    for (_, frame) in cast
        .owner
        .seen
        .iter()
        .filter(|(_, frame)| frame["type"] == "claude_event")
    {
        check_event(frame);
    }
}

/// What an app that looks gets of one turn, what one gets that does not, and the same message again.
async fn a_turn(cast: &mut Cast, talk: &Talk) {
    let (mark, other) = (cast.owner.mark(), cast.viewer.mark());
    let script = Script::new().think_and_say("hm", "one two three").prompt();
    let message = talk.with(&json!({"message": &script, "clientMessageId": "m-1"}));
    let sent = cast.owner.done(SELENE, "claude_send", &message).await;
    let shape = json!({
        "deviceId": "count", "conversationId": "id", "success": "bool", "clientMessageId": "m-1",
        "seq": "count", "requestId": "id",
    });
    check(&sent, &shape);
    cast.owner.event(&talk.id, "result").await;
    talk.idle(&mut cast.owner).await;
    talk.idle(&mut cast.viewer).await;
    let (start, end) = (
        ["userMessage", "state working", "init"],
        ["result", "state idle"],
    );
    let kinds = [&start[..], &["text", "textComplete"], &end].concat();
    let order = order(&cast.owner, mark, &kinds);
    assert!(order.is_sorted(), "{order:?} of {kinds:?}");
    let pieces = talk.events(&cast.owner, mark, "text");
    let pieces = pieces
        .iter()
        .map(|event| event["content"].as_str().unwrap());
    assert_eq!(pieces.collect::<String>(), "one two three");
    let whole = talk.events(&cast.owner, mark, "textComplete");
    assert_eq!(whole[0]["text"], "one two three");
    for (probe, mark) in [(&cast.owner, mark), (&cast.viewer, other)] {
        let said = talk.events(probe, mark, "userMessage");
        let expected = json!({
            "type": "userMessage", "content": script, "timestamp": said[0]["timestamp"],
            "clientMessageId": "m-1", "deviceId": cast.owner.id(),
            "author": {"deviceKey": said[0]["author"]["deviceKey"], "name": "Owner"},
        });
        assert_eq!(said, [expected]);
    }
    not_looking(&cast.viewer.kinds(other));

    let mark = cast.owner.mark();
    let again = cast.owner.done(SELENE, "claude_send", &message).await;
    assert_eq!(again["seq"], sent["seq"], "it has its number already");
    talk.turn(&mut cast.owner, &Script::new().say("next")).await;
    talk.idle(&mut cast.viewer).await;
    let said = talk.events(&cast.owner, mark, "userMessage");
    assert_eq!(said.len(), 1, "the first one ran once");
}

/// Who does not look hears what a person must not miss, and no pieces.
fn not_looking(heard: &[String]) {
    let has = |kind: &str| heard.iter().any(|heard| heard == kind);
    for kind in [
        "state working",
        "status working",
        "result",
        "state idle",
        "status idle",
    ] {
        assert!(has(kind), "{kind} is not in {heard:#?}");
    }
    for kind in ["init", "text", "textComplete", "stateUpdate"] {
        assert!(!has(kind), "{kind} is in {heard:#?}");
    }
}

/// Where each kind came first.
#[track_caller]
fn order(probe: &Probe, mark: usize, kinds: &[&str]) -> Vec<usize> {
    let came = probe.kinds(mark);
    let place = |kind: &&str| {
        let place = came.iter().position(|came| came == kind);
        place.unwrap_or_else(|| panic!("no `{kind}` in {came:#?}"))
    };
    kinds.iter().map(place).collect()
}

/// Tools that run at once and that are asked about; long results are cut.
async fn tools(house: &House, cast: &mut Cast, talk: &Talk) {
    let long = house.work("one").join("long.txt");
    std::fs::write(&long, "별".repeat(3000)).unwrap();
    let file = house.work("one").join("a.txt");
    let script = Script::new()
        .tool("Read", json!({"file_path": long}))
        .tool("Write", json!({"file_path": file, "content": "written"}))
        .say("done");
    let other = cast.viewer.mark();
    let mark = talk.send(&mut cast.owner, &script).await;
    let asked = cast.owner.event(&talk.id, "permission_request").await;
    let asked = &asked["payload"]["event"];
    assert_eq!(asked["toolName"], "Write");
    assert_eq!(asked["toolInput"]["content"], "written");
    let waits = cast.viewer.status(&talk.id, "permission").await;
    let shape = json!({
        "deviceId": "count", "conversationId": "id", "status": "permission", "workspaceId?": "id",
        "unread?": "bool", "seq?": "count", "process?": places::process(), "activity?": places::activity(),
    });
    check(&waits["payload"], &shape);
    assert_eq!(waits["broadcast"], "clients");
    asked_again(house, cast, talk, &asked["toolUseId"]).await;
    assert!(!file.exists(), "nothing runs without an answer");

    let answer = talk.with(&json!({"toolUseId": asked["toolUseId"], "decision": "allow"}));
    let answered = cast.phone.done(SELENE, "claude_permission", &answer).await;
    check(&answered, &answered_shape());
    cast.owner.event(&talk.id, "result").await;
    talk.idle(&mut cast.owner).await;
    talk.idle(&mut cast.viewer).await;
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "written");
    let late = cast.owner.ask(SELENE, "claude_permission", &answer).await;
    assert_eq!(late["payload"]["errorCode"], "already_answered", "{late}");
    assert_eq!(late["payload"]["answeredBy"], cast.phone.id(), "{late}");
    of_tools(cast, talk, mark);
    states(cast, other);
}

/// The answer to an answer.
fn answered_shape() -> Value {
    json!({
        "deviceId": "count", "conversationId": "id", "toolUseId": "id", "success": "bool", "requestId": "id",
        "answeredBy?": "count", "answeredAt?": "ms",
    })
}

/// Whoever comes, and whoever looks, is asked again.
async fn asked_again(house: &House, cast: &Cast, talk: &Talk, asked: &Value) {
    let mut late = house.app(&cast.tokens.phone).await;
    late.ask(SELENE, "workspace_list", &json!({})).await;
    late.event(&talk.id, "permission_request").await;
    let look = talk.with(&json!({}));
    late.done(SELENE, "conversation_select", &look).await;
    let again = late.event(&talk.id, "permission_request").await;
    assert_eq!(again["payload"]["event"]["toolUseId"], *asked);
}

/// What the owner, who looks, saw of the tools and of the end.
fn of_tools(cast: &Cast, talk: &Talk, mark: usize) {
    let back = talk.events(&cast.owner, mark, "toolComplete");
    let length = |text: &Value| text.as_str().unwrap().chars().count();
    assert_eq!(
        (&back[0]["success"], length(&back[0]["result"])),
        (&json!(true), 1000)
    );
    assert!(back[0]["error"].is_null() && back[1]["error"].is_null());
    let kinds = [
        "toolInfo",
        "toolComplete",
        "permission_request",
        "state permission",
    ];
    let kinds = [&kinds[..], &["decisionAnswered answered", "result"]].concat();
    let order = order(&cast.owner, mark, &kinds);
    assert!(order.is_sorted(), "{order:?} of {kinds:?}");
    let activities = talk.events(&cast.owner, 0, "stateUpdate");
    for activity in ["thinking", "responding", "tool"] {
        let is_it = |event: &Value| event["state"]["type"] == activity;
        assert!(activities.iter().any(is_it), "{activity}");
    }
    let result = &talk.events(&cast.owner, mark, "result")[0];
    assert_eq!(result["subtype"], "success");
    for count in [&result["usage"]["outputTokens"], &result["num_turns"]] {
        assert!(count.as_u64().unwrap() > 0, "{result}");
    }
}

/// Each state is told twice, as an event and to all clients, in one order.
fn states(cast: &Cast, mark: usize) {
    // That there is something new is told in between, to those who look elsewhere.
    let told = cast.viewer.since(mark);
    let told = told.filter(|frame| frame["payload"]["unread"].is_null());
    let mut told: Vec<_> = told
        .map(kind)
        .filter(|kind| kind.starts_with("stat"))
        .collect();
    // A state is told again whenever the agent is at something else.
    told.dedup();
    let expected = ["working", "permission", "working", "idle"];
    let expected = expected.iter();
    let expected = expected.flat_map(|state| [format!("state {state}"), format!("status {state}")]);
    assert_eq!(told, expected.collect::<Vec<_>>());
}
