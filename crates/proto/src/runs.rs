//! Pylon → app and host → Pylon: what becomes of the process behind a conversation.
//!
//! ```text
//! (running) ── idleWarning ─► process_paused ── the next message ─► process_resumed ─► (running)
//!     ├── taskUpdate      a background task of the agent started, went on or ended
//!     ├── sessionReset    a new session begins; history shows a divider
//!     ├── rewound         the session is that of before a message; what came after is marked
//!     └── journalDamage   something it printed could not be read
//! ```
//!
//! These are events like those of `events`, and travel among them.
//!
//! # Failures
//!
//! | what | event |
//! |---|---|
//! | the session to resume is gone | `process_resumed` with `resumedWithHistory: false` |

use crate::{DeviceId, Generation, Seq, ToolUseId};

data! {
    /// A background task of the agent started, went on or ended.
    pub struct TaskUpdate {
        required {
            /// The agent's id of it.
            task_id: String,
            /// `started`, `running`, `completed`, `failed` or `stopped`.
            status: String,
        }
        optional {
            /// What it is or what came of it.
            summary: String,
            /// The call that started it.
            tool_use_id: ToolUseId,
        }
    }
}

data! {
    /// A line of the journal could not be read. Nothing is skipped in silence.
    pub struct JournalDamage {
        required {
            /// First byte.
            from: u64,
            /// First byte after it.
            to: u64,
            /// Which run.
            generation: Generation,
        }
    }
}

data! {
    /// The process was stopped and can be resumed.
    pub struct ProcessPaused {
        required {
            /// `idle_timeout`, `manual` or `server_shutdown`.
            reason: PauseReason,
            /// How long it had been idle.
            idle_minutes: u64,
            /// Whether a session is known that a resume can take up.
            can_resume: bool,
        }
    }
}

words! {
    /// Why a process was stopped.
    pub enum PauseReason {
        /// Nothing happened for too long.
        IdleTimeout = "idle_timeout",
        /// A person asked for it.
        Manual = "manual",
        /// The host goes down and takes its runs along.
        ServerShutdown = "server_shutdown",
    }
}

data! {
    /// Something that the CLI says to people.
    pub struct Remark {
        required {
            /// Of which kind, in the CLI's own words.
            subtype: String,
            /// What it says.
            text: String,
        }
    }
}

data! {
    /// A process was started again.
    pub struct ProcessResumed {
        required {
            /// Whether it knows what was said before.
            resumed_with_history: bool,
        }
    }
}

data! {
    /// What follows belongs to a new session: the agent knows nothing of what stands above.
    pub struct SessionReset {
        required {
            /// `new_session` when a person asked for it, `clear` when the agent's own command did, `resume_failed` when its
            /// session was gone.
            reason: String,
        }
    }
}

data! {
    /// The conversation goes on from before one of its messages. What stands from there up to this event is kept, and
    /// the agent does not know it any more.
    pub struct Rewound {
        required {
            /// The `seq` of the message, the first that is taken back.
            before_seq: Seq,
        }
        optional {
            /// Which device asked for it.
            device_id: DeviceId,
        }
    }
}

data! {
    /// The process will be stopped soon, because nothing happens.
    pub struct IdleWarning {
        required {
            /// Seconds until then.
            seconds_left: u64,
        }
    }
}
