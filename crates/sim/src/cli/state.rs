//! The facts of one simulated process, and the handle through which every flow reads and changes them.
//!
//! Nothing here waits or does IO: lines and deeds are queued as [`Effect`]s, files go through the [`Disk`] port. Flows borrow
//! the state only inside [`Sim::with`], never across an await.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use super::args::Args;
use super::hooks::HookMatcher;
use super::ids::Ids;
use super::json::Json;
use super::mcp::McpServer;
use super::permission::Rules;
use super::tasks::Task;
use super::usage::Totals;
use super::version::Version;

/// What the outside gives once and for all.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    /// Which CLI is imitated.
    pub(crate) version: Version,
    /// The command line.
    pub(crate) args: Args,
    /// The environment.
    pub(crate) env: Env,
}

/// The environment that counts.
#[derive(Debug, Clone)]
pub(crate) struct Env {
    /// The working directory.
    pub(crate) cwd: String,
    /// The home directory.
    pub(crate) home: String,
    /// The numeric user id, part of the task folder's name.
    pub(crate) uid: u32,
    /// The own process id.
    pub(crate) pid: u32,
    /// `CLAUDE_CODE_MAX_RETRIES`.
    pub(crate) max_retries: u32,
    /// Waits are multiplied with this (`ESTELLE_SIM_TIME_SCALE`).
    pub(crate) time_scale: f64,
    /// `ESTELLE_SIM_SEED`.
    pub(crate) seed: u64,
    /// Host and port of `ANTHROPIC_BASE_URL`, named in the texts of server errors.
    pub(crate) gateway: Option<String>,
    /// What is switched on.
    pub(crate) switches: Vec<Switch>,
}

/// A switch in the environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Switch {
    /// `session_state_changed` is printed.
    StateEvents,
    /// Plain answers instead of the demo agent (`ESTELLE_SIM_PLAIN`).
    Plain,
    /// An interrupted turn is run again on resume.
    RerunInterrupted,
    /// File checkpoints.
    Checkpoints,
    /// Signed in to a plan instead of having a key (`CLAUDE_CODE_OAUTH_TOKEN`).
    Plan,
}

impl Env {
    /// Whether something is switched on.
    pub(crate) fn is_on(&self, switch: Switch) -> bool {
        self.switches.contains(&switch)
    }
}

/// The files the machine may touch.
pub(crate) trait Disk {
    /// The text of a file.
    fn read(&self, path: &str) -> Option<String>;
    /// The bytes of a file.
    fn read_bytes(&self, path: &str) -> Option<Vec<u8>>;
    /// Replaces a file, making its folder.
    fn write(&mut self, path: &str, text: &str) -> std::io::Result<()>;
    /// Adds to a file, making its folder.
    fn append(&mut self, path: &str, text: &str) -> std::io::Result<()>;
    /// Names in a folder, the one changed last at the end.
    fn names_by_age(&self, dir: &str) -> Vec<String>;
    /// Whether a gate of the script is open.
    fn gate_is_open(&self, name: &str) -> bool;
}

/// What the shell does for the machine, in this order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Effect {
    /// A line on standard output.
    Line(String),
    /// Bytes on standard output as they are.
    Bytes(Vec<u8>),
    /// Text on standard error.
    Stderr(String),
    /// A fact for the truth file.
    Fact(&'static str, Json),
    /// A tool runs: its marker file is made.
    RunTool(ToolRun),
    /// The process exits.
    Exit(i32),
    /// The process dies of a signal.
    Die(String),
}

/// A tool that runs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ToolRun {
    /// The call.
    pub(crate) id: String,
    /// The tool.
    pub(crate) tool: String,
    /// The input it really runs with.
    pub(crate) input: Json,
}

/// A user message that waits for its turn.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Queued {
    /// Its uuid, if the host gave one.
    pub(crate) uuid: Option<String>,
    /// `message.content`.
    pub(crate) content: Json,
    /// `shouldQuery` was not false.
    pub(crate) query: bool,
    /// When it was read.
    pub(crate) at: u64,
}

