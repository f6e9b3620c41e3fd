//! Ways to devices, and when each device wants to be left alone.
//!
//! Devices are named by the number under which the store knows a paired device: the same after every reconnect.

use std::collections::BTreeSet;

use estelle_proto::notifications::{LostNotice, PushSubscriptionInfo, QuietHours};
use estelle_proto::{ConversationId, DeviceId, DeviceKey, Json, Timestamp};
use rusqlite::{Connection, OptionalExtension, params};

use super::conversations::{ConversationError, folded};
use super::notices;
use super::row::{json, parsed};
use super::threads::Keep;
use super::{Store, StoreError};
use crate::notify::fan::Way;
use crate::notify::quiet::Quiet;

/// Subscriptions of one device; a newer one takes the place of the oldest.
const MOST_OF_ONE: i64 = 8;
/// Subscriptions of all.
const MOST: i64 = 256;
const VAPID_KEY: &str = "vapidKey";

/// Where a push goes and what it is encrypted with. All of it is a secret of the device.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Subscription {
    pub(crate) key: i64,
    pub(crate) endpoint: String,
    pub(crate) p256dh: Vec<u8>,
    pub(crate) auth: Vec<u8>,
}

impl std::fmt::Debug for Subscription {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Subscription")
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

/// What became of a wish to be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subscribed {
    /// It is kept.
    Kept,
    /// There are as many as there may be.
    NoRoom,
    /// It is the way to another device.
    Taken,
}

/// What a device wants to change.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wish {
    pub(crate) conversation: Option<ConversationId>,
    pub(crate) muted: Option<bool>,
    /// The hours, or none any more.
    #[expect(clippy::option_option, reason = "no wish, none any more, or these")]
    pub(crate) quiet: Option<Option<QuietHours>>,
}

/// All about notifications, as a device sees it.
#[derive(Debug, Clone)]
pub(crate) struct Overview {
    pub(crate) is_muted: bool,
    pub(crate) quiet: Option<QuietHours>,
    pub(crate) muted: Vec<ConversationId>,
    pub(crate) subscriptions: Vec<PushSubscriptionInfo>,
    pub(crate) lost: Vec<LostNotice>,
}

impl Store {
    /// The machine's key, made with `new` if there is none yet.
    pub(crate) async fn push_key(&self, new: String) -> Result<String, StoreError> {
        self.write(Keep::Own, move |db| {
            let made = Json::of(&new).map(|value| value.get().to_owned());
            let made = made.unwrap_or_default();
            db.prepare_cached(
                "INSERT INTO settings (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO NOTHING",
            )?
            .execute(params![VAPID_KEY, made])?;
            let mut find = db.prepare_cached("SELECT value FROM settings WHERE name = ?1")?;
            Ok(find.query_row([VAPID_KEY], |row| json(row, 0))?)
        })
        .await
    }

    /// Keeps a subscription. The same endpoint again replaces what was known of it, for the device itself or for the same
    /// browser under another name: only there the keys are known.
    pub(crate) async fn subscribe(
        &self,
        device: DeviceId,
        endpoint: String,
        keys: (Vec<u8>, Vec<u8>),
        now: Timestamp,
    ) -> Result<Subscribed, StoreError> {
        self.write(Keep::Own, move |db| {
            let others: i64 = db
                .prepare_cached("SELECT count(*) FROM push_subscriptions WHERE endpoint <> ?1")?
                .query_row([&endpoint], |row| row.get(0))?;
            if others >= MOST {
                return Ok(Subscribed::NoRoom);
            }
            let kept = db
                .prepare_cached(
                    "INSERT INTO push_subscriptions (device, endpoint, p256dh, auth, made_at) VALUES (?1, ?2, ?3, ?4, ?5) \
                     ON CONFLICT (endpoint) DO UPDATE SET device = excluded.device, p256dh = excluded.p256dh, \
                     auth = excluded.auth, made_at = excluded.made_at, failed_at = NULL, error = NULL \
                     WHERE device = excluded.device OR (p256dh = excluded.p256dh AND auth = excluded.auth)",
                )?
                .execute(params![device.0, endpoint, keys.0, keys.1, now.0])?;
            if kept == 0 {
                return Ok(Subscribed::Taken);
            }
            db.prepare_cached(
                "DELETE FROM push_subscriptions WHERE device = ?1 AND key NOT IN \
                 (SELECT key FROM push_subscriptions WHERE device = ?1 ORDER BY made_at DESC, key DESC LIMIT ?2)",
            )?
            .execute(params![device.0, MOST_OF_ONE])?;
            Ok(Subscribed::Kept)
        })
        .await
    }

    /// Takes a subscription of a device away. Tells whether it was there.
    pub(crate) async fn unsubscribe(
        &self,
        device: DeviceId,
        endpoint: String,
    ) -> Result<bool, StoreError> {
        self.write(Keep::Own, move |db| {
            let gone = db.execute(
                "DELETE FROM push_subscriptions WHERE device = ?1 AND endpoint = ?2",
                params![device.0, endpoint],
            )?;
            Ok(gone > 0)
        })
        .await
    }

    /// Forgets how devices are told that were paired once and do not belong to the realm any more. Tells how many
    /// subscriptions went.
    pub async fn forget_revoked(&self, paired: BTreeSet<DeviceKey>) -> Result<usize, StoreError> {
        self.write(Keep::Own, move |db| Ok(keep_only(db, &paired)?))
            .await
    }

    /// Whether a device has a subscription.
    pub(crate) async fn is_subscribed(&self, device: DeviceId) -> Result<bool, StoreError> {
        self.read(move |db| {
            let mut find =
                db.prepare_cached("SELECT 1 FROM push_subscriptions WHERE device = ?1")?;
            Ok(find.exists([device.0])?)
        })
        .await
    }

