//! Which files are not shown: those that the agent would not get to read either, if refusals came first.

use std::path::{Path, PathBuf};

use estelle_state::policy::{self, DenyPatterns, Policy, Verdict};
use serde_json::json;

/// The lists of files with secrets, and our own data.
#[derive(Debug, Clone)]
pub struct Guard {
    policy: Policy,
    data: Option<String>,
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
        }
    }

    /// Whether the contents of a file must not be shown. The path is absolute and real; one that is no text is a secret,
    /// because no list could name it.
    pub fn is_secret(&self, real: &Path) -> bool {
        let Some(path) = real.to_str() else {
            return true;
        };
        let place = policy::Place {
            data_folder: self.data.as_deref(),
            ..policy::Place::at("/")
        };
        let verdict = policy::judge(&self.policy, place, "Read", &json!({"file_path": path}));
        !matches!(verdict, Verdict::Allow(_))
    }

    /// The data folder.
    pub fn data(&self) -> Option<PathBuf> {
        self.data.as_ref().map(PathBuf::from)
    }
}
