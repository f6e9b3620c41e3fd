//! Which files a command names, and which of them it writes.
//!
//! Every word that could be a file counts as read, except for programs that only print or search for it. Words are
//! also looked at behind `=`, `:` and `@`, where `--file=.env`, `HEAD:.env` and `-d @.env` hide a name.

use super::{Invocation, options, walk::Walker};

/// Programs that write every file they are given.
const WRITE_ALL: [&str; 10] = [
    "tee", "truncate", "shred", "touch", "unlink", "srm", "chattr", "patch", "ed", "ex",
];
/// Programs that write their last word.
const WRITE_LAST: [&str; 7] = ["cp", "mv", "install", "ln", "rsync", "scp", "dd"];
/// Options behind which a file to write stands, by program.
const OUTPUT_OPTIONS: [(&str, &[&str]); 8] = [
    ("curl", &["-o", "--output"]),
    (
        "wget",
        &["-O", "--output-document", "-P", "--directory-prefix"],
    ),
    ("sort", &["-o", "--output"]),
    ("gcc", &["-o"]),
    ("find", &["-fprint", "-fprint0", "-fls", "-fprintf"]),
    ("openssl", &["-out"]),
    ("gpg", &["-o", "--output"]),
    ("jq", &[]),
];

impl Walker<'_> {
    /// Notes the files of a command.
    pub(super) fn effects(&mut self, command: &Invocation) {
        let name = command.name();
        let arguments = command.arguments();
        self.written(&name, arguments);
        let becomes_words = self.substitutions > 0 && matches!(name.as_str(), "echo" | "printf");
        if options::PRINTERS.contains(&name.as_str()) && !becomes_words {
            return;
        }
        if name == "git" {
            return self.read_by_git(arguments);
        }
        let skipped = pattern_position(&name, arguments);
        for (at, word) in arguments.iter().enumerate() {
            let is_sought = name == "find"
                && at > 0
                && is_find_test(&arguments[at - 1])
                && !has_action(arguments);
            if Some(at) != skipped && !is_sought {
                self.mention_all(word);
            }
        }
    }

    fn read_by_git(&mut self, arguments: &[String]) {
        let mut is_message = false;
        for word in arguments {
            if !is_message {
                self.mention_all(word);
            }
            is_message = ["-m", "--message", "-am", "--grep", "-S", "-G"].contains(&word.as_str());
        }
    }

    /// The word itself and what stands behind the signs that join names to something else.
    fn mention_all(&mut self, word: &str) {
        let joined = word
            .char_indices()
            .filter(|(_, symbol)| matches!(symbol, '=' | ':' | '@' | ','));
        let mut tails: Vec<&str> = joined.map(|(at, _)| &word[at + 1..]).collect();
        if word.starts_with('-')
            && !word.starts_with("--")
            && word.is_char_boundary(2.min(word.len()))
        {
            tails.extend(word.get(2..));
        } else if !word.starts_with('-') {
            tails.push(word);
        }
        for tail in tails {
            // A name with blanks in its last component is far more often a sentence.
            let last = tail.rsplit('/').next().unwrap_or(tail);
            if !last.is_empty() && !last.contains(char::is_whitespace) {
                self.mention(tail);
            }
        }
    }

    fn written(&mut self, name: &str, arguments: &[String]) {
        let plain = || arguments.iter().filter(|word| !word.starts_with('-'));
        if WRITE_ALL.contains(&name) {
            plain().for_each(|word| self.write(word));
        }
        if WRITE_LAST.contains(&name) {
            if let Some(last) = plain().next_back() {
                self.write_into(last, plain());
            }
            if name == "mv" {
                plain().for_each(|word| self.write(word));
            }
        }
        for word in arguments {
            let target = word.strip_prefix("of=").filter(|_| name == "dd");
            let target = target.or_else(|| word.strip_prefix("--target-directory="));
            if let Some(target) = target {
                self.write(target);
            }
        }
        let edits_in_place = matches!(name, "sed" | "gsed" | "perl" | "ruby")
            && arguments.iter().any(|word| {
                word.starts_with("-i") || word.starts_with("--in-place") || word == "-pi"
            });
        if edits_in_place {
            plain().for_each(|word| self.write(word));
        }
        self.written_by_option(name, arguments);
    }

    /// A copy may go to the name given, or into a folder of that name.
    fn write_into<'w>(&mut self, target: &str, sources: impl Iterator<Item = &'w String>) {
        self.write(target);
        for source in sources {
            if let Some(last) = source
                .rsplit('/')
                .next()
                .filter(|last| !last.is_empty() && *last != target)
            {
                let inside = format!("{}/{last}", target.trim_end_matches('/'));
                self.write(&inside);
            }
        }
    }

    fn written_by_option(&mut self, name: &str, arguments: &[String]) {
        let Some((_, names)) = OUTPUT_OPTIONS.iter().find(|(program, _)| *program == name) else {
            return;
        };
        for (at, word) in arguments.iter().enumerate() {
            for option in *names {
                if word == option {
                    arguments
                        .get(at + 1)
                        .into_iter()
                        .for_each(|target| self.write(target));
                } else if let Some(target) = word.strip_prefix(option) {
                    self.write(target.trim_start_matches('='));
                }
            }
        }
    }
}

/// Where the pattern of a searching program stands, if it is not given by an option.
fn pattern_position(name: &str, arguments: &[String]) -> Option<usize> {
    let by_option = arguments
        .iter()
        .any(|word| word == "-e" || word == "-f" || word.starts_with("--regexp"));
    if !options::SEARCHERS.contains(&name) || by_option {
        return None;
    }
    arguments.iter().position(|word| !word.starts_with('-'))
}

fn is_find_test(word: &str) -> bool {
    [
        "-name",
        "-iname",
        "-path",
        "-ipath",
        "-wholename",
        "-regex",
        "-iregex",
        "-lname",
    ]
    .contains(&word)
}

fn has_action(arguments: &[String]) -> bool {
    arguments.iter().any(|word| {
        word.starts_with("-exec") || word.starts_with("-ok") || word.starts_with("-fprint")
    })
}
