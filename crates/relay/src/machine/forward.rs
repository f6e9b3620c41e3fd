//! A message from device to device: may the sender say it, who receives it, and what if nobody does.
//!
//! The relay looks at `type` and addresses. The payload passes untouched, under the true name of the sender.

use estelle_proto::{ApiError, DecodeError, DeviceId, ErrorCode, Forward, Retry, Right, limits};

use super::{ConnId, Effect, Machine, Note, refuse};
use crate::registry::RealmName;

/// Absent devices that an error names; the others are counted.
const NAMED: usize = 8;

impl Machine {
    pub(super) fn forward(
        &mut self,
        realm: &RealmName,
        device: DeviceId,
        message: &Forward<'_>,
        effects: &mut Vec<Effect>,
    ) {
        let Some(realm) = self.realms.get(realm) else {
            return;
        };
        let Some(sender) = realm.member(device) else {
            return;
        };
        let conn = sender.conn;
        // What a newer app says and this build does not know needs the highest right.
        let right = self.rights.get(message.kind()).unwrap_or(&Right::Admin);
        if !sender.has(right) {
            effects.push(Effect::Note(Note::Forbidden { conn }));
            let text = format!("`{}` needs the right `{right}`", shortened(message.kind()));
            let error = ApiError::new(ErrorCode::Forbidden, text, Retry::Never);
            return effects.extend(refuse(conn, message.kind(), message.request_id(), error));
        }
        let route = realm.route(device, message);
        if !route.missing.is_empty() {
            effects.extend(undeliverable(conn, message, &route.missing));
        }
        if route.to.is_empty() {
            return;
        }
        effects.push(match message.splice(&sender.sender) {
            // With the name of its sender it is longer than what came in, and receivers have the same limit.
            Ok(text) if text.len() > limits::MAX_FRAME_BYTES => {
                let (length, limit) = (text.len(), limits::MAX_FRAME_BYTES);
                let error = ApiError::from(&DecodeError::TooLarge { length, limit });
                return effects.extend(refuse(conn, message.kind(), message.request_id(), error));
            }
            Ok(text) => Effect::Send { to: route.to, text },
            Err(_) => Effect::Note(Note::Unwritten {
                kind: shortened(message.kind()).to_owned(),
            }),
        });
    }
}

fn shortened(kind: &str) -> &str {
    limits::cut(kind, 64)
}

/// Tells the sender which addressees are not there. A device of another realm is no more there than one that never was.
fn undeliverable(conn: ConnId, message: &Forward<'_>, missing: &[DeviceId]) -> Vec<Effect> {
    let named: Vec<String> = missing
        .iter()
        .take(NAMED)
        .map(DeviceId::to_string)
        .collect();
    let others = missing.len().saturating_sub(NAMED);
    let more = match others {
        0 => String::new(),
        others => format!(" and {others} more"),
    };
    let text = format!("not connected: device {}{more}", named.join(", "));
    let error = ApiError::new(ErrorCode::Undeliverable, text, Retry::Later);
    let report = refuse(conn, message.kind(), message.request_id(), error);
    let note = Effect::Note(Note::Undeliverable { conn });
    report.into_iter().chain([note]).collect()
}
