//! Starting a run, and its end. What a host before this one left is taken up in `recovering`.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use estelle_claude::wire::ControlRequest;
use estelle_claude::wire::control::Initialize;
use estelle_proto::events::{ClaudeEvent, ErrorEvent};
use estelle_proto::{ApiError, ConversationId, ErrorCode, Generation, Retry};
use estelle_state::conversation::{Control, MessageId, Place, Request, RunExit};
use rustix::process::Signal;
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

use super::actor::{Actor, Broken, Command, Flow, now};
use super::by_file;
use super::judging::trust_request;
use super::live::Live;
use super::watching;
use super::writer::{LineKey, Outgoing, Unwritten};
use crate::failpoint;
use crate::ipc::{Done, Refusal};
use crate::launch::{FolderTrust, Hooks, LaunchWish, Prepared, prepare, run_marker};
use crate::log::Sync;
use crate::run::fifo::WriteError;
use crate::run::{
    Bell, RunFolder, StartError, Tombstoned, clean_up, end_start, saved, send_signal,
    start_detached, tombstone,
};
use crate::terminal::held;
use crate::translate::lines;
use crate::trust::{self, ContentHash, FolderContents};

/// How long a shim has to write down the pid of its child.
const SPAWN_LIMIT: Duration = Duration::from_secs(30);

/// What there is of a run.
#[derive(Debug)]
pub(super) enum Phase {
    /// Nothing.
    Quiet,
    /// What to execute is being found out.
    Preparing(Box<Preparing>),
    /// A shim is on its way.
    Spawning(Box<Spawning>),
    /// A run to read and write.
    Live(Box<Live>),
    /// A run that has ended; what it left behind is being ended.
    Sweeping(Box<Sweeping>),
}

/// A run that has ended.
#[derive(Debug)]
pub(super) struct Sweeping {
    folder: RunFolder,
    task: AbortOnDropHandle<()>,
    exit: RunExit,
}

/// A start that is being prepared.
#[derive(Debug)]
pub(super) struct Preparing {
    task: AbortOnDropHandle<Result<Ready, ApiError>>,
    /// What was wanted when it began.
    wish: LaunchWish,
}

/// A shim that was started.
#[derive(Debug)]
pub(super) struct Spawning {
    folder: RunFolder,
    bell: Bell,
    until: Instant,
    greeting: Option<Initialize>,
}

impl Spawning {
    /// From now on it has its time.
    pub(super) fn new(folder: RunFolder, bell: Bell, greeting: Option<Initialize>) -> Self {
        Self {
            folder,
            bell,
            until: Instant::now() + SPAWN_LIMIT,
            greeting,
        }
    }

    /// Its time is over.
    pub(super) fn give_up(&mut self) {
        self.until = Instant::now();
    }
}

/// What to execute, and what to ask people about it.
#[derive(Debug)]
pub(super) struct Ready {
    prepared: Prepared,
    /// The folder brings something that nobody has decided about.
    question: Option<Request>,
    /// The settings of the folder, if the process takes in changes of them.
    settings: Option<ContentHash>,
    /// Nothing of what the folder brings is loaded, for want of trust.
    is_withheld: bool,
    warnings: Vec<String>,
}

/// Why the task woke up.
#[derive(Debug)]
pub(super) enum Wake {
    Command(Option<Command>),
    Output,
    Unwritten(Unwritten),
    Prepared(Box<Result<Ready, ApiError>>),
    Swept(RunExit),
    Deadline,
}

impl Phase {
    /// Waits for the run. Safe to be dropped at any time.
    pub(super) async fn wake(&mut self) -> Wake {
        match self {
            Self::Quiet => std::future::pending().await,
            Self::Preparing(preparing) => {
                let ready = (&mut preparing.task)
                    .await
                    .unwrap_or_else(|error| Err(internal(&error)));
                Wake::Prepared(Box::new(ready))
            }
            Self::Spawning(spawning) => {
                spawning.bell.notified().await;
                Wake::Output
            }
            Self::Live(live) => live.wake().await,
            Self::Sweeping(sweeping) => {
                // One that failed is swept again by the next host, if there is anything left.
                let _ = (&mut sweeping.task).await;
                Wake::Swept(sweeping.exit.clone())
            }
        }
    }
}

