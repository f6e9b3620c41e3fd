//! Starting a run, taking up one that lives, and its end.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use estelle_claude::wire::ControlRequest;
use estelle_proto::events::{ClaudeEvent, ErrorEvent};
use estelle_proto::{ApiError, ConversationId, ErrorCode, Generation, Retry};
use estelle_state::conversation::{Control, MessageId, Place, Request, RunExit};
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

use super::actor::{Actor, Broken, Command, Flow, now};
use super::judging::trust_request;
use super::live::Live;
use super::watching;
use super::writer::{LineKey, Unwritten};
use crate::failpoint;
use crate::ipc::{Done, Refusal};
use crate::launch::{FolderTrust, Hooks, LaunchWish, Prepared, prepare, run_marker};
use crate::log::Sync;
use crate::run::fifo::WriteError;
use crate::run::{RunFolder, StartError, Tombstoned, clean_up, saved, start_detached, tombstone};
use crate::translate::lines;
use crate::trust::{self, ContentHash};

/// How long a shim has to write down the pid of its child.
const SPAWN_LIMIT: Duration = Duration::from_secs(30);

/// What there is of a run.
#[derive(Debug)]
pub(super) enum Phase {
    /// Nothing.
    Quiet,
    /// What to execute is being found out.
    Preparing(AbortOnDropHandle<Result<Ready, ApiError>>),
    /// A shim is on its way.
    Spawning(Box<Spawning>),
    /// A run to read and write.
    Live(Box<Live>),
}

/// A shim that was started.
#[derive(Debug)]
pub(super) struct Spawning {
    folder: RunFolder,
    bell: Arc<Notify>,
    until: Instant,
    greeting: Option<estelle_claude::wire::control::Initialize>,
}

/// What to execute, and what to ask people about it.
#[derive(Debug)]
pub(super) struct Ready {
    prepared: Prepared,
    /// The folder brings something that nobody has decided about.
    question: Option<Request>,
    /// The settings of the folder, if the process takes in changes of them.
    settings: Option<ContentHash>,
    warnings: Vec<String>,
}

/// Why the task woke up.
#[derive(Debug)]
pub(super) enum Wake {
    Command(Option<Command>),
    Output,
    Unwritten(Unwritten),
    Prepared(Box<Result<Ready, ApiError>>),
    Deadline,
}

