//! A host as the protocol has it, on a real socket, whose connections break where a seed says so.
//!
//! Its logs outlive its connections. It runs nothing: a message becomes a `userMessage` in the log, once per id.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use estelle_proto::events::{DecisionAnswered, TextComplete, UserMessage};
use estelle_proto::ipc::{
    ForkSession, Hello, HostEvent, KeptTerminal, PendingPermission, PermissionResponse,
    RequestResult, SendMessage, SessionStatus, Snapshot, StatusResponse, Subscribe, Subscribed,
};
use estelle_proto::writing::OpenBlock;
use estelle_proto::{
    ApiError, ChainHash, ClaudeEvent, ClientMessageId, ConversationId, ConversationStatus,
    DecisionState, Epoch, ErrorCode, HostToPylon, PylonToHost, Reply, RequestId, Retry, Seq,
    Timestamp,
};
use fastrand::Rng;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;

pub(crate) fn conversation(name: &str) -> ConversationId {
    ConversationId::parse(name).unwrap()
}

/// What a test can see and change.
#[derive(Debug, Default)]
pub(crate) struct World {
    pub(crate) epoch: u64,
    pub(crate) logs: BTreeMap<ConversationId, Vec<ClaudeEvent>>,
    /// What was told to whoever listened, in order.
    passing: Vec<(ConversationId, ClaudeEvent)>,
    /// What is being written, as snapshots say it.
    pub(crate) open: BTreeMap<ConversationId, Vec<OpenBlock>>,
    seen: BTreeSet<ClientMessageId>,
    /// When its logs begin; each event comes a millisecond after the last. Without it events have no time.
    pub(crate) began_at: Option<i64>,
    /// The kinds of all commands that arrived.
    pub(crate) commands: Vec<String>,
    pub(crate) connections: u32,
    /// Connections break as the seed says; otherwise they hold.
    pub(crate) is_rough: bool,
    /// When everything happened; not said if there is none.
    pub(crate) dated: Option<Timestamp>,
    /// The terminals that it says it has.
    pub(crate) terminals: Vec<KeptTerminal>,
    /// Messages are taken, and answered, only when this is over.
    pub(crate) is_message_held: bool,
    /// How many more commands of this kind break their connection: before they are carried out, or after it.
    pub(crate) cuts: Option<(&'static str, bool, u32)>,
}

impl World {
    /// Whether the connection breaks at this command now.
    fn is_cut(&mut self, kind: &str, is_done: bool) -> bool {
        match &mut self.cuts {
            Some((at, after, left)) if *at == kind && *after == is_done && *left > 0 => {
                *left -= 1;
                true
            }
            _ => false,
        }
    }
}

/// The host, until it is dropped.
#[derive(Debug)]
pub(crate) struct FakeHost {
    pub(crate) socket: PathBuf,
    pub(crate) world: Arc<Mutex<World>>,
    /// Says that there is something new, and to which generation of connections one must belong to live.
    changed: watch::Sender<u64>,
    server: tokio::task::JoinHandle<()>,
    folder: tempfile::TempDir,
}

impl Drop for FakeHost {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl FakeHost {
    pub(crate) fn start(seed: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("host.sock");
        let listener = UnixListener::bind(&socket).unwrap();
        let world = World {
            epoch: 1,
            ..World::default()
        };
        let world = Arc::new(Mutex::new(world));
        let (changed, _) = watch::channel(0);
        let server = serve(listener, world.clone(), changed.clone(), seed);
        let tasks = tokio_util::task::TaskTracker::new();
        Self {
            socket,
            world,
            changed,
            server: tasks.spawn(server),
            folder,
        }
    }

    pub(crate) fn append(&self, conversation: &ConversationId, text: &str) {
        self.happen(conversation, TextComplete::new(text.to_owned()));
    }

    pub(crate) fn happen(&self, conversation: &ConversationId, event: impl Into<ClaudeEvent>) {
        let event = event.into();
        let mut world = self.world.lock().unwrap();
        world
            .logs
            .entry(conversation.clone())
            .or_default()
            .push(event);
        drop(world);
        self.changed.send_modify(|_| ());
    }

    /// Tells something to whoever listens now.
    pub(crate) fn pass(&self, conversation: &ConversationId, event: impl Into<ClaudeEvent>) {
        let told = (conversation.clone(), event.into());
        self.world.lock().unwrap().passing.push(told);
        self.changed.send_modify(|_| ());
    }

    /// Changes something, and says that there is something new.
    pub(crate) fn change(&self, change: impl FnOnce(&mut World)) {
        change(&mut self.world.lock().unwrap());
        self.changed.send_modify(|_| ());
    }

