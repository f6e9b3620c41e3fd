//! `estelle restore`: what a backup has becomes what the machine has.
//!
//! All of it is put back while nothing runs. An `estelle up` that runs sees to that itself: it ends its parts, lets the host
//! leave, whose runs live on, puts everything back, and starts anew; the database alone is replaced under the Pylon. What
//! happened since then is told again by the host. A log that is there is newer than its copy, and stays.
//!
//! What is there at any moment of it, should the machine lose power, is in `docs/design/restore.md`.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;
use estelle_host::data::DataFolder;
use estelle_relay::Registry;
use serde_json::json;

use super::{
    CONVERSATIONS, DATABASE, FORMAT, MANIFEST, Manifest, REGISTRY, SETTINGS, UPLOADS, beside,
    copy_tree, make_folder, sync_folder,
};
use crate::data::DataArgs;
use crate::machine::{self, StoreRequest};
use crate::pylon;

/// Where copies are made before they get their places.
const SCRATCH: &str = "restore.part";

/// Put a backup back.
///
/// Workspaces, history, settings and usage become what they were, and so do the registry of the relay, rules and what was
/// trusted; logs and attached files that are missing are put back. If `estelle up` runs it starts anew with what was put back; runs live on. Devices that were revoked stay out.
#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    #[command(flatten)]
    data: DataArgs,
    /// The folder that `estelle backup` made.
    from: PathBuf,
    /// Only the database: devices stay connected, and nobody is let in again or shut out.
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
                machine::ask_store(&data, &StoreRequest::Restore { from }).await
            }
            (true, false) => {
                let request = StoreRequest::RestoreAll { from: from.clone() };
                machine::ask_store(&data, &request).await
            }
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
///
/// Nothing is touched before all that can be judged was judged. Then the logs come first: a log that nobody knows does no
/// harm, and a history without its log would begin anew.
pub(crate) async fn at_rest(from: &Path, data: &Path) -> anyhow::Result<Vec<String>> {
    make_folder(data)?;
    // Both are held until the end, so that neither a relay nor a host begins in between.
    let registry_file = data.join(REGISTRY);
    let _registry = Registry::open(&registry_file).context("a relay uses the registry")?;
    let _host = DataFolder::take(data)
        .context("end the host first: estelle host stop (its runs live on)")?;
    let scratch = data.join(SCRATCH);
    let _ = fs::remove_dir_all(&scratch);
    make_folder(&scratch)?;
    let registry = sound_registry(from, &scratch)?;
    let settings = sound_settings(from, &scratch)?;
    let logs = missing(&from.join(CONVERSATIONS), &data.join(CONVERSATIONS))?;
    let uploads = missing(&from.join(UPLOADS), &pylon::uploads_folder(data))?;
    estelle_host::failpoint("restore-logs");
    pylon::restore(data, from.join(DATABASE)).await?;
    estelle_host::failpoint("restore-database");
    let mut put_back = vec!["database".to_owned()];
    if let Some(fresh) = registry {
        replace(&fresh, &registry_file)?;
        put_back.push("registry".to_owned());
    }
    put_back.push(format!("{logs} logs"));
    if uploads > 0 {
        put_back.push(format!("the files of {uploads} conversations"));
    }
    put_back.extend(replace_settings(settings, data)?);
    // What is left of it is cleared away the next time.
    let _ = fs::remove_dir_all(&scratch);
    Ok(put_back)
}

/// A private copy of the registry in a backup, if it has one, that a relay can read.
fn sound_registry(from: &Path, scratch: &Path) -> anyhow::Result<Option<PathBuf>> {
    let source = from.join(REGISTRY);
    if !source.is_file() {
        return Ok(None);
    }
    let fresh = scratch.join(REGISTRY);
    let failed = || format!("failed to copy {}", source.display());
    let copied = fs::copy(&source, &fresh).and_then(|_| File::open(&fresh)?.sync_all());
    copied.with_context(failed)?;
    fs::set_permissions(&fresh, fs::Permissions::from_mode(0o600)).with_context(failed)?;
    let opened = Registry::open(&fresh);
    opened.with_context(|| format!("{} is no registry", source.display()))?;
    Ok(Some(fresh))
}

