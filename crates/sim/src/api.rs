//! A scripted Messages API on the loopback interface, for the real CLI.
//!
//! [`FakeApi::start`] listens, answers by the script in the newest prompt, and keeps a log that a test can wait on. The
//! pieces: `conversation` tells main turns from side requests and finds the step, `reply` decides what to send,
//! `sse` frames it, `routes` speaks HTTP, `listen` bounds connections, `log` remembers requests.
//!
//! Which step answers is read from the message history alone. The only state besides the log is how often an error with
//! `times` has been given, and a counter for ids. It checks no credentials and makes no network connection of its own.

mod conversation;
mod listen;
mod log;
mod order;
mod real_cli;
mod reply;
mod routes;
mod sse;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::script::{GateError, Gates};

pub use conversation::Kind;
pub use log::Request;
pub use real_cli::{FindCliError, RealCli};

/// How a fake API is set up; the default suits tests.
#[derive(Debug, Clone)]
pub struct Config {
    /// The port on 127.0.0.1; 0 lets the system choose.
    pub port: u16,
    /// All message and tool call ids follow from it.
    pub seed: u64,
    /// The directory of gate files; a temporary one if absent.
    pub gates: Option<PathBuf>,
    /// Largest request body in bytes; a larger one gets 413.
    pub max_body: usize,
    /// Connections served at a time; further ones wait.
    pub max_connections: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            port: 0,
            seed: 1,
            gates: None,
            max_body: 64 << 20,
            max_connections: 256,
        }
    }
}

/// Why a fake API did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The port cannot be had.
    #[error("listen on 127.0.0.1:{port}")]
    Listen {
        /// The port asked for.
        port: u16,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// There is no place for gate files.
    #[error("make a directory for gates")]
    Gates(#[source] std::io::Error),
}

/// A running fake API; dropping it stops the server and cuts its connections.
#[derive(Debug)]
pub struct FakeApi {
    url: String,
    state: Arc<State>,
    tasks: TaskTracker,
    // Held so that the directory lives as long as the server.
    _gate_dir: Option<tempfile::TempDir>,
}

/// What every request handler shares.
#[derive(Debug)]
struct State {
    log: log::Log,
    retries: reply::Retries,
    gates: Gates,
    stop: CancellationToken,
    max_body: usize,
    seed: u64,
    answers: AtomicU64,
    responses: AtomicU64,
}

impl FakeApi {
    /// Listens and serves until dropped.
    pub async fn start(config: Config) -> Result<Self, StartError> {
        let (gates, gate_dir) = if let Some(dir) = config.gates {
            (Gates::new(dir), None)
        } else {
            let dir = tempfile::tempdir().map_err(StartError::Gates)?;
            (Gates::new(dir.path()), Some(dir))
        };
        let failed = |source| StartError::Listen {
            port: config.port,
            source,
        };
        let listener = TcpListener::bind(("127.0.0.1", config.port))
            .await
            .map_err(failed)?;
        let url = format!("http://{}", listener.local_addr().map_err(failed)?);
        let stop = CancellationToken::new();
        let state = Arc::new(State {
            log: log::Log::default(),
            retries: reply::Retries::default(),
            gates,
            stop: stop.clone(),
            max_body: config.max_body,
            seed: config.seed,
            answers: AtomicU64::new(0),
            responses: AtomicU64::new(0),
        });
        let listener = listen::Bounded::new(listener, config.max_connections, stop.clone());
        let app = routes::app(Arc::clone(&state));
        let tasks = TaskTracker::new();
        tasks.spawn(async move {
            let serving = axum::serve(listener, app);
            tokio::select! {
                biased;
                () = stop.cancelled() => {}
                // The bounded listener retries failed accepts, so serving has no end of its own.
                _ = serving => {}
            }
        });
        tasks.close();
        Ok(Self {
            url,
            state,
            tasks,
            _gate_dir: gate_dir,
        })
    }

    /// The base URL, for `ANTHROPIC_BASE_URL`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The requests so far, oldest first; a very long log has lost its beginning.
    pub fn requests(&self) -> Vec<Request> {
        self.state.log.requests()
    }

    /// The first request, past or to come, that satisfies the predicate. Waits for ever if none does.
    pub async fn wait_for_request(&self, wanted: impl Fn(&Request) -> bool) -> Request {
        self.state.log.wait_for(wanted).await
    }

    /// Opens a gate, which lets a held response go on.
    pub fn open(&self, gate: &str) -> Result<(), GateError> {
        self.state.gates.open(gate)
    }

    /// The gates, to hand their directory to another process.
    pub fn gates(&self) -> &Gates {
        &self.state.gates
    }

    /// Stops the server and waits until it no longer listens.
    pub async fn shutdown(self) {
        self.state.stop.cancel();
        self.tasks.wait().await;
    }
}

impl Drop for FakeApi {
    fn drop(&mut self) {
        self.state.stop.cancel();
    }
}

impl State {
    /// A fresh id for a message or a tool call: the same for the same seed, number of ids before it and salt.
    fn answer_id(&self, prefix: &str, salt: u64) -> String {
        self.id(prefix, &self.answers, salt)
    }

    /// A fresh id for a response; counted apart, so that a stray request does not change the ids of messages.
    fn response_id(&self) -> String {
        self.id("req", &self.responses, 0)
    }

    fn id(&self, prefix: &str, counter: &AtomicU64, salt: u64) -> String {
        let number = counter.fetch_add(1, Ordering::Relaxed);
        let high = scramble(self.seed ^ scramble(number));
        let low = scramble(high ^ salt);
        format!("{prefix}_{high:016x}{:04x}", low & 0xffff)
    }
}

/// The finaliser of splitmix64: neighbouring numbers become unlike ones.
fn scramble(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
#[path = "api_tests.rs"]
mod tests;
