//! Which files a call touches, and what the lists say about them and about its commands.
//!
//! File tools name their file in a known field. For tools of MCP servers every text in the input may be a path into our
//! own data, and every field with a telling name may be a protected file. Links are followed by the caller's resolver,
//! so that a harmless name does not hide a protected target.

use serde_json::Value;

use super::{
    Policy, danger,
    glob::{self, shown},
    paths::{LONGEST, Place, absolute, fold, is_within, may_be_within},
    patterns::{DenyPatterns, Hit, PathList},
    reach,
    reason::{Doubt, Reason},
    rules::{Call, is_editor, is_reader},
    shell::{self, Facts},
};

/// How many texts of an input are looked at that could be paths, and how many values in search of them. What is beyond
/// is not judged, so a person is asked.
const MOST_TEXTS: usize = 2000;
const MOST_VALUES: usize = 100_000;

/// What the lists say.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// It touches our own data: refused in every mode and order.
    pub(super) own_data: Option<Reason>,
    /// It reads a message that lies in our own data for that.
    pub(super) message: Option<Reason>,
    /// A deny pattern in the narrow sense: writing protected files, dangerous commands.
    pub(super) refusal: Option<Reason>,
    /// What is refused in addition when refusals come first: reading secrets, writing control files.
    pub(super) guarded: Option<Reason>,
    /// Why it may touch our own data although that was not seen: asked in every mode and order.
    pub(super) unseen: Option<Doubt>,
    /// What cannot be known about a command.
    pub(super) doubt: Option<Doubt>,
    /// A doubt that counts when refusals come first.
    pub(super) guarded_doubt: Option<Doubt>,
}

/// What the command line of a Bash call would do.
pub(super) fn examine(input: &Value, place: Place<'_>) -> Facts {
    match input.get("command").and_then(Value::as_str) {
        Some(command) => shell::examine(command, place),
        None => Facts {
            doubts: vec![Doubt::MalformedInput],
            ..Facts::default()
        },
    }
}

/// The absolute paths that the input of a tool other than Bash names, with what they really are.
pub(super) fn named(tool: &str, input: &Value, place: Place<'_>) -> Vec<String> {
    let mut texts = Vec::new();
    if is_editor(tool) || is_reader(tool) {
        let keys = ["file_path", "notebook_path", "path", "glob"];
        texts.extend(
            keys.iter()
                .filter_map(|key| input.get(*key)?.as_str())
                .map(str::to_owned),
        );
        if tool == "Grep"
            && let Some(pattern) = texts.last_mut().filter(|_| input.get("glob").is_some())
        {
            *pattern = glob::path_pattern(pattern);
        }
    } else if tool != "Bash" {
        // An input with more than is looked at is asked about anyway, see `Found::own`.
        let _ = collect(input, &mut |key, text| {
            let key = key.to_lowercase();
            if ["path", "file", "uri", "dir", "folder"]
                .iter()
                .any(|part| key.contains(part))
            {
                texts.push(text.to_owned());
            }
        });
    }
    texts.retain(|text| text.len() <= LONGEST);
    let mut all = Vec::new();
    for text in &texts {
        add(&mut all, absolute(text, place.cwd, place.home), place);
        let climbed = place.climbed(text, place.cwd);
        all.extend(climbed.filter(|path| !all.contains(path)));
    }
    all
}

/// Each path, behind what it really is if it leads through links.
pub(super) fn resolved(paths: impl Iterator<Item = String>, place: Place<'_>) -> Vec<String> {
    let mut all = Vec::new();
    paths.for_each(|path| add(&mut all, path, place));
    all
}

fn add(all: &mut Vec<String>, path: String, place: Place<'_>) {
    all.extend(place.real(&path));
    all.push(path);
}

