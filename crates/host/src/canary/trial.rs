//! One trial: the program, its stage, and the judgement.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use estelle_claude::mcp::{NoInput, ToolResult, create_sdk_mcp_server, tool};
use estelle_claude::options::{Cli, Options};
use estelle_claude::transport::pipes::{PipesConfig, spawn};
use estelle_claude::wire::content::ToolResultBlock;
use estelle_claude::wire::{Body, Content, ContentBlock, Message, PermissionResult};
use estelle_claude::{Session, StreamError};
use estelle_proto::{ConversationId, Generation, PermissionMode};
use serde_json::json;

use super::CanaryError;
use super::api::Api;
use super::plan::{self, Call, Need};
use crate::launch::{CliMode, FolderTrust, FrozenProject, Hooks, LaunchWish, prepare, run_marker};
use crate::run::{LaunchRecord, RunFolder, clean_up};

/// Longest time of a trial. It takes two seconds on a quiet machine.
const LIMIT: Duration = Duration::from_secs(90);

/// A trial is a run of no conversation, under this name.
const NAME: &str = "canary";
const GENERATION: Generation = Generation(1);

/// What the file holds that must not be read.
const SECRET: &str = "kept-from-the-trial-51c2a7";

/// Most bytes that are listened to. A trial has some hundred kilobytes.
const MAX_OUTPUT_BYTES: usize = 16 * 1024 * 1024;

/// A trial that is ready to run.
#[derive(Debug)]
pub struct Trial {
    /// What is executed: the very arguments of a run.
    pub launch: LaunchRecord,
    stage: Stage,
    calls: Vec<Call>,
    /// Serves the program for as long as the trial is there.
    _api: Api,
}

/// The place of a trial; dropping it removes it.
#[derive(Debug)]
struct Stage {
    root: PathBuf,
}

impl Stage {
    fn build(below: &Path) -> io::Result<Self> {
        // No other trial, of whatever host, had or will have the same place.
        let root = below.join(uuid::Uuid::new_v4().to_string());
        let stage = Self { root };
        for folder in [stage.home(), stage.work()] {
            fs::create_dir_all(folder.join(".claude"))?;
            fs::write(folder.join(".claude/settings.json"), permissive())?;
        }
        fs::write(stage.secret(), SECRET)?;
        Ok(stage)
    }

    fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    fn work(&self) -> PathBuf {
        self.root.join("work")
    }

    fn secret(&self) -> PathBuf {
        self.work().join("secret.txt")
    }

    fn marker(&self) -> PathBuf {
        self.work().join("marker.txt")
    }
}

/// Settings that allow everything.
fn permissive() -> String {
    let permissions = json!({
        "allow": ["*", "Bash", "Read", "Write"], "defaultMode": "bypassPermissions",
    });
    json!({ "permissions": permissions }).to_string()
}

impl Drop for Stage {
    fn drop(&mut self) {
        // What is left behind is small and harmless.
        let _ = fs::remove_dir_all(&self.root);
    }
}

impl Trial {
    /// Makes the place of a trial below a folder of ours, and the API it talks to.
    pub async fn prepare(cli: &Cli, mode: CliMode, below: &Path) -> Result<Self, CanaryError> {
        let stage = Stage::build(below)?;
        let calls = plan::calls(&stage.secret(), &stage.marker());
        let api = Api::start(calls.clone()).await?;
        let wish = wish(mode, &stage.root, &stage.work())?;
        let prepared = prepare(&wish, cli, environment(&stage.home(), api.url()))?;
        prepared.store_files(&RunFolder::open(&stage.root))?;
        Ok(Self {
            launch: prepared.launch,
            stage,
            calls,
            _api: api,
        })
    }

