//! Who works in a folder: every process whose current folder is in it.

use std::path::Path;

/// The processes that work in a folder, by name and number. Those of other users cannot be seen.
pub(super) fn working_in(folder: &Path) -> Vec<String> {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    let found = processes.flatten().filter_map(|entry| {
        let number: u32 = entry.file_name().to_str()?.parse().ok()?;
        let at = std::fs::read_link(entry.path().join("cwd")).ok()?;
        at.starts_with(&folder).then_some(())?;
        let name = std::fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
        Some(format!("{} (process {number})", name.trim()))
    });
    found.collect()
}
