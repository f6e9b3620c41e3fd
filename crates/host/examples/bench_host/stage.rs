//! A host process on a folder of its own, its clients, and the end of everything that was started.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use estelle_host::ipc::Client;
use estelle_host::run::{RunRecord, send_signal};
use estelle_proto::events::ClaudeEvent;
use estelle_proto::ipc::{HostEvent, HostToPylon, MessagePayload, SendMessage, Subscribe};
use estelle_proto::{ConversationId, PathText, Prompt, WorkspaceId};
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::{Outcome, meter};

/// Nothing here takes longer, unless it hangs.
const PATIENCE: Duration = Duration::from_mins(1);

/// What is run, and where.
#[derive(Debug, Clone)]
pub(crate) struct Programs {
    pub(crate) estelle: PathBuf,
    pub(crate) simulator: PathBuf,
    pub(crate) folder: PathBuf,
}

/// A data folder, and the host that runs on it.
#[derive(Debug)]
pub(crate) struct Stage {
    programs: Programs,
    place: PathBuf,
    host: Option<Child>,
    pub(crate) runtime: Runtime,
}

impl Stage {
    /// A place without a host.
    pub(crate) fn new(programs: &Programs) -> Outcome<Self> {
        let place = programs
            .folder
            .join(format!("bench-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&place);
        for folder in ["home", "work", "data/conversations"] {
            std::fs::create_dir_all(place.join(folder))?;
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        Ok(Self {
            programs: programs.clone(),
            place,
            host: None,
            runtime,
        })
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.place.join("data")
    }

    /// Starts the host and waits until it is ready. Returns how long that took.
    pub(crate) fn start(&mut self) -> Outcome<Duration> {
        let begin = Instant::now();
        let mut host = Command::new(&self.programs.estelle)
            .arg("host")
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.place.join("home"))
            .env("ESTELLE_DATA", self.data())
            .env("ESTELLE_LOG", "warn")
            .env("ESTELLE_SIM_PLAIN", "1")
            .env("CLAUDE_CODE_PATH", &self.programs.simulator)
            .stdout(Stdio::piped())
            .spawn()?;
        let stdout = host.stdout.take().ok_or("the host has no output")?;
        self.host = Some(host);
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        if line.contains("is ready at") {
            Ok(begin.elapsed())
        } else {
            Err(format!("the host said {line:?}").into())
        }
    }

    /// The process of the host.
    pub(crate) fn pid(&self) -> u32 {
        self.host.as_ref().map_or(0, Child::id)
    }

    /// Ends the host in an instant; its runs live on.
    pub(crate) fn kill_host(&mut self) {
        if let Some(mut host) = self.host.take() {
            let _ = host.kill();
            let _ = host.wait();
        }
    }

    pub(crate) fn connect(&self) -> Outcome<Client> {
        let socket = estelle_host::data::socket(&self.data());
        Ok(self.runtime.block_on(Client::connect(&socket))?)
    }

    /// How many conversations the host knows.
    pub(crate) fn conversations(&self) -> Outcome<usize> {
        let mut client = self.connect()?;
        Ok(self.runtime.block_on(client.status(None))?.len())
    }

    /// A message for a conversation.
    pub(crate) fn message(&self, id: &ConversationId, text: &str) -> Outcome<SendMessage> {
        let folder = self.place.join("work");
        let payload = MessagePayload::new(
            Prompt::parse(text)?,
            PathText::parse(&folder.to_string_lossy())?,
            WorkspaceId::parse("bench")?,
        );
        Ok(SendMessage::new(id.clone(), payload))
    }

    /// Sends a message and, the first time, subscribes.
    pub(crate) fn say(&self, client: &mut Client, id: &ConversationId, text: &str) -> Outcome<()> {
        let message = self.message(id, text)?;
        self.runtime.block_on(client.request(message))?;
        Ok(())
    }

    pub(crate) fn follow(&self, client: &mut Client, id: &ConversationId) -> Outcome<()> {
        let subscribe = Subscribe::new(id.clone());
        Ok(self.runtime.block_on(client.send(subscribe))?)
    }

    /// Shows events until enough were seen.
    pub(crate) fn watch(
        &self,
        client: &mut Client,
        mut is_enough: impl FnMut(&HostEvent) -> bool,
    ) -> Outcome<()> {
        self.runtime.block_on(async {
            loop {
                let message = tokio::time::timeout(PATIENCE, client.receive()).await??;
                if let HostToPylon::Event(event) = &message
                    && is_enough(event)
                {
                    return Ok(());
                }
                if matches!(message, HostToPylon::CutOff(_)) {
                    return Err("the client was cut off".into());
                }
            }
        })
    }

    /// Waits until so many turns have ended.
    pub(crate) fn results(&self, client: &mut Client, mut count: usize) -> Outcome<()> {
        self.watch(client, |event| {
            count -= usize::from(matches!(event.event, ClaudeEvent::Result(_)));
            count == 0
        })
    }

    /// Lets time pass.
    pub(crate) fn pause(&self, time: Duration) {
        self.runtime
            .block_on(async { tokio::time::sleep(time).await });
    }

    /// What the host takes while nothing happens.
    pub(crate) fn at_rest(&self, seconds: u64) -> Value {
        let pid = self.pid();
        let before = meter::activity(pid);
        self.pause(Duration::from_secs(seconds));
        let after = meter::activity(pid);
        json!({
            "rss_kb": meter::resident_kb(pid),
            "anonymous_kb": meter::anonymous_kb(pid),
            "mapped_kb": meter::mapped_kb(pid),
            "pss_kb": meter::proportional_kb(pid),
            "cpu_ns": after.cpu_ns.saturating_sub(before.cpu_ns),
            "sleeps": after.sleeps.saturating_sub(before.sleeps),
            "seconds": seconds,
        })
    }

    /// The simulator, to be run without a host.
    pub(crate) fn bare_cli(&self) -> Command {
        let mut command = Command::new(&self.programs.simulator);
        let form = "stream-json";
        command
            .args(["--output-format", form, "--input-format", form])
            .args(["--verbose", "--include-partial-messages"])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.place.join("home"))
            .env("ESTELLE_SIM_PLAIN", "1")
            .current_dir(self.place.join("work"))
            .stdin(Stdio::piped())
            .stderr(Stdio::null());
        command
    }

    /// A file for what somebody prints.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.place.join(name)
    }

    /// The records of all runs that were started.
    pub(crate) fn runs(&self) -> Vec<RunRecord> {
        let mut files = Vec::new();
        find(&self.data().join("conversations"), "run.json", &mut files);
        files
            .into_iter()
            .filter_map(|path| serde_json::from_slice(&std::fs::read(path).ok()?).ok())
            .collect()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.kill_host();
        for run in self.runs() {
            send_signal(&run, Signal::KILL);
        }
        // The shims write down the ends of their runs and go; a folder that comes back is tried again.
        for _ in 0..50 {
            if std::fs::remove_dir_all(&self.place).is_ok() {
                return;
            }
            self.pause(Duration::from_millis(20));
        }
    }
}

fn find(folder: &Path, name: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            find(&path, name, found);
        } else if entry.file_name() == name {
            found.push(path);
        }
    }
}

/// The name of a conversation.
pub(crate) fn conversation(nth: usize) -> Outcome<ConversationId> {
    Ok(ConversationId::parse(&format!("bench-{nth:04}"))?)
}
