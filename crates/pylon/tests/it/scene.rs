//! A Pylon between a host and a relay that are played, and clients that listen.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use estelle_proto::auth::DeviceStatus;
use estelle_proto::claude::ClaudeSend;
use estelle_proto::conversations::ConversationSelect;
use estelle_proto::history::{HistoryRequest, HistoryResult};
use estelle_proto::workspaces::{PylonInfo, WorkspaceCreate};
use estelle_proto::{
    ClaudeEvent, ClientMessageId, ConnectedDevice, ConversationId, DeviceId, DeviceType, Envelope,
    ErrorCode, HistoryMessage, IsoTime, Message as _, Name, PathText, Prompt, PylonToApp,
    Reply as _, Seq, WorkspaceId,
};
use estelle_pylon::deploy::{Commands, DeployConfig, Language};
use estelle_pylon::desk::{self, DeskConfig, DeskParts, LocalDesk, NotifyConfig};
use estelle_pylon::files::Guard;
use estelle_pylon::git::Git;
use estelle_pylon::link::host::{HostConfig, HostLink};
use estelle_pylon::link::relay::{RelayConfig, RelayLink};
use estelle_pylon::release::{Place, Release, Releases};
use estelle_pylon::store::Store;
use estelle_pylon::uploads::Uploads;
use estelle_state::link::Pace;
use estelle_state::policy::DenyPatterns;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use crate::peers::host::FakeHost;
use crate::peers::relay::{Call, FakeRelay};

/// A pylon's life.
pub(crate) struct Pylon {
    pub(crate) store: Store,
    pub(crate) local: LocalDesk,
    tasks: TaskTracker,
    stop: DropGuard,
}

impl Pylon {
    fn start(folder: &Path, host: &FakeHost, relay: RelayConfig, notify: NotifyConfig) -> Self {
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
            notify,
            worktrees: folder.join("worktrees"),
            uploads: Uploads::new(folder.join("uploads")),
        };
        let local = desk::spawn(config, parts, &tasks, stop.clone());
        let stop = stop.drop_guard();
        Self {
            store,
            local,
            tasks,
            stop,
        }
    }

    pub(crate) async fn end(self) {
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
        allow_older: false,
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
    notify: NotifyConfig,
    pub(crate) call: Call,
    pub(crate) pylon: Option<Pylon>,
    pub(crate) folder: tempfile::TempDir,
    /// The newest event of each conversation that was told, or is in a page.
    seen: BTreeMap<ConversationId, Seq>,
}

pub(crate) type Told = Envelope<PylonToApp>;

impl Scene {
    pub(crate) async fn open() -> Self {
        Self::open_with(NotifyConfig::default()).await
    }

    pub(crate) async fn open_with(notify: NotifyConfig) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("work")).unwrap();
        let host = FakeHost::start(0);
        let (relay, config) = FakeRelay::start().await;
        let pylon = Pylon::start(folder.path(), &host, config.clone(), notify.clone());
        let call = relay.let_in().await;
        let mut scene = Self {
            host,
            relay,
            config,
            notify,
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
        self.stop().await;
        self.go_on().await;
    }

    /// The pylon ends.
    pub(crate) async fn stop(&mut self) {
        if let Some(pylon) = self.pylon.take() {
            pylon.end().await;
        }
    }

    /// Another one begins, in the same folder.
    pub(crate) async fn go_on(&mut self) {
        let (relay, notify) = (self.config.clone(), self.notify.clone());
        let pylon = Pylon::start(self.folder.path(), &self.host, relay, notify);
        self.pylon = Some(pylon);
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

    pub(crate) async fn refusal(&mut self) -> ErrorCode {
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

pub(crate) fn text(entry: &HistoryMessage) -> String {
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

pub(crate) fn event(told: &Told) -> Option<(ClaudeEvent, Option<Seq>)> {
    match &told.message {
        PylonToApp::ClaudeEventMessage(message) => Some((message.event.clone(), message.seq)),
        _ => None,
    }
}
