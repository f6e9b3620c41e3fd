//! The host beside `estelle up`: found or started detached, and started again when it dies.
//!
//! A host that somebody else started is used as it is. One that an earlier `up` started for another agent or with other
//! settings is asked to leave first; its runs live on, and the new one takes them up.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, bail};
use estelle_host::data::socket;
use estelle_host::ipc::{Client, ConnectError};
use estelle_proto::ipc::Shutdown;
use estelle_pylon::link::host::{HostState, LostHost};
use serde::{Deserialize, Serialize};
use tokio::process::Command;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::secrets::put;
use crate::chat::agent::Agent;
use crate::config::Config;
use crate::host::HostProcess;
use crate::logging;

/// The log of a host that was started here.
const LOG: &str = "host.log";
/// Who was started, and how.
const RECORD: &str = "up-host.json";
/// How long a host may take until it answers. It looks at every conversation first.
const PATIENCE: Duration = Duration::from_mins(1);
/// How long one that was killed may take until it is gone.
const DYING: Duration = Duration::from_secs(10);
/// How often a host that starts is called.
const CALL_EVERY: Duration = Duration::from_millis(20);
/// A host that dies again at once is not started more often than this.
const PAUSE: Duration = Duration::from_secs(1);
/// Lines of its log that are shown when it does not start.
const LAST_LINES: usize = 8;

/// Lets a host refuse first what must not be touched or run.
pub(crate) const DENY_FIRST: &str = "--deny-first";

/// What a host was started with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    pid: u32,
    args: Vec<String>,
    /// Which program; an older record does not say.
    #[serde(default)]
    program: Option<PathBuf>,
}

/// The arguments of the host that was started last on a folder.
pub(crate) fn host_args(data: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(data.join(RECORD)).unwrap_or_default();
    let record = serde_json::from_str::<Record>(&text);
    record.map(|record| record.args).unwrap_or_default()
}

