//! Drives a real CLI over plain pipes and says in short words what it printed.
//!
//! It shares nothing with the SDK: what it reads is what the CLI wrote.

use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, bail};
use estelle_sim::api::{Config, FakeApi, RealCli};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// Longest wait for one line; the CLI starts in about a second when the machine is free.
const PATIENCE: Duration = Duration::from_mins(1);

/// A real CLI with a home, a working directory and a fake API of its own.
pub(crate) struct Driven {
    pub(crate) api: FakeApi,
    pub(crate) version: &'static str,
    pub(crate) work: tempfile::TempDir,
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    _home: tempfile::TempDir,
    _child: Child,
}

impl Driven {
    /// Starts a CLI that asks for permissions on its pipes and sends partial messages.
    pub(crate) async fn start(cli: &RealCli, env: &[(&str, &str)]) -> anyhow::Result<Self> {
        let api = FakeApi::start(Config::default()).await?;
        let home = tempfile::tempdir()?;
        let work = tempfile::tempdir()?;
        let mut child = Command::new(cli.path())
            .args([
                "--output-format",
                "stream-json",
                "--input-format",
                "stream-json",
                "--verbose",
            ])
            .args([
                "--include-partial-messages",
                "--permission-prompt-tool",
                "stdio",
            ])
            .env_clear()
            .envs(cli.env(home.path(), api.url()))
            .envs(env.iter().copied())
            .current_dir(work.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        let input = child.stdin.take().context("stdin")?;
        let output = child.stdout.take().context("stdout")?;
        let lines = BufReader::new(output).lines();
        Ok(Self {
            api,
            version: cli.version(),
            work,
            input,
            lines,
            _home: home,
            _child: child,
        })
    }

    pub(crate) async fn send(&mut self, line: &Value) -> anyhow::Result<()> {
        self.input.write_all(format!("{line}\n").as_bytes()).await?;
        Ok(())
    }

    pub(crate) async fn prompt(&mut self, text: &str) -> anyhow::Result<()> {
        let message = json!({"role": "user", "content": text});
        self.send(&json!({"type": "user", "message": message, "parent_tool_use_id": null, "session_id": ""})).await
    }

    /// The next line the CLI prints.
    pub(crate) async fn next(&mut self) -> anyhow::Result<Value> {
        let line = tokio::time::timeout(PATIENCE, self.lines.next_line())
            .await
            .context("no line in time")??;
        let Some(line) = line else {
            bail!("the CLI ended")
        };
        serde_json::from_str(&line).with_context(|| format!("a line that is not JSON: {line}"))
    }

    /// Answers a request of the CLI.
    pub(crate) async fn answer(&mut self, request: &Value, with: &Value) -> anyhow::Result<()> {
        let response =
            json!({"subtype": "success", "request_id": request["request_id"], "response": with});
        self.send(&json!({"type": "control_response", "response": response}))
            .await
    }

    /// Sends a prompt and reads to its result, answering each permission request with what `decide` makes of it.
    pub(crate) async fn turn(
        &mut self,
        prompt: &str,
        decide: impl Fn(&Value) -> Value,
    ) -> anyhow::Result<Turn> {
        self.prompt(prompt).await?;
        self.read_turn(decide).await
    }

    /// Reads to the next result.
    pub(crate) async fn read_turn(
        &mut self,
        decide: impl Fn(&Value) -> Value,
    ) -> anyhow::Result<Turn> {
        let mut turn = Turn(Vec::new());
        loop {
            let line = self.next().await?;
            if line["type"] == "control_request" {
                let decision = decide(&line["request"]);
                self.answer(&line, &decision).await?;
            }
            let over = line["type"] == "result";
            turn.0.push(line);
            if over {
                return Ok(turn);
            }
        }
    }
}

/// Allows a tool as it was asked for.
pub(crate) fn allow(request: &Value) -> Value {
    json!({"behavior": "allow", "updatedInput": request["input"]})
}

/// All lines of one turn.
#[derive(Debug)]
pub(crate) struct Turn(pub(crate) Vec<Value>);

impl Turn {
    /// The types and subtypes in order; a run of deltas is one word.
    pub(crate) fn shape(&self) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        for line in &self.0 {
            let word = word(line);
            if words.last() != Some(&word) || !word.ends_with("_delta") {
                words.push(word);
            }
        }
        words
    }

    /// The same without the words that come from beside the stream and may fall anywhere in it.
    pub(crate) fn shape_without(&self, beside: &[&str]) -> Vec<String> {
        let mut words = self.shape();
        words.retain(|word| !beside.contains(&word.as_str()));
        words
    }

    /// Those words alone, in their order.
    pub(crate) fn shape_of(&self, beside: &[&str]) -> Vec<String> {
        let mut words = self.shape();
        words.retain(|word| beside.contains(&word.as_str()));
        words
    }

    /// The result, which ends every turn.
    pub(crate) fn result(&self) -> &Value {
        self.0.last().unwrap_or(&Value::Null)
    }

    pub(crate) fn text(&self) -> &str {
        self.result()["result"].as_str().unwrap_or_default()
    }

    /// The lines of a type (and of a subtype, if there is one after a slash).
    pub(crate) fn all(&self, wanted: &str) -> Vec<&Value> {
        self.0.iter().filter(|line| word(line) == wanted).collect()
    }
}

fn word(line: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let kind = text(&line["type"]);
    match kind.as_str() {
        "stream_event" => match line["event"]["type"].as_str() {
            Some("content_block_delta") => text(&line["event"]["delta"]["type"]),
            _ => text(&line["event"]["type"]),
        },
        "system" | "result" => format!("{kind}/{}", text(&line["subtype"])),
        "control_request" => format!("{kind}/{}", text(&line["request"]["subtype"])),
        "assistant" | "user" => match line["message"]["content"].get(0) {
            Some(block) => format!("{kind}:{}", text(&block["type"])),
            None => kind,
        },
        _ => kind,
    }
}
