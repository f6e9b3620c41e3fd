//! From options to program, command line and environment.
//!
//! [`Options::launch`] is pure: it decides everything from the options and the version, touches no disk and
//! reads no variable. The arguments themselves are in `arguments`. Starting the process is the transport's part.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;

use super::{Cli, CliVersion, MINIMUM_VERSION, Options, gates, validate};

/// How this SDK names itself to the CLI.
const ENTRYPOINT: &str = "sdk-rs";

/// Variables of this program that must not reach the CLI: the first two change how its runtime behaves, the
/// third makes it believe that it runs inside another Claude Code.
const REMOVED: [&str; 3] = ["NODE_OPTIONS", "DEBUG", "CLAUDECODE"];

/// Everything needed to start the process.
///
/// `Debug` shows neither values of variables nor arguments that may hold secrets.
#[derive(Clone, PartialEq, Eq)]
pub struct Launch {
    /// The program: the CLI, or the runtime that runs it.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Changes to the environment.
    pub env: LaunchEnv,
    /// Working directory; that of this program if none.
    pub cwd: Option<PathBuf>,
}

/// Changes to the environment of the process, in this order: clear, remove, set.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct LaunchEnv {
    /// Whether nothing is inherited.
    pub clear: bool,
    /// Variables taken away.
    pub remove: BTreeSet<OsString>,
    /// Variables set.
    pub set: BTreeMap<OsString, OsString>,
}

/// Why the options cannot be started with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// Two options exclude each other.
    #[error("the options `{first}` and `{second}` exclude each other: {advice}")]
    Contradiction {
        /// One option.
        first: &'static str,
        /// The other.
        second: &'static str,
        /// What to do.
        advice: &'static str,
    },
    /// An option makes no sense without another.
    #[error("the option `{option}` needs `{needs}`: {advice}")]
    Requires {
        /// The option that was given.
        option: &'static str,
        /// The one that is missing.
        needs: &'static str,
        /// What to do.
        advice: &'static str,
    },
    /// A value is out of range or malformed.
    #[error("the option `{option}` cannot be {value}: {reason}")]
    Value {
        /// The option.
        option: &'static str,
        /// The value, or what kind of thing it is.
        value: String,
        /// What it must be.
        reason: &'static str,
    },
    /// The operating system could not pass an argument on.
    #[error("the argument `{flag}` cannot be passed: {reason}")]
    Argument {
        /// The argument, or the one in front of it.
        flag: String,
        /// What it must be.
        reason: &'static str,
    },
    /// The installed CLI does not know an option yet.
    #[error(
        "the option `{option}` needs Claude Code {needed} or newer, but {found} is installed and would exit at \
         once over `{flag}`: run `claude update`, or leave the option out"
    )]
    OptionTooNew {
        /// The option.
        option: &'static str,
        /// The argument the CLI would refuse.
        flag: &'static str,
        /// The installed version.
        found: CliVersion,
        /// The first version known to take it.
        needed: CliVersion,
    },
    /// The installed CLI is older than anything this crate is tested with.
    #[error(
        "Claude Code {found} is too old, {needed} or newer is needed: run `claude update`, or \
         `npm install -g @anthropic-ai/claude-code@latest` if it came from npm"
    )]
    CliTooOld {
        /// The installed version.
        found: CliVersion,
        /// The oldest version that will do.
        needed: CliVersion,
    },
}

impl Options {
    /// The command line and environment for this CLI, or the first thing that is wrong with the options.
    ///
    /// ```
    /// use estelle_claude::options::{Cli, CliVersion, Options};
    ///
    /// let cli = Cli::new("/usr/bin/claude", CliVersion::new(2, 1, 325));
    /// let launch = Options::new().model("haiku").launch(&cli)?;
    /// assert!(launch.args.contains(&"--model=haiku".into()));
    /// # Ok::<(), estelle_claude::options::LaunchError>(())
    /// ```
    pub fn launch(&self, cli: &Cli) -> Result<Launch, LaunchError> {
        validate::check(self)?;
        if cli.version() < MINIMUM_VERSION {
            return Err(LaunchError::CliTooOld {
                found: cli.version(),
                needed: MINIMUM_VERSION,
            });
        }
        gates::check(self, cli.version())?;
        let (program, mut args) =
            cli.command(self.process.executable, &self.process.executable_args);
        args.extend(self.arguments());
        validate::check_arguments(&args)?;
        Ok(Launch {
            program,
            args,
            env: self.environment_changes(),
            cwd: self.process.cwd.clone(),
        })
    }

    pub(crate) fn environment_changes(&self) -> LaunchEnv {
        let given = &self.process.env;
        let mut env = LaunchEnv {
            clear: given.clean,
            ..LaunchEnv::default()
        };
        let mut add = |name: &str, value: &str| {
            if !given.decides(name) {
                env.set.insert(name.into(), value.into());
            }
        };
        add("CLAUDE_CODE_ENTRYPOINT", ENTRYPOINT);
        add("CLAUDE_AGENT_SDK_VERSION", env!("CARGO_PKG_VERSION"));
        add("CLAUDE_CODE_SDK_READS_SESSION_STATE", "1");
        if self.stream.session_state_events {
            add("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", "1");
        }
        if self.session.file_checkpointing {
            add("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING", "true");
        }
        if let Some(preview) = self.tools.config.question_preview {
            add("CLAUDE_CODE_QUESTION_PREVIEW_FORMAT", preview.as_str());
        }
        let removed = REMOVED.iter().filter(|name| !given.decides(name));
        env.remove.extend(removed.map(OsString::from));
        for (name, value) in &given.changes {
            match value {
                Some(value) => {
                    env.set.insert(name.clone(), value.clone());
                }
                None => {
                    env.remove.insert(name.clone());
                }
            }
        }
        env
    }
}

impl Launch {
    /// The command, without any decision about pipes or process groups.
    pub fn command(&self) -> std::process::Command {
        let mut command = std::process::Command::new(&self.program);
        command.args(&self.args);
        if self.env.clear {
            command.env_clear();
        }
        for name in &self.env.remove {
            command.env_remove(name);
        }
        command.envs(&self.env.set);
        if let Some(cwd) = &self.cwd {
            command.current_dir(cwd);
        }
        command
    }
}

impl fmt::Debug for Launch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Launch")
            .field("program", &self.program)
            .field("args", &shown(&self.args))
            .field("env", &self.env)
            .field("cwd", &self.cwd)
            .finish()
    }
}

/// The arguments without values that stand alone: settings, MCP configurations and extra arguments may hold tokens.
fn shown(args: &[OsString]) -> Vec<&OsStr> {
    let harmless = |arg: &OsStr| arg == "stream-json" || arg.as_encoded_bytes().starts_with(b"--");
    args.iter()
        .map(|arg| {
            if harmless(arg) {
                arg.as_os_str()
            } else {
                OsStr::new("<hidden>")
            }
        })
        .collect()
}

impl fmt::Debug for LaunchEnv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LaunchEnv")
            .field("clear", &self.clear)
            .field("remove", &self.remove)
            .field("set", &self.set.keys().collect::<Vec<_>>())
            .finish()
    }
}

#[cfg(test)]
#[path = "launch_tests.rs"]
mod tests;
