//! Messages that no pipe holds: each lies as a file beside the run, and the CLI is told where.
//!
//! A file stays for as long as the process lives that was told of it, which may want to look into it again in any later
//! turn, and is removed before the end of the run is written down. A message that the process did not take is in the
//! log, and the next process gets a file of its own. The policy lets the process read its own files and nothing else of
//! the data folder; which they are is found on the disk, so a new host knows it too.

use std::io;
use std::path::{Path, PathBuf};

use estelle_state::conversation::{Conversation, MessageId};

use super::actor::{Actor, Broken};
use super::running::Phase;
use super::writer::LineKey;
use crate::translate::lines;

/// How the name of a file with a message begins; its id follows.
const PREFIX: &str = "message-";

/// And how it ends.
const SUFFIX: &str = ".md";

impl Actor {
    /// A message that no pipe holds goes into a file that the message names.
    pub(super) fn write_by_file(&mut self, id: &MessageId) -> Result<(), Broken> {
        let tracked = self.book.conversation().messages().iter();
        let Some(message) = tracked.map(|one| &one.message).find(|one| one.id == *id) else {
            return Ok(());
        };
        let Phase::Live(live) = &mut self.phase else {
            return Ok(());
        };
        let name = format!("{PREFIX}{}{SUFFIX}", id.0);
        live.folder.store_file(&name, message.content.as_bytes())?;
        // Without links on the way: it is judged by the very letters that the agent is told.
        let path = live.folder.path().canonicalize()?.join(name);
        let mut short = message.clone();
        short.content = format!(
            "The user's message is too long for this line. All of it is in the file @{}: read it there, in parts, and \
             answer it.",
            path.display()
        );
        live.unwrite(&LineKey::Message(id.clone()));
        let text = lines::message(&short)?;
        live.write(LineKey::Message(id.clone()), || Some(text));
        Ok(())
    }

    /// The files with messages of the user to the process that lives, by their real paths.
    pub(super) fn message_files(&self) -> Vec<String> {
        let Phase::Live(live) = &self.phase else {
            return Vec::new();
        };
        // What cannot be listed cannot be read by the agent either.
        let files = files(live.folder.path(), self.book.conversation()).unwrap_or_default();
        let real = files
            .into_iter()
            .filter_map(|path| path.canonicalize().ok());
        real.filter_map(|path| path.into_os_string().into_string().ok())
            .collect()
    }
}

/// Removes the files of a run whose process is gone. One that cannot be removed goes with the folder of the run.
pub(super) fn remove(folder: &Path, conversation: &Conversation) {
    for file in files(folder, conversation).unwrap_or_default() {
        if let Err(error) = std::fs::remove_file(&file) {
            tracing::warn!(file = %file.display(), %error, "a message that lies in a file could not be removed");
        }
    }
}

/// The files in the folder of a run whose names say that they hold a message, and one that was really sent.
fn files(folder: &Path, conversation: &Conversation) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let id = name
            .to_str()
            .and_then(|name| name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX));
        let is_message = id.is_some_and(|id| conversation.has_accepted(&MessageId(id.to_owned())));
        if is_message && entry.file_type()?.is_file() {
            found.push(entry.path());
        }
    }
    Ok(found)
}
