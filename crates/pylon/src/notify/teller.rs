//! The task that delivers: takes what is due from the store, tries it, and says in the store what became of it.
//!
//! It remembers nothing. A pylon that dies finds every delivery as it was; one that dies between the answer of a push
//! service and the note of it tells once more, under the same id and topic, by which the device shows it once.

use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::hmac;
use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use estelle_proto::notifications::{NoticeKind, PushPayload};
use estelle_proto::{DeviceId, Timestamp};
use futures_util::StreamExt as _;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::outbound::{Address, Outbound, Reach, Sent};
use super::seal::Receiver;
use super::vapid::{self, Vapid};
use super::{NotifyConfig, Webhook};
use crate::store::{Due, Store, StoreError, Tried};

/// Tries under way at once.
const AT_ONCE: usize = 8;
/// Deliveries of one round.
const ROUND: u32 = 64;
/// After so many tries a delivery is given up.
const MOST_TRIES: u64 = 8;
/// The longest wait between two tries, whatever a service asks for.
const LONGEST_WAIT: Duration = Duration::from_hours(1);
/// When nothing is due; a clock that was set is noticed by then.
const LOOK_AGAIN: Duration = Duration::from_mins(5);
/// When nobody can be told at all.
const START_AGAIN: Duration = Duration::from_secs(30);
/// How long a push service keeps what waits for a person, and the rest.
const KEEP_DECISION: u32 = 24 * 60 * 60;
const KEEP: u32 = 60 * 60;

/// The task.
#[derive(Debug)]
pub(crate) struct Teller {
    pub(crate) store: Store,
    pub(crate) config: NotifyConfig,
    pub(crate) device: DeviceId,
    pub(crate) wake: Arc<Notify>,
    pub(crate) clock: fn() -> Timestamp,
}