    /// How often it was told a command of this kind.
    pub(crate) fn heard(&self, kind: &str) -> usize {
        let world = self.world.lock().unwrap();
        world.commands.iter().filter(|told| *told == kind).count()
    }

    /// Breaks all connections.
    pub(crate) fn cut(&self) {
        self.changed.send_modify(|generation| *generation += 1);
    }

    /// Goes away, and does not come back.
    pub(crate) fn go_away(&self) {
        self.server.abort();
        self.cut();
    }

    /// The log was lost and comes back shorter, in a new epoch.
    pub(crate) fn rebuild(&self, conversation: &ConversationId) {
        let mut world = self.world.lock().unwrap();
        world.epoch += 1;
        let log = world.logs.get_mut(conversation).unwrap();
        log.truncate(log.len() / 2);
    }

    pub(crate) fn log(&self, conversation: &ConversationId) -> Vec<ClaudeEvent> {
        let world = self.world.lock().unwrap();
        world.logs.get(conversation).cloned().unwrap_or_default()
    }

    pub(crate) fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }
}

async fn serve(
    listener: UnixListener,
    world: Arc<Mutex<World>>,
    changed: watch::Sender<u64>,
    seed: u64,
) {
    let tasks = tokio_util::task::TaskTracker::new();
    let mut rng = Rng::with_seed(seed);
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let is_rough = {
            let mut world = world.lock().unwrap();
            world.connections += 1;
            world.is_rough
        };
        let faults = is_rough.then(|| Faults::roll(&mut rng));
        let connection = Connection::new(stream, world.clone(), changed.subscribe(), faults);
        tasks.spawn(connection.run());
    }
}

/// Where one connection breaks, and what it garbles before.
#[derive(Debug)]
struct Faults {
    bytes_left: usize,
    commands_left: usize,
    rng: Rng,
}

impl Faults {
    fn roll(rng: &mut Rng) -> Self {
        Self {
            bytes_left: rng.usize(0..6000),
            commands_left: rng.usize(0..40),
            rng: rng.fork(),
        }
    }
}

/// The connection is over.
struct Cut;

struct Connection {
    lines: Lines<BufReader<OwnedReadHalf>>,
    writer: OwnedWriteHalf,
    world: Arc<Mutex<World>>,
    changed: watch::Receiver<u64>,
    faults: Option<Faults>,
    /// The last number that was sent, for each subscription.
    sent: BTreeMap<ConversationId, u64>,
    /// How much of what passes was sent, or passed before it was listened to.
    passed: usize,
    /// Messages that are taken later.
    held: Vec<SendMessage>,
}

impl Connection {
    fn new(
        stream: UnixStream,
        world: Arc<Mutex<World>>,
        changed: watch::Receiver<u64>,
        faults: Option<Faults>,
    ) -> Self {
        let (reader, writer) = stream.into_split();
        let passed = world.lock().unwrap().passing.len();
        Self {
            lines: BufReader::new(reader).lines(),
            writer,
            world,
            changed,
            faults,
            sent: BTreeMap::new(),
            passed,
            held: Vec::new(),
        }
    }

    async fn run(mut self) {
        // A cut is what the test wants; there is nobody to tell.
        let _ = self.talk().await;
    }

    async fn talk(&mut self) -> Result<(), Cut> {
        let generation = *self.changed.borrow_and_update();
        self.say(Hello::new(1, "fake".to_owned(), Vec::new()))
            .await?;
        loop {
            tokio::select! {
                line = self.lines.next_line() => {
                    let line = line.map_err(|_| Cut)?.ok_or(Cut)?;
                    let command = estelle_proto::ipc::parse_line(&line).unwrap();
                    self.carry_out(command).await?;
                }
                _ = self.changed.changed() => {
                    if *self.changed.borrow_and_update() != generation {
                        return Err(Cut);
                    }
                    if !self.world.lock().unwrap().is_message_held {
                        for command in std::mem::take(&mut self.held) {
                            let reply = self.take_message(&command);
                            self.say(reply).await?;
                        }
                    }
                }
            }
            self.send_live().await?;
        }
    }