pub(super) fn internal(error: &dyn std::error::Error) -> ApiError {
    ApiError::new(ErrorCode::Internal, error.to_string(), Retry::Later)
}

impl Actor {
    /// Finds out what to execute, in a task of its own.
    pub(super) fn prepare(&mut self) {
        let conversation = self.book.conversation();
        let generation = Generation(conversation.last_generation().0 + 1);
        let wish = self.wish(generation);
        let context = Arc::clone(&self.context);
        let wanted = wish.clone();
        let task = self.context.tracker.spawn(async move {
            let cli = context.agent.find().await.map_err(|error| error.to_api())?;
            let environment = &context.settings.environment;
            let prepare = |wish: &LaunchWish| {
                let prepared = prepare(wish, &cli, environment.clone());
                prepared.map_err(|error| error.to_api())
            };
            // What cannot be started is not worth a trial.
            prepare(&wanted)?;
            // No proof that it asks before every tool, no start.
            let proven = context.canary.ensure(&cli).await;
            proven.map_err(|error| error.to_api())?;
            // Only now, because a trial takes its time: what is judged here is what is started.
            let examined = examine_folder(&context, wanted);
            let prepared = prepare(&examined.wish)?;
            let warnings = prepared.warnings.iter().map(ToString::to_string);
            Ok(Ready {
                warnings: warnings.chain(examined.warning).collect(),
                settings: examined.settings.filter(|_| prepared.takes_settings_in),
                is_withheld: examined.wish.trust == FolderTrust::Withheld,
                prepared,
                question: examined.question,
            })
        });
        let task = AbortOnDropHandle::new(task);
        self.phase = Phase::Preparing(Box::new(Preparing { task, wish }));
    }

    /// What the next run is to be.
    pub(super) fn wish(&self, generation: Generation) -> LaunchWish {
        let conversation = self.book.conversation();
        let settings = conversation.settings();
        let mode = settings.mode.clone();
        LaunchWish {
            conversation: conversation.id().clone(),
            generation,
            run_folder: self.runs().join(generation.0.to_string()),
            working_dir: settings
                .working_dir
                .as_ref()
                .map(|path| path.as_str().into())
                .unwrap_or_default(),
            resume: conversation.session().cloned(),
            mode: mode.unwrap_or_else(|| self.context.default_mode()),
            model: settings.model.clone(),
            append_system_prompt: settings.append_system_prompt.clone(),
            mcp_config: settings.mcp_config.clone(),
            servers: None,
            tool_server: settings
                .tool_server
                .as_ref()
                .map(|server| server.name.to_string()),
            trust: FolderTrust::Withheld,
            hooks: Hooks::None,
            frozen: None,
        }
    }

    pub(super) fn runs(&self) -> std::path::PathBuf {
        self.folder.join("runs")
    }

    /// It is known what to execute: the intent, the folder, the shim.
    pub(super) async fn prepared(
        &mut self,
        ready: Box<Result<Ready, ApiError>>,
    ) -> Result<Flow, Broken> {
        let before = std::mem::replace(&mut self.phase, Phase::Quiet);
        if let Phase::Preparing(preparing) = before
            && preparing.wish != self.wish(preparing.wish.generation)
        {
            // Something else was set meanwhile: what is due is prepared anew.
            return Ok(Flow::On);
        }
        // Whoever waited for it may have stopped waiting meanwhile.
        let Some(entry) = self.book.decide().intend(now()) else {
            return Ok(Flow::On);
        };
        self.record(entry, Sync::Now).await?;
        let ready = match *ready {
            Ok(ready) => ready,
            Err(error) => return self.never_started(error.message).await,
        };
        let holder = self.context.shelf.holder(self.book.conversation().id());
        if let Some(holder) = holder {
            return self.never_started(held(&holder).message).await;
        }
        if let Err(holder) = self.claim() {
            let reason = format!(
                "conversation {holder} works on the same session of the agent; stop it there first, or begin a new session here"
            );
            return self.never_started(reason).await;
        }
        for warning in ready.warnings {
            let event = ClaudeEvent::Error(ErrorEvent::new(warning.clone()));
            let entry = self.book.decide().repair(now(), warning, vec![event]);
            self.record(entry, Sync::Later).await?;
        }
        if let Some(question) = ready.question {
            self.ask_for_trust(question).await?;
        }
        match self.spawn(ready.prepared, ready.settings.as_ref(), ready.is_withheld) {
            Ok(spawning) => {
                self.phase = Phase::Spawning(Box::new(spawning));
                Ok(Flow::On)
            }
            Err(error) => self.never_started(error).await,
        }
    }

