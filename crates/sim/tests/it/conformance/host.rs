//! The host of a scenario: starts a CLI, real or simulated, does what the scenario says and keeps every line it printed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

use super::scenarios::{Deed, Part, Policy};
use super::tree::Tree;

const PATIENCE: Duration = Duration::from_secs(40);
const UUID: &str = "3f0c6d1e-8b7a-4c1d-9e2f-0a1b2c3d";
const ARGS: [&str; 10] = [
    "--output-format",
    "stream-json",
    "--input-format",
    "stream-json",
    "--verbose",
    "--include-partial-messages",
    "--permission-prompt-tool",
    "stdio",
    "--replay-user-messages",
    "--allow-dangerously-skip-permissions",
];

/// A line as it was printed.
pub(super) struct Seen {
    pub(super) part: &'static str,
    pub(super) line: Tree,
    /// The folders of the run and what they are called.
    pub(super) folders: Vec<(String, String)>,
}

/// How to start a CLI.
pub(super) struct Place {
    pub(super) program: PathBuf,
    pub(super) env: BTreeMap<String, String>,
    pub(super) home: tempfile::TempDir,
    pub(super) work: tempfile::TempDir,
}

/// A CLI on its pipes.
pub(super) struct Host {
    place: Place,
    process: Process,
    part: &'static str,
    policy: Policy,
    sent: u32,
    session: String,
    blocked: bool,
    seen: Vec<Seen>,
}

struct Process {
    input: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
    errors: ChildStderr,
    child: Child,
}

impl Process {
    fn start(place: &Place, args: &[String]) -> anyhow::Result<Self> {
        let mut child = Command::new(&place.program)
            .args(ARGS)
            .args(args)
            .env_clear()
            .envs(&place.env)
            .current_dir(place.work.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        Ok(Self {
            input: child.stdin.take(),
            lines: BufReader::new(child.stdout.take().context("stdout")?).lines(),
            errors: child.stderr.take().context("stderr")?,
            child,
        })
    }
}

impl Host {
    pub(super) fn start(place: Place, args: &[&str]) -> anyhow::Result<Self> {
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        Ok(Self {
            process: Process::start(&place, &args)?,
            place,
            part: "",
            policy: Policy::Allow,
            sent: 0,
            session: String::new(),
            blocked: false,
            seen: Vec::new(),
        })
    }

    /// Plays a part of a scenario.
    pub(super) async fn play(&mut self, part: &Part) -> anyhow::Result<()> {
        self.part = part.name;
        self.policy = Policy::Allow;
        for (at, deed) in part.deeds.iter().enumerate() {
            let what = || format!("{}, deed {at}", part.name);
            tokio::time::timeout(PATIENCE, self.act(deed))
                .await
                .with_context(what)?
                .with_context(what)?;
        }
        Ok(())
    }

    /// Everything that was printed.
    pub(super) fn into_seen(self) -> Vec<Seen> {
        self.seen
    }

    async fn act(&mut self, deed: &Deed) -> anyhow::Result<()> {
        match deed {
            Deed::Policy(policy) => {
                self.policy = *policy;
                Ok(())
            }
            Deed::Turn(text) => {
                self.prompt(text, &json!({})).await?;
                self.until(|line| line["type"] == "result").await
            }
            Deed::Send(text, more) => self.prompt(text, more).await,
            Deed::Request(request) => {
                let id = self.request(request).await?;
                self.until(|line| line["response"]["request_id"] == *id)
                    .await
            }
            Deed::Ask(request) => self.request(request).await.map(drop),
            Deed::Until(pointer, value) => {
                self.until(|line| line.pointer(pointer).is_some_and(|found| found == value))
                    .await
            }
            Deed::Raw(text) => self.write(text).await,
            Deed::Exit => self.exit().await,
            Deed::Restart(args) => {
                self.process.input = None;
                self.process.child.wait().await?;
                let session = &self.session;
                let args = args.iter().map(|arg| arg.replace("SESSION", session));
                let args: Vec<String> = args.collect();
                self.process = Process::start(&self.place, &args)?;
                Ok(())
            }
        }
    }

    async fn write(&mut self, line: &str) -> anyhow::Result<()> {
        let input = self.process.input.as_mut().context("stdin is closed")?;
        Ok(input.write_all(format!("{line}\n").as_bytes()).await?)
    }

    async fn prompt(&mut self, text: &str, more: &Value) -> anyhow::Result<()> {
        self.sent += 1;
        let text = text.replace("WORK", &self.place.work.path().to_string_lossy());
        let uuid = format!("{UUID}{:04x}", self.sent);
        let message = json!({ "role": "user", "content": text });
        let mut line = json!({ "type": "user", "message": message, "parent_tool_use_id": null, "session_id": "", "uuid": uuid });
        for (key, value) in more.as_object().into_iter().flatten() {
            line[key] = value.clone();
        }
        self.write(&line.to_string()).await
    }

    async fn request(&mut self, request: &Value) -> anyhow::Result<String> {
        self.sent += 1;
        let id = format!("r{}", self.sent);
        let line = json!({ "type": "control_request", "request_id": id, "request": request });
        self.write(&line.to_string()).await?;
        Ok(id)
    }

