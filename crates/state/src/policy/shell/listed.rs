//! Programs that are doubted by their name, or by their name and one of their words: those that hand out secrets, send
//! something away, or change the machine for everybody. None of them is refused outright.

use super::{Invocation, searches::is_any, walk::Walker};
use crate::policy::reason::Doubt;

/// A program and the words with which it is doubted; no words, whatever the words.
type Listed = (&'static str, &'static [&'static str]);

/// Programs that keep secrets or copy memory.
const KEEPERS: [Listed; 15] = [
    (
        "security",
        &[
            "find-generic-password",
            "find-internet-password",
            "dump-keychain",
            "export",
        ],
    ),
    ("secret-tool", &["lookup", "search"]),
    ("kwallet-query", &[]),
    ("pass", &[]),
    ("gopass", &[]),
    ("op", &["read", "item", "document"]),
    ("bw", &["get", "list", "export"]),
    ("gpg", &["--export-secret-keys", "--export-secret-subkeys"]),
    ("gh", &["token"]),
    ("gcloud", &["print-access-token", "print-identity-token"]),
    ("aws", &["export-credentials", "get-session-token"]),
    ("vault", &["read", "kv"]),
    ("kubectl", &["secret", "secrets"]),
    ("gcore", &[]),
    ("keyctl", &["print", "pipe", "read"]),
];

/// Programs that send something away, to people or to places.
const SENDERS: [Listed; 19] = [
    ("mail", &[]),
    ("mailx", &[]),
    ("mutt", &[]),
    ("sendmail", &[]),
    ("rclone", &[]),
    ("gsutil", &["cp", "mv", "rsync"]),
    ("aws", &["cp", "sync", "mv", "put-object"]),
    ("az", &["upload", "upload-batch"]),
    ("gh", &["gist"]),
    ("npm", &["publish"]),
    ("pnpm", &["publish"]),
    ("yarn", &["publish"]),
    ("cargo", &["publish"]),
    ("twine", &["upload"]),
    ("gem", &["push"]),
    ("docker", &["push"]),
    ("podman", &["push"]),
    ("httpd", &[]),
    ("ruby", &["-run"]),
];

/// Programs that change the machine for everybody on it.
const STEWARDS: [Listed; 21] = [
    ("useradd", &[]),
    ("adduser", &[]),
    ("usermod", &[]),
    ("userdel", &[]),
    ("passwd", &[]),
    ("chpasswd", &[]),
    ("visudo", &[]),
    ("iptables", &[]),
    ("ip6tables", &[]),
    ("nft", &[]),
    ("ufw", &[]),
    ("insmod", &[]),
    ("rmmod", &[]),
    ("modprobe", &[]),
    ("mount", &[]),
    ("umount", &[]),
    ("swapoff", &[]),
    ("sysctl", &["-w", "--write", "-p"]),
    ("setcap", &[]),
    ("chattr", &[]),
    ("nsenter", &[]),
];

/// Programs that run what they are told, in their own language or elsewhere.
const RUNNERS: [Listed; 7] = [
    ("ed", &[]),
    ("ex", &[]),
    ("screen", &[]),
    (
        "tmux",
        &[
            "new",
            "new-session",
            "neww",
            "new-window",
            "split-window",
            "send-keys",
            "run-shell",
        ],
    ),
    ("make", &["-", "--eval"]),
    ("gmake", &["-", "--eval"]),
    ("gdbserver", &[]),
];

/// Languages whose script may be something that nobody has seen.
const LANGUAGES: [&str; 6] = ["python", "node", "perl", "ruby", "php", "lua"];

impl Walker<'_> {
    pub(super) fn listed(&mut self, command: &Invocation, name: &str) {
        let arguments = command.arguments();
        let is_in = |list: &[Listed]| {
            let listed = list.iter().filter(|(listed, _)| *listed == name);
            let mut words = listed.map(|(_, words)| *words);
            words.any(|words| words.is_empty() || arguments.iter().any(|word| is_one(word, words)))
        };
        if is_in(&KEEPERS) {
            self.doubt(Doubt::PossibleSecret(command.line()));
        }
        if is_in(&SENDERS) || is_in(&STEWARDS) || opens(name, arguments) {
            self.doubt(Doubt::Exposure(command.line()));
        }
        if is_in(&RUNNERS) || hides_code(name, arguments) {
            self.doubt(Doubt::ForeignCode(command.line()));
        }
    }
}

/// Whether a word is one of these, with or without a value joined to it.
fn is_one(word: &str, words: &[&str]) -> bool {
    let plain = word.split('=').next().unwrap_or(word);
    words.contains(&word) || words.contains(&plain)
}

/// Rights of another user, folders of the machine in a container, copies to another machine.
fn opens(name: &str, arguments: &[String]) -> bool {
    match name {
        "chmod" => arguments.iter().any(|word| lends_rights(word)),
        "docker" | "podman" => arguments.iter().any(|word| {
            word == "--privileged"
                || word.starts_with("/:")
                || [
                    "-v/:",
                    "--volume=/:",
                    "type=bind,source=/,",
                    "type=bind,src=/,",
                ]
                .iter()
                .any(|start| word.contains(start))
        }),
        "scp" => arguments
            .last()
            .is_some_and(|word| word.contains(':') && !word.starts_with(['.', '/'])),
        _ => false,
    }
}

/// Whether a mode sets the user or group under which a file runs: `u+s`, `4755`.
fn lends_rights(mode: &str) -> bool {
    let is_number = mode.len() == 4 && mode.chars().all(|digit| digit.is_digit(8));
    let by_number = is_number && mode.starts_with(['2', '3', '4', '5', '6', '7']);
    let by_letter = mode
        .split_once(['+', '='])
        .is_some_and(|(who, what)| who.chars().all(|c| "ugoa".contains(c)) && what.contains('s'));
    by_number || by_letter
}

/// Whether a harmless program is given code in a place where nobody looks for it.
fn hides_code(name: &str, arguments: &[String]) -> bool {
    match name {
        "git" => arguments.iter().any(|word| word.contains("ext::")),
        "make" | "gmake" => arguments
            .iter()
            .any(|word| word.starts_with("SHELL=") || word.starts_with(".SHELLFLAGS=")),
        _ => {
            let mut plain = arguments.iter().filter(|word| !word.starts_with('-'));
            let is_unseen = plain.next().is_some_and(|script| is_any(script));
            is_unseen && LANGUAGES.iter().any(|language| name.starts_with(language))
        }
    }
}
