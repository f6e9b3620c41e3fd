//! The answer to `get_usage`: cost of the session, plan limits, and habits that cost much.
//!
//! Limits are only there for a subscription.

use crate::wire::usage::{ExtraUsage, SessionUsage};

wire_struct! {
    /// Use and limits.
    pub struct UsageResult {
        optional {
            session: SessionUsage,
            subscription_type: String,
            rate_limits_available: bool,
            rate_limits: UsageLimits,
            behaviors: UsageBehaviors,
        }
    }
}

wire_struct! {
    /// The limits of the plan.
    pub struct UsageLimits {
        optional {
            five_hour: UsageWindow,
            seven_day: UsageWindow,
            seven_day_oauth_apps: UsageWindow,
            seven_day_opus: UsageWindow,
            seven_day_sonnet: UsageWindow,
            model_scoped: Vec<UsageWindow>,
            extra_usage: ExtraUsage,
        }
    }
}

wire_struct! {
    /// How much of one limit is used.
    pub struct UsageWindow {
        optional {
            display_name: String,
            utilization: f64,
            resets_at: String,
        }
    }
}

wire_struct! {
    /// Habits of the last day and week.
    pub struct UsageBehaviors {
        optional { day: UsageWindowBehaviors, week: UsageWindowBehaviors }
    }
}

wire_struct! {
    /// Habits within a stretch of time.
    pub struct UsageWindowBehaviors {
        optional {
            request_count: u64,
            session_count: u64,
            behaviors: Vec<BehaviorShare>,
            recommendations: Vec<Recommendation>,
            fix: crate::wire::json::Json,
            agents: Vec<NamedShare>,
            skills: Vec<NamedShare>,
            plugins: Vec<NamedShare>,
            mcp_servers: Vec<NamedShare>,
        }
    }
}

wire_struct! {
    /// How much a habit contributes.
    pub struct BehaviorShare {
        required { key: String }
        optional { pct: f64, count: u64 }
    }
}

wire_struct! {
    /// Advice on a habit.
    pub struct Recommendation {
        required { key: String }
        optional { pct: f64, title: String, detail: String }
    }
}

wire_struct! {
    /// How much a named thing contributes.
    pub struct NamedShare {
        required { name: String }
        optional { pct: f64 }
    }
}
