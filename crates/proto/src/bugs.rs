//! App → Pylon: what a person wants to have mended.
//!
//! ```text
//! app ── bug_report {message, timestamp} ─► pylon      app ◄─ bug_report_result
//! ```
//!
//! # Failures
//!
//! | what | `errorCode` |
//! |---|---|
//! | nothing written, or more than 64 KiB | `invalid_message` |
//! | it could not be stored | `internal` |

use crate::{DeviceId, IsoTime, ReportText};

request! {
    /// A report; the Pylon keeps it in a file.
    pub struct BugReport {
        required {
            /// What is wrong.
            message: ReportText,
            /// When it was written.
            timestamp: IsoTime,
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
