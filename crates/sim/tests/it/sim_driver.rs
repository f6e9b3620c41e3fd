//! Drives the simulated CLI over pipes and reduces what it prints to what a test can compare.

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail};
use estelle_sim::script::Script;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

/// Longest wait for one line.
const PATIENCE: Duration = Duration::from_secs(20);
pub(crate) const VERSIONS: [&str; 2] = ["2.1.197", "2.1.325"];

/// How to start a simulated CLI.
pub(crate) struct Start {
    pub(crate) version: &'static str,
    pub(crate) args: Vec<String>,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) place: Place,
    pub(crate) can_ask: bool,
}

/// A home and a working directory that may outlive a process.
#[derive(Clone)]
pub(crate) struct Place {
    root: std::sync::Arc<tempfile::TempDir>,
}

impl Place {
    pub(crate) fn new() -> anyhow::Result<Self> {
        let root = std::sync::Arc::new(tempfile::tempdir()?);
        std::fs::create_dir(root.path().join("work"))?;
        Ok(Self { root })
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.path("work")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }
}

impl Start {
    pub(crate) fn new(version: &'static str) -> anyhow::Result<Self> {
        Ok(Self {
            version,
            args: Vec::new(),
            env: Vec::new(),
            place: Place::new()?,
            can_ask: true,
        })
    }

    pub(crate) fn at(version: &'static str, place: &Place) -> Self {
        Self {
            version,
            args: Vec::new(),
            env: Vec::new(),
            place: place.clone(),
            can_ask: true,
        }
    }

    pub(crate) fn args(mut self, args: &[&str]) -> Self {
        self.args.extend(args.iter().map(|&arg| arg.to_owned()));
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<Path>) -> Self {
        let value = value.as_ref().to_string_lossy().into_owned();
        self.env.push((name.to_owned(), value));
        self
    }

    pub(crate) fn mute(mut self) -> Self {
        self.can_ask = false;
        self
    }

    pub(crate) fn spawn(self) -> anyhow::Result<Sim> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_estelle-sim-claude"));
        command.args([
            "--output-format",
            "stream-json",
            "--input-format",
            "stream-json",
        ]);
        command.args(["--verbose", "--include-partial-messages"]);
        if self.can_ask {
            command.args(["--permission-prompt-tool", "stdio"]);
        }
        let mut child = command
            .args(&self.args)
            .env_clear()
            .env("HOME", self.place.root.path())
            .env("ESTELLE_SIM_VERSION", self.version)
            .env("ESTELLE_SIM_PLAIN", "1")
            .env("ESTELLE_SIM_SEED", "7")
            .envs(self.env)
            .current_dir(self.place.work())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        Ok(Sim {
            version: self.version,
            input: Some(child.stdin.take().context("stdin")?),
            lines: BufReader::new(child.stdout.take().context("stdout")?).lines(),
            errors: child.stderr.take().context("stderr")?,
            _place: self.place,
            child,
        })
    }
}

/// A running simulated CLI.
pub(crate) struct Sim {
    pub(crate) version: &'static str,
    pub(crate) child: Child,
    // Keeps the folders as long as the process.
    _place: Place,
    input: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
    errors: ChildStderr,
}

impl Sim {
    pub(crate) fn newer(&self) -> bool {
        self.version == "2.1.325"
    }

    pub(crate) async fn raw(&mut self, line: &str) -> anyhow::Result<()> {
        let input = self.input.as_mut().context("input is closed")?;
        input.write_all(format!("{line}\n").as_bytes()).await?;
        Ok(input.flush().await?)
    }

    pub(crate) async fn send(&mut self, line: Value) -> anyhow::Result<()> {
        self.raw(&line.to_string()).await
    }

    pub(crate) async fn say(&mut self, text: &str) -> anyhow::Result<()> {
        self.send(user(text)).await
    }

    pub(crate) async fn play(&mut self, script: &Script) -> anyhow::Result<()> {
        self.say(&script.prompt()).await
    }

    pub(crate) async fn request(&mut self, id: &str, request: Value) -> anyhow::Result<()> {
        self.send(json!({ "type": "control_request", "request_id": id, "request": request }))
            .await
    }

    pub(crate) async fn answer(&mut self, asked: &Value, body: Value) -> anyhow::Result<()> {
        let response =
            json!({ "subtype": "success", "request_id": asked["request_id"], "response": body });
        self.send(json!({ "type": "control_response", "response": response }))
            .await
    }

