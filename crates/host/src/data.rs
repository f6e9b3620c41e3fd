//! The data folder and the one host that may use it.
//!
//! Whoever holds [`DataFolder`] holds the lock on `host.lock`. The lock is close-on-exec: a run outlives its host and
//! must not keep the next one out.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::event::{Timespec, poll};

use crate::run::lock::{Heirs, Lock};

/// How long a dead host may seem to hold the lock.
const LAST_GRASP: Duration = Duration::from_secs(5);
/// How often it is looked at meanwhile.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// Why the data folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TakeError {
    /// It cannot be made or opened.
    #[error("failed to use the data folder {}", path.display())]
    Folder {
        /// Which folder.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Another host is at work there.
    #[error(
        "another host{} runs on {}: there is one host per data folder; stop it, or choose another folder with --data",
        pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default(),
        path.display()
    )]
    Held {
        /// Which folder.
        path: PathBuf,
        /// The other host, if it says who it is.
        pid: Option<u32>,
    },
}

/// The data folder, held by this host alone.
#[derive(Debug)]
pub struct DataFolder {
    path: PathBuf,
    _lock: Lock,
}

impl DataFolder {
    /// Makes the folder if need be, closes it to others and takes the host's lock.
    pub fn take(path: &Path) -> Result<Self, TakeError> {
        let failed = |source| TakeError::Folder {
            path: path.to_owned(),
            source,
        };
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700);
        builder.create(path).map_err(failed)?;
        let path = fs::canonicalize(path).map_err(failed)?;
        let mode = fs::metadata(&path).map_err(failed)?.permissions().mode();
        if mode & 0o077 != 0 {
            fs::set_permissions(&path, Permissions::from_mode(0o700)).map_err(failed)?;
        }
        let file = path.join("host.lock");
        let Some(lock) = take_lock(&file).map_err(failed)? else {
            let pid = holder(&file);
            return Err(TakeError::Held { path, pid });
        };
        // The file of the lock may have been removed under a host that is at work; that host still answers.
        if UnixStream::connect(socket(&path)).is_ok() {
            return Err(TakeError::Held { path, pid: None });
        }
        fs::write(&file, format!("{}\n", std::process::id())).map_err(failed)?;
        Ok(Self { path, _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where clients find the host.
    pub fn socket(&self) -> PathBuf {
        socket(&self.path)
    }

    /// Where the conversations are.
    pub fn conversations(&self) -> PathBuf {
        self.path.join("conversations")
    }
}

/// Takes the lock unless a host that lives has it.
///
/// A host that was killed while it started a process may seem to hold it for a moment longer: the new process has a copy
/// of every descriptor until its exec is done.
fn take_lock(file: &Path) -> io::Result<Option<Lock>> {
    let until = Instant::now() + LAST_GRASP;
    loop {
        let lock = Lock::try_take(file, Heirs::None)?;
        let is_over = lock.is_some() || Instant::now() > until;
        if is_over || holder(file).is_none_or(is_alive) {
            return Ok(lock);
        }
        // A wait for nothing is a sleep; there is no runtime yet. One that is interrupted only looks sooner.
        let _ = poll(&mut [], Timespec::try_from(LOOK_AGAIN).ok().as_ref());
    }
}

/// The host that wrote its pid into the lock last.
fn holder(file: &Path) -> Option<u32> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

fn is_alive(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

/// Where clients find the host of a data folder.
pub fn socket(data: &Path) -> PathBuf {
    data.join("host.sock")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_host_is_told_who_the_first_is() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("a/b");
        let first = DataFolder::take(&path).unwrap();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let error = DataFolder::take(&path).unwrap_err().to_string();
        let pid = std::process::id();
        assert!(
            error.contains(&format!("another host (pid {pid}) runs on")),
            "{error}"
        );
        drop(first);
        DataFolder::take(&path).unwrap();
    }

    #[test]
    fn a_host_whose_lock_was_removed_is_still_the_only_one() {
        let folder = tempfile::tempdir().unwrap();
        let first = DataFolder::take(folder.path()).unwrap();
        let listener = std::os::unix::net::UnixListener::bind(first.socket()).unwrap();
        fs::remove_file(folder.path().join("host.lock")).unwrap();
        let error = DataFolder::take(folder.path()).unwrap_err();
        assert!(matches!(error, TakeError::Held { .. }), "{error}");
        // The socket of a host that is dead lies there still and refuses.
        drop(listener);
        DataFolder::take(folder.path()).unwrap();
    }

    #[test]
    fn a_host_that_is_dead_is_waited_for_a_moment() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("host.lock");
        let lingering = Lock::take(&file, Heirs::None).unwrap();
        // No process has this pid: it is above what the kernel gives.
        fs::write(&file, "4194305\n").unwrap();
        let taken = std::thread::scope(|scope| {
            let taking = scope.spawn(|| DataFolder::take(folder.path()).is_ok());
            drop(lingering);
            taking.join().unwrap()
        });
        assert!(taken);
    }

    #[test]
    fn a_folder_that_is_open_to_others_is_closed() {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let _data = DataFolder::take(folder.path()).unwrap();
        let mode = fs::metadata(folder.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    #[test]
    fn a_file_in_its_place_is_an_error_that_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let error = DataFolder::take(&file).unwrap_err();
        assert!(error.to_string().contains("file"), "{error}");
    }
}
