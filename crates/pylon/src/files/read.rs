//! What is in a file: a chunk of it, as text or in Base64.
//!
//! Only the chunk is read, and the beginning by which text is told from the rest; a file of any size costs the same. One
//! that grows or shrinks meanwhile gives what is there.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use data_encoding::BASE64;
use estelle_proto::Timestamp;

use super::guard::Guard;
use super::list::modified;
use super::place::{LookError, Place, Wanted};

/// A file with a zero byte among the first of these is no text, as git has it.
const TELLING: usize = 8000;

/// Which part of a file is wanted, and how.
#[derive(Debug, Clone, Copy)]
pub struct Piece {
    /// Bytes to leave out.
    pub offset: u64,
    /// The most bytes.
    pub limit: usize,
    /// Whether it is wanted in Base64, text or not.
    pub is_encoded: bool,
}

/// What a chunk holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Contents {
    /// Text, as it is.
    Text(String),
    /// Anything, in Base64.
    Base64(String),
    /// Not text, and not asked for in another way.
    Binary,
}

/// A chunk of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Which file, seen from the base.
    pub relative: PathBuf,
    /// Bytes of the whole.
    pub size: u64,
    /// When it was last changed.
    pub modified: Timestamp,
    /// Whether it is no text.
    pub is_binary: bool,
    /// What is in it.
    pub contents: Contents,
    /// Bytes before it.
    pub offset: u64,
    /// Where the next one begins, if there is one.
    pub next: Option<u64>,
}

/// Reads a chunk of a file that is no secret.
pub fn read(base: &Path, relative: &Path, piece: Piece, guard: &Guard) -> Result<Chunk, LookError> {
    let place = Place::find(base, relative)?.that_is(Wanted::File)?;
    if guard.is_secret(&place.real) {
        return Err(LookError::Secret);
    }
    let file = File::from(place.open()?);
    let head = read_at(&file, 0, TELLING)?;
    let mut bytes = read_at(&file, piece.offset, piece.limit)?;
    let end = piece.offset.saturating_add(bytes.len() as u64);
    // Text goes on in the next chunk where this one would end inside a character.
    let is_whole = end >= u64::try_from(place.stat.st_size).unwrap_or(0);
    let text = (!head.contains(&0)).then(|| text(&mut bytes, is_whole));
    let text = text.flatten();
    let is_binary = text.is_none();
    let contents = match text {
        _ if piece.is_encoded => Contents::Base64(BASE64.encode(&bytes)),
        Some(text) => Contents::Text(text),
        None => Contents::Binary,
    };
    let size = u64::try_from(place.stat.st_size).unwrap_or(0);
    let next = piece.offset.saturating_add(bytes.len() as u64);
    Ok(Chunk {
        relative: place.relative.clone(),
        size,
        modified: modified(&place.stat),
        is_binary,
        offset: piece.offset,
        next: (next < size && contents != Contents::Binary).then_some(next),
        contents,
    })
}

/// The bytes as text, if they are text; those of a character that is not all there are taken away.
fn text(bytes: &mut Vec<u8>, is_whole: bool) -> Option<String> {
    if bytes.contains(&0) {
        return None;
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(text.to_owned()),
        Err(error) if error.error_len().is_none() && !is_whole && error.valid_up_to() > 0 => {
            bytes.truncate(error.valid_up_to());
            String::from_utf8(bytes.clone()).ok()
        }
        Err(_) => None,
    }
}

fn read_at(file: &File, offset: u64, limit: usize) -> Result<Vec<u8>, LookError> {
    let mut bytes = vec![0; limit];
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, offset.saturating_add(filled as u64)) {
            Ok(0) => break,
            Ok(more) => filled += more,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}
