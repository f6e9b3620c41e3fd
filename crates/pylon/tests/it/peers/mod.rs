//! Stand-ins for the other sides of the pylon's links, on real sockets.

use std::time::Duration;

pub(crate) mod host;
pub(crate) mod push;
pub(crate) mod relay;

/// Longer than anything here takes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
