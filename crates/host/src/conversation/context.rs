//! What all conversations of a host share.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use estelle_claude::options::{Cli, Search};
use estelle_proto::{ApiError, ClaudeSessionId, ConversationId, OnBusy, PermissionMode};
use estelle_state::idle::IdleTimeout;
use estelle_state::policy::DenyPatterns;
use tokio_util::task::TaskTracker;

use super::actor::now;
use crate::canary::Canary;
use crate::failpoint;
use crate::launch::{FindCliError, LaunchWish, find_cli, prepare};
use crate::mailbox::Roster;
use crate::rules::RuleBook;
use crate::run::{RunWatch, ShimCommand};
use crate::terminal::Shelf;
use crate::traffic::{Limits, Redactor, TrafficLog};
use crate::trust::TrustStore;

/// How a host is to work.
#[derive(Debug, Clone)]
pub struct HostSettings {
    /// Where everything is kept.
    pub data: PathBuf,
    /// How to run this program as a shim.
    pub shim: ShimCommand,
    /// Where the agent's program is looked for.
    pub search: Search,
    /// The environment that runs inherit.
    pub environment: BTreeMap<OsString, OsString>,
    /// The user's home folder.
    pub home: Option<PathBuf>,
    /// Whether refusals come before modes.
    pub deny_first: bool,
    /// What must not be touched or run.
    pub patterns: DenyPatterns,
    /// What becomes of a message that comes while a turn runs and does not say.
    pub on_busy: OnBusy,
    /// After how long without a word from the agent a turn is broken off; none means never.
    pub turn_limit: Option<Duration>,
    /// After how long an idle process is stopped.
    pub idle: IdleTimeout,
    /// How long a process has to end after it was asked to.
    pub grace: Duration,
}

impl HostSettings {
    /// Where the agents of this host keep the user's settings and their sessions.
    pub(crate) fn config_folder(&self) -> Option<PathBuf> {
        let set = self.environment.get(OsStr::new("CLAUDE_CONFIG_DIR"));
        let set = set.filter(|folder| !folder.is_empty()).map(PathBuf::from);
        let home = || self.home.as_ref().map(|home| home.join(".claude"));
        set.or_else(home)
    }
}

/// What all conversations share.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) settings: HostSettings,
    pub(crate) watch: RunWatch,
    pub(crate) roster: Roster,
    pub(crate) tracker: TaskTracker,
    pub(crate) agent: Agent,
    pub(crate) canary: Canary,
    /// All terminals, and what they hold.
    pub(crate) shelf: Shelf,
    /// Absent when the log could not be opened: it is a help, not the truth.
    pub(crate) traffic: Option<TrafficLog>,
    trust: Mutex<TrustStore>,
    rules: Mutex<RuleBook>,
    /// The session that each live conversation writes to: the CLI itself would let two write to one.
    claims: Mutex<HashMap<ClaudeSessionId, ConversationId>>,
    default_mode: Mutex<PermissionMode>,
    going_down: AtomicBool,
    /// Conversations whose task failed.
    failed: Mutex<HashSet<ConversationId>>,
}

impl Context {
    pub(crate) fn new(
        settings: HostSettings,
        watch: RunWatch,
        trust: TrustStore,
        default_mode: PermissionMode,
    ) -> Self {
        Self {
            agent: Agent::new(settings.search.clone()),
            canary: Canary::load(&settings.data),
            shelf: Shelf::open(&settings.data, &settings.shim),
            claims: Mutex::default(),
            rules: Mutex::new(RuleBook::load(&settings.data)),
            traffic: open_traffic(&settings),
            settings,
            watch,
            roster: Roster::default(),
            tracker: TaskTracker::new(),
            trust: Mutex::new(trust),
            default_mode: Mutex::new(default_mode),
            going_down: AtomicBool::new(false),
            failed: Mutex::default(),
        }
    }

    pub(crate) fn conversation_folder(&self, id: &str) -> PathBuf {
        self.settings.data.join("conversations").join(id)
    }

    /// Where things lie that are about to be removed; the next host empties it.
    pub(crate) fn trash(&self) -> PathBuf {
        self.settings.data.join("deleted")
    }

    /// Removes a conversation: first out of sight in one step, then for good. A host that dies in between leaves nothing
    /// half, and the next one removes the rest.
    pub(crate) fn put_away(&self, id: &ConversationId, folder: &Path) -> io::Result<()> {
        let trash = self.trash();
        std::fs::create_dir_all(&trash)?;
        let aside = trash.join(format!("{id}-{}", now().0));
        std::fs::rename(folder, &aside)?;
        failpoint::reach("conversation-aside");
        let _ = std::fs::remove_dir_all(&aside);
        Ok(())
    }

