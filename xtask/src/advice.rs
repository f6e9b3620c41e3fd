//! Turns what a failed tool printed into one sentence that says what to do.
//!
//! Pure: text in, sentence out. The order of the table matters, the first match wins: a full disk or a dead
//! network makes all sorts of later complaints.

use crate::command::{Cause, Failure};

const NO_NETWORK: &str = "the package registry cannot be reached; check the network (and HTTPS_PROXY or the \
    registry set for npm and cargo, if you use one) and run the same command again";
const DISK_FULL: &str = "the disk is full; free some space (`df -h` shows where), or point XDG_CACHE_HOME and \
    CARGO_TARGET_DIR at folders on a larger disk, and run the same command again";
const NO_C_COMPILER: &str = "install a C and C++ compiler (Debian, Ubuntu: `sudo apt-get install build-essential`) and run \
    the same command again";
const NO_PERMISSION: &str = "a file could not be written; check who owns the folder named above (an earlier run \
    with sudo is the usual reason)";
const NO_NODE: &str = "install Node 20 or newer, which brings npm (Debian: `sudo apt-get install nodejs npm`, or \
    a version manager), and run the same command again";
const NO_CARGO: &str =
    "install Rust with rustup; the version is then taken from rust-toolchain.toml";
const NOT_FORMATTED: &str = "run `cargo fmt`";
const LOCK_STALE: &str =
    "Cargo.lock does not match the manifests; run `cargo check` once and commit Cargo.lock";
const UNKNOWN_VERSION: &str =
    "the registry does not have this version; if you use a mirror, it may not carry it";
const COMPONENT: &str =
    "install the missing part of the toolchain: `rustup component add clippy rustfmt`";

/// A piece of output and the sentence for it.
const BY_OUTPUT: [(&str, &str); 24] = [
    ("No space left on device", DISK_FULL),
    ("ENOSPC", DISK_FULL),
    ("Disk quota exceeded", DISK_FULL),
    ("ENOTFOUND", NO_NETWORK),
    ("EAI_AGAIN", NO_NETWORK),
    ("ECONNREFUSED", NO_NETWORK),
    ("ECONNRESET", NO_NETWORK),
    ("ETIMEDOUT", NO_NETWORK),
    ("ENETUNREACH", NO_NETWORK),
    ("Could not resolve host", NO_NETWORK),
    ("Couldn't resolve host", NO_NETWORK),
    ("Could not connect to server", NO_NETWORK),
    ("Couldn't connect to server", NO_NETWORK),
    ("spurious network error", NO_NETWORK),
    ("failed to download from", NO_NETWORK),
    ("ETARGET", UNKNOWN_VERSION),
    ("E404", UNKNOWN_VERSION),
    ("linker `cc` not found", NO_C_COMPILER),
    ("is `c++` not installed?", NO_C_COMPILER),
    ("is `cc` not installed?", NO_C_COMPILER),
    ("failed to find tool", NO_C_COMPILER),
    ("EACCES", NO_PERMISSION),
    ("Permission denied (os error 13)", NO_PERMISSION),
    ("because --locked was passed", LOCK_STALE),
];

/// The sentence for an error of a step, if its cause is one we know.
pub(crate) fn for_error(error: &anyhow::Error) -> Option<&'static str> {
    if let Some(failure) = error.chain().find_map(|e| e.downcast_ref::<Failure>()) {
        return for_failure(failure);
    }
    for_output(&format!("{error:#}"))
}

fn for_failure(failure: &Failure) -> Option<&'static str> {
    match &failure.cause {
        Cause::NotFound(program) => match program.as_str() {
            "node" | "npm" => Some(NO_NODE),
            "cargo" | "rustc" => Some(NO_CARGO),
            "cc" | "c++" => Some(NO_C_COMPILER),
            _ => None,
        },
        Cause::Start(_, error) => for_output(&error.to_string()),
        Cause::TimedOut(_) => Some(
            "run the step alone to see where it stands; on a slow machine or line, run the same command again: \
             what is already built or downloaded is kept",
        ),
        Cause::Exit(_) => for_output(&failure.output),
    }
}

fn for_output(output: &str) -> Option<&'static str> {
    if output.contains("is not installed for the toolchain") {
        return Some(COMPONENT);
    }
    if output.lines().any(|line| line.starts_with("Diff in ")) {
        return Some(NOT_FORMATTED);
    }
    let known = BY_OUTPUT.iter().find(|(piece, _)| output.contains(piece));
    known.map(|(_, sentence)| *sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn npm_without_network() {
        let output = "npm error code ECONNREFUSED\nnpm error errno ECONNREFUSED\n";
        assert_eq!(for_output(output), Some(NO_NETWORK));
    }

    #[test]
    fn a_full_disk_wins_over_what_follows_from_it() {
        let output = "write: ENOSPC\nnpm error EACCES\nnpm error ECONNRESET\n";
        assert_eq!(for_output(output), Some(DISK_FULL));
    }

    #[test]
    fn a_missing_linker() {
        assert_eq!(
            for_output("error: linker `cc` not found"),
            Some(NO_C_COMPILER)
        );
    }

    #[test]
    fn unformatted_code() {
        let output = "Diff in src/a.rs:1:\n-a\n+b\n";
        assert_eq!(for_output(output), Some(NOT_FORMATTED));
    }

    #[test]
    fn a_failing_test_needs_no_advice() {
        assert_eq!(for_output("assertion `left == right` failed"), None);
    }
}
