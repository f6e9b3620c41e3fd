//! The process itself: where it runs, which program it is, what it is given and how long things may take.
//!
//! Owns plain values; finding the program is `cli`'s and starting it the transport's.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::{Environment, Options, strings};
use crate::transport::Grace;

/// Time from the start of the process to the answer to `initialize`, unless the caller says otherwise.
const LOAD_TIMEOUT: Duration = Duration::from_mins(1);

/// Time the CLI has to answer a control request, unless the caller says otherwise.
const CONTROL_TIMEOUT: Duration = Duration::from_mins(1);

/// The process part of [`Options`].
#[derive(Debug, Clone)]
pub(crate) struct ProcessOptions {
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) additional_directories: Vec<PathBuf>,
    pub(crate) project_config_root: Option<PathBuf>,
    pub(crate) path: Option<PathBuf>,
    pub(crate) executable: Option<Runtime>,
    pub(crate) executable_args: Vec<String>,
    pub(crate) env: Environment,
    pub(crate) extra_args: Vec<ExtraArg>,
    pub(crate) debug: bool,
    pub(crate) debug_file: Option<PathBuf>,
    pub(crate) load_timeout: Duration,
    pub(crate) control_timeout: Duration,
    pub(crate) grace: Grace,
    pub(crate) abort: Option<CancellationToken>,
}

impl Default for ProcessOptions {
    fn default() -> Self {
        Self {
            cwd: None,
            additional_directories: Vec::new(),
            project_config_root: None,
            path: None,
            executable: None,
            executable_args: Vec::new(),
            env: Environment::default(),
            extra_args: Vec::new(),
            debug: false,
            debug_file: None,
            load_timeout: LOAD_TIMEOUT,
            control_timeout: CONTROL_TIMEOUT,
            grace: Grace::default(),
            abort: None,
        }
    }
}

/// An argument passed on unseen.
#[derive(Clone)]
pub(crate) struct ExtraArg {
    /// Without the dashes.
    pub(crate) name: String,
    pub(crate) value: Option<String>,
}

impl fmt::Debug for ExtraArg {
    /// Shows the name only: nothing is known about the value, so it may be a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "--{}", self.name)
    }
}

/// JavaScript runtime for a CLI that is a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Runtime {
    /// `node`, the default.
    #[default]
    Node,
    /// `bun`.
    Bun,
    /// `deno`.
    Deno,
}

impl Runtime {
    /// The program name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Bun => "bun",
            Self::Deno => "deno",
        }
    }
}

impl Options {
    /// Working directory, absolute. Default: that of this program.
    pub fn cwd(mut self, directory: impl Into<PathBuf>) -> Self {
        self.process.cwd = Some(directory.into());
        self
    }

    /// Directories the model may work in besides [`Options::cwd`], absolute. Replaces an earlier list.
    pub fn additional_directories<I, P>(mut self, directories: I) -> Self
    where
        I: IntoIterator<Item = P>,
        P: Into<PathBuf>,
    {
        self.process.additional_directories = directories.into_iter().map(Into::into).collect();
        self
    }

    /// The trusted checkout of which [`Options::cwd`] is a worktree, absolute: project settings, hooks and
    /// `.mcp.json` come from there. Needs a CLI that knows the option, see [`super::GATES`].
    pub fn project_config_root(mut self, directory: impl Into<PathBuf>) -> Self {
        self.process.project_config_root = Some(directory.into());
        self
    }

    /// The CLI to run, a binary or a script. Default: the one found on this machine, see [`super::Search`].
    pub fn path_to_claude_code_executable(mut self, path: impl Into<PathBuf>) -> Self {
        self.process.path = Some(path.into());
        self
    }

    /// Runtime for a CLI that is a script; a binary does not need one.
    pub fn executable(mut self, runtime: Runtime) -> Self {
        self.process.executable = Some(runtime);
        self
    }

    /// Arguments put first: those of the runtime for a script, else the CLI's own.
    pub fn executable_args<I, S>(mut self, args: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: Into<String>,
    {
        self.process.executable_args = strings(args);
        self
    }

    /// Sets one environment variable of the process.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.process.env = self.process.env.set(name, value);
        self
    }

    /// Removes one environment variable of the process.
    pub fn env_remove(mut self, name: impl Into<OsString>) -> Self {
        self.process.env = self.process.env.remove(name);
        self
    }

    /// The whole environment; replaces what was set before.
    pub fn environment(mut self, environment: Environment) -> Self {
        self.process.env = environment;
        self
    }

    /// Adds a flag this crate has no option for, without its dashes: `.extra_flag("flag")` gives `--flag`.
    pub fn extra_flag(mut self, name: impl Into<String>) -> Self {
        self.process.extra_args.push(ExtraArg {
            name: name.into(),
            value: None,
        });
        self
    }

    /// Adds an argument this crate has no option for: `.extra_arg("foo", "bar")` gives `--foo bar`.
    pub fn extra_arg(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.process.extra_args.push(ExtraArg {
            name: name.into(),
            value: Some(value.into()),
        });
        self
    }

    /// Writes debug messages to standard error.
    pub fn debug(mut self, debug: bool) -> Self {
        self.process.debug = debug;
        self
    }

    /// Writes debug messages to this file; implies [`Options::debug`].
    pub fn debug_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.process.debug_file = Some(path.into());
        self
    }

    /// How long the process may take from its start to its answer to `initialize`. Default: 60 s.
    pub fn load_timeout(mut self, timeout: Duration) -> Self {
        self.process.load_timeout = timeout;
        self
    }

    /// How long the CLI may take to answer a control request. Default: 60 s.
    pub fn control_timeout(mut self, timeout: Duration) -> Self {
        self.process.control_timeout = timeout;
        self
    }

    /// How long each step of ending the process may take before the next, harder one.
    pub fn grace(mut self, grace: Grace) -> Self {
        self.process.grace = grace;
        self
    }

    /// Ends the process and the stream of messages when this fires, whatever is going on.
    ///
    /// Dropping the session or query does the same; this is for a caller that does not hold it.
    pub fn abort(mut self, token: CancellationToken) -> Self {
        self.process.abort = Some(token);
        self
    }
}