    /// Runs the program and judges it.
    pub async fn run(&self) -> Result<(), CanaryError> {
        let probed = Arc::new(AtomicBool::new(false));
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let options = options(Arc::clone(&probed), Arc::clone(&asked))?;
        let link = spawn(command(&self.launch), PipesConfig::default())?;
        let mut session = Session::over(link, &options);
        let watched = tokio::time::timeout(LIMIT, self.watch(&mut session)).await;
        // Its end is not awaited beyond the grace of the SDK, and what it says then is of no interest.
        let _ = session.close().await;
        if let Some(marker) = marker(&self.stage.root) {
            clean_up(&RunFolder::open(&self.stage.root), &marker).await;
        }
        let seen = watched.map_err(|_| CanaryError::TimedOut)??;
        let asked = asked.lock().unwrap_or_else(PoisonError::into_inner);
        if probed.load(Ordering::SeqCst) {
            let tool = plan::PROBE.to_owned();
            return Err(CanaryError::Unasked { tool });
        }
        if self.stage.marker().exists() || seen.secret {
            let tool = "a tool on a file".to_owned();
            return Err(CanaryError::Unasked { tool });
        }
        judge(&self.calls, &seen, &asked)
    }

    async fn watch(&self, session: &mut Session) -> Result<Seen, CanaryError> {
        let failed = |reason: String| CanaryError::Failed { reason };
        let ready = session.ready().await;
        ready.map_err(|error| failed(error.to_string()))?;
        let sent = session.send(plan::prompt(&self.calls)).await;
        sent.map_err(|error| failed(error.to_string()))?;
        let mut seen = Seen::default();
        loop {
            match session.next().await {
                Some(Ok(message)) => {
                    if seen.note(&message) {
                        return Ok(seen);
                    }
                    if seen.bytes > MAX_OUTPUT_BYTES {
                        let limit = MAX_OUTPUT_BYTES;
                        return Err(CanaryError::TooMuch { limit });
                    }
                }
                Some(Err(error)) => return Err(failed(reason(&error))),
                None => return Err(failed("it ended at once".to_owned())),
            }
        }
    }
}

fn reason(error: &StreamError) -> String {
    error.to_string()
}

/// What the program printed that matters.
#[derive(Debug, Default)]
struct Seen {
    /// Calls with their ids, in order.
    calls: Vec<(String, String)>,
    /// Calls of tools that the program says it does not have.
    unknown: Vec<String>,
    /// Whether the secret was in any line.
    secret: bool,
    /// How much it printed.
    bytes: usize,
}

impl Seen {
    /// Notes a message; true at the end of the turn.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the vendor's list is open and most of it proves nothing"
    )]
    fn note(&mut self, message: &Message) -> bool {
        self.secret |= message.raw().contains(SECRET);
        self.bytes += message.raw().len();
        match &message.body {
            Body::Assistant(answer) => {
                for block in &answer.message.content {
                    if let ContentBlock::ToolUse(call) = block {
                        self.calls.push((call.name.clone(), call.id.clone()));
                    }
                }
            }
            Body::User(user) => {
                let blocks = user.message.content.blocks().iter();
                let results = blocks.filter_map(ContentBlock::as_tool_result);
                let unknown = results.filter(|result| is_unknown(result));
                self.unknown
                    .extend(unknown.map(|result| result.tool_use_id.clone()));
            }
            Body::Result(_) => return true,
            _ => {}
        }
        false
    }
}

/// What the program says of a tool that it does not have.
const NO_SUCH_TOOL: &str = "No such tool available";

/// Whether a call came back because there is no such tool. Any other error may be that of a tool that ran and failed.
fn is_unknown(result: &ToolResultBlock) -> bool {
    let text = result.content.as_ref().map(Content::text);
    result.is_error == Some(true) && text.is_some_and(|text| text.contains(NO_SUCH_TOOL))
}

