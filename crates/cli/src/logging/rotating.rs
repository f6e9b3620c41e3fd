//! A log with a limit: when it is reached the log is put aside under another name, in place of the one before it, and a new
//! one is begun. What is on the disk is at most twice the limit, whatever is logged and by whose fault.
//!
//! Whoever else writes to the same file, such as a standard stream of the process, is told of the new one.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tracing_subscriber::fmt::MakeWriter;

/// Is told of the file that is written to from now on.
type Follower = Box<dyn Fn(&File) + Send + Sync>;

/// The file that is written to, and how long it is.
#[derive(Debug)]
struct Current {
    file: File,
    length: u64,
}

/// A log that puts itself aside.
pub(super) struct Rotating {
    path: PathBuf,
    limit: u64,
    current: Mutex<Current>,
    followers: Vec<Follower>,
}

impl Rotating {
    /// Goes on with a log that is open for appending.
    pub(super) fn new(path: &Path, file: File, limit: u64) -> io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Self {
            path: path.to_owned(),
            limit,
            current: Mutex::new(Current { file, length }),
            followers: Vec::new(),
        })
    }

    /// Somebody else writes to the same file.
    pub(super) fn followed_by(mut self, follower: impl Fn(&File) + Send + Sync + 'static) -> Self {
        self.followers.push(Box::new(follower));
        self
    }

    fn current(&self) -> MutexGuard<'_, Current> {
        let current = self.current.lock();
        current.unwrap_or_else(PoisonError::into_inner)
    }

    fn put_aside(&self, current: &mut Current) {
        let fresh = std::fs::rename(&self.path, aside(&self.path)).and_then(|()| open(&self.path));
        match fresh {
            Ok(file) => {
                self.followers.iter().for_each(|follower| follower(&file));
                current.file = file;
            }
            // What cannot be put aside is given up: a log may not take the disk from everything else.
            Err(_) => drop(current.file.set_len(0)),
        }
        current.length = 0;
    }
}

impl<'a> MakeWriter<'a> for Rotating {
    type Writer = Lines<'a>;

    fn make_writer(&'a self) -> Lines<'a> {
        Lines(self)
    }
}

/// Writes whole lines, so that none is torn when the log is put aside.
pub(super) struct Lines<'a>(&'a Rotating);

impl io::Write for Lines<'_> {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        let length = u64::try_from(lines.len()).unwrap_or(u64::MAX);
        let mut current = self.0.current();
        if current.length > 0 && current.length.saturating_add(length) > self.0.limit {
            self.0.put_aside(&mut current);
        }
        current.file.write_all(lines)?;
        current.length += length;
        Ok(lines.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Opens a log for appending, readable by its user alone.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600);
    options.open(path)
}

/// Under which name a log is put aside.
pub(super) fn aside(path: &Path) -> PathBuf {
    let mut aside = path.as_os_str().to_owned();
    aside.push(".old");
    PathBuf::from(aside)
}

/// The name of a file that is open, if it is an ordinary one and still has it.
pub(super) fn name_of(file: &File, number: i32) -> Option<PathBuf> {
    let path = std::fs::read_link(format!("/proc/self/fd/{number}")).ok()?;
    let (open, named) = (file.metadata().ok()?, path.metadata().ok()?);
    let is_it = open.is_file() && same(&open, &named);
    is_it.then_some(path)
}

/// Whether two files are one.
pub(super) fn same(one: &std::fs::Metadata, other: &std::fs::Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn write(log: &Rotating, text: &str) {
        log.make_writer().write_all(text.as_bytes()).unwrap();
    }

    #[test]
    fn however_much_is_logged_the_disk_holds_twice_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("up.log");
        let told = Arc::new(AtomicUsize::new(0));
        let count = told.clone();
        let log = Rotating::new(&path, open(&path).unwrap(), 1000)
            .unwrap()
            .followed_by(move |_| {
                count.fetch_add(1, Ordering::Relaxed);
            });
        for number in 0..10_000 {
            write(&log, &format!("login refused {number:06}\n"));
            let of = |path: &Path| path.metadata().map_or(0, |data| data.len());
            assert!(of(&path) <= 1000 && of(&aside(&path)) <= 1000);
        }
        let whole = |path: &Path| std::fs::read_to_string(path).unwrap();
        let kept = format!("{}{}", whole(&aside(&path)), whole(&path));
        let numbers: Vec<&str> = kept.lines().collect();
        let newest = (10_000 - numbers.len()..10_000).map(|n| format!("login refused {n:06}"));
        assert_eq!(numbers, newest.collect::<Vec<_>>(), "no line is torn");
        assert!(told.load(Ordering::Relaxed) > 100);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_log_that_is_long_already_is_put_aside_at_the_next_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("up.log");
        std::fs::write(&path, "x".repeat(5000)).unwrap();
        let log = Rotating::new(&path, open(&path).unwrap(), 1000).unwrap();
        write(&log, "next\n");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "next\n");
        assert_eq!(aside(&path).metadata().unwrap().len(), 5000);
    }

    #[test]
    fn what_cannot_be_put_aside_does_not_grow() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("up.log");
        // A folder that is not empty is in the way.
        std::fs::create_dir_all(aside(&path).join("in")).unwrap();
        let log = Rotating::new(&path, open(&path).unwrap(), 1000).unwrap();
        for _ in 0..1000 {
            write(&log, "login refused\n");
        }
        assert!(path.metadata().unwrap().len() <= 1000);
    }

    #[test]
    fn an_open_file_is_known_by_its_name_until_another_has_it() {
        use std::os::fd::AsRawFd as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("host.log");
        let file = open(&path).unwrap();
        let name = || name_of(&file, file.as_raw_fd());
        assert_eq!(name(), Some(path.canonicalize().unwrap()));
        std::fs::remove_file(&path).unwrap();
        assert_eq!(name(), None);
    }
}
