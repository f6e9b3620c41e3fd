//! The desk between a host and a relay: what clients ask for is done, and what happens is told to whom it concerns.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use estelle_proto::auth::DeviceStatus;
use estelle_proto::claude::{ClaudeControl, ClaudeSend};
use estelle_proto::conversations::{
    ConversationCreate, ConversationDelete, ConversationFork, ConversationSelect,
};
use estelle_proto::decisions::ClaudePermission;
use estelle_proto::events::{PermissionAsked, StateChanged, TextDelta};
use estelle_proto::history::{HistoryRequest, HistoryResult};
use estelle_proto::workspaces::{PylonInfo, WorkspaceCreate, WorkspaceDelete, WorkspaceList};
use estelle_proto::writing::{BlockKind, OpenBlock};
use estelle_proto::{
    Broadcast, ClaudeEvent, ClientMessageId, ConnectedDevice, ControlAction, ConversationId,
    ConversationStatus, DeviceId, DeviceType, Envelope, Epoch, ErrorCode, Generation,
    HistoryMessage, IsoTime, Json, Message as _, Name, PathText, PermissionDecision, Prompt,
    PylonToApp, Reply as _, RequestId, Right, Seq, SkillType, To, ToolUseId, WorkspaceId,
};
use estelle_pylon::deploy::{Commands, DeployConfig, Language};
use estelle_pylon::desk::{self, DeskConfig, DeskParts};
use estelle_pylon::files::Guard;
use estelle_pylon::git::Git;
use estelle_pylon::link::host::{HostConfig, HostLink};
use estelle_pylon::link::relay::{RelayConfig, RelayLink};
use estelle_pylon::release::{Place, Release, Releases};
use estelle_pylon::store::Store;
use estelle_state::link::Pace;
use estelle_state::policy::DenyPatterns;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use crate::peers::host::FakeHost;
use crate::peers::relay::{Call, FakeRelay};

/// A pylon's life.
struct Pylon {
    store: Store,
    tasks: TaskTracker,
    stop: DropGuard,
}

impl Pylon {
    fn start(folder: &Path, host: &FakeHost, relay: RelayConfig) -> Self {
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let mut config = HostConfig::new(host.socket.clone(), "test".to_owned());
        config.pace = Pace {
            first: Duration::from_millis(2),
            cap: Duration::from_millis(8),
            steady: Duration::from_secs(1),
        };
        config.reply_within = Duration::from_secs(2);
        let (host, from_host) = HostLink::spawn(config, &tasks, stop.clone());
        let (_, from_relay) = RelayLink::spawn(relay, &tasks, stop.clone());
        let store = Store::open(&folder.join("pylon")).unwrap();
        let parts = DeskParts {
            store: store.clone(),
            host,
            from_host,
            from_relay,
            deploy: deploy(folder),
        };
        let config = DeskConfig {
            device_id: DeviceId(1),
            info: PylonInfo::new("Selene".to_owned(), "🌙".to_owned()),
            build: "test".to_owned(),
            roots: vec![folder.to_owned()],
            first_conversation: Name::parse("first").unwrap(),
            bugs: folder.join("bugs"),
            releases: Releases {
                place: Place::File(folder.join("deploy.json")),
                apk_url: Some("https://example.org/app.apk".to_owned()),
                exe_url: None,
            },
            guard: Guard::new(DenyPatterns::default(), folder),
            git: Git::default(),
        };
        desk::spawn(config, parts, &tasks, stop.clone());
        let stop = stop.drop_guard();
        Self { store, tasks, stop }
    }

    async fn end(self) {
        drop(self.stop);
        self.tasks.close();
        self.tasks.wait().await;
        self.store.close().await;
    }
}

/// Nothing is deployed in these tests.
fn deploy(folder: &Path) -> DeployConfig {
    DeployConfig {
        device_id: DeviceId(1),
        folder: folder.join("deploy"),
        repository: None,
        branch: "main".to_owned(),
        remote: None,
        commands: Commands::default(),
        step_limit: Duration::from_mins(1),
        releases: Releases {
            place: Place::File(folder.join("deploy.json")),
            apk_url: None,
            exe_url: None,
        },
        language: Language::English,
        program: folder.join("estelle"),
        running: Release::default(),
        leash: Vec::new(),
        trial: Vec::new(),
        becoming: tokio::sync::mpsc::channel(1).0,
    }
}

