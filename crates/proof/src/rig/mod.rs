//! The rig: the real host as a process, a CLI under it, clients that record, and hands that kill.
//!
//! Everything lives in one temporary folder: the data folder, a home, the folders the agents work in, the gates that
//! hold a script back. At the end it gathers what is on the disk and what the clients saw into a history. The rig
//! judges nothing.

mod agent;
mod app;
mod census;
mod disk;
mod gather;
mod host;
mod parts;
mod programs;
mod proxy;
mod recording;
mod viewer;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use estelle_proto::ConversationId;
use estelle_sim::script::Gates;
use tempfile::TempDir;

pub use agent::Agent;
pub use app::{App, AppWitness, Talk, Tried};
pub use census::{is_gone, run_records};
pub use disk::SmallDisk;
pub use host::{HostOptions, HostProcess};
pub use parts::PylonOptions;
pub use programs::Programs;
pub use proxy::{HELD_OF, Proxy, Weather};
pub use viewer::{PATIENCE, Reads, Viewer, ViewerWitness};

use crate::history::{App as RecordedApp, Client, End, History};

/// A place where things are killed.
#[derive(Debug)]
pub struct Rig {
    place: TempDir,
    /// The data folder, if it is not in the place.
    disk: Option<SmallDisk>,
    programs: Programs,
    agent: agent::Prepared,
    host: Option<HostProcess>,
    /// Tells rigs of the same machine apart.
    name: String,
    conversations: Vec<ConversationId>,
    killed: Vec<u32>,
    kept: Vec<KeptLog>,
    parts: parts::Parts,
    /// The folders of conversations that were not made here.
    folders: BTreeMap<ConversationId, PathBuf>,
}

/// A copy of a log that is about to go.
#[derive(Debug)]
struct KeptLog {
    id: ConversationId,
    path: PathBuf,
    replaced: bool,
}

/// Why a log goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Going {
    /// What it tells is over: the conversation is cleared or deleted.
    Over,
    /// It is damaged, and what is good of it is told again.
    Damaged,
}

impl Rig {
    /// An empty place with this kind of CLI; no host yet.
    pub async fn new(agent: &Agent) -> anyhow::Result<Self> {
        let place = tempfile::tempdir().context("make the place")?;
        for folder in ["home", "gates", "work"] {
            std::fs::create_dir(place.path().join(folder))?;
        }
        let programs = Programs::find()?;
        let agent = agent.prepare(place.path(), &programs).await?;
        let name = place.path().file_name().unwrap_or_default();
        let name: String = name
            .to_string_lossy()
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .collect();
        Ok(Self {
            place,
            disk: None,
            programs,
            agent,
            host: None,
            name,
            conversations: Vec::new(),
            killed: Vec::new(),
            kept: Vec::new(),
            parts: parts::Parts::default(),
            folders: BTreeMap::new(),
        })
    }

    /// Keeps the data folder on a small disk of its own.
    pub fn use_small_disk(&mut self, bytes: u64) -> anyhow::Result<&SmallDisk> {
        let disk = SmallDisk::mount(&self.place.path().join("disk"), bytes)?;
        Ok(self.disk.insert(disk))
    }

    /// Where the host keeps everything.
    pub fn data(&self) -> PathBuf {
        match &self.disk {
            Some(disk) => disk.path().join("data"),
            None => self.place.path().join("data"),
        }
    }

    /// The folder that a conversation works in.
    pub fn work(&self, conversation: &ConversationId) -> PathBuf {
        let folder = self.folders.get(conversation).cloned();
        folder.unwrap_or_else(|| self.place.path().join("work").join(conversation.as_str()))
    }

    /// The path of anything in the place.
    pub fn path(&self) -> &Path {
        self.place.path()
    }

    /// A new conversation with a folder of its own.
    pub fn conversation(&mut self) -> anyhow::Result<ConversationId> {
        let number = self.conversations.len() + 1;
        let id = ConversationId::parse(&format!("{}-{number}", self.name))?;
        std::fs::create_dir_all(self.work(&id))?;
        self.conversations.push(id.clone());
        Ok(id)
    }

