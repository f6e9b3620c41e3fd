//! What hosts left behind that died during a trial: the program that was tried, which may hang, and its place.
//!
//! The program of a trial has pipes to its host, so most end with it. One that does not is found by its mark, as every
//! process of a run is.

use std::path::{Path, PathBuf};

use super::trial;
use crate::run::{RunFolder, clean_up as end_processes};

/// Ends what is left in the places below a folder, and removes them. They are listed at once, the rest takes its time.
pub(super) fn clean_up(below: &Path) -> impl Future<Output = ()> + Send + use<> {
    let entries = std::fs::read_dir(below).into_iter().flatten().flatten();
    let places: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    async move {
        for place in places {
            let Some(marker) = trial::marker(&place) else {
                continue;
            };
            let cleaned = end_processes(&RunFolder::open(&place), &marker).await;
            if cleaned.ended + cleaned.left > 0 {
                tracing::warn!(
                    ended = cleaned.ended,
                    left = cleaned.left,
                    "a program hung in a trial that its host did not live to end"
                );
            }
            // What is left behind is small and harmless.
            let _ = std::fs::remove_dir_all(&place);
        }
    }
}
