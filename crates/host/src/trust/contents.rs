//! What a folder brings: the pure part, from the bytes of its files to a description and a hash.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::launch::{FolderServers, FolderTrust, FrozenProject, Hooks, OF_A_PLUGIN};

/// A hash over everything that was found, as hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ContentHash(String);

impl ContentHash {
    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What a file is to the CLI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    /// `.mcp.json`.
    ToolServers,
    /// `.claude/settings.json` or `.claude/settings.local.json`.
    Settings,
    /// A sub-agent that brings hooks or tool servers.
    Agent,
    /// A skill that brings hooks.
    Skill,
}

/// One file that could make the CLI run something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    /// Its path.
    pub file: PathBuf,
    /// What it is.
    pub kind: Kind,
    /// What it could run or change, one short line each, for people to read.
    pub effects: Vec<String>,
}

/// Why the folder cannot be trusted, whatever a person says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "camelCase", tag = "problem")]
pub enum Problem {
    /// A link leads out of the folder, to something that may change unseen.
    #[error("{file:?} is a link to {target:?}, outside of its folder: put a copy in its place")]
    LinkOut {
        /// The link.
        file: PathBuf,
        /// Where it leads.
        target: PathBuf,
    },
    /// A file is too large to be shown and compared.
    #[error("{file:?} is too large: a configuration has at most {limit} bytes")]
    TooLarge {
        /// The file.
        file: PathBuf,
        /// The most bytes.
        limit: u64,
    },
    /// There are too many files.
    #[error("{folder:?} holds more than {limit} files: remove what is not needed")]
    TooMany {
        /// Where.
        folder: PathBuf,
        /// The most files.
        limit: usize,
    },
    /// Folders stand in folders more deeply than is looked.
    #[error(
        "{folder:?} is more than {limit} folders deep, where nothing is looked at: move what is needed further up, and \
         remove the rest"
    )]
    TooDeep {
        /// Where.
        folder: PathBuf,
        /// The deepest that is looked at.
        limit: usize,
    },
    /// A file cannot be read.
    #[error("{file:?} cannot be read ({reason}): check its permissions")]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The system's reason.
        reason: String,
    },
}

/// What a folder brings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FolderContents {
    /// The folder, without links.
    pub folder: PathBuf,
    /// A hash over the files.
    pub hash: ContentHash,
    /// The files that could run something, in the order of their paths.
    pub items: Vec<Item>,
    /// Why it cannot be trusted.
    pub problems: Vec<Problem>,
    /// A hash over the settings alone, which some versions of the CLI take in whenever they change.
    #[serde(skip)]
    pub settings: ContentHash,
    #[serde(skip)]
    hook_events: BTreeSet<String>,
    #[serde(skip)]
    frozen: Option<FrozenProject>,
    #[serde(skip)]
    servers: Option<FolderServers>,
}

/// A file that was read.
#[derive(Debug, Clone)]
pub(super) struct ReadFile {
    pub(super) path: PathBuf,
    pub(super) kind: Kind,
    pub(super) bytes: Vec<u8>,
}

impl FolderContents {
    pub(super) fn new(
        folder: PathBuf,
        mut files: Vec<ReadFile>,
        links: Vec<(PathBuf, PathBuf)>,
        problems: Vec<Problem>,
    ) -> Self {
        files.sort_by(|one, other| one.path.cmp(&other.path));
        let mut hasher = blake3::Hasher::new();
        let mut items = Vec::new();
        let mut hook_events = BTreeSet::new();
        for file in &files {
            let Some(effects) = effects(file, &mut hook_events) else {
                continue;
            };
            let path = file.path.as_os_str().as_encoded_bytes();
            // Lengths keep the parts apart, so that no two different folders look the same.
            for part in [path, &file.bytes] {
                hasher.update(&(part.len() as u64).to_le_bytes());
                hasher.update(part);
            }
            items.push(Item {
                file: file.path.clone(),
                kind: file.kind,
                effects,
            });
        }
        // What names programs needs its folder around it.
        let frozen = hook_events
            .is_empty()
            .then(|| frozen(&folder, &files, links))
            .flatten();
        let settings = settings_hash(&files);
        let servers = files.iter().find(|file| file.kind == Kind::ToolServers);
        Self {
            settings,
            servers: servers.map(|file| FolderServers(file.bytes.clone())),
            folder,
            hash: ContentHash(hasher.finalize().to_hex().to_string()),
            items,
            problems,
            hook_events,
            frozen,
        }
    }

