//! The pylon: the controller of a machine, between the host that owns the runs and the relay that reaches the apps.
//!
//! [`desk`] carries out what clients ask for and tells them what the host reports. [`link`] holds the connections to both
//! and tries again for ever. [`store`] is its memory in SQLite: workspaces, conversations, history, usage. Everything in it
//! that came from the host can be fetched from there again. The pylon links neither the SDK nor the host: it speaks IPC,
//! so that a host of an older build goes on under a newer pylon. [`bugs`] and [`release`] are files beside the store,
//! [`tasks`] files in the workspaces. [`files`] and [`git`] look into their folders. [`deploy`] brings new builds to
//! the machine. [`uploads`] is what people attach to messages, [`edits`] what tools did to files.

pub mod bugs;
pub mod deploy;
pub mod desk;
pub mod edits;
mod failpoint;
mod fetch;
pub mod files;
pub mod git;
pub mod link;
mod notify;
pub mod release;
#[cfg(test)]
mod small_disk;
pub mod store;
pub mod tasks;
pub mod uploads;
pub mod worktrees;
