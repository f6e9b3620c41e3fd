//! Plays the survival matrix and writes the page: `estelle-survival <file or -> [part of a name]`.
//!
//! `cargo xtask survival` builds and calls it. Real CLIs are played with where the environment names them.

use std::process::ExitCode;

use estelle_proof::bugs;
use estelle_proof::rig::Agent;
use estelle_proof::survival::{Cell, Row, page, rows};
use estelle_sim::api::RealCli;

fn main() -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(play())
}

async fn play() -> anyhow::Result<ExitCode> {
    let mut args = std::env::args().skip(1);
    let target = args.next().unwrap_or_else(|| "-".to_owned());
    let only = args.next();
    let mut agents = vec![Agent::simulator()];
    agents.extend(
        [RealCli::v197(), RealCli::v325()]
            .into_iter()
            .flatten()
            .map(Agent::Real),
    );
    let mut table: Vec<(Row, Vec<Cell>)> = Vec::new();
    let chosen = |row: &Row| only.as_deref().is_none_or(|only| row.name.contains(only));
    let mut failed = false;
    for row in rows().into_iter().filter(chosen) {
        let mut cells = Vec::new();
        for agent in &agents {
            let cell = cell(&row, agent).await;
            if let Cell::Failed(why) = &cell {
                failed = true;
                eprintln!("{} with {}: {why}", row.name, agent.name());
            }
            cells.push(cell);
        }
        eprintln!("{}", row.name);
        table.push((row, cells));
    }
    let names: Vec<String> = agents.iter().map(Agent::name).collect();
    let page = page(&names, &table, bugs::all().len());
    if target == "-" {
        print!("{page}");
    } else {
        std::fs::write(target, page)?;
    }
    Ok(if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

async fn cell(row: &Row, agent: &Agent) -> Cell {
    if matches!(agent, Agent::Real(_)) && !row.real {
        return Cell::NotPlayed;
    }
    match row.play(agent).await {
        Ok(figures) => Cell::Survived(figures),
        Err(error) => Cell::Failed(format!("{error:#}")),
    }
}
