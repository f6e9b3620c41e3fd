//! Finding, making and renaming folders, for somebody who chooses where a workspace is to be.
//!
//! Only under the roots, judged by where a folder really is and done through the very handle that was judged. What is hidden
//! stays out of reach: configuration lies there. Nothing that is there is ever replaced.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::place::{LookError, open, real};

/// The longest name that file systems take.
const MOST_NAME_BYTES: usize = 255;

/// Why no folder was made or renamed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MakeError {
    /// Not a name, or not one that would be shown.
    #[error("a folder cannot have this name: {0}")]
    Name(&'static str),
    /// The folder itself cannot be used.
    #[error(transparent)]
    Look(#[from] LookError),
    /// Not under a root.
    #[error(
        "it lies outside the folders that this machine shows; `pylon.roots` says which they are, or it is the home"
    )]
    Outside,
    /// Hidden, or in something hidden.
    #[error("it is hidden; hidden folders are not touched from elsewhere")]
    Hidden,
    /// A root is not renamed.
    #[error("it is one of the folders under which all others are")]
    Root,
    /// Something of this name is there.
    #[error("something of this name is there already")]
    Taken,
    /// The disk has no room.
    #[error("the disk is full")]
    Full,
}

impl From<Errno> for MakeError {
    fn from(error: Errno) -> Self {
        match error {
            Errno::EXIST | Errno::NOTEMPTY => Self::Taken,
            Errno::NOSPC | Errno::DQUOT => Self::Full,
            Errno::NAMETOOLONG | Errno::INVAL | Errno::ILSEQ => {
                Self::Name("the file system does not take it")
            }
            Errno::ROFS => LookError::Forbidden.into(),
            other => LookError::from(other).into(),
        }
    }
}

/// Where a folder really is that may be looked at from elsewhere.
pub fn find(folder: &Path, roots: &[PathBuf]) -> Result<PathBuf, MakeError> {
    under(folder, roots).map(|(_, place)| place)
}

/// Makes a folder in another one. Gives where it is.
pub fn make(parent: &Path, name: &str, roots: &[PathBuf]) -> Result<PathBuf, MakeError> {
    check_name(name)?;
    let (handle, place) = under(parent, roots)?;
    rustix::fs::mkdirat(&handle, name, Mode::from_raw_mode(0o777))?;
    Ok(place.join(name))
}

/// Gives a folder another name, in the same place. Gives where it is then.
///
/// `may_move` is asked with where it really is before anything is done.
pub fn rename<E: From<MakeError>>(
    folder: &Path,
    name: &str,
    roots: &[PathBuf],
    may_move: impl FnOnce(&Path) -> Result<(), E>,
) -> Result<PathBuf, E> {
    let (parent, place) = to_be_renamed(folder, name, roots)?;
    may_move(&place)?;
    let Some((above, old)) = place.parent().zip(place.file_name()) else {
        return Err(MakeError::Root.into());
    };
    let flags = RenameFlags::NOREPLACE;
    let renamed = rustix::fs::renameat_with(&parent, old, &parent, name, flags);
    renamed.map_err(MakeError::from)?;
    Ok(above.join(name))
}

/// The folder that holds it, and where it really is.
fn to_be_renamed(
    folder: &Path,
    name: &str,
    roots: &[PathBuf],
) -> Result<(OwnedFd, PathBuf), MakeError> {
    check_name(name)?;
    let (_, place) = under(folder, roots)?;
    if is_root(&place, roots) {
        return Err(MakeError::Root);
    }
    let above = place.parent().ok_or(MakeError::Root)?;
    let parent = open(CWD, above, OFlags::DIRECTORY)?;
    // Somebody may have moved it in between.
    if real(&parent)? != above {
        return Err(LookError::Missing.into());
    }
    Ok((parent, place))
}

/// A name that is one, is shown, and means the same on every system.
fn check_name(name: &str) -> Result<(), MakeError> {
    let why = if name.trim().is_empty() {
        "it is blank"
    } else if name.trim() != name {
        "it begins or ends with a space"
    } else if name.len() > MOST_NAME_BYTES {
        "it is longer than 255 bytes"
    } else if name.contains(['/', '\\']) {
        "it has a separator of paths in it"
    } else if name.chars().any(char::is_control) {
        "it has a control character in it"
    } else if name.starts_with(['.', '$']) {
        "names that begin with `.` or `$` are hidden"
    } else {
        return Ok(());
    };
    Err(MakeError::Name(why))
}