    /// Takes the session of this conversation, so that no other writes to it.
    pub(super) fn claim(&self) -> Result<(), ConversationId> {
        let conversation = self.book.conversation();
        match conversation.session() {
            Some(session) => self.context.claim(session, conversation.id()),
            None => Ok(()),
        }
    }

    fn spawn(
        &self,
        prepared: Prepared,
        settings: Option<&ContentHash>,
        is_withheld: bool,
    ) -> Result<Spawning, String> {
        let generation = self.book.conversation().last_generation();
        let folder = RunFolder::create(&self.runs(), generation, &prepared.launch)
            .and_then(|folder| {
                prepared.store_files(&folder)?;
                settings.map_or(Ok(()), |settings| watching::store(&folder, settings))?;
                if is_withheld {
                    watching::store_withheld(&folder)?;
                }
                Ok(folder)
            })
            .map_err(|error| format!("failed to make the folder of the run: {error}"))?;
        failpoint::reach("folder-made");
        crate::run::space::JournalSpace::open(
            &folder.journal(),
            crate::run::space::DEFAULT_RESERVE,
        )
        .and_then(|mut space| space.refill())
        .map_err(|error| format!("no room on the disk for a new run: {error}"))?;
        let bell = self.context.watch.watch(folder.path());
        let marker = run_marker(self.book.conversation().id(), generation, folder.path());
        crate::run::cgroup::prepare(&folder, &marker);
        start_detached(&folder, &self.context.settings.shim)
            .map_err(|error: StartError| error.to_string())?;
        failpoint::reach("shim-started");
        Ok(Spawning::new(folder, bell, Some(prepared.initialize)))
    }

    /// Nothing was executed and nothing will be under this generation.
    pub(super) async fn never_started(&mut self, reason: String) -> Result<Flow, Broken> {
        let exit = RunExit::NeverStarted {
            reason,
            retry: false,
        };
        self.end(exit).await?;
        Ok(Flow::On)
    }

    /// Looks whether a shim has started its child.
    pub(super) async fn look_for_start(&mut self) -> Result<(), Broken> {
        let Phase::Spawning(spawning) = &mut self.phase else {
            return Ok(());
        };
        let Some(record) = spawning.folder.load_run()? else {
            if Instant::now() < spawning.until {
                return Ok(());
            }
            let folder = spawning.folder.clone();
            return self.give_up_starting(&folder).await;
        };
        let (folder, greeting) = (spawning.folder.clone(), spawning.greeting.take());
        let started = self
            .book
            .decide()
            .started(now(), record.pid, record.start_ticks);
        if let Some(entry) = started {
            self.record(entry, Sync::Now).await?;
        }
        let live = Live::attach(self.book.conversation(), folder, record, &self.context)?;
        self.phase = Phase::Live(Box::new(live));
        self.touch();
        if self.is_stopping() {
            self.close_input();
            return Ok(());
        }
        match greeting {
            Some(greeting) => self.greet(greeting).await,
            // Another host started it and died before it could.
            None => self.greet_again().await,
        }
    }

    /// Nobody waits any longer for a shim that has not started its child. One that keeps the lock all the same is held, or
    /// hangs, and would keep the conversation waiting for ever.
    async fn give_up_starting(&mut self, folder: &RunFolder) -> Result<(), Broken> {
        const WHY: &str = "the shim did not start its child in time";
        let mut outcome = tombstone(folder, WHY)?;
        if outcome == Tombstoned::Alive {
            tracing::error!(conversation = %self.book.conversation().id(), "{WHY}: it is killed");
            end_start(folder).await;
            if folder.load_run()?.is_some() {
                // It was faster. What is left of the run is a run like any other.
                return Ok(());
            }
            outcome = tombstone(folder, WHY)?;
        }
        if outcome == Tombstoned::Yes {
            let reason = "the agent's process could not be started in time".to_owned();
            self.never_started(reason).await?;
        }
        Ok(())
    }

