//! Signals to a child and its process group, without ever hitting a stranger.
//!
//! A pid is signalled only while its owner has not reaped it, so it cannot have been given to another
//! process; where that cannot be known (a handle dropped while the runtime goes down) a pidfd is used.

use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, kill_process_group, pidfd_open, pidfd_send_signal,
    waitpid,
};

use super::Stop;

/// How long a process whose handle was dropped has to end by itself.
const ABANDONED_GRACE: Duration = Duration::from_secs(3);

/// A child as the kernel knows it.
#[derive(Debug)]
pub(super) struct ProcessHandle {
    pid: Pid,
    pidfd: Option<OwnedFd>,
}

impl ProcessHandle {
    /// For a child that has not been reaped yet.
    pub(super) fn new(raw_pid: u32) -> Option<Self> {
        let pid = Pid::from_raw(i32::try_from(raw_pid).ok()?)?;
        Some(Self {
            pid,
            pidfd: pidfd_open(pid, PidfdFlags::empty()).ok(),
        })
    }

    /// Signals the whole process group. Only for a child that has not been reaped.
    pub(super) fn signal_group(&self, stop: Stop) {
        // A group that is already empty is what was wanted.
        let _ = kill_process_group(self.pid, signal(stop));
    }

    /// Ends a child that nobody waits for any more: asks it, and sees to it from a thread of its own.
    pub(super) fn abandon(self) {
        let Some(pidfd) = self.pidfd else {
            self.signal_group(Stop::Kill);
            return;
        };
        let _ = pidfd_send_signal(&pidfd, signal(Stop::Terminate));
        let reaper = std::thread::Builder::new().name("claude-reaper".to_owned());
        let pid = self.pid;
        // Without a thread the child still has its signal; only its zombie stays until this process ends.
        let _ = reaper.spawn(move || {
            if !ends_within(&pidfd, ABANDONED_GRACE) {
                let _ = pidfd_send_signal(&pidfd, signal(Stop::Kill));
                ends_within(&pidfd, ABANDONED_GRACE);
            }
            // Somebody else may have reaped it already, which is as good.
            let _ = waitpid(Some(pid), WaitOptions::NOHANG);
        });
    }
}

fn signal(stop: Stop) -> Signal {
    match stop {
        Stop::Terminate => Signal::TERM,
        Stop::Kill => Signal::KILL,
    }
}

fn ends_within(pidfd: &OwnedFd, limit: Duration) -> bool {
    let timeout = Timespec::try_from(limit).ok();
    let mut fds = [PollFd::new(pidfd, PollFlags::IN)];
    poll(&mut fds, timeout.as_ref()).is_ok_and(|ready| ready > 0)
}
