//! The CLI on two pipes, with nothing of ours around it.

use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use estelle_proof::rig::{Agent, Rig};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::meter::quantiles;
use crate::stream::{SHORT, Stamps, paced};

/// Nothing here takes longer, unless it hangs.
const PATIENCE: Duration = Duration::from_mins(1);
/// Turns that are not counted: whatever happens the first time only.
const WARM_UP: usize = 3;

/// A CLI that has been started.
struct Bare {
    _child: Child,
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Bare {
    fn start(rig: &Rig) -> anyhow::Result<Self> {
        let (agent, form) = (rig.agent(), "stream-json");
        let mut child = Command::new(&agent.program)
            .args(["--print", "--output-format", form, "--input-format", form])
            .args(["--verbose", "--include-partial-messages"])
            .args(["--permission-prompt-tool", "stdio"])
            .env_clear()
            .envs(&agent.env)
            .current_dir(rig.path().join("work"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .context("start the CLI")?;
        let input = child.stdin.take().context("the CLI has no input")?;
        let output = child.stdout.take().context("the CLI has no output")?;
        Ok(Self {
            _child: child,
            input,
            lines: BufReader::with_capacity(64 * 1024, output).lines(),
        })
    }

    /// One turn; each delta of text is shown.
    async fn turn(
        &mut self,
        prompt: &str,
        mut on_delta: impl FnMut(&str) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let message = json!({"role": "user", "content": prompt});
        let line = format!("{}\n", json!({"type": "user", "message": message}));
        self.input.write_all(line.as_bytes()).await?;
        loop {
            let line = tokio::time::timeout(PATIENCE, self.lines.next_line()).await;
            let line = line.context("the CLI hangs")??;
            let line: Value = serde_json::from_str(&line.context("the CLI has ended")?)?;
            if let Some(text) = line.pointer("/event/delta/text").and_then(Value::as_str) {
                on_delta(text)?;
            }
            if line["type"] == "result" {
                ensure!(line["is_error"] == false, "the turn failed: {line}");
                return Ok(());
            }
        }
    }
}

/// From a prompt to the first delta.
pub(crate) async fn first_deltas(agent: &Agent, count: usize) -> anyhow::Result<Value> {
    let rig = Rig::new(agent).await?;
    let mut cli = Bare::start(&rig)?;
    let mut times = Vec::new();
    for _ in 0..count + WARM_UP {
        let begin = Instant::now();
        let mut first = None;
        let seen = |_: &str| {
            first.get_or_insert_with(|| begin.elapsed());
            Ok(())
        };
        cli.turn(SHORT, seen).await?;
        times.push(first.context("no delta came")?);
    }
    Ok(quantiles(times.split_off(WARM_UP)))
}

/// From a line of the CLI to its reader.
pub(crate) async fn stream(agent: &Agent, count: usize) -> anyhow::Result<Value> {
    let rig = Rig::new(agent).await?;
    let mut cli = Bare::start(&rig)?;
    cli.turn(SHORT, |_| Ok(())).await?;
    let mut stamps = Stamps::default();
    cli.turn(&paced(count), |text| stamps.take(text)).await?;
    ensure!(stamps.times.len() == count, "some deltas did not come");
    Ok(quantiles(stamps.times))
}
