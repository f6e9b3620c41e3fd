//! Device ↔ relay: the devices that belong to the realm, connected or not, and what they may do.
//!
//! ```text
//! device ── paired_list ───► relay      device ◄─ paired_list_result
//! device ── device_rights ─► relay      device ◄─ device_rights_result    the changed device ◄─ rights_changed
//! device ── device_revoke ─► relay      device ◄─ device_revoke_result    the revoked device is cut off
//! pylon ─── device_add ────► relay      pylon ◄── device_add_result {token}
//! ```
//!
//! A Pylon may do all of this; a client needs the right `admin`, cannot change its own rights and cannot give what it
//! does not have. Every device may revoke itself. Adding a device without pairing is for the machine's own user.
//!
//! # Failures
//!
//! | what | answer |
//! |---|---|
//! | a client without `admin`; own rights; rights the asker lacks; `device_add` from a client | the result, with `forbidden` |
//! | no such device in the realm | the result, with `unknown_device` |
//! | an unknown right | the result, with `invalid_message` |
//! | the change could not be written to the disk | the result, with `disk_full` |

use crate::{DeviceId, DeviceKey, Name, Right, Timestamp, Token};

data! {
    /// A device that belongs to the realm.
    pub struct PairedDevice {
        required {
            /// Names it, the same after every reconnect.
            device_key: DeviceKey,
            /// Its name, for people.
            name: Name,
            /// What it may do.
            rights: Vec<Right>,
            /// When it joined.
            created_at: Timestamp,
            /// Its connections now, by the ids they have.
            connected: Vec<DeviceId>,
        }
        optional {
            /// When it was last connected; absent: not since the relay started.
            last_seen_at: Timestamp,
            /// When it stops being let in.
            expires_at: Timestamp,
        }
    }
}

request! {
    /// Asks which devices belong to the realm.
    pub struct PairedList {}
}

reply! {
    /// The devices of the realm, Pylons excepted, oldest first.
    pub struct PairedListResult {
        required {
            /// All of them.
            devices: Vec<PairedDevice>,
        }
    }
}

request! {
    /// Adds a device without pairing.
    pub struct DeviceAdd {
        required {
            /// Its name.
            name: Name,
            /// What it may do.
            rights: Vec<Right>,
        }
        optional {
            /// When it stops being let in; absent: never.
            expires_at: Timestamp,
        }
    }
}

reply! {
    /// The device that was added.
    pub struct DeviceAddResult {
        optional {
            /// The device; only on success.
            device: PairedDevice,
            /// Its secret; only on success. It is shown this once.
            token: Token,
        }
    }
}

request! {
    /// Takes a device out of the realm. Its connections are closed within a second.
    pub struct DeviceRevoke {
        required {
            /// Which device.
            device_key: DeviceKey,
        }
    }
}

reply! {
    /// Whether the device is out.
    pub struct DeviceRevokeResult {
        required {
            /// Which device.
            device_key: DeviceKey,
        }
    }
}

request! {
    /// Changes what a device may do, from its next message on.
    pub struct DeviceRights {
        required {
            /// Which device.
            device_key: DeviceKey,
            /// All that it may do.
            rights: Vec<Right>,
        }
    }
}

reply! {
    /// Whether the rights were changed.
    pub struct DeviceRightsResult {
        required {
            /// Which device.
            device_key: DeviceKey,
        }
        optional {
            /// What it may do now; only on success.
            rights: Vec<Right>,
        }
    }
}

data! {
    /// What this device may do was changed.
    pub struct RightsChanged {
        required {
            /// All that it may do now.
            rights: Vec<Right>,
        }
    }
}