/// Everything, with a relay that has let the pylon in.
pub(crate) struct Scene {
    pub(crate) host: FakeHost,
    pub(crate) relay: FakeRelay,
    config: RelayConfig,
    pub(crate) call: Call,
    pylon: Option<Pylon>,
    folder: tempfile::TempDir,
    /// The newest event of each conversation that was told, or is in a page.
    seen: BTreeMap<ConversationId, Seq>,
}

pub(crate) type Told = Envelope<PylonToApp>;

impl Scene {
    pub(crate) async fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("work")).unwrap();
        let host = FakeHost::start(0);
        let (relay, config) = FakeRelay::start().await;
        let pylon = Pylon::start(folder.path(), &host, config.clone());
        let call = relay.let_in().await;
        let mut scene = Self {
            host,
            relay,
            config,
            call,
            pylon: Some(pylon),
            folder,
            seen: BTreeMap::new(),
        };
        scene.clients(&[100, 101]).await;
        scene
    }

    /// The pylon ends and another one begins, in the same folder.
    pub(crate) async fn restart(&mut self) {
        let fresh = || Pylon::start(self.folder.path(), &self.host, self.config.clone());
        if let Some(pylon) = self.pylon.take() {
            pylon.end().await;
        }
        self.pylon = Some(fresh());
        self.call = self.relay.let_in().await;
    }

    /// The memory of the pylon that runs.
    pub(crate) fn store(&self) -> &Store {
        &self.pylon.as_ref().unwrap().store
    }

    /// The relay says who is there.
    pub(crate) async fn clients(&mut self, apps: &[u32]) {
        let device = |app: &u32| {
            let at = IsoTime::parse("2026-01-01T00:00:00Z").unwrap();
            let (id, text) = (DeviceId(*app), String::new);
            ConnectedDevice::new(id, DeviceType::App, text(), text(), text(), at)
        };
        self.call
            .say(DeviceStatus::new(apps.iter().map(device).collect()))
            .await;
    }

    /// What is told next and is of interest; the rest is let pass.
    pub(crate) async fn until<T>(&mut self, mut pick: impl FnMut(&Told) -> Option<T>) -> T {
        loop {
            let told = self.call.receive::<PylonToApp>().await;
            if let PylonToApp::ClaudeEventMessage(message) = &told.message {
                self.note(&message.conversation_id, message.seq);
            }
            if let Some(picked) = pick(&told) {
                return picked;
            }
        }
    }

    fn note(&mut self, conversation: &ConversationId, seq: Option<Seq>) {
        let seen = self.seen.entry(conversation.clone()).or_insert(Seq(0));
        *seen = seq.unwrap_or(*seen).max(*seen);
    }

    /// Waits until a viewer was told of this event; then it is in the history as well.
    pub(crate) async fn see(&mut self, at: &(WorkspaceId, ConversationId), seq: u64) {
        while self.seen.get(&at.1) < Some(&Seq(seq)) {
            self.until(event).await;
        }
    }

    /// Looks at a conversation.
    pub(crate) async fn view(&mut self, at: &(WorkspaceId, ConversationId)) -> HistoryResult {
        let select = ConversationSelect::new(at.0.clone(), at.1.clone());
        self.call.deliver(select).await;
        let PylonToApp::HistoryResult(page) = self.result("history_result").await else {
            panic!("no page");
        };
        page.outcome().unwrap();
        self.note(&at.1, page.head_seq);
        page
    }

    pub(crate) async fn result(&mut self, kind: &str) -> PylonToApp {
        self.until(|told| (told.message.kind() == kind).then(|| told.message.clone()))
            .await
    }

    async fn refusal(&mut self) -> ErrorCode {
        let PylonToApp::ErrorReport(report) = self.result("error").await else {
            panic!("no error");
        };
        report.error_code.unwrap()
    }

    /// A workspace with its first conversation.
    pub(crate) async fn workspace(&mut self) -> (WorkspaceId, ConversationId) {
        let folder = self.folder.path().join("work");
        let path = PathText::parse(folder.to_str().unwrap()).unwrap();
        let name = Name::parse("work").unwrap();
        self.call.deliver(WorkspaceCreate::new(name, path)).await;
        let PylonToApp::WorkspaceCreateResult(made) = self.result("workspace_create_result").await
        else {
            panic!("not made");
        };
        made.outcome().unwrap();
        let workspace = made.workspace.unwrap();
        let conversation = made.conversation.unwrap();
        (workspace.workspace_id, conversation.conversation_id)
    }

    pub(crate) async fn history(&mut self, at: &(WorkspaceId, ConversationId)) -> Vec<String> {
        let mut request = HistoryRequest::new(at.0.clone(), at.1.clone());
        request.limit = Some(200);
        self.call.deliver(request).await;
        let PylonToApp::HistoryResult(page) = self.result("history_result").await else {
            panic!("no page");
        };
        page.outcome().unwrap();
        page.messages.iter().map(text).collect()
    }

    /// Sends a message and waits until everybody was told of it.
    pub(crate) async fn send(&mut self, at: &(WorkspaceId, ConversationId), id: &str) {
        self.call.deliver(message(at, id)).await;
        let result = self.result("claude_send_result").await;
        let PylonToApp::ClaudeSendResult(result) = result else {
            panic!("not sent");
        };
        result.outcome().unwrap();
    }
}