/// Hands over every text that can be a path, with the name of its field. False when there is more than is looked at.
fn collect(value: &Value, take: &mut impl FnMut(&str, &str)) -> bool {
    let mut left = vec![("", value)];
    let (mut values, mut texts) = (0, 0);
    while let Some((key, value)) = left.pop() {
        values += 1;
        match value {
            Value::String(text) if text.len() <= LONGEST && !text.contains('\n') => {
                texts += 1;
                take(key, text);
            }
            Value::Array(values) => left.extend(values.iter().map(|value| (key, value))),
            Value::Object(fields) => {
                left.extend(fields.iter().map(|(key, value)| (key.as_str(), value)));
            }
            Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
        if (texts >= MOST_TEXTS || values >= MOST_VALUES) && !left.is_empty() {
            return false;
        }
    }
    true
}

/// Holds the call against the lists.
pub(super) fn find(policy: &Policy, call: &Call<'_>) -> Found {
    let mut found = Found::default();
    let lists = Lists::new(&policy.patterns);
    let is_known = is_editor(call.tool) || is_reader(call.tool);
    if is_known && call.paths.is_empty() && call.tool != "Grep" && call.tool != "Glob" {
        found.doubt = Some(Doubt::MalformedInput);
    }
    found.own(call);
    if let Some(facts) = call.facts {
        let danger = danger::find(facts, &policy.patterns, call.place);
        found.refusal = danger.refusal;
        found.doubt = facts
            .doubts
            .iter()
            .chain(&danger.doubts)
            .next()
            .cloned()
            .map(readable);
        found.written(&lists, &with_twins(call.writes, call.place));
        found.read(&lists, &with_twins(call.reads, call.place));
    } else if is_reader(call.tool) {
        found.read(&lists, &with_twins(call.paths, call.place));
        found.searched(call);
    } else {
        let paths = with_twins(call.paths, call.place);
        found.written(&lists, &paths);
        found.read(&lists, &paths);
    }
    found
}

/// The paths with all other names that are known of the same files.
fn with_twins(paths: &[String], place: Place<'_>) -> Vec<String> {
    let known = paths.iter().filter(|path| !glob::is_open(path));
    let twins = known.flat_map(|path| (place.twins)(path));
    let twins: Vec<String> = twins.collect();
    paths.iter().cloned().chain(twins).collect()
}

/// The doubt without marks in its text.
fn readable(doubt: Doubt) -> Doubt {
    match doubt {
        Doubt::Unparsable(text) => Doubt::Unparsable(shown(&text)),
        Doubt::ComputedCommand(text) => Doubt::ComputedCommand(shown(&text)),
        Doubt::ForeignCode(text) => Doubt::ForeignCode(shown(&text)),
        Doubt::Indirection(text) => Doubt::Indirection(shown(&text)),
        Doubt::UnknownTarget(text) => Doubt::UnknownTarget(shown(&text)),
        Doubt::PossibleSecret(text) => Doubt::PossibleSecret(shown(&text)),
        Doubt::Exposure(text) => Doubt::Exposure(shown(&text)),
        Doubt::OwnData(text) => Doubt::OwnData(shown(&text)),
        other @ (Doubt::TooComplex
        | Doubt::HiddenCharacters
        | Doubt::MalformedInput
        | Doubt::UnreadableInput) => other,
    }
}

impl Found {
    /// Our own data folder, and the input of the CLI, through which an agent could answer its own questions.
    fn own(&mut self, call: &Call<'_>) {
        let place = call.place;
        let mut paths = with_twins(call.paths, place);
        if let Some(facts) = call.facts {
            paths.extend(with_twins(call.reads, place));
            paths.extend(with_twins(call.writes, place));
            paths.extend(facts.commands.iter().flat_map(|command| {
                let cwd = command.cwd.clone();
                let base = cwd.unwrap_or_else(|| glob::ANY.to_string());
                let words = command.words.iter();
                words.map(move |word| absolute(word, &base, place.home))
            }));
            let folders = facts
                .commands
                .iter()
                .filter_map(|command| command.cwd.clone());
            paths.extend(resolved(distinct(folders), place));
        } else {
            let is_seen = collect(call.input, &mut |_, text| {
                add(&mut paths, absolute(text, place.cwd, place.home), place);
                paths.extend(place.climbed(text, place.cwd));
            });
            self.unseen = (!is_seen).then_some(Doubt::TooComplex);
        }
        let folders = place.data_folder.map(|folder| {
            let real = (place.resolve)(folder);
            [Some(fold(folder)), real.map(|real| fold(&real))]
        });
        let folders: Vec<String> = folders.into_iter().flatten().flatten().collect();
        let message = message_file(call);
        self.message = message.map(|path| Reason::UserMessage {
            path: path.to_owned(),
        });
        let named: Vec<String> = call.paths.iter().map(|path| fold(path)).collect();
        let mut others = paths.iter().filter(|path| message != Some(path.as_str()));
        let touched = others.find(|path| {
            let path = fold(path);
            folders
                .iter()
                .any(|folder| is_within(&path, folder) || may_be_within(&path, folder))
                || descriptor(&path) == Some(Process::Other)
                || (call.facts.is_none() && is_own_descriptor(&path, &named))
        });
        self.own_data = touched.map(|path| Reason::DataFolder { path: shown(path) });
        self.unseen = self.unseen.take().or_else(|| reach::find(call, &folders));
    }

    fn written(&mut self, lists: &Lists<'_>, paths: &[String]) {
        for path in paths {
            let folded = fold(path);
            if lists.exempt.has(&folded) {
                continue;
            }
            match lists.protected.find(&folded) {
                Some((pattern, Hit::Certain)) => {
                    self.refusal.get_or_insert_with(|| protected(path, pattern));
                }
                Some((_, Hit::Possible)) => {
                    self.doubt
                        .get_or_insert_with(|| Doubt::PossibleSecret(shown(path)));
                }
                None => {}
            }
            self.guard(&lists.control, path, &folded);
            self.guard(&lists.secrets, path, &folded);
        }
    }

    fn read(&mut self, lists: &Lists<'_>, paths: &[String]) {
        for path in paths {
            let folded = fold(path);
            if !lists.exempt.has(&folded) {
                self.guard(&lists.protected, path, &folded);
                self.guard(&lists.secrets, path, &folded);
            }
        }
    }

    /// A search of the whole project that shows lines, for a secret: as `grep -r` of a shell is doubted.
    fn searched(&mut self, call: &Call<'_>) {
        let text = |key: &str| call.input.get(key).and_then(Value::as_str);
        let is_narrow = ["glob", "type"].iter().any(|key| text(key).is_some());
        let shows_lines = !matches!(
            text("output_mode").unwrap_or("files_with_matches"),
            "files_with_matches" | "count"
        );
        if call.tool != "Grep" || is_narrow || !shows_lines {
            return;
        }
        let pattern = text("pattern").unwrap_or_default();
        let is_wide = call.paths.is_empty()
            || call
                .paths
                .iter()
                .any(|path| is_within(call.place.cwd, path));
        if is_wide && shell::is_secretive(pattern) {
            self.guarded_doubt
                .get_or_insert_with(|| Doubt::PossibleSecret(format!("Grep {pattern}")));
        }
    }

    fn guard(&mut self, list: &PathList<'_>, path: &str, folded: &str) {
        match list.find(folded) {
            Some((pattern, Hit::Certain)) => {
                self.guarded.get_or_insert_with(|| protected(path, pattern));
            }
            Some((_, Hit::Possible)) => {
                self.guarded_doubt
                    .get_or_insert_with(|| Doubt::PossibleSecret(shown(path)));
            }
            None => {}
        }
    }
}

/// The message of the user that the call reads. Its path must be given letter by letter, as the process was told it, and
/// still be that file: with any other spelling it would be for the system to find out which file is meant.
fn message_file<'a>(call: &Call<'a>) -> Option<&'a str> {
    let field = match call.tool {
        "Read" => "file_path",
        "Grep" => "path",
        _ => return None,
    };
    let path = call.input.get(field)?.as_str()?;
    let is_listed = call.place.messages.iter().any(|file| file == path);
    let real = is_listed.then(|| (call.place.resolve)(path)).flatten()?;
    (real == path).then_some(path)
}

