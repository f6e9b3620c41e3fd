//! What the CLI itself saves of a session: where the transcript of a run is, and which messages it knows.
//!
//! The CLI files transcripts under the folder it works in, as the system names it: without links. Its configuration may
//! be moved by a variable, which the record of the launch has. Nothing here is kept in memory but one piece of the file.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use estelle_claude::saved::folder_name;
use memchr::memmem;

use super::folder::LaunchRecord;

/// How much of the end of a transcript is looked at. Messages whose fate is not known are the last ones.
const TAIL: u64 = 256 * 1024 * 1024;

/// How much is read in one go.
const CHUNK: usize = 256 * 1024;

/// How many folders are looked into for a transcript that is not where it belongs.
const MAX_FOLDERS: usize = 10_000;

/// Where the CLI of a run keeps the transcript of a session, if it is there.
pub(crate) fn transcript(launch: &LaunchRecord, session: &str) -> Option<PathBuf> {
    let config = match launch.env.get("CLAUDE_CONFIG_DIR") {
        Some(config) if !config.is_empty() => PathBuf::from(config),
        Some(_) | None => Path::new(launch.env.get("HOME")?).join(".claude"),
    };
    let projects = config.join("projects");
    let name = format!("{session}.jsonl");
    let cwd = std::fs::canonicalize(&launch.cwd).unwrap_or_else(|_| launch.cwd.clone());
    let usual = projects.join(folder_name(&cwd)).join(&name);
    if usual.is_file() {
        return Some(usual);
    }
    // The folder may have been moved since; the id of a session is nobody else's.
    let folders = std::fs::read_dir(projects).ok()?.flatten();
    let mut files = folders
        .take(MAX_FOLDERS)
        .map(|folder| folder.path().join(&name));
    files.find(|file| file.is_file())
}

/// Which of these ids stand in a transcript, as far back as is looked.
pub(crate) fn mentioned(path: &Path, ids: &[String]) -> io::Result<HashSet<String>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
    let overlap = ids.iter().map(String::len).max().unwrap_or_default();
    let mut missing: Vec<_> = ids
        .iter()
        .filter(|id| !id.is_empty())
        .map(|id| (id, memmem::Finder::new(id.as_bytes())))
        .collect();
    let mut found = HashSet::new();
    let mut bytes = Vec::with_capacity(CHUNK + overlap);
    while !missing.is_empty() {
        let read = (&mut file).take(CHUNK as u64).read_to_end(&mut bytes)?;
        if read == 0 {
            break;
        }
        missing.retain(|(id, finder)| {
            let is_there = finder.find(&bytes).is_some();
            if is_there {
                found.insert((*id).clone());
            }
            !is_there
        });
        // An id may lie across two pieces.
        bytes.drain(..bytes.len().saturating_sub(overlap));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn launch(cwd: &Path, env: &[(&str, &Path)]) -> LaunchRecord {
        let env = env.iter();
        let env = env.map(|(name, value)| ((*name).to_owned(), value.display().to_string()));
        LaunchRecord {
            program: "/opt/claude".into(),
            args: Vec::new(),
            env: env.collect::<BTreeMap<_, _>>(),
            cwd: cwd.to_owned(),
            cli_version: "2.1.197".to_owned(),
        }
    }

    fn put(config: &Path, cwd: &Path, session: &str) -> PathBuf {
        let folder = config.join("projects").join(folder_name(cwd));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join(format!("{session}.jsonl"));
        std::fs::write(&file, "{}\n").unwrap();
        file
    }

    #[test]
    fn a_transcript_is_found_behind_links_and_where_the_configuration_was_moved() {
        let place = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(place.path()).unwrap();
        let (work, link, home) = (root.join("work"), root.join("link"), root.join("home"));
        std::fs::create_dir(&work).unwrap();
        std::os::unix::fs::symlink(&work, &link).unwrap();
        let plain = put(&home.join(".claude"), &work, "one");
        let moved = put(&root.join("config"), &work, "two");
        let homed = launch(&link, &[("HOME", &home)]);
        assert_eq!(transcript(&homed, "one"), Some(plain));
        assert_eq!(transcript(&homed, "two"), None);
        let config = root.join("config");
        let elsewhere = launch(&link, &[("HOME", &home), ("CLAUDE_CONFIG_DIR", &config)]);
        assert_eq!(transcript(&elsewhere, "two"), Some(moved.clone()));
        std::fs::remove_dir(&work).unwrap();
        assert_eq!(transcript(&elsewhere, "two"), Some(moved), "folder gone");
    }

    #[test]
    fn an_id_is_found_wherever_it_lies() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("session.jsonl");
        let id = |number: usize| format!("6a2f41a3-c54c-4f3c-8d2e-00000000000{number}");
        // The first lies across the border of two pieces.
        let mut text = "x".repeat(CHUNK - 10) + &id(1);
        text += &"y".repeat(2 * CHUNK);
        text += &id(2);
        std::fs::write(&file, text).unwrap();
        let found = mentioned(&file, &[id(1), id(2), id(3)]).unwrap();
        assert_eq!(found, HashSet::from([id(1), id(2)]));
        assert!(mentioned(&file, &[]).unwrap().is_empty());
    }
}
