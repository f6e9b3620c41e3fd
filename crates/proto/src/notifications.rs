//! App ↔ Pylon: being told when nobody looks. Web Push per device, and who wants to be left alone when.
//!
//! ```text
//! app ── notifications_request ────────────────────────► pylon     app ◄─ notifications_result
//! app ── push_subscribe {endpoint, p256dh, auth} ──────► pylon     app ◄─ notifications_result
//! app ── notifications_set {muted, quietHours, …} ─────► pylon     app ◄─ notifications_result
//! app ── push_test ────────────────────────────────────► pylon     app ◄─ notifications_result
//! app ── push_unsubscribe {endpoint} ──────────────────► pylon     app ◄─ notifications_result
//!
//! pylon ── POST endpoint (RFC 8030, 8291, 8292) ──► push service ──► the device's service worker
//! ```
//!
//! The answer is always all of it, as it is after the request. Settings belong to the device that asks. What a push
//! carries is [`PushPayload`], encrypted for the device; it names the conversation and not what was said.
//!
//! # Failures
//!
//! | what | `errorCode` |
//! |---|---|
//! | an endpoint that is no https URL, keys of the wrong size or no point of the curve | `invalid_message` |
//! | hours that are no time of a day, a time zone that does not exist | `invalid_message` |
//! | the device is not paired, so that nobody could be found again | `conflict` |
//! | there is nothing to test or to take away | `conflict` |
//! | the machine has as many subscriptions as it keeps | `conflict` |
//! | there is no such conversation | `unknown_conversation` |

use crate::{ConversationId, DeviceId, Timestamp, WorkspaceId};

words! {
    /// What people are told of.
    pub enum NoticeKind {
        /// Somebody has to decide.
        Decision = "decision",
        /// A turn came to its end.
        Finished = "finished",
        /// A turn or a process failed.
        Failed = "failed",
        /// A process is about to be stopped, because nothing happens.
        IdleWarning = "idle_warning",
        /// Somebody wanted to see whether it works.
        Test = "test",
    }
}

data! {
    /// A time of the day in which a device is left alone. What waits for a person is told when it is over.
    pub struct QuietHours {
        required {
            /// The first minute, `HH:MM`.
            from: String,
            /// The first minute after it, `HH:MM`; before `from` it is of the next day.
            until: String,
            /// The time zone, by its name in the tz database: `Europe/Berlin`.
            time_zone: String,
        }
    }
}

request! {
    /// Asks how this device is told, and what could not be delivered.
    pub struct NotificationsRequest {}
}

request! {
    /// Tells this device by Web Push from now on. What the browser's `PushSubscription` says, as it says it.
    pub struct PushSubscribe {
        required {
            /// Where to send.
            endpoint: String,
            /// The device's public key, base64url.
            p256dh: String,
            /// The device's secret, base64url.
            auth: String,
        }
    }
}

request! {
    /// Takes a subscription of this device away.
    pub struct PushUnsubscribe {
        required {
            /// Which.
            endpoint: String,
        }
    }
}

request! {
    /// Sends a notification to the subscriptions of this device, whatever is muted.
    pub struct PushTest {}
}

request! {
    /// Changes when this device is told. What is absent stays.
    pub struct NotificationsSet {
        optional {
            /// `muted` is about this conversation alone.
            conversation_id: ConversationId,
            /// Whether the device is told nothing.
            muted: bool,
            /// When it is left alone.
            quiet_hours: QuietHours,
            /// Whether it is left alone at no hour any more.
            no_quiet_hours: bool,
        }
    }
}

data! {
    /// A way to a device.
    pub struct PushSubscriptionInfo {
        required {
            /// The host of the push service.
            service: String,
            /// Whether it is one of the device that asks.
            is_own: bool,
            /// When it was made.
            made_at: Timestamp,
        }
        optional {
            /// When something was last delivered.
            delivered_at: Timestamp,
            /// When a try last failed.
            failed_at: Timestamp,
            /// Why.
            error: String,
        }
    }
}

data! {
    /// A notification that was given up.
    pub struct LostNotice {
        required {
            /// What it was about.
            kind: NoticeKind,
            /// The host of the push service, or `webhook`.
            service: String,
            /// When it was given up.
            at: Timestamp,
            /// How often it was tried.
            attempts: u64,
            /// Why the last try failed.
            error: String,
        }
        optional {
            /// In which conversation.
            conversation_id: ConversationId,
        }
    }
}

reply! {
    /// How the device that asks is told, and how the machine fares with it.
    pub struct NotificationsResult {
        required {
            /// Which Pylon.
            device_id: DeviceId,
            /// The `applicationServerKey` for the browser, base64url.
            public_key: String,
            /// Whether the device is told nothing.
            is_muted: bool,
            /// The conversations it is told nothing of.
            muted_conversations: Vec<ConversationId>,
            /// All ways to devices.
            subscriptions: Vec<PushSubscriptionInfo>,
            /// Whether a webhook is configured.
            has_webhook: bool,
            /// Notifications that are still to be delivered.
            waiting: u64,
            /// Those that were given up, newest first.
            lost: Vec<LostNotice>,
        }
        optional {
            /// When the device is left alone.
            quiet_hours: QuietHours,
        }
    }
}

data! {
    /// How notifications fare, in `pylon_status`.
    pub struct NotificationHealth {
        required {
            /// Still to be delivered.
            waiting: u64,
            /// Given up.
            lost: u64,
        }
        optional {
            /// Why the last one was given up.
            error: String,
        }
    }
}

data! {
    /// What a push and a webhook carry.
    pub struct PushPayload {
        required {
            /// Which: the same when it comes a second time.
            id: String,
            /// What it is about.
            kind: NoticeKind,
            /// Which Pylon.
            device_id: DeviceId,
            /// When it happened.
            at: Timestamp,
        }
        optional {
            /// In which workspace.
            workspace_id: WorkspaceId,
            /// In which conversation.
            conversation_id: ConversationId,
            /// Its name, if the machine is configured to say it.
            title: String,
        }
    }
}
