//! How long the folders of ended runs are kept: a few, so that a check has something to look at, and no more.
//!
//! A folder goes in one step, out of sight into the trash, and is removed there; so it is whole or gone, whoever dies in
//! between. What lies in the trash is removed by the next host. Which runs have ended is the log's to say, not ours.

use std::io;
use std::path::{Path, PathBuf};

use estelle_proto::Generation;

use super::folder::RunFolder;
use super::lock::Lock;
use crate::failpoint;

/// How many ended runs a conversation keeps.
pub(crate) const KEPT_RUNS: u64 = 3;

/// Moves the folders of old runs into the trash and says where they lie now. Every run up to `ended` has ended.
///
/// One whose lock is held stays until the next time: its shim is still ending what the CLI left behind.
pub(crate) fn retire(runs: &Path, ended: Generation, trash: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(runs) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let last = ended.0.saturating_sub(KEPT_RUNS);
    let mut retired = Vec::new();
    for entry in entries {
        let entry = entry?;
        let number = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse::<u64>().ok());
        if number.is_none_or(|number| number > last) {
            continue;
        }
        let folder = RunFolder::open(entry.path());
        if Lock::is_held(&folder.lock())? {
            continue;
        }
        std::fs::create_dir_all(trash)?;
        let aside = trash.join(format!("run-{}", uuid::Uuid::new_v4()));
        std::fs::rename(folder.path(), &aside)?;
        failpoint::reach("run-aside");
        retired.push(aside);
    }
    Ok(retired)
}

#[cfg(test)]
mod tests {
    use super::super::lock::Heirs;
    use super::*;

    fn left(runs: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(runs).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn the_last_runs_stay_and_so_does_one_that_is_not_over() {
        let place = tempfile::tempdir().unwrap();
        let (runs, trash) = (place.path().join("runs"), place.path().join("trash"));
        assert_eq!(
            retire(&runs, Generation(9), &trash).unwrap(),
            [] as [PathBuf; 0]
        );
        for name in ["1", "2", "3", "4", "5", "6", "notes"] {
            std::fs::create_dir_all(runs.join(name)).unwrap();
        }
        let held = Lock::take(&runs.join("2").join("lock"), Heirs::None).unwrap();
        // The sixth lives.
        let retired = retire(&runs, Generation(5), &trash).unwrap();
        assert_eq!(retired.len(), 1);
        assert!(retired[0].is_dir());
        assert_eq!(left(&runs), ["2", "3", "4", "5", "6", "notes"]);
        drop(held);
        assert_eq!(retire(&runs, Generation(6), &trash).unwrap().len(), 2);
        assert_eq!(left(&runs), ["4", "5", "6", "notes"]);
    }
}
