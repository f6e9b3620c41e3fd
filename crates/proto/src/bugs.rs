//! App → Pylon: what a person wants to have mended.
//!
//! ```text
//! app ── bug_report {message, timestamp} ─► pylon      app ◄─ bug_report_result
//! ```
//!
//! The Pylon keeps with it which device it came from, its own build, and the conversation: the one that is named, or the
//! one that the device looks at.
//!
//! # Failures
//!
//! | what | `errorCode` |
//! |---|---|
//! | nothing written, or more than 64 KiB | `invalid_message` |
//! | a conversation that is not there | `unknown_conversation` |
//! | too many reports are kept already | `disk_full` |
//! | it could not be stored | `internal` |

use crate::{ConversationId, DeviceId, IsoTime, ReportText};

request! {
    /// A report; the Pylon keeps it in a file.
    pub struct BugReport {
        required {
            /// What is wrong.
            message: ReportText,
            /// When it was written.
            timestamp: IsoTime,
        }
        optional {
            /// The conversation that it is about; none means the one that the device looks at.
            conversation_id: ConversationId,
            /// The build of the app, in a few words.
            app_version: String,
        }
    }
}

reply! {
    /// Whether a report was kept.
    pub struct BugReportResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
        }
    }
}
