//! Plays the survival matrix and writes the page: `estelle-survival <file or -> [part of a name]`.
//!
//! `cargo xtask survival` builds and calls it. Real CLIs are played with where the environment names them.

use std::process::ExitCode;

use estelle_proof::bugs;
use estelle_proof::rig::Agent;
use estelle_proof::survival::{Cell, Row, page, rows};
use estelle_sim::api::RealCli;
use futures_util::{StreamExt as _, stream};

/// Stories that are played at the same time: most of a story is waiting.
const AT_ONCE: usize = 4;

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
    let chosen = |row: &Row| only.as_deref().is_none_or(|only| row.name.contains(only));
    let rows: Vec<Row> = rows().into_iter().filter(chosen).collect();
    let cells = rows
        .iter()
        .flat_map(|row| agents.iter().map(move |agent| told(row, agent)));
    // In the order of the table, whichever is done first.
    let cells: Vec<Cell> = stream::iter(cells).buffered(AT_ONCE).collect().await;
    let failed = cells.iter().any(|cell| matches!(cell, Cell::Failed(_)));
    let cells = cells.chunks(agents.len()).map(<[Cell]>::to_vec);
    let table: Vec<(Row, Vec<Cell>)> = rows.into_iter().zip(cells).collect();
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

/// Plays a story, and says on the way how it went.
async fn told(row: &Row, agent: &Agent) -> Cell {
    let cell = cell(row, agent).await;
    match &cell {
        Cell::Failed(why) => eprintln!("{} with {}: {why}", row.name, agent.name()),
        Cell::Survived(_) => eprintln!("{} with {}", row.name, agent.name()),
        Cell::NotPlayed => {}
    }
    cell
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