/// A folder under a root that is not hidden there, held by a handle, and where it really is.
fn under(path: &Path, roots: &[PathBuf]) -> Result<(OwnedFd, PathBuf), MakeError> {
    if !path.is_absolute() {
        return Err(MakeError::Outside);
    }
    let handle = open(CWD, path, OFlags::DIRECTORY).map_err(|error| {
        if matches!(error, LookError::Missing) && path.exists() {
            LookError::WrongKind { wanted: "folder" }
        } else {
            error
        }
    })?;
    let place = real(&handle)?;
    let roots = roots.iter().filter_map(|root| root.canonicalize().ok());
    let insides: Vec<PathBuf> = roots
        .filter_map(|root| place.strip_prefix(&root).ok().map(Path::to_owned))
        .collect();
    if insides.is_empty() {
        return Err(MakeError::Outside);
    }
    let is_open = |inside: &PathBuf| {
        let mut names = inside.iter().map(|part| part.to_string_lossy());
        names.all(|name| !name.starts_with(['.', '$']))
    };
    if !insides.iter().any(is_open) {
        return Err(MakeError::Hidden);
    }
    Ok((handle, place))
}

fn is_root(place: &Path, roots: &[PathBuf]) -> bool {
    let mut roots = roots.iter().filter_map(|root| root.canonicalize().ok());
    roots.any(|root| root == place || root.starts_with(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> (tempfile::TempDir, PathBuf, Vec<PathBuf>) {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap().join("root");
        std::fs::create_dir_all(root.join("a")).unwrap();
        (place, root.clone(), vec![root])
    }

    fn moved(folder: &Path, name: &str, roots: &[PathBuf]) -> Result<PathBuf, MakeError> {
        rename(folder, name, roots, |_| Ok(()))
    }

    #[test]
    fn a_folder_is_made_and_renamed_and_nothing_is_replaced() {
        let (_held, root, roots) = place();
        let made = make(&root, "나의 작업", &roots).unwrap();
        assert!(made.is_dir() && made == root.join("나의 작업"));
        assert_eq!(make(&root, "나의 작업", &roots), Err(MakeError::Taken));
        std::fs::write(made.join("inside"), "kept").unwrap();
        let renamed = moved(&made, "b", &roots).unwrap();
        assert_eq!(renamed, root.join("b"));
        assert_eq!(
            std::fs::read_to_string(renamed.join("inside")).unwrap(),
            "kept"
        );
        assert_eq!(moved(&renamed, "a", &roots), Err(MakeError::Taken));
        assert!(renamed.is_dir(), "an empty folder is not replaced either");
    }

    #[test]
    fn names_that_are_none_or_would_be_hidden_are_refused() {
        let (_held, root, roots) = place();
        let long = "x".repeat(256);
        for name in [
            "",
            " ",
            " a",
            "a ",
            ".",
            "..",
            ".git",
            "$x",
            "a/b",
            "../x",
            "a\\b",
            "a\0b",
            "a\nb",
            long.as_str(),
        ] {
            for done in [
                make(&root, name, &roots),
                moved(&root.join("a"), name, &roots),
            ] {
                assert!(
                    matches!(done, Err(MakeError::Name(_))),
                    "{name:?}: {done:?}"
                );
            }
        }
        assert_eq!(std::fs::read_dir(&root).unwrap().count(), 1);
    }

    #[test]
    fn only_what_lies_under_a_root_and_is_not_hidden_is_touched() {
        let (held, root, roots) = place();
        let outside = held.path().canonicalize().unwrap().join("outside");
        std::fs::create_dir(&outside).unwrap();
        std::os::unix::fs::symlink(&outside, root.join("link")).unwrap();
        std::fs::create_dir_all(root.join(".hidden/inner")).unwrap();
        std::fs::write(root.join("file"), "").unwrap();
        let error = |path: &Path| make(path, "x", &roots).unwrap_err();
        for path in [
            &outside,
            &root.join("link"),
            &root.join("../outside"),
            Path::new("a"),
        ] {
            assert_eq!(error(path), MakeError::Outside, "{}", path.display());
            assert!(moved(path, "x", &roots).is_err());
        }
        for path in [root.join(".hidden"), root.join(".hidden/inner")] {
            assert_eq!(error(&path), MakeError::Hidden);
            assert_eq!(find(&path, &roots), Err(MakeError::Hidden));
            assert_eq!(moved(&path, "x", &roots), Err(MakeError::Hidden));
        }
        assert_eq!(error(&root.join("none")), LookError::Missing.into());
        let wanted = "folder";
        assert_eq!(
            error(&root.join("file")),
            LookError::WrongKind { wanted }.into()
        );
        assert_eq!(moved(&root, "x", &roots), Err(MakeError::Root));
        assert_eq!(
            make(&root, "x", &[]),
            Err(MakeError::Outside),
            "no root, no place"
        );
        assert!(outside.read_dir().unwrap().next().is_none());
    }

    #[test]
    fn what_must_not_move_stays_where_it_is() {
        let (_held, root, roots) = place();
        let refused = rename(&root.join("a"), "b", &roots, |place| {
            assert_eq!(place, root.join("a"));
            Err(MakeError::Taken)
        });
        assert_eq!(refused, Err(MakeError::Taken));
        assert!(root.join("a").is_dir());
    }
}
