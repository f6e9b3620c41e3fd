//! Makes the working directory of a stdio server hold.
//!
//! The CLI accepts a `cwd` in a server's configuration and ignores it (2.1.197 and 2.1.325 both start every server in
//! their own working directory). A POSIX shell that changes directory and then becomes the server gives the same
//! effect: same process id, same pipes, same signals. The script holds no `${…}`, which the CLI would expand.

use std::path::Path;

/// The shell that changes directory.
pub(super) const SHELL: &str = "/bin/sh";

/// An inherited `CDPATH` would make `cd` print the directory on the pipe that carries MCP messages.
pub(super) const SCRIPT: &str = r#"CDPATH= cd -- "$1" && shift && exec "$@""#;

/// The arguments for [`SHELL`] that run `command` with `args` in `cwd`.
pub(super) fn arguments(cwd: &Path, command: &str, args: &[String]) -> Vec<String> {
    let mut all = Vec::with_capacity(args.len() + 5);
    all.extend([
        "-c".to_owned(),
        SCRIPT.to_owned(),
        "sh".to_owned(),
        directory(cwd),
        command.to_owned(),
    ]);
    all.extend_from_slice(args);
    all
}

/// `cd` gives `-` and the empty string a meaning of their own, which a leading `./` takes away.
fn directory(cwd: &Path) -> String {
    let text = cwd.to_string_lossy();
    if text.starts_with(['/', '.', '$']) {
        text.into_owned()
    } else {
        format!("./{text}")
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::process::Command;

    use super::*;

    #[test]
    fn the_program_runs_in_the_directory_with_its_arguments_untouched() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let dir = root.path().join("a b'\"$x-");
        std::fs::create_dir(&dir).expect("a folder");
        let args = [
            "-c",
            "pwd -P; printf '%s|' \"$@\"",
            "sh",
            "a b",
            "$HOME",
            "",
            "*",
        ]
        .map(str::to_owned);
        let output = Command::new(SHELL)
            .args(arguments(&dir, "sh", &args))
            .env("CDPATH", "/:/usr")
            .output()
            .expect("the shell runs");
        let physical = dir.canonicalize().expect("the folder exists");
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            format!("{}\na b|$HOME||*|", physical.display())
        );
    }

    #[test]
    fn a_missing_directory_ends_it_without_running_the_program() {
        let args = arguments(
            Path::new("/does/not/exist"),
            "sh",
            &["-c".into(), "echo ran".into()],
        );
        let output = Command::new(SHELL)
            .args(args)
            .output()
            .expect("the shell runs");
        assert!(!output.status.success());
        assert!(output.stdout.is_empty(), "nothing may reach the MCP pipe");
    }

    #[test]
    fn odd_relative_names_are_names() {
        let root = tempfile::tempdir().expect("a temporary folder");
        std::fs::create_dir(root.path().join("-")).expect("a folder");
        let output = Command::new(SHELL)
            .args(arguments(&PathBuf::from("-"), "pwd", &[]))
            .current_dir(root.path())
            .output()
            .expect("the shell runs");
        assert!(String::from_utf8_lossy(&output.stdout).ends_with("/-\n"));
    }
}
