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
//! `deploy_confirm`, `deploy_go` and `deploy_status_request` are answered with `deploy_status_result`: how far the deploy
//! is now, or why the request was refused. A deploy that is cancelled, or whose lead ended meanwhile, is withdrawn from the
//! other Pylons with `deploy_cancelled`. A `deploy_restart` counts only for Pylons that have built the commit it names.
//!
//! # Failures
//!
//! | what | answer |
//! |---|---|
//! | a build failed | `deploy_status` with `error` for its task, `deploy_ready` with `success: false` |
//! | a Pylon could not follow | `deploy_start_ack` and `deploy_ack_received` with `success: false` |
//! | the last step failed, or the new build did not start | `deploy_error` |
//! | the Pylon ended meanwhile | `deploy_error`, as soon as it is back |
//! | a message in the wrong order | `conflict`; nothing changes |
//! | this machine has no repository to deploy from | `not_configured` |

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
            /// The program itself.
            build: DeployTask,
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
        optional {
            /// When the lead built it, `YYYYMMDDHHmmss`; one for all of the deploy.
            build_time: String,
        }
    }
}

data! {
    /// The lead has withdrawn its deploy: nobody waits for it any more.
    pub struct DeployCancelled {
        required {
            /// The build.
            commit_hash: String,
            /// Who led.
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
    /// Everybody restarts now who has built this.
    pub struct DeployRestart {
        optional {
            /// The build; without it nobody restarts.
            commit_hash: String,
            /// Who leads.
            lead_pylon_id: DeviceId,
        }
    }
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

words! {
    /// How far a deploy is on a Pylon.
    pub enum DeployPhase {
        /// None is under way.
        Idle = "idle",
        /// It is being built.
        Preparing = "preparing",
        /// It waits for `deploy_confirm`.
        Ready = "ready",
        /// It waits for the other Pylons, and for `deploy_go`.
        Started = "started",
        /// It waits for the Pylon that leads.
        Armed = "armed",
        /// It is being put in place.
        Going = "going",
        /// The Pylon restarts.
        Restarting = "restarting",
    }
}

request! {
    /// Asks how far a deploy is.
    pub struct DeployStatusRequest {}
}

data! {
    /// What a Pylon answered that was asked to follow.
    pub struct DeployAck {
        required {
            /// Which Pylon.
            device_id: DeviceId,
        }
        optional {
            /// Whether it follows; not yet known without it.
            success: bool,
            /// Why not.
            error: String,
        }
    }
}

data! {
    /// A line that a deploy said.
    pub struct DeployLine {
        required {
            /// The line.
            line: String,
            /// When.
            timestamp: Timestamp,
        }
    }
}

reply! {
    /// How far a deploy is, and what it said last.
    pub struct DeployStatusResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// Where it stands.
            phase: DeployPhase,
            /// All steps: of this deploy, or of the last one.
            tasks: Box<DeployTasks>,
            /// The same in one line, in the user's language.
            message: String,
            /// The Pylons that were asked to follow.
            acks: Vec<DeployAck>,
            /// The last lines.
            log: Vec<DeployLine>,
        }
        optional {
            /// What is built.
            commit_hash: String,
            /// Its version, once it is built.
            version: String,
            /// Whether it was approved beforehand.
            approved: bool,
            /// Who leads; none for a deploy of one machine alone.
            lead_pylon_id: DeviceId,
            /// The build that runs now, if it came by a deploy.
            running_commit: String,
            /// The version that runs now.
            running_version: String,
        }
    }
}
