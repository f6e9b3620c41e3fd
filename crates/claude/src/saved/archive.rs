//! The mark that puts a conversation into the archive.
//!
//! It is a small file beside the transcript, `<session id>/archived.json`, which the transcript's own list of entries
//! knows nothing of. It counts until a prompt is sent after it was made.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::edit::EditError;
use super::id::SessionId;
use super::lines::no_follow;
use super::store::{Place, SavedSessions, is_real_dir};
use super::time;

const NAME: &str = "archived.json";

/// No mark is longer; the rest of a longer file is not read.
const LIMIT: u64 = 4096;

#[derive(Debug, Serialize, Deserialize)]
struct Mark {
    archived: bool,
    at: String,
    #[serde(default)]
    by: String,
}

impl SavedSessions {
    /// Puts a conversation into the archive. It stays on disk and in lists; a later prompt takes it out again.
    pub fn archive(&self, id: &SessionId) -> Result<(), EditError> {
        self.mark(id, true)
    }

    /// Takes a conversation out of the archive.
    pub fn unarchive(&self, id: &SessionId) -> Result<(), EditError> {
        self.mark(id, false)
    }

    fn mark(&self, id: &SessionId, archived: bool) -> Result<(), EditError> {
        let place = self.locate(id)?;
        let mark = Mark {
            archived,
            at: time::format(SystemTime::now()),
            by: "sdk".to_owned(),
        };
        write(&place, &mark).map_err(EditError::write(&place.side_dir().join(NAME)))
    }
}

/// Writes the mark under another name first, so that a reader never sees half of it.
fn write(place: &Place, mark: &Mark) -> io::Result<()> {
    let dir = place.side_dir();
    match DirBuilder::new().mode(0o700).create(&dir) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        Ok(()) | Err(_) => {}
    }
    if !is_real_dir(&dir) {
        return Err(io::Error::new(
            io::ErrorKind::NotADirectory,
            "not a directory",
        ));
    }
    let draft = dir.join(format!(".{NAME}.{}", uuid::Uuid::new_v4()));
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&draft)?;
    let written = file.write_all(&serde_json::to_vec(mark)?);
    let done = written.and_then(|()| fs::rename(&draft, dir.join(NAME)));
    if done.is_err() {
        // The first failure is the one to tell; a draft that stays behind harms nobody.
        fs::remove_file(&draft).ok();
    }
    done
}

/// Whether the conversation is archived, given when its newest prompt was sent; none without a readable mark.
pub(super) fn load(place: &Place, last_prompt_at: Option<SystemTime>) -> Option<bool> {
    let dir = place.side_dir();
    if !is_real_dir(&dir) {
        return None;
    }
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(no_follow())
        .open(dir.join(NAME))
        .ok()?;
    let mut text = Vec::new();
    file.take(LIMIT).read_to_end(&mut text).ok()?;
    let mark: Mark = serde_json::from_slice(&text).ok()?;
    let at = time::parse(&mark.at)?;
    Some(mark.archived && last_prompt_at.is_none_or(|prompt| prompt <= at))
}
