//! Files that people attach to messages: taken in piece by piece, kept, and named to the agent by their paths.
//!
//! ```text
//! <folder>/<conversation>/<blob>.json       what is being sent
//! <folder>/<conversation>/<blob>.part       as much of it as came
//! <folder>/<conversation>/<file id>/<name>  one that is there
//! ```
//!
//! The files are the truth: nothing about them is remembered elsewhere, so a Pylon that dies finds all as it was. The folder
//! lies beside the data folder and not in it, because the agent may use what is attached and nothing of our own data.
//! `docs/design/attachments.md` has the crash windows. Requests of one conversation come one after another.

mod name;
mod shelf;

pub use name::{NameError, safe};
pub use shelf::{Kept, Progress, UploadError, Uploads, Wanted};
