//! Reading what the CLI would load of a folder, without following links out of it and within bounds.
//!
//! What is read may change before the CLI reads it itself; the host looks again before every start.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::contents::{
    ContentHash, FolderContents, Kind, Problem, ReadFile, settings_hash, user_hook_events,
};

/// Most bytes of one file.
const MAX_FILE_BYTES: u64 = 1024 * 1024;
/// Most files below one folder of agents or skills.
const MAX_FILES: usize = 2000;
/// What the CLI takes from `.claude` besides the settings.
const LINKED: [&str; 5] = ["agents", "skills", "commands", "output-styles", "workflows"];
/// How deep agents and skills are looked for.
const MAX_DEPTH: usize = 8;

/// Why a folder cannot be looked at.
#[derive(Debug, thiserror::Error)]
#[error("failed to look at the folder {folder:?}")]
pub struct ScanError {
    /// The folder.
    pub folder: PathBuf,
    /// Why.
    #[source]
    pub source: io::Error,
}

/// Reads what a folder brings. `home` is the user's: its `.claude` is the user's own configuration, not the folder's.
pub fn scan(folder: &Path, home: Option<&Path>) -> Result<FolderContents, ScanError> {
    let folder = fs::canonicalize(folder).map_err(|source| ScanError {
        folder: folder.to_owned(),
        source,
    })?;
    let home = home.and_then(|home| fs::canonicalize(home).ok());
    let mut found = Found::default();
    found.file(&folder, Path::new(".mcp.json"), Kind::ToolServers);
    for layer in layers(&folder, home.as_deref()) {
        found.settings(layer, home.as_deref());
        if Some(layer) == home.as_deref() {
            continue;
        }
        found.tree(layer, Path::new(".claude/agents"), Kind::Agent);
        found.tree(layer, Path::new(".claude/skills"), Kind::Skill);
        found.tree(layer, Path::new(".claude/commands"), Kind::Skill);
        found.link(layer);
    }
    let Found {
        files,
        links,
        problems,
    } = found;
    Ok(FolderContents::new(
        folder,
        files,
        links.into_iter().collect(),
        problems,
    ))
}

/// The hash over the settings of a folder as they are now; none if they cannot be looked at any more.
///
/// The same as that of a whole scan, at a small part of its cost.
pub fn scan_settings(folder: &Path, home: Option<&Path>) -> Option<ContentHash> {
    let folder = fs::canonicalize(folder).ok()?;
    let home = home.and_then(|home| fs::canonicalize(home).ok());
    let mut found = Found::default();
    for layer in layers(&folder, home.as_deref()) {
        found.settings(layer, home.as_deref());
    }
    let Found {
        mut files,
        problems,
        ..
    } = found;
    files.sort_by(|one, other| one.path.cmp(&other.path));
    problems.is_empty().then(|| settings_hash(&files))
}

/// The events for which the user's own settings have hooks. `config` is `~/.claude` or `CLAUDE_CONFIG_DIR`.
pub fn scan_user_hooks(config: &Path) -> BTreeSet<String> {
    match read_bounded(&config.join("settings.json")) {
        Ok(Some(bytes)) => user_hook_events(&bytes),
        // What cannot be read may hold hooks; those that answer for us cannot be excluded then.
        Err(_) | Ok(None) if config.join("settings.json").exists() => {
            BTreeSet::from(["PermissionRequest".to_owned()])
        }
        Err(_) | Ok(None) => BTreeSet::new(),
    }
}

/// The folder and those above it that the CLI looks into: up to the root of the repository, else up to the user's home.
fn layers<'a>(folder: &'a Path, home: Option<&'a Path>) -> Vec<&'a Path> {
    let repository = folder
        .ancestors()
        .find(|layer| layer.join(".git").symlink_metadata().is_ok());
    let mut layers = Vec::new();
    for layer in folder.ancestors() {
        if layer != folder && Some(layer) == home {
            break;
        }
        layers.push(layer);
        if Some(layer) == repository {
            break;
        }
    }
    layers
}

#[derive(Default)]
struct Found {
    files: Vec<ReadFile>,
    /// Agents, skills and the like by their path in `.claude`; those of the nearest folder win.
    links: BTreeMap<PathBuf, PathBuf>,
    problems: Vec<Problem>,
}

