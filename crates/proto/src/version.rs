//! App ↔ Pylon: which build is published, and where an app gets it.
//!
//! ```text
//! app ── version_check_request ─► pylon      app ◄─ version_check_result
//! app ── app_update_request ────► pylon      app ◄─ app_update_result
//! ```
//!
//! # Failures
//!
//! | what | answer |
//! |---|---|
//! | the published release cannot be read | `version_check_result` with `error`, and `null` for what is not known |
//! | there is nothing to update to | `app_update_result` with `success: false` |
//! | no app has an address in the configuration | `app_update_result` with `not_configured` |

use crate::{ErrorCode, RequestId, Retry};

request! {
    /// Asks which build is published.
    pub struct VersionCheckRequest {}
}

data! {
    /// The published build. Unknown values are `null`.
    pub struct VersionCheckResult {
        given {
            /// Whether the release could be read.
            #[serde(default = "crate::error::present")]
            success: bool = true,
        }
        nullable {
            /// Its version.
            version: String,
            /// Its commit.
            commit: String,
            /// When it was built, `YYYYMMDDHHmmss`.
            build_time: String,
            /// Where the phone app is.
            apk_url: String,
            /// Where the desktop app is.
            exe_url: String,
            /// Why the release could not be read.
            error: String,
        }
        optional {
            /// The same, for a program.
            error_code: ErrorCode,
            /// Whether trying again can help.
            retry: Retry,
            /// The `requestId` of the request, if it had one.
            request_id: RequestId,
        }
    }
}

outcome! { VersionCheckResult }

request! {
    /// Asks where to get the newest app.
    pub struct AppUpdateRequest {}
}

reply! {
    /// Where to get the newest app.
    pub struct AppUpdateResult {
        optional {
            /// Its version; only on success.
            version: String,
            /// Its commit; only on success.
            commit: String,
            /// Where the phone app is; only on success.
            apk_url: String,
            /// Where the desktop app is; only on success.
            exe_url: String,
        }
    }
}
