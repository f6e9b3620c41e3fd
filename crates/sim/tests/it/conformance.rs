//! The simulated CLI against the real ones: the same scenarios, the same host, the normalised streams compared.
//!
//! Everything is compared: the order of the lines, the order of their fields and every value. Only ids, times and costs may
//! differ, and they are normalised. Every other difference must be listed with its reason in `CONFORMANCE.md`, and every
//! listed one must still be there.

mod compare;
mod host;
mod normal;
mod scenarios;
mod tree;

use std::path::Path;

use anyhow::Context as _;
use estelle_sim::api::{Config, FakeApi, RealCli};

use compare::Found;
use host::{Host, Place};
use scenarios::Scenario;

const LISTED: &str = include_str!("../../CONFORMANCE.md");

async fn run(cli: &RealCli, scenario: &Scenario) -> anyhow::Result<Found> {
    let api = FakeApi::start(Config::default()).await?;
    let place = |program: &Path| -> anyhow::Result<Place> {
        let home = tempfile::tempdir()?;
        let mut env = cli.env(home.path(), api.url());
        for (name, value) in scenario.env {
            env.insert((*name).to_owned(), (*value).to_owned());
        }
        Ok(Place {
            program: program.to_owned(),
            env,
            home,
            work: tempfile::tempdir()?,
        })
    };
    let mut simulated = place(Path::new(env!("CARGO_BIN_EXE_estelle-sim-claude")))?;
    let version = ("ESTELLE_SIM_VERSION", cli.version());
    for (name, value) in [version, ("ESTELLE_SIM_PLAIN", "1")] {
        simulated.env.insert(name.to_owned(), value.to_owned());
    }
    let mut real = Host::start(place(cli.path())?, scenario.args)?;
    let mut sim = Host::start(simulated, scenario.args)?;
    for part in &scenario.parts {
        let (real, sim) = tokio::join!(real.play(part), sim.play(part));
        real.context("on the real CLI")?;
        sim.context("on the simulator")?;
    }
    let real = normal::normalise(real.into_seen());
    let sim = normal::normalise(sim.into_seen());
    Ok(compare::compare(cli.version(), &real, &sim))
}

/// A row of the table in `CONFORMANCE.md`.
#[derive(Debug)]
struct Row<'a> {
    version: &'a str,
    part: &'a str,
    difference: &'a str,
}

impl Row<'_> {
    fn is_about(&self, version: &str) -> bool {
        self.version == version || self.version == "both"
    }

    fn covers(&self, (part, difference): &(String, String)) -> bool {
        (self.part == part || self.part == "all") && self.difference == difference
    }
}

fn listed(version: &str) -> Vec<Row<'static>> {
    let rows = LISTED.lines().filter_map(|line| line.strip_prefix("| "));
    let rows = rows.filter_map(|row| {
        let mut cells = row.split(" | ");
        Some(Row {
            version: cells.next()?,
            part: cells.next()?,
            difference: cells.next()?,
        })
    });
    rows.filter(|row| row.is_about(version)).collect()
}

async fn conforms(cli: &RealCli) -> anyhow::Result<()> {
    let mut found = Found::new();
    for scenario in scenarios::all() {
        found.extend(run(cli, &scenario).await?);
    }
    let listed = listed(cli.version());
    let is_listed = |one: &(String, String)| listed.iter().any(|row| row.covers(one));
    let unlisted: Vec<_> = found.iter().filter(|one| !is_listed(one)).collect();
    let stale = listed
        .iter()
        .filter(|row| !found.iter().any(|one| row.covers(one)));
    let stale: Vec<_> = stale.collect();
    assert!(
        unlisted.is_empty(),
        "differences that CONFORMANCE.md does not list: {unlisted:#?}"
    );
    assert!(
        stale.is_empty(),
        "CONFORMANCE.md lists what is no longer so: {stale:#?}"
    );
    Ok(())
}

#[tokio::test]
async fn the_simulator_conforms_to_197() -> anyhow::Result<()> {
    conforms(&RealCli::v197()?).await
}

#[tokio::test]
async fn the_simulator_conforms_to_325() -> anyhow::Result<()> {
    conforms(&RealCli::v325()?).await
}
