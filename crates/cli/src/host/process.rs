//! The process of a host, to be waited for. A host that hangs up still has its data folder for a moment: whoever wants that
//! next waits until the process is gone.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// How often a process that ends is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// The process that holds the lock of a data folder.
#[derive(Debug)]
pub(crate) struct HostProcess(Option<OwnedFd>);

impl HostProcess {
    /// To be called before the host is asked to end, so that no other process is taken for it.
    pub(crate) fn of(data: &Path) -> Self {
        Self(find(data))
    }

    /// Waits until it is gone, and its lock with it. One that could not be found is not waited for.
    pub(crate) async fn gone(self) {
        while self.0.as_ref().is_some_and(is_alive) {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
}

fn find(data: &Path) -> Option<OwnedFd> {
    let text = std::fs::read_to_string(data.join("host.lock")).ok()?;
    let pid = Pid::from_raw(text.trim().parse().ok()?)?;
    pidfd_open(pid, PidfdFlags::empty()).ok()
}

/// Its handle can be read when it is gone. One that cannot be asked says nothing.
fn is_alive(process: &OwnedFd) -> bool {
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let mut handles = [PollFd::new(process, PollFlags::IN)];
    matches!(poll(&mut handles, Some(&now)), Ok(0))
}