/// Every planned call was made, and each came to us or is of a tool that the program does not have.
fn judge(planned: &[Call], seen: &Seen, asked: &[String]) -> Result<(), CanaryError> {
    let mut made = seen.calls.iter();
    for call in planned {
        let tool = || call.tool.to_owned();
        let Some((_, id)) = made.find(|(name, _)| name == call.tool) else {
            return Err(CanaryError::NotCalled { tool: tool() });
        };
        let is_missing = call.need == Need::AskedIfThere && seen.unknown.contains(id);
        if !asked.contains(id) && !is_missing {
            return Err(CanaryError::Unasked { tool: tool() });
        }
    }
    Ok(())
}

/// The hash of the arguments of a run in this mode, so that a proof is about them.
pub(super) fn arguments_hash(cli: &Cli, mode: CliMode) -> String {
    let root = Path::new("/");
    let launch = wish(mode, root, root)
        .ok()
        .and_then(|wish| prepare(&wish, cli, []).ok());
    let mut hasher = blake3::Hasher::new();
    for argument in launch.iter().flat_map(|prepared| &prepared.launch.args) {
        hasher.update(argument.as_bytes());
        hasher.update(b"\0");
    }
    hasher.finalize().to_hex().to_string()
}

/// What the processes of a trial are marked with, by its place.
pub(super) fn marker(root: &Path) -> Option<String> {
    let conversation = ConversationId::parse(NAME).ok()?;
    Some(run_marker(&conversation, GENERATION, root))
}

/// The most permissive run there is: a trusted folder, hooks on.
fn wish(mode: CliMode, run_folder: &Path, work: &Path) -> Result<LaunchWish, CanaryError> {
    let conversation = ConversationId::parse(NAME).map_err(io::Error::other)?;
    Ok(LaunchWish {
        conversation,
        generation: GENERATION,
        run_folder: run_folder.to_owned(),
        working_dir: work.to_owned(),
        resume: None,
        mode: match mode {
            CliMode::Default => PermissionMode::BypassPermissions,
            CliMode::Plan => PermissionMode::Plan,
        },
        model: None,
        append_system_prompt: None,
        mcp_config: None,
        servers: None,
        tool_server: None,
        trust: FolderTrust::Granted,
        hooks: Hooks::Run,
        frozen: Some(FrozenProject {
            files: vec![("settings.json".to_owned(), permissive().into_bytes())],
            links: Vec::new(),
        }),
    })
}

/// Nothing of this program's own environment but where programs are.
fn environment(home: &Path, api: &str) -> Vec<(OsString, OsString)> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
    let of = |name: &str, value: OsString| (OsString::from(name), value);
    vec![
        of("PATH", path),
        of("HOME", home.into()),
        of("ANTHROPIC_API_KEY", "canary".into()),
        of("ANTHROPIC_BASE_URL", api.into()),
        of("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".into()),
        of("NO_PROXY", "127.0.0.1".into()),
        // As root the CLI refuses settings that bypass permissions unless it is told that it is in a sandbox.
        of("IS_SANDBOX", "1".into()),
    ]
}

fn command(launch: &LaunchRecord) -> Command {
    let mut command = Command::new(&launch.program);
    command
        .args(&launch.args)
        .env_clear()
        .envs(&launch.env)
        .current_dir(&launch.cwd);
    command
}

/// Denies everything and writes down what was asked; the server's tool says whether it was run.
fn options(
    probed: Arc<AtomicBool>,
    asked: Arc<Mutex<Vec<String>>>,
) -> Result<Options, CanaryError> {
    let probe = tool(plan::PROBE, "Does nothing", move |_: NoInput| {
        probed.store(true, Ordering::SeqCst);
        async { Ok(ToolResult::text("probed")) }
    });
    let server = create_sdk_mcp_server(plan::SERVER, "1", [probe]).map_err(io::Error::other)?;
    Ok(Options::new()
        .mcp_server(plan::SERVER, server)
        .can_use_tool(move |request, _| {
            asked
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(request.tool_use_id);
            async { PermissionResult::deny("this is a trial") }
        }))
}