    async fn carry_out(&mut self, command: PylonToHost) -> Result<(), Cut> {
        let kind = command.kind().to_owned();
        {
            let mut world = self.world.lock().unwrap();
            world.commands.push(kind.clone());
            if world.is_cut(&kind, false) {
                return Err(Cut);
            }
        }
        let reply = match command {
            PylonToHost::SendMessage(command) => {
                if self.world.lock().unwrap().is_message_held {
                    self.held.push(command);
                    return Ok(());
                }
                Some(self.take_message(&command))
            }
            PylonToHost::ListTerminals(command) => {
                let mut listed = done(command.request_id.as_ref());
                listed.terminals = Some(self.world.lock().unwrap().terminals.clone());
                Some(listed)
            }
            PylonToHost::Subscribe(command) => return self.subscribe(&command).await,
            PylonToHost::PylonReconnected(_) => {
                return self.say(StatusResponse::new(self.statuses())).await;
            }
            PylonToHost::GetStatus(command) => {
                let mut status = StatusResponse::new(self.statuses());
                status.request_id = command.request_id;
                return self.say(status).await;
            }
            PylonToHost::Unsubscribe(command) => {
                self.sent.remove(&command.session_id);
                None
            }
            PylonToHost::DeleteSession(command) => {
                self.sent.remove(&command.session_id);
                let mut world = self.world.lock().unwrap();
                world.logs.remove(&command.session_id);
                Some(done(command.request_id.as_ref()))
            }
            PylonToHost::ForkSession(command) => Some(self.fork(&command)),
            PylonToHost::PermissionResponse(command) => Some(self.decide(&command)),
            PylonToHost::Hello(_) => None,
            other => Some(done(other.request_id())),
        };
        if self.world.lock().unwrap().is_cut(&kind, true) {
            return Err(Cut);
        }
        if let Some(faults) = &mut self.faults {
            // Carried out, but nobody is told.
            faults.commands_left = faults.commands_left.checked_sub(1).ok_or(Cut)?;
        }
        match reply {
            Some(reply) => self.say(reply).await,
            None => Ok(()),
        }
    }

    fn statuses(&self) -> Vec<SessionStatus> {
        let world = self.world.lock().unwrap();
        let logs = world.logs.iter();
        logs.map(|(name, log)| status(name, log)).collect()
    }

    fn take_message(&self, command: &SendMessage) -> RequestResult {
        let mut world = self.world.lock().unwrap();
        let payload = &command.payload;
        let id = payload.client_message_id.clone();
        if id.clone().is_none_or(|id| world.seen.insert(id)) {
            let mut message = UserMessage::new(payload.prompt.as_str().to_owned(), Timestamp(1));
            message.client_message_id = id;
            message.device_id = payload.device_id;
            message.author.clone_from(&payload.author);
            let log = world.logs.entry(command.session_id.clone()).or_default();
            log.push(message.into());
        }
        done(command.request_id.as_ref())
    }

    fn fork(&self, command: &ForkSession) -> RequestResult {
        let mut world = self.world.lock().unwrap();
        let log = world.logs.get(&command.session_id).cloned();
        let mut log = log.unwrap_or_default();
        let place = usize::try_from(command.before_seq.0).unwrap() - 1;
        let result = done(command.request_id.as_ref());
        if !matches!(log.get(place), Some(ClaudeEvent::UserMessage(_))) {
            let message = "no message".to_owned();
            return result.failed(ApiError::new(ErrorCode::Conflict, message, Retry::Never));
        }
        log.truncate(place);
        world.logs.insert(command.new_session_id.clone(), log);
        result
    }

    /// The first answer wins.
    fn decide(&self, command: &PermissionResponse) -> RequestResult {
        let mut world = self.world.lock().unwrap();
        let log = world.logs.entry(command.session_id.clone()).or_default();
        let is_it = |event: &ClaudeEvent| matches!(event, ClaudeEvent::DecisionAnswered(answer) if answer.tool_use_id == command.tool_use_id);
        let result = done(command.request_id.as_ref());
        if log.iter().any(is_it) {
            let error = ApiError::new(ErrorCode::AlreadyAnswered, "late".to_owned(), Retry::Never);
            return result.failed(error);
        }
        let mut answer =
            DecisionAnswered::new(command.tool_use_id.clone(), DecisionState::Answered);
        answer.device_id = command.device_id;
        answer.author.clone_from(&command.author);
        log.push(answer.into());
        result
    }

