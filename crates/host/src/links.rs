//! Where a path leads when links are followed, also when nothing is there yet; and which other names a file has.
//!
//! The policy asks before a file is written, so its name often does not exist, and a link that leads to nothing hides
//! its target from whoever asks only for what exists. Links are therefore followed one component at a time, as the
//! system does it. Below `/proc` the answer would be about the process that asks, so the ways of another process into
//! its own files (`/proc/self/fd`) are left as they are for the policy to see.

use std::collections::VecDeque;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

/// How many entries of a folder are looked at in search of another name.
const MOST_ENTRIES: usize = 1000;

/// As many links as the kernel follows; a longer chain opens nothing.
const MOST_LINKS: usize = 40;

/// The real form of an absolute path, for a process that works in `cwd`. `None` when it leads nowhere at all.
pub fn follow(path: &str, cwd: &str) -> Option<String> {
    let mut left: VecDeque<PathBuf> = components(Path::new(path)).collect();
    let mut real = PathBuf::from("/");
    let mut links = 0;
    while let Some(part) = left.pop_front() {
        if part.as_os_str() == ".." {
            real.pop();
            continue;
        }
        let next = real.join(&part);
        match target(&next, cwd) {
            Some(target) => {
                links += 1;
                if links > MOST_LINKS {
                    return None;
                }
                if target.is_absolute() {
                    real = PathBuf::from("/");
                }
                for part in components(&target).collect::<Vec<_>>().into_iter().rev() {
                    left.push_front(part);
                }
            }
            None => real = next,
        }
    }
    // What is no text is still comparable in front of the odd bytes.
    Some(real.to_string_lossy().into_owned())
}

/// Other names of a file that has several, found in these folders. Only such a file costs more than a look.
pub fn twins(path: &str, folders: &[String]) -> Vec<String> {
    let Ok(file) = std::fs::metadata(path) else {
        return Vec::new();
    };
    if !file.is_file() || file.nlink() < 2 {
        return Vec::new();
    }
    let entries = folders
        .iter()
        .filter_map(|folder| std::fs::read_dir(folder).ok());
    let entries = entries.flat_map(|entries| entries.take(MOST_ENTRIES).flatten());
    let is_twin = |entry: &std::fs::DirEntry| {
        let found = entry.metadata();
        found.is_ok_and(|found| (found.dev(), found.ino()) == (file.dev(), file.ino()))
    };
    let names = entries.filter(is_twin).map(|entry| entry.path());
    let names = names.filter(|name| name.as_path() != Path::new(path));
    names
        .map(|name| name.to_string_lossy().into_owned())
        .collect()
}

fn components(path: &Path) -> impl Iterator<Item = PathBuf> + '_ {
    path.components().filter_map(|part| match part {
        Component::Normal(_) | Component::ParentDir => Some(PathBuf::from(part.as_os_str())),
        Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
    })
}

/// What a link says; nothing for everything that is no link.
fn target(path: &Path, cwd: &str) -> Option<PathBuf> {
    match process_part(path) {
        None => std::fs::read_link(path).ok(),
        Some(ProcessPart { is_own: true, name }) => match name {
            Some("root") => Some(PathBuf::from("/")),
            Some("cwd") => Some(PathBuf::from(cwd)),
            _ => None,
        },
        Some(ProcessPart { name, .. }) => match name {
            Some("root" | "cwd") => std::fs::read_link(path).ok(),
            _ => None,
        },
    }
}

/// What a path below `/proc/<process>` is there.
struct ProcessPart<'a> {
    /// Of the process that opens it.
    is_own: bool,
    /// The entry of the process, or of one of its threads; nothing for the folders above and what is deeper.
    name: Option<&'a str>,
}

