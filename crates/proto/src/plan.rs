//! What the agent's plan allows, and why a request to its API failed. Part of events, `pylon_status` and `usage_result`.
//!
//! ```text
//! claude ── limits {limits} ─────────► log ─► store (one row per window, newest wins) ─► pylon_status, usage_result
//! claude ── apiRetry {attempt, …} ───► whoever looks      (passing)
//! claude ── result, error {cause, apiStatus}              a turn that failed says why, for programs
//! ```
//!
//! A window is known by the CLI's own word, such as `five_hour`. The CLI does not say whose account it is, so windows are
//! kept per machine. One whose reset is over is not shown any more: what is in it now nobody has said yet.

use crate::Timestamp;

/// The window of a line that names none: all of them. That it lets requests through lifts every refusal before it.
pub const PLAN: &str = "plan";

words! {
    /// Why a turn failed, for programs.
    pub enum Cause {
        /// A window of the plan is used up; `limits` say until when.
        UsageLimit = "usage_limit",
        /// Too many requests at once; a later one may pass.
        RateLimit = "rate_limit",
        /// The account is not signed in, or may not do this.
        Unauthorized = "unauthorized",
        /// The account cannot be charged.
        Billing = "billing",
        /// The API has too much to do.
        Overloaded = "overloaded",
        /// The API failed.
        Server = "server",
        /// The API was not reached.
        Network = "network",
        /// The API refused the request as it is: too long, not allowed, or not understood.
        InvalidRequest = "invalid_request",
        /// The model does not exist, or not for this account.
        ModelNotFound = "model_not_found",
        /// A budget is used up.
        Budget = "budget",
        /// The turn took more steps than it may.
        MaxTurns = "max_turns",
        /// Somebody broke it off.
        Aborted = "aborted",
        /// Something else; the text says what.
        Other = "other",
    }
}

words! {
    /// Whether a window lets requests through.
    pub enum LimitStatus {
        /// It does.
        Allowed = "allowed",
        /// It does, and is nearly used up.
        AllowedWarning = "allowed_warning",
        /// It does not.
        Rejected = "rejected",
    }
}

data! {
    /// A window of the plan.
    pub struct PlanLimit {
        required {
            /// Which, in the CLI's word: `five_hour`, `seven_day` and their like.
            window: String,
            /// Whether it lets requests through.
            status: LimitStatus,
        }
        optional {
            /// When it begins anew.
            resets_at: Timestamp,
            /// How much of it is used, from 0 to 1.
            utilization: f64,
            /// Whether use beyond the plan lets requests through.
            overage_status: LimitStatus,
            /// When that begins anew.
            overage_resets_at: Timestamp,
            /// Whether requests are charged beyond the plan now.
            is_using_overage: bool,
            /// When the CLI said so.
            told_at: Timestamp,
        }
    }
}

data! {
    /// The CLI said how windows of the plan are. Only those it named.
    pub struct LimitsTold {
        required {
            /// Which, and how.
            limits: Vec<PlanLimit>,
        }
    }
}

data! {
    /// A request to the API failed, and the CLI tries again by itself.
    pub struct ApiRetry {
        required {
            /// Which try failed, from 1.
            attempt: u64,
            /// Why.
            cause: Cause,
        }
        optional {
            /// How many tries there are.
            max_retries: u64,
            /// Milliseconds until the next.
            delay_ms: u64,
            /// The HTTP status; absent when there was no answer.
            api_status: u64,
        }
    }
}
