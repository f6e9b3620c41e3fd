//! `estelle host`: the host in the foreground, until a signal or a client ends it.
//!
//! Ending the host leaves its runs alive, to be taken up by the next one; only when it is asked for are they ended first,
//! with a word to everybody and some time to end in good order. A second signal does not wait for that.

use std::ffi::OsString;
use std::io::IsTerminal as _;
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
use estelle_state::idle::IdleTimeout;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::door::{Door, Wish};

/// How the host works.
#[derive(Debug, Args)]
pub(super) struct RunArgs {
    /// The program of Claude Code; looked for in the usual places if nothing is said.
    #[arg(long, value_name = "PATH", env = "CLAUDE_CODE_PATH")]
    claude: Option<PathBuf>,
    /// Minutes after which an idle process is stopped; at least 5, 0 means never.
    #[arg(
        long,
        value_name = "MINUTES",
        env = "PROCESS_IDLE_TIMEOUT_MINUTES",
        default_value = "30"
    )]
    idle_timeout_minutes: String,
    /// Seconds a process has to end after it was asked to.
    #[arg(
        long,
        value_name = "SECONDS",
        env = "PROCESS_SHUTDOWN_GRACE_SECONDS",
        default_value_t = 5
    )]
    shutdown_grace_seconds: u64,
    /// What is dangerous is asked about even in modes that allow everything.
    #[arg(long, env = "ESTELLE_DENY_FIRST")]
    deny_first: bool,
    /// Ending the host ends its runs as well.
    #[arg(long, env = "ESTELLE_SHUTDOWN_STOPS_RUNS")]
    shutdown_stops_runs: bool,
}

/// Runs the host.
pub(super) async fn run(data: &Path, args: RunArgs) -> anyhow::Result<ExitCode> {
    let mut signals = Signals::listen()?;
    log_to_stderr();
    raise_descriptors();
    let folder = Arc::new(DataFolder::take(data)?);
    let socket = folder.socket();
    let stops_runs = args.shutdown_stops_runs;
    let settings = settings(folder.path(), args)?;
    let listener = Listener::bind(Arc::clone(&folder))?;
    let host = Host::open(folder, settings)?;
    let (door, mut wishes) = Door::new(host.clone());
    let stop = CancellationToken::new();
    let serving = serve(listener, Arc::new(door), stop.clone());
    tokio::pin!(serving);
    anstream::println!(
        "estelle host {} is ready at {}",
        env!("CARGO_PKG_VERSION"),
        socket.display()
    );
    let wish = tokio::select! {
        () = &mut serving => Wish::Leave,
        name = signals.next() => if stops_runs { Wish::Stop(name) } else { Wish::Leave },
        Some(wish) = wishes.recv() => wish,
    };
    let end = async {
        if let Wish::Stop(reason) = wish {
            // Clients are served meanwhile, so that they see how everything ends.
            tokio::select! {
                _ = host.stop_runs(reason) => {}
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

fn settings(data: &Path, args: RunArgs) -> anyhow::Result<HostSettings> {
    let program = std::env::current_exe().context("failed to find out where this program is")?;
    let mut search = Search::from_environment();
    if let Some(path) = args.claude.filter(|path| !path.as_os_str().is_empty()) {
        search = search.explicit(path);
    }
    let idle = args.idle_timeout_minutes.trim();
    anyhow::ensure!(
        idle.parse::<u64>().is_ok(),
        "the idle timeout must be a number of minutes, not {idle:?}"
    );
    Ok(HostSettings {
        data: data.to_owned(),
        shim: ShimCommand {
            program,
            args: vec!["shim".to_owned()],
        },
        search,
        environment: std::env::vars_os().collect(),
        home: home(std::env::var_os("HOME")),
        deny_first: args.deny_first,
        idle: IdleTimeout::from_setting(Some(idle)),
        grace: Duration::from_secs(args.shutdown_grace_seconds),
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

fn log_to_stderr() {
    let filter = tracing_subscriber::EnvFilter::try_from_env("ESTELLE_LOG");
    let filter = filter.unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("info"));
    // Somebody else may log already; then it is theirs.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr)
        .try_init();
}

/// The signals that end a host.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Signals {
    fn listen() -> anyhow::Result<Self> {
        let listen = |kind| signal(kind).context("failed to listen for signals");
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hang_up: listen(SignalKind::hangup())?,
        })
    }

    /// The next signal, by the name that clients are told.
    async fn next(&mut self) -> &'static str {
        tokio::select! {
            Some(()) = self.interrupt.recv() => "SIGINT",
            Some(()) = self.terminate.recv() => "SIGTERM",
            // A terminal that is closed asks for the same.
            Some(()) = self.hang_up.recv() => "SIGTERM",
            else => std::future::pending().await,
        }
    }
}
