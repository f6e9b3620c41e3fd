//! The conversations the CLI has saved on disk: list, read, rename, tag, archive, delete, fork.
//!
//! [`SavedSessions`] is the handle: it knows the configuration directory and, after [`SavedSessions::within`], the
//! project to look in. A conversation is one file of JSON lines under `projects/<folder>/<session id>.jsonl`; the
//! CLI may be appending to it while it is read, so a half last line and lines that are no JSON are passed over.
//!
//! **All functions block** on the file system and none needs the CLI; async callers wrap them in
//! `tokio::task::spawn_blocking`. Listing reads only the beginning and the end of each file. Links inside the
//! projects folder are never followed, and ids are checked before they become part of a path. This module starts no
//! process and resumes nothing: give an id to [`crate::options::Options::resume`] for that.

mod archive;
mod chain;
mod edit;
mod entry;
mod folder;
mod fork;
mod id;
mod info;
mod lines;
mod list;
mod messages;
mod prompt;
mod store;
mod subagents;
mod time;
mod worktrees;

pub use edit::EditError;
pub use folder::folder_name;
pub use fork::{ForkError, ForkOptions};
pub use id::{AgentId, InvalidId, SessionId};
pub use info::SessionInfo;
pub use list::ListOptions;
pub use messages::{MessageOptions, SavedMessage};
pub use store::{LoadError, NoConfigDir, SavedSessions};

#[cfg(test)]
mod saved_tests;
