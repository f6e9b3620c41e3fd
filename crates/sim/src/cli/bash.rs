//! Commands: which of them only read, and what they pretend to print.
//!
//! **Invariant:** nothing is ever executed. A command is split at `;`, `&&`, `||` and `|`; each part is known by its first
//! word. What is not known is neither read-only nor run, it prints one line that says so.

/// Commands that change nothing.
const READERS: &[&str] = &[
    "basename", "cat", "cd", "cut", "date", "df", "diff", "dirname", "du", "echo", "false", "file",
    "find", "grep", "head", "hostname", "id", "ls", "printf", "ps", "pwd", "realpath", "rg", "seq",
    "sleep", "sort", "stat", "tail", "test", "tr", "true", "uname", "uniq", "wc", "which",
    "whoami",
];
/// Commands that change files, whose path decides.
const CHANGERS: &[&str] = &["cp", "mkdir", "mv", "rm", "rmdir", "sed", "touch"];
const GIT_READERS: &[&str] = &["blame", "branch", "diff", "log", "show", "status"];

/// What a command does to files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nothing.
    Reads,
    /// It changes this path.
    Changes(String),
    /// It writes its output into this path.
    Redirects(String),
    /// Not known.
    Unknown,
}

/// What a command pretends to have done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// How long it takes.
    pub(crate) sleep_ms: u64,
    /// What it prints.
    pub(crate) stdout: String,
    /// Its exit code.
    pub(crate) code: i32,
    /// Whether no output is to be expected of it.
    pub(crate) silent: bool,
}

/// Splits a command at its operators, outside of quotes.
fn parts(command: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut quote = None;
    let mut letters = command.chars().peekable();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), _) if open == letter => quote = None,
            (None, '\'' | '"') => quote = Some(letter),
            (None, ';' | '|' | '&' | '\n') => {
                if letters.peek() == Some(&letter) {
                    letters.next();
                }
                parts.push(String::new());
                continue;
            }
            (Some(_) | None, _) => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(letter);
        }
    }
    parts
        .into_iter()
        .map(|part| part.trim().to_owned())
        .filter(|part| !part.is_empty())
        .collect()
}

fn words(part: &str) -> Vec<String> {
    part.split_whitespace()
        .map(|word| word.trim_matches(['\'', '"']).to_owned())
        .collect()
}

/// What a command does to files; the worst part counts.
pub(crate) fn effect(command: &str) -> Effect {
    if command.contains("$(") || command.contains('`') {
        return Effect::Unknown;
    }
    let mut worst = Effect::Reads;
    for part in parts(command) {
        match part_effect(&part) {
            Effect::Reads => {}
            Effect::Unknown => return Effect::Unknown,
            found @ (Effect::Changes(_) | Effect::Redirects(_)) => {
                if worst == Effect::Reads {
                    worst = found;
                }
            }
        }
    }
    worst
}

fn part_effect(part: &str) -> Effect {
    if let Some((_, target)) = part.split_once('>') {
        let target = target.trim_start_matches('>').trim();
        let path = words(target).into_iter().next().unwrap_or_default();
        if path != "/dev/null" && !path.starts_with('&') {
            return Effect::Redirects(path);
        }
    }
    let words = words(part);
    let first = words.first().map(String::as_str).unwrap_or_default();
    let second = words.get(1).map(String::as_str).unwrap_or_default();
    if READERS.contains(&first) || (first == "git" && GIT_READERS.contains(&second)) {
        return Effect::Reads;
    }
    if CHANGERS.contains(&first) {
        let path = words
            .into_iter()
            .skip(1)
            .rfind(|word| !word.starts_with('-'));
        return Effect::Changes(path.unwrap_or_default());
    }
    Effect::Unknown
}

/// What a command pretends to have done.
pub(crate) fn pretend(command: &str) -> Outcome {
    let mut outcome = Outcome {
        sleep_ms: 0,
        stdout: String::new(),
        code: 0,
        silent: false,
    };
    for part in parts(command) {
        let words = words(&part);
        let first = words.first().map(String::as_str).unwrap_or_default();
        outcome.code = 0;
        match first {
            "echo" | "printf" => {
                let said = part.get(first.len()..).unwrap_or_default();
                if !part.contains('>') {
                    outcome
                        .stdout
                        .push_str(said.trim().trim_matches(['\'', '"']));
                    outcome.stdout.push('\n');
                }
            }
            "sleep" => outcome.sleep_ms += seconds(words.get(1)),
            "false" => outcome.code = 1,
            "true" | "cd" => {}
            "chown" | "chmod" => outcome.silent = true,
            _ if CHANGERS.contains(&first) => outcome.silent = true,
            _ if part.contains('>') => {}
            _ => outcome.stdout.extend(["[simulated] ", &part, "\n"]),
        }
    }
    outcome.stdout = outcome.stdout.trim_end().to_owned();
    outcome
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "seconds of a sleep"
)]
fn seconds(word: Option<&String>) -> u64 {
    let seconds: f64 = word.and_then(|word| word.parse().ok()).unwrap_or_default();
    (seconds.max(0.0) * 1000.0) as u64
}

#[cfg(test)]
mod tests {
    use super::{Effect, effect, pretend};

    #[test]
    fn what_runs_unasked() {
        for command in [
            "cat .env",
            "sleep 2; echo x",
            "ls -l | wc -l",
            "git status",
            "echo 'a; rm b'",
        ] {
            assert_eq!(effect(command), Effect::Reads, "{command}");
        }
    }

    #[test]
    fn what_is_asked_for() {
        assert_eq!(effect("chown 0 /etc/x"), Effect::Unknown);
        assert_eq!(effect("echo $(rm x)"), Effect::Unknown);
        assert_eq!(effect("touch /a/b"), Effect::Changes("/a/b".to_owned()));
        assert_eq!(effect("ls > o.txt"), Effect::Redirects("o.txt".to_owned()));
        assert_eq!(effect("cat a; curl x"), Effect::Unknown);
        assert_eq!(effect("cat a 2>/dev/null"), Effect::Reads);
    }

    #[test]
    fn what_it_pretends() {
        let outcome = pretend("sleep 0.5; echo 'slept'");
        assert_eq!((outcome.sleep_ms, outcome.stdout.as_str()), (500, "slept"));
        assert_eq!(pretend("false").code, 1);
        assert!(pretend("mkdir x").silent);
    }
}