/// An answer to a request of ours.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    /// `success` with its payload.
    Success(Json),
    /// `error` with its text.
    Error(String),
}

/// A request of ours that has no answer yet.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pending {
    /// Its id.
    pub(crate) id: String,
    /// The scope that waits for it.
    pub(crate) scope: Scope,
    /// The whole line.
    pub(crate) line: Json,
}

impl Pending {
    /// Whether it asks for a permission.
    pub(crate) fn is_ask(&self) -> bool {
        let subtype = self.line.at(&["request", "subtype"]);
        subtype.and_then(Json::as_text) == Some("can_use_tool")
    }
}

/// A piece of work that can be aborted as a whole: a turn, or a background sub-agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Scope(pub(crate) u64);

/// Why a scope ended before its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Abort {
    /// `interrupt`, or a denial with `interrupt`.
    Interrupt,
    /// A message with priority `now`.
    Superseded,
    /// The task was stopped.
    Stopped,
}

/// The conversation.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    /// Its id, which `/clear` changes.
    pub(crate) id: String,
    /// The permission mode.
    pub(crate) mode: String,
    /// The model.
    pub(crate) model: String,
    /// Uuids of user messages already taken.
    pub(crate) seen: BTreeSet<String>,
    /// Those of them that were taken before this process started.
    pub(crate) resumed: BTreeSet<String>,
    /// Transcript lines not yet written.
    pub(crate) unsaved: Vec<Json>,
    /// How many user messages and answers there are.
    pub(crate) messages: usize,
    /// How many answers of a model there are.
    pub(crate) answers: usize,
    /// Calls without a result that an earlier process left behind: id, tool, input.
    pub(crate) dangling: Vec<(String, String, Json)>,
    /// Files the model has seen, which it may therefore change.
    pub(crate) known_files: BTreeSet<String>,
    /// The uuid of the last transcript entry.
    pub(crate) last_uuid: Option<String>,
    /// The uuid of the last answer.
    pub(crate) last_answer: String,
    /// Files before they were written, by user message uuid.
    pub(crate) checkpoints: Vec<(String, String, Option<String>)>,
}

/// What came in and is not done.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    /// User messages in order.
    pub(crate) queue: VecDeque<Queued>,
    /// Ended background tasks whose turn is due.
    pub(crate) notices: VecDeque<Json>,
    /// When standard input ended.
    pub(crate) closed: Option<u64>,
    /// `end_session` was asked for; nothing more is read.
    pub(crate) ending: bool,
}

/// All facts.
pub(crate) struct State {
    /// What the outside gave.
    pub(crate) setup: Rc<Setup>,
    /// Unix milliseconds of the current step.
    pub(crate) now: u64,
    /// The same in microseconds, when somebody says so.
    pub(crate) now_us: u64,
    /// When the process started.
    pub(crate) started: u64,
    /// Whether `initialize` was asked for.
    pub(crate) initialized: bool,
    /// Whether the host wants to read what sub-agents in the foreground say and think.
    pub(crate) agent_text: bool,
    /// `initialize` requests without an answer.
    pub(crate) initializing: u32,
    /// The id generator.
    pub(crate) ids: Ids,
    /// What the shell must do.
    pub(crate) effects: Vec<Effect>,
    /// The earliest moment a flow waits for.
    pub(crate) wake: Option<u64>,
    /// The conversation.
    pub(crate) chat: Conversation,
    /// What came in.
    pub(crate) inbox: Inbox,
    /// Requests of ours.
    pub(crate) pending: Vec<Pending>,
    /// Their answers.
    pub(crate) answers: BTreeMap<String, Answer>,
    /// Permission rules.
    pub(crate) rules: Rules,
    /// Hook callbacks.
    pub(crate) hooks: Vec<HookMatcher>,
    /// MCP servers.
    pub(crate) mcp: Vec<McpServer>,
    /// Background work.
    pub(crate) tasks: Vec<Task>,
    /// Money, tokens, time.
    pub(crate) totals: Totals,
    /// What was last printed of the plan, while it refuses.
    pub(crate) refused: Option<Json>,
    /// Scopes, turns and files.
    pub(crate) work: Work,
}

