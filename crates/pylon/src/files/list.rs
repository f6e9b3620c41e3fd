//! What is in a folder: a page of its names, each with its kind and size.
//!
//! All names are read for a page, because they must be sorted; what stands behind a name is asked for only on the page that
//! shows it. A page goes on after the last name of the one before, so that names that come or go in between move nothing.

use std::path::{Path, PathBuf};

use estelle_proto::Timestamp;
use estelle_proto::files::{FileEntry, FileKind};
use rustix::fs::{AtFlags, Dir, Stat};

use super::place::{LookError, Place, Wanted, kind};

/// The most names that are looked at. Sorting so many takes a tenth of a second.
const MOST: usize = 200_000;

/// Which part of a folder is wanted.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// The last name of the page before.
    pub after: Option<String>,
    /// The most names.
    pub limit: usize,
}

/// A page of a folder.
#[derive(Debug, Default)]
pub struct Listing {
    /// Which folder, seen from the base.
    pub relative: PathBuf,
    /// The entries, by name.
    pub entries: Vec<FileEntry>,
    /// Names on all pages.
    pub total: usize,
    /// Names that are no text.
    pub unnamed: usize,
    /// Whether there are more names than are looked at.
    pub is_cut: bool,
    /// Whether there is another page.
    pub has_more: bool,
}

/// Lists a folder.
pub fn list(base: &Path, relative: &Path, page: &Page) -> Result<Listing, LookError> {
    let place = Place::find(base, relative)?.that_is(Wanted::Folder)?;
    let folder = place.open()?;
    let mut listing = Listing::default();
    let mut names = Vec::new();
    for entry in Dir::read_from(&folder)? {
        let entry = entry?;
        match entry.file_name().to_str() {
            Ok("." | "..") => {}
            _ if names.len() >= MOST => {
                listing.is_cut = true;
                break;
            }
            Ok(name) => names.push(name.to_owned()),
            Err(_) => listing.unnamed += 1,
        }
    }
    names.sort_by_cached_key(|name| rank(name));
    listing.total = names.len();
    let from = page.after.as_deref().map(rank);
    let from = from.map_or(0, |after| names.partition_point(|name| rank(name) <= after));
    for name in names.iter().skip(from).take(page.limit) {
        // A name that is gone meanwhile is left out.
        if let Ok(stat) = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            listing.entries.push(entry(base, &place, name, &stat));
        }
    }
    listing.has_more = names.len() > from.saturating_add(page.limit);
    listing.relative = place.relative;
    Ok(listing)
}

/// Where a name stands: as people expect it, and never at two places.
fn rank(name: &str) -> (String, String) {
    (name.to_lowercase(), name.to_owned())
}

fn entry(base: &Path, folder: &Place, name: &str, stat: &Stat) -> FileEntry {
    let kind = kind(stat);
    let target = (kind == FileKind::Link).then(|| {
        let target = Place::find(base, &folder.relative.join(name));
        target.ok().map(|target| target.kind())
    });
    FileEntry {
        size: (kind == FileKind::File).then(|| u64::try_from(stat.st_size).unwrap_or(0)),
        modified_at: Some(modified(stat)),
        target_kind: target.flatten(),
        ..FileEntry::new(name.to_owned(), kind)
    }
}

/// When something was last changed.
pub(super) fn modified(stat: &Stat) -> Timestamp {
    let millis = i64::try_from(stat.st_mtime_nsec).unwrap_or(0) / 1_000_000;
    Timestamp(stat.st_mtime.saturating_mul(1000).saturating_add(millis))
}
