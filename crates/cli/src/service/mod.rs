//! `estelle service`: `estelle up` as a unit of systemd, for the user who installs it.
//!
//! **Invariant:** stopping or restarting the unit ends `estelle up` alone. The host and its runs are in the same control
//! group, and the unit's kill mode spares them; an upgrade is `systemctl --user restart`.

mod unit;

use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use serde_json::json;
use tokio::process::Command;

use crate::data::DataArgs;
use unit::Unit;

/// The name of the unit.
pub(crate) const UNIT: &str = "estelle.service";
/// `systemctl` answers at once, or somebody has to look.
const PATIENCE: Duration = Duration::from_secs(30);

/// Start everything with this machine, as a unit of systemd for this user.
#[derive(Debug, Args)]
pub(crate) struct ServiceArgs {
    /// Print JSON.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: ServiceCommand,
}

#[derive(Debug, Subcommand)]
enum ServiceCommand {
    /// Write the unit, enable it and start it.
    Install(InstallArgs),
    /// Stop and remove the unit. The host and its runs go on; `estelle host stop --all` ends them.
    Uninstall,
    /// Say whether the unit is there and runs.
    Status,
}

#[derive(Debug, Args)]
struct InstallArgs {
    #[command(flatten)]
    data: DataArgs,
    /// The configuration file.
    #[arg(long, value_name = "FILE", env = "ESTELLE_CONFIG")]
    config: Option<PathBuf>,
    /// Only write the unit; systemd is told nothing.
    #[arg(long)]
    no_start: bool,
    /// Print the unit, and write nothing.
    #[arg(long)]
    print: bool,
}

/// How the unit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    NoSystemd,
    Missing,
    Installed { active: bool, lingers: bool },
}

/// Runs the subcommand.
pub(crate) fn run(args: &ServiceArgs) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        match &args.command {
            ServiceCommand::Install(install_args) => install(install_args, args.json).await,
            ServiceCommand::Uninstall => uninstall(args.json).await,
            ServiceCommand::Status => {
                let state = state().await;
                let shown = if args.json {
                    state.json()?
                } else {
                    state.text()
                };
                anstream::println!("{shown}");
                Ok(state.exit_code())
            }
        }
    })
}

async fn install(args: &InstallArgs, is_json: bool) -> anyhow::Result<ExitCode> {
    // A deploy changes where the link leads, so that the link is what has to be started.
    let program = crate::successor::started_as()?;
    let named = |path: &Option<PathBuf>| path.as_ref().map(std::path::absolute).transpose();
    let unit = Unit {
        program,
        data: named(&args.data.data)?,
        config: named(&args.config)?,
        path: std::env::var("PATH").ok(),
    };
    let text = unit.text()?;
    if args.print {
        if is_json {
            anstream::println!("{}", json!({ "text": text }));
        } else {
            anstream::print!("{text}");
        }
        return Ok(ExitCode::SUCCESS);
    }
    let file = file()?;
    let folder = file.parent().context("the unit has no folder")?;
    std::fs::create_dir_all(folder)
        .with_context(|| format!("failed to make {}", folder.display()))?;
    std::fs::write(&file, text).with_context(|| format!("failed to write {}", file.display()))?;
    if !is_json {
        anstream::println!("Wrote {}", file.display());
    }
    if args.no_start {
        return installed(is_json).await;
    }
    if !has_systemd() {
        bail!("the unit is written, and there is no systemd for users here that could start it");
    }
    systemctl(&["daemon-reload"]).await?;
    systemctl(&["enable", "--now", UNIT]).await?;
    if !is_json {
        anstream::println!("It runs, and starts with the next login.");
        if !lingers() {
            anstream::println!(
                "To start it with the machine, and keep it when you log out: loginctl enable-linger"
            );
        }
    }
    installed(is_json).await
}

/// Says to programs how the unit is now.
async fn installed(is_json: bool) -> anyhow::Result<ExitCode> {
    if is_json {
        anstream::println!("{}", state().await.json()?);
    }
    Ok(ExitCode::SUCCESS)
}

async fn uninstall(is_json: bool) -> anyhow::Result<ExitCode> {
    let file = file()?;
    if !file.exists() {
        bail!("there is no unit {}", file.display());
    }
    if has_systemd() {
        systemctl(&["disable", "--now", UNIT]).await?;
    }
    std::fs::remove_file(&file).with_context(|| format!("failed to remove {}", file.display()))?;
    if has_systemd() {
        systemctl(&["daemon-reload"]).await?;
    }
    if is_json {
        anstream::println!("{}", json!({ "removed": file }));
    } else {
        anstream::println!(
            "Removed {}; the host goes on with what it does.",
            file.display()
        );
    }
    Ok(ExitCode::SUCCESS)
}

impl State {
    fn word(self) -> &'static str {
        match self {
            Self::NoSystemd => "no systemd",
            Self::Missing => "not installed",
            Self::Installed { .. } => "installed",
        }
    }

    fn is_active(self) -> bool {
        matches!(self, Self::Installed { active: true, .. })
    }

    fn json(self) -> anyhow::Result<String> {
        let lingers = matches!(self, Self::Installed { lingers: true, .. });
        let (word, active) = (self.word(), self.is_active());
        let shown = json!({"state": word, "active": active, "lingers": lingers, "unit": file()?});
        Ok(shown.to_string())
    }

    fn text(self) -> String {
        let runs = if self.is_active() { ", and runs" } else { "" };
        format!("{UNIT}: {}{runs}", self.word())
    }

    fn exit_code(self) -> ExitCode {
        if self.is_active() {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }
}

/// Looks how the unit is.
pub(crate) async fn state() -> State {
    let is_there = file().is_ok_and(|file| file.exists());
    if !is_there {
        return if has_systemd() {
            State::Missing
        } else {
            State::NoSystemd
        };
    }
    let active = has_systemd() && systemctl(&["is-active", "--quiet", UNIT]).await.is_ok();
    State::Installed {
        active,
        lingers: lingers(),
    }
}

/// Whether systemd runs the machine. Without it `systemctl` may be there and has nobody to talk to.
fn has_systemd() -> bool {
    Path::new("/run/systemd/system").is_dir()
}

fn lingers() -> bool {
    let user = std::env::var_os("USER").unwrap_or_default();
    !user.is_empty() && Path::new("/var/lib/systemd/linger").join(user).exists()
}

fn file() -> anyhow::Result<PathBuf> {
    let absolute = |name: &str| {
        let path = std::env::var_os(name).map(PathBuf::from);
        path.filter(|path| path.is_absolute())
    };
    let folder = absolute("XDG_CONFIG_HOME");
    let folder = folder.or_else(|| absolute("HOME").map(|home| home.join(".config")));
    let folder = folder.context("cannot tell where units belong: HOME is not set")?;
    Ok(folder.join("systemd/user").join(UNIT))
}

async fn systemctl(args: &[&str]) -> anyhow::Result<()> {
    let output = Command::new("systemctl")
        .arg("--user")
        .args(args)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let command = || format!("systemctl --user {}", args.join(" "));
    let output = tokio::time::timeout(PATIENCE, output).await;
    let output = output
        .with_context(|| format!("`{}` does not end", command()))?
        .with_context(|| format!("failed to run `{}`", command()))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    bail!(
        "`{}` failed: {}",
        command(),
        crate::chat::clean::line(said.trim())
    );
}
