//! Relay and Pylon as processes, apart or together in `estelle up`, and the host that `up` keeps.

use std::fs::OpenOptions;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use estelle_proto::ConversationId;
use rustix::process::Signal;
use serde_json::Value;

use super::host::limited;
use super::{App, Proxy, Rig, host};

/// Longest wait for a part to be there.
const START_LIMIT: Duration = Duration::from_secs(30);
/// How often it is looked for.
const LOOK: Duration = Duration::from_millis(5);

/// What is wrong with a Pylon.
#[derive(Debug, Clone, Default)]
pub struct PylonOptions {
    /// The failpoint at which it dies, as in `ESTELLE_FAILPOINT`.
    pub failpoint: Option<String>,
    /// The most descriptors it may have.
    pub descriptors: Option<u64>,
}

/// The processes beside the host.
#[derive(Debug, Default)]
pub(super) struct Parts {
    port: u16,
    /// Where the Pylon connects to, if something lies between it and the relay.
    pylon_via: Option<SocketAddr>,
    relay: Option<Child>,
    pylon: Option<Child>,
    up: Option<Child>,
}

/// Preparing.
impl Rig {
    /// Chooses where the relay will listen; the same after every restart.
    fn address(&mut self) -> anyhow::Result<String> {
        if self.parts.port == 0 {
            self.parts.port = free_port()?;
        }
        Ok(format!("127.0.0.1:{}", self.parts.port))
    }

    /// A stretch of network that leads to the relay.
    pub async fn proxy(&mut self) -> anyhow::Result<Proxy> {
        Proxy::open(self.address()?).await
    }

    /// The Pylon connects through it from now on; before a relay runs, which has to know the name.
    pub fn pylon_goes_through(&mut self, proxy: &Proxy) {
        self.parts.pylon_via = Some(proxy.address());
    }

    /// Lets an app of another realm in; before a relay runs. Nothing may ever reach it.
    pub fn outsider(&mut self, name: &str) -> anyhow::Result<App> {
        let realm = ["add-device", "--realm", "elsewhere", "--name", name];
        let token =
            self.secret(&[&realm[..], &["--rights", "view,prompt,approve,admin"]].concat())?;
        Ok(App::new(name, self.address()?, token).into_outsider())
    }

    /// Lets an app in; before a relay runs.
    pub fn app(&mut self, name: &str) -> anyhow::Result<App> {
        let rights = "view,prompt,approve,admin";
        let token = self.secret(&["add-device", "--name", name, "--rights", rights])?;
        Ok(App::new(name, self.address()?, token))
    }

    /// The secret of an app of a realm; before a relay runs.
    pub fn household(&self, realm: &str) -> anyhow::Result<String> {
        let rights = "view,prompt,approve,admin";
        let named = ["add-device", "--name", "App", "--realm", realm];
        self.secret(&[&named[..], &["--rights", rights]].concat())
    }

    /// Where the relay listens, or will.
    pub fn relay_address(&mut self) -> anyhow::Result<String> {
        self.address()
    }

    /// The pid of the relay, where it is a process of its own.
    pub fn relay(&self) -> anyhow::Result<u32> {
        let relay = self.parts.relay.as_ref().context("it does not run")?;
        Ok(relay.id())
    }

    /// Lets the Pylon in; before a relay runs, and only where it is a process of its own.
    pub fn add_pylon(&mut self) -> anyhow::Result<()> {
        let token = self.secret(&["add-pylon", "--id", "1", "--name", "Machine"])?;
        let path = self.data().join("pylon.token");
        let mut options = OpenOptions::new();
        let options = options.create(true).truncate(true).write(true).mode(0o600);
        let mut file = options.open(path).context("keep a secret")?;
        std::io::Write::write_all(&mut file, token.as_bytes())?;
        Ok(())
    }

    fn secret(&self, args: &[&str]) -> anyhow::Result<String> {
        std::fs::create_dir_all(self.data())?;
        let mut command = self.program();
        command.arg("relay").args(args).arg("--json");
        let output = command.arg("--registry").arg(self.registry()).output()?;
        ensure!(output.status.success(), "{output:?}");
        let added: Value = serde_json::from_slice(&output.stdout)?;
        let token = added["token"].as_str().context("no secret was given")?;
        Ok(token.to_owned())
    }

    fn registry(&self) -> std::path::PathBuf {
        self.data().join("relay.json")
    }

    fn program(&self) -> Command {
        let mut command = Command::new(&self.programs.estelle);
        command.env_clear().envs(&self.agent.env);
        command
    }

    /// A conversation that a Pylon made, which works in this folder.
    pub fn adopt(&mut self, id: &ConversationId, folder: &Path) {
        self.folders.insert(id.clone(), folder.to_owned());
        self.conversations.push(id.clone());
    }

    /// The same for an id as a message has it.
    pub fn adopt_value(&mut self, id: &Value, folder: &Path) -> anyhow::Result<()> {
        let id = id.as_str().context("a conversation has an id")?;
        self.adopt(&ConversationId::parse(id)?, folder);
        Ok(())
    }

    fn spawn(&self, name: &str, mut command: Command) -> anyhow::Result<Child> {
        let log = OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.path().join(format!("{name}.log")))?;
        command
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .process_group(0);
        command.spawn().with_context(|| format!("start the {name}"))
    }
}

/// Starting and killing.
impl Rig {
    /// Starts the relay alone.
    pub async fn start_relay(&mut self) -> anyhow::Result<()> {
        let address = self.address()?;
        let mut command = self.program();
        command.args(["relay", "serve", "--listen", &address]);
        if let Some(via) = self.parts.pylon_via {
            command.args(["--host", &via.to_string()]);
        }
        command.arg("--registry").arg(self.registry());
        self.parts.relay = Some(self.spawn("relay", command)?);
        self.listens().await
    }

