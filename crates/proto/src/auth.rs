//! Device ↔ relay: who is there.
//!
//! ```text
//! device                                 relay
//!   │ ◄──────── connected ───────────────── │  on opening
//!   │ ───────── auth {deviceType, token} ─► │  within 5 s, or the connection is closed
//!   │ ◄──────── auth_result ─────────────── │  a failure is followed by a close
//!   │ ◄──────── device_status ───────────── │  to everybody of the realm, coalesced, after each change
//!   │ ◄──────── client_disconnect ───────── │  to Pylons, when a client went away
//!   │ ───────── ping ─────────────────────► │  any time; answered by `pong`
//!   │ ◄──────── relay_restarting ────────── │  before the relay goes down on purpose
//! ```
//!
//! Pylons announce the id of their configuration; a client gets its id from the relay. Before `auth` succeeded
//! the relay reads nothing else, and no frame above 8 KiB.
//!
//! # Failures
//!
//! | what | answer |
//! |---|---|
//! | no `deviceType`; a Pylon without `deviceId`; unknown device; wrong or revoked token | `auth_result` with `success: false`, `auth_failed`, then a close |
//! | anything before `auth` | `error` with `not_authenticated` |
//! | too many frames, too much waiting | `error` with `rate_limited`, then a close |
//! | `relay_update` from a client | `error` with `forbidden` |

use crate::devices::{
    DeviceAdd, DeviceAddResult, DeviceRevoke, DeviceRevokeResult, DeviceRights, DeviceRightsResult,
    PairedList, PairedListResult, RightsChanged,
};
use crate::pairing::{
    PairClosed, PairConfirm, PairConfirmResult, PairOffer, PairOfferResult, PairRequest,
    PairRequestResult, PairRequested, PairResult,
};
use crate::{DeviceId, DeviceKey, DeviceType, ErrorReport, IsoTime, Right, Token};

request! {
    /// The first message of every device.
    pub struct Auth {
        required {
            /// What the device is.
            device_type: DeviceType,
        }
        optional {
            /// Which device: Pylons only.
            device_id: DeviceId,
            /// The device's secret.
            token: Token,
            /// A name for people, if the device has one of its own.
            name: crate::Name,
            /// The protocol version the device speaks; absent means 1.
            protocol: u32,
        }
    }
}

data! {
    /// A device, as people see it.
    pub struct Device {
        required {
            /// Which device.
            device_id: DeviceId,
            /// What it is.
            device_type: DeviceType,
            /// Its name.
            name: String,
            /// Its icon, an emoji.
            icon: String,
            /// What it is for: `home`, `office`, `client`.
            role: String,
        }
    }
}

reply! {
    /// The answer to `auth`.
    pub struct AuthResult {
        optional {
            /// The device as the relay knows it; only on success.
            device: Device,
            /// What the device may do; only on success.
            rights: Vec<Right>,
            /// The paired device, the same after every reconnect; only on success, and only for clients.
            device_key: DeviceKey,
            /// The protocol version the relay speaks; absent means 1.
            protocol: u32,
            /// The build of the relay.
            relay_version: String,
        }
    }
}

data! {
    /// A device that is connected now.
    pub struct ConnectedDevice {
        required {
            /// Which device.
            device_id: DeviceId,
            /// What it is.
            device_type: DeviceType,
            /// Its name.
            name: String,
            /// Its icon, an emoji.
            icon: String,
            /// What it is for: `home`, `office`, `client`.
            role: String,
            /// Since when.
            connected_at: IsoTime,
        }
    }
}

data! {
    /// Everybody who is connected in the realm. Sent after each change; changes close together make one message.
    pub struct DeviceStatus {
        required {
            /// All of them, by id; in a very large realm those that a list has room for, all Pylons among them.
            devices: Vec<ConnectedDevice>,
        }
        optional {
            /// How many more are connected. Whoever is not listed then is not known to be away.
            unlisted: u32,
        }
    }
}

data! {
    /// A client went away.
    pub struct ClientDisconnect {
        required {
            /// Which one.
            device_id: DeviceId,
            /// What it was.
            device_type: DeviceType,
        }
    }
}

data! {
    /// The relay's greeting, before `auth`.
    pub struct Connected {
        required {
            /// A number of the connection, for logs.
            client_id: String,
            /// A greeting for people.
            message: String,
        }
    }
}

request! {
    /// Asks who is connected.
    pub struct GetDevices {}
}

reply! {
    /// Who is connected.
    pub struct DeviceList {
        required {
            /// All of them, by id; in a very large realm those that a list has room for, all Pylons among them.
            devices: Vec<ConnectedDevice>,
        }
        success "crate::error::present"
        optional {
            /// How many more are connected.
            unlisted: u32,
        }
    }
}

request! {
    /// Asks whether the relay is still there.
    pub struct Ping {}
}

request! {
    /// The relay is still there.
    pub struct Pong {}
}

request! {
    /// Asks for the build of the relay.
    pub struct RelayVersion {}
}

reply! {
    /// The build of the relay.
    pub struct RelayVersionResult {
        required {
            /// Its commit.
            commit: String,
        }
        success "crate::error::present"
    }
}

request! {
    /// Asks the relay to update itself; Pylons only.
    pub struct RelayUpdate {}
}

reply! {
    /// Whether the relay updates itself.
    pub struct RelayUpdateResult {
        optional {
            /// The commit it goes to.
            commit: String,
        }
    }
}

data! {
    /// The relay is about to restart. Reconnect as usual.
    pub struct RelayRestarting {
        optional {
            /// Why, for people.
            reason: String,
        }
    }
}

messages! {
    /// What the relay answers itself.
    pub enum DeviceToRelay {
        Auth = "auth",
        GetDevices = "get_devices" | "getDevices",
        Ping = "ping",
        RelayVersion = "relay_version",
        RelayUpdate = "relay_update",
        PairOffer = "pair_offer",
        PairRequest = "pair_request",
        PairConfirm = "pair_confirm",
        PairedList = "paired_list",
        DeviceAdd = "device_add",
        DeviceRevoke = "device_revoke",
        DeviceRights = "device_rights",
    }
}

messages! {
    /// What the relay says itself; these messages have no `from`.
    pub enum RelayToDevice {
        Connected = "connected",
        AuthResult = "auth_result",
        DeviceStatus = "device_status",
        ClientDisconnect = "client_disconnect",
        DeviceList = "device_list",
        Pong = "pong",
        RelayVersionResult = "relay_version_result",
        RelayUpdateResult = "relay_update_result",
        RelayRestarting = "relay_restarting",
        PairOfferResult = "pair_offer_result",
        PairRequestResult = "pair_request_result",
        PairRequested = "pair_requested",
        PairConfirmResult = "pair_confirm_result",
        PairResult = "pair_result",
        PairClosed = "pair_closed",
        PairedListResult = "paired_list_result",
        DeviceAddResult = "device_add_result",
        DeviceRevokeResult = "device_revoke_result",
        DeviceRightsResult = "device_rights_result",
        RightsChanged = "rights_changed",
        ErrorReport = "error",
    }
}