/// Sees to it that there is a host.
#[derive(Debug, Clone)]
pub(super) struct HostKeeper {
    data: PathBuf,
    args: Vec<String>,
    /// What it logs and how, as variables: they may change without another host.
    log: [(&'static str, String); 2],
}

impl HostKeeper {
    pub(super) fn new(data: &Path, agent: &Agent, config: &Config) -> Self {
        let host = &config.host;
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let mut args = vec![
            "--claude".to_owned(),
            text(&agent.path),
            "--idle-timeout-minutes".to_owned(),
            host.idle_timeout_minutes.to_string(),
            "--shutdown-grace-seconds".to_owned(),
            host.shutdown_grace_seconds.to_string(),
            "--on-busy".to_owned(),
            host.on_busy.as_str().to_owned(),
            "--turn-limit-minutes".to_owned(),
            host.turn_limit_minutes.to_string(),
        ];
        let switches = [
            (host.deny_first, DENY_FIRST),
            (host.shutdown_stops_runs, "--shutdown-stops-runs"),
        ];
        let on = switches.into_iter().filter(|(is_on, _)| *is_on);
        args.extend(on.map(|(_, name)| name.to_owned()));
        Self {
            data: data.to_owned(),
            args,
            log: [
                ("ESTELLE_LOG", config.log.clone()),
                ("ESTELLE_LOG_FORMAT", config.log_format.word().to_owned()),
            ],
        }
    }

    /// Finds a host that answers, or starts one and waits for it.
    pub(super) async fn ensure(&self) -> anyhow::Result<()> {
        if let Some(client) = self.call().await? {
            if !self.is_outdated() {
                return Ok(());
            }
            tracing::info!("the host was started for something else; it is replaced");
            self.leave(client).await?;
        }
        self.let_go().await?;
        self.start().await
    }

    /// Asks a host to end, and waits until it has given everything up. Its runs live on.
    async fn leave(&self, mut client: Client) -> anyhow::Result<()> {
        let process = HostProcess::of(&self.data);
        client.ask(leave_runs()).await?;
        let gone = async {
            while client.receive().await.is_ok() {}
            process.gone().await;
        };
        tokio::time::timeout(PATIENCE, gone)
            .await
            .context("the host that runs did not end in time")
    }

    /// Asks the host to leave, if there is one; its runs live on.
    pub(super) async fn send_away(&self) -> anyhow::Result<()> {
        if let Some(client) = self.call().await? {
            self.leave(client).await?;
        }
        self.let_go().await
    }

    /// Waits until no host holds the folder.
    async fn let_go(&self) -> anyhow::Result<()> {
        let let_go = async {
            while self.is_held() {
                tokio::time::sleep(CALL_EVERY).await;
            }
        };
        // A process that is dying may have closed its socket and still hold its lock.
        tokio::time::timeout(DYING, let_go).await.with_context(|| {
            format!(
                "a host holds {} and does not answer: end it, then try again",
                self.data.display()
            )
        })
    }

    /// Calls the host, if there is one. One that dies while it is called is none.
    async fn call(&self) -> anyhow::Result<Option<Client>> {
        let calling = async {
            loop {
                match Client::connect(&socket(&self.data)).await {
                    Ok(client) => return Ok(Some(client)),
                    Err(ConnectError::NoHost { .. }) => return Ok(None),
                    Err(error @ ConnectError::Refused(_)) => return Err(error),
                    Err(error @ (ConnectError::Io { .. } | ConnectError::NoHello { .. })) => {
                        tracing::debug!(%error, "the host does not answer; calling again");
                        tokio::time::sleep(CALL_EVERY).await;
                    }
                }
            }
        };
        let called = tokio::time::timeout(DYING, calling).await;
        Ok(called.context("the host that runs does not answer")??)
    }

    /// Whether a host is at work on the folder.
    fn is_held(&self) -> bool {
        let file = std::fs::File::open(self.data.join("host.lock"));
        file.is_ok_and(|file| file.try_lock().is_err())
    }

    /// Whether the host that runs is an earlier one of ours, started in another way.
    fn is_outdated(&self) -> bool {
        let read = |name: &str| std::fs::read_to_string(self.data.join(name)).ok();
        let record = read(RECORD).and_then(|text| serde_json::from_str::<Record>(&text).ok());
        let pid = read("host.lock").and_then(|text| text.trim().parse::<u32>().ok());
        let own = std::env::current_exe().ok();
        record.is_some_and(|record| {
            let is_other = record.program.is_some() && record.program != own;
            Some(record.pid) == pid && (record.args != self.args || is_other)
        })
    }

    /// Starts a host and waits until it answers.
    async fn start(&self) -> anyhow::Result<()> {
        let program =
            std::env::current_exe().context("failed to find out where this program is")?;
        let log = logging::open(&self.data.join(LOG))?;
        let mut child = Command::new(&program)
            .arg("host")
            .arg("--data")
            .arg(&self.data)
            .arg("--detached")
            .args(&self.args)
            .envs(self.log.clone())
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .kill_on_drop(false)
            .spawn()
            .with_context(|| format!("failed to start {}", program.display()))?;
        if let Some(pid) = child.id() {
            let args = self.args.clone();
            let program = Some(program);
            let record = serde_json::to_string(&Record { pid, args, program })?;
            put(&self.data.join(RECORD), &record)?;
        }
        let answers = async {
            while Client::connect(&socket(&self.data)).await.is_err() {
                tokio::time::sleep(CALL_EVERY).await;
            }
        };
        tokio::select! {
            answered = tokio::time::timeout(PATIENCE, answers) => {
                answered.context("the host was started and does not answer")?;
            }
            ended = child.wait() => {
                let status = ended.context("failed to wait for the host")?;
                bail!("the host ended while it started ({status}):\n{}", self.last_lines());
            }
        }
        Ok(())
    }

    fn last_lines(&self) -> String {
        let path = self.data.join(LOG);
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        let from = lines.len().saturating_sub(LAST_LINES);
        let cleaned = lines[from..]
            .iter()
            .map(|line| crate::chat::clean::line(line));
        let cleaned: Vec<_> = cleaned.map(|line| format!("  {line}")).collect();
        cleaned.join("\n")
    }

    /// Starts a host whenever there is none, until `stop`.
    pub(super) async fn keep(self, mut state: watch::Receiver<HostState>, stop: CancellationToken) {
        let is_gone =
            |state: &HostState| matches!(state, HostState::Away(LostHost::Unreachable(_)));
        let watching = async {
            while state.wait_for(is_gone).await.is_ok() {
                tracing::warn!("the host is gone; another one is started");
                if let Err(error) = self.ensure().await {
                    tracing::error!("no host: {error:#}");
                }
                tokio::time::sleep(PAUSE).await;
            }
        };
        stop.run_until_cancelled(watching).await;
    }
}

/// Whoever replaces a host wants its runs, whatever it is configured to do when it ends for good.
pub(crate) fn leave_runs() -> Shutdown {
    Shutdown {
        stop_runs: Some(false),
        ..Shutdown::default()
    }
}
