//! The work trees of the Git repository that a directory lies in.
//!
//! Reads the files Git keeps for this (`.git`, `commondir`, `worktrees/*/gitdir`); runs nothing. A repository it cannot
//! read has no work trees.

use std::fs;
use std::path::{Path, PathBuf};

/// The roots of all work trees; empty outside of a repository.
pub(super) fn load_worktrees(dir: &Path) -> Vec<PathBuf> {
    let Some((root, git)) = dir.ancestors().find_map(repository) else {
        return Vec::new();
    };
    let common = read_path(&git.join("commondir"), &git).unwrap_or_else(|| git.clone());
    let mut roots = vec![root];
    if common.file_name().is_some_and(|name| name == ".git") {
        roots.extend(common.parent().map(Path::to_owned));
    }
    let linked = fs::read_dir(common.join("worktrees")).into_iter().flatten();
    for entry in linked.flatten() {
        let file = read_path(&entry.path().join("gitdir"), &entry.path());
        roots.extend(file.and_then(|file| file.parent().map(Path::to_owned)));
    }
    let mut roots: Vec<_> = roots
        .into_iter()
        .map(|root| root.canonicalize().unwrap_or(root))
        .collect();
    roots.sort();
    roots.dedup();
    roots
}

/// The root and the Git directory, if this is the root of a work tree.
fn repository(dir: &Path) -> Option<(PathBuf, PathBuf)> {
    let dot_git = dir.join(".git");
    if dot_git.is_dir() {
        return Some((dir.to_owned(), dot_git));
    }
    let text = fs::read_to_string(&dot_git).ok()?;
    let git = dir.join(text.strip_prefix("gitdir:")?.trim());
    Some((dir.to_owned(), git))
}

/// The path a file of Git holds; a relative one counts from `base`.
fn read_path(file: &Path, base: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(file).ok()?;
    let path = base.join(text.trim());
    Some(path.canonicalize().unwrap_or(path))
}