    /// Opens a gate that a script waits at.
    pub fn open_gate(&self, name: &str) -> anyhow::Result<()> {
        Gates::new(self.place.path().join("gates"))
            .open(name)
            .context("open a gate")
    }

    /// Starts a host and waits until it can be spoken to.
    pub async fn start_host(&mut self) -> anyhow::Result<()> {
        self.start_host_with(&HostOptions::default()).await
    }

    /// The same with something that shall go wrong.
    pub async fn start_host_with(&mut self, options: &HostOptions) -> anyhow::Result<()> {
        let host = self.spawn_host(options)?;
        let pid = host.pid();
        self.host = Some(host);
        host::await_socket(&self.data(), pid).await
    }

    /// Starts a host and does not wait for anything.
    pub fn spawn_host(&self, options: &HostOptions) -> anyhow::Result<HostProcess> {
        HostProcess::spawn(
            &self.programs,
            &self.agent,
            self.place.path(),
            &self.data(),
            options,
        )
    }

    /// Starts a host that takes the place of the one before, and does not wait until it can be spoken to.
    pub fn put_host(&mut self, options: &HostOptions) -> anyhow::Result<()> {
        self.host = Some(self.spawn_host(options)?);
        Ok(())
    }

    /// The conversations of this place.
    pub fn conversations(&self) -> &[ConversationId] {
        &self.conversations
    }

    /// The process of a conversation, if one lives.
    pub fn cli(&self, id: &ConversationId) -> Option<u32> {
        let (_, folder, record) = run_records(&self.data(), id).pop()?;
        let lives = folder.is_alive().unwrap_or_default();
        record.filter(|_| lives).map(|record| record.pid)
    }

    /// How much the logs and the journals of all conversations hold: what grows goes on.
    pub fn written(&self) -> u64 {
        let length = |path: PathBuf| std::fs::metadata(path).map_or(0, |file| file.len());
        let of = |id: &ConversationId| {
            let runs = run_records(&self.data(), id);
            let journals: u64 = runs.iter().map(|(_, run, _)| length(run.journal())).sum();
            length(self.log(id)) + journals
        };
        self.conversations.iter().map(of).sum()
    }

    /// Copies the place to where `ESTELLE_EVIDENCE` says.
    pub fn keep_evidence(&self, name: &str) {
        let Some(folder) = std::env::var_os("ESTELLE_EVIDENCE") else {
            return;
        };
        let target = Path::new(&folder).join(name);
        // It is for a person who looks; a failure of it must not hide the one that counts.
        let copied = std::process::Command::new("cp")
            .arg("-a")
            .arg(self.path())
            .arg(&target)
            .status()
            .context("copy the evidence");
        drop(copied);
    }

    /// The host that runs.
    pub fn host(&mut self) -> anyhow::Result<&mut HostProcess> {
        self.host.as_mut().context("no host runs")
    }

    /// Kills the host with -9 and waits until it is gone.
    pub fn kill_host(&mut self) -> anyhow::Result<()> {
        let mut host = self.host.take().context("no host runs")?;
        host.kill()
    }

    /// Sends the host a signal that it may obey, and waits until it is gone.
    pub async fn end_host(&mut self, signal: rustix::process::Signal) -> anyhow::Result<()> {
        let mut host = self.host.take().context("no host runs")?;
        host.signal(signal)?;
        let status = host.await_death().await?;
        anyhow::ensure!(status.success(), "the host ended with {status}");
        Ok(())
    }

    /// Waits until a host that somebody else told to end is gone.
    pub async fn host_ends(&mut self) -> anyhow::Result<()> {
        let mut host = self.host.take().context("no host runs")?;
        let status = host.await_death().await?;
        anyhow::ensure!(status.success(), "the host ended with {status}");
        Ok(())
    }

    /// A command of the program, on the data of this place.
    pub fn command(&self, args: &[&str]) -> std::process::Command {
        let mut command = std::process::Command::new(&self.programs.estelle);
        command
            .args(args)
            .arg("--data")
            .arg(self.data())
            .env_clear()
            .envs(&self.agent.env);
        command
    }