fn text(entry: &HistoryMessage) -> String {
    match entry {
        HistoryMessage::Text(text) => text.content.clone(),
        other => other.kind().to_owned(),
    }
}

pub(crate) fn message(at: &(WorkspaceId, ConversationId), id: &str) -> ClaudeSend {
    let prompt = Prompt::parse(id).unwrap();
    let mut send = ClaudeSend::new(at.0.clone(), at.1.clone(), prompt);
    send.client_message_id = Some(ClientMessageId::parse(id).unwrap());
    send
}

fn event(told: &Told) -> Option<(ClaudeEvent, Option<Seq>)> {
    match &told.message {
        PylonToApp::ClaudeEventMessage(message) => Some((message.event.clone(), message.seq)),
        _ => None,
    }
}

#[tokio::test]
async fn a_workspace_is_made_listed_and_deleted_with_its_runs() {
    let mut scene = Scene::open().await;
    let at = scene.workspace().await;
    scene.send(&at, "m1").await;
    let request = WorkspaceList {
        request_id: Some(RequestId::parse("r9").unwrap()),
    };
    scene.call.deliver(request).await;
    let listed = scene.until(|told| match &told.message {
        PylonToApp::WorkspaceListResult(list) if list.request_id.is_some() => Some(list.clone()),
        _ => None,
    });
    let listed = listed.await;
    assert_eq!(listed.workspaces.len(), 1);
    assert_eq!(listed.workspaces[0].conversations[0].name.as_str(), "first");
    assert_eq!(listed.active_conversation_id.as_ref(), Some(&at.1));
    scene.call.deliver(WorkspaceDelete::new(at.0.clone())).await;
    let deleted = scene.result("workspace_delete_result").await;
    assert!(
        matches!(deleted, PylonToApp::WorkspaceDeleteResult(result) if result.outcome().is_ok())
    );
    assert!(
        scene
            .host
            .world
            .lock()
            .unwrap()
            .commands
            .contains(&"delete_session".to_owned())
    );
    let told = scene.until(|told| match &told.message {
        PylonToApp::WorkspaceListResult(list) if list.workspaces.is_empty() => told.to.clone(),
        _ => None,
    });
    assert!(
        [100, 101]
            .map(DeviceId)
            .map(To::device)
            .contains(&told.await)
    );
}

