//! Finding the Claude Code CLI on this machine.
//!
//! The order: the path the caller gives, the variable `CLAUDE_CODE_PATH`, `PATH`, then the usual places of the
//! installers. A path that somebody named is never silently replaced by another. Nothing is run here; asking for
//! the version is `probe`'s.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::{CliVersion, Runtime};

/// File names that need a JavaScript runtime.
const SCRIPT_EXTENSIONS: [&str; 6] = ["js", "mjs", "cjs", "ts", "tsx", "jsx"];

/// Places of the installers, relative to the home directory.
const HOME_PLACES: [&str; 6] = [
    ".local/bin/claude",
    ".claude/local/claude",
    ".claude/local/node_modules/.bin/claude",
    ".npm-global/bin/claude",
    ".bun/bin/claude",
    ".volta/bin/claude",
];

/// Places for all users.
const SYSTEM_PLACES: [&str; 3] = [
    "/usr/local/bin/claude",
    "/opt/homebrew/bin/claude",
    "/usr/bin/claude",
];

/// A CLI whose version is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cli {
    path: PathBuf,
    version: CliVersion,
}

/// Why no CLI was found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FindError {
    /// Nobody named one and none is in the usual places.
    #[error(
        "no `claude` on PATH nor in {} usual places: install Claude Code (`npm install -g \
         @anthropic-ai/claude-code`), or name it with the option `path_to_claude_code_executable` or the variable \
         CLAUDE_CODE_PATH",
        searched.len()
    )]
    NotFound {
        /// The usual places that were tried.
        searched: Vec<PathBuf>,
    },
    /// The named file does not exist.
    #[error(
        "there is no file {path:?}, which {named_by} names: correct the path, or leave it out to search"
    )]
    Missing {
        /// The path as named.
        path: PathBuf,
        /// What named it.
        named_by: &'static str,
    },
    /// The named path is a directory or something else that cannot be run.
    #[error("{path:?}, which {named_by} names, is not a file: name the program itself")]
    NotAFile {
        /// The path as named.
        path: PathBuf,
        /// What named it.
        named_by: &'static str,
    },
    /// The named file may not be run.
    #[error(
        "{path:?}, which {named_by} names, is not executable: run `chmod +x` on it, or name another"
    )]
    NotExecutable {
        /// The path as named.
        path: PathBuf,
        /// What named it.
        named_by: &'static str,
    },
}

