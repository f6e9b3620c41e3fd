//! Changes to a saved conversation: its title, its tag, its end.
//!
//! Title and tag are one appended line each, written in a single call with `O_APPEND` as the CLI does, so that a CLI at
//! work on the same file loses nothing. Nothing is rewritten.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::id::SessionId;
use super::lines::no_follow;
use super::store::{LoadError, Place, SavedSessions};

/// Why a conversation could not be changed.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// It could not be found.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A title or tag has no visible character.
    #[error("a title or tag must not be empty")]
    Empty,
    /// The file system refused.
    #[error("write {}", path.display())]
    Write {
        /// What was being changed.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

impl EditError {
    pub(super) fn write(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Write { path, source }
    }
}

impl SavedSessions {
    /// Gives a conversation a title; white space around it is dropped.
    pub fn rename(&self, id: &SessionId, title: &str) -> Result<(), EditError> {
        let title = visible(title)?;
        self.append(id, |id| {
            // Written by hand for the CLI's order of members; a map would sort them.
            format!(
                r#"{{"type":"custom-title","customTitle":{},"sessionId":"{id}"}}"#,
                json!(title)
            )
        })
    }

    /// Tags a conversation, in place of the tag it had; white space around it is dropped.
    pub fn tag(&self, id: &SessionId, tag: &str) -> Result<(), EditError> {
        let tag = visible(tag)?;
        self.append(id, |id| tag_line(id, tag))
    }

    /// Takes the tag off a conversation.
    pub fn clear_tag(&self, id: &SessionId) -> Result<(), EditError> {
        self.append(id, |id| tag_line(id, ""))
    }

    /// Deletes a conversation and what belongs to it alone: its sub-agents and its archive mark.
    ///
    /// The transcript goes first. If the rest then cannot be removed the error says so, and the conversation is gone
    /// all the same.
    pub fn delete(&self, id: &SessionId) -> Result<(), EditError> {
        let place = self.locate(id)?;
        fs::remove_file(&place.file).map_err(EditError::write(&place.file))?;
        let side = place.side_dir();
        let removed = match fs::symlink_metadata(&side) {
            Ok(found) if found.is_dir() => fs::remove_dir_all(&side),
            // A link is taken away; what it points to is not ours.
            Ok(_) => fs::remove_file(&side),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        };
        removed.map_err(EditError::write(&side))
    }

    fn append(
        &self,
        id: &SessionId,
        line: impl FnOnce(&SessionId) -> String,
    ) -> Result<(), EditError> {
        let place = self.locate(id)?;
        append(&place, &line(id)).map_err(EditError::write(&place.file))
    }
}

fn tag_line(id: &SessionId, tag: &str) -> String {
    format!(
        r#"{{"type":"tag","tag":{},"sessionId":"{id}"}}"#,
        json!(tag)
    )
}

fn visible(text: &str) -> Result<&str, EditError> {
    let text = text.trim();
    if text.is_empty() {
        Err(EditError::Empty)
    } else {
        Ok(text)
    }
}

fn append(place: &Place, line: &str) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .read(true)
        .append(true)
        .custom_flags(no_follow())
        .open(&place.file)?;
    let mut last = [b'\n'];
    if file.metadata()?.len() > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    // A crash can leave half a line; joined to it, ours would be lost.
    let start = if last == [b'\n'] { "" } else { "\n" };
    file.write_all(format!("{start}{line}\n").as_bytes())
}
