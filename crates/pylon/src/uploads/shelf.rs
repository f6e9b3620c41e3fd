//! The folder with what was attached, and what is on its way there.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use aws_lc_rs::digest::{Context, SHA256};
use estelle_proto::{BlobId, ConversationId, FileId, limits};
use serde::{Deserialize, Serialize};

use super::name::{self, NameError};

/// What is not finished by then is forgotten.
const FORGOTTEN_AFTER: Duration = Duration::from_hours(24);
/// Files on their way, in one conversation.
const MOST_ON_THEIR_WAY: usize = 16;
/// What is left for everything else on the disk.
const RESERVE: u64 = 256 * 1024 * 1024;
const PART: &str = "part";
const NOTE: &str = "json";

/// Why a file is not taken.
#[derive(Debug, thiserror::Error)]
pub enum UploadError {
    /// Its name.
    #[error(transparent)]
    Name(#[from] NameError),
    /// What is said of it cannot be.
    #[error("{0}")]
    Wrong(&'static str),
    /// More than is taken.
    #[error("{what} has {found} bytes, at most {limit}")]
    TooLarge {
        /// What.
        what: &'static str,
        /// What came.
        found: u64,
        /// What is allowed.
        limit: u64,
    },
    /// The state does not allow it now.
    #[error("{0}")]
    Conflict(String),
    /// Nothing was begun under this id, or there is no such file.
    #[error("nothing was sent under this id; it may have been forgotten after a day, begin again")]
    Unknown,
    /// No room.
    #[error("the disk of the machine is full")]
    Full,
    /// The disk.
    #[error("the file cannot be kept")]
    Io(#[source] io::Error),
}

impl From<io::Error> for UploadError {
    fn from(error: io::Error) -> Self {
        let full = [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded];
        if full.contains(&error.kind()) {
            Self::Full
        } else {
            Self::Io(error)
        }
    }
}

/// What somebody wants to send.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Wanted {
    /// What it is called by its sender.
    pub filename: String,
    /// What it is.
    pub mime_type: String,
    /// How many bytes it has.
    pub total_size: u64,
    /// How many bytes a chunk has, but for the last one.
    pub chunk_size: u64,
}

impl Wanted {
    /// How many chunks it has.
    pub fn chunks(&self) -> u64 {
        self.total_size.div_ceil(self.chunk_size.max(1))
    }

    fn check(&self) -> Result<(), UploadError> {
        let most = limits::MAX_BLOB_CHUNK_BYTES;
        if self.chunk_size == 0 {
            return Err(UploadError::Wrong("`chunkSize` is 0"));
        }
        if self.chunk_size > most {
            return Err(too_large("a chunk", self.chunk_size, most));
        }
        if self.total_size > limits::MAX_BLOB_BYTES {
            let limit = limits::MAX_BLOB_BYTES;
            return Err(too_large("the file", self.total_size, limit));
        }
        if self.mime_type.len() > 255 || self.mime_type.chars().any(char::is_control) {
            return Err(UploadError::Wrong("`mimeType` is no type of a file"));
        }
        name::safe(&self.filename)?;
        Ok(())
    }
}

fn too_large(what: &'static str, found: u64, limit: u64) -> UploadError {
    UploadError::TooLarge { what, found, limit }
}

/// How far a file came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// The chunk that is wanted next.
    pub next: u64,
    /// The file, if it is there.
    pub kept: Option<Kept>,
}

/// A file that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Its id.
    pub id: FileId,
    /// Where it is.
    pub path: PathBuf,
    /// How many bytes it has.
    pub size: u64,
}

/// All that was attached.
#[derive(Debug, Clone)]
pub struct Uploads {
    folder: PathBuf,
}

/// The paths of one file on its way.
struct Way {
    home: PathBuf,
    note: PathBuf,
    part: PathBuf,
    id: FileId,
}

