//! The npm packages of the web app, kept in the cache under the hash of its lock file.
//!
//! A clone gets a link to them, so that only a changed lock file costs an install. A `node_modules` folder that
//! somebody installed by hand is left alone and used as it is.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::cache::{Cache, Lock};
use super::node;
use crate::command::Watch;
use crate::workspace;

/// Size on disk, in megabytes.
pub(crate) const MEGABYTES: u64 = 250;
/// npm writes it last.
const MARK: &str = ".package-lock.json";

/// The web app's folder.
pub(crate) fn folder() -> PathBuf {
    workspace::root().join("web")
}

/// The installed packages, if they fit the lock file.
pub(crate) fn find(cache: &Cache) -> anyhow::Result<Option<PathBuf>> {
    let packages = cache.folder(&name()?).join("node_modules");
    Ok(packages.join(MARK).is_file().then_some(packages))
}

/// Installs exactly what the lock file says, running no script of any package.
pub(crate) fn install(cache: &Cache, lock: &Lock, watch: Watch<'_>) -> anyhow::Result<PathBuf> {
    node::require()?;
    let fill = |place: &Path| {
        for file in ["package.json", "package-lock.json"] {
            fs::copy(folder().join(file), place.join(file))
                .with_context(|| format!("failed to copy web/{file}"))?;
        }
        node::install_locked(place, watch)
    };
    let check = |place: &Path| {
        let mark = place.join("node_modules").join(MARK);
        fs::metadata(&mark).with_context(|| format!("{} is missing", mark.display()))?;
        Ok(())
    };
    let place = cache.install(lock, &name()?, fill, check)?;
    Ok(place.join("node_modules"))
}

/// Lets `web/node_modules` lead to the installed packages.
pub(crate) fn link(packages: &Path) -> anyhow::Result<()> {
    let link = folder().join("node_modules");
    match fs::symlink_metadata(&link) {
        Ok(found) if !found.is_symlink() => return Ok(()),
        Ok(_) if fs::read_link(&link).is_ok_and(|place| place == packages) => return Ok(()),
        Ok(_) => fs::remove_file(&link)
            .with_context(|| format!("failed to remove the old link {}", link.display()))?,
        Err(_) => {}
    }
    std::os::unix::fs::symlink(packages, &link)
        .with_context(|| format!("failed to make the link {}", link.display()))
}

fn name() -> anyhow::Result<String> {
    let file = folder().join("package-lock.json");
    let text = fs::read(&file).with_context(|| format!("failed to read {}", file.display()))?;
    Ok(format!("web-packages-{:016x}", hash(&text)))
}

/// FNV-1a: enough to tell one lock file from the next, without a crate for it.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_lock_file_has_another_name() {
        assert_eq!(hash(b""), 0xcbf2_9ce4_8422_2325);
        assert_ne!(hash(b"a"), hash(b"b"));
    }
}
