//! Which files are not shown: those that the agent would not get to read either, if refusals came first.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use estelle_state::policy::{self, DenyPatterns, Policy, Verdict};
use serde_json::json;

/// How many entries of a folder are looked at in search of another name of a file.
const MOST_ENTRIES: usize = 1000;

/// The lists of files with secrets, and our own data.
#[derive(Debug, Clone)]
pub struct Guard {
    policy: Policy,
    data: Option<String>,
    home: Option<String>,
}

impl Guard {
    /// With the lists that guard files against the agent, and the data folder, which is nobody's business.
    pub fn new(patterns: DenyPatterns, data: &Path) -> Self {
        let data = data.canonicalize().unwrap_or_else(|_| data.to_owned());
        let policy = Policy {
            deny_first: true,
            patterns,
            ..Policy::default()
        };
        Self {
            policy,
            data: data.into_os_string().into_string().ok(),
            home: None,
        }
    }

    /// With the home folder, where further secrets lie that a file may be another name of.
    #[must_use]
    pub fn with_home(mut self, home: Option<PathBuf>) -> Self {
        let home = home.and_then(|home| home.canonicalize().ok());
        self.home = home.and_then(|home| home.into_os_string().into_string().ok());
        self
    }

    /// Whether the contents of a file must not be shown. The path is absolute and real; one that is no text is a secret,
    /// because no list could name it.
    pub fn is_secret(&self, real: &Path) -> bool {
        let Some(path) = real.to_str() else {
            return true;
        };
        let place = policy::Place {
            data_folder: self.data.as_deref(),
            home: self.home.as_deref(),
            ..policy::Place::at("/")
        };
        let twins = |path: &str| twins(Path::new(path), &place.vicinity(path));
        let place = policy::Place {
            twins: &twins,
            ..place
        };
        let verdict = policy::judge(&self.policy, place, "Read", &json!({"file_path": path}));
        !matches!(verdict, Verdict::Allow(_))
    }

    /// The data folder.
    pub fn data(&self) -> Option<PathBuf> {
        self.data.as_ref().map(PathBuf::from)
    }
}

/// Other names of a file that has several, found in these folders. One that is no text is a secret, as everywhere here.
fn twins(path: &Path, folders: &[String]) -> Vec<String> {
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
    let names = names.filter(|name| name != path);
    names
        .map(|name| name.to_string_lossy().into_owned())
        .collect()
}