#[tokio::test]
async fn a_folder_outside_the_roots_is_no_workspace() {
    let mut scene = Scene::open().await;
    let name = Name::parse("etc").unwrap();
    let path = PathText::parse("/etc").unwrap();
    scene.call.deliver(WorkspaceCreate::new(name, path)).await;
    let PylonToApp::WorkspaceCreateResult(result) = scene.result("workspace_create_result").await
    else {
        panic!("no result");
    };
    assert_eq!(result.outcome().unwrap_err().code, ErrorCode::BadPath);
}

#[tokio::test]
async fn a_message_that_is_sent_twice_runs_once_and_everybody_sees_it() {
    let mut scene = Scene::open().await;
    let at = scene.workspace().await;
    scene.call.deliver(message(&at, "m1")).await;
    let told = scene.until(|told| event(told).map(|seen| (seen, told.broadcast.clone())));
    let ((said, seq), group) = told.await;
    assert!(matches!(said, ClaudeEvent::UserMessage(said) if said.client_message_id.is_some()));
    assert_eq!((seq, group), (Some(Seq(1)), Some(Broadcast::Clients)));
    scene.send(&at, "m1").await;
    scene.send(&at, "m2").await;
    scene.see(&at, 2).await;
    assert_eq!(scene.history(&at).await, ["m1", "m2"]);
}

#[tokio::test]
async fn viewers_see_everything_and_others_that_there_is_something_new() {
    let mut scene = Scene::open().await;
    let at = scene.workspace().await;
    scene.send(&at, "m1").await;
    scene.view(&at).await;
    scene.host.append(&at.1, "hello");
    let to = scene.until(|told| {
        event(told)
            .filter(|(event, _)| event.kind() == "textComplete")
            .and(told.to.clone())
    });
    assert_eq!(to.await, To::device(DeviceId(100)));
    let unread = scene.until(|told| match &told.message {
        PylonToApp::ConversationStatusUpdate(update) if update.unread == Some(true) => {
            told.to.clone()
        }
        _ => None,
    });
    assert_eq!(
        unread.await,
        To::device(DeviceId(101)),
        "who looks has read it"
    );
}

fn piece(at: u64, content: &str) -> TextDelta {
    TextDelta {
        generation: Some(Generation(1)),
        block: Some(1),
        at: Some(at),
        ..TextDelta::new(content.to_owned())
    }
}

/// Looks at a conversation and gives what is being written in it.
async fn open_blocks(scene: &mut Scene, at: &(WorkspaceId, ConversationId)) -> Vec<OpenBlock> {
    scene.view(at).await;
    let update = scene.until(|told| match event(told) {
        Some((ClaudeEvent::StateUpdate(update), None)) => Some(update),
        _ => None,
    });
    update.await.open.unwrap()
}

#[tokio::test]
async fn whoever_looks_in_the_middle_of_a_text_sees_it_and_its_next_piece_fits() {
    let mut scene = Scene::open().await;
    let at = scene.workspace().await;
    scene.send(&at, "m1").await;
    let block =
        |content: &str| OpenBlock::new(BlockKind::Text, Generation(1), 1, content.to_owned());
    let working = StateChanged::new(ConversationStatus::Working);
    scene.host.happen(&at.1, working);
    scene.see(&at, 2).await;
    scene.view(&at).await;
    for (place, content) in [(0, "Let "), (4, "me")] {
        scene.host.pass(&at.1, piece(place, content));
    }
    let told = scene.until(|told| event(told).filter(|(event, _)| *event == piece(4, "me").into()));
    told.await;
    assert_eq!(open_blocks(&mut scene, &at).await, [block("Let me")]);
    // A pylon that was not there meanwhile knows it from the host, and goes on from there.
    let open = vec![block("Let me see")];
    scene
        .host
        .world
        .lock()
        .unwrap()
        .open
        .insert(at.1.clone(), open);
    scene.restart().await;
    scene.clients(&[100, 101]).await;
    let mut open = open_blocks(&mut scene, &at).await;
    while open.is_empty() {
        // The host is not back yet.
        open = open_blocks(&mut scene, &at).await;
    }
    assert_eq!(open, [block("Let me see")]);
    scene.host.pass(&at.1, piece(10, "."));
    let told = scene.until(|told| event(told).filter(|(event, _)| *event == piece(10, ".").into()));
    told.await;
    assert_eq!(open_blocks(&mut scene, &at).await, [block("Let me see.")]);
    // What is complete is no longer being written.
    scene.host.append(&at.1, "Let me see.");
    scene.see(&at, 3).await;
    assert_eq!(open_blocks(&mut scene, &at).await, []);
}

