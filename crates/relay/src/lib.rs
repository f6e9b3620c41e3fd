//! The relay: routes messages between the devices of a realm, and cannot read them.
//!
//! ```text
//! socket ─► http: host, origin, upgrade ─► connection ─ frames ─► hub ─► machine (pure) ─► effects ─► outboxes ─► sockets
//! ```
//!
//! - [`Relay::bind`] starts a relay, [`Relay::stop`] ends it with notice to everybody.
//! - [`Registry`] is the file of realms, Pylons and devices, which holds hashes of their secrets and never a secret.
//! - [`Config`] says where it listens, whom it believes and how much it takes.
//!
//! All decisions are made by a machine without IO: who is let in, what a device may send, who receives it, how a device
//! is paired. Around it are a task per connection, a task that owns the machine, and one that writes the registry.

mod config;
mod limit;
mod machine;
mod metrics;
mod registry;
mod secret;
mod server;
mod ws;

pub use config::{Api, Config, Limits, Page, Pages, Rate, TlsFiles};
pub use machine::Recognized;
pub use registry::{
    IssueError, ListedPylon, NewDevice, OpenError, PylonProfile, RealmName, RealmNameError,
    Registry, SaveError,
};
pub use server::{BindError, CommandError, Issued, Relay};
