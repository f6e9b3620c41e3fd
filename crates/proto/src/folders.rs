//! App ↔ Pylon: choosing a folder on the machine.
//!
//! ```text
//! app ── folder_list {path} ─► pylon      app ◄─ folder_list_result
//! ```
//!
//! Only folders under the configured roots are listed, after symbolic links are resolved; hidden ones are left out.
//! Listing a folder executes nothing of it.
//!
//! # Failures
//!
//! | what | `errorCode` |
//! |---|---|
//! | the path does not exist, is no folder or lies outside the roots | `bad_path` |
//! | the Pylon may not read it | `forbidden` |

use crate::{DeviceId, PathText};

request! {
    /// Asks for the folders in a folder.
    pub struct FolderList {
        optional {
            /// Which one; absent means where workspaces usually are.
            path: PathText,
        }
    }
}

reply! {
    /// The folders in a folder, sorted by name.
    pub struct FolderListResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// The folder, resolved.
            path: PathText,
            /// The names in it; at most 5000.
            folders: Vec<String>,
        }
        optional {
            /// Whether there were more.
            truncated: bool,
        }
    }
}
