//! A CLI that is dead while its shim does not say so: the shim is held, or hangs, and keeps the lock of the run.
//!
//! The lock says that the run lives as long as the shim has it. A shim that is held would therefore keep a dead run alive for
//! ever, and its conversation working. Killing it frees the lock and costs the exit code alone.

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::folder::RunRecord;

/// Whether the CLI is dead and its shim has not taken note of it.
pub fn is_unreaped(run: &RunRecord) -> bool {
    run.shim_pid != 0 && parent_of_dead(run) == Some(run.shim_pid)
}

/// Kills the shim of a CLI that is dead; no other process, whoever has its pid meanwhile.
pub fn kill_shim(run: &RunRecord) {
    let shim = i32::try_from(run.shim_pid).ok().and_then(Pid::from_raw);
    let Some(pidfd) = shim.and_then(|shim| pidfd_open(shim, PidfdFlags::empty()).ok()) else {
        return;
    };
    // The descriptor pins whoever has the pid now: only the parent of the dead CLI is its shim.
    if is_unreaped(run) {
        let _ = pidfd_send_signal(&pidfd, Signal::KILL);
    }
}

/// The parent of a process that is dead and that nobody has waited for.
fn parent_of_dead(run: &RunRecord) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", run.pid)).ok()?;
    // The name of the process may hold spaces and brackets; what follows it does not.
    let (_, fields) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let began: u64 = fields.get(19)?.parse().ok()?;
    let is_dead = fields.first() == Some(&"Z") && began == run.start_ticks;
    let parent = fields.get(1)?.parse().ok()?;
    is_dead.then_some(parent)
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use rustix::process::{WaitId, WaitIdOptions, waitid};

    use super::*;
    use crate::run::shim::start_ticks;

    #[test]
    fn only_a_dead_child_of_its_shim_is_unreaped() {
        let mut child = Command::new("/bin/cat")
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let (id, ticks) = (child.id(), start_ticks(child.id()).unwrap());
        let record = |shim_pid| RunRecord {
            pid: id,
            start_ticks: ticks,
            shim_pid,
            argv: Vec::new(),
            cli_version: String::new(),
        };
        let ours = record(std::process::id());
        assert!(!is_unreaped(&ours), "it lives");
        drop(child.stdin.take());
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        // Waits for its end without taking note of it.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        waitid(WaitId::Pid(pid), options).unwrap();
        assert!(is_unreaped(&ours));
        assert!(!is_unreaped(&record(1)), "another parent");
        assert!(!is_unreaped(&record(0)), "nobody knows its shim");
        let other = RunRecord {
            start_ticks: ours.start_ticks + 1,
            ..ours.clone()
        };
        assert!(!is_unreaped(&other), "another process under its pid");
        child.wait().unwrap();
        assert!(!is_unreaped(&ours), "it is gone");
    }
}
