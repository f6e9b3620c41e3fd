//! App ↔ Pylon: choosing a folder on the machine.
//!
//! ```text
//! app ── folder_list {path} ────────────► pylon      app ◄─ folder_list_result
//! app ── folder_create {path, name} ────► pylon      app ◄─ folder_create_result
//! app ── folder_rename {path, newName} ─► pylon      app ◄─ folder_rename_result
//! ```
//!
//! Only folders under the configured roots are listed, after symbolic links are resolved; hidden ones are left out.
//! Listing a folder executes nothing of it. Folders are made and renamed under the roots too; where none is configured, under
//! the home of whoever runs the Pylon. Nothing that is there is replaced, and nothing hidden is touched.
//!
//! # Failures
//!
//! | what | `errorCode` |
//! |---|---|
//! | the path does not exist, is no folder or lies outside the roots | `bad_path` |
//! | the Pylon may not read it, or not write there | `forbidden` |
//! | a name that is blank, hidden, too long, or has a separator or control character in it | `invalid_message` |
//! | something of this name is there; the folder is a root, or a workspace is in it | `conflict` |
//! | no room on the disk | `disk_full` |

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
            /// What the system is called: `linux`, `macos`.
            platform: String,
            /// Where one can begin: the configured roots, or the root of the file system.
            drives: Vec<Drive>,
        }
    }
}

data! {
    /// A place to begin.
    pub struct Drive {
        required {
            /// Where.
            path: PathText,
            /// What it is called.
            label: String,
            /// Whether there are folders in it.
            has_children: bool,
        }
    }
}

request! {
    /// Makes a folder.
    pub struct FolderCreate {
        required {
            /// In which one.
            path: PathText,
            /// What it is called; at most 255 bytes.
            name: String,
        }
    }
}

reply! {
    /// Whether a folder was made.
    pub struct FolderCreateResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
        }
        optional {
            /// Where it is.
            path: PathText,
        }
    }
}

request! {
    /// Gives a folder another name, where it is.
    pub struct FolderRename {
        required {
            /// Which one.
            path: PathText,
            /// What it is called from now on; at most 255 bytes.
            new_name: String,
        }
    }
}

reply! {
    /// Whether a folder was renamed.
    pub struct FolderRenameResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
        }
        optional {
            /// Where it is now.
            path: PathText,
        }
    }
}