/// The lists of files in the form in which they are compared.
struct Lists<'a> {
    protected: PathList<'a>,
    secrets: PathList<'a>,
    control: PathList<'a>,
    exempt: PathList<'a>,
}

impl<'a> Lists<'a> {
    fn new(patterns: &'a DenyPatterns) -> Self {
        Self {
            protected: PathList::new(&patterns.protected),
            secrets: PathList::new(&patterns.secrets),
            control: PathList::new(&patterns.control),
            exempt: PathList::new(&patterns.exempt),
        }
    }
}

/// Each path once: a line may name the same file over and over.
pub(super) fn distinct(paths: impl Iterator<Item = String>) -> impl Iterator<Item = String> {
    paths.collect::<std::collections::BTreeSet<_>>().into_iter()
}

fn protected(path: &str, pattern: &str) -> Reason {
    Reason::ProtectedFile {
        path: shown(path),
        pattern: pattern.to_owned(),
    }
}

/// Whose open files a path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Process {
    /// Those of the process that opens it: of a command itself, but of the CLI when a file tool does.
    Own,
    /// Those of another process.
    Other,
}

/// Whether a file tool is told to open an open file or the memory of the process that it runs in. A text that merely
/// is such a name (a word to look for) is none.
fn is_own_descriptor(path: &str, named: &[String]) -> bool {
    descriptor(path).is_some() && named.iter().any(|named| named == path)
}

/// Whose open files or memory a folded path names: `/proc/<process>/fd/…`, also of a thread, and its names in `/dev`.
fn descriptor(path: &str) -> Option<Process> {
    let can_be = |part: &str, name: &str| glob::can_meet(part, name);
    let mut parts = path.strip_prefix('/')?.split('/');
    let (top, first) = (parts.next()?, parts.next()?);
    if top == "dev" {
        let is_one = ["stdin", "stdout", "stderr", "fd"].contains(&first);
        return is_one.then_some(Process::Own);
    }
    if top != "proc" {
        return None;
    }
    let mut below = parts.next()?;
    if can_be(below, "task") && parts.clone().nth(1).is_some() {
        parts.next();
        below = parts.next()?;
    }
    let is_open_file = can_be(below, "fd") || can_be(below, "mem");
    let process = match first {
        "self" | "thread-self" => Process::Own,
        _ => Process::Other,
    };
    is_open_file.then_some(process)
}
