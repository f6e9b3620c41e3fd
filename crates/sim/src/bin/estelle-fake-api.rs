//! A scripted Messages API as a process of its own, for runs that are driven from elsewhere.
//!
//! Prints one JSON line with its URL once it listens, then serves until standard input ends or SIGTERM comes. With
//! `--gates` another process opens gates by creating files there.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Parser;
use estelle_sim::api::{Config, FakeApi};
use tokio::io::AsyncReadExt as _;
use tokio::signal::unix::{SignalKind, signal};

/// A scripted stand-in for the Messages API on 127.0.0.1.
#[derive(Debug, Parser)]
struct Arguments {
    /// The port; 0 lets the system choose.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// All ids follow from it.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The directory in which a file opens the gate of its name.
    #[arg(long, env = estelle_sim::script::GATES_ENV)]
    gates: Option<PathBuf>,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let mut terminated = signal(SignalKind::terminate()).context("listen for SIGTERM")?;
    let config = Config {
        port: arguments.port,
        seed: arguments.seed,
        gates: arguments.gates,
        ..Config::default()
    };
    let api = FakeApi::start(config).await?;
    let line = serde_json::json!({"url": api.url(), "pid": std::process::id(), "gates": api.gates().dir()});
    writeln!(std::io::stdout(), "{line}").context("print the URL")?;
    tokio::select! {
        _ = terminated.recv() => {}
        () = end_of_input() => {}
    }
    api.shutdown().await;
    // The blocked read of standard input would otherwise hold the runtime open after a signal.
    std::process::exit(0)
}

async fn end_of_input() {
    let mut input = tokio::io::stdin();
    let mut buffer = [0; 4096];
    while matches!(input.read(&mut buffer).await, Ok(read) if read > 0) {}
}
