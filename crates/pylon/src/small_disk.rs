//! A disk that is soon full, for tests: a mounted tmpfs. Only the superuser can mount one; without him a test says so and
//! has nothing to show.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// A small disk; unmounted when dropped.
pub(crate) struct SmallDisk {
    path: PathBuf,
    _place: TempDir,
}

impl SmallDisk {
    /// One of so many KiB, if it can be had.
    pub(crate) fn of(kib: u64) -> Option<Self> {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("disk");
        std::fs::create_dir(&path).unwrap();
        let mut mount = Command::new("mount");
        mount.args([
            "-t",
            "tmpfs",
            "-o",
            &format!("size={kib}k,mode=0700"),
            "tmpfs",
        ]);
        let is_mounted = mount
            .arg(&path)
            .output()
            .is_ok_and(|out| out.status.success());
        if !is_mounted {
            eprintln!("skipped: a small disk can only be mounted by the superuser");
            return None;
        }
        Some(Self {
            path,
            _place: place,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Takes all the room but so many KiB.
    pub(crate) fn fill_but(&self, kib: u64) {
        let free = || {
            let disk = rustix::fs::statvfs(&self.path).unwrap();
            disk.f_bavail * disk.f_frsize / 1024
        };
        let mut file = File::create(self.path.join("ballast")).unwrap();
        while free() > kib && file.write_all(&[b'x'; 4096]).is_ok() {}
    }

    /// Gives it back.
    pub(crate) fn free(&self) {
        std::fs::remove_file(self.path.join("ballast")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: a git that is being ended may still have a file open.
        let _ = Command::new("umount").arg("-l").arg(&self.path).status();
    }
}
