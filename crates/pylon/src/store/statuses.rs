//! The states of many conversations at once, as a host that has come says them.

use std::collections::BTreeSet;

use estelle_proto::{ConversationId, ConversationStatus};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::threads::Keep;
use super::{Store, StoreError};

/// What became of states that the host said.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Statuses {
    /// The conversations that there are.
    pub known: BTreeSet<ConversationId>,
    /// Those of them that had another state before.
    pub changed: BTreeSet<ConversationId>,
}

impl Store {
    /// Corrects the states of conversations by what the host says of them. One that is as it was is not written.
    pub async fn set_statuses(
        &self,
        said: Vec<(ConversationId, ConversationStatus)>,
    ) -> Result<Statuses, StoreError> {
        if said.is_empty() {
            return Ok(Statuses::default());
        }
        self.write(Keep::FromHost, move |db| Ok(correct(db, said)?))
            .await
    }
}

fn correct(
    db: &Connection,
    said: Vec<(ConversationId, ConversationStatus)>,
) -> rusqlite::Result<Statuses> {
    let mut find = db.prepare_cached("SELECT status FROM conversations WHERE id = ?1")?;
    let mut set = db.prepare_cached("UPDATE conversations SET status = ?2 WHERE id = ?1")?;
    let mut statuses = Statuses::default();
    for (id, status) in said {
        let row = find.query_row([id.as_str()], |row| row.get::<_, String>(0));
        let Some(before) = row.optional()? else {
            continue;
        };
        if before != status.as_str() {
            set.execute(params![id.as_str(), status.as_str()])?;
            statuses.changed.insert(id.clone());
        }
        statuses.known.insert(id);
    }
    Ok(statuses)
}
