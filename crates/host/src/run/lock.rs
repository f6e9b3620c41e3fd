//! The lock of a run: held means alive, free means dead.
//!
//! It is an advisory lock on an open file that the CLI inherits across its exec, so it lives exactly as long as
//! shim or CLI, is immune to reused pids and gone after a reboot. The CLI does not pass it on to its own
//! children.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};

/// Who gets the descriptor of a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heirs {
    /// This process alone.
    None,
    /// Whatever this process executes, too.
    Children,
}

/// A held lock; dropping the last descriptor of it frees it.
#[derive(Debug)]
pub struct Lock {
    _descriptor: OwnedFd,
}

impl Lock {
    /// Waits for the lock.
    pub fn take(path: &Path, heirs: Heirs) -> io::Result<Self> {
        let file = open_lock(path, heirs)?;
        flock(&file, FlockOperation::LockExclusive)?;
        Ok(Self { _descriptor: file })
    }

    /// Takes the lock if it is free.
    pub fn try_take(path: &Path, heirs: Heirs) -> io::Result<Option<Self>> {
        let file = open_lock(path, heirs)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Self { _descriptor: file })),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether somebody holds the lock of this run.
    pub fn is_held(path: &Path) -> io::Result<bool> {
        if !path.exists() {
            return Ok(false);
        }
        // Shared, so that two who look at the same time do not take each other for the run.
        let file = open_lock(path, Heirs::None)?;
        match flock(&file, FlockOperation::NonBlockingLockShared) {
            Ok(()) => Ok(false),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }
}

fn open_lock(path: &Path, heirs: Heirs) -> io::Result<OwnedFd> {
    let inherit = match heirs {
        Heirs::None => OFlags::CLOEXEC,
        Heirs::Children => OFlags::empty(),
    };
    let flags = OFlags::RDWR | OFlags::CREATE | inherit;
    Ok(open(path, flags, Mode::RUSR | Mode::WUSR)?)
}
