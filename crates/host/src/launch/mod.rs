//! From a conversation's settings to a process: what is executed, with which arguments, in which environment.
//!
//! [`find_cli`] finds the program and pins its real path, [`prepare`] checks the folder and writes the arguments.
//! Every run is told to ask before **every** tool ([`ASK_RULES`]); what is allowed is the policy's to say, never the
//! CLI's. What a folder brings is loaded only when it is trusted ([`FolderTrust`]). Nothing here starts a process beyond `--version`.
//!
//! **Invariant:** no argument holds a secret. The tool servers go into a file of the run's folder.

mod cli;
mod environment;
mod frozen;
mod gate;
mod prepare;
mod servers;
mod wish;

#[cfg(test)]
mod launch_tests;

pub use cli::{FindCliError, find_cli};
pub use environment::run_marker;
pub(crate) use environment::{RUN_VARIABLE, is_inherited};
pub use frozen::FrozenProject;
pub(crate) use gate::OF_A_PLUGIN;
pub use gate::{ASK_RULES, CliMode, Hooks};
pub use prepare::{LaunchRefused, Prepared, RunFile, check_folder, greeting, prepare};
pub use servers::{FolderServers, ServerWarning};
pub use wish::{FolderTrust, LaunchWish};
