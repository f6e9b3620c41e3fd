//! What a merge writes into a working tree, noted before it begins, so that one that died in it can be taken back.
//!
//! Git writes file after file and moves the branch last; when the disk is full in between, files of the merge stay without
//! its commit, and git knows nothing of them. Only what the merge wrote is taken back: a file that is as it was, or that has
//! other words than those of the merge, is left alone.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::io::{self, Read as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::command::{Call, GitError};
use super::repository::Repository;

/// Most bytes of the list of files.
const MOST: usize = 64 * 1024 * 1024;
/// Files that are named in one call.
const AT_ONCE: usize = 200;
/// As much of a file is compared; what begins so is the merge's.
const COMPARED: u64 = 16 * 1024 * 1024;
/// The mode of a submodule, which is not looked into.
const SUBMODULE: &[u8] = b"160000";

/// What a merge is going to touch, as it was before.
#[derive(Debug)]
pub(super) struct Touched {
    head: String,
    tree: String,
    files: Vec<TouchedFile>,
    /// Folders that the merge has to make, each before those in it.
    folders: BTreeSet<PathBuf>,
}

#[derive(Debug)]
struct TouchedFile {
    /// Seen from the top.
    name: OsString,
    /// Whether the last commit does not have it.
    is_new: bool,
    before: Option<Stamp>,
}

/// By what one sees that a file was written.
#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

impl From<&Metadata> for Stamp {
    fn from(found: &Metadata) -> Self {
        Self {
            inode: found.ino(),
            size: found.size(),
            changed: (found.ctime(), found.ctime_nsec()),
        }
    }
}

impl Touched {
    /// Notes how everything is that will differ.
    pub(super) async fn look(
        repository: &Repository,
        head: &str,
        tree: &str,
    ) -> Result<Self, GitError> {
        let args = ["diff-tree", "-r", "-z", "--no-renames", head, tree];
        let said = repository.whole().ask(args, MOST).await?;
        let mut parts = said.out.split(|byte| *byte == 0);
        let (mut files, mut folders) = (Vec::new(), BTreeSet::new());
        while let (Some(modes), Some(name)) = (parts.next(), parts.next()) {
            // `:100644 100644 <id> <id> M`, then the name.
            let mut modes = modes.split(|byte| *byte == b' ');
            let old = modes.next().unwrap_or_default();
            let old = old.strip_prefix(b":").unwrap_or_default();
            if old == SUBMODULE || modes.next() == Some(SUBMODULE) || name.is_empty() {
                continue;
            }
            let name = OsString::from_vec(name.to_vec());
            note_folders(&repository.top, Path::new(&name), &mut folders);
            files.push(TouchedFile {
                is_new: old == b"000000",
                before: found(&repository.top.join(&name)).as_ref().map(Stamp::from),
                name,
            });
        }
        Ok(Self {
            head: head.to_owned(),
            tree: tree.to_owned(),
            files,
            folders,
        })
    }

    /// Puts everything back that the merge wrote. What it added goes first, which makes the room for the rest.
    pub(super) async fn take_back(&self, repository: &Repository) -> Result<(), GitError> {
        let whole = repository.whole();
        let (mut changed, mut is_touched) = (Vec::new(), false);
        for file in &self.files {
            let place = whole.top.join(&file.name);
            let now = found(&place);
            if now.as_ref().map(Stamp::from) == file.before {
                continue;
            }
            is_touched = true;
            if now.is_some() && !self.wrote(&whole, file).await? {
                tracing::warn!(file = %place.display(), "a file has other words than a merge that is taken back; it stays");
                continue;
            }
            match (file.is_new, now) {
                (true, Some(_)) => fs::remove_file(&place)?,
                (true, None) => {}
                (false, _) => changed.push(file),
            }
        }
        if !is_touched {
            return Ok(());
        }
        for folder in self.folders.iter().rev() {
            // Whoever has put something into it keeps it.
            let _ = fs::remove_dir(whole.top.join(folder));
        }
        // Only if git wrote all files it has noted them as well.
        self.each(&whole, &["reset", "--quiet"], self.files.iter())
            .await?;
        self.each(&whole, &["checkout", "--quiet"], changed.into_iter())
            .await
    }

    /// Whether what is there is what the merge writes, or the beginning of it. Git may have tried to take it back, and died
    /// in that as well: so also what was there before.
    async fn wrote(&self, repository: &Repository, file: &TouchedFile) -> Result<bool, GitError> {
        let Some(bytes) = beginning(&repository.top.join(&file.name))? else {
            return Ok(false);
        };
        for tree in [&self.tree, &self.head] {
            let mut name = OsString::from(format!("{tree}:"));
            name.push(&file.name);
            let args = [OsStr::new("cat-file"), OsStr::new("--filters"), &name];
            match repository.ask(args, bytes.len()).await {
                Ok(said) if said.out.starts_with(&bytes) => return Ok(true),
                // It has other words there, or is not there.
                Ok(_) | Err(GitError::Refused { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }

    /// Lets git do something with files as they are in the last commit.
    async fn each(
        &self,
        whole: &Repository,
        what: &[&str],
        files: impl Iterator<Item = &TouchedFile>,
    ) -> Result<(), GitError> {
        let names: Vec<&OsString> = files.map(|file| &file.name).collect();
        for names in names.chunks(AT_ONCE) {
            let begin = what.iter().copied().chain([self.head.as_str(), "--"]);
            let args = begin
                .map(OsStr::new)
                .chain(names.iter().map(|name| name.as_os_str()));
            let call = Call {
                // A name is a name, whatever is in it.
                environment: vec![("GIT_LITERAL_PATHSPECS", "1".into())],
                ..Call::new(whole.folder(), args, MOST)
            };
            whole.call(call).await?;
        }
        Ok(())
    }
}

/// The folders on the way to a file that are not there.
fn note_folders(top: &Path, name: &Path, folders: &mut BTreeSet<PathBuf>) {
    let parents = name.ancestors().skip(1);
    for parent in parents.filter(|parent| !parent.as_os_str().is_empty()) {
        if folders.contains(parent) || found(&top.join(parent)).is_some_and(|it| it.is_dir()) {
            return;
        }
        folders.insert(parent.to_owned());
    }
}

fn found(place: &Path) -> Option<Metadata> {
    fs::symlink_metadata(place).ok()
}

/// How a file begins, or where a link leads; none if it is neither.
fn beginning(place: &Path) -> io::Result<Option<Vec<u8>>> {
    let Some(found) = found(place) else {
        return Ok(None);
    };
    if found.is_symlink() {
        let target = fs::read_link(place)?;
        return Ok(Some(target.as_os_str().as_bytes().to_vec()));
    }
    if !found.is_file() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    fs::File::open(place)?
        .take(COMPARED)
        .read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}
