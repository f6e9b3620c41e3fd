//! Holds the gateway of `estelle up` against its own description: schemathesis calls every route with good and bad
//! requests and looks whether each answer is one that `openapi.json` allows.
//!
//! The machine is one of its own, in a folder that is removed afterwards, with the simulated agent. What counts as a
//! fault is in `crates/gateway/schemathesis.toml`.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::Value;

use crate::command::{self, Watch};
use crate::setup::{Tool, Tools, schemathesis};
use crate::workspace;

/// All phases over all routes take a minute; a busy machine some.
const LIMIT: Duration = Duration::from_mins(15);
/// What the rules are in.
const RULES: &str = "crates/gateway/schemathesis.toml";

/// A configuration that says nothing, so that the developer's own counts for nothing.
const CONFIG: &str = "config.toml";

/// Starts a machine, calls it, ends it.
pub(crate) fn run(tools: &Tools, watch: Watch<'_>) -> anyhow::Result<()> {
    let packages = tools
        .get(Tool::Schemathesis)
        .context("schemathesis is missing")?;
    let machine = Machine::start()?;
    let token = std::fs::read_to_string(machine.folder.join("data/gateway.token"))
        .context("the gateway has no token")?;
    let mut tester = workspace::at_root(schemathesis::program(packages));
    tester
        .arg("--config-file")
        .arg(workspace::root().join(RULES))
        .arg("run")
        .arg(format!("{}/api/openapi.json", machine.gateway))
        // It leaves notes where it runs.
        .current_dir(&machine.folder)
        .env("ESTELLE_TOKEN", token.trim());
    let output = command::run(&mut tester, LIMIT, watch)
        .context("the gateway does not keep to its description")?;
    let counted = output.lines().filter(|line| line.contains(" generated"));
    for line in counted {
        println!("    {}", line.trim());
    }
    Ok(())
}

/// `estelle up` with a workspace, until it is dropped.
struct Machine {
    folder: PathBuf,
    up: Child,
    gateway: String,
}

impl Machine {
    fn start() -> anyhow::Result<Self> {
        let folder = std::env::temp_dir().join(format!("estelle-gateway-{}", std::process::id()));
        let failed = || format!("failed to fill {}", folder.display());
        for part in ["home", "work"] {
            std::fs::create_dir_all(folder.join(part)).with_context(failed)?;
        }
        std::fs::write(folder.join(CONFIG), "").with_context(failed)?;
        let mut up = estelle(
            &folder,
            &["up", "--demo", "--json", "--listen", "127.0.0.1:0"],
        );
        let mut up = up
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .context("failed to start `estelle up`")?;
        let mut line = String::new();
        let output = up.stdout.take().context("`estelle up` has no output")?;
        let mut machine = Self {
            folder,
            up,
            gateway: String::new(),
        };
        BufReader::new(output).read_line(&mut line)?;
        let greeting: Value =
            serde_json::from_str(&line).context("`estelle up` did not say that it is there")?;
        let gateway = greeting["gateway"].as_str();
        gateway
            .context("`estelle up` has no gateway")?
            .clone_into(&mut machine.gateway);
        let work = machine.folder.join("work");
        let made = estelle(
            &machine.folder,
            &["new", "workspace", "Project", "--folder"],
        )
        .arg(work)
        .output()
        .context("failed to make a workspace")?;
        let told = String::from_utf8_lossy(&made.stderr).into_owned();
        ensure!(made.status.success(), "failed to make a workspace: {told}");
        Ok(machine)
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // It may have ended already; what matters is that nothing is left.
        let _ = self.up.kill();
        let _ = self.up.wait();
        let _ = estelle(&self.folder, &["host", "stop", "--all"]).output();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A command on the machine of a folder.
fn estelle(folder: &Path, args: &[&str]) -> Command {
    let mut command = workspace::at_root(Command::new(workspace::built("estelle")));
    command
        .args(args)
        .env("HOME", folder.join("home"))
        .env("ESTELLE_DATA", folder.join("data"))
        .env("ESTELLE_CONFIG", folder.join(CONFIG))
        .env("ESTELLE_GATEWAY_LISTEN", "127.0.0.1:0")
        .env("ESTELLE_PYLON_ROOTS", folder.join("work"))
        .env("ESTELLE_SIM_CLAUDE", workspace::built("estelle-sim-claude"));
    command
}