#[tokio::test]
async fn a_decision_reaches_everybody_whoever_comes_later_and_is_answered_once() {
    let mut scene = Scene::open().await;
    let at = scene.workspace().await;
    scene.send(&at, "m1").await;
    let call = ToolUseId::parse("toolu_1").unwrap();
    let input = Json::parse("{\"command\":\"ls\"}").unwrap();
    let asked = PermissionAsked::new("Bash".to_owned(), input, call.clone());
    scene
        .host
        .happen(&at.1, StateChanged::new(ConversationStatus::Permission));
    scene.host.happen(&at.1, asked.clone());
    let group = scene.until(|told| {
        event(told)
            .filter(|(event, _)| *event == asked.clone().into())
            .and(told.broadcast.clone())
    });
    assert_eq!(group.await, Broadcast::Clients);
    // Somebody who looks later is asked as well.
    let select = ConversationSelect::new(at.0.clone(), at.1.clone());
    scene.call.deliver_from(101, &[Right::View], select).await;
    let PylonToApp::HistoryResult(page) = scene.result("history_result").await else {
        panic!("no page");
    };
    assert_eq!(page.current_status, Some(ConversationStatus::Permission));
    let to = scene.until(|told| {
        event(told)
            .filter(|(event, _)| *event == asked.clone().into())
            .and(told.to.clone())
    });
    assert_eq!(to.await, To::device(DeviceId(101)));
    // So is somebody who looks at nothing yet: right after the list.
    let list = WorkspaceList::default();
    scene.call.deliver_from(101, &[Right::View], list).await;
    scene.result("workspace_list_result").await;
    let to = scene.until(|told| {
        event(told)
            .filter(|(event, _)| *event == asked.clone().into())
            .and(told.to.clone())
    });
    assert_eq!(to.await, To::device(DeviceId(101)));
    let allow = ClaudePermission::new(at.0.clone(), at.1.clone(), call, PermissionDecision::Allow);
    for expected in [None, Some(ErrorCode::AlreadyAnswered)] {
        scene.call.deliver(allow.clone()).await;
        let PylonToApp::ClaudePermissionResult(result) =
            scene.result("claude_permission_result").await
        else {
            panic!("no result");
        };
        assert_eq!(result.outcome().err().map(|error| error.code), expected);
    }
}

#[tokio::test]
async fn nothing_is_missing_after_the_pylon_was_away() {
    let mut scene = Scene::open().await;
    let at = scene.workspace().await;
    scene.send(&at, "m1").await;
    scene.host.append(&at.1, "before");
    scene.see(&at, 1).await;
    scene.pylon.take().unwrap().end().await;
    for text in ["one", "two", "three"] {
        scene.host.append(&at.1, text);
    }
    scene.restart().await;
    scene.host.append(&at.1, "after");
    let page = scene.view(&at).await;
    // What the page does not have yet comes as events, without a gap.
    let mut head = page.head_seq.unwrap();
    while head < Seq(6) {
        let seq = scene
            .until(|told| event(told).and_then(|(_, seq)| seq))
            .await;
        assert!(seq <= Seq(head.0 + 1), "{seq} after {head}");
        head = head.max(seq);
    }
    let all = ["m1", "before", "one", "two", "three", "after"];
    assert_eq!(scene.history(&at).await, all);
}

