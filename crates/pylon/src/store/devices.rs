//! What each device looks at, and what it has not seen.
//!
//! A device views one conversation at a time. What happens in the others makes them unread for it, until it views
//! them. A device that is new has missed nothing: what was there before counts as seen. One that was paired is the same
//! after every reconnect; a connection of no paired device is a device of its own.

use estelle_proto::{ConversationId, DeviceId, DeviceKey};
use rusqlite::{Connection, OptionalExtension, params};

use super::conversations::{ConversationError, folded};
use super::row::parsed;
use super::threads::Keep;
use super::{Store, StoreError};

/// The lowest number of a paired device; those of connections are below it.
const FIRST_PAIRED: u32 = 1 << 31;

/// A device and the conversation it views.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// Which device.
    pub device: DeviceId,
    /// What it looks at.
    pub conversation: ConversationId,
}

impl Store {
    /// Remembers a device from now on; nothing is unread for it yet. One that is known stays as it is.
    pub async fn register_device(&self, device: DeviceId) -> Result<(), StoreError> {
        self.write(Keep::FromHost, move |db| Ok(register(db, device)?))
            .await
    }

    /// The number of a paired device, which is remembered from now on: the same after every reconnect, and never that of
    /// a connection.
    pub async fn paired_device(&self, key: DeviceKey) -> Result<DeviceId, StoreError> {
        self.write(Keep::FromHost, move |db| {
            db.prepare_cached(
                "INSERT INTO paired (key, device) SELECT ?1, coalesce(max(device) + 1, ?2) FROM paired WHERE true \
                 ON CONFLICT (key) DO NOTHING",
            )?
            .execute(params![key.as_str(), FIRST_PAIRED])?;
            let device = db
                .prepare_cached("SELECT device FROM paired WHERE key = ?1")?
                .query_row([key.as_str()], |row| row.get(0).map(DeviceId))?;
            register(db, device)?;
            Ok(device)
        })
        .await
    }

    /// A device looks at a conversation, and no longer at the one before.
    pub async fn view(
        &self,
        device: DeviceId,
        conversation: ConversationId,
    ) -> Result<(), ConversationError> {
        self.write(Keep::FromHost, move |db| {
            let conversation = folded(db, &conversation)?;
            register(db, device)?;
            look_away(db, device)?;
            db.prepare_cached("UPDATE devices SET viewing = ?2 WHERE id = ?1")?
                .execute(params![device.0, conversation.key])?;
            Ok(see(db, device, conversation.key)?)
        })
        .await
    }

    /// A device looks at nothing any more, for example because it is gone.
    pub async fn look_away(&self, device: DeviceId) -> Result<(), StoreError> {
        self.write(Keep::FromHost, move |db| Ok(look_away(db, device)?))
            .await
    }

    /// Nobody looks at anything, because nobody is connected; connections of no paired device are forgotten.
    pub async fn empty_room(&self) -> Result<(), StoreError> {
        self.write(Keep::FromHost, |db| {
            db.execute("DELETE FROM devices WHERE id < ?1", [FIRST_PAIRED])?;
            let mut find = db.prepare_cached("SELECT id FROM devices WHERE viewing IS NOT NULL")?;
            let viewing = find.query_map([], |row| row.get(0).map(DeviceId))?;
            let viewing = viewing.collect::<rusqlite::Result<Vec<_>>>()?;
            for device in viewing {
                look_away(db, device)?;
            }
            Ok(())
        })
        .await
    }

    /// Forgets a device altogether.
    pub async fn forget_device(&self, device: DeviceId) -> Result<(), StoreError> {
        self.write(Keep::FromHost, move |db| {
            db.prepare_cached("DELETE FROM devices WHERE id = ?1")?
                .execute([device.0])?;
            Ok(())
        })
        .await
    }

    /// Who looks at what, as it was when the pylon last ran.
    pub async fn views(&self) -> Result<Vec<View>, StoreError> {
        self.read(|db| {
            let mut all = db.prepare_cached(
                "SELECT d.id, c.id FROM devices d JOIN conversations c ON c.key = d.viewing ORDER BY d.id",
            )?;
            let rows = all.query_map([], |row| {
                Ok(View {
                    device: DeviceId(row.get(0)?),
                    conversation: parsed(row, 1)?,
                })
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
        .await
    }

    /// Registered devices for which a conversation is unread.
    pub async fn unread_by(&self, id: ConversationId) -> Result<Vec<DeviceId>, ConversationError> {
        self.read(move |db| {
            let conversation = folded(db, &id)?;
            let mut find = db.prepare_cached(
                "SELECT d.id FROM devices d \
                 LEFT JOIN seen s ON s.device = d.id AND s.conversation = ?1 \
                 WHERE d.viewing IS NOT ?1 AND ?2 > max(d.baseline, coalesce(s.mark, 0)) ORDER BY d.id",
            )?;
            let key = params![conversation.key, conversation.notable];
            let rows = find.query_map(key, |row| row.get(0).map(DeviceId))?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
        .await
    }
}

/// The mark after another notable event.
pub(super) fn raise_mark(db: &Connection) -> rusqlite::Result<i64> {
    db.prepare_cached("UPDATE pylon SET mark = mark + 1 RETURNING mark")?
        .query_row([], |row| row.get(0))
}

/// Everything up to now counts as seen, by every device.
pub(super) fn catch_up(db: &Connection) -> rusqlite::Result<()> {
    db.execute("UPDATE devices SET baseline = (SELECT mark FROM pylon)", [])
        .map(|_| ())
}

fn register(db: &Connection, device: DeviceId) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO devices (id, baseline) SELECT ?1, mark FROM pylon WHERE true ON CONFLICT (id) DO NOTHING",
    )?
    .execute([device.0])
    .map(|_| ())
}

/// What was looked at until now was seen until now.
fn look_away(db: &Connection, device: DeviceId) -> rusqlite::Result<()> {
    let viewed: Option<i64> = db
        .prepare_cached("SELECT viewing FROM devices WHERE id = ?1")?
        .query_row([device.0], |row| row.get(0))
        .optional()?
        .flatten();
    if let Some(viewed) = viewed {
        see(db, device, viewed)?;
        db.prepare_cached("UPDATE devices SET viewing = NULL WHERE id = ?1")?
            .execute([device.0])?;
    }
    Ok(())
}

fn see(db: &Connection, device: DeviceId, conversation: i64) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO seen (device, conversation, mark) SELECT ?1, ?2, mark FROM pylon WHERE true \
         ON CONFLICT (device, conversation) DO UPDATE SET mark = excluded.mark",
    )?
    .execute(params![device.0, conversation])
    .map(|_| ())
}