    async fn subscribe(&mut self, command: &Subscribe) -> Result<(), Cut> {
        let name = &command.session_id;
        let (epoch, head) = {
            let world = self.world.lock().unwrap();
            (world.epoch, world.logs.get(name).map(Vec::len))
        };
        let Some(head) = head else {
            let error = ApiError::new(
                ErrorCode::UnknownConversation,
                "no".to_owned(),
                Retry::Never,
            );
            let refusal = done(command.request_id.as_ref()).failed(error);
            return self.say(refusal).await;
        };
        let head = head as u64;
        let from = command.seq.map_or(0, |seq| seq.0);
        let is_ours = command.epoch == Some(Epoch(epoch))
            && from <= head
            && command.chain_hash == Some(hash(epoch, name, from));
        let from = if is_ours { from } else { 0 };
        let is_void = !is_ours && command.seq.is_some();
        let mut began = Subscribed::new(name.clone(), Epoch(epoch), Seq(head), is_void);
        began.request_id.clone_from(&command.request_id);
        self.say(began).await?;
        self.sent.insert(name.clone(), from);
        self.send_live().await?;
        let seq = Seq(self.sent.get(name).copied().unwrap_or(0));
        let status = {
            let world = self.world.lock().unwrap();
            let mut status = status(name, &world.logs[name]);
            status.open = world.open.get(name).cloned();
            status
        };
        self.say(Snapshot::new(
            name.clone(),
            Epoch(epoch),
            seq,
            Box::new(status),
        ))
        .await
    }

    async fn send_live(&mut self) -> Result<(), Cut> {
        for (name, sent) in self.sent.clone() {
            let (epoch, dated, began_at, events) = {
                let world = self.world.lock().unwrap();
                let events: Vec<_> = world.logs[&name]
                    .iter()
                    .skip(sent as usize)
                    .cloned()
                    .collect();
                (world.epoch, world.dated, world.began_at, events)
            };
            for (event, seq) in events.into_iter().zip(sent + 1..) {
                self.sent.insert(name.clone(), seq);
                let mut message = HostEvent::new(name.clone(), event);
                message.epoch = Some(Epoch(epoch));
                message.seq = Some(Seq(seq));
                let passed = began_at.map(|at| Timestamp(at + seq.cast_signed()));
                message.timestamp = dated.or(passed);
                message.chain_hash = Some(hash(epoch, &name, seq));
                self.say_roughly(message).await?;
            }
        }
        let passing = self.world.lock().unwrap().passing.clone();
        for (name, event) in passing.into_iter().skip(self.passed) {
            self.passed += 1;
            if self.sent.contains_key(&name) {
                self.say(HostEvent::new(name, event)).await?;
            }
        }
        Ok(())
    }

    /// Sends an event; on a rough connection now and then not at all, or twice.
    async fn say_roughly(&mut self, message: HostEvent) -> Result<(), Cut> {
        let dice = self
            .faults
            .as_mut()
            .map_or(99, |faults| faults.rng.u8(0..100));
        match dice {
            0..3 => Ok(()),
            3..8 => {
                self.say(message.clone()).await?;
                self.say(message).await
            }
            _ => self.say(message).await,
        }
    }

    async fn say(&mut self, message: impl Into<HostToPylon>) -> Result<(), Cut> {
        let line = estelle_proto::ipc::to_line(&message.into()).unwrap();
        let mut bytes = line.as_bytes();
        let mut is_last = false;
        if let Some(faults) = &mut self.faults {
            is_last = faults.bytes_left < bytes.len();
            bytes = &bytes[..bytes.len().min(faults.bytes_left)];
            faults.bytes_left -= bytes.len();
        }
        self.writer.write_all(bytes).await.map_err(|_| Cut)?;
        if is_last { Err(Cut) } else { Ok(()) }
    }
}

fn hash(epoch: u64, name: &ConversationId, seq: u64) -> ChainHash {
    ChainHash::parse(&format!("{epoch}-{name}-{seq}")).unwrap()
}

fn done(request: Option<&RequestId>) -> RequestResult {
    RequestResult::default().in_reply_to(request)
}

/// The state by the newest event that says one, and what was asked and not answered.
fn status(name: &ConversationId, log: &[ClaudeEvent]) -> SessionStatus {
    let mut status = SessionStatus::new(name.clone(), ConversationStatus::Idle);
    let mut open = Vec::new();
    for event in log {
        match event {
            ClaudeEvent::State(change) => status.state = change.state.clone(),
            ClaudeEvent::PermissionAsked(asked) => {
                let (tool, input) = (asked.tool_name.clone(), asked.tool_input.clone());
                open.push(PendingPermission::new(
                    asked.tool_use_id.clone(),
                    tool,
                    input,
                ));
            }
            ClaudeEvent::DecisionAnswered(answer) => {
                open.retain(|pending| pending.tool_use_id != answer.tool_use_id);
            }
            _ => {}
        }
    }
    status.pending_permissions = Some(open);
    status
}
