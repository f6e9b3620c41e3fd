//! Conversations as a whole: laws that hold whatever people, the host and the CLI do, and the format of the log.

mod deeds;
mod driving;
mod format;
mod laws;
mod watcher;
mod world;
