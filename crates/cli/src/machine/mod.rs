//! What only the machine itself may do: let devices in, copy its memory and put a copy back.
//!
//! ```text
//!   estelle pair, estelle devices ── up.sock ──► door in `estelle up` ── as the Pylon ──► relay
//! ```
//!
//! The relay takes such requests from a Pylon alone. Whoever can open the socket in the data folder is at the machine, so
//! the door passes a few kinds of messages on as the Pylon and hands back what the relay says.

mod call;
mod devices;
mod door;
mod pair;
mod store;

pub(crate) use devices::{DevicesArgs, paired, parse_rights, run as devices, terminal};
pub(crate) use door::{Door, Inside, PutBack, Restoration, is_for_the_machine};
pub(crate) use pair::{Code, PairArgs, offer, run as pair};
pub(crate) use store::{StoreRequest, ask_store, find, tell};

use std::path::{Path, PathBuf};

/// Whether `estelle up` or `estelle pylon` runs on a folder.
pub(crate) async fn is_open(data: &Path) -> bool {
    tokio::net::UnixStream::connect(socket(data)).await.is_ok()
}

/// Where the door is.
fn socket(data: &Path) -> PathBuf {
    data.join("up.sock")
}
