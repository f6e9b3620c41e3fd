//! Folders of the machine, for somebody who chooses where a workspace is to be.
//!
//! The same rule holds as for workspaces: only what lies under the roots, once all links are followed. Looking runs
//! nothing of a folder, and hidden ones are left out.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use estelle_proto::folders::{FolderList, FolderListResult};
use estelle_proto::{ApiError, ErrorCode, PathText, Reply as _};

use super::context::{Asker, Context};
use super::error::refusal;
use super::paths::workspace_folder;

/// Most names in one answer.
const MOST: usize = 5_000;

/// What is in a folder.
#[derive(Debug, Default)]
struct Listing {
    names: Vec<String>,
    is_cut: bool,
}

pub(super) async fn list(cx: &Context, asker: &Asker, request: FolderList) {
    let id = request.request_id;
    let Some(path) = request.path.or_else(|| usual(&cx.config.roots)) else {
        let error = refusal(ErrorCode::BadPath, "say which folder: none is usual here");
        return asker.complain(error, Some("folder_list"));
    };
    let shown = |path: PathText, listing: Listing| FolderListResult {
        truncated: listing.is_cut.then_some(true),
        ..FolderListResult::new(cx.device(), path, listing.names)
    };
    let result = match try_list(&path, &cx.config.roots).await {
        Ok((path, listing)) => shown(path, listing),
        Err(error) => shown(path, Listing::default()).failed(error),
    };
    asker.answer(result.in_reply_to(id.as_ref()));
}

/// Where workspaces usually are: the first root, or the home of whoever runs the Pylon.
fn usual(roots: &[PathBuf]) -> Option<PathText> {
    let folder = roots.first().cloned().or_else(std::env::home_dir)?;
    PathText::parse(folder.to_str()?).ok()
}

async fn try_list(given: &PathText, roots: &[PathBuf]) -> Result<(PathText, Listing), ApiError> {
    let real = workspace_folder(given, roots).await?;
    let path = PathBuf::from(real.as_str());
    let listing = tokio::task::spawn_blocking(move || read(&path)).await;
    let listing = listing.unwrap_or_else(|error| Err(std::io::Error::other(error)));
    let listing = listing.map_err(|error| {
        let is_forbidden = error.kind() == ErrorKind::PermissionDenied;
        let code = if is_forbidden {
            ErrorCode::Forbidden
        } else {
            ErrorCode::BadPath
        };
        refusal(code, format!("{given} cannot be read"))
    })?;
    Ok((real, listing))
}

/// The folders in a folder, links to folders as well, sorted as people expect it.
fn read(folder: &Path) -> std::io::Result<Listing> {
    let entries = std::fs::read_dir(folder)?.flatten();
    let mut names: Vec<String> = entries
        .filter(|entry| entry.path().is_dir())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !name.starts_with(['.', '$']))
        .collect();
    names.sort_by_cached_key(|name| (name.to_lowercase(), name.clone()));
    let is_cut = names.len() > MOST;
    names.truncate(MOST);
    Ok(Listing { names, is_cut })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_are_shown_and_hidden_ones_are_not() {
        let place = tempfile::tempdir().unwrap();
        let base = place.path();
        for name in ["b", "A", ".git", "$bin", "c"] {
            std::fs::create_dir(base.join(name)).unwrap();
        }
        std::fs::write(base.join("file"), "").unwrap();
        std::os::unix::fs::symlink(base.join("c"), base.join("link")).unwrap();
        let listing = read(base).unwrap();
        assert_eq!(listing.names, ["A", "b", "c", "link"]);
        assert!(!listing.is_cut);
    }
}
