//! A disk that can be filled without harming anybody: a file system in memory with a bound.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};

/// A small disk; unmounted when dropped.
#[derive(Debug)]
pub struct SmallDisk {
    path: PathBuf,
}

impl SmallDisk {
    /// Mounts one; only the superuser may.
    pub(super) fn mount(path: &Path, bytes: u64) -> anyhow::Result<Self> {
        std::fs::create_dir_all(path)?;
        let status = Command::new("mount")
            .args(["-t", "tmpfs", "-o"])
            .arg(format!("size={bytes},mode=0700"))
            .args(["tmpfs".as_ref(), path])
            .status()
            .context("run mount")?;
        ensure!(status.success(), "a small disk could not be mounted");
        Ok(Self {
            path: path.to_owned(),
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes all the room that is left.
    pub fn fill(&self) -> anyhow::Result<()> {
        let mut file = File::create(self.path.join("ballast"))?;
        for size in [64 * 1024, 4096, 1] {
            let chunk = vec![b'x'; size];
            while file.write_all(&chunk).is_ok() {}
        }
        Ok(())
    }

    /// Gives it back.
    pub fn free(&self) -> anyhow::Result<()> {
        std::fs::remove_file(self.path.join("ballast")).context("make room")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: a process that is being killed may still have a file open.
        let _ = Command::new("umount").arg("-l").arg(&self.path).status();
    }
}
