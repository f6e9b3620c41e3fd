//! The data folder: that it is there, belongs to its user alone, has room, and that sockets fit into it.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use super::{Check, Patient};

/// Files that hold secrets or let in whoever can open them.
const PRIVATE: [&str; 6] = [
    "relay.json",
    "pylon.token",
    "terminal.json",
    "up.sock",
    "host.sock",
    "pylon",
];
/// Less room than this is a warning: a busy day writes more.
const LITTLE: u64 = 2 * 1024 * 1024 * 1024;
/// With less than this the host takes no more messages.
const NOTHING: u64 = 256 * 1024 * 1024;
/// What the system takes for the path of a socket, with its end.
const SOCKET_PATH: usize = 108;

pub(super) fn examine(patient: &Patient) -> Vec<Check> {
    let data = &patient.data;
    vec![permissions(data), socket_path(data), disk(data)]
}

fn permissions(data: &Path) -> Check {
    let Ok(folder) = data.metadata() else {
        let found = format!("{} is not there yet", data.display());
        return Check::good("data", found);
    };
    let own = rustix::process::geteuid().as_raw();
    if folder.uid() != own {
        let found = format!("{} belongs to another user", data.display());
        return Check::bad(
            "data",
            found,
            "give it back with `chown`, or name another with --data",
        );
    }
    if folder.permissions().mode() & 0o077 != 0 {
        let found = format!("{} is open to other users", data.display());
        return Check::bad("data", found, format!("run `chmod 700 {}`", data.display()));
    }
    let is_open = |name: &&&str| {
        let file = data.join(name).symlink_metadata();
        file.is_ok_and(|file| file.permissions().mode() & 0o077 != 0)
    };
    match PRIVATE.iter().find(is_open) {
        // Nobody else comes past the folder, so it is no more than untidy.
        Some(name) => {
            let path = data.join(name);
            let found = format!("{} can be read by other users", path.display());
            let advice = format!("run `chmod go-rwx {}`", path.display());
            Check::warning("data", found, advice)
        }
        None => Check::good("data", format!("{}, for its user alone", data.display())),
    }
}

fn socket_path(data: &Path) -> Check {
    let longest = data.join("host.sock").as_os_str().len();
    if longest >= SOCKET_PATH {
        let found = format!(
            "{longest} bytes, and a path of a socket has at most {}",
            SOCKET_PATH - 1
        );
        return Check::bad(
            "sockets",
            found,
            "name a folder with a shorter path with --data",
        );
    }
    Check::good("sockets", "their paths fit")
}

fn disk(data: &Path) -> Check {
    // The folder may not be there yet; what is above it is on the same disk.
    let there = data.ancestors().find(|path| path.exists());
    let Some(Ok(disk)) = there.map(rustix::fs::statvfs) else {
        return Check::warning("disk", "its room is not known", "look with `df`");
    };
    room(disk.f_bavail.saturating_mul(disk.f_frsize))
}

fn room(free: u64) -> Check {
    let found = format!("{} MiB free", free / 1024 / 1024);
    if free < NOTHING {
        return Check::bad("disk", found, "make room: new turns are refused");
    }
    if free < LITTLE {
        return Check::warning("disk", found, "make room before turns are refused");
    }
    Check::good("disk", found)
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;

    use super::super::Health;
    use super::*;

    #[test]
    fn a_folder_that_others_can_open_is_bad_and_a_file_is_a_warning() {
        let place = tempfile::tempdir().unwrap();
        let data = place.path();
        let set = |path: &Path, mode| {
            std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        };
        set(data, 0o755);
        let check = permissions(data);
        assert_eq!(check.health, Health::Bad);
        assert!(check.advice.unwrap().starts_with("run `chmod 700"));
        set(data, 0o700);
        assert_eq!(permissions(data).health, Health::Good);
        let secret = data.join("pylon.token");
        std::fs::write(&secret, "").unwrap();
        set(&secret, 0o644);
        let check = permissions(data);
        assert_eq!(check.health, Health::Warning);
        assert!(check.found.contains("pylon.token"));
    }

    #[test]
    fn little_room_is_told_before_it_is_too_late() {
        assert_eq!(room(NOTHING - 1).health, Health::Bad);
        assert_eq!(room(LITTLE - 1).health, Health::Warning);
        assert_eq!(room(LITTLE).health, Health::Good);
    }

    #[test]
    fn a_path_that_is_too_long_for_a_socket_is_told() {
        assert_eq!(socket_path(Path::new("/d")).health, Health::Good);
        let long = format!("/{}", "d".repeat(100));
        assert_eq!(socket_path(Path::new(&long)).health, Health::Bad);
    }
}