    /// The first line to a new process.
    pub(super) async fn greet(&mut self, greeting: Initialize) -> Result<(), Broken> {
        let id = request_id();
        let request =
            ControlRequest::new(id.clone(), estelle_claude::wire::Request::from(greeting));
        let text = serde_json::to_string(&request)?;
        self.send_control(id, Control::Initialize, text).await
    }

    /// Sends a control request: logged, then written once.
    pub(super) async fn control(&mut self, control: Control) -> Result<(), Broken> {
        let id = request_id();
        let Some(text) = lines::control(&id, &control)? else {
            return Ok(());
        };
        self.send_control(id, control, text).await
    }

    async fn send_control(
        &mut self,
        id: String,
        control: Control,
        text: String,
    ) -> Result<(), Broken> {
        let Phase::Live(live) = &self.phase else {
            return Ok(());
        };
        if live.closed {
            return Ok(());
        }
        let is_end = control == Control::End;
        let Some(entry) = self.book.decide().request(now(), id.clone(), control) else {
            return Ok(());
        };
        self.record(entry, Sync::Now).await?;
        if let Phase::Live(live) = &mut self.phase {
            live.write(LineKey::Control(id), || Some(text));
            live.closed |= is_end;
        }
        Ok(())
    }

    /// A line could not be written.
    pub(super) async fn unwritten(&mut self, unwritten: Unwritten) -> Result<Flow, Broken> {
        let Outgoing { key, text } = unwritten.line;
        match (key, unwritten.error) {
            // The end is noticed by itself; what was not written waits for the next run.
            (_, WriteError::Gone) => {}
            (_, error @ WriteError::Torn { .. }) => self.give_up_torn(&error).await?,
            (LineKey::Message(id), WriteError::TooLong { .. } | WriteError::QuotaSpent { .. }) => {
                self.write_by_file(&id)?;
            }
            // Writing it again would fail again, for ever.
            (key, WriteError::TooLong { .. }) => {
                tracing::error!(?key, "a line for the agent is longer than any pipe holds");
            }
            (key, error) => {
                tracing::warn!(?key, %error, "a line could not be written to the agent; it is tried again");
                // Nothing of it was written; only what could break off another turn must not come late.
                let is_late = matches!(key, LineKey::Control(_))
                    && matches!(error, WriteError::QuotaSpent { .. });
                if let Phase::Live(live) = &mut self.phase {
                    live.delay(key, is_late.then_some(text));
                }
            }
        }
        Ok(Flow::On)
    }

    /// Half a line is in the pipe. Whatever is written next would be glued to it, so nothing is, and the process ends.
    async fn give_up_torn(&mut self, error: &WriteError) -> Result<(), Broken> {
        let what = format!(
            "{error}: the agent's process is ended, because it would take the next line for the rest of this one"
        );
        tracing::error!(conversation = %self.book.conversation().id(), "{what}");
        let event = ClaudeEvent::Error(ErrorEvent::new(what.clone()));
        let entry = self.book.decide().repair(now(), what, vec![event]);
        self.record(entry, Sync::Now).await?;
        if let Phase::Live(live) = &mut self.phase {
            live.closed = true;
            send_signal(&live.record, Signal::KILL);
        }
        self.stopping.condemn();
        Ok(())
    }

    /// The run is over, and everything it printed is in the log. Ends what it left behind before its end is written down: a
    /// host that dies here does it again. That may take a while, in which nobody is held up.
    pub(super) fn sweep(&mut self, exit: RunExit) {
        let Phase::Live(live) = &self.phase else {
            return;
        };
        let (id, folder) = (self.book.conversation().id(), live.folder.clone());
        let marker = run_marker(id, live.generation, folder.path());
        let swept = folder.clone();
        let task = self.context.tracker.spawn(async move {
            let cleaned = clean_up(&swept, &marker).await;
            if cleaned.left > 0 {
                tracing::warn!(left = cleaned.left, %marker, "processes of a run could not be ended");
            }
        });
        let task = AbortOnDropHandle::new(task);
        self.phase = Phase::Sweeping(Box::new(Sweeping { folder, task, exit }));
    }