/// Why nobody can be told at all.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    /// No secured connection can be made.
    #[error("TLS cannot be set up")]
    Tls(#[from] rustls::Error),
    /// There is no key to sign with.
    #[error(transparent)]
    Key(#[from] vapid::VapidError),
    /// The key is not known.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What deliveries are made with.
struct Tools {
    outbound: Outbound,
    vapid: Vapid,
}

impl Teller {
    pub(crate) async fn run(self, stop: CancellationToken) {
        tokio::select! {
            () = stop.cancelled() => {}
            () = self.work() => {}
        }
    }

    async fn work(&self) {
        let tools = self.ready().await;
        if let Err(error) = self.store.hurry((self.clock)()).await {
            tracing::warn!(%error, "what waits is tried at its time");
        }
        loop {
            let next = match self.round(&tools).await {
                Ok(next) => next,
                Err(error) => {
                    tracing::warn!(%error, "notifications cannot be read; trying again");
                    None
                }
            };
            tokio::select! {
                () = self.wake.notified() => {}
                () = sleep_until(Instant::now() + self.wait(next)) => {}
            }
        }
    }

    fn wait(&self, next: Option<Timestamp>) -> Duration {
        let now = (self.clock)();
        let wait = next.map(|next| next.0.saturating_sub(now.0));
        let wait = wait.map(|wait| Duration::from_millis(u64::try_from(wait).unwrap_or(0)));
        wait.unwrap_or(LOOK_AGAIN).min(LOOK_AGAIN)
    }

    /// Gets what deliveries are made with. What is in the way, like a full disk, may go: nothing that waits is lost until then.
    async fn ready(&self) -> Tools {
        loop {
            match self.tools().await {
                Ok(tools) => return tools,
                Err(error) => tracing::error!(%error, "nobody is notified; trying again"),
            }
            tokio::select! {
                () = self.wake.notified() => {}
                () = sleep_until(Instant::now() + START_AGAIN) => {}
            }
        }
    }

    async fn tools(&self) -> Result<Tools, StartError> {
        let outbound = Outbound::new()?;
        let key = self.store.push_key(vapid::new_key()?).await?;
        let vapid = Vapid::from_kept(&key, self.config.contact.clone())?;
        Ok(Tools { outbound, vapid })
    }

    /// Tells all that is due now. Gives when the next is.
    async fn round(&self, tools: &Tools) -> Result<Option<Timestamp>, StoreError> {
        loop {
            let now = (self.clock)();
            self.store.fan_out(self.config.hook(), now).await?;
            let due = self.store.due(now, ROUND).await?;
            if due.is_empty() {
                return self.store.next_due().await;
            }
            let tries = due.into_iter().map(|due| self.deliver(tools, due));
            let mut tries = futures_util::stream::iter(tries).buffer_unordered(AT_ONCE);
            while let Some(done) = tries.next().await {
                done?;
            }
        }
    }

    async fn deliver(&self, tools: &Tools, due: Due) -> Result<(), StoreError> {
        let sent = self.send(tools, &due).await;
        let is_hook = due.subscription.is_none();
        let now = (self.clock)();
        let is_last = due.attempts + 1 >= MOST_TRIES;
        let tried = match sent {
            Sent::Taken => Tried::Delivered,
            Sent::Gone if !is_hook => Tried::Gone,
            Sent::Gone => Tried::Lost {
                error: "the webhook is not there".to_owned(),
            },
            Sent::Refused { why } => Tried::Lost { error: why },
            Sent::Later { why, .. } if is_last => Tried::Lost { error: why },
            Sent::Later { why, after } => Tried::Again {
                at: Timestamp(now.0.saturating_add(self.pause(due.attempts, after))),
                error: why,
            },
        };
        if tried != Tried::Delivered {
            tracing::info!(?tried, kind = %due.kind, "a notification was not delivered");
        }
        self.store.tried(&due, tried, now).await
    }

    /// Milliseconds until the next try.
    fn pause(&self, attempts: u64, asked: Option<Duration>) -> i64 {
        let factor = 4_u32.saturating_pow(u32::try_from(attempts).unwrap_or(u32::MAX).min(16));
        let own = self.config.first_retry.saturating_mul(factor);
        let pause = asked.map_or(own, |asked| own.max(asked)).min(LONGEST_WAIT);
        // So that machines which failed together do not come together again.
        let pause = pause.mul_f64(1.0 + fastrand::f64() / 4.0);
        i64::try_from(pause.as_millis()).unwrap_or(i64::MAX)
    }

    async fn send(&self, tools: &Tools, due: &Due) -> Sent {
        let payload = PushPayload {
            workspace_id: due.workspace_id.clone(),
            conversation_id: due.conversation_id.clone(),
            title: due.title.clone().filter(|_| self.config.include_title),
            ..PushPayload::new(due.id.clone(), due.kind.clone(), self.device, due.at)
        };
        let body = match serde_json::to_vec(&payload) {
            Ok(body) => body,
            Err(error) => return refused(error),
        };
        match (&due.subscription, &self.config.webhook) {
            (Some(_), _) => self.push(tools, due, &body).await,
            (None, Some(webhook)) => self.hook(tools, due, webhook, body).await,
            // It was configured when this was noted.
            (None, None) => refused("no webhook is configured any more"),
        }
    }

    async fn push(&self, tools: &Tools, due: &Due, payload: &[u8]) -> Sent {
        let Some(to) = &due.subscription else {
            return refused("there is no subscription");
        };
        let reach = self.config.reach();
        let address = match Address::parse(&to.endpoint, reach) {
            Ok(address) => address,
            Err(error) => return refused(error),
        };
        let receiver = Receiver {
            p256dh: to.p256dh.clone(),
            auth: to.auth.clone(),
        };
        let body = match receiver.seal(payload) {
            Ok(body) => body,
            Err(error) => return refused(error),
        };
        let authorization = tools.vapid.authorization(&address.origin(), (self.clock)());
        let authorization = match authorization {
            Ok(authorization) => authorization,
            Err(error) => return refused(error),
        };
        let is_decision = due.kind == NoticeKind::Decision;
        let (keep, urgency) = if is_decision {
            (KEEP_DECISION, "high")
        } else {
            (KEEP, "normal")
        };
        let headers = [
            ("authorization", authorization),
            ("content-type", "application/octet-stream".to_owned()),
            ("content-encoding", "aes128gcm".to_owned()),
            ("ttl", keep.to_string()),
            ("urgency", urgency.to_owned()),
            ("topic", topic(&due.id)),
        ];
        tools.outbound.post(&address, reach, &headers, body).await
    }

    async fn hook(&self, tools: &Tools, due: &Due, webhook: &Webhook, body: Vec<u8>) -> Sent {
        let address = match Address::parse(&webhook.url, Reach::Anywhere) {
            Ok(address) => address,
            Err(error) => return refused(error),
        };
        let headers = [
            ("content-type", "application/json".to_owned()),
            ("estelle-delivery", due.id.clone()),
            (
                "estelle-signature",
                signature(&webhook.secret, (self.clock)(), &body),
            ),
        ];
        let reach = Reach::Anywhere;
        tools.outbound.post(&address, reach, &headers, body).await
    }
}

fn refused(why: impl std::fmt::Display) -> Sent {
    Sent::Refused {
        why: why.to_string(),
    }
}

/// What names a message at the push service, so that it keeps a repeated one once: 32 characters of base64url.
fn topic(id: &str) -> String {
    let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, id.as_bytes());
    let head = digest.as_ref().get(..24).unwrap_or_default();
    BASE64URL_NOPAD.encode(head)
}

/// `t=<seconds>,v1=<hex of HMAC-SHA-256 over "<seconds>.<body>">`.
pub(crate) fn signature(secret: &str, now: Timestamp, body: &[u8]) -> String {
    let seconds = now.0 / 1000;
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let mut signed = hmac::Context::with_key(&key);
    signed.update(format!("{seconds}.").as_bytes());
    signed.update(body);
    format!("t={seconds},v1={}", HEXLOWER.encode(signed.sign().as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_webhook_is_signed_with_time_and_body() {
        // Made with `printf '1000.{}' | openssl dgst -sha256 -hmac key`.
        let signed = signature("key", Timestamp(1_000_999), b"{}");
        let (time, mac) = signed.split_once(",v1=").unwrap();
        assert_eq!(time, "t=1000");
        assert_eq!(mac, EXPECTED);
        assert_ne!(signature("key", Timestamp(2_000_000), b"{}"), signed);
        assert_ne!(signature("other", Timestamp(1_000_999), b"{}"), signed);
    }

    #[tokio::test]
    async fn a_key_that_cannot_be_kept_at_the_start_is_asked_for_again() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("store")).unwrap();
        let other = rusqlite::Connection::open(folder.path().join("store/pylon.db")).unwrap();
        let full =
            "CREATE TRIGGER full BEFORE INSERT ON settings BEGIN SELECT RAISE(ABORT, 'full'); END";
        other.execute_batch(full).unwrap();
        let teller = Teller {
            store: store.clone(),
            config: NotifyConfig::default(),
            device: DeviceId(1),
            wake: Arc::new(Notify::new()),
            clock: || Timestamp(1),
        };
        assert!(matches!(teller.tools().await, Err(StartError::Store(_))));
        let mend = async {
            other.execute_batch("DROP TRIGGER full").unwrap();
            teller.wake.notify_one();
        };
        tokio::join!(teller.ready(), mend);
    }

    const EXPECTED: &str = "c32de42341dece79a1511c9e7f74a2734112edcfcf48943c976faf07047065db";

    #[test]
    fn a_topic_is_the_same_for_the_same_message_and_fits() {
        assert_eq!(topic("7-1000"), topic("7-1000"));
        assert_ne!(topic("7-1000"), topic("8-1000"));
        assert_eq!(topic("7-1000").len(), 32);
    }
}
