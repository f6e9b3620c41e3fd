//! Telling people who do not look: Web Push and a webhook.
//!
//! ```text
//! store.apply_telling ─► notices ─► fan ─► deliveries ─► teller ─► outbound ─► push service, webhook
//!   (with the event)               (pure)  (durable)             (bounded)
//! ```
//!
//! `fan` decides who is told and when, `quiet` knows hours and time zones, `seal` and `vapid` are the two RFCs, `outbound`
//! is one careful POST, and `teller` is the task that tries until something is taken, gone or given up. What there is to
//! tell and what became of it is in the store. `docs/design/notifications.md` has the crash windows.

pub(crate) mod fan;
pub(crate) mod outbound;
pub(crate) mod quiet;
pub(crate) mod seal;
pub(crate) mod teller;
pub(crate) mod vapid;

use std::time::Duration;

use fan::Hook;
use outbound::Reach;

/// Somebody who is told over HTTP.
#[derive(Clone)]
pub struct Webhook {
    /// Where to.
    pub url: String,
    /// What messages are signed with.
    pub secret: String,
}

impl std::fmt::Debug for Webhook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Webhook").finish_non_exhaustive()
    }
}

/// How people are told.
#[derive(Debug, Clone)]
pub struct NotifyConfig {
    /// Somebody who is told over HTTP.
    pub webhook: Option<Webhook>,
    /// Whether the webhook is told only what some device is told.
    pub webhook_quiet: bool,
    /// Whether a notification says the name of its conversation.
    pub include_title: bool,
    /// Where a push service may complain: a `mailto:` or `https:` address.
    pub contact: String,
    /// Whether subscriptions may lead to the loopback without encryption. For tests.
    pub allow_loopback: bool,
    /// How long the first try again is waited for; each further one four times as long.
    pub first_retry: Duration,
}

impl Default for NotifyConfig {
    fn default() -> Self {
        Self {
            webhook: None,
            webhook_quiet: true,
            include_title: false,
            contact: "mailto:estelle@example.org".to_owned(),
            allow_loopback: false,
            first_retry: Duration::from_secs(15),
        }
    }
}

impl NotifyConfig {
    pub(crate) fn reach(&self) -> Reach {
        if self.allow_loopback {
            Reach::PublicOrLoopback
        } else {
            Reach::Public
        }
    }

    pub(crate) fn hook(&self) -> Hook {
        match (&self.webhook, self.webhook_quiet) {
            (None, _) => Hook::None,
            (Some(_), true) => Hook::WithDevices,
            (Some(_), false) => Hook::Always,
        }
    }
}
