//! A plan whose window is used up: what is printed when the API says so, and when it lets requests through again.
//!
//! Only for an account with a plan. Such a refusal is not tried again; the window is named once, until something changes.

use super::json::{Json, obj};
use super::state::{Sim, Switch};
use crate::script::HttpError;

const HEADER: &str = "anthropic-ratelimit-unified";

/// A window that is used up.
pub(crate) struct UsedUp {
    window: String,
    resets_at: u64,
}

impl Sim {
    /// The window that an error says is used up.
    pub(crate) fn used_up(&self, error: &HttpError) -> Option<UsedUp> {
        let header = |name: &str| error.headers.get(&format!("{HEADER}-{name}"));
        let is_refused = header("status").is_some_and(|status| status == "rejected");
        if error.status != 429 || !is_refused || !self.setup().env.is_on(Switch::Plan) {
            return None;
        }
        Some(UsedUp {
            window: header("representative-claim")?.clone(),
            resets_at: header("reset")?.parse().ok()?,
        })
    }

    /// Names the window, if that is news, and gives the text that the person reads.
    pub(crate) fn print_used_up(&self, used_up: UsedUp) -> String {
        let UsedUp { window, resets_at } = used_up;
        let info = obj! {
            "status" => "rejected",
            "resetsAt" => resets_at,
            "rateLimitType" => &window,
            "isUsingOverage" => false,
        };
        let is_news = self.with(|state| state.refused.replace(info.clone()) != Some(info.clone()));
        if is_news {
            self.print_plan(&info);
        }
        let name = match (window.as_str(), self.is_325()) {
            ("five_hour", true) => "5-hour",
            ("five_hour", false) => "session",
            _ => "weekly",
        };
        let (hour, minute) = (resets_at / 3600 % 24, resets_at / 60 % 60);
        let half = if hour < 12 { "am" } else { "pm" };
        let hour = (hour + 11) % 12 + 1;
        format!("You've hit your {name} limit · resets {hour}:{minute:02}{half} (UTC)")
    }

    /// A request went through; that is news after a refusal.
    pub(crate) fn print_let_through(&self) {
        if self.with(|state| state.refused.take()).is_some() {
            self.print_plan(&obj! { "status" => "allowed", "isUsingOverage" => false });
        }
    }

    fn print_plan(&self, info: &Json) {
        self.emit(&obj! {
            "type" => "rate_limit_event",
            "rate_limit_info" => info,
            "uuid" => self.uuid(),
            "session_id" => self.session_id(),
        });
    }
}
