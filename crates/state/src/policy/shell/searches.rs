//! Searches that meet files with secrets, and files of which only the run will tell which they are.
//!
//! A search through everything meets hidden files as well. Asking about each would be asking about half of what is done
//! in a project, so only those are doubted that look for a secret, or for anything. None of this is refused outright.

use super::{Invocation, options, walk::Walker};
use crate::policy::{
    glob::{ANY, STAR},
    reason::Doubt,
};

/// Programs that show or pass on what is in a file.
const SHOWING: [&str; 22] = [
    "cat", "bat", "tac", "nl", "head", "tail", "less", "more", "base64", "base32", "xxd", "od",
    "hexdump", "strings", "rev", "cp", "mv", "scp", "rsync", "tee", "dd", "install",
];

/// What names of secrets have in them.
const SECRETIVE: [&str; 7] = [
    "secret",
    "token",
    "passw",
    "credential",
    "apikey",
    "_key",
    "-key",
];

impl Walker<'_> {
    /// Files that come out of a pipe may be ones with secrets, and so may those of a process that is computed.
    pub(super) fn unseen(&mut self, command: &Invocation, name: &str) {
        let is_unseen = |word: &String| {
            let is_open = word.contains([ANY, STAR]);
            (command.is_derived && is_any(word)) || (is_open && word.starts_with("/proc/"))
        };
        if SHOWING.contains(&name) && command.arguments().iter().any(is_unseen) {
            self.doubt(Doubt::PossibleSecret(command.line()));
        }
    }

    /// All that was ever committed, with its text, or a secret looked for in it: what is a secret no longer stands in the
    /// project, but it still stands there.
    fn history(&mut self, command: &Invocation) {
        let words = options::behind_git_options(command.arguments());
        let Some((subcommand, arguments)) = words.split_first() else {
            return;
        };
        let is_log = matches!(subcommand.as_str(), "log" | "whatchanged" | "reflog");
        let has = |tests: fn(&str) -> bool| arguments.iter().any(|word| tests(word));
        let shows = has(|word| {
            let is_short = !word.starts_with("--") && word.starts_with(['-']);
            matches!(word, "--patch" | "--patch-with-stat" | "-c" | "--cc")
                || (is_short && word.trim_start_matches('-').starts_with(['p', 'u']))
        });
        let is_few = has(|word| {
            let number = word.trim_start_matches("-n").trim_start_matches('-');
            word.starts_with("--max-count")
                || word == "-n"
                || (word.starts_with('-') && number.parse::<u32>().is_ok())
        });
        let is_narrow = has(|word| !word.starts_with('-'));
        let looks_for_secrets = arguments
            .iter()
            .zip(arguments.iter().skip(1))
            .any(|(word, next)| matches!(word.as_str(), "-S" | "-G") && is_secretive(next))
            || arguments.iter().any(|word| {
                let sought = word.strip_prefix("-S").or_else(|| word.strip_prefix("-G"));
                sought.is_some_and(|sought| !sought.is_empty() && is_secretive(sought))
            });
        if is_log && ((shows && !is_few && !is_narrow) || looks_for_secrets) {
            self.doubt(Doubt::PossibleSecret(command.line()));
        }
    }

    pub(super) fn search(&mut self, command: &Invocation, name: &str) {
        if name == "git" {
            return self.history(command);
        }
        let arguments = command.arguments();
        let options = arguments.iter().filter(|word| word.starts_with('-'));
        let mut plain = arguments.iter().filter(|word| !word.starts_with('-'));
        let is_narrow = options.clone().any(|word| {
            word.starts_with("--include") || word.starts_with("--glob") || word.starts_with("-g")
        });
        if is_narrow
            || !options
                .map(String::as_str)
                .any(|word| meets_hidden(name, word))
        {
            return;
        }
        let looks_for_secrets = plain.next().is_some_and(|pattern| is_secretive(pattern));
        let mut places = plain.peekable();
        let is_wide = places.peek().is_none() || places.any(|place| is_whole(place));
        if looks_for_secrets && is_wide {
            self.doubt(Doubt::PossibleSecret(command.line()));
        }
    }
}

/// Whether nothing at all is known of a word.
pub(super) fn is_any(word: &str) -> bool {
    word.chars().eq([ANY])
}

/// Whether an option makes a search go through hidden files.
fn meets_hidden(name: &str, option: &str) -> bool {
    let has = |letter: char| !option.starts_with("--") && option.contains(letter);
    match name {
        "grep" | "egrep" | "fgrep" | "zgrep" => {
            has('r') || has('R') || matches!(option, "--recursive" | "--dereference-recursive")
        }
        "rg" => option == "--hidden" || has('.') || option.contains("uu"),
        "ag" => matches!(option, "--hidden" | "--unrestricted") || has('u'),
        _ => false,
    }
}

/// Whether a place holds everything of a project, or more.
fn is_whole(place: &str) -> bool {
    let place = place.trim_end_matches('/');
    place.is_empty() || matches!(place, "." | ".." | "~" | "../..")
}

/// Whether a pattern finds any line, or names a secret.
pub(in crate::policy) fn is_secretive(pattern: &str) -> bool {
    let letters = pattern.to_lowercase();
    let is_any = !letters.contains(char::is_alphanumeric);
    is_any || letters == "key" || SECRETIVE.iter().any(|part| letters.contains(part))
}