    /// Whether there is anything to trust or to distrust.
    pub fn brings_nothing(&self) -> bool {
        self.items.is_empty() && self.problems.is_empty()
    }

    /// What the folder brings, detached from it, for [`crate::launch::LaunchWish::frozen`].
    pub fn frozen(&self) -> Option<FrozenProject> {
        self.frozen.clone()
    }

    /// The tool servers of the folder, for [`crate::launch::LaunchWish::servers`].
    pub fn servers(&self) -> Option<FolderServers> {
        self.servers.clone()
    }

    /// Whether hooks run, given what the user's own settings have ([`user_hook_events`]) and whether the folder
    /// is trusted.
    pub fn hooks<'a>(
        &'a self,
        trust: FolderTrust,
        user_events: impl IntoIterator<Item = &'a str>,
    ) -> Hooks {
        let of_folder = self.hook_events.iter().map(String::as_str);
        let of_folder = of_folder.filter(|_| trust == FolderTrust::Granted);
        Hooks::decide(of_folder.chain(user_events))
    }
}

/// The hash over the settings among these files, which are in the order of their paths.
pub(super) fn settings_hash(files: &[ReadFile]) -> ContentHash {
    let mut hasher = blake3::Hasher::new();
    for file in files.iter().filter(|file| file.kind == Kind::Settings) {
        let path = file.path.as_os_str().as_encoded_bytes();
        for part in [path, &file.bytes] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
    }
    ContentHash(hasher.finalize().to_hex().to_string())
}

/// The settings of the folder as they are now; none if they name programs, which need the folder around them.
fn frozen(
    folder: &Path,
    files: &[ReadFile],
    links: Vec<(PathBuf, PathBuf)>,
) -> Option<FrozenProject> {
    let settings = files.iter().filter(|file| file.kind == Kind::Settings);
    if settings.clone().any(|file| names_programs(&file.bytes)) {
        return None;
    }
    let mut frozen = FrozenProject::default();
    for name in ["settings.json", "settings.local.json"] {
        let path = folder.join(".claude").join(name);
        let found = settings.clone().find(|file| file.path == path);
        let found = found.map(|file| (name.to_owned(), file.bytes.clone()));
        frozen.files.extend(found);
    }
    for (name, target) in links {
        // A skill has files around it that it names; an agent or a command is one text.
        let is_one_text = name.starts_with("agents") || name.starts_with("commands");
        let read = files.iter().find(|file| file.path == target);
        match (name.to_str(), read.filter(|_| is_one_text)) {
            (Some(name), Some(file)) => frozen.files.push((name.to_owned(), file.bytes.clone())),
            (Some(_) | None, _) => frozen.links.push((name, target)),
        }
    }
    Some(frozen)
}

fn names_programs(settings: &[u8]) -> bool {
    match parse(settings) {
        Ok(Value::Object(settings)) => COMMANDS.iter().any(|name| settings.contains_key(*name)),
        // What we cannot read the CLI may read.
        Ok(_) | Err(_) => true,
    }
}

/// The events for which a settings file of the user has hooks. Plugins count as hooks of an unknown event.
pub fn user_hook_events(settings: &[u8]) -> BTreeSet<String> {
    let mut events = BTreeSet::new();
    if let Ok(Value::Object(settings)) = parse(settings) {
        events.extend(hooks_in(&settings));
        if enables_plugins(&settings) {
            events.insert(OF_A_PLUGIN.to_owned());
        }
    }
    events
}

/// A document, with or without the mark that some editors put in front: the CLI reads both.
fn parse(bytes: &[u8]) -> serde_json::Result<Value> {
    serde_json::from_slice(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes))
}

fn hooks_in(settings: &Map<String, Value>) -> Vec<String> {
    let hooks = settings.get("hooks").and_then(Value::as_object);
    hooks.into_iter().flat_map(Map::keys).cloned().collect()
}

fn enables_plugins(settings: &Map<String, Value>) -> bool {
    settings
        .get("enabledPlugins")
        .and_then(Value::as_object)
        .is_some_and(|plugins| {
            plugins
                .values()
                .any(|enabled| *enabled != Value::Bool(false))
        })
}

