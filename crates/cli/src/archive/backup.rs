//! `estelle backup`: a copy of everything, while everything runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;
use estelle_proto::IsoTime;
use estelle_pylon::store::Store;
use serde_json::json;

use super::{
    CONVERSATIONS, DATABASE, FORMAT, MANIFEST, Manifest, REGISTRY, SETTINGS, UPLOADS, beside,
    copy_file, copy_tree, make_folder, sync_folder,
};
use crate::client::now;
use crate::data::DataArgs;
use crate::machine::{self, StoreRequest};
use crate::pylon::{STORE, uploads_folder};

/// Copy the memory of this machine into a new folder, while it runs.
///
/// Workspaces, history, settings and usage, the registry of the relay, the host's logs with rules and what was trusted,
/// and attached files. Secrets in the clear are left
/// out, and so is the list of what was revoked: nothing that is restored lets a revoked device in again.
#[derive(Debug, Args)]
pub(crate) struct BackupArgs {
    #[command(flatten)]
    data: DataArgs,
    /// The folder to make; it must not be there yet.
    to: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub(crate) fn run(args: &BackupArgs) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let to = std::path::absolute(&args.to)?;
    if to.symlink_metadata().is_ok() {
        bail!("{} is there already: name a new folder", to.display());
    }
    let part = beside(&to, ".part");
    let done = runtime.block_on(async {
        let data = machine::find(&args.data.folders()?).await?;
        write(&data, &part).await
    });
    let manifest = match done {
        Ok(manifest) => manifest,
        Err(error) => {
            // Half a backup is of no use; that it cannot be removed says nothing new.
            let _ = fs::remove_dir_all(&part);
            return Err(error);
        }
    };
    fs::rename(&part, &to).with_context(|| format!("failed to name {}", to.display()))?;
    // Whoever is told that there is a backup has one after a power cut, too.
    if let Some(folder) = to.parent() {
        sync_folder(folder)?;
    }
    if args.json {
        anstream::println!("{}", json!({ "folder": to, "backup": manifest }));
    } else {
        let number = manifest.conversations;
        anstream::println!("{number} conversations are in {}", to.display());
    }
    Ok(ExitCode::SUCCESS)
}

async fn write(data: &Path, part: &Path) -> anyhow::Result<Manifest> {
    let _ = fs::remove_dir_all(part);
    make_folder(part)?;
    // The logs are copied after the database, so that it has seen nothing that they lack.
    let database = part.join(DATABASE);
    if machine::is_open(data).await {
        machine::ask_store(data, &StoreRequest::Backup { to: database }).await?;
    } else {
        let store = Store::open(&data.join(STORE))?;
        let written = store.backup(database).await;
        store.close().await;
        written?;
    }
    copy_file(&data.join(REGISTRY), &part.join(REGISTRY))?;
    let conversations = data.join(CONVERSATIONS);
    if conversations.is_dir() {
        copy_tree(&conversations, &part.join(CONVERSATIONS))?;
    }
    let uploads = uploads_folder(data);
    if uploads.is_dir() {
        copy_tree(&uploads, &part.join(UPLOADS))?;
    }
    for name in SETTINGS {
        copy_file(&data.join(name), &part.join(name))?;
    }
    let settings = SETTINGS.iter().filter(|name| part.join(name).is_file());
    let folders = fs::read_dir(part.join(CONVERSATIONS));
    let manifest = Manifest {
        format: FORMAT,
        build: env!("CARGO_PKG_VERSION").to_owned(),
        at: IsoTime::from(now()).as_str().to_owned(),
        conversations: folders.map_or(0, Iterator::count),
        settings: Some(settings.map(|name| (*name).to_owned()).collect()),
    };
    let text = serde_json::to_string_pretty(&manifest)?;
    let file = part.join(MANIFEST);
    let written = fs::write(&file, text).and_then(|()| fs::File::open(&file)?.sync_all());
    written.with_context(|| format!("failed to write {}", file.display()))?;
    sync_folder(part)?;
    Ok(manifest)
}