impl Uploads {
    /// Those in a folder, which is made when the first file comes.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    fn way(&self, conversation: &ConversationId, blob: &BlobId) -> Result<Way, UploadError> {
        let home = self.folder.join(conversation.as_str());
        let name = format!("{conversation}/{blob}");
        let hash = blake3::hash(name.as_bytes()).to_hex();
        let id = FileId::parse(&hash[..32]).map_err(|_| UploadError::Unknown)?;
        Ok(Way {
            note: home.join(format!("{blob}.{NOTE}")),
            part: home.join(format!("{blob}.{PART}")),
            home,
            id,
        })
    }

    /// Begins, or tells how far it came.
    pub fn start(
        &self,
        conversation: &ConversationId,
        blob: &BlobId,
        wanted: &Wanted,
    ) -> Result<Progress, UploadError> {
        wanted.check()?;
        let way = self.way(conversation, blob)?;
        if let Some(kept) = kept(&way.home, &way.id)? {
            let next = wanted.chunks();
            let kept = Some(kept);
            return Ok(Progress { next, kept });
        }
        if let Some(known) = noted(&way.note)? {
            if known != *wanted {
                let text = "another file was begun under this id; choose a new id";
                return Err(UploadError::Conflict(text.to_owned()));
            }
            let next = next_of(&way.part, wanted)?;
            return Ok(Progress { next, kept: None });
        }
        let mut folders = DirBuilder::new();
        folders.recursive(true).mode(0o700).create(&way.home)?;
        make_room(&way.home, wanted.total_size)?;
        let text = serde_json::to_vec(wanted).map_err(io::Error::from)?;
        // The note comes last: what has none was never begun.
        drop(create(&way.part)?);
        let passing = way.home.join(format!("{blob}.new"));
        create(&passing)?.write_all(&text)?;
        fs::rename(&passing, &way.note)?;
        Ok(Progress {
            next: 0,
            kept: None,
        })
    }

    /// Takes a chunk. Gives the next that is wanted.
    pub fn chunk(
        &self,
        conversation: &ConversationId,
        blob: &BlobId,
        index: u64,
        bytes: &[u8],
    ) -> Result<u64, UploadError> {
        let way = self.way(conversation, blob)?;
        let Some(wanted) = noted(&way.note)? else {
            return match kept(&way.home, &way.id)? {
                // The end came before this did; it was all there.
                Some(_) => Ok(index.saturating_add(1)),
                None => Err(UploadError::Unknown),
            };
        };
        let next = next_of(&way.part, &wanted)?;
        if index >= wanted.chunks() {
            return Err(UploadError::Wrong("there is no chunk of this number"));
        }
        let offset = index * wanted.chunk_size;
        let length = wanted.chunk_size.min(wanted.total_size - offset);
        if bytes.len() as u64 != length {
            return Err(UploadError::Wrong(
                "the chunk has not as many bytes as it must have",
            ));
        }
        if index < next {
            return Ok(next);
        }
        if index > next {
            let text = format!("chunk {next} is the next one, not {index}");
            return Err(UploadError::Conflict(text));
        }
        let part = OpenOptions::new().write(true).open(&way.part)?;
        part.write_all_at(bytes, offset)?;
        Ok(index + 1)
    }

    /// All of it came: it is checked, and kept from now on.
    pub fn end(
        &self,
        conversation: &ConversationId,
        blob: &BlobId,
        checksum: &str,
    ) -> Result<Kept, UploadError> {
        let wanted_sum = parse_checksum(checksum)?;
        let way = self.way(conversation, blob)?;
        if let Some(kept) = kept(&way.home, &way.id)? {
            // One that died here before left its note.
            remove(&way.note)?;
            return Ok(kept);
        }
        let wanted = noted(&way.note)?.ok_or(UploadError::Unknown)?;
        let next = next_of(&way.part, &wanted)?;
        if next < wanted.chunks() {
            let text = format!("chunk {next} of {} is missing", wanted.chunks());
            return Err(UploadError::Conflict(text));
        }
        let part = OpenOptions::new().read(true).write(true).open(&way.part)?;
        // A piece of a chunk that was never acknowledged may be behind the end.
        part.set_len(wanted.total_size)?;
        if sum(&part)? != wanted_sum {
            remove(&way.note)?;
            remove(&way.part)?;
            let text = "what came is not what the checksum says; send the file again";
            return Err(UploadError::Conflict(text.to_owned()));
        }
        part.sync_all()?;
        let name = name::safe(&wanted.filename)?;
        let folder = way.home.join(way.id.as_str());
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder)?;
        fs::rename(&way.part, folder.join(name))?;
        for folder in [&folder, &way.home] {
            File::open(folder)?.sync_all()?;
        }
        remove(&way.note)?;
        kept(&way.home, &way.id)?.ok_or(UploadError::Unknown)
    }

    /// A file that is there.
    pub fn find(&self, conversation: &ConversationId, id: &FileId) -> Result<Kept, UploadError> {
        let home = self.folder.join(conversation.as_str());
        kept(&home, id)?.ok_or(UploadError::Unknown)
    }

    /// Removes everything of a conversation that is gone.
    pub fn forget(&self, conversation: &ConversationId) -> io::Result<()> {
        match fs::remove_dir_all(self.folder.join(conversation.as_str())) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    options.open(path)
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// What is being sent, if something is.
fn noted(note: &Path) -> Result<Option<Wanted>, UploadError> {
    match fs::read(note) {
        Ok(text) => {
            let wanted: Option<Wanted> = serde_json::from_slice(&text).ok();
            // One that a power cut left empty was never begun.
            Ok(wanted.filter(|wanted| wanted.check().is_ok()))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The chunk that is wanted next: one of which only a piece was written is written again.
fn next_of(part: &Path, wanted: &Wanted) -> Result<u64, UploadError> {
    let length = match fs::metadata(part) {
        Ok(found) => found.len(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            create(part)?;
            0
        }
        Err(error) => return Err(error.into()),
    };
    if length >= wanted.total_size {
        return Ok(wanted.chunks());
    }
    Ok(length / wanted.chunk_size)
}

/// The one file in the folder of an id.
fn kept(home: &Path, id: &FileId) -> Result<Option<Kept>, UploadError> {
    let entries = match fs::read_dir(home.join(id.as_str())) {
        Ok(entries) => entries,
        // A name that is not of a folder is none of ours.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            return Ok(None);
        }
        Err(error) => return Err(error.into()),
    };
    for entry in entries {
        let entry = entry?;
        let found = entry.metadata()?;
        if found.is_file() {
            let (id, path) = (id.clone(), entry.path());
            let size = found.len();
            return Ok(Some(Kept { id, path, size }));
        }
    }
    Ok(None)
}

/// Forgets what nobody finished, and refuses what would be too much.
fn make_room(home: &Path, wanted: u64) -> Result<(), UploadError> {
    let (mut on_their_way, mut size) = (0, 0_u64);
    let now = SystemTime::now();
    for entry in fs::read_dir(home)? {
        let path = entry?.path();
        if path.is_dir() {
            for file in fs::read_dir(&path)? {
                size = size.saturating_add(file?.metadata()?.len());
            }
            continue;
        }
        let found = match fs::metadata(&path) {
            // It was forgotten together with the other one of its pair.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            found => found?,
        };
        let age = found
            .modified()
            .ok()
            .and_then(|at| now.duration_since(at).ok());
        let is_part = path.extension().is_some_and(|ending| ending == PART);
        if is_part && age.is_some_and(|age| age > FORGOTTEN_AFTER) {
            remove(&path.with_extension(NOTE))?;
            remove(&path)?;
            continue;
        }
        on_their_way += usize::from(is_part);
        size = size.saturating_add(found.len());
    }
    if on_their_way >= MOST_ON_THEIR_WAY {
        let text = format!(
            "{on_their_way} files are on their way to this conversation; finish some first"
        );
        return Err(UploadError::Conflict(text));
    }
    let all = size.saturating_add(wanted);
    if all > limits::MAX_CONVERSATION_BLOB_BYTES {
        let limit = limits::MAX_CONVERSATION_BLOB_BYTES;
        return Err(too_large(
            "what is attached in this conversation",
            all,
            limit,
        ));
    }
    let disk = rustix::fs::statvfs(home).map_err(io::Error::from)?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    if free < wanted.saturating_add(RESERVE) {
        return Err(UploadError::Full);
    }
    Ok(())
}

fn parse_checksum(text: &str) -> Result<Vec<u8>, UploadError> {
    let digits = text.strip_prefix("sha256:");
    let bytes = digits.and_then(|digits| {
        data_encoding::HEXLOWER_PERMISSIVE
            .decode(digits.as_bytes())
            .ok()
    });
    bytes
        .filter(|bytes| bytes.len() == 32)
        .ok_or(UploadError::Wrong(
            "`checksum` is not `sha256:` and 64 hexadecimal digits",
        ))
}

fn sum(file: &File) -> io::Result<Vec<u8>> {
    let mut sum = Context::new(&SHA256);
    let mut buffer = vec![0; 64 * 1024];
    let mut file = file;
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok(sum.finish().as_ref().to_vec());
        }
        sum.update(buffer.get(..read).unwrap_or_default());
    }
}

#[cfg(test)]
#[path = "shelf_tests.rs"]
mod tests;
