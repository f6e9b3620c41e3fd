//! Paths as texts: made absolute, tidied and folded without asking the file system.
//!
//! What only the file system knows (where a symbolic link leads) is asked through the resolver that the caller gives.
//! A path is compared in a folded form, because `.ENV`, `.env.` and a name with an invisible character inside may all
//! open the same file somewhere.

use super::glob::{ANY, STAR};

/// Answers where a path really leads; `None` when it does not know.
pub type Resolver<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Further names of a file that has several (hard links), as far as they were found where [`Place::vicinity`] says; none
/// for everything else.
pub type Twins<'a> = &'a dyn Fn(&str) -> Vec<String>;

/// How many folders above a file are looked into for another name of it.
const MOST_ABOVE: usize = 8;

/// Folders of the home in which secrets lie.
const SECRET_FOLDERS: [&str; 10] = [
    ".ssh",
    ".aws",
    ".gnupg",
    ".kube",
    ".docker",
    ".azure",
    ".cargo",
    ".claude",
    ".config/gh",
    ".config/gcloud",
];

/// Where a call happens.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// The folder in which the tool runs; absolute.
    pub cwd: &'a str,
    /// The user's home folder, when known.
    pub home: Option<&'a str>,
    /// Estelle's own data folder: no tool may touch it.
    pub data_folder: Option<&'a str>,
    /// Files in the data folder that hold messages of the user to the process that asks: it may read them, and them
    /// alone. Each is the real path, without links.
    pub messages: &'a [String],
    /// Follows symbolic links for us.
    pub resolve: Resolver<'a>,
    /// Looks for other names of a file for us.
    pub twins: Twins<'a>,
}

impl std::fmt::Debug for Place<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Place")
            .field("cwd", &self.cwd)
            .field("home", &self.home)
            .field("data_folder", &self.data_folder)
            .field("messages", &self.messages)
            .finish_non_exhaustive()
    }
}

impl<'a> Place<'a> {
    /// A place of which only the folder is known; links are not followed.
    pub fn at(cwd: &'a str) -> Self {
        Self {
            cwd,
            home: None,
            data_folder: None,
            messages: &[],
            resolve: &|_| None,
            twins: &|_| Vec::new(),
        }
    }

    /// The folders in which another name of a file is looked for: those above it, where its project keeps its secrets, the
    /// one of the call, the home with its folders of secrets, and our own. Elsewhere a name would have to be searched for
    /// without end.
    pub fn vicinity(&self, path: &str) -> Vec<String> {
        let mut folders = Vec::new();
        let mut above = path;
        for _ in 0..MOST_ABOVE {
            match above.rsplit_once('/') {
                Some((folder, _)) if !folder.is_empty() => above = folder,
                _ => break,
            }
            folders.push(above.to_owned());
        }
        folders.push(self.cwd.to_owned());
        if let Some(home) = self.home {
            folders.push(home.to_owned());
            folders.extend(SECRET_FOLDERS.map(|folder| format!("{home}/{folder}")));
        }
        folders.extend(self.data_folder.map(str::to_owned));
        let mut seen = std::collections::BTreeSet::new();
        folders.retain(|folder| seen.insert(folder.clone()));
        folders
    }
}

impl Place<'_> {
    /// Where a path leads when links are followed, if that is somewhere else. Of a path with unknown parts the folder in
    /// front of them is followed.
    pub(super) fn real(self, path: &str) -> Option<String> {
        let real = match path.find([ANY, STAR]) {
            None => (self.resolve)(path)?,
            Some(unknown) => {
                let (folder, rest) = path.split_at(path[..unknown].rfind('/')?);
                let folder = Some(folder).filter(|folder| !folder.is_empty())?;
                format!("{}{rest}", (self.resolve)(folder)?.trim_end_matches('/'))
            }
        };
        (real != path).then_some(real)
    }

    /// Where a path with `..` in it leads for the system, which follows a link before it goes up: not back to the folder
    /// in which the link stands, but to the one above its target.
    pub(super) fn climbed(self, path: &str, cwd: &str) -> Option<String> {
        let path = path.strip_prefix("file://").unwrap_or(path);
        if path.len() > LONGEST || !path.split('/').any(|part| part == "..") {
            return None;
        }
        let whole = match path.strip_prefix("~/") {
            Some(rest) => format!("{}/{rest}", self.home?),
            None if path.starts_with('/') => path.to_owned(),
            None if path.starts_with(['~', ANY]) => return None,
            None => format!("{cwd}/{path}"),
        };
        self.real(&whole)
    }
}

/// The longest path that a system takes; a longer text names no file.
pub(super) const LONGEST: usize = 4096;

/// The path made absolute, with `.`, `..` and doubled slashes taken out. `~` becomes the home folder when it is known.
pub(super) fn absolute(path: &str, cwd: &str, home: Option<&str>) -> String {
    let path = path.strip_prefix("file://").unwrap_or(path);
    let (base, rest) = if path == "~" || path.starts_with("~/") {
        (home.unwrap_or("/~"), &path[1..])
    } else if path.starts_with(['/', '~', ANY]) {
        ("", path)
    } else {
        (cwd, path)
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in base.split('/').chain(rest.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            other => parts.push(other),
        }
    }
    let joined = parts.join("/");
    let is_afloat = base.starts_with(ANY) || (base.is_empty() && path.starts_with(ANY));
    if is_afloat {
        joined
    } else {
        format!("/{joined}")
    }
}

/// The form in which paths are compared: small letters, no invisible characters, no full-width look-alikes, no
/// trailing dots, spaces or stream names (`::$DATA`) in a component.
pub(super) fn fold(path: &str) -> String {
    let plain: String = path
        .chars()
        .filter(|symbol| !is_hidden(*symbol))
        .map(|symbol| match symbol {
            '\u{FF01}'..='\u{FF5E}' => char::from_u32(u32::from(symbol) - 0xFEE0).unwrap_or(symbol),
            '\u{17F}' => 's',
            '\\' => '/',
            other => other,
        })
        .flat_map(char::to_lowercase)
        .collect();
    let components = plain.split('/').map(|component| {
        let component = component.split("::").next().unwrap_or(component);
        component.trim_end_matches(['.', ' '])
    });
    components.collect::<Vec<_>>().join("/")
}

/// Characters that are not seen but change what a name is: zero width, direction marks, soft hyphens, fillers.
pub(super) fn is_hidden(symbol: char) -> bool {
    matches!(
        symbol,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}'
            | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}'
            | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E0FFF}'
    )
}

/// Whether `path` is `folder` or below it; both absolute and folded. An unknown beginning counts as outside.
pub(super) fn is_within(path: &str, folder: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether a path with unknown parts can lie in `folder`. It counts only if what is known leads up to the folder:
/// otherwise every wildcard would point everywhere.
pub(super) fn may_be_within(path: &str, folder: &str) -> bool {
    let Some((known, _)) = path.split_once([ANY, STAR]) else {
        return false;
    };
    let parent = folder
        .trim_end_matches('/')
        .rsplit_once('/')
        .map_or("", |(parent, _)| parent);
    if parent.is_empty() || !is_within(known.trim_end_matches('/'), parent) {
        return false;
    }
    let below = format!("{}/{ANY}", folder.trim_end_matches('/'));
    super::glob::can_meet(path, folder) || super::glob::can_meet(path, &below)
}
