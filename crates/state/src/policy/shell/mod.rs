//! What a command line would do, found out with a real shell grammar.
//!
//! [`examine`] parses the text, walks the whole tree (lists, pipelines, subshells, substitutions, here-documents,
//! functions, loops) and returns [`Facts`]: every command with its words as far as they are known, the files it names
//! and writes, and doubts about everything that cannot be known without running it. It judges nothing.
//!
//! Limits come first: the parser descends recursively and goes back on errors, so length and nesting are bounded before
//! it sees the text. What is beyond them is a doubt, never a guess.

mod ansi;
mod compounds;
mod effects;
mod evasions;
mod listed;
mod options;
mod parse;
mod programs;
mod redirects;
mod searches;
mod walk;
mod words;

pub(super) use searches::is_secretive;

use super::{
    glob::{self, ANY},
    paths::{Place, is_hidden},
    reason::Doubt,
};

/// Everything that was found out about a command line.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// Every command, also those inside others.
    pub(super) commands: Vec<Invocation>,
    /// Absolute paths of everything that a command may read.
    pub(super) reads: Vec<String>,
    /// Absolute paths of everything that a command writes.
    pub(super) writes: Vec<String>,
    /// Those of `writes` that come from a redirection.
    pub(super) redirected: Vec<String>,
    /// What cannot be known.
    pub(super) doubts: Vec<Doubt>,
    /// A variable, function or alias changes what the names of programs mean, so that no rule can rely on them.
    pub(super) changes_names: bool,
    /// Functions that start themselves more than once: fork bombs.
    pub(super) bombs: Vec<String>,
}

impl Facts {
    /// Whether the grammar took the text at all.
    pub(super) fn is_parsed(&self) -> bool {
        !self.doubts.iter().any(|doubt| {
            matches!(
                doubt,
                Doubt::Unparsable(_)
                    | Doubt::TooComplex
                    | Doubt::HiddenCharacters
                    | Doubt::MalformedInput
            )
        })
    }
}

/// One command with its words; unknown parts are marked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Invocation {
    /// The words, the name first. Never empty.
    pub(super) words: Vec<String>,
    /// Where it runs, when that is known.
    pub(super) cwd: Option<String>,
    /// Found inside another command (`sudo x`, `sh -c x`), which therefore stands for it in allow rules.
    pub(super) is_derived: bool,
}

impl Invocation {
    /// The program's name without its folder, in small letters, as on file systems that ignore case.
    pub(super) fn name(&self) -> String {
        base_name(&self.words[0])
    }

    /// The words behind the name.
    pub(super) fn arguments(&self) -> &[String] {
        &self.words[1..]
    }

    /// The command as one line.
    pub(super) fn line(&self) -> String {
        self.words.join(" ")
    }

    /// The lines under which deny and ask rules look for the command: as written, by plain name, and for git without
    /// the options in front of its subcommand.
    pub(super) fn spellings(&self) -> Vec<String> {
        let mut words = vec![self.name()];
        words.extend_from_slice(self.arguments());
        let mut all = vec![self.line(), words.join(" ")];
        if words[0] == "git" {
            let rest = options::behind_git_options(self.arguments());
            all.push(format!("git {}", rest.join(" ")));
        }
        all
    }
}

/// The last component of a program's path, in small letters and without `.exe`. For zsh `=rm` is the path of `rm`.
fn base_name(word: &str) -> String {
    let word = word.strip_prefix('=').unwrap_or(word);
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    let name = name.to_lowercase();
    name.strip_suffix(".exe").map(str::to_owned).unwrap_or(name)
}

/// The text if nothing in it is unknown.
fn known(text: &str) -> Option<&str> {
    (!glob::is_open(text)).then_some(text)
}

/// Finds out what a command line would do.
pub(super) fn examine(command: &str, place: Place<'_>) -> Facts {
    let mut walker = walk::Walker::new(place, command);
    if command.len() > parse::MOST_BYTES {
        walker.doubt(Doubt::TooComplex);
        return walker.into_facts();
    }
    let hides =
        |symbol: char| (symbol.is_control() && !matches!(symbol, '\n' | '\t')) || is_hidden(symbol);
    if command.contains(hides) || command.contains([ANY, glob::STAR]) {
        walker.doubt(Doubt::HiddenCharacters);
    }
    walker.script(command);
    walker.into_facts()
}
