//! The lock of a folder that is being filled.
//!
//! Git has it as its input, so it lasts as long as git writes there, also when the Pylon that asked is dead by then.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

/// Nobody else fills the folder for as long as this lives.
#[derive(Debug)]
pub(super) struct Hold(File);

impl Hold {
    /// Takes the lock of a folder; nothing if somebody has it.
    pub(super) fn take(place: &Path) -> std::io::Result<Option<Self>> {
        let file = File::create(beside(place))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// For the process that fills the folder.
    pub(super) fn lend(&self) -> std::io::Result<File> {
        self.0.try_clone()
    }
}

/// Takes the file of the lock away, once nobody needs it.
pub(super) fn forget(place: &Path) {
    // One that stays is empty, and in nobody's way.
    let _ = std::fs::remove_file(beside(place));
}

fn beside(place: &Path) -> PathBuf {
    place.with_extension("lock")
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn who_fills_a_folder_has_its_lock_when_we_are_gone() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("tree");
        let hold = Hold::take(&place).unwrap().unwrap();
        assert!(Hold::take(&place).unwrap().is_none());
        // It says that it lives, and goes on until it is killed.
        let mut command = Command::new("sh");
        command.args(["-c", "echo; exec tail -f /dev/null"]);
        command.stdin(hold.lend().unwrap()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdout.take().unwrap().read_exact(&mut [0]).unwrap();
        drop((hold, command));
        assert!(Hold::take(&place).unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(Hold::take(&place).unwrap().is_some());
        forget(&place);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
