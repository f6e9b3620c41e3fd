//! Calls that can reach our own data without naming it: searches and copies that begin above the data folder, and lines
//! that nobody can read but in which its path stands.
//!
//! None of this is certain, so none of it is refused: a person is asked, in every mode and order.

use serde_json::Value;

use super::{
    glob::{self, ANY, STAR, shown},
    paths::{Place, absolute, fold, is_within},
    reason::Doubt,
    rules::Call,
    shell::{Facts, Invocation},
};

/// Searches; the first plain word of one is what it looks for.
const SEARCHES: [&str; 6] = ["grep", "egrep", "fgrep", "zgrep", "rg", "ag"];
/// Programs that take folders whole.
const WHOLE: [&str; 4] = ["rg", "ag", "tar", "rsync"];
/// Programs that take folders whole when they are told to.
const RECURSIVE: [&str; 7] = ["grep", "egrep", "fgrep", "zgrep", "cp", "scp", "zip"];

/// Whether the call can reach one of the `folders`, which are ours, folded and absolute.
pub(super) fn find(call: &Call<'_>, folders: &[String]) -> Option<Doubt> {
    let reached = match (call.tool, call.facts) {
        (_, Some(facts)) => {
            let commands = facts.commands.iter();
            let mut found = commands.filter_map(|command| from_above(command, call.place, folders));
            found.next().or_else(|| mentioned(facts, call, folders))
        }
        ("Grep", None) => {
            let root = text(call.input, "path").unwrap_or(call.place.cwd);
            let root = absolute(root, call.place.cwd, call.place.home);
            is_above(&root, call.place, folders).then_some(root)
        }
        ("Glob", None) => listed(call.input, call.place, folders),
        _ => None,
    };
    reached.map(|what| Doubt::OwnData(shown(&what)))
}

/// The folder that a search of names goes through, if names of ours can be among what it finds.
fn listed(input: &Value, place: Place<'_>, folders: &[String]) -> Option<String> {
    let root = absolute(
        text(input, "path").unwrap_or(place.cwd),
        place.cwd,
        place.home,
    );
    let real = place.real(&root);
    let pattern = open(text(input, "pattern")?);
    let mut roots = [Some(root), real].into_iter().flatten();
    roots.find(|root| {
        let whole = if pattern.starts_with(['/', '~']) {
            pattern.clone()
        } else {
            format!("{root}/{pattern}")
        };
        let found = fold(&absolute(&whole, root, place.home));
        glob::is_open(&found) && folders.iter().any(|folder| meets(&found, folder))
    })
}

/// A pattern for names with everything marked that can be one of many.
fn open(pattern: &str) -> String {
    let mut rest = pattern;
    let mut open = String::new();
    while let Some(at) = rest.find(['{', '[']) {
        let (before, behind) = rest.split_at(at);
        open.push_str(before);
        let (end, mark) = if behind.starts_with('{') {
            ('}', ANY)
        } else {
            (']', STAR)
        };
        open.push(mark);
        // Braces may stand in braces: what is left of them behind the first end only makes the pattern narrower.
        rest = behind.rsplit_once(end).map_or("", |(_, rest)| rest);
    }
    glob::path_pattern(&(open + rest))
}

fn meets(path: &str, folder: &str) -> bool {
    let below = format!("{}/{ANY}", folder.trim_end_matches('/'));
    glob::can_meet(path, folder) || glob::can_meet(path, &below)
}

/// The folder above ours that a command takes whole.
fn from_above(command: &Invocation, place: Place<'_>, folders: &[String]) -> Option<String> {
    let name = command.name();
    let options = || {
        command
            .arguments()
            .iter()
            .filter(|word| word.starts_with('-'))
    };
    let is_recursive = |word: &String| {
        let is_short = !word.starts_with("--") && word.contains(['r', 'R', 'a']);
        let is_long = ["--recursive", "--dereference-recursive", "--archive"];
        is_short || is_long.contains(&word.as_str())
    };
    let takes_whole = WHOLE.contains(&name.as_str())
        || (RECURSIVE.contains(&name.as_str()) && options().any(is_recursive))
        || (name == "find" && command.arguments().windows(2).any(hands_on));
    let cwd = command.cwd.as_deref().filter(|_| takes_whole)?;
    let mut roots: Vec<&str> = command.arguments().iter().map(String::as_str).collect();
    roots.retain(|word| !word.starts_with('-'));
    if SEARCHES.contains(&name.as_str()) {
        let names_pattern = |word: &String| {
            word.starts_with("-e") || word.starts_with("-f") || word.starts_with("--regexp")
        };
        if !roots.is_empty() && !options().any(names_pattern) {
            roots.remove(0);
        }
        if roots.is_empty() {
            roots.push(cwd);
        }
    }
    let mut roots = roots
        .into_iter()
        .map(|root| absolute(root, cwd, place.home));
    roots.find(|root| is_above(root, place, folders))
}

/// Whether `find` hands what it finds to a program that may read it. Removing shows nothing and has a list of its own.
fn hands_on(words: &[String]) -> bool {
    let [act, program] = words else { return false };
    (act.starts_with("-exec") || act.starts_with("-ok")) && program != "rm"
}

/// Whether one of the folders is the path, or lies somewhere below it.
fn is_above(path: &str, place: Place<'_>, folders: &[String]) -> bool {
    let real = place.real(path);
    let paths = [Some(fold(path)), real.map(|real| fold(&real))];
    paths.into_iter().flatten().any(|path| {
        let is_rooted = path.starts_with('/');
        let mut ours = folders.iter();
        is_rooted && ours.any(|folder| is_within(folder, &path) || may_be_above(&path, folder))
    })
}

/// The same for a path of which parts are not known.
fn may_be_above(path: &str, folder: &str) -> bool {
    let mut ends = folder.match_indices('/').map(|(at, _)| at).skip(1);
    glob::is_open(path) && ends.any(|end| glob::can_meet(path, &folder[..end]))
}

/// A line that the grammar does not take, with our path or that of open files in it.
fn mentioned(facts: &Facts, call: &Call<'_>, folders: &[String]) -> Option<String> {
    let line = text(call.input, "command").filter(|_| !facts.is_parsed())?;
    let plain: String = line
        .chars()
        .filter(|symbol| !matches!(symbol, '\'' | '"' | '\\'))
        .collect();
    let plain = plain.to_lowercase();
    let home = call.place.home.map(fold);
    let below_home = |folder: &String| {
        let below = folder.strip_prefix(home.as_ref()?)?.strip_prefix('/')?;
        (!below.is_empty()).then(|| below.to_owned())
    };
    let ours = folders.iter().cloned();
    let mut names = ours.chain(folders.iter().filter_map(below_home));
    let is_named = plain.contains("/proc/") || names.any(|name| plain.contains(&name));
    is_named.then(|| line.to_owned())
}

fn text<'a>(input: &'a Value, key: &str) -> Option<&'a str> {
    input.get(key).and_then(Value::as_str)
}