    /// The run is over, and nothing is left of it.
    pub(super) async fn end(&mut self, exit: RunExit) -> Result<(), Broken> {
        let saved = self.saved_messages().await;
        let conversation = self.book.conversation();
        if let Some(run) = conversation.run() {
            let folder = self.runs().join(run.generation.0.to_string());
            by_file::remove(&folder, conversation);
        }
        let in_transcript = |id: &MessageId| saved.contains(&id.0);
        let is_stopped = conversation.run().is_some_and(|run| run.stopping.is_some());
        let is_silent = !is_stopped && matches!(exit, RunExit::Code { code: 0, .. });
        let entry = self.book.decide().ended_run(now(), exit, in_transcript);
        self.phase = Phase::Quiet;
        self.stopping.clear();
        self.context.release(self.book.conversation().id());
        if let Some(entry) = entry {
            self.record(entry, Sync::Now).await?;
        }
        if is_silent {
            self.repeat_waiting();
        }
        self.book.give_back();
        self.retire_runs();
        self.after_the_end().await
    }

    /// Which of the messages that the run was given stand in what the CLI itself has saved.
    async fn saved_messages(&self) -> HashSet<String> {
        let conversation = self.book.conversation();
        let (Phase::Sweeping(swept), Some(session)) = (&self.phase, conversation.session()) else {
            return HashSet::new();
        };
        let handed = conversation.messages().iter();
        let handed: Vec<String> = handed
            .filter(|one| matches!(one.place, Place::Handed(_)))
            .map(|one| one.message.id.0.clone())
            .collect();
        if handed.is_empty() {
            return HashSet::new();
        }
        let (folder, session) = (swept.folder.clone(), session.to_string());
        let look = move || {
            let launch = folder.load_launch().ok()??;
            let path = saved::transcript(&launch, &session)?;
            saved::mentioned(&path, &handed).ok()
        };
        // A transcript may be large: it is read beside the tasks, and none of it is kept.
        let found = tokio::task::spawn_blocking(look).await;
        found.ok().flatten().unwrap_or_default()
    }

    /// People who waited for the answer of a resume.
    pub(super) fn tell_resumed(&mut self, outcome: &Result<bool, Refusal>) {
        for reply in self.resuming.drain(..) {
            let done = outcome.clone().map(|with_history| Done {
                resumed_with_history: Some(with_history),
                ..Done::default()
            });
            // A client that left does not hear it.
            let _ = reply.send(done);
        }
    }
}

/// What is known of a folder when a process is to be started in it.
struct Examined {
    wish: LaunchWish,
    question: Option<Request>,
    settings: Option<ContentHash>,
    /// What people should know who wonder why nothing of it is loaded.
    warning: Option<String>,
}

/// What the folder brings, and whether it may be loaded.
fn examine_folder(context: &super::context::Context, mut wish: LaunchWish) -> Examined {
    let home = context.settings.home.as_deref();
    // A folder that is not there is refused with a better sentence by the launch.
    let Ok(contents) = trust::scan(&wish.working_dir, home) else {
        return Examined {
            wish,
            question: None,
            settings: None,
            warning: None,
        };
    };
    let standing = context.trust().standing(&contents);
    wish.trust = standing.trust();
    let config = context.settings.config_folder();
    let user_hooks = config.map(|config| trust::scan_user_hooks(&config));
    let user_hooks = user_hooks.unwrap_or_default();
    wish.frozen = contents.frozen();
    wish.servers = contents.servers();
    wish.hooks = contents.hooks(wish.trust, user_hooks.iter().map(String::as_str));
    let (question, warning) = match standing {
        trust::Standing::Ask => (trust_request(&contents), None),
        trust::Standing::Untrustable => (None, Some(untrustable(&contents))),
        trust::Standing::Nothing | trust::Standing::Answered(_) => (None, None),
    };
    Examined {
        wish,
        question,
        settings: Some(contents.settings),
        warning,
    }
}

/// Why nobody is even asked about a folder.
fn untrustable(contents: &FolderContents) -> String {
    let problems: Vec<_> = contents.problems.iter().map(ToString::to_string).collect();
    format!(
        "nothing of the settings, hooks and tool servers of {} is loaded, because they cannot be trusted: {}",
        contents.folder.display(),
        problems.join("; ")
    )
}

pub(super) fn request_id() -> String {
    format!("estelle-{}", uuid::Uuid::new_v4())
}