    pub(crate) async fn allow(&mut self, asked: &Value) -> anyhow::Result<()> {
        let input = asked["request"]["input"].clone();
        self.answer(asked, json!({ "behavior": "allow", "updatedInput": input }))
            .await
    }

    /// The next line; nothing at the end.
    pub(crate) async fn next_raw(&mut self) -> anyhow::Result<Option<String>> {
        let line = tokio::time::timeout(PATIENCE, self.lines.next_line()).await;
        Ok(line.context("the simulated CLI says nothing")??)
    }

    pub(crate) async fn next(&mut self) -> anyhow::Result<Value> {
        let line = self.next_raw().await?.context("the output ended")?;
        serde_json::from_str(&line).with_context(|| format!("not JSON: {line}"))
    }

    /// Lines up to and with the first that fits.
    pub(crate) async fn until(
        &mut self,
        fits: impl Fn(&Value) -> bool,
    ) -> anyhow::Result<Vec<Value>> {
        let mut seen = Vec::new();
        loop {
            let line = self.next().await?;
            let found = fits(&line);
            seen.push(line);
            if found {
                return Ok(seen);
            }
        }
    }

    /// The first line that fits.
    pub(crate) async fn find(&mut self, fits: impl Fn(&Value) -> bool) -> anyhow::Result<Value> {
        let mut seen = self.until(fits).await?;
        seen.pop().context("nothing was seen")
    }

    pub(crate) async fn result(&mut self) -> anyhow::Result<Value> {
        self.find(|line| line["type"] == "result").await
    }

    pub(crate) async fn asked(&mut self, subtype: &str) -> anyhow::Result<Value> {
        let asked = self.find(|line| line["type"] == "control_request").await?;
        if asked["request"]["subtype"] != subtype {
            bail!("asked for something else: {asked}");
        }
        Ok(asked)
    }

    pub(crate) async fn response(&mut self, id: &str) -> anyhow::Result<Value> {
        let line = self
            .find(|line| line["response"]["request_id"] == id)
            .await?;
        Ok(line["response"].clone())
    }

    pub(crate) fn close(&mut self) {
        self.input = None;
    }

    /// Closes the input and reads what is left: lines, standard error, exit.
    pub(crate) async fn finish(mut self) -> anyhow::Result<(Vec<String>, String, ExitStatus)> {
        self.close();
        let mut lines = Vec::new();
        while let Some(line) = self.next_raw().await? {
            lines.push(line);
        }
        let mut errors = String::new();
        self.errors.read_to_string(&mut errors).await?;
        let status = tokio::time::timeout(PATIENCE, self.child.wait())
            .await
            .context("no exit")??;
        Ok((lines, errors, status))
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) -> anyhow::Result<()> {
        let pid = self.child.id().context("the process is gone")?;
        let pid = rustix::process::Pid::from_raw(i32::try_from(pid)?).context("pid")?;
        Ok(rustix::process::kill_process(pid, signal)?)
    }
}

pub(crate) fn user(text: &str) -> Value {
    json!({ "type": "user", "message": { "role": "user", "content": text }, "parent_tool_use_id": null, "session_id": "" })
}

/// `type/subtype` of a line, with the kind of a stream event; repeated deltas count once.
pub(crate) fn kinds(lines: &[Value]) -> Vec<String> {
    let kind = |line: &Value| {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        match text(&line["type"]).as_str() {
            "stream_event" => text(&line["event"]["type"]),
            "system" => text(&line["subtype"]),
            "result" => format!("result/{}", text(&line["subtype"])),
            "control_request" => format!("asks {}", text(&line["request"]["subtype"])),
            "command_lifecycle" => format!("lifecycle {}", text(&line["state"])),
            other => other.to_owned(),
        }
    };
    let mut kinds: Vec<String> = lines.iter().map(kind).collect();
    kinds.dedup_by(|later, earlier| later == "content_block_delta" && later == earlier);
    kinds
}

/// The names of the fields of an object in their order of printing cannot be had from `Value`; their set can.
pub(crate) fn fields(line: &Value) -> Vec<&str> {
    line.as_object()
        .map(|object| object.keys().map(String::as_str).collect())
        .unwrap_or_default()
}