    /// Starts the Pylon alone.
    pub fn start_pylon(&mut self) -> anyhow::Result<()> {
        self.start_pylon_with(&PylonOptions::default())
    }

    /// Starts the Pylon alone, with something wrong with it.
    pub fn start_pylon_with(&mut self, options: &PylonOptions) -> anyhow::Result<()> {
        let address = match self.parts.pylon_via {
            Some(via) => via.to_string(),
            None => self.address()?,
        };
        let url = format!("ws://{address}/ws");
        let mut command = limited(&self.programs.estelle, options.descriptors);
        command.env_clear().envs(&self.agent.env);
        if let Some(failpoint) = &options.failpoint {
            command.env("ESTELLE_FAILPOINT", failpoint);
        }
        command.args(["pylon", "--relay", &url, "--data"]);
        command.arg(self.data());
        self.parts.pylon = Some(self.spawn("pylon", command)?);
        Ok(())
    }

    /// Starts relay and Pylon in one process, which sees to the host.
    pub async fn start_up(&mut self) -> anyhow::Result<()> {
        let address = self.address()?;
        let mut command = self.program();
        command.args(["up", "--json", "--listen", &address, "--data"]);
        command
            .arg(self.data())
            .arg("--claude")
            .arg(&self.agent.program);
        self.parts.up = Some(self.spawn("up", command)?);
        self.listens().await
    }

    /// Waits until somebody listens where the relay does.
    async fn listens(&mut self) -> anyhow::Result<()> {
        let address = self.address()?;
        let deadline = tokio::time::Instant::now() + START_LIMIT;
        while tokio::time::Instant::now() < deadline {
            if tokio::net::TcpStream::connect(&address).await.is_ok() {
                return Ok(());
            }
            tokio::time::sleep(LOOK).await;
        }
        bail!("nobody listens on {address}")
    }

    /// Kills the relay with -9.
    pub fn kill_relay(&mut self) -> anyhow::Result<()> {
        kill(self.parts.relay.take())
    }

    /// Kills the Pylon with -9.
    pub fn kill_pylon(&mut self) -> anyhow::Result<()> {
        kill(self.parts.pylon.take())
    }

    /// Kills relay and Pylon, which are one process, with -9.
    pub fn kill_up(&mut self) -> anyhow::Result<()> {
        kill(self.parts.up.take())
    }

    /// The pid of the Pylon, if it runs.
    pub fn pylon(&self) -> Option<u32> {
        self.parts.pylon.as_ref().map(Child::id)
    }

    /// Whether the relay ended by itself.
    pub fn relay_fell(&mut self) -> anyhow::Result<bool> {
        fell(&mut self.parts.relay)
    }

    /// Whether the Pylon ended by itself.
    pub fn pylon_fell(&mut self) -> anyhow::Result<bool> {
        fell(&mut self.parts.pylon)
    }

    /// The pid of relay and Pylon in one process.
    pub fn up(&self) -> anyhow::Result<u32> {
        let up = self.parts.up.as_ref().context("it does not run")?;
        Ok(up.id())
    }

    /// The pid of the host that `up` started.
    pub fn kept_host(&self) -> anyhow::Result<u32> {
        let text = std::fs::read_to_string(self.data().join("host.lock"));
        let text = text.context("no host holds the data")?;
        text.trim().parse().context("the lock names no process")
    }

    /// Kills the host that `up` started, with -9.
    pub fn kill_kept_host(&self) -> anyhow::Result<()> {
        host::signal(self.kept_host()?, Signal::KILL)
    }

    /// Waits until there is another host than the one of this pid.
    pub async fn another_host(&self, than: u32) -> anyhow::Result<()> {
        let deadline = tokio::time::Instant::now() + START_LIMIT;
        while tokio::time::Instant::now() < deadline {
            if let Ok(pid) = self.kept_host()
                && pid != than
            {
                return host::await_socket(&self.data(), pid).await;
            }
            tokio::time::sleep(LOOK).await;
        }
        bail!("there is no other host")
    }

    pub(super) fn end_parts(&mut self) {
        let was_up = self.parts.up.is_some();
        for part in [
            &mut self.parts.up,
            &mut self.parts.pylon,
            &mut self.parts.relay,
        ] {
            // A test that fails leaves it running.
            let _ = kill(part.take());
        }
        let data = self.data();
        if let Ok(pid) = self.kept_host()
            && (was_up || self.host.is_none())
            && is_host_of(pid, &data)
        {
            let _ = host::signal(pid, Signal::KILL);
        }
    }
}

/// A port for a listener that comes and goes: below those that the system gives to whoever connects, so that nobody takes
/// it meanwhile and nobody who looks for the listener finds himself.
fn free_port() -> anyhow::Result<u16> {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = u16::try_from(std::process::id() % 8000)?;
    for _ in 0..8000 {
        let step = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = 20_000 + first.wrapping_mul(7).wrapping_add(step) % 12_000;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return Ok(port);
        }
    }
    bail!("no port is free")
}

/// Whether a process is a host on this data: a pid alone may be anybody's by now.
fn is_host_of(pid: u32, data: &Path) -> bool {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let data = data.to_string_lossy();
    String::from_utf8_lossy(&line).contains(data.as_ref())
}

fn fell(part: &mut Option<Child>) -> anyhow::Result<bool> {
    match part {
        Some(child) => Ok(child.try_wait()?.is_some()),
        None => Ok(false),
    }
}

fn kill(part: Option<Child>) -> anyhow::Result<()> {
    let mut part = part.context("it does not run")?;
    part.kill()?;
    part.wait()?;
    Ok(())
}
