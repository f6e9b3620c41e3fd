//! One measurement from an app's end to the CLI's and back, for `cargo xtask bench e2e`.
//!
//! `bench_e2e simulator|real <what> <count>` runs `estelle up` (relay and Pylon in one process, the host beside it) with
//! this CLI, talks to it as an app over the relay, and prints one line of JSON. The bare CLI, which everything is
//! compared with, is the same program on two pipes, with the same prompts. The programs are found beside this one.

mod bare;
mod meter;
mod stream;
mod whole;

use estelle_proof::rig::Agent;
use estelle_sim::api::RealCli;
use serde_json::Value;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let [agent, what, count] = arguments.as_slice() else {
        anyhow::bail!("usage: bench_e2e simulator|real <what> <count>");
    };
    let agent = match *agent {
        "simulator" => Agent::simulator(),
        "real" => Agent::Real(RealCli::v325()?),
        other => anyhow::bail!("there is no CLI {other:?}"),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    let figures = runtime.block_on(measure(&agent, what, count.parse()?))?;
    println!("{figures}");
    Ok(())
}

async fn measure(agent: &Agent, what: &str, count: usize) -> anyhow::Result<Value> {
    match what {
        "first-bare" => bare::first_deltas(agent, count).await,
        "first-whole" => whole::first_deltas(agent, count).await,
        "stream-bare" => bare::stream(agent, count).await,
        "stream-whole" => whole::stream(agent, count).await,
        "memory" => whole::memory(agent, count).await,
        "restart" => whole::restart(agent, count).await,
        other => anyhow::bail!("there is nothing to measure by the name {other:?}"),
    }
}
