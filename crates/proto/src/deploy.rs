//! App ↔ Pylon ↔ Pylon: bringing a new build to all machines.
//!
//! ```text
//! app                    lead pylon                      other pylons
//!  │ ── deploy_prepare ────► │                                │
//!  │ ◄─ deploy_status, deploy_log (broadcast: app)            │  as the builds go on
//!  │ ◄─ deploy_ready ─────── │                                │
//!  │ ── deploy_confirm ────► │ ── deploy_start (all) ───────► │
//!  │                         │ ◄─ deploy_start_ack ────────── │
//!  │ ◄─ deploy_ack_received ─│                                │
//!  │ ── deploy_go ─────────► │                                │  to one Pylon or broadcast
//!  │ ◄─ deploy_restart (all), then deploy_restarting ─────────│  each Pylon before it restarts
//! ```
//!
//! # Failures
//!
//! | what | answer |
//! |---|---|
//! | a build failed | `deploy_status` with `error` for its task, `deploy_ready` with `success: false` |
//! | a Pylon could not follow | `deploy_start_ack` and `deploy_ack_received` with `success: false` |
//! | the last step failed | `deploy_error` |

use crate::{DeviceId, Timestamp};

words! {
    /// How far a step is.
    pub enum DeployTask {
        /// Not begun.
        Waiting = "waiting",
        /// Under way.
        Running = "running",
        /// Finished.
        Done = "done",
        /// Failed.
        Error = "error",
    }
}

data! {
    /// All steps of a deploy.
    pub struct DeployTasks {
        required {
            /// Bringing the source up to date.
            git: DeployTask,
            /// The phone app.
            apk: DeployTask,
            /// The desktop app.
            exe: DeployTask,
            /// Packages.
            npm: DeployTask,
            /// The description of the release.
            json: DeployTask,
        }
        optional {
            /// Uploading the release.
            upload: DeployTask,
            /// Deploying the relay.
            relay: DeployTask,
            /// Copying.
            copy: DeployTask,
        }
    }
}

request! {
    /// Builds everything for a deploy.
    pub struct DeployPrepare {
        required {
            /// Whether this Pylon also deploys the relay: it is the lead.
            relay_deploy: bool,
        }
    }
}

data! {
    /// How far a deploy is.
    pub struct DeployStatus {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// All steps.
            tasks: DeployTasks,
            /// The same in one line, in the user's language.
            message: String,
        }
    }
}

data! {
    /// A line of the deploy's output.
    pub struct DeployLog {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// The line.
            line: String,
            /// When.
            timestamp: Timestamp,
        }
    }
}

reply! {
    /// Whether the builds are ready.
    pub struct DeployReady {
        required {
            /// Which Pylon.
            device_id: DeviceId,
        }
        optional {
            /// What was built; only on success.
            commit_hash: String,
            /// Its version; only on success.
            version: String,
        }
    }
}

request! {
    /// Approves a deploy, beforehand or when it is ready.
    pub struct DeployConfirm {
        required {
            /// Start as soon as the builds are ready.
            pre_approved: bool,
            /// Withdraw the approval.
            cancel: bool,
        }
    }
}

data! {
    /// All Pylons shall go to this build.
    pub struct DeployStart {
        required {
            /// The build.
            commit_hash: String,
            /// Its version.
            version: String,
            /// Who leads.
            lead_pylon_id: DeviceId,
        }
    }
}

reply! {
    /// Whether a Pylon followed. To the lead.
    pub struct DeployStartAck {
        required {
            /// Which Pylon.
            device_id: DeviceId,
        }
    }
}

reply! {
    /// A Pylon answered the lead.
    pub struct DeployAckReceived {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// Answers so far.
            total_acks: u32,
        }
    }
}

request! {
    /// Makes the prepared build the running one.
    pub struct DeployGo {}
}

request! {
    /// Everybody restarts now.
    pub struct DeployRestart {}
}

data! {
    /// This Pylon restarts now.
    pub struct DeployRestarting {
        required {
            /// Which Pylon.
            device_id: DeviceId,
        }
    }
}

data! {
    /// The last step of a deploy failed.
    pub struct DeployError {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// Why.
            error: String,
        }
    }
}