/// What runs now.
pub(crate) struct Work {
    /// The last scope handed out.
    pub(crate) last_scope: u64,
    /// Counts steps of the machine.
    pub(crate) steps: u64,
    /// Counts waits that ended.
    pub(crate) deeds: u64,
    /// The running turn.
    pub(crate) turn: Option<Scope>,
    /// Uuids of the messages of the running turn.
    pub(crate) turn_uuids: Vec<String>,
    /// Scopes that must stop.
    pub(crate) aborted: BTreeMap<Scope, Abort>,
    /// A tool of the turn is running; it is not cut off by a message that wants to be first.
    pub(crate) tools_running: bool,
    /// The turn ends when its tools are done.
    pub(crate) ends_after_tools: bool,
    /// Flows to start after this poll.
    pub(crate) spawned: Vec<super::flow::Flow>,
    /// The files.
    pub(crate) disk: Box<dyn Disk>,
}

/// The handle of all flows.
#[derive(Clone)]
pub(crate) struct Sim(Rc<RefCell<State>>);

impl Sim {
    /// A handle to fresh facts.
    pub(crate) fn new(state: State) -> Self {
        Self(Rc::new(RefCell::new(state)))
    }

    /// Reads or changes the facts.
    pub(crate) fn with<T>(&self, body: impl FnOnce(&mut State) -> T) -> T {
        body(&mut self.0.borrow_mut())
    }

    /// The setup.
    pub(crate) fn setup(&self) -> Rc<Setup> {
        Rc::clone(&self.0.borrow().setup)
    }

    /// The imitated version.
    pub(crate) fn version(&self) -> Version {
        self.0.borrow().setup.version
    }

    /// Whether the newer CLI is imitated.
    pub(crate) fn is_325(&self) -> bool {
        self.version().is_325()
    }

    /// Prints a line.
    pub(crate) fn emit(&self, line: &Json) {
        self.with(|state| state.emit(line));
    }

    /// A fresh uuid.
    pub(crate) fn uuid(&self) -> String {
        self.with(|state| state.ids.uuid())
    }

    /// The id of the conversation.
    pub(crate) fn session_id(&self) -> String {
        self.with(|state| state.chat.id.clone())
    }

    /// The moment of this step.
    pub(crate) fn now(&self) -> u64 {
        self.with(|state| state.now)
    }

    /// Starts another flow.
    pub(crate) fn spawn(&self, flow: impl Future<Output = ()> + 'static) {
        self.with(|state| state.work.spawned.push(Box::pin(flow)));
    }
}

impl State {
    /// Unix microseconds, for stamps.
    pub(crate) fn now_us(&mut self) -> u128 {
        u128::from(self.now_us.max(self.now.saturating_mul(1000)))
    }

    /// Prints a line.
    pub(crate) fn emit(&mut self, line: &Json) {
        self.effects.push(Effect::Line(line.to_string()));
    }

    /// Asks to be polled at a moment.
    pub(crate) fn wake_at(&mut self, at: u64) {
        self.wake = Some(self.wake.map_or(at, |wake| wake.min(at)));
    }

    /// A duration after the time scale.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "a wait of some minutes at most, never negative"
    )]
    pub(crate) fn scaled(&self, ms: u64) -> u64 {
        (ms as f64 * self.setup.env.time_scale.max(0.0)).round() as u64
    }

    /// A new scope.
    pub(crate) fn open_scope(&mut self) -> Scope {
        self.work.last_scope += 1;
        Scope(self.work.last_scope)
    }

    /// The moment of this step as the CLI prints it.
    pub(crate) fn timestamp(&self) -> String {
        super::clock::iso(self.now)
    }
}
