//! Texts that do not belong into the tree: unfinished work, silenced lints, traces of one machine.

use super::{Finding, SourceFile};

/// Marks of unfinished work, in any file but lock files.
const UNFINISHED: [&str; 2] = ["TODO", "FIXME"];
/// Ways to silence a lint without a reason, in Rust files.
const SILENCED: [&str; 2] = ["#[allow(", "#![allow("];
/// Files that may do so, with the reason. The list may only shrink.
///
/// In a macro the lint fires for some expansions and not for others, so an expectation could not hold.
const MAY_SILENCE: [&str; 1] = ["crates/sim/src/cli/json.rs"];
/// Folders of one machine.
const MACHINE: [&str; 4] = ["/work/", "/root/", "/tmp/npm", "/tmp/wt"];
/// Places packages come from; which one is used is the business of each machine.
const REGISTRIES: [&str; 5] = [
    "registry.npmjs.org",
    "index.crates.io",
    "static.crates.io",
    "registry.yarnpkg.com",
    "files.pythonhosted.org",
];
/// Hosts that the lock files of cargo and npm name by their own rules.
const LOCK_HOSTS: [&str; 2] = ["https://github.com/", "https://registry.npmjs.org/"];

/// No banned text. This folder is left out: it spells out what is refused.
pub(super) fn banned_words(file: &SourceFile) -> Vec<Finding> {
    if file.path.starts_with("xtask/src/tidy/") {
        return Vec::new();
    }
    let is_lock = ["Cargo.lock", "package-lock.json"].contains(&file.name());
    let is_guarded = file.is_rust() && !MAY_SILENCE.contains(&file.path.as_str());
    let judge = match (is_lock, is_guarded) {
        (true, _) => refuse_in_lock,
        (false, true) => refuse_in_rust,
        (false, false) => refuse_in_text,
    };
    let lines = file.text.lines().enumerate();
    let refused = lines.filter_map(|(index, line)| Some((index + 1, judge(line)?)));
    refused
        .map(|(number, message)| file.finding_at(number, message))
        .collect()
}

fn refuse_in_lock(line: &str) -> Option<String> {
    let mut addresses = line
        .match_indices("https://")
        .chain(line.match_indices("http://"));
    let foreign =
        addresses.find(|(at, _)| !LOCK_HOSTS.iter().any(|host| line[*at..].starts_with(host)))?;
    // The address of a homepage or of a funding page is not where a package comes from.
    let is_source = line.contains("resolved") || line.contains("source");
    is_source.then(|| {
        format!(
            "a lock file names {:?}; make it with the public registry",
            &line[foreign.0..]
        )
    })
}

fn refuse_in_rust(line: &str) -> Option<String> {
    if SILENCED.iter().any(|silenced| line.contains(silenced)) {
        return Some("use `#[expect(lint, reason = \"...\")]`, which goes stale loudly".to_owned());
    }
    refuse_in_text(line)
}

fn refuse_in_text(line: &str) -> Option<String> {
    if let Some(word) = UNFINISHED.iter().find(|word| has_word(line, word)) {
        return Some(format!("{word}: finish it or leave it out"));
    }
    if let Some(folder) = MACHINE.iter().find(|folder| has_folder(line, folder)) {
        return Some(format!("{folder} is a folder of one machine"));
    }
    let registry = REGISTRIES.iter().find(|host| line.contains(*host))?;
    Some(format!(
        "{registry} is set by each machine, not by the project"
    ))
}

fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let mut places = line.match_indices(word);
    places.any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + word.len()..]);
        !is_part(before.chars().next_back()) && !is_part(after.chars().next())
    })
}

/// The folder at the start of a path, not in the middle of one (`/home/a/work/`).
fn has_folder(line: &str, folder: &str) -> bool {
    let mut places = line.match_indices(folder);
    places.any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "._-~}>$".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::complaints;

    fn check(path: &str, text: &str) -> Vec<usize> {
        complaints(banned_words, path, text)
    }

    #[test]
    fn unfinished_work_is_refused() {
        assert_eq!(check("docs/a.md", "fine\nTODO: later\n"), [2]);
        assert_eq!(check("a.rs", "// FIXME\n"), [1]);
        assert!(check("a.rs", "const AUTODOCS: u8 = 1; // TODOS\n").is_empty());
    }

    #[test]
    fn silenced_lints_are_refused() {
        assert_eq!(
            check("a.rs", "#[allow(dead_code)]\n    #![allow(unused)]\n"),
            [1, 2]
        );
        let listed = "#[allow(dead_code)]\n// TODO\n";
        assert_eq!(check(MAY_SILENCE[0], listed), [2]);
        assert!(check("a.rs", "#[expect(dead_code, reason = \"x\")]\n").is_empty());
    }

    #[test]
    fn traces_of_one_machine_are_refused() {
        assert_eq!(check("a.rs", "let a = \"/root/x\";\n"), [1]);
        assert_eq!(check("run.sh", "cd /work/main\n"), [1]);
        assert!(check("a.rs", "let a = \"/home/me/work/x\"; // ~/root/a\n").is_empty());
        assert_eq!(
            check(".npmrc", "registry=https://registry.npmjs.org/\n"),
            [1]
        );
    }

    #[test]
    fn a_lock_file_names_public_hosts_only() {
        let ours = "\"resolved\": \"https://registry.npmjs.org/a/-/a-1.tgz\"\n";
        assert!(check("web/package-lock.json", ours).is_empty());
        let mirror = "\"resolved\": \"http://mirror.local/a/-/a-1.tgz\"\n";
        assert_eq!(check("web/package-lock.json", mirror), [1]);
        assert!(
            check(
                "Cargo.lock",
                "source = \"registry+https://github.com/rust-lang/crates.io-index\"\n"
            )
            .is_empty()
        );
    }
}
