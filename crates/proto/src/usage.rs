//! Pylon → app: what the agent has used, and whether a deploy waits.
//!
//! ```text
//! pylon ── pylon_status (broadcast: clients) ──►   after each result, news of the plan, and when a device joins
//! app   ── usage_request {groupBy} ────────────►   pylon
//! app   ◄─ usage_result ───────────────────────    one page of rows
//! ```
//!
//! Totals are persisted and never counted twice.
//!
//! # Failures
//!
//! | what | `errorCode` |
//! |---|---|
//! | a grouping that is not one of the known words | `invalid_message` |

use crate::notifications::NotificationHealth;
use crate::{DeviceId, IsoTime, PlanLimit};

data! {
    /// Everything a Pylon has used.
    pub struct ClaudeUsage {
        required {
            /// Its cost.
            total_cost_usd: f64,
            /// Tokens read.
            total_input_tokens: u64,
            /// Tokens written.
            total_output_tokens: u64,
            /// Tokens read from the cache.
            total_cache_read_tokens: u64,
            /// Tokens written to the cache.
            total_cache_creation_tokens: u64,
            /// Distinct sessions of Claude seen.
            session_count: u64,
            /// When it last grew.
            last_updated: IsoTime,
        }
    }
}

data! {
    /// How a Pylon is.
    pub struct PylonStatus {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// What it has used.
            claude_usage: ClaudeUsage,
            /// Whether a prepared deploy waits for confirm or go.
            deploy_ready: bool,
        }
        optional {
            /// Whether the host answers.
            host_connected: bool,
            /// The build of the Pylon.
            version: String,
            /// The windows of the plan, as the CLI last told them.
            limits: Vec<PlanLimit>,
            /// How notifications fare; absent when nobody is notified and nothing waits.
            notifications: NotificationHealth,
        }
    }
}

words! {
    /// What one row of usage stands for.
    pub enum UsageGroup {
        /// A day, `YYYY-MM-DD` in the machine's time zone.
        Day = "day",
        /// A conversation.
        Conversation = "conversation",
        /// A model.
        Model = "model",
    }
}

request! {
    /// Asks for usage in rows.
    pub struct UsageRequest {
        required {
            /// What one row stands for.
            group_by: UsageGroup,
        }
        optional {
            /// First day, `YYYY-MM-DD`.
            from: String,
            /// Last day, `YYYY-MM-DD`.
            until: String,
            /// `nextCursor` of the page before.
            cursor: String,
        }
    }
}

data! {
    /// What was used in one day, conversation or model.
    pub struct UsageRow {
        required {
            /// Which one.
            key: String,
            /// Its cost.
            cost_usd: f64,
            /// Tokens read.
            input_tokens: u64,
            /// Tokens written.
            output_tokens: u64,
            /// Tokens read from the cache.
            cache_read_tokens: u64,
            /// Tokens written to the cache.
            cache_creation_tokens: u64,
        }
    }
}

reply! {
    /// A page of usage.
    pub struct UsageResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// What one row stands for.
            group_by: UsageGroup,
            /// The rows, newest or largest first.
            rows: Vec<UsageRow>,
        }
        optional {
            /// Where the next page begins; absent at the end.
            next_cursor: String,
            /// The windows of the plan, as the CLI last told them.
            limits: Vec<PlanLimit>,
        }
    }
}
