//! The hidden role in which a new build of this program shows that it starts: it reads the configuration, and opens a copy
//! of the Pylon's database, which brings it to its own format.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use estelle_pylon::store::Store;

use crate::config::ConfigArgs;

/// With what.
#[derive(Debug, Args)]
pub(crate) struct TrialArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// The folder of the copy.
    store: PathBuf,
}

/// Runs the subcommand.
pub(crate) fn run(args: &TrialArgs) -> anyhow::Result<ExitCode> {
    args.config.load()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let store = Store::open(&args.store).context("the database of this machine")?;
        store
            .usage_totals()
            .await
            .context("the database of this machine")?;
        store.close().await;
        anyhow::Ok(())
    })?;
    anstream::println!("estelle {} starts", env!("CARGO_PKG_VERSION"));
    Ok(ExitCode::SUCCESS)
}
