//! The host's socket: JSON lines between the host and its clients, as `estelle_proto::ipc` describes them.
//!
//! ```text
//! socket ─► lines ─► parse ─► vet ─► Desk::submit ─┐
//!    ▲                                             ├─► request_result
//!    └──────── carry ◄── mailbox ◄── actors ◄──────┘
//! ```
//!
//! [`serve`] accepts, [`Desk`] is what it needs of the host. A line that makes no sense is answered and changes nothing; the
//! connection lives on. No client can make another wait: each has its own tasks and its own mailbox. What a command
//! means is not decided here.

mod client;
mod connection;
mod desk;
mod lines;
mod listen;
mod parse;
mod read;
mod roll;
mod subscriptions;
mod vet;
mod write;

pub use client::{Client, ConnectError, RequestError, WireError};
pub use desk::{Desk, Done, Refusal, SavedFound};
pub(crate) use lines::{Line, Lines};
pub use listen::{BindError, Listener, MAX_CLIENTS, serve};
pub(crate) use roll::in_one_line;
