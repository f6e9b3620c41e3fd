//! The registry: realms, their Pylons and devices, and the hashes of their secrets.
//!
//! [`Directory`] is the data and its rules, without IO; [`Registry`] is a directory with its file, which one relay owns at
//! a time. Whoever presents a secret is looked up by its hash, so a realm is never something a client can choose.

mod directory;
mod file;

pub(crate) use directory::{Directory, Principal, RealmRecord, Replaced, Who, checked, shown};
pub use directory::{IssueError, ListedPylon, NewDevice, PylonProfile, RealmName, RealmNameError};
pub use file::{OpenError, Registry, SaveError};
pub(crate) use file::{RegistryFile, Version, encode};
