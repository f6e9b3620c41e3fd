//! The files of a folder, for somebody who looks at them from elsewhere: what is in a folder, and what is in a file; and the
//! folders that such people make.
//!
//! Names come from clients and what they lead to from whoever wrote the folder, so neither is trusted: a path is first
//! opened without touching what it names (`place`), then judged by what it really is, then read through the very handle
//! that was judged. Nothing here waits for a pipe, opens a device, or reads more than it was asked for.

mod guard;
mod list;
mod making;
mod place;
mod read;

pub use guard::Guard;
pub use list::{Listing, Page, list};
pub use making::{MakeError, find, make, rename};
pub use place::{LookError, Place, Wanted};
pub use read::{Chunk, Contents, Piece, read};

#[cfg(test)]
mod files_tests;
