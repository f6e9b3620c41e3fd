//! Whether a folder may bring its own configuration: tool servers, settings, hooks.
//!
//! The CLI would load such files and run what they name without asking, so the first start in a folder that brings
//! some is a question to a person, and so is every change of them. [`scan`] reads what the CLI would load,
//! [`FolderContents`] says what it could run and has a hash of it all, [`TrustStore`] remembers the answers by folder
//! and hash.
//!
//! Measured on 2.1.197 and 2.1.325 with the setting sources `user,project,local`: settings come from the working folder
//! (2.1.325 also takes `settings.local.json` of the repository's root), agents and skills from every folder up to the
//! repository's root, or up to `/` outside of a repository. With the source `user` alone nothing of all this is read.
//! Instructions (CLAUDE.md and the like) are text that cannot run anything and need no trust; slash commands and
//! skills that carry shell lines pass the permission gate.

mod contents;
mod scan;
mod store;

#[cfg(test)]
mod trust_tests;

pub use contents::{ContentHash, FolderContents, Item, Kind, Problem, user_hook_events};
pub use scan::{ScanError, scan, scan_settings, scan_user_hooks};
pub use store::{Answered, RecordError, Standing, StoreWarning, TrustStore, Verdict};