impl Found {
    /// The settings that a layer brings. Those of the user's home are the user's own.
    fn settings(&mut self, layer: &Path, home: Option<&Path>) {
        let local = Path::new(".claude/settings.local.json");
        self.file(layer, local, Kind::Settings);
        if Some(layer) != home {
            self.file(layer, Path::new(".claude/settings.json"), Kind::Settings);
        }
    }

    fn file(&mut self, layer: &Path, name: &Path, kind: Kind) {
        let path = layer.join(name);
        if let Some(real) = self.resolve(layer, &path) {
            self.read(path, &real, kind);
        }
    }

    /// Where a path really is, if it is there and within the layer.
    fn resolve(&mut self, layer: &Path, path: &Path) -> Option<PathBuf> {
        match fs::canonicalize(path) {
            Ok(real) if real.starts_with(layer) => Some(real),
            Ok(target) => {
                let file = path.to_owned();
                self.problems.push(Problem::LinkOut { file, target });
                None
            }
            Err(error) if is_absent(&error) => {
                // A link to nothing yet may lead anywhere later.
                if let Ok(target) = fs::read_link(path) {
                    let file = path.to_owned();
                    self.problems.push(Problem::LinkOut { file, target });
                }
                None
            }
            Err(error) => {
                self.unreadable(path, &error);
                None
            }
        }
    }

    fn read(&mut self, path: PathBuf, real: &Path, kind: Kind) {
        match read_bounded(real) {
            Ok(Some(bytes)) => self.files.push(ReadFile { path, kind, bytes }),
            Ok(None) => self.problems.push(Problem::TooLarge {
                file: path,
                limit: MAX_FILE_BYTES,
            }),
            Err(error) if is_absent(&error) => {}
            Err(error) => self.unreadable(&path, &error),
        }
    }

    fn unreadable(&mut self, path: &Path, error: &io::Error) {
        self.problems.push(Problem::Unreadable {
            file: path.to_owned(),
            reason: error.kind().to_string(),
        });
    }

    /// What stays where it is when the settings are copied.
    fn link(&mut self, layer: &Path) {
        for kind in LINKED {
            let folder = layer.join(".claude").join(kind);
            let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
            for entry in entries.take(MAX_FILES) {
                let name = Path::new(kind).join(entry.file_name());
                self.links.entry(name).or_insert_with(|| entry.path());
            }
        }
    }

    /// The texts below a folder of agents, skills or commands.
    fn tree(&mut self, layer: &Path, name: &Path, kind: Kind) {
        let top = layer.join(name);
        let mut open = vec![(top.clone(), 0)];
        let mut seen = BTreeSet::new();
        let mut count = 0;
        while let Some((folder, depth)) = open.pop() {
            let Some(real) = self.resolve(layer, &folder) else {
                continue;
            };
            // A link within the layer may lead in circles.
            if !seen.insert(real) {
                continue;
            }
            if depth > MAX_DEPTH {
                let limit = MAX_DEPTH;
                self.problems.push(Problem::TooDeep { folder, limit });
                return;
            }
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) if is_absent(&error) => continue,
                Err(error) => {
                    self.unreadable(&folder, &error);
                    continue;
                }
            };
            for entry in entries.flatten() {
                count += 1;
                if count > MAX_FILES {
                    let (folder, limit) = (top, MAX_FILES);
                    self.problems.push(Problem::TooMany { folder, limit });
                    return;
                }
                let path = entry.path();
                if path.is_dir() {
                    open.push((path, depth + 1));
                } else if path.extension().is_some_and(|extension| extension == "md") {
                    let name = path.strip_prefix(layer).unwrap_or(&path).to_owned();
                    self.file(layer, &name, kind);
                }
            }
        }
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// The bytes of a plain file, or nothing when there are too many.
fn read_bounded(path: &Path) -> io::Result<Option<Vec<u8>>> {
    // A pipe or device could hold the reader up for ever.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "not a plain file",
        ));
    }
    let mut bytes = Vec::new();
    File::open(path)?
        .take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= MAX_FILE_BYTES).then_some(bytes))
}
