//! The conversation log: append-only, checksummed, chained.
//!
//! One record is one line: a hash, a space, the payload (JSON without a line feed). The hash covers the payload and
//! the hash before it, so one number proves everything up to it; two logs with the same hash at the same place are
//! the same log. The log does not know what a payload means.

mod file;
mod inspect;
mod record;

pub(crate) use file::Part;
pub use file::{AppendError, Damage, Log, Opened, Proven, Sync, read_between, sync};
pub use inspect::{Inspected, InspectedRecord, inspect};
pub use record::ChainHash;