/// What a file could do; nothing for a file that can do nothing.
fn effects(file: &ReadFile, hook_events: &mut BTreeSet<String>) -> Option<Vec<String>> {
    match file.kind {
        Kind::ToolServers => Some(server_effects(&file.bytes)),
        Kind::Settings => {
            hook_events.extend(user_hook_events(&file.bytes));
            Some(settings_effects(&file.bytes))
        }
        Kind::Agent | Kind::Skill => {
            let head = front_matter(&file.bytes)?;
            let mut effects = Vec::new();
            if head.contains("hooks") {
                // The events stand in a notation that is not parsed here, so the worst is assumed.
                let event = if head.contains("PermissionRequest") {
                    "PermissionRequest"
                } else {
                    "front matter"
                };
                hook_events.insert(event.to_owned());
                effects.push("brings hooks, which run programs".to_owned());
            }
            if head.contains("mcpServers") {
                effects.push("brings tool servers, which are programs".to_owned());
            }
            (!effects.is_empty()).then_some(effects)
        }
    }
}

/// The block between the first two lines of dashes.
fn front_matter(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let rest = text.trim_start_matches('\u{feff}').trim_start();
    let rest = rest.strip_prefix("---")?;
    Some(rest.split("\n---").next().unwrap_or(rest).to_owned())
}

fn server_effects(bytes: &[u8]) -> Vec<String> {
    let document = parse(bytes).unwrap_or_default();
    let servers = document.get("mcpServers").and_then(Value::as_object);
    let Some(servers) = servers else {
        return vec!["is no list of tool servers".to_owned()];
    };
    servers
        .iter()
        .map(|(name, server)| match server.get("command") {
            Some(_) => format!("tool server {name} runs: {}", command_line(server)),
            None => format!(
                "tool server {name} talks to: {}",
                short(server.get("url").and_then(Value::as_str).unwrap_or("?"))
            ),
        })
        .collect()
}

fn command_line(server: &Value) -> String {
    let command = server.get("command").and_then(Value::as_str);
    let args = server.get("args").and_then(Value::as_array);
    let args = args.into_iter().flatten().filter_map(Value::as_str);
    let words: Vec<&str> = command.into_iter().chain(args).collect();
    short(&words.join(" "))
}

/// Settings that run a program or change where things go; everything else is named as a whole.
const COMMANDS: [&str; 8] = [
    "apiKeyHelper",
    "awsAuthRefresh",
    "awsCredentialExport",
    "gcpAuthRefresh",
    "otelHeadersHelper",
    "forceLoginCommand",
    "fileSuggestion",
    "statusLine",
];

fn settings_effects(bytes: &[u8]) -> Vec<String> {
    let Ok(Value::Object(settings)) = parse(bytes) else {
        return vec!["is no settings file".to_owned()];
    };
    let mut effects = hook_effects(&settings);
    for (key, value) in &settings {
        let shown = match key.as_str() {
            "hooks" | "$schema" => continue,
            name if COMMANDS.contains(&name) => {
                let line = value.as_str().or_else(|| value.get("command")?.as_str());
                format!("{name} runs: {}", short(line.unwrap_or("?")))
            }
            "env" => {
                let names = value.as_object().into_iter().flat_map(Map::keys);
                let names: Vec<&str> = names.map(String::as_str).collect();
                format!("sets variables: {}", short(&names.join(", ")))
            }
            "enabledPlugins" => {
                let names = value.as_object().into_iter().flat_map(Map::keys);
                let names: Vec<&str> = names.map(String::as_str).collect();
                format!("loads plugins: {}", short(&names.join(", ")))
            }
            other => format!("sets {}", short(other)),
        };
        effects.push(shown);
    }
    effects
}

fn hook_effects(settings: &Map<String, Value>) -> Vec<String> {
    let hooks = settings.get("hooks").and_then(Value::as_object);
    let mut effects = Vec::new();
    for (event, matchers) in hooks.into_iter().flatten() {
        let matchers = matchers.as_array().into_iter().flatten();
        let handlers = matchers
            .filter_map(|matcher| matcher.get("hooks")?.as_array())
            .flatten();
        for handler in handlers {
            let line = ["command", "url", "prompt"]
                .iter()
                .find_map(|key| handler.get(key)?.as_str());
            effects.push(format!("hook {event} runs: {}", short(line.unwrap_or("?"))));
        }
        if event == "PermissionRequest" {
            effects.push("would answer permission requests: hooks stay switched off".to_owned());
        }
    }
    effects
}

/// Longest piece of a file's text in a description.
const SHOWN_CHARACTERS: usize = 200;

/// One line without control characters, cut with a mark: the dangerous end must not vanish unseen.
fn short(text: &str) -> String {
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    let count = text.chars().count();
    if count <= SHOWN_CHARACTERS {
        return text.chars().map(clean).collect();
    }
    let shown: String = text.chars().take(SHOWN_CHARACTERS).map(clean).collect();
    format!("{shown}… ({} more characters)", count - SHOWN_CHARACTERS)
}
