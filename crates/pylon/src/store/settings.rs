//! Settings that people change while the pylon runs, kept as JSON by name. The configuration file is none of this.

use estelle_proto::{Json, PermissionMode};
use rusqlite::{Connection, OptionalExtension, params};

use super::row::json;
use super::threads::Keep;
use super::{Store, StoreError};

const PERMISSION_MODE: &str = "permissionMode";
const MODEL: &str = "model";

impl Store {
    /// A setting, if it was set.
    pub async fn setting(&self, name: String) -> Result<Option<Json>, StoreError> {
        self.read(move |db| Ok(load(db, &name)?)).await
    }

    /// Sets a setting, or removes it.
    pub async fn set_setting(&self, name: String, value: Option<Json>) -> Result<(), StoreError> {
        self.write(Keep::Own, move |db| {
            match value {
                Some(value) => db
                    .prepare_cached(
                        "INSERT INTO settings (name, value) VALUES (?1, ?2) \
                         ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                    )?
                    .execute(params![name, value.get()])?,
                None => db
                    .prepare_cached("DELETE FROM settings WHERE name = ?1")?
                    .execute([name])?,
            };
            Ok(())
        })
        .await
    }

    /// How permissions are judged in conversations without a mode of their own.
    pub async fn default_permission_mode(&self) -> Result<PermissionMode, StoreError> {
        self.read(|db| Ok(default_permission_mode(db)?)).await
    }

    /// Sets how permissions are judged in conversations without a mode of their own.
    pub async fn set_default_permission_mode(
        &self,
        mode: PermissionMode,
    ) -> Result<(), StoreError> {
        let value = Json::of(&mode).ok();
        self.set_setting(PERMISSION_MODE.to_owned(), value).await
    }

    /// The model of conversations without one of their own; `None` means the agent's.
    pub async fn default_model(&self) -> Result<Option<String>, StoreError> {
        self.read(|db| Ok(default_model(db)?)).await
    }

    /// Sets the model of conversations without one of their own.
    pub async fn set_default_model(&self, model: Option<String>) -> Result<(), StoreError> {
        let value = model.and_then(|model| Json::of(&model).ok());
        self.set_setting(MODEL.to_owned(), value).await
    }
}

fn load<T: serde::de::DeserializeOwned>(
    db: &Connection,
    name: &str,
) -> rusqlite::Result<Option<T>> {
    db.prepare_cached("SELECT value FROM settings WHERE name = ?1")?
        .query_row([name], |row| json(row, 0))
        .optional()
}

pub(super) fn default_permission_mode(db: &Connection) -> rusqlite::Result<PermissionMode> {
    Ok(load(db, PERMISSION_MODE)?.unwrap_or(PermissionMode::Default))
}

pub(super) fn default_model(db: &Connection) -> rusqlite::Result<Option<String>> {
    load(db, MODEL)
}
