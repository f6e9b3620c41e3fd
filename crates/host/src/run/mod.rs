//! One run: a CLI process that nobody above can take down by accident.
//!
//! The pieces, each small: the folder and its files ([`RunFolder`]), the lock that says whether the run lives
//! ([`lock`]), the shim that is the CLI's parent ([`shim`]), the FIFO ([`fifo`]), the journal ([`journal`]) and its
//! place on the disk ([`space`]), and the transport that lets the SDK speak over them ([`attach`]). What a run leaves
//! behind is ended by [`clean_up`]. No protocol byte passes through a process of ours that could die.

mod attach;
pub mod cgroup;
mod cleanup;
pub mod fifo;
mod folder;
pub mod journal;
pub mod lock;
mod retain;
pub(crate) mod saved;
pub mod shim;
pub mod space;
mod start;
mod unreaped;
mod watch;

pub use attach::{attach, process_of, send_signal, stderr_tail};
pub use cleanup::{Cleaned, clean_up, end_start};
pub use folder::{ExitRecord, LaunchRecord, RunFolder, RunRecord};
pub(crate) use folder::{read_record, write_record};
pub(crate) use retain::retire;
pub use start::{ShimCommand, StartError, Tombstoned, start, start_detached, tombstone};
pub use unreaped::{is_unreaped, kill_shim};
pub use watch::{Bell, RunWatch};
