//! Where the repository and its build products are, and how cargo is called for it.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Variables that would steer a CLI under test, or hand it the developer's own account.
const SCRUBBED_PREFIXES: [&str; 3] = ["ANTHROPIC_", "CLAUDE_", "CLAUDECODE"];

/// The root of the repository: the folder above this crate.
pub(crate) fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_owned()
}

/// The folder cargo builds into.
pub(crate) fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR").filter(|value| !value.is_empty()) {
        Some(folder) => root().join(folder),
        None => root().join("target"),
    }
}

/// A program of the workspace, as the default profile builds it.
pub(crate) fn built(program: &str) -> PathBuf {
    target().join("debug").join(program)
}

/// The same as a release.
pub(crate) fn released(program: &str) -> PathBuf {
    target().join("release").join(program)
}

/// `cargo <args>` in the root of the repository.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let mut cargo = Command::new("cargo");
    cargo.args(args);
    at_root(cargo)
}

/// Lets a command start in the root, without variables that do not belong into a build or a test.
pub(crate) fn at_root(mut command: Command) -> Command {
    command.current_dir(root());
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(is_scrubbed) {
            command.env_remove(name);
        }
    }
    command
}

fn is_scrubbed(name: &str) -> bool {
    SCRUBBED_PREFIXES
        .iter()
        .any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_holds_the_workspace() {
        assert!(root().join("Cargo.lock").is_file());
    }

    #[test]
    fn an_account_of_the_developer_does_not_reach_tests() {
        assert!(is_scrubbed("ANTHROPIC_API_KEY"));
        assert!(is_scrubbed("CLAUDE_CONFIG_DIR"));
        assert!(is_scrubbed("CLAUDECODE"));
        assert!(!is_scrubbed("ESTELLE_CLAUDE_197"));
    }
}
