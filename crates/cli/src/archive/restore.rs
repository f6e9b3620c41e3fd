//! `estelle restore`: what a backup has becomes what the machine has.
//!
//! All of it is put back while nothing runs. While `estelle up` runs only the database can be replaced, which must be asked for
//! by name: what happened since then is told again by the host. A log that is there is newer than its copy, and stays.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;
use estelle_host::data::DataFolder;
use estelle_relay::Registry;
use serde_json::json;

use super::{
    CONVERSATIONS, DATABASE, FORMAT, MANIFEST, Manifest, REGISTRY, beside, copy_tree, make_folder,
};
use crate::data::DataArgs;
use crate::machine::{self, StoreRequest};
use crate::pylon;

/// Put a backup back.
///
/// Workspaces, history, settings and usage become what they were, and so does the registry of the relay; logs that are missing
/// are put back. `estelle up` and the host must not run for that. Devices that were revoked stay out.
#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    #[command(flatten)]
    data: DataArgs,
    /// The folder that `estelle backup` made.
    from: PathBuf,
    /// Only the database, which is possible while `estelle up` runs; what happened since comes again from the host's logs.
    #[arg(long)]
    database_only: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub(crate) fn run(args: &RestoreArgs) -> anyhow::Result<ExitCode> {
    let from = std::path::absolute(&args.from)?;
    let manifest = examine(&from)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let put_back = runtime.block_on(async {
        let data = machine::find(&args.data.folders()?).await?;
        match (machine::is_open(&data).await, args.database_only) {
            (true, true) => {
                let from = from.join(DATABASE);
                machine::ask_store(&data, &StoreRequest::Restore { from }).await?;
                anyhow::Ok(vec!["database".to_owned()])
            }
            (true, false) => bail!(
                "`estelle up` runs on {}: end it and the host (`estelle host stop`; its runs live on) to put everything back, \
                 or name --database-only to put back workspaces, history, settings and usage while it runs",
                data.display()
            ),
            (false, true) => {
                pylon::restore(&data, from.join(DATABASE)).await?;
                Ok(vec!["database".to_owned()])
            }
            (false, false) => at_rest(&from, &data).await,
        }
    })?;
    if args.json {
        anstream::println!("{}", json!({ "restored": put_back, "backup": manifest }));
    } else {
        anstream::println!("Restored from {}: {}", manifest.at, put_back.join(", "));
    }
    Ok(ExitCode::SUCCESS)
}

fn examine(from: &Path) -> anyhow::Result<Manifest> {
    let file = from.join(MANIFEST);
    let text = fs::read_to_string(&file)
        .with_context(|| format!("{} is no backup: there is no {MANIFEST}", from.display()))?;
    let manifest: Manifest = serde_json::from_str(&text)
        .with_context(|| format!("{} cannot be read", file.display()))?;
    if manifest.format > FORMAT {
        bail!(
            "{} was made by a newer version ({}); use that one",
            from.display(),
            manifest.build
        );
    }
    Ok(manifest)
}

/// Puts everything back while nobody uses it.
async fn at_rest(from: &Path, data: &Path) -> anyhow::Result<Vec<String>> {
    make_folder(data)?;
    // Both are held until the end, so that neither a relay nor a host begins in between.
    let registry_file = data.join(REGISTRY);
    let _registry = Registry::open(&registry_file).context("a relay uses the registry")?;
    let _host = DataFolder::take(data)
        .context("end the host first: estelle host stop (its runs live on)")?;
    pylon::restore(data, from.join(DATABASE)).await?;
    let mut put_back = vec!["database".to_owned()];
    if from.join(REGISTRY).is_file() {
        replace(&from.join(REGISTRY), &registry_file)?;
        put_back.push("registry".to_owned());
    }
    let missing = missing_logs(&from.join(CONVERSATIONS), &data.join(CONVERSATIONS))?;
    put_back.push(format!("{missing} logs"));
    Ok(put_back)
}

/// Puts a private copy in the place of a file, which stays beside it.
fn replace(from: &Path, to: &Path) -> anyhow::Result<()> {
    let failed = || format!("failed to replace {}", to.display());
    let fresh = beside(to, ".new");
    fs::copy(from, &fresh).with_context(failed)?;
    if to.exists() {
        fs::rename(to, beside(to, ".before-restore")).with_context(failed)?;
    }
    fs::rename(&fresh, to).with_context(failed)
}

/// Copies the conversations that are not there. Gives how many.
fn missing_logs(from: &Path, to: &Path) -> anyhow::Result<usize> {
    if !from.is_dir() {
        return Ok(0);
    }
    make_folder(to)?;
    let mut copied = 0;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let place = to.join(entry.file_name());
        if place.exists() {
            continue;
        }
        // Whole or not at all: a host must not find half of it.
        let part = beside(&place, ".restore");
        let _ = fs::remove_dir_all(&part);
        copy_tree(&entry.path(), &part)?;
        fs::rename(&part, &place)?;
        copied += 1;
    }
    Ok(copied)
}