    /// Serves the CLI until a line that fits.
    async fn until(&mut self, fits: impl Fn(&Value) -> bool) -> anyhow::Result<()> {
        loop {
            let line = self.process.lines.next_line().await?;
            if self.take(&line.context("the CLI ended")?, &fits).await? {
                return Ok(());
            }
        }
    }

    async fn take(&mut self, text: &str, fits: impl Fn(&Value) -> bool) -> anyhow::Result<bool> {
        self.keep(serde_json::from_str(text)?);
        let line: Value = serde_json::from_str(text)?;
        if let Some(id) = line["session_id"].as_str().filter(|id| !id.is_empty()) {
            id.clone_into(&mut self.session);
        }
        self.serve(&line).await?;
        Ok(fits(&line))
    }

    fn folders(&self) -> Vec<(String, String)> {
        let mut all = folders(&self.place);
        if let Some(pid) = self.process.child.id() {
            all.push((format!("/{pid}.sock"), "/PID.sock".to_owned()));
        }
        all
    }

    fn keep(&mut self, line: Tree) {
        self.seen.push(Seen {
            part: self.part,
            line,
            folders: self.folders(),
        });
    }

    /// Waits for the end of the process and keeps its exit code and what it complained about.
    async fn exit(&mut self) -> anyhow::Result<()> {
        while let Some(line) = self.process.lines.next_line().await? {
            self.take(&line, |_| false).await?;
        }
        let status = self.process.child.wait().await?;
        let mut errors = String::new();
        self.process.errors.read_to_string(&mut errors).await?;
        let code = status
            .code()
            .map_or(Tree::Null, |code| Tree::Number(code.to_string()));
        self.keep(Tree::Object(vec![
            ("type".to_owned(), Tree::Text("exit".to_owned())),
            ("code".to_owned(), code),
            ("stderr".to_owned(), Tree::Text(errors)),
        ]));
        Ok(())
    }

    async fn serve(&mut self, line: &Value) -> anyhow::Result<()> {
        let request = &line["request"];
        let body = match request["subtype"].as_str() {
            Some("hook_callback") => self.hook(request),
            Some("mcp_message") => mcp(&request["message"]),
            Some("can_use_tool") => {
                if matches!(self.policy, Policy::Interrupt) {
                    self.request(&json!({ "subtype": "interrupt" })).await?;
                    return Ok(());
                }
                if matches!(self.policy, Policy::Reinitialize) {
                    self.request(&json!({ "subtype": "initialize" })).await?;
                }
                verdict(self.policy, request)
            }
            Some(_) | None => return Ok(()),
        };
        let response =
            json!({ "subtype": "success", "request_id": line["request_id"], "response": body });
        let line = json!({ "type": "control_response", "response": response });
        self.write(&line.to_string()).await
    }

    fn hook(&mut self, request: &Value) -> Value {
        match (self.policy, request["callback_id"].as_str()) {
            (Policy::HooksRefuse, Some("PreToolUse")) => {
                json!({ "hookSpecificOutput": { "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "not this" } })
            }
            (Policy::HooksRefuse, Some("Stop")) if !self.blocked => {
                self.blocked = true;
                json!({ "decision": "block", "reason": "go on" })
            }
            _ => json!({}),
        }
    }
}

fn verdict(policy: Policy, request: &Value) -> Value {
    let input = &request["input"];
    match policy {
        Policy::Deny => json!({ "behavior": "deny", "message": "no" }),
        Policy::DenyAndStop => json!({ "behavior": "deny", "message": "no", "interrupt": true }),
        Policy::Change => {
            let mut changed = input.clone();
            changed["content"] = json!("changed\n");
            json!({ "behavior": "allow", "updatedInput": changed })
        }
        Policy::Answer => {
            let mut answered = input.clone();
            answered["answers"] = json!({ "Q?": "A" });
            json!({ "behavior": "allow", "updatedInput": answered })
        }
        Policy::Allow | Policy::HooksRefuse | Policy::Interrupt | Policy::Reinitialize => {
            json!({ "behavior": "allow", "updatedInput": input })
        }
    }
}

/// A server with one tool.
fn mcp(message: &Value) -> Value {
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => {
            let info = json!({ "name": "inproc", "version": "1.0.0" });
            let version = &message["params"]["protocolVersion"];
            json!({ "protocolVersion": version, "capabilities": { "tools": {} }, "serverInfo": info })
        }
        "tools/list" => {
            let schema = json!({ "type": "object", "properties": { "x": { "type": "number" } } });
            json!({ "tools": [{ "name": "add", "description": "adds", "inputSchema": schema }] })
        }
        "tools/call" => json!({ "content": [{ "type": "text", "text": "three" }] }),
        _ => json!({}),
    };
    let id = message.get("id").cloned().unwrap_or(json!(0));
    json!({ "mcp_response": { "jsonrpc": "2.0", "id": id, "result": result } })
}

/// The folders of a run, also in the form in which the CLI makes names of them.
fn folders(place: &Place) -> Vec<(String, String)> {
    let named = |path: &Path, name: &str| {
        let path = path.to_string_lossy().into_owned();
        let flat: String = path
            .chars()
            .map(|at| if at.is_ascii_alphanumeric() { at } else { '-' })
            .collect();
        [(path, name.to_owned()), (flat, format!("-{name}"))]
    };
    let mut all = Vec::from(named(place.work.path(), "WORK"));
    all.extend(named(place.home.path(), "HOME"));
    all
}
