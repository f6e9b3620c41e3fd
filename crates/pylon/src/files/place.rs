//! From a path that somebody said to the one thing that it names, held by a handle.
//!
//! The handle is opened for nothing but to be asked about (`O_PATH`): a pipe does not block and a device is not woken. The
//! kernel says where it really is, and only that counts; nothing can be swapped between the look and the reading, because
//! reading goes through the handle.

use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Component, Path, PathBuf};

use estelle_proto::files::FileKind;
use rustix::fs::{FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

/// Why somebody does not get to see what they named.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LookError {
    /// Only what is in the folder can be named.
    #[error("name it by its path in the folder, without a leading `/`")]
    Absolute,
    /// There is nothing of this name.
    #[error("there is nothing of this name")]
    Missing,
    /// It is not in the folder once links are followed.
    #[error("it leads out of the folder")]
    Outside,
    /// It is there, and is something else.
    #[error("it is no {wanted}")]
    WrongKind {
        /// What it should be.
        wanted: &'static str,
    },
    /// By the lists that guard it against the agent as well.
    #[error("it is not shown because it may hold secrets")]
    Secret,
    /// Inside of `.git`.
    #[error("git's own files are not shown")]
    GitsOwn,
    /// The Pylon's user may not.
    #[error("the Pylon may not read it")]
    Forbidden,
    /// The disk, or something like it.
    #[error("it cannot be read: {kind}")]
    Io {
        /// In the words of the system.
        kind: std::io::ErrorKind,
    },
}

impl From<Errno> for LookError {
    fn from(error: Errno) -> Self {
        match error {
            // A circle of links leads nowhere.
            Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG | Errno::LOOP => Self::Missing,
            Errno::ACCESS | Errno::PERM => Self::Forbidden,
            other => Self::Io { kind: other.kind() },
        }
    }
}

impl From<std::io::Error> for LookError {
    fn from(error: std::io::Error) -> Self {
        match Errno::from_io_error(&error) {
            Some(errno) => errno.into(),
            None => Self::Io { kind: error.kind() },
        }
    }
}

/// What somebody wants to look into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// A file with contents.
    File,
    /// A folder.
    Folder,
}

/// Something in a folder.
#[derive(Debug)]
pub struct Place {
    handle: OwnedFd,
    /// Where it really is.
    pub real: PathBuf,
    /// The same, seen from the folder; empty for the folder itself.
    pub relative: PathBuf,
    /// What the system says about it.
    pub stat: Stat,
}

impl Place {
    /// Finds what a path names, seen from a folder.
    pub fn find(base: &Path, relative: &Path) -> Result<Self, LookError> {
        if relative.is_absolute() {
            return Err(LookError::Absolute);
        }
        let folder = open(rustix::fs::CWD, base, OFlags::DIRECTORY)?;
        let top = real(&folder)?;
        let said = if relative.as_os_str().is_empty() {
            Path::new(".")
        } else {
            relative
        };
        let handle = open(&folder, said, OFlags::empty())?;
        let real = real(&handle)?;
        let Ok(inside) = real.strip_prefix(&top) else {
            return Err(LookError::Outside);
        };
        if inside.components().any(is_git) {
            return Err(LookError::GitsOwn);
        }
        Ok(Self {
            relative: inside.to_owned(),
            stat: rustix::fs::fstat(&handle)?,
            real,
            handle,
        })
    }

    /// The same, if it can be looked into.
    pub fn that_is(self, wanted: Wanted) -> Result<Self, LookError> {
        let (kind, word) = match wanted {
            Wanted::File => (FileKind::File, "file that can be read"),
            Wanted::Folder => (FileKind::Folder, "folder that can be listed"),
        };
        // What the kernel makes up as it is read has no size, may never end, and tells of processes.
        if self.kind() != kind || is_made_up(&self.handle)? {
            return Err(LookError::WrongKind { wanted: word });
        }
        Ok(self)
    }

    /// What it is.
    pub fn kind(&self) -> FileKind {
        kind(&self.stat)
    }

    /// Opens the very thing for reading.
    pub(super) fn open(&self) -> Result<OwnedFd, LookError> {
        let path = link(&self.handle);
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        Ok(rustix::fs::open(path, flags, Mode::empty())?)
    }
}

/// What the system's words for a thing mean here.
pub(super) fn kind(stat: &Stat) -> FileKind {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Folder,
        FileType::Symlink => FileKind::Link,
        FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => FileKind::Other,
    }
}

/// Opens something to be asked about, and for nothing else.
pub(super) fn open(
    at: impl std::os::fd::AsFd,
    path: &Path,
    more: OFlags,
) -> Result<OwnedFd, LookError> {
    let flags = OFlags::PATH | OFlags::CLOEXEC | more;
    Ok(rustix::fs::openat(at, path, flags, Mode::empty())?)
}

/// The name under which the kernel shows an open handle.
fn link(handle: &OwnedFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", handle.as_raw_fd()))
}

/// Where the kernel says that it is.
pub(super) fn real(handle: &OwnedFd) -> Result<PathBuf, LookError> {
    Ok(std::fs::read_link(link(handle))?)
}

fn is_git(part: Component<'_>) -> bool {
    part.as_os_str().eq_ignore_ascii_case(".git")
}

/// `sysfs`, which rustix does not name.
const SYSFS: u64 = 0x6265_6572;

fn is_made_up(handle: &OwnedFd) -> Result<bool, LookError> {
    let system = rustix::fs::fstatfs(handle)?.f_type;
    let is = |magic: u64| u64::try_from(system).is_ok_and(|system| system == magic);
    Ok(system == rustix::fs::PROC_SUPER_MAGIC || is(SYSFS))
}
