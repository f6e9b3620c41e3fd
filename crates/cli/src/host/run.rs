//! `estelle host`: the host in the foreground, until a signal or a client ends it.
//!
//! Ending the host leaves its runs alive, to be taken up by the next one; only when it is asked for are they ended first,
//! with a word to everybody and some time to end in good order. A second signal does not wait for that.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use estelle_claude::options::Search;
use estelle_host::data::DataFolder;
use estelle_host::ipc::{Listener, serve};
use estelle_host::run::ShimCommand;
use estelle_host::{Host, HostSettings};
use estelle_proto::OnBusy;
use estelle_state::idle::{IdleTimeout, LEAST_MINUTES};
use estelle_state::policy::DenyPatterns;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit, setsid};
use tokio_util::sync::CancellationToken;

use super::door::{Door, Wish};
use crate::config::{Config, HostSection};
use crate::logging;
use crate::signals::Signals;

/// How the host works; what is not said here comes from the configuration.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "switches of a command line")]
pub(super) struct RunArgs {
    /// The program of Claude Code; looked for in the usual places if nothing is said.
    #[arg(long, value_name = "PATH")]
    claude: Option<PathBuf>,
    /// Minutes after which an idle process is stopped; at least 5, 0 means never.
    #[arg(long, value_name = "MINUTES")]
    idle_timeout_minutes: Option<u64>,
    /// Seconds a process has to end after it was asked to.
    #[arg(long, value_name = "SECONDS")]
    shutdown_grace_seconds: Option<u64>,
    /// What is dangerous is asked about even in modes that allow everything.
    #[arg(long)]
    deny_first: bool,
    /// What becomes of a message that comes while a turn runs.
    #[arg(long, value_name = "WORD", value_parser = ["inject", "queue", "interrupt"])]
    on_busy: Option<String>,
    /// Minutes without a word from the agent after which its turn is broken off; 0 means never.
    #[arg(long, value_name = "MINUTES")]
    turn_limit_minutes: Option<u64>,
    /// Ending the host ends its runs as well.
    #[arg(long)]
    shutdown_stops_runs: bool,
    /// Leave the terminal and the session that this was started from.
    #[arg(long, hide = true)]
    detached: bool,
    /// Print one line of JSON when it is ready.
    #[arg(long)]
    json: bool,
}

impl RunArgs {
    /// What holds: what was said, and the configuration for the rest.
    fn over(&self, configured: HostSection) -> HostSection {
        HostSection {
            claude: self.claude.clone().or(configured.claude),
            idle_timeout_minutes: self
                .idle_timeout_minutes
                .unwrap_or(configured.idle_timeout_minutes),
            shutdown_grace_seconds: self
                .shutdown_grace_seconds
                .unwrap_or(configured.shutdown_grace_seconds),
            deny_first: self.deny_first || configured.deny_first,
            on_busy: self
                .on_busy
                .as_deref()
                .map_or(configured.on_busy, OnBusy::from),
            turn_limit_minutes: self
                .turn_limit_minutes
                .unwrap_or(configured.turn_limit_minutes),
            shutdown_stops_runs: self.shutdown_stops_runs || configured.shutdown_stops_runs,
        }
    }
}