#[tokio::test]
async fn without_the_relay_the_history_goes_on() {
    let mut scene = Scene::open().await;
    let at = scene.workspace().await;
    scene.send(&at, "m1").await;
    scene.call.socket.close(None).await.unwrap();
    scene.host.append(&at.1, "unseen");
    scene.host.cut();
    scene.call = scene.relay.let_in().await;
    scene.clients(&[100]).await;
    scene.host.append(&at.1, "seen");
    scene.view(&at).await;
    scene.see(&at, 3).await;
    assert_eq!(scene.history(&at).await, ["m1", "unseen", "seen"]);
}

#[tokio::test]
async fn a_log_that_begins_anew_replaces_the_history_and_floods_nobody() {
    let mut scene = Scene::open().await;
    let at = scene.workspace().await;
    scene.send(&at, "m1").await;
    for text in ["one", "two", "three"] {
        scene.host.append(&at.1, text);
    }
    scene.view(&at).await;
    scene.see(&at, 4).await;
    scene.host.rebuild(&at.1);
    scene.host.cut();
    // The first event that is told again is a new one: whoever sees its epoch asks for the history.
    scene
        .until(|told| match &told.message {
            PylonToApp::ConversationStatusUpdate(update) => update.seq.filter(|seq| *seq == Seq(2)),
            _ => None,
        })
        .await;
    scene.host.append(&at.1, "new");
    let told = scene.until(|told| match &told.message {
        PylonToApp::ClaudeEventMessage(message) => Some((message.epoch, message.seq)),
        _ => None,
    });
    assert_eq!(told.await, (Some(Epoch(2)), Some(Seq(3))));
    assert_eq!(scene.history(&at).await, ["m1", "one", "new"]);
}

#[tokio::test]
async fn a_device_does_only_what_it_may() {
    let mut scene = Scene::open().await;
    let at = scene.workspace().await;
    scene
        .call
        .deliver_from(101, &[Right::View], message(&at, "m1"))
        .await;
    assert_eq!(scene.refusal().await, ErrorCode::Forbidden);
    let delete = ConversationDelete::new(at.0.clone(), at.1.clone());
    scene
        .call
        .deliver_from(101, &[Right::View, Right::Prompt], delete)
        .await;
    assert_eq!(scene.refusal().await, ErrorCode::Forbidden);
    assert!(scene.history(&at).await.is_empty());
}

#[tokio::test]
async fn what_makes_no_sense_is_refused_with_its_reason() {
    let mut scene = Scene::open().await;
    let at = scene.workspace().await;
    let nowhere = ConversationId::parse("nowhere").unwrap();
    scene
        .call
        .deliver(message(&(at.0.clone(), nowhere.clone()), "m1"))
        .await;
    let PylonToApp::ClaudeSendResult(result) = scene.result("claude_send_result").await else {
        panic!("no result");
    };
    assert_eq!(
        result.outcome().unwrap_err().code,
        ErrorCode::UnknownConversation
    );
    let dance = ControlAction::Unknown("dance".to_owned());
    scene
        .call
        .deliver(ClaudeControl::new(at.0.clone(), at.1.clone(), dance))
        .await;
    let PylonToApp::ClaudeControlResult(result) = scene.result("claude_control_result").await
    else {
        panic!("no result");
    };
    assert_eq!(
        result.outcome().unwrap_err().code,
        ErrorCode::InvalidMessage
    );
    let (name, skill) = (
        Name::parse("n").unwrap(),
        SkillType::Unknown("cook".to_owned()),
    );
    scene
        .call
        .deliver(ConversationCreate::new(at.0.clone(), name, skill))
        .await;
    let PylonToApp::ConversationCreateResult(result) =
        scene.result("conversation_create_result").await
    else {
        panic!("no result");
    };
    assert_eq!(
        result.outcome().unwrap_err().code,
        ErrorCode::InvalidMessage
    );
    scene
        .call
        .deliver(ConversationFork::new(at.0.clone(), at.1, Seq(1)))
        .await;
    let PylonToApp::ConversationCreateResult(result) =
        scene.result("conversation_create_result").await
    else {
        panic!("no result");
    };
    assert_eq!(result.outcome().unwrap_err().code, ErrorCode::Conflict);
}
