//! The journals: stretches of the log tile them from the first byte to the last, and the bytes are those that were read.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function looks at a few kinds and leaves the others alone"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

use estelle_proto::Generation;
use estelle_state::conversation::{Entry, Record, Stretch};
use rustix::fs::{SeekFrom, seek};

use super::report::{Checked, FindingKind};
use super::{Host, VerifyError, failed};
use crate::run::RunFolder;

/// How much is read in one go.
const CHUNK: usize = 256 * 1024;

/// A run, its folder, and whether all of its journal could be looked at.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) folder: RunFolder,
    pub(super) whole: bool,
}

/// Proves every journal of a conversation.
pub(super) fn check(
    folder: &Path,
    entries: &[Entry],
    host: Host,
    checked: &mut Checked,
) -> Result<Vec<Run>, VerifyError> {
    let mut stretches: BTreeMap<Generation, Vec<&Stretch>> = BTreeMap::new();
    let mut ended = BTreeSet::new();
    for entry in entries {
        match &entry.record {
            Record::Intended { generation, .. } => {
                stretches.entry(*generation).or_default();
            }
            Record::Read(stretch) => stretches
                .entry(stretch.generation)
                .or_default()
                .push(stretch),
            Record::Ended { generation, .. } => {
                ended.insert(*generation);
            }
            _ => {}
        }
    }
    checked.runs = stretches.len() as u64;
    let runs = folder.join("runs");
    strangers(&runs, &stretches, checked);
    let mut proven = Vec::new();
    for (generation, stretches) in stretches {
        let folder = RunFolder::open(runs.join(generation.0.to_string()));
        let over = ended.contains(&generation) && host == Host::Away;
        if host == Host::Away && !ended.contains(&generation) && is_over(&folder) {
            let what = format!("run {generation} is over and the log does not say so yet");
            checked.find(FindingKind::Unproven, 1, what);
        }
        let whole = one(&folder, generation, &stretches, over, checked)?;
        proven.push(Run { folder, whole });
    }
    Ok(proven)
}

fn is_over(folder: &RunFolder) -> bool {
    folder.is_tombstoned() || matches!(folder.load_exit(), Ok(Some(_)))
}

/// Folders of runs that the log does not know.
fn strangers(runs: &Path, known: &BTreeMap<Generation, Vec<&Stretch>>, checked: &mut Checked) {
    let folders = std::fs::read_dir(runs).into_iter().flatten().flatten();
    for folder in folders {
        let name = folder.file_name().to_string_lossy().into_owned();
        let Ok(number) = name.parse() else { continue };
        // A life before this one has left it; its log was cleared on purpose.
        let earlier = known.keys().next().is_some_and(|first| number < first.0);
        let journal = RunFolder::open(folder.path()).journal();
        let bytes = std::fs::metadata(journal).map_or(0, |metadata| metadata.len());
        if !known.contains_key(&Generation(number)) && !earlier && bytes > 0 {
            let what = format!("run {number} has a journal and the log does not know it");
            checked.find(FindingKind::Lost, bytes, what);
        }
    }
}

/// Proves one journal; says whether all of it could be looked at.
fn one(
    folder: &RunFolder,
    generation: Generation,
    stretches: &[&Stretch],
    over: bool,
    checked: &mut Checked,
) -> Result<bool, VerifyError> {
    let end = tile(generation, stretches, checked);
    let path = folder.journal();
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if end > 0 {
                let what = format!("run {generation}: the journal is gone");
                checked.find(FindingKind::Unproven, end, what);
            }
            return Ok(end == 0);
        }
        Err(error) => return Err(failed(&path)(error)),
    };
    let length = file.metadata().map_err(failed(&path))?.len();
    let holes = holes(&file, length).map_err(failed(&path))?;
    let mut unproven = 0;
    for stretch in stretches {
        let bytes = stretch.to.saturating_sub(stretch.from);
        let what = format!("run {generation}, bytes {} to {}", stretch.from, stretch.to);
        if stretch.to > length {
            let what = format!("{what}: the journal ends at {length}");
            checked.find(FindingKind::Lost, stretch.to - length, what);
        } else if is_hash_of(&file, stretch).map_err(failed(&path))? {
            checked.journal_bytes += bytes;
        } else if holes.iter().any(|hole| overlaps(hole, stretch)) {
            unproven += bytes;
        } else {
            let what = format!("{what}: these are not the bytes that were read");
            checked.find(FindingKind::Damage, bytes, what);
        }
    }
    if unproven > 0 {
        let what = format!("run {generation}: that much was given back to the disk");
        checked.find(FindingKind::Unproven, unproven, what);
    }
    if length > end {
        rest(generation, end..length, over, checked);
    }
    Ok(unproven == 0 && holes.is_empty())
}

/// The stretches follow each other from the first byte on. Gives the end.
fn tile(generation: Generation, stretches: &[&Stretch], checked: &mut Checked) -> u64 {
    let mut end = 0;
    for stretch in stretches {
        let at = format!("run {generation}, byte {end}");
        if stretch.from > end {
            let what = format!("{at}: the log goes on at {}", stretch.from);
            checked.find(FindingKind::Gap, stretch.from - end, what);
        }
        if stretch.from < end {
            let what = format!("{at}: the log begins again at {}", stretch.from);
            checked.find(FindingKind::Duplicated, end - stretch.from, what);
        }
        end = stretch.to.max(end);
    }
    end
}

/// What lies behind the last stretch.
fn rest(generation: Generation, rest: Range<u64>, over: bool, checked: &mut Checked) {
    let bytes = rest.end - rest.start;
    if over {
        let what = format!(
            "run {generation} is over, and its journal was not read behind byte {}",
            rest.start
        );
        checked.find(FindingKind::Lost, bytes, what);
    } else {
        let what = format!(
            "run {generation}: the journal behind byte {} belongs to no event yet",
            rest.start
        );
        checked.find(FindingKind::Unproven, bytes, what);
    }
}

fn overlaps(hole: &Range<u64>, stretch: &Stretch) -> bool {
    hole.start < stretch.to && stretch.from < hole.end
}

/// The log keeps the first digits of the hash.
fn is_hash_of(file: &File, stretch: &Stretch) -> io::Result<bool> {
    let mut hasher = blake3::Hasher::new();
    let mut chunk = vec![0; CHUNK];
    let mut at = stretch.from;
    while at < stretch.to {
        let wanted = usize::try_from(stretch.to - at).map_or(CHUNK, |left| left.min(CHUNK));
        let read = file.read_at(&mut chunk[..wanted], at)?;
        if read == 0 {
            return Ok(false);
        }
        hasher.update(&chunk[..read]);
        at += read as u64;
    }
    let hash = hasher.finalize().to_hex();
    Ok(stretch.hash.len() >= 16 && hash.as_str().starts_with(&stretch.hash))
}

/// The ranges that were given back.
fn holes(file: &File, length: u64) -> io::Result<Vec<Range<u64>>> {
    let mut holes = Vec::new();
    let mut at = 0;
    while at < length {
        let hole = match seek(file, SeekFrom::Hole(at)) {
            Ok(hole) => hole,
            // A file system that does not know holes has none.
            Err(rustix::io::Errno::INVAL) => break,
            Err(error) => return Err(error.into()),
        };
        if hole >= length {
            break;
        }
        let data = match seek(file, SeekFrom::Data(hole)) {
            Ok(data) => data,
            Err(rustix::io::Errno::NXIO) => length,
            Err(error) => return Err(error.into()),
        };
        holes.push(hole..data.min(length));
        at = data;
    }
    Ok(holes)
}
