//! From one program to the next: which is started, what was before it, and the way back.
//!
//! What people and supervisors start is a link, and switching is one rename of it. Before that a note says what was and
//! what comes, and the new program takes it away when it is ready. As long as the note is there the way back is known:
//! the link to what was before, and the copy of the database that it can read.
//!
//! | killed | what is there | what the next start does |
//! |---|---|---|
//! | before the rename | the note, the link to the old program | the old one removes the note |
//! | after it | the note, the link to the new program | the new one counts the attempt and starts |
//! | while the new one starts | the same | the same; after a few attempts it goes back |
//! | while it goes back | the note says why, the link to the old | the old one puts the database back if it has to |

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::release::{replace, sync_folder};

/// The name of the note.
const FILE: &str = "succession.json";

/// A switch from one program to another that is not over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Succession {
    /// The link that is started.
    pub program: PathBuf,
    /// What it led to before.
    pub from: PathBuf,
    /// What it is to lead to.
    pub to: PathBuf,
    /// The commit of the new program.
    pub commit: String,
    /// A copy of the database that the old program can read.
    pub database: PathBuf,
    /// How often the new program has begun to start.
    #[serde(default)]
    pub attempts: u32,
    /// Why it went back, once it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

impl Succession {
    /// The note in a folder; nothing if no switch is under way.
    pub fn load(folder: &Path) -> io::Result<Option<Self>> {
        match std::fs::read(folder.join(FILE)) {
            Ok(text) => Ok(Some(serde_json::from_slice(&text)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes the note.
    pub fn store(&self, folder: &Path) -> io::Result<()> {
        replace(&folder.join(FILE), &serde_json::to_vec(self)?)
    }

    /// Takes the note away: it is over.
    pub fn remove(folder: &Path) -> io::Result<()> {
        match std::fs::remove_file(folder.join(FILE)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Lets the link lead to the new program.
    pub fn switch(&self) -> io::Result<()> {
        point(&self.program, &self.to)
    }

    /// Lets the link lead to what was before.
    pub fn switch_back(&self) -> io::Result<()> {
        point(&self.program, &self.from)
    }
}

/// Makes a path a link to a program, in one step.
fn point(link: &Path, program: &Path) -> io::Result<()> {
    let mut name = link.as_os_str().to_owned();
    name.push(".new");
    let beside = PathBuf::from(name);
    match std::fs::remove_file(&beside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    std::os::unix::fs::symlink(program, &beside)?;
    std::fs::rename(&beside, link)?;
    sync_folder(link)
}

/// The program behind what is started. One that is no link yet is kept under another name, so that there is a way back.
pub(super) fn former(program: &Path, keep_in: &Path) -> io::Result<PathBuf> {
    let kind = std::fs::symlink_metadata(program)?.file_type();
    if kind.is_symlink() {
        return program.canonicalize();
    }
    std::fs::create_dir_all(keep_in)?;
    let name = program.file_name().unwrap_or("estelle".as_ref());
    let kept = keep_in.join(name);
    match std::fs::hard_link(program, &kept) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        // Another file system.
        Err(_) => {
            let beside = keep_in.join("partial");
            std::fs::copy(program, &beside)?;
            std::fs::File::open(&beside)?.sync_all()?;
            std::fs::rename(&beside, &kept)?;
        }
    }
    Ok(kept)
}

/// Removes old builds: all but the newest, those that are named, and those that a process runs.
pub(super) fn prune(builds: &Path, keep: &[PathBuf], newest: usize) -> io::Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(builds)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            folders.push((entry.metadata()?.modified()?, entry.path()));
        }
    }
    folders.sort();
    let running = running();
    let old = folders.len().saturating_sub(newest);
    let mut removed = Vec::new();
    for (_, folder) in folders.into_iter().take(old) {
        let is_used = |program: &PathBuf| program.starts_with(&folder);
        if !keep.iter().any(is_used) && !running.iter().any(is_used) {
            std::fs::remove_dir_all(&folder)?;
            removed.push(folder);
        }
    }
    Ok(removed)
}

/// The programs of all processes that we can see.
fn running() -> Vec<PathBuf> {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let programs =
        processes.filter_map(|process| std::fs::read_link(process.path().join("exe")).ok());
    programs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_becomes_a_link_and_goes_back() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        std::fs::write(at("estelle"), "old").unwrap();
        std::fs::write(at("new"), "new").unwrap();
        let from = former(&at("estelle"), &at("before")).unwrap();
        assert_eq!(from, at("before").join("estelle"));
        let note = Succession {
            program: at("estelle"),
            from,
            to: at("new"),
            commit: "abc".to_owned(),
            database: at("db"),
            attempts: 0,
            failure: None,
        };
        note.store(place.path()).unwrap();
        assert_eq!(Succession::load(place.path()).unwrap().unwrap(), note);
        let read = || std::fs::read_to_string(at("estelle")).unwrap();
        assert_eq!(read(), "old");
        note.switch().unwrap();
        assert_eq!(read(), "new");
        note.switch_back().unwrap();
        assert_eq!(read(), "old");
        // What a killed switch left is no hindrance, and a link is followed.
        std::os::unix::fs::symlink("nowhere", at("estelle.new")).unwrap();
        note.switch().unwrap();
        assert_eq!(former(&at("estelle"), &at("before")).unwrap(), at("new"));
        Succession::remove(place.path()).unwrap();
        Succession::remove(place.path()).unwrap();
        assert_eq!(Succession::load(place.path()).unwrap(), None);
    }

    #[test]
    fn old_builds_go_and_those_in_use_stay() {
        let place = tempfile::tempdir().unwrap();
        let folder = |name: &str| place.path().join(name);
        for (age, name) in ["one", "two", "three", "four"].iter().enumerate() {
            std::fs::create_dir(folder(name)).unwrap();
            let at = std::time::UNIX_EPOCH + std::time::Duration::from_secs(age as u64 * 60);
            let file = std::fs::File::open(folder(name)).unwrap();
            file.set_modified(at).unwrap();
        }
        let keep = [folder("one").join("estelle")];
        let removed = prune(place.path(), &keep, 2).unwrap();
        assert_eq!(removed, [folder("two")]);
        let left = std::fs::read_dir(place.path()).unwrap().count();
        assert_eq!(left, 3);
    }

    #[test]
    fn a_build_that_a_process_runs_is_not_removed() {
        let own = std::env::current_exe().unwrap();
        assert!(running().contains(&own));
    }
}