/// A setting of the host, and the copy that takes its place; none if there was none when the backup was made.
type Setting = (&'static str, Option<PathBuf>);

/// Private copies of the host's settings in a backup. An older backup says nothing of them.
fn sound_settings(from: &Path, scratch: &Path) -> anyhow::Result<Vec<Setting>> {
    let Some(kept) = examine(from)?.settings else {
        return Ok(Vec::new());
    };
    let mut settings = Vec::new();
    for name in SETTINGS {
        if !kept.iter().any(|kept| kept == name) {
            settings.push((name, None));
            continue;
        }
        let (source, fresh) = (from.join(name), scratch.join(name));
        let failed = || format!("failed to copy {}", source.display());
        let text = fs::read(&source).with_context(failed)?;
        serde_json::from_slice::<serde::de::IgnoredAny>(&text)
            .with_context(|| format!("{} is damaged", source.display()))?;
        let copied = fs::write(&fresh, text).and_then(|()| File::open(&fresh)?.sync_all());
        copied.with_context(failed)?;
        fs::set_permissions(&fresh, fs::Permissions::from_mode(0o600)).with_context(failed)?;
        settings.push((name, Some(fresh)));
    }
    Ok(settings)
}

/// Gives each setting its place. What was there stays beside it.
fn replace_settings(settings: Vec<Setting>, data: &Path) -> anyhow::Result<Option<String>> {
    let mut replaced = Vec::new();
    for (name, fresh) in settings {
        let place = data.join(name);
        match fresh {
            Some(fresh) => replace(&fresh, &place)?,
            None if place.exists() => {
                keep(&place)?;
                fs::remove_file(&place)
                    .with_context(|| format!("failed to put {} aside", place.display()))?;
            }
            None => continue,
        }
        replaced.push(name);
    }
    if replaced.is_empty() {
        return Ok(None);
    }
    sync_folder(data)?;
    Ok(Some(replaced.join(", ")))
}

/// Puts a file in the place of another, which stays beside it. There is always one of them.
fn replace(fresh: &Path, to: &Path) -> anyhow::Result<()> {
    if to.exists() {
        keep(to)?;
    }
    fs::rename(fresh, to).with_context(|| format!("failed to replace {}", to.display()))
}

/// Keeps a file under another name.
fn keep(file: &Path) -> anyhow::Result<()> {
    let before = beside(file, ".before-restore");
    let _ = fs::remove_file(&before);
    // Not every file system has hard links.
    let kept = fs::hard_link(file, &before).or_else(|_| fs::copy(file, &before).map(drop));
    kept.with_context(|| format!("failed to keep {}", file.display()))
}

/// Copies the folders of conversations that are not there. Gives how many.
fn missing(from: &Path, to: &Path) -> anyhow::Result<usize> {
    if !from.is_dir() {
        return Ok(0);
    }
    make_folder(to)?;
    // Beside it, and so on the same file system.
    let scratch = beside(to, ".restore");
    let _ = fs::remove_dir_all(&scratch);
    make_folder(&scratch)?;
    let mut copied = 0;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let place = to.join(entry.file_name());
        if place.exists() || !entry.file_type()?.is_dir() {
            continue;
        }
        // Whole or not at all: nobody must find half of it.
        let part = scratch.join(entry.file_name());
        copy_tree(&entry.path(), &part)?;
        fs::rename(&part, &place)?;
        copied += 1;
    }
    // What is left of it is cleared away the next time.
    let _ = fs::remove_dir_all(&scratch);
    sync_folder(to)?;
    Ok(copied)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) {
        make_folder(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A backup with these settings.
    fn backup(folder: &Path, settings: &[&str]) -> PathBuf {
        let from = folder.join("backup");
        let manifest = Manifest {
            format: FORMAT,
            build: "test".to_owned(),
            at: String::new(),
            conversations: 0,
            settings: Some(settings.iter().map(|name| (*name).to_owned()).collect()),
        };
        let text = serde_json::to_string(&manifest).unwrap();
        write(&from.join(MANIFEST), &text);
        for name in settings {
            write(&from.join(name), "{\"old\":1}");
        }
        from
    }

    #[test]
    fn settings_become_what_they_were_and_what_was_there_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let from = backup(folder.path(), &["rules.json"]);
        let (data, scratch) = (folder.path().join("data"), folder.path().join("scratch"));
        make_folder(&scratch).unwrap();
        write(&data.join("rules.json"), "{\"new\":1}");
        write(&data.join("trust.json"), "{\"new\":2}");
        let settings = sound_settings(&from, &scratch).unwrap();
        let replaced = replace_settings(settings, &data).unwrap().unwrap();
        assert_eq!(replaced, "rules.json, trust.json");
        let text = |name: &str| fs::read_to_string(data.join(name)).ok();
        assert_eq!(text("rules.json").as_deref(), Some("{\"old\":1}"));
        assert_eq!(text("trust.json"), None, "nothing was trusted then");
        let kept = ["rules.json.before-restore", "trust.json.before-restore"].map(text);
        let kept = kept.map(Option::unwrap);
        assert_eq!(kept, ["{\"new\":1}", "{\"new\":2}"]);
    }

    #[test]
    fn a_damaged_setting_is_found_before_anything_is_touched() {
        let folder = tempfile::tempdir().unwrap();
        let from = backup(folder.path(), &["rules.json"]);
        write(&from.join("rules.json"), "{");
        let error = sound_settings(&from, folder.path()).unwrap_err();
        assert!(error.to_string().contains("damaged"), "{error}");
    }
}