impl Phase {
    /// Waits for the run. Safe to be dropped at any time.
    pub(super) async fn wake(&mut self) -> Wake {
        match self {
            Self::Quiet => std::future::pending().await,
            Self::Preparing(task) => {
                let ready = task.await.unwrap_or_else(|error| Err(internal(&error)));
                Wake::Prepared(Box::new(ready))
            }
            Self::Spawning(spawning) => {
                spawning.bell.notified().await;
                Wake::Output
            }
            Self::Live(live) => live.wake().await,
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
        let task = self.context.tracker.spawn(async move {
            let (wish, question, settings) = examine_folder(&context, wish);
            let cli = context.agent.find().await.map_err(|error| error.to_api())?;
            let environment = context.settings.environment.clone();
            let prepared = prepare(&wish, &cli, environment).map_err(|error| error.to_api())?;
            // No proof that it asks before every tool, no start.
            let proven = context.canary.ensure(&cli, prepared.mode).await;
            proven.map_err(|error| error.to_api())?;
            let warnings = prepared.warnings.iter().map(ToString::to_string).collect();
            Ok(Ready {
                settings: settings.filter(|_| prepared.takes_settings_in),
                prepared,
                question,
                warnings,
            })
        });
        self.phase = Phase::Preparing(AbortOnDropHandle::new(task));
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
        self.phase = Phase::Quiet;
        // Whoever waited for it may have stopped waiting meanwhile.
        let Some(entry) = self.book.decide().intend(now()) else {
            return Ok(Flow::On);
        };
        self.record(entry, Sync::Now).await?;
        let ready = match *ready {
            Ok(ready) => ready,
            Err(error) => return self.never_started(error.message).await,
        };
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
        match self.spawn(ready.prepared, ready.settings.as_ref()) {
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
    ) -> Result<Spawning, String> {
        let generation = self.book.conversation().last_generation();
        let folder = RunFolder::create(&self.runs(), generation, &prepared.launch)
            .and_then(|folder| {
                prepared.store_files(&folder)?;
                settings.map_or(Ok(()), |settings| watching::store(&folder, settings))?;
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
        let bell = self
            .context
            .watch
            .watch(folder.path())
            .map_err(|error| format!("failed to watch the folder of the run: {error}"))?;
        let marker = run_marker(self.book.conversation().id(), generation, folder.path());
        crate::run::cgroup::prepare(&folder, &marker);
        start_detached(&folder, &self.context.settings.shim)
            .map_err(|error: StartError| error.to_string())?;
        failpoint::reach("shim-started");
        Ok(Spawning {
            folder,
            bell,
            until: Instant::now() + SPAWN_LIMIT,
            greeting: Some(prepared.initialize),
        })
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
            if tombstone(&folder, "the shim did not start its child in time")? == Tombstoned::Yes {
                let reason = "the agent's process could not be started in time".to_owned();
                self.never_started(reason).await?;
            }
            return Ok(());
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
        match greeting {
            Some(greeting) => self.greet(greeting).await,
            // Another host started it and died before it could.
            None => self.greet_again().await,
        }
    }

    /// The first line to a new process.
    async fn greet(
        &mut self,
        greeting: estelle_claude::wire::control::Initialize,
    ) -> Result<(), Broken> {
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
    pub(super) async fn unwritten(&mut self, line: Unwritten) -> Result<Flow, Broken> {
        match (&line.key, &line.error) {
            // The end is noticed by itself; what was not written waits for the next run.
            (_, WriteError::Gone) => {}
            (LineKey::Message(id), WriteError::TooLong { .. } | WriteError::QuotaSpent { .. }) => {
                let id = id.clone();
                self.write_by_file(&id)?;
            }
            // Writing it again would fail again, for ever.
            (key, WriteError::TooLong { .. }) => {
                tracing::error!(?key, "a line for the agent is longer than any pipe holds");
            }
            (key, error) => {
                tracing::warn!(?key, %error, "a line could not be written to the agent");
                if let Phase::Live(live) = &mut self.phase {
                    live.unwrite(&line.key);
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
        Ok(Flow::On)
    }

    /// A message that no pipe holds goes into a file that the message names.
    fn write_by_file(&mut self, id: &MessageId) -> Result<(), Broken> {
        let tracked = self.book.conversation().messages().iter();
        let Some(message) = tracked.map(|one| &one.message).find(|one| one.id == *id) else {
            return Ok(());
        };
        let Phase::Live(live) = &mut self.phase else {
            return Ok(());
        };
        let name = format!("message-{}.md", id.0);
        live.folder.store_file(&name, message.content.as_bytes())?;
        let path = live.folder.path().join(name);
        let mut short = message.clone();
        short.content = format!("Read the message of the user in @{}", path.display());
        live.unwrite(&LineKey::Message(id.clone()));
        let text = lines::message(&short)?;
        live.write(LineKey::Message(id.clone()), || Some(text));
        Ok(())
    }

    /// The run is over, and everything it printed is in the log.
    pub(super) async fn end(&mut self, exit: RunExit) -> Result<(), Broken> {
        self.sweep().await;
        let saved = self.saved_messages().await;
        let in_transcript = |id: &MessageId| saved.contains(&id.0);
        let entry = self.book.decide().ended_run(now(), exit, in_transcript);
        self.phase = Phase::Quiet;
        self.stopping.clear();
        self.context.release(self.book.conversation().id());
        if let Some(entry) = entry {
            self.record(entry, Sync::Now).await?;
        }
        self.book.give_back();
        self.retire_runs();
        self.after_the_end().await
    }

    /// Ends what the run left behind, before its end is written down: a host that dies here does it again.
    async fn sweep(&self) {
        let Phase::Live(live) = &self.phase else {
            return;
        };
        let marker = run_marker(
            self.book.conversation().id(),
            live.generation,
            live.folder.path(),
        );
        let cleaned = clean_up(&live.folder, &marker).await;
        if cleaned.left > 0 {
            tracing::warn!(left = cleaned.left, %marker, "processes of a run could not be ended");
        }
    }

    /// Which of the messages that the run was given stand in what the CLI itself has saved.
    async fn saved_messages(&self) -> HashSet<String> {
        let conversation = self.book.conversation();
        let (Phase::Live(live), Some(session)) = (&self.phase, conversation.session()) else {
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
        let (folder, session) = (live.folder.clone(), session.to_string());
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

    /// Takes up whatever was left by the host before.
    pub(super) async fn recover(&mut self) -> Result<(), Broken> {
        self.retire_runs();
        let Some(run) = self.book.conversation().run() else {
            // Its end may have been written down when the disk failed: whoever waited for it still does.
            return self.after_the_end().await;
        };
        let folder = RunFolder::open(self.runs().join(run.generation.0.to_string()));
        // A run that lives has its session, whoever else would like it.
        let _ = self.claim();
        let was_stopping = run.stopping.clone();
        let record = folder.load_run()?;
        self.stopping.go_on(self.book.conversation());
        match record {
            Some(_) if self.is_cut_off(&folder).await => self.end(RunExit::Unknown).await?,
            Some(record) => {
                let started = self
                    .book
                    .decide()
                    .started(now(), record.pid, record.start_ticks);
                if let Some(entry) = started {
                    self.record(entry, Sync::Now).await?;
                }
                let live = Live::attach(self.book.conversation(), folder, record, &self.context)?;
                self.phase = Phase::Live(Box::new(live));
                if was_stopping.is_some() {
                    if let Phase::Live(live) = &mut self.phase {
                        live.closed = true;
                    }
                } else {
                    self.greet_again().await?;
                }
            }
            None => self.recover_start(folder).await?,
        }
        Ok(())
    }

    /// Ends a run whose FIFO or journal was taken away while no host was there: it would hear nothing, or not be heard.
    /// True if there is nothing left to read either.
    async fn is_cut_off(&self, folder: &RunFolder) -> bool {
        let has_journal = folder.journal().exists();
        if (!has_journal || !folder.fifo().exists())
            && let Some(run) = self.book.conversation().run()
        {
            let id = self.book.conversation().id();
            tracing::error!(conversation = %id, "files of a run were removed: it is ended");
            clean_up(folder, &run_marker(id, run.generation, folder.path())).await;
        }
        !has_journal
    }

    /// A start that was interrupted: given up for good, unless the shim was faster.
    async fn recover_start(&mut self, folder: RunFolder) -> Result<(), Broken> {
        let exists = folder.path().exists();
        if !exists || tombstone(&folder, "the host died while starting it")? == Tombstoned::Yes {
            let exit = RunExit::NeverStarted {
                reason: "the host died while starting it".to_owned(),
                retry: true,
            };
            return self.end(exit).await;
        }
        let bell = self.context.watch.watch(folder.path())?;
        self.phase = Phase::Spawning(Box::new(Spawning {
            folder,
            bell,
            until: Instant::now() + SPAWN_LIMIT,
            greeting: None,
        }));
        Ok(())
    }

    /// A process that was never greeted is greeted by us: the greeting may be repeated.
    async fn greet_again(&mut self) -> Result<(), Broken> {
        let Some(run) = self.book.conversation().run() else {
            return Ok(());
        };
        if run.is_ready() {
            return Ok(());
        }
        let wish = self.wish(run.generation);
        self.greet(crate::launch::greeting(&wish)).await
    }
}

/// What the folder brings, and whether it may be loaded.
fn examine_folder(
    context: &super::context::Context,
    mut wish: LaunchWish,
) -> (LaunchWish, Option<Request>, Option<ContentHash>) {
    let home = context.settings.home.as_deref();
    // A folder that is not there is refused with a better sentence by the launch.
    let Ok(contents) = trust::scan(&wish.working_dir, home) else {
        return (wish, None, None);
    };
    let standing = context.trust().standing(&contents);
    wish.trust = standing.trust();
    let user_hooks = home.map(|home| trust::scan_user_hooks(&home.join(".claude")));
    let user_hooks = user_hooks.unwrap_or_default();
    wish.frozen = contents.frozen();
    wish.hooks = contents.hooks(wish.trust, user_hooks.iter().map(String::as_str));
    let question = match standing {
        trust::Standing::Ask => trust_request(&contents),
        trust::Standing::Nothing | trust::Standing::Answered(_) | trust::Standing::Untrustable => {
            None
        }
    };
    (wish, question, Some(contents.settings))
}

fn request_id() -> String {
    format!("estelle-{}", uuid::Uuid::new_v4())
}