    /// Changes when a device is told.
    pub(crate) async fn wish(&self, device: DeviceId, wish: Wish) -> Result<(), ConversationError> {
        self.write(Keep::Own, move |db| change(db, device, &wish))
            .await
    }

    /// All about notifications, as a device sees it.
    pub(crate) async fn notifications(
        &self,
        device: DeviceId,
        service: fn(&str) -> String,
    ) -> Result<Overview, StoreError> {
        self.read(move |db| Ok(overview(db, device, service)?))
            .await
    }
}

fn keep_only(db: &Connection, paired: &BTreeSet<DeviceKey>) -> rusqlite::Result<usize> {
    let mut all = db.prepare_cached("SELECT key, device FROM paired")?;
    let known = all.query_map([], |row| Ok((parsed::<DeviceKey>(row, 0)?, row.get(1)?)))?;
    let mut gone = 0;
    for row in known {
        let (key, device): (DeviceKey, u32) = row?;
        if paired.contains(&key) {
            continue;
        }
        gone += db.execute("DELETE FROM push_subscriptions WHERE device = ?1", [device])?;
        db.execute("DELETE FROM notify_settings WHERE device = ?1", [device])?;
        db.execute("DELETE FROM notify_muted WHERE device = ?1", [device])?;
    }
    Ok(gone)
}

fn change(db: &Connection, device: DeviceId, wish: &Wish) -> Result<(), ConversationError> {
    if let Some(id) = &wish.conversation {
        let conversation = folded(db, id)?;
        let sql = match wish.muted {
            Some(true) => {
                "INSERT INTO notify_muted (device, conversation) VALUES (?1, ?2) ON CONFLICT DO NOTHING"
            }
            Some(false) => "DELETE FROM notify_muted WHERE device = ?1 AND conversation = ?2",
            None => return Ok(()),
        };
        db.execute(sql, params![device.0, conversation.key])?;
        return Ok(());
    }
    db.execute(
        "INSERT INTO notify_settings (device) VALUES (?1) ON CONFLICT DO NOTHING",
        [device.0],
    )?;
    if let Some(is_muted) = wish.muted {
        db.execute(
            "UPDATE notify_settings SET is_muted = ?2 WHERE device = ?1",
            params![device.0, is_muted],
        )?;
    }
    if let Some(quiet) = &wish.quiet {
        let quiet = quiet
            .as_ref()
            .and_then(|quiet| serde_json::to_string(quiet).ok());
        db.execute(
            "UPDATE notify_settings SET quiet = ?2 WHERE device = ?1",
            params![device.0, quiet],
        )?;
    }
    Ok(())
}

fn overview(
    db: &Connection,
    device: DeviceId,
    service: fn(&str) -> String,
) -> rusqlite::Result<Overview> {
    let (is_muted, quiet) = db
        .prepare_cached("SELECT is_muted, quiet FROM notify_settings WHERE device = ?1")?
        .query_row([device.0], |row| Ok((row.get(0)?, quiet(row.get(1)?))))
        .optional()?
        .unwrap_or((false, None));
    let mut find = db.prepare_cached(
        "SELECT c.id FROM notify_muted m JOIN conversations c ON c.key = m.conversation \
         WHERE m.device = ?1 ORDER BY c.key",
    )?;
    let muted = find.query_map([device.0], |row| parsed(row, 0))?;
    let muted = muted.collect::<rusqlite::Result<_>>()?;
    let mut find = db.prepare_cached(
        "SELECT endpoint, device = ?1, made_at, delivered_at, failed_at, error FROM push_subscriptions ORDER BY key",
    )?;
    let subscriptions = find.query_map([device.0], |row| {
        let endpoint: String = row.get(0)?;
        let moment = |column| row.get::<_, Option<i64>>(column);
        Ok(PushSubscriptionInfo {
            delivered_at: moment(3)?.map(Timestamp),
            failed_at: moment(4)?.map(Timestamp),
            error: row.get(5)?,
            ..PushSubscriptionInfo::new(service(&endpoint), row.get(1)?, Timestamp(row.get(2)?))
        })
    })?;
    let subscriptions = subscriptions.collect::<rusqlite::Result<_>>()?;
    let named = |endpoint: Option<&str>| endpoint.map_or_else(|| "webhook".to_owned(), service);
    Ok(Overview {
        is_muted,
        quiet,
        muted,
        subscriptions,
        lost: notices::lost(db, named)?,
    })
}

fn quiet(kept: Option<String>) -> Option<QuietHours> {
    serde_json::from_str(&kept?).ok()
}

/// All ways to devices, with what each device wants to hear of a conversation.
pub(super) fn ways(db: &Connection, conversation: Option<i64>) -> rusqlite::Result<Vec<Way>> {
    let mut find = db.prepare_cached(
        "SELECT p.key, p.device, coalesce(s.is_muted, 0) OR EXISTS \
         (SELECT 1 FROM notify_muted m WHERE m.device = p.device AND m.conversation = ?1), s.quiet \
         FROM push_subscriptions p LEFT JOIN notify_settings s ON s.device = p.device ORDER BY p.key",
    )?;
    let ways = find.query_map([conversation], |row| {
        let hours = quiet(row.get(3)?);
        Ok(Way {
            subscription: row.get(0)?,
            device: row.get(1)?,
            is_muted: row.get(2)?,
            // Hours that were good once and are not any more, because a time zone was renamed, are none.
            quiet: hours.and_then(|hours| Quiet::new(&hours).ok()),
        })
    })?;
    ways.collect()
}