/// Runs the host.
pub(super) async fn run(data: &Path, config: Config, args: RunArgs) -> anyhow::Result<ExitCode> {
    if args.detached {
        // A process that leads its group already cannot leave; then nobody's terminal is ours.
        let _ = setsid();
    }
    let mut signals = Signals::listen()?;
    logging::to_stderr(&config);
    raise_descriptors();
    let folder = Arc::new(DataFolder::take(data)?);
    let socket = folder.socket();
    let section = args.over(config.host);
    let stops_runs = section.shutdown_stops_runs;
    let settings = settings(folder.path(), section)?;
    let listener = Listener::bind(Arc::clone(&folder))?;
    let host = Host::open(folder, settings)?;
    let (door, mut wishes) = Door::new(host.clone(), stops_runs);
    let stop = CancellationToken::new();
    let serving = serve(listener, Arc::new(door), stop.clone());
    tokio::pin!(serving);
    let version = env!("CARGO_PKG_VERSION");
    if args.json {
        let ready = serde_json::json!({"ready": true, "version": version, "socket": socket});
        anstream::println!("{ready}");
    } else {
        let socket = socket.display();
        anstream::println!("estelle host {version} is ready at {socket}");
    }
    let wish = tokio::select! {
        () = &mut serving => Wish::Leave,
        name = signals.next() => if stops_runs { Wish::Stop(name.to_owned()) } else { Wish::Leave },
        Some(wish) = wishes.recv() => wish,
    };
    let end = async {
        if let Wish::Stop(reason) = wish {
            // Clients are served meanwhile, so that they see how everything ends.
            tokio::select! {
                _ = host.stop_runs(&reason) => {}
                () = &mut serving => {}
            }
        }
        stop.cancel();
        serving.await;
    };
    tokio::select! {
        () = end => Ok(ExitCode::SUCCESS),
        _ = signals.next() => {
            tracing::warn!("a second signal: the host ends at once");
            Ok(ExitCode::FAILURE)
        }
    }
}

fn settings(data: &Path, section: HostSection) -> anyhow::Result<HostSettings> {
    let program = std::env::current_exe().context("failed to find out where this program is")?;
    let mut search = Search::from_environment();
    if let Some(path) = section.claude {
        search = search.named(path, "--claude, CLAUDE_CODE_PATH or the configuration");
    }
    let minutes = section.idle_timeout_minutes;
    if (1..LEAST_MINUTES).contains(&minutes) {
        tracing::warn!(
            "an idle timeout of {minutes} min is too short: {LEAST_MINUTES} min is the least and counts; 0 switches it off"
        );
    }
    let idle = minutes.to_string();
    Ok(HostSettings {
        data: data.to_owned(),
        shim: ShimCommand {
            program,
            args: vec!["shim".to_owned()],
        },
        search,
        environment: std::env::vars_os().collect(),
        home: home(std::env::var_os("HOME")),
        deny_first: section.deny_first,
        patterns: load_patterns(data)?,
        on_busy: section.on_busy,
        turn_limit: Some(Duration::from_mins(section.turn_limit_minutes))
            .filter(|limit| !limit.is_zero()),
        idle: IdleTimeout::from_setting(Some(&idle)),
        grace: Duration::from_secs(section.shutdown_grace_seconds),
    })
}

/// The lists of what must not be touched or run, where a person has set them. A file that cannot be read is an error: with
/// the usual lists in its place something might run that was meant to be refused.
pub(crate) fn load_patterns(data: &Path) -> anyhow::Result<DenyPatterns> {
    let path = data.join("deny.json");
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(DenyPatterns::default());
        }
        Err(error) => return Err(error).with_context(|| format!("read {}", path.display())),
    };
    serde_json::from_str(&text).with_context(|| {
        format!(
            "{} is not a list of what to deny; correct it, or remove it for the usual lists",
            path.display()
        )
    })
}

fn home(variable: Option<OsString>) -> Option<PathBuf> {
    variable
        .map(PathBuf::from)
        .filter(|home| home.is_absolute())
}

/// A host has a handful of descriptors for each conversation, and the usual limit is small.
fn raise_descriptors() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        tracing::warn!(%error, "the limit of open files stays as it is");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_a_person_replace_those_they_name_and_a_bad_file_is_an_error() {
        let data = tempfile::tempdir().unwrap();
        let usual = load_patterns(data.path()).unwrap();
        assert_eq!(usual, DenyPatterns::default());
        let file = data.path().join("deny.json");
        std::fs::write(&file, r#"{"commands": ["terraform destroy:*"]}"#).unwrap();
        let own = load_patterns(data.path()).unwrap();
        assert_eq!(own.commands, ["terraform destroy:*"]);
        assert_eq!(own.protected, usual.protected);
        for bad in ["{", r#"{"comands": []}"#, "[1]"] {
            std::fs::write(&file, bad).unwrap();
            let error = load_patterns(data.path()).unwrap_err();
            assert!(error.to_string().contains("deny.json"), "{error}");
        }
    }
}
