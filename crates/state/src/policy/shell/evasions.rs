//! Harmless programs with options that are not: ways to run, write or send something under a good name.
//!
//! Each finding is a doubt, so that a person looks at it; none of these is refused outright.

use super::{Invocation, known, options, walk::Walker};
use crate::policy::reason::Doubt;

/// Options of harmless programs that start another one, or write where nobody looks. Any unambiguous beginning of a
/// long option counts, because the programs take it as well.
const INDIRECT: [(&str, &[&str]); 16] = [
    ("gdb", &["-ex", "-x", "--eval-command", "--command"]),
    ("tcpdump", &["-z"]),
    ("sort", &["--compress-program"]),
    ("man", &["-P", "--pager", "-H", "--html", "-B"]),
    ("rg", &["--pre", "--hostname-bin"]),
    (
        "tar",
        &[
            "--checkpoint-action",
            "--to-command",
            "-I",
            "--use-compress-program",
            "-F",
            "--info-script",
            "--rsh-command",
            "--rmt-command",
        ],
    ),
    ("zip", &["-TT", "--unzip-command"]),
    ("rsync", &["-e", "--rsh", "--rsync-path"]),
    ("ssh", &["-o", "-F", "-R", "-L", "-D", "-w"]),
    ("scp", &["-S", "-o", "-F"]),
    ("less", &["-k", "--lesskey-file"]),
    ("vim", &["-c", "--cmd", "-S", "-u"]),
    ("nvim", &["-c", "--cmd", "-S", "-u"]),
    ("emacs", &["--eval", "-l", "--load", "--batch", "-f"]),
    ("fd", &["-x", "--exec", "-X", "--exec-batch"]),
    ("go", &["-exec", "-toolexec", "-vettool"]),
];

const GIT_INDIRECT: [&str; 11] = [
    "-c",
    "--config-env",
    "--exec-path",
    "--upload-pack",
    "--receive-pack",
    "--output",
    "--ext-diff",
    "--textconv",
    "--exec",
    "--open-files-in-pager",
    "--template",
];

