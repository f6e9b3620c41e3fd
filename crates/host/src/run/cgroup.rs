//! A control group per run, where the system lets us make one: what is in it ends at one word.
//!
//! The host makes the group beside its own and writes its path into the run's folder; the CLI enters it before it begins,
//! so whatever it starts is in it, sessions of their own or not. The shim stays outside and lives to write down the
//! end. Where there is no writable cgroup2 hierarchy nothing of this happens, silently: the mark in the environment
//! (`cleanup`) is the other net.

use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::folder::RunFolder;

/// The file in the run's folder that holds the path of its group.
const FILE: &str = "cgroup";
/// How long what was killed may take to be gone.
const PATIENCE: Duration = Duration::from_secs(2);

/// Makes the group of a run, if the system allows it. Called before the shim is started.
pub fn prepare(folder: &RunFolder, marker: &str) {
    let made = own_group().and_then(|own| {
        // The mark is made of file names and one slash.
        let path = own.join(format!("estelle.{}", marker.replace('/', ".")));
        create(&path)?;
        folder.store_file(FILE, path.as_os_str().as_encoded_bytes())
    });
    if let Err(error) = made {
        tracing::debug!(%error, "no control group for the run");
    }
}

/// Moves the calling process into the run's group, if there is one.
pub(super) fn enter(folder: &RunFolder) {
    if let Some(path) = path_of(folder) {
        // Without the group the mark in the environment remains.
        let _ = fs::write(path.join("cgroup.procs"), "0");
    }
}

/// Ends everything in the run's group and takes the group away. [`super::clean_up`] does this and more.
///
/// Waits a moment for the end of what was in it.
pub fn end(folder: &RunFolder) {
    let Some(path) = path_of(folder) else {
        return;
    };
    // Each fails where there is nothing to do; a group that is not empty in time stays, which costs nothing.
    let _ = fs::write(path.join("cgroup.kill"), "1");
    let _ = await_empty(&path);
    let _ = fs::remove_dir(&path);
}

/// Waits until nothing is in a group; the system wakes whoever polls its events.
fn await_empty(path: &Path) -> io::Result<()> {
    let mut events = File::open(path.join("cgroup.events"))?;
    let deadline = Instant::now() + PATIENCE;
    loop {
        let mut text = String::new();
        events.rewind()?;
        events.read_to_string(&mut text)?;
        let rest = deadline.saturating_duration_since(Instant::now());
        if text.contains("populated 0") || rest.is_zero() {
            return Ok(());
        }
        let mut fds = [PollFd::new(&events, PollFlags::PRI)];
        poll(&mut fds, Timespec::try_from(rest).ok().as_ref())?;
    }
}

/// A group of an earlier attempt is as good.
fn create(path: &Path) -> io::Result<()> {
    match fs::create_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        made => made?,
    }
    // Older kernels cannot end a group at one word.
    fs::metadata(path.join("cgroup.kill")).map(drop)
}

/// The path, if it looks like one we made: a run's folder is writable by what runs in it.
fn path_of(folder: &RunFolder) -> Option<PathBuf> {
    let text = fs::read_to_string(folder.path().join(FILE)).ok()?;
    let path = PathBuf::from(text);
    let is_ours = path
        .file_name()
        .is_some_and(|name| name.as_encoded_bytes().starts_with(b"estelle."));
    let is_plain = !path.components().any(|part| part.as_os_str() == "..");
    let mount = mount_point(&fs::read_to_string("/proc/self/mountinfo").ok()?)?;
    (is_ours && is_plain && path.starts_with(mount)).then_some(path)
}

/// The cgroup2 group of this process.
fn own_group() -> io::Result<PathBuf> {
    let none = || io::Error::new(io::ErrorKind::Unsupported, "no cgroup2 hierarchy");
    let mounts = fs::read_to_string("/proc/self/mountinfo")?;
    let groups = fs::read_to_string("/proc/self/cgroup")?;
    let mount = mount_point(&mounts).ok_or_else(none)?;
    let group = groups.lines().find_map(|line| line.strip_prefix("0::/"));
    Ok(mount.join(group.ok_or_else(none)?))
}

/// Where cgroup2 is mounted: the fifth field of the line whose type, behind the lone dash, is `cgroup2`.
fn mount_point(mounts: &str) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let (place, kind) = line.split_once(" - ")?;
        let is_cgroup2 = kind.split(' ').next() == Some("cgroup2");
        let path = place.split(' ').nth(4)?;
        is_cgroup2.then(|| PathBuf::from(path))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hierarchy_is_found_wherever_it_is_mounted() {
        let mixed = "30 25 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n\
                     40 30 0:36 / /sys/fs/cgroup/unified rw,nosuid - cgroup2 cgroup2 rw\n";
        assert_eq!(mount_point(mixed), Some("/sys/fs/cgroup/unified".into()));
        let alone = "30 25 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup rw\n";
        assert_eq!(mount_point(alone), Some("/sys/fs/cgroup".into()));
        assert_eq!(
            mount_point("30 25 0:26 / /sys/fs/cgroup rw - cgroup c rw\n"),
            None
        );
    }

    #[test]
    fn what_is_in_the_group_ends_with_it() {
        let place = tempfile::tempdir().unwrap();
        let folder = RunFolder::open(place.path());
        prepare(&folder, &format!("cgroup-test-{}/1", std::process::id()));
        // Many systems do not let an ordinary user make groups; then there is nothing to see here.
        let Some(path) = path_of(&folder) else {
            return;
        };
        let join = format!(
            "echo 0 > {}/cgroup.procs; exec setsid sleep 600",
            path.display()
        );
        let mut child = std::process::Command::new("sh")
            .args(["-c", &join])
            .spawn()
            .unwrap();
        while fs::read_to_string(path.join("cgroup.procs"))
            .unwrap()
            .is_empty()
        {
            std::thread::yield_now();
        }
        end(&folder);
        assert!(!child.wait().unwrap().success());
        assert!(!path.exists());
    }

    #[test]
    fn a_path_that_is_not_ours_is_left_alone() {
        let place = tempfile::tempdir().unwrap();
        let folder = RunFolder::open(place.path());
        for bad in [
            "/etc",
            "/sys/fs/cgroup/system.slice",
            "/sys/fs/cgroup/../estelle.x",
            "",
        ] {
            folder.store_file(FILE, bad.as_bytes()).unwrap();
            assert_eq!(path_of(&folder), None, "{bad}");
        }
    }
}
