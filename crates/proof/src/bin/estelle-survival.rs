//! Plays the survival matrix and writes the page: `estelle-survival <file> [part of a name]`.
//!
//! `cargo xtask survival` builds and calls it. Real CLIs are played with where the environment names them. The page is
//! written before the first story and after each one, so that it says what is known even when this is ended early; what
//! is not played keeps what the page says of it.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::{Context as _, bail};
use estelle_proof::bugs;
use estelle_proof::rig::Agent;
use estelle_proof::survival::{Cell, Page, Row, rows};
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
    let mut args = std::env::args_os().skip(1);
    let target = args.next().map(PathBuf::from);
    let target = target.context("say which file to write: estelle-survival <file>")?;
    let only = args.next().and_then(|only| only.into_string().ok());
    let mut agents = vec![Agent::simulator()];
    agents.extend(
        [RealCli::v197(), RealCli::v325()]
            .into_iter()
            .flatten()
            .map(Agent::Real),
    );
    let chosen = |row: &Row| only.as_deref().is_none_or(|only| row.name.contains(only));
    let rows: Vec<Row> = rows().into_iter().filter(chosen).collect();
    if rows.is_empty() {
        let all: Vec<_> = estelle_proof::survival::rows();
        let names: Vec<&str> = all.iter().map(|row| row.name).collect();
        bail!(
            "no story has that in its name; there are {}",
            names.join(", ")
        );
    }
    let mut page = Page::read(&std::fs::read_to_string(&target).unwrap_or_default())
        .with_agents(agents.iter().map(Agent::name));
    write(&target, &page)?;
    let pairs = rows
        .iter()
        .flat_map(|row| agents.iter().map(move |agent| (row, agent)));
    let total = rows.len() * agents.len();
    let mut stories = stream::iter(pairs)
        .map(|(row, agent)| async move { (row, agent, told(row, agent).await) })
        .buffered(AT_ONCE);
    let mut cells = Vec::with_capacity(total);
    while let Some((row, agent, cell)) = stories.next().await {
        page.set(row, &agent.name(), &cell);
        cells.push(cell);
        write(&target, &page)?;
        eprintln!("{} of {total} are through", cells.len());
    }
    if only.is_none() {
        page.count(&cells, &when(&target));
        write(&target, &page)?;
    }
    let failed = cells.iter().any(|cell| matches!(cell, Cell::Failed(_)));
    Ok(if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

fn write(target: &Path, page: &Page) -> anyhow::Result<()> {
    let text = page.text(&rows(), bugs::all().len());
    std::fs::write(target, text).with_context(|| format!("write {}", target.display()))
}

/// The day, and the commit with which the stories were played: a page says of its own tree what it was made from.
fn when(target: &Path) -> String {
    let folder = target.parent().unwrap_or(Path::new("."));
    let said = |program: &str, args: &[&str]| {
        let mut command = Command::new(program);
        let output = command.args(args).current_dir(folder).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    let unknown = || "unknown".to_owned();
    let day = said("date", &["-u", "+%F"]).unwrap_or_else(unknown);
    let commit = said("git", &["rev-parse", "--short=12", "HEAD"]).unwrap_or_else(unknown);
    // The page itself changes while it is made.
    let changed = said(
        "git",
        &[
            "diff",
            "--name-only",
            "HEAD",
            "--",
            ":/",
            ":!/docs/survival.md",
        ],
    );
    let changed = changed.is_some_and(|files| !files.is_empty());
    let suffix = if changed { " and changes to it" } else { "" };
    format!("{day}, commit {commit}{suffix}")
}

/// Plays a story, and says on the way how it went.
async fn told(row: &Row, agent: &Agent) -> Cell {
    let began = Instant::now();
    let cell = cell(row, agent).await;
    let (name, took) = (agent.name(), began.elapsed().as_secs_f32());
    match &cell {
        Cell::Failed(why) => eprintln!("{} with {name}, {took:.1} s: {why}", row.name),
        Cell::Survived(_) => eprintln!("{} with {name}, {took:.1} s", row.name),
        Cell::NotMeant => {}
    }
    cell
}

async fn cell(row: &Row, agent: &Agent) -> Cell {
    if matches!(agent, Agent::Real(_)) && !row.real {
        return Cell::NotMeant;
    }
    match row.play(agent).await {
        Ok(figures) => Cell::Survived(figures),
        Err(error) => Cell::Failed(format!("{error:#}")),
    }
}