impl Walker<'_> {
    pub(super) fn git(&mut self, command: &Invocation) {
        let arguments = command.arguments();
        let rest = options::behind_git_options(arguments);
        let sub = rest.first().map(String::as_str).unwrap_or_default();
        let has_indirect = arguments
            .iter()
            .any(|word| GIT_INDIRECT.iter().any(|option| abbreviates(word, option)));
        let second = rest.get(1).map(String::as_str).unwrap_or_default();
        let runs = matches!((sub, second), ("bisect", "run") | ("submodule", "foreach"))
            || matches!(
                sub,
                "filter-branch" | "difftool" | "mergetool" | "daemon" | "instaweb"
            )
            || (sub == "rebase" && rest.iter().any(|word| word == "-x" || word == "--exec"))
            || (sub == "grep" && rest.iter().any(|word| word.starts_with("-O")))
            || (sub == "config" && rest.iter().any(|word| names_program(word)));
        let is_commit_shape =
            sub == "commit" || sub == "switch" || sub == "checkout" || sub == "branch";
        let own_c = arguments
            .iter()
            .take(arguments.len() - rest.len())
            .any(|word| word == "-c");
        if runs || own_c || (has_indirect && !is_commit_shape) {
            self.doubt(Doubt::Indirection(command.line()));
        }
        let goes_away =
            |word: &String| word.contains("://") || (word.contains('@') && word.contains(':'));
        if (sub == "push" && rest.iter().any(goes_away))
            || (sub == "remote" && matches!(second, "add" | "set-url"))
        {
            self.doubt(Doubt::Exposure(command.line()));
        }
    }

    pub(super) fn processes(&mut self, command: &Invocation) {
        // The old notation without a dash: `ps auxe` prints environments.
        if command
            .arguments()
            .iter()
            .any(|word| !word.starts_with('-') && word.contains('e') && word.len() < 8)
        {
            self.doubt(Doubt::Exposure(command.line()));
        }
    }

    pub(super) fn lookup(&mut self, command: &Invocation) {
        if command.arguments().iter().any(|word| known(word).is_none()) {
            self.doubt(Doubt::Exposure(command.line()));
        }
    }

    pub(super) fn transfer(&mut self, command: &Invocation) {
        let sends = [
            "-d",
            "--data",
            "-F",
            "--form",
            "-T",
            "--upload-file",
            "--post-data",
            "--post-file",
            "--body-file",
        ];
        let is_sending = |word: &String| sends.iter().any(|option| word.starts_with(option));
        let computed = command.arguments().iter().any(|word| known(word).is_none());
        if computed || command.arguments().iter().any(is_sending) {
            self.doubt(Doubt::Exposure(command.line()));
        }
    }

    pub(super) fn awk(&mut self, command: &Invocation) {
        let runs = |word: &String| {
            let word = word.replace("||", "");
            word.contains("system")
                || word.contains('|')
                || word.contains("getline")
                || word.contains("@load")
                || word.contains("> \"")
                || word.contains(">\"")
                || known(&word).is_none()
        };
        if command.arguments().iter().any(runs) {
            self.doubt(Doubt::ForeignCode(command.line()));
        }
    }

    pub(super) fn sed(&mut self, command: &Invocation) {
        let arguments = command.arguments();
        let scripts = arguments
            .iter()
            .filter(|word| !word.starts_with('-') || word.starts_with("-e"));
        for script in scripts {
            if sed_runs(script.trim_start_matches("-e")) {
                self.doubt(Doubt::ForeignCode(command.line()));
            }
        }
    }

    pub(super) fn indirect(&mut self, command: &Invocation, name: &str) {
        let Some((_, listed)) = INDIRECT.iter().find(|(program, _)| *program == name) else {
            return;
        };
        let uses = |word: &String| listed.iter().any(|option| abbreviates(word, option));
        if command.arguments().iter().any(uses) {
            let line = command.line();
            self.doubt(if name == "ssh" {
                Doubt::Exposure(line)
            } else {
                Doubt::Indirection(line)
            });
        }
    }
}

/// Whether a word is the option, with a value joined to it, or an abbreviation of a long one.
fn abbreviates(word: &str, option: &str) -> bool {
    if !option.starts_with("--") {
        return word == option
            || (word.starts_with(option)
                && option.len() == 2
                && !word.starts_with("--")
                && option != "-c");
    }
    let name = word.split('=').next().unwrap_or(word);
    name.len() > 3 && option.starts_with(name)
}

/// Settings of git whose value is run.
fn names_program(word: &str) -> bool {
    let word = word.to_lowercase();
    [
        "core.fsmonitor",
        "core.hookspath",
        "core.sshcommand",
        "core.pager",
        "core.editor",
        "alias.",
        "diff.external",
        "credential.helper",
        "filter.",
        "sequence.editor",
        "core.askpass",
        "gpg.program",
        "pager.",
    ]
    .iter()
    .any(|name| word.starts_with(name))
}

/// Whether a sed script runs a command or writes a file: `e` and `w` as commands or as flags of `s`.
fn sed_runs(script: &str) -> bool {
    script
        .split([';', '\n', '{', '}'])
        .map(str::trim)
        .any(|part| {
            let address =
                |symbol: char| symbol.is_ascii_digit() || matches!(symbol, '$' | ',' | ' ' | '!');
            let part = part.trim_start_matches(address);
            if let Some(body) = part.strip_prefix('s') {
                let Some(delimiter) = body.chars().next() else {
                    return false;
                };
                let flags = body.rsplit(delimiter).next().unwrap_or_default();
                return body.matches(delimiter).count() >= 3 && flags.contains(['e', 'w']);
            }
            part.starts_with("e ")
                || part == "e"
                || part.starts_with("w ")
                || part.starts_with("W ")
        })
}