    /// Whether a run could be started at all, before anything is promised.
    pub(crate) async fn preflight(&self, wish: &LaunchWish) -> Result<(), ApiError> {
        let cli = self.agent.find().await.map_err(|error| error.to_api())?;
        let environment = self.settings.environment.clone();
        prepare(wish, &cli, environment).map_err(|error| error.to_api())?;
        Ok(())
    }

    /// Takes a session for a conversation, in the place of the one it had. The holder, if it is another conversation.
    pub(crate) fn claim(
        &self,
        session: &ClaudeSessionId,
        conversation: &ConversationId,
    ) -> Result<(), ConversationId> {
        if let Some(writer) = self.shelf.writer_of(session) {
            return Err(writer);
        }
        let mut claims = self.claims.lock().unwrap_or_else(PoisonError::into_inner);
        match claims.get(session) {
            Some(holder) if holder != conversation => return Err(holder.clone()),
            Some(_) => return Ok(()),
            None => {}
        }
        claims.retain(|_, holder| holder != conversation);
        claims.insert(session.clone(), conversation.clone());
        Ok(())
    }

    /// Lets go of the session of a conversation that has no process.
    pub(crate) fn release(&self, conversation: &ConversationId) {
        let mut claims = self.claims.lock().unwrap_or_else(PoisonError::into_inner);
        claims.retain(|_, holder| holder != conversation);
    }

    /// The task of a conversation failed.
    pub(crate) fn note_failure(&self, conversation: &ConversationId) {
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.insert(conversation.clone());
    }

    /// Whether the task of a conversation ever failed.
    pub(crate) fn has_failed(&self, conversation: &ConversationId) -> bool {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.contains(conversation)
    }

    /// The user's rules.
    pub(crate) fn rules(&self) -> MutexGuard<'_, RuleBook> {
        // The book changes its memory only after the disk.
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn trust(&self) -> MutexGuard<'_, TrustStore> {
        // The store changes its memory only after the disk.
        self.trust.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on no run is started: all of them are being ended.
    pub(crate) fn go_down(&self) {
        self.going_down.store(true, Ordering::SeqCst);
    }

    /// Whether the host goes down and takes its runs along.
    pub(crate) fn is_going_down(&self) -> bool {
        self.going_down.load(Ordering::SeqCst)
    }

    pub(crate) fn default_mode(&self) -> PermissionMode {
        self.default_mode
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(crate) fn set_default_mode(&self, mode: PermissionMode) {
        *self
            .default_mode
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = mode;
    }
}

fn open_traffic(settings: &HostSettings) -> Option<TrafficLog> {
    let redactor = Redactor::from_environment();
    match TrafficLog::open(&settings.data.join("logs"), Limits::default(), redactor) {
        Ok((log, _writer)) => Some(log),
        Err(error) => {
            tracing::warn!(%error, "going on without a log of the traffic");
            None
        }
    }
}

/// The agent's program, asked for its version once per file.
#[derive(Debug)]
pub(crate) struct Agent {
    search: Search,
    known: tokio::sync::Mutex<Option<(FileMark, Cli)>>,
}

/// Tells whether a file is the one that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FileMark {
    path: PathBuf,
    length: u64,
    modified: Option<SystemTime>,
}

impl FileMark {
    fn of(path: &Path) -> Option<Self> {
        let path = std::fs::canonicalize(path).ok()?;
        let metadata = std::fs::metadata(&path).ok()?;
        Some(Self {
            path,
            length: metadata.len(),
            modified: metadata.modified().ok(),
        })
    }
}

impl Agent {
    pub(crate) fn new(search: Search) -> Self {
        Self {
            search,
            known: tokio::sync::Mutex::new(None),
        }
    }

    /// Finds the program; a file that is known is not asked again.
    pub(crate) async fn find(&self) -> Result<Cli, FindCliError> {
        let mut known = self.known.lock().await;
        let mark = self.search.find().ok().and_then(|path| FileMark::of(&path));
        if let (Some((before, cli)), Some(mark)) = (known.as_ref(), &mark)
            && before == mark
        {
            return Ok(cli.clone());
        }
        let cli = find_cli(&self.search).await?;
        *known = mark.map(|mark| (mark, cli.clone()));
        Ok(cli)
    }
}
