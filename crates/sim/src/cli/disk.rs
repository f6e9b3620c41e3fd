//! The real files behind the machine's [`Disk`] port.

use std::io::{self, Write};
use std::path::Path;
use std::time::SystemTime;

use super::state::Disk;
use crate::script::Gates;

/// The real files.
pub(crate) struct Files {
    /// Where the gates of scripts are.
    pub(crate) gates: Option<Gates>,
}

impl Disk for Files {
    fn read(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(path).ok()
    }

    fn read_bytes(&self, path: &str) -> Option<Vec<u8>> {
        std::fs::read(path).ok()
    }

    fn write(&mut self, path: &str, text: &str) -> io::Result<()> {
        make_parent(path)?;
        std::fs::write(path, text)
    }

    fn append(&mut self, path: &str, text: &str) -> io::Result<()> {
        make_parent(path)?;
        let mut file = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)?;
        file.write_all(text.as_bytes())
    }

    fn names_by_age(&self, dir: &str) -> Vec<String> {
        let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
        let mut names: Vec<(SystemTime, String)> = entries
            .filter_map(|entry| {
                let changed = entry.metadata().ok()?.modified().ok()?;
                Some((changed, entry.file_name().to_string_lossy().into_owned()))
            })
            .collect();
        names.sort();
        names.into_iter().map(|(_, name)| name).collect()
    }

    fn gate_is_open(&self, name: &str) -> bool {
        // Without a directory of gates nothing could ever open one.
        self.gates.as_ref().is_none_or(|gates| gates.is_open(name))
    }
}

fn make_parent(path: &str) -> io::Result<()> {
    match Path::new(path).parent() {
        Some(parent) => std::fs::create_dir_all(parent),
        None => Ok(()),
    }
}
