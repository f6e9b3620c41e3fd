//! What a folder takes on the disk.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Most names that are looked at; a folder with more takes at least as much.
const MOST: usize = 500_000;

/// Bytes on the disk of everything in a folder. Links are not followed.
pub(super) fn used(folder: &Path) -> u64 {
    let (mut bytes, mut seen) = (0_u64, 0_usize);
    let mut left = vec![folder.to_owned()];
    while let Some(folder) = left.pop() {
        let Ok(entries) = std::fs::read_dir(folder) else {
            continue;
        };
        for entry in entries.flatten() {
            seen += 1;
            if seen > MOST {
                return bytes;
            }
            let Ok(known) = entry.metadata() else {
                continue;
            };
            bytes = bytes.saturating_add(known.blocks().saturating_mul(512));
            if known.is_dir() {
                left.push(entry.path());
            }
        }
    }
    bytes
}
