//! Lists conversations, newest first.
//!
//! File times alone decide the order, so only the files of the page asked for are opened. A conversation that lies in
//! two folders is shown once, as its newer file has it.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

use super::id::SessionId;
use super::info::{self, SessionInfo};
use super::store::{LoadError, Place, SavedSessions};

/// Which conversations to list.
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct ListOptions {
    limit: Option<usize>,
    offset: usize,
    interactive_only: bool,
}

impl ListOptions {
    /// All of them.
    pub fn new() -> Self {
        Self::default()
    }

    /// At most so many.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Passes over so many of the newest.
    pub fn offset(mut self, offset: usize) -> Self {
        self.offset = offset;
        self
    }

    /// Leaves out those that programs started, as the terminal's own list does.
    pub fn interactive_only(mut self) -> Self {
        self.interactive_only = true;
        self
    }
}

impl SavedSessions {
    /// The conversations of the chosen projects, newest first.
    ///
    /// A file that cannot be read, or holds nothing to show, is left out.
    pub fn load_sessions(&self, options: &ListOptions) -> Result<Vec<SessionInfo>, LoadError> {
        let mut files = Vec::new();
        for folder in self.folders()? {
            collect(&folder, &mut files);
        }
        files.sort_by(|(a_time, a), (b_time, b)| b_time.cmp(a_time).then_with(|| b.id.cmp(&a.id)));
        let mut seen = HashSet::new();
        let shown = files
            .into_iter()
            .filter(|(_, place)| seen.insert(place.id.clone()))
            .filter_map(|(_, place)| info::load(&place).ok().flatten())
            .filter(|info| !(options.interactive_only && info.is_programmatic()))
            .skip(options.offset);
        Ok(shown.take(options.limit.unwrap_or(usize::MAX)).collect())
    }
}

/// The session files of a folder, with the times they last changed.
fn collect(folder: &Path, files: &mut Vec<(SystemTime, Place)>) {
    // A folder that vanishes meanwhile has no sessions.
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let id = name.to_str().and_then(|name| name.strip_suffix(".jsonl"));
        let Some(id) = id.and_then(|id| id.parse::<SessionId>().ok()) else {
            continue;
        };
        // This does not follow links, so a link is no file here.
        let Ok(metadata) = entry.metadata() else {
            continue;
        };
        if let (true, Ok(modified)) = (metadata.is_file(), metadata.modified()) {
            files.push((modified, Place::new(folder, &id)));
        }
    }
}