fn process_part(path: &Path) -> Option<ProcessPart<'_>> {
    let parts: Vec<&str> = path
        .strip_prefix("/proc")
        .ok()?
        .to_str()?
        .split('/')
        .collect();
    let (process, below) = parts.split_first()?;
    let is_own = matches!(*process, "self" | "thread-self");
    if !is_own && !process.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let name = match below {
        [name] | ["task", _, name] => Some(*name),
        _ => None,
    };
    Some(ProcessPart { is_own, name })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    struct Tree {
        _place: tempfile::TempDir,
        root: String,
    }

    impl Tree {
        fn new() -> Self {
            let place = tempfile::tempdir().unwrap();
            let root = fs::canonicalize(place.path()).unwrap();
            fs::create_dir_all(root.join("repo/sub")).unwrap();
            fs::create_dir_all(root.join("data/runs")).unwrap();
            let root = root.to_str().unwrap().to_owned();
            Self {
                _place: place,
                root,
            }
        }

        fn link(&self, name: &str, target: &str) {
            symlink(
                target.replace('%', &self.root),
                format!("{}/{name}", self.root),
            )
            .unwrap();
        }

        fn follow(&self, path: &str) -> String {
            let path = path.replace('%', &self.root);
            let real = follow(&path, &format!("{}/repo", self.root)).unwrap();
            real.replace(&self.root, "%")
        }
    }

    #[test]
    fn a_link_to_a_file_that_is_not_there_yet_shows_its_target() {
        let tree = Tree::new();
        tree.link("repo/notes.txt", "%/repo/.env");
        tree.link("repo/near", ".env.local");
        tree.link("repo/sub/up", "../../data/new/deep");
        tree.link("repo/chain", "sub/up");
        assert_eq!(tree.follow("%/repo/notes.txt"), "%/repo/.env");
        assert_eq!(tree.follow("%/repo/near"), "%/repo/.env.local");
        assert_eq!(tree.follow("%/repo/chain/file"), "%/data/new/deep/file");
        assert_eq!(tree.follow("%/repo/plain/new"), "%/repo/plain/new");
    }

    #[test]
    fn a_linked_folder_is_left_upwards_as_the_system_leaves_it() {
        let tree = Tree::new();
        tree.link("repo/d", "%/data/runs");
        assert_eq!(tree.follow("%/repo/d/../x"), "%/data/x");
        assert_eq!(tree.follow("%/repo/d/new/file"), "%/data/runs/new/file");
    }

    #[test]
    fn e7_another_name_of_a_secret_is_found() {
        let tree = Tree::new();
        let at = |name: &str| format!("{}/{name}", tree.root);
        for (name, twin) in [
            ("repo/.env", "repo/sub/notes.txt"),
            ("data/rules.json", "repo/ours"),
            ("repo/plain", "elsewhere"),
        ] {
            fs::write(at(name), "x").unwrap();
            fs::hard_link(at(name), at(twin)).unwrap();
        }
        fs::write(at("repo/single"), "x").unwrap();
        tree.link("repo/by-link", "sub/notes.txt");
        let (cwd, data) = (at("repo"), at("data"));
        let place = estelle_state::policy::Place {
            data_folder: Some(&data),
            ..estelle_state::policy::Place::at(&cwd)
        };
        let found = |name: &str| {
            let path = at(name);
            let mut found = twins(&path, &place.vicinity(&path));
            found.sort();
            found
        };
        assert_eq!(found("repo/sub/notes.txt"), [at("repo/.env")]);
        assert_eq!(found("repo/by-link"), [at("repo/.env")]);
        assert_eq!(found("repo/ours"), [at("data/rules.json")]);
        assert!(found("repo/single").is_empty());
        assert!(found("repo/nothing").is_empty());
        assert!(found("repo").is_empty());
    }

    #[test]
    fn links_in_a_circle_lead_nowhere() {
        let tree = Tree::new();
        tree.link("repo/a", "b");
        tree.link("repo/b", "a");
        assert_eq!(follow(&format!("{}/repo/a", tree.root), "/"), None);
    }

    #[test]
    fn the_files_of_a_process_are_not_taken_for_our_own() {
        let tree = Tree::new();
        tree.link("repo/input", "/proc/self/fd/0");
        tree.link("repo/device", "/dev/stdin");
        assert_eq!(tree.follow("%/repo/input"), "/proc/self/fd/0");
        assert_eq!(tree.follow("%/repo/device"), "/proc/self/fd/0");
        assert_eq!(tree.follow("/dev/fd/0"), "/proc/self/fd/0");
        let task = "/proc/self/task/1/fd/0";
        assert_eq!(tree.follow(task), task);
        let other = format!("/proc/{}/fd/0", std::process::id());
        assert_eq!(tree.follow(&other), other);
        assert_eq!(tree.follow("/proc/self/cwd/x"), "%/repo/x");
        assert_eq!(
            tree.follow("/proc/self/root/proc/self/fd/0"),
            "/proc/self/fd/0"
        );
    }
}
