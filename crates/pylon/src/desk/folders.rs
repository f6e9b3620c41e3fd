//! Folders of the machine, for somebody who chooses where a workspace is to be.
//!
//! Only what lies under the roots is shown, once all links are followed; where none are set, what lies in the home of whoever
//! runs the Pylon. Looking runs nothing of a folder, and hidden ones are left out. Which folders those are, making and renaming
//! is `files`' own.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use estelle_proto::folders::{
    Drive, FolderCreate, FolderCreateResult, FolderList, FolderListResult, FolderRename,
    FolderRenameResult,
};
use estelle_proto::{ApiError, ErrorCode, PathText, Reply as _, Retry};

use super::context::{Asker, Context};
use super::error::{Told, refusal};
use crate::files::{self, MakeError};

/// Most names in one answer.
const MOST: usize = 5_000;

/// What is in a folder.
#[derive(Debug, Default)]
struct Listing {
    names: Vec<String>,
    is_cut: bool,
    drives: Vec<Drive>,
}

pub(super) async fn list(cx: &Context, asker: &Asker, request: FolderList) {
    let id = request.request_id;
    let places = places(cx);
    let Some(path) = request.path.or_else(|| usual(&places)) else {
        let error = refusal(ErrorCode::BadPath, "say which folder: none is usual here");
        return asker.complain(error, Some("folder_list"));
    };
    let shown = |path: PathText, listing: Listing| FolderListResult {
        truncated: listing.is_cut.then_some(true),
        platform: Some(std::env::consts::OS.to_owned()),
        drives: Some(listing.drives),
        ..FolderListResult::new(cx.device(), path, listing.names)
    };
    let result = match try_list(&path, places).await {
        Ok((path, listing)) => shown(path, listing),
        Err(error) => shown(path, Listing::default()).failed(error),
    };
    asker.answer(result.in_reply_to(id.as_ref()));
}

/// Where workspaces usually are: the first root.
fn usual(places: &[PathBuf]) -> Option<PathText> {
    PathText::parse(places.first()?.to_str()?).ok()
}

async fn try_list(given: &PathText, places: Vec<PathBuf>) -> Result<(PathText, Listing), ApiError> {
    let path = PathBuf::from(given.as_str());
    let listing = tokio::task::spawn_blocking(move || {
        let folder = files::find(&path, &places).map_err(|error| error.told())?;
        let listing = read(&folder).map_err(|error| {
            let is_forbidden = error.kind() == ErrorKind::PermissionDenied;
            let code = if is_forbidden {
                ErrorCode::Forbidden
            } else {
                ErrorCode::BadPath
            };
            refusal(code, "it cannot be read")
        })?;
        let drives = drives(&places);
        Ok((text(&folder)?, Listing { drives, ..listing }))
    });
    let listing = listing.await;
    let listing =
        listing.unwrap_or_else(|error| Err(refusal(ErrorCode::Internal, error.to_string())));
    listing.map_err(|error| ApiError {
        message: format!("{given}: {}", error.message),
        ..error
    })
}

/// A path as it is told.
fn text(path: &Path) -> Result<PathText, ApiError> {
    let text = path.to_str().unwrap_or_default();
    PathText::parse(text).map_err(|error| refusal(ErrorCode::BadPath, format!("the path {error}")))
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
    Ok(Listing {
        names,
        is_cut,
        drives: Vec::new(),
    })
}

/// Where one can begin.
fn drives(roots: &[PathBuf]) -> Vec<Drive> {
    let drives = roots.iter().filter_map(|root| {
        let path = PathText::parse(root.canonicalize().ok()?.to_str()?).ok()?;
        let label = root
            .file_name()
            .map_or("/".into(), |name| name.to_string_lossy());
        let has_children = read(root).is_ok_and(|listing| !listing.names.is_empty());
        Some(Drive::new(path, label.into_owned(), has_children))
    });
    drives.collect()
}

/// Where folders are shown, made and renamed: under the roots, or at home.
fn places(cx: &Context) -> Vec<PathBuf> {
    let roots = cx.config.roots.clone();
    if roots.is_empty() {
        std::env::home_dir().into_iter().collect()
    } else {
        roots
    }
}

pub(super) async fn create(cx: &Context, asker: &Asker, request: FolderCreate) {
    let id = request.request_id;
    let (places, parent) = (places(cx), PathBuf::from(request.path.as_str()));
    let made = on_disk(move || {
        let made = files::make(&parent, &request.name, &places);
        made.map_err(|error| error.told())
    });
    let result = FolderCreateResult::new(cx.device());
    let result = match made.await {
        Ok(path) => FolderCreateResult {
            path: Some(path),
            ..result
        },
        Err(error) => result.failed(error),
    };
    asker.answer(result.in_reply_to(id.as_ref()));
}

pub(super) async fn rename(cx: &Context, asker: &Asker, request: FolderRename) {
    let id = request.request_id.clone();
    let result = FolderRenameResult::new(cx.device());
    let result = match try_rename(cx, request).await {
        Ok(path) => FolderRenameResult {
            path: Some(path),
            ..result
        },
        Err(error) => result.failed(error),
    };
    asker.answer(result.in_reply_to(id.as_ref()));
}

async fn try_rename(cx: &Context, request: FolderRename) -> Result<PathText, ApiError> {
    // Whoever works there would find nothing any more. Workspaces are made in the same lane, so none comes in between.
    let known = cx.store.workspaces(None).await;
    let known = known.map_err(|error| error.told())?.workspaces;
    let (places, folder) = (places(cx), PathBuf::from(request.path.as_str()));
    on_disk(move || {
        files::rename(&folder, &request.new_name, &places, |place| {
            let is_in = |folder: &PathText| {
                let folder = Path::new(folder.as_str());
                folder.starts_with(place)
                    || folder.canonicalize().is_ok_and(|real| real.starts_with(place))
            };
            match known.iter().find(|workspace| is_in(&workspace.working_dir)) {
                None => Ok(()),
                Some(workspace) => {
                    let text = format!(
                        "the workspace {} works in it; delete that workspace first, or leave the name",
                        workspace.name
                    );
                    Err(Stuck(refusal(ErrorCode::Conflict, text)))
                }
            }
        })
        .map_err(|Stuck(error)| error)
    })
    .await
}

/// Why a folder stays as it is, as it is told.
struct Stuck(ApiError);

impl From<MakeError> for Stuck {
    fn from(error: MakeError) -> Self {
        Self(error.told())
    }
}

async fn on_disk(
    work: impl FnOnce() -> Result<PathBuf, ApiError> + Send + 'static,
) -> Result<PathText, ApiError> {
    let done = tokio::task::spawn_blocking(work).await;
    let failed = |text: String| refusal(ErrorCode::Internal, text);
    text(&done.unwrap_or_else(|error| Err(failed(error.to_string())))?)
}

impl Told for MakeError {
    fn told(&self) -> ApiError {
        let text = self.to_string();
        match self {
            Self::Name(_) => refusal(ErrorCode::InvalidMessage, text),
            Self::Look(error) => error.told(),
            Self::Outside | Self::Hidden => refusal(ErrorCode::BadPath, text),
            Self::Root | Self::Taken => refusal(ErrorCode::Conflict, text),
            Self::Full => ApiError::new(ErrorCode::DiskFull, text, Retry::Later),
        }
    }
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
