//! What a list shows of a conversation, read from the beginning and the end of its file.
//!
//! Titles and tags are appended by whoever changes them and repeated by the CLI near the end, so that the two ends say
//! all there is without reading the middle.

use std::io;
use std::time::SystemTime;

use super::archive;
use super::entry::Entry;
use super::id::SessionId;
use super::lines::Transcript;
use super::prompt::FirstPrompt;
use super::store::{LoadError, Place, SavedSessions};
use super::time;

/// How much is read at either end.
const END: usize = 64 * 1024;

/// How far the beginning is searched when the first prompt does not come sooner, as behind a pasted file.
const SEARCH: usize = 1024 * 1024;

/// What is known of a saved conversation without reading all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionInfo {
    /// The id, for [`crate::options::Options::resume`].
    pub id: SessionId,
    /// The title a person or the CLI gave.
    pub custom_title: Option<String>,
    /// What was asked first, cut to 200 characters.
    pub first_prompt: Option<String>,
    /// What was asked last, or an old CLI's summary.
    pub last_prompt: Option<String>,
    /// When the file last changed.
    pub last_modified: SystemTime,
    /// The time of the first entry.
    pub created_at: Option<SystemTime>,
    /// The size of the file in bytes.
    pub file_size: u64,
    /// The Git branch at the end; `HEAD` outside of a repository.
    pub git_branch: Option<String>,
    /// The working directory at the beginning.
    pub cwd: Option<String>,
    /// The tag a person set.
    pub tag: Option<String>,
    /// How the CLI was started: `cli`, `sdk-cli`, `sdk-ts` and so on.
    pub entrypoint: Option<String>,
    /// Whether it is archived; none if it never was. A prompt sent later takes it out of the archive.
    pub archived: Option<bool>,
}

impl SessionInfo {
    /// What to call the conversation: its title, else what was asked last, else what was asked first.
    pub fn title(&self) -> Option<&str> {
        let title = self.custom_title.as_ref().or(self.last_prompt.as_ref());
        title.or(self.first_prompt.as_ref()).map(String::as_str)
    }

    /// Whether a program started it rather than a person at a terminal or in an editor.
    pub fn is_programmatic(&self) -> bool {
        let entrypoint = self.entrypoint.as_deref().unwrap_or_default();
        entrypoint.starts_with("sdk-") || entrypoint.starts_with("daemon")
    }
}

impl SavedSessions {
    /// What is known of one conversation; none if its file holds nothing to show.
    pub fn load_info(&self, id: &SessionId) -> Result<Option<SessionInfo>, LoadError> {
        let place = self.locate(id)?;
        load(&place).map_err(LoadError::read(&place.file))
    }
}

/// Reads the two ends of a transcript. None for a sub-agent's file and for one without prompt or title.
pub(super) fn load(place: &Place) -> io::Result<Option<SessionInfo>> {
    let mut file = Transcript::open(&place.file)?;
    let last_modified = std::fs::symlink_metadata(&place.file)?.modified()?;
    let mut head = file.head(END)?;
    let mut facts = Facts::default();
    facts.read_head(&head);
    if !facts.prompt.is_found() && file.length > END as u64 {
        head = file.head(SEARCH)?;
        facts = Facts::default();
        facts.read_head(&head);
    }
    let seen = head.len() as u64;
    // The line that the head cuts off is read with the tail if the tail reaches back to it.
    let whole_lines = memchr::memrchr(b'\n', &head).map_or(0, |end| end as u64 + 1);
    let tail = file.tail(
        END,
        if seen < file.length {
            whole_lines
        } else {
            seen
        },
    )?;
    facts.read_tail(&tail);
    if facts.sidechain == Some(true) {
        return Ok(None);
    }
    let archived = archive::load(place, facts.last_prompt_at);
    let info = facts.into_info(place.id.clone(), last_modified, file.length, archived);
    // Behind a beginning without end there is a conversation all the same.
    Ok(Some(info).filter(|info| info.title().is_some() || seen < file.length && whole_lines == 0))
}

/// What the lines said, later ones over earlier ones.
#[derive(Debug, Default)]
struct Facts {
    prompt: FirstPrompt,
    sidechain: Option<bool>,
    created_at: Option<SystemTime>,
    cwd: Option<String>,
    entrypoint: Option<String>,
    git_branch: Option<String>,
    custom_title: Option<String>,
    ai_title: Option<String>,
    last_prompt: Option<String>,
    summary: Option<String>,
    tag: Option<String>,
    last_prompt_at: Option<SystemTime>,
}

impl Facts {
    fn read_head(&mut self, bytes: &[u8]) {
        for entry in bytes.split(|byte| *byte == b'\n').filter_map(Entry::parse) {
            self.prompt.look_at(&entry);
            if self.sidechain.is_none() {
                self.sidechain = entry.is_sidechain;
            }
            if self.created_at.is_none() {
                self.created_at = entry.timestamp.as_deref().and_then(time::parse);
            }
            keep_first(&mut self.cwd, entry.cwd.as_deref());
            keep_first(&mut self.entrypoint, entry.entrypoint.as_deref());
            self.take(&entry);
        }
    }

    fn read_tail(&mut self, bytes: &[u8]) {
        for entry in bytes.split(|byte| *byte == b'\n').filter_map(Entry::parse) {
            // A file whose beginning says nothing is still of some project.
            keep_first(&mut self.cwd, entry.cwd.as_deref());
            keep_first(&mut self.entrypoint, entry.entrypoint.as_deref());
            self.take(&entry);
        }
    }

    fn take(&mut self, entry: &Entry<'_>) {
        keep_last(&mut self.git_branch, entry.git_branch.as_deref());
        match &*entry.kind {
            "custom-title" => keep_last(&mut self.custom_title, entry.custom_title.as_deref()),
            "ai-title" => keep_last(&mut self.ai_title, entry.ai_title.as_deref()),
            "last-prompt" => keep_last(&mut self.last_prompt, entry.last_prompt.as_deref()),
            "summary" => keep_last(&mut self.summary, entry.summary.as_deref()),
            "tag" => keep_last(&mut self.tag, entry.tag.as_deref()),
            "user" if super::prompt::is_prompt(entry) => {
                let at = entry.timestamp.as_deref().and_then(time::parse);
                self.last_prompt_at = self.last_prompt_at.max(at);
            }
            _ => {}
        }
    }

    fn into_info(
        self,
        id: SessionId,
        last_modified: SystemTime,
        file_size: u64,
        archived: Option<bool>,
    ) -> SessionInfo {
        let set = |text: Option<String>| text.filter(|text| !text.is_empty());
        SessionInfo {
            id,
            custom_title: set(self.custom_title).or_else(|| set(self.ai_title)),
            first_prompt: self.prompt.into_text(),
            last_prompt: set(self.last_prompt).or_else(|| set(self.summary)),
            last_modified,
            created_at: self.created_at,
            file_size,
            git_branch: self.git_branch,
            cwd: self.cwd,
            tag: set(self.tag),
            entrypoint: self.entrypoint,
            archived,
        }
    }
}

fn keep_first(slot: &mut Option<String>, found: Option<&str>) {
    if slot.is_none() {
        *slot = found.map(ToOwned::to_owned);
    }
}

fn keep_last(slot: &mut Option<String>, found: Option<&str>) {
    if let Some(found) = found {
        *slot = Some(found.to_owned());
    }
}
