//! The system around: the clock, the limits of processes, and the units that keep everything running.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::process::{Resource, getrlimit};

use super::{Check, Patient};
use crate::service;

/// No clock that is right shows a time before this: the first of January 2026.
const EARLIEST: Duration = Duration::from_hours(490_896);
/// Files may be a little newer than the clock, on a network file system for example.
const TOLERANCE: Duration = Duration::from_mins(2);
/// Descriptors that a host with many conversations needs.
const DESCRIPTORS: u64 = 4096;

pub(super) async fn examine(patient: &Patient) -> Vec<Check> {
    vec![
        clock(SystemTime::now(), newest(&patient.data)),
        descriptors(),
        units().await,
    ]
}

/// When something in the folder last changed.
fn newest(data: &Path) -> Option<SystemTime> {
    let entries = std::fs::read_dir(data).ok()?;
    let times = entries.filter_map(|entry| entry.ok()?.metadata().ok()?.modified().ok());
    times.max()
}

fn clock(now: SystemTime, newest: Option<SystemTime>) -> Check {
    let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    if since < EARLIEST {
        let found = "it shows a time in the past";
        return Check::bad(
            "clock",
            found,
            "set it: certificates are refused until then",
        );
    }
    let ahead = newest.and_then(|newest| newest.duration_since(now).ok());
    match ahead {
        Some(ahead) if ahead > TOLERANCE => {
            let found = format!("files are {} s newer than now", ahead.as_secs());
            Check::warning(
                "clock",
                found,
                "the clock was set back; let it be kept by NTP",
            )
        }
        Some(_) | None => Check::good("clock", "it goes with the files"),
    }
}

fn descriptors() -> Check {
    let most = getrlimit(Resource::Nofile).maximum;
    match most {
        Some(most) if most < DESCRIPTORS => Check::warning(
            "limits",
            format!("a process may open {most} files"),
            format!("raise the hard limit to {DESCRIPTORS} (`ulimit -Hn`) for many conversations"),
        ),
        Some(most) => Check::good("limits", format!("{most} files")),
        None => Check::good("limits", "none"),
    }
}

async fn units() -> Check {
    match service::state().await {
        service::State::NoSystemd => Check::good("units", "there is no systemd for users here"),
        service::State::Missing => Check::good(
            "units",
            "none; `estelle service install` starts everything with the machine",
        ),
        service::State::Installed { active, lingers } => match (active, lingers) {
            (true, true) => Check::good("units", "active, also while nobody is logged in"),
            (true, false) => Check::warning(
                "units",
                "active while somebody is logged in",
                "run `loginctl enable-linger` to keep it running after you log out",
            ),
            (false, _) => Check::warning(
                "units",
                "installed, and not active",
                format!("run `systemctl --user start {}`", service::UNIT),
            ),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::Health;
    use super::*;

    #[test]
    fn a_clock_that_goes_wrong_is_told() {
        let now = UNIX_EPOCH + EARLIEST + Duration::from_hours(1);
        assert_eq!(clock(now, None).health, Health::Good);
        assert_eq!(clock(now, Some(now)).health, Health::Good);
        assert_eq!(clock(UNIX_EPOCH, None).health, Health::Bad);
        let later = now + Duration::from_hours(1);
        assert_eq!(clock(now, Some(later)).health, Health::Warning);
    }
}
