//! The folder outside the repository that holds what set-up installs, and the rules for putting things into it.
//!
//! **Invariant:** a folder with its final name is complete. Things are installed into a temporary sibling and
//! renamed at the end; leftovers of an interrupted install never carry the final name and are removed by the next.
//! A lock file keeps two set-ups from working at the same time.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

/// Mark of a folder that is still being filled.
const PARTIAL: &str = ".partial";
/// How often the wait for another set-up is mentioned.
const WAIT_NOTICE: Duration = Duration::from_secs(15);
/// Longest wait for another set-up: more than a slow line needs for everything.
const WAIT_LIMIT: Duration = Duration::from_mins(30);

/// The cache folder, `$XDG_CACHE_HOME/estelle` or `~/.cache/estelle`.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    root: PathBuf,
}

/// Held while something is installed; dropping it lets the next one in.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Cache {
    /// The cache of this user, from the environment.
    pub(crate) fn of_user() -> anyhow::Result<Self> {
        let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let base = match (set("XDG_CACHE_HOME"), set("HOME")) {
            (Some(folder), _) => PathBuf::from(folder),
            (None, Some(home)) => PathBuf::from(home).join(".cache"),
            (None, None) => bail!(
                "neither XDG_CACHE_HOME nor HOME is set; set XDG_CACHE_HOME to a folder for downloaded tools"
            ),
        };
        let base = std::path::absolute(&base)
            .with_context(|| format!("failed to make {} absolute", base.display()))?;
        Ok(Self::at(base.join("estelle")))
    }

    pub(crate) fn at(root: PathBuf) -> Self {
        Self { root }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The final place of a thing, whether or not it is there.
    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Waits until no other set-up is at work, and keeps others out until the lock is dropped.
    pub(crate) fn lock(&self) -> anyhow::Result<Lock> {
        self.make_root()?;
        let path = self.root.join("set-up.lock");
        let file =
            File::create(&path).with_context(|| format!("failed to create {}", path.display()))?;
        if file.try_lock().is_ok() {
            return Ok(Lock { _file: file });
        }
        println!(
            "Another set-up is at work in {}; waiting for it to end.",
            self.root.display()
        );
        // The lock call itself cannot be given a limit, so a thread waits for it and we wait for the thread.
        let (sender, receiver) = sync_channel(1);
        std::thread::spawn(move || sender.send(file.lock().map(|()| file)));
        let started = Instant::now();
        while started.elapsed() < WAIT_LIMIT {
            match receiver.recv_timeout(WAIT_NOTICE) {
                Ok(locked) => {
                    let file =
                        locked.with_context(|| format!("failed to lock {}", path.display()))?;
                    return Ok(Lock { _file: file });
                }
                Err(RecvTimeoutError::Timeout) => {
                    println!(
                        "Still waiting for the other set-up ({} s).",
                        started.elapsed().as_secs()
                    );
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        bail!(
            "another set-up held {} for too long; end it and run the same command again",
            path.display()
        )
    }

    /// Removes what interrupted installs left behind.
    pub(crate) fn sweep(&self, _held: &Lock) -> anyhow::Result<()> {
        let entries = fs::read_dir(&self.root)
            .with_context(|| format!("failed to list {}", self.root.display()))?;
        for entry in entries.flatten() {
            if entry.file_name().to_string_lossy().ends_with(PARTIAL) {
                remove(&entry.path())?;
            }
        }
        Ok(())
    }

    /// Fills a temporary folder with `fill`, checks it with `check`, then gives it its final name.
    ///
    /// What had that name before is replaced: the caller found it missing or broken.
    pub(crate) fn install(
        &self,
        _held: &Lock,
        name: &str,
        fill: impl FnOnce(&Path) -> anyhow::Result<()>,
        check: impl FnOnce(&Path) -> anyhow::Result<()>,
    ) -> anyhow::Result<PathBuf> {
        self.make_root()?;
        let partial = self.root.join(format!("{name}{PARTIAL}"));
        let place = self.folder(name);
        remove(&partial)?;
        fs::create_dir(&partial)
            .with_context(|| format!("failed to create {}", partial.display()))?;
        let filled = fill(&partial).and_then(|()| check(&partial));
        if let Err(error) = filled {
            // A failed removal hides nothing: the name says what it is, and the next run removes it.
            let _ = fs::remove_dir_all(&partial);
            return Err(error);
        }
        remove(&place)?;
        fs::rename(&partial, &place)
            .with_context(|| format!("failed to move into {}", place.display()))?;
        Ok(place)
    }

    /// Refuses with advice when fewer than `megabytes` are free where the cache lies.
    pub(crate) fn require_space(&self, megabytes: u64) -> anyhow::Result<()> {
        self.make_root()?;
        let disk = rustix::fs::statvfs(&self.root).with_context(|| {
            format!(
                "failed to ask for the free space of {}",
                self.root.display()
            )
        })?;
        let free = disk.f_bavail.saturating_mul(disk.f_frsize) / 1_000_000;
        if free < megabytes {
            bail!(
                "the disk of {} has {free} MB free and about {megabytes} MB are needed; free some space, \
                 or set XDG_CACHE_HOME to a folder on a larger disk",
                self.root.display()
            );
        }
        Ok(())
    }

    fn make_root(&self) -> anyhow::Result<()> {
        fs::create_dir_all(&self.root).with_context(|| {
            format!(
                "failed to create the cache folder {}; set XDG_CACHE_HOME to a folder you may write to",
                self.root.display()
            )
        })
    }
}

fn remove(folder: &Path) -> anyhow::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("failed to remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch() -> (tempfile::TempDir, Cache) {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path().join("estelle"));
        (folder, cache)
    }

    fn names(cache: &Cache) -> Vec<String> {
        let entries = fs::read_dir(cache.root()).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != "set-up.lock")
            .collect();
        names.sort();
        names
    }

    fn write(text: &'static str) -> impl FnOnce(&Path) -> anyhow::Result<()> {
        move |folder| Ok(fs::write(folder.join("file"), text)?)
    }

    #[test]
    fn a_finished_install_has_its_final_name() {
        let (_scratch, cache) = scratch();
        let lock = cache.lock().unwrap();
        let place = cache
            .install(&lock, "thing-1", write("whole"), |_| Ok(()))
            .unwrap();
        assert_eq!(fs::read_to_string(place.join("file")).unwrap(), "whole");
        assert_eq!(names(&cache), ["thing-1"]);
    }

    #[test]
    fn a_failed_install_leaves_nothing() {
        let (_scratch, cache) = scratch();
        let lock = cache.lock().unwrap();
        let refused = cache.install(&lock, "thing-1", write("bad"), |_| bail!("does not run"));
        assert_eq!(refused.unwrap_err().to_string(), "does not run");
        assert_eq!(names(&cache), [] as [&str; 0]);
    }

    #[test]
    fn a_half_install_of_a_killed_run_is_replaced() {
        let (_scratch, cache) = scratch();
        let lock = cache.lock().unwrap();
        let left_over = cache.root().join("thing-1.partial/deep");
        fs::create_dir_all(&left_over).unwrap();
        let place = cache
            .install(&lock, "thing-1", write("whole"), |_| Ok(()))
            .unwrap();
        assert!(!place.join("deep").exists());
        assert_eq!(names(&cache), ["thing-1"]);
    }

    #[test]
    fn leftovers_of_other_things_are_swept() {
        let (_scratch, cache) = scratch();
        let lock = cache.lock().unwrap();
        fs::create_dir(cache.root().join("old-1.partial")).unwrap();
        fs::create_dir(cache.root().join("kept-1")).unwrap();
        cache.sweep(&lock).unwrap();
        assert_eq!(names(&cache), ["kept-1"]);
    }

    #[test]
    fn only_one_set_up_at_a_time() {
        let (_scratch, cache) = scratch();
        let first = cache.lock().unwrap();
        let (sender, receiver) = sync_channel(1);
        let other = cache.clone();
        let waiter = std::thread::spawn(move || {
            let second = other.lock().unwrap();
            sender.send(()).unwrap();
            drop(second);
        });
        assert_eq!(
            receiver.recv_timeout(Duration::from_millis(200)),
            Err(RecvTimeoutError::Timeout)
        );
        drop(first);
        receiver.recv_timeout(Duration::from_secs(20)).unwrap();
        waiter.join().unwrap();
    }

    #[test]
    fn too_little_space_is_refused_with_advice() {
        let (_scratch, cache) = scratch();
        cache.require_space(0).unwrap();
        let error = cache.require_space(u64::MAX).unwrap_err().to_string();
        assert!(error.contains("free some space"), "{error}");
    }
}
