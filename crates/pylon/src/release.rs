//! The published release: `deploy.json`, in a file or at an address, and where the apps of it are.
//!
//! Reading is lenient, because other programs write such files as well: what is missing is not known. Writing replaces
//! the file in one step, so that nobody reads half of it.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::fetch::{FetchError, fetch};

/// The name of the file.
pub const FILE: &str = "deploy.json";

/// More than a description of a release has.
const MOST_BYTES: u64 = 64 * 1024;

/// Where the description of the published release is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In a file.
    File(PathBuf),
    /// At an address.
    Url(String),
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Url(url) => f.write_str(url),
        }
    }
}

/// Where everything of a release is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Releases {
    /// Its description.
    pub place: Place,
    /// The phone app, if there is one.
    pub apk_url: Option<String>,
    /// The desktop app, if there is one.
    pub exe_url: Option<String>,
}

/// What is known of a release.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Release {
    /// The commit that was built.
    #[serde(default)]
    pub commit: Option<String>,
    /// Its version, for people.
    #[serde(default)]
    pub version: Option<String>,
    /// When it was built, `YYYYMMDDHHmmss`.
    #[serde(default)]
    pub build_time: Option<String>,
    /// When it was published, as ISO 8601 text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deployed_at: Option<String>,
}

/// Why the published release is not known.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Nothing was published yet.
    #[error("nothing is published: there is no {0}; `estelle deploy` publishes one")]
    Missing(String),
    /// The file could not be read.
    #[error("failed to read {place}: {source}")]
    Io {
        /// Where.
        place: String,
        /// Why.
        source: io::Error,
    },
    /// It could not be fetched.
    #[error("failed to fetch {place}: {source}")]
    Fetch {
        /// Where.
        place: String,
        /// Why.
        source: FetchError,
    },
    /// It is not what it should be.
    #[error("{place} describes no release: {source}")]
    Unreadable {
        /// Where.
        place: String,
        /// Why.
        source: serde_json::Error,
    },
}

impl Release {
    /// Reads the description of the published release.
    pub async fn load(place: &Place) -> Result<Self, LoadError> {
        let shown = || place.to_string();
        let text = match place {
            Place::File(path) => read(path).await.map_err(|source| {
                if source.kind() == io::ErrorKind::NotFound {
                    return LoadError::Missing(shown());
                }
                LoadError::Io {
                    place: shown(),
                    source,
                }
            })?,
            Place::Url(url) => fetch(url).await.map_err(|source| LoadError::Fetch {
                place: shown(),
                source,
            })?,
        };
        serde_json::from_str(&text).map_err(|source| LoadError::Unreadable {
            place: shown(),
            source,
        })
    }

    /// Reads a description that lies beside a program; nothing if there is none.
    pub fn beside(program: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(program.parent()?.join(FILE)).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Puts the description into a file, in one step.
    pub fn store(&self, path: &Path) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        replace(path, &text)
    }
}

/// Gives a file other contents in one step that outlives a crash.
pub(crate) fn replace(path: &Path, contents: &[u8]) -> io::Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    let beside = PathBuf::from(name);
    let mut file = std::fs::File::create(&beside)?;
    file.write_all(contents)?;
    file.sync_all()?;
    std::fs::rename(&beside, path)?;
    sync_folder(path)
}

/// Waits until the disk has the names in the folder of a file.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) => std::fs::File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

async fn read(path: &Path) -> io::Result<String> {
    let path = path.to_owned();
    let reading = tokio::task::spawn_blocking(move || {
        let length = path.metadata()?.len();
        if length > MOST_BYTES {
            let text = format!("it has {length} bytes, at most {MOST_BYTES}");
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        std::fs::read_to_string(path)
    });
    reading
        .await
        .unwrap_or_else(|error| Err(io::Error::other(error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_that_finds_no_room_leaves_the_one_before() {
        let Some(disk) = crate::small_disk::SmallDisk::of(64) else {
            return;
        };
        let file = disk.path().join(FILE);
        let release = |version: &str| Release {
            version: Some(version.repeat(3000)),
            ..Release::default()
        };
        release("1").store(&file).unwrap();
        let before = std::fs::read(&file).unwrap();
        disk.fill_but(0);
        let refused = release("2").store(&file).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::StorageFull);
        assert_eq!(std::fs::read(&file).unwrap(), before);
        disk.free();
        release("2").store(&file).unwrap();
        assert_ne!(std::fs::read(&file).unwrap(), before);
    }

    #[tokio::test]
    async fn what_is_stored_is_read_and_what_is_missing_is_unknown() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        let place = Place::File(path.clone());
        let error = Release::load(&place).await.unwrap_err();
        assert!(matches!(error, LoadError::Missing(_)), "{error}");
        let release = Release {
            commit: Some("abc".to_owned()),
            version: Some("1.0".to_owned()),
            build_time: Some("20260125100000".to_owned()),
            deployed_at: None,
        };
        release.store(&path).unwrap();
        assert_eq!(Release::load(&place).await.unwrap(), release);
        std::fs::write(&path, r#"{"commit":"abc","version":null,"more":1}"#).unwrap();
        let read = Release::load(&place).await.unwrap();
        assert_eq!((read.commit.as_deref(), read.version), (Some("abc"), None));
    }

    #[tokio::test]
    async fn a_file_that_is_none_is_refused_with_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        for bad in ["", "{\"commit\":7}", "null", "7"] {
            std::fs::write(&path, bad).unwrap();
            let error = Release::load(&Place::File(path.clone())).await.unwrap_err();
            assert!(error.to_string().contains(FILE), "{error}");
        }
        std::fs::write(&path, " ".repeat(70_000)).unwrap();
        let error = Release::load(&Place::File(path)).await.unwrap_err();
        assert!(matches!(error, LoadError::Io { .. }), "{error}");
    }
}