    /// Kills the host and starts another.
    pub async fn restart_host(&mut self) -> anyhow::Result<()> {
        self.kill_host()?;
        self.start_host().await
    }

    /// A process is about to be killed by the rig, so that its end is no accident.
    pub fn kill(&mut self, pid: u32) -> anyhow::Result<()> {
        self.killed.push(pid);
        host::signal(pid, rustix::process::Signal::KILL)
    }

    /// Holds a process.
    pub fn hold(&self, pid: u32) -> anyhow::Result<()> {
        host::signal(pid, rustix::process::Signal::STOP)
    }

    /// Lets a process go on.
    pub fn release(&self, pid: u32) -> anyhow::Result<()> {
        host::signal(pid, rustix::process::Signal::CONT)
    }

    /// The small disk.
    pub fn disk(&self) -> anyhow::Result<&SmallDisk> {
        self.disk.as_ref().context("no small disk is used")
    }

    /// The log of a conversation.
    pub fn log(&self, id: &ConversationId) -> PathBuf {
        let folder = self.data().join("conversations").join(id.as_str());
        folder.join("log.jsonl")
    }

    /// Keeps a copy of a log that is about to go, for the checker: clients have seen what is in it.
    pub fn keep_log(&mut self, id: &ConversationId, why: Going) -> anyhow::Result<()> {
        let path = self.path().join(format!("kept-{}.jsonl", self.kept.len()));
        std::fs::copy(self.log(id), &path).context("keep a log")?;
        self.kept.push(KeptLog {
            id: id.clone(),
            path,
            replaced: why == Going::Damaged,
        });
        Ok(())
    }

    /// Waits until the log of a conversation has a record of this kind.
    pub async fn log_says(&self, id: &ConversationId, kind: &str) -> anyhow::Result<()> {
        self.log_counts(id, kind, 1).await
    }

    /// Waits until the log of a conversation has so many records of this kind.
    pub async fn log_counts(
        &self,
        id: &ConversationId,
        kind: &str,
        times: usize,
    ) -> anyhow::Result<()> {
        let log = self.log(id);
        let record = format!("\"record\":{{\"{kind}\":");
        census::await_text(&[log], &record, times).await
    }

    /// Waits until a journal of a conversation holds a text.
    pub async fn journal_says(&self, id: &ConversationId, text: &str) -> anyhow::Result<()> {
        let runs = run_records(&self.data(), id);
        let journals: Vec<_> = runs.iter().map(|(_, folder, _)| folder.journal()).collect();
        census::await_text(&journals, text, 1).await
    }

    /// A client that is not connected yet.
    pub fn viewer(&self, name: &str, device: u32) -> Viewer {
        Viewer::new(name, device, &self.data(), self.place.path())
    }

    /// The newest run of a conversation, once its process is there.
    pub async fn run(&self, id: &ConversationId) -> anyhow::Result<estelle_host::run::RunRecord> {
        census::await_run(&self.data(), id).await
    }

    /// Everything that was recorded.
    pub fn history(&self, viewers: &[&Viewer], apps: &[App], end: End) -> anyhow::Result<History> {
        let clients = viewers.iter().map(|viewer| viewer.client()).collect();
        let apps = apps.iter().map(App::recorded).collect();
        gather::history(self, clients, apps, end)
    }

    /// The same of clients and apps that somebody else moves.
    pub fn gathered(
        &self,
        clients: Vec<Client>,
        apps: Vec<RecordedApp>,
        end: End,
    ) -> anyhow::Result<History> {
        gather::history(self, clients, apps, end)
    }

    /// The names of requests the fake API got, for a real CLI.
    pub fn agent(&self) -> &agent::Prepared {
        &self.agent
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        self.end_parts();
        if let Some(host) = &mut self.host {
            // A test that fails leaves it running.
            let _ = host.kill();
        }
        for id in &self.conversations {
            census::end_all(id);
        }
    }
}