/// Where to look for the CLI.
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct Search {
    named: Option<(PathBuf, &'static str)>,
    path_variable: Option<OsString>,
    places: Vec<PathBuf>,
}

impl Cli {
    /// The CLI at `path`, known to be of this version.
    pub fn new(path: impl Into<PathBuf>, version: CliVersion) -> Self {
        Self {
            path: path.into(),
            version,
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its version.
    pub const fn version(&self) -> CliVersion {
        self.version
    }

    /// Program and first arguments that run it.
    pub(crate) fn command(
        &self,
        runtime: Option<Runtime>,
        runtime_args: &[String],
    ) -> (PathBuf, Vec<OsString>) {
        command(&self.path, runtime, runtime_args)
    }
}

/// Program and first arguments that run the CLI at `path`: itself, or a runtime with the script.
pub(crate) fn command(
    path: &Path,
    runtime: Option<Runtime>,
    runtime_args: &[String],
) -> (PathBuf, Vec<OsString>) {
    let mut args: Vec<OsString> = runtime_args.iter().map(OsString::from).collect();
    if !is_script(path) {
        return (path.to_owned(), args);
    }
    args.push(path.into());
    (PathBuf::from(runtime.unwrap_or_default().as_str()), args)
}

/// Whether the CLI at `path` needs a runtime.
pub(crate) fn is_script(path: &Path) -> bool {
    path.extension()
        .and_then(OsStr::to_str)
        .is_some_and(|extension| SCRIPT_EXTENSIONS.contains(&extension))
}

impl Search {
    /// The search as this program's environment says: `CLAUDE_CODE_PATH`, `PATH`, `HOME`, the npm prefix.
    pub fn from_environment() -> Self {
        Self::from_variables(|name| std::env::var_os(name))
    }

    /// Like [`Search::from_environment`], for the variables that `lookup` gives. An empty one counts as unset.
    pub fn from_variables(lookup: impl Fn(&str) -> Option<OsString>) -> Self {
        let variable = |name: &str| lookup(name).filter(|value| !value.is_empty());
        let mut search = Self {
            path_variable: variable("PATH"),
            ..Self::default()
        };
        if let Some(path) = variable("CLAUDE_CODE_PATH") {
            search = search.named(path, "the variable CLAUDE_CODE_PATH");
        }
        let home = variable("HOME").map(PathBuf::from);
        let prefix = variable("npm_config_prefix").map(PathBuf::from);
        search.usual_places(home.as_deref(), prefix.as_deref())
    }

    /// Looks only at the file the caller names.
    pub fn explicit(self, path: impl Into<PathBuf>) -> Self {
        self.named(path, "the option path_to_claude_code_executable")
    }

    /// Looks in these directories, in the form of `PATH`.
    pub fn path_variable(mut self, value: impl Into<OsString>) -> Self {
        self.path_variable = Some(value.into());
        self
    }

    /// Looks where the installers put it for this home directory and npm prefix, and for all users.
    pub fn usual_places(mut self, home: Option<&Path>, npm_prefix: Option<&Path>) -> Self {
        let in_home = home
            .into_iter()
            .flat_map(|home| HOME_PLACES.iter().map(|place| home.join(place)));
        let in_prefix = npm_prefix
            .into_iter()
            .map(|prefix| prefix.join("bin/claude"));
        self.places = in_home
            .chain(in_prefix)
            .chain(SYSTEM_PLACES.iter().map(PathBuf::from))
            .collect();
        self
    }

    /// Like [`Search::explicit`], for a program whose users name the file in another way: `by` is what they know, such as
    /// the flag, and stands in the error.
    pub fn named(mut self, path: impl Into<PathBuf>, by: &'static str) -> Self {
        self.named = Some((path.into(), by));
        self
    }

    /// Finds the CLI and returns its absolute path.
    pub fn find(&self) -> Result<PathBuf, FindError> {
        if let Some((path, named_by)) = &self.named {
            return self.find_named(path, named_by);
        }
        self.on_path(OsStr::new("claude"))
            .or_else(|| {
                self.places
                    .iter()
                    .find(|place| is_executable(place))
                    .cloned()
            })
            .ok_or_else(|| FindError::NotFound {
                searched: self.places.clone(),
            })
    }

    /// A bare name is looked up on `PATH`, as a shell would; anything else is a file.
    fn find_named(&self, path: &Path, named_by: &'static str) -> Result<PathBuf, FindError> {
        let mut components = path.components();
        if let (Some(Component::Normal(name)), None) = (components.next(), components.next())
            && let Some(found) = self.on_path(name)
        {
            return Ok(found);
        }
        let named = || (path.to_owned(), named_by);
        let Ok(metadata) = fs::metadata(path) else {
            let (path, named_by) = named();
            return Err(FindError::Missing { path, named_by });
        };
        if !metadata.is_file() {
            let (path, named_by) = named();
            return Err(FindError::NotAFile { path, named_by });
        }
        if !is_script(path) && !is_executable(path) {
            let (path, named_by) = named();
            return Err(FindError::NotExecutable { path, named_by });
        }
        // The process may run in another directory, where a relative path would mean another file.
        Ok(std::path::absolute(path).unwrap_or_else(|_| path.to_owned()))
    }

    /// The first executable of this name on `PATH`. Relative entries are passed over: they would make the result
    /// depend on the directory, which may be somebody else's project.
    fn on_path(&self, name: &OsStr) -> Option<PathBuf> {
        let directories = std::env::split_paths(self.path_variable.as_ref()?);
        directories
            .filter(|directory| directory.is_absolute())
            .map(|directory| directory.join(name))
            .find(|candidate| is_executable(candidate))
    }
}

/// Whether the path is a file this user may run.
fn is_executable(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

#[cfg(test)]
#[path = "cli_tests.rs"]
mod tests;
