//! The devices of a realm: list, add, change, take out.
//!
//! A Pylon may do all of it. An app needs `admin`, cannot change its own rights, and cannot give what it lacks. What is
//! taken away counts at once; it is acknowledged when it is written down. The Pylons are told who is left.

use estelle_proto::devices::{
    DeviceAdd, DeviceAddResult, DeviceRevoke, DeviceRevokeResult, DeviceRights, DeviceRightsResult,
    PairedDevice, PairedList, PairedListResult, RightsChanged,
};
use estelle_proto::{ApiError, DeviceKey, ErrorCode, Reply as _, Right};

use super::pairing::{issue_error, unsaved};
use super::realm::{Member, Realm};
use super::{Asker, ConnId, Effect, Machine, Note, Now, Role, Why, error, say};
use crate::registry::{NewDevice, RealmName, checked};

impl Machine {
    pub(super) fn paired_list(
        &self,
        asker: &Asker,
        wanted: &PairedList,
        effects: &mut Vec<Effect>,
    ) {
        let result = match self.steward(asker) {
            Ok(_) => PairedListResult::new(self.all_paired(&asker.realm)),
            Err(error) => PairedListResult::new(Vec::new()).failed(error),
        };
        effects.extend(say(
            &[asker.conn],
            result.in_reply_to(wanted.request_id.as_ref()),
        ));
    }

    pub(super) fn device_add(
        &mut self,
        now: Now,
        asker: &Asker,
        wanted: DeviceAdd,
        effects: &mut Vec<Effect>,
    ) {
        let request = wanted.request_id;
        let answer =
            |result: DeviceAddResult| say(&[asker.conn], result.in_reply_to(request.as_ref()));
        let fail = |error: ApiError| answer(DeviceAddResult::default().failed(error));
        if self.role(asker) != Some(Role::Pylon) {
            let refused = error(ErrorCode::Forbidden, "only the machine may add a device");
            return effects.extend(fail(refused));
        }
        let device = NewDevice {
            name: wanted.name,
            rights: wanted.rights,
            expires_at: wanted.expires_at,
        };
        let added = self
            .directory
            .add_device(&asker.realm, device, now.wall, &mut self.entropy);
        let (key, token) = match added {
            Ok(issued) => issued,
            Err(error) => return effects.extend(fail(issue_error(&error))),
        };
        let done = DeviceAddResult {
            device: self.paired(&asker.realm, &key),
            token: Some(token),
            ..DeviceAddResult::default()
        };
        effects.push(Effect::Save {
            then: answer(done).into_iter().collect(),
            otherwise: fail(unsaved()).into_iter().collect(),
        });
        let realm = asker.realm.clone();
        effects.push(Effect::Note(Note::Paired { realm }));
    }

    pub(super) fn device_revoke(
        &mut self,
        now: Now,
        asker: &Asker,
        wanted: &DeviceRevoke,
        effects: &mut Vec<Effect>,
    ) {
        let key = &wanted.device_key;
        let result = || DeviceRevokeResult::new(key.clone());
        let answer = |result: DeviceRevokeResult| {
            say(
                &[asker.conn],
                result.in_reply_to(wanted.request_id.as_ref()),
            )
        };
        let is_itself = self.key_of(asker).as_ref() == Some(key);
        if let Err(refused) = self.steward(asker)
            && !is_itself
        {
            return effects.extend(answer(result().failed(refused)));
        }
        if self.directory.remove_device(&asker.realm, key).is_none() {
            let refused = error(ErrorCode::UnknownDevice, "there is no such device");
            return effects.extend(answer(result().failed(refused)));
        }
        let done = answer(result());
        // A device that takes itself out cannot wait for the disk: it is cut off with the others.
        if is_itself {
            effects.extend(answer(result()));
        }
        self.cut_off(
            now,
            &asker.realm,
            |member| member.key.as_ref() == Some(key),
            effects,
        );
        effects.extend(self.tell_who_is_left(asker));
        effects.push(Effect::Save {
            then: done.into_iter().filter(|_| !is_itself).collect(),
            otherwise: answer(result().failed(unsaved())).into_iter().collect(),
        });
        let realm = asker.realm.clone();
        effects.push(Effect::Note(Note::Revoked { realm }));
    }

    pub(super) fn device_rights(
        &mut self,
        asker: &Asker,
        wanted: DeviceRights,
        effects: &mut Vec<Effect>,
    ) {
        let key = wanted.device_key.clone();
        let request = wanted.request_id.clone();
        let answer =
            |result: DeviceRightsResult| say(&[asker.conn], result.in_reply_to(request.as_ref()));
        let result = || DeviceRightsResult::new(key.clone());
        let rights = match self.new_rights(asker, wanted) {
            Ok(rights) => rights,
            Err(error) => return effects.extend(answer(result().failed(error))),
        };
        if let Some(record) = self.directory.device_mut(&asker.realm, &key) {
            record.rights.clone_from(&rights);
        }
        let changed = self.give_rights(&asker.realm, &key, &rights);
        effects.extend(say(&changed, RightsChanged::new(rights.clone())));
        let done = DeviceRightsResult {
            rights: Some(rights),
            ..result()
        };
        effects.push(Effect::Save {
            then: answer(done).into_iter().collect(),
            otherwise: answer(result().failed(unsaved())).into_iter().collect(),
        });
    }

    fn new_rights(&self, asker: &Asker, wanted: DeviceRights) -> Result<Vec<Right>, ApiError> {
        let steward = self.steward(asker)?;
        if steward.key.as_ref() == Some(&wanted.device_key) {
            let text = "a device cannot change its own rights";
            return Err(error(ErrorCode::Forbidden, text));
        }
        let record = self.directory.device(&asker.realm, &wanted.device_key);
        let record =
            record.ok_or_else(|| error(ErrorCode::UnknownDevice, "there is no such device"))?;
        let rights = checked(wanted.rights).map_err(|error| issue_error(&error))?;
        let added = rights.iter().filter(|right| !record.rights.contains(right));
        match added.into_iter().find(|right| !steward.has(right)) {
            Some(right) => {
                let text = format!("you cannot give the right `{right}`, which you lack");
                Err(error(ErrorCode::Forbidden, &text))
            }
            None => Ok(rights),
        }
    }

    /// Changes the rights of open connections.
    fn give_rights(&mut self, realm: &RealmName, key: &DeviceKey, rights: &[Right]) -> Vec<ConnId> {
        let mut changed = Vec::new();
        let realm = self.realms.get_mut(realm);
        for member in realm.into_iter().flat_map(Realm::members_mut) {
            if member.key.as_ref() == Some(key) {
                member.sender.rights = Some(rights.to_vec());
                changed.push(member.conn);
            }
        }
        changed
    }

    /// Closes connections of a realm.
    pub(super) fn cut_off(
        &mut self,
        now: Now,
        realm: &RealmName,
        is_meant: impl Fn(&Member) -> bool,
        effects: &mut Vec<Effect>,
    ) {
        let Some(place) = self.realms.get(realm) else {
            return;
        };
        let meant = place.members().filter(|(_, member)| is_meant(member));
        let meant: Vec<ConnId> = meant.map(|(_, member)| member.conn).collect();
        for conn in meant {
            self.dismiss(now, conn, Why::Revoked, effects);
        }
    }

    /// Tells the Pylons of a realm which devices belong to it, so that they forget what they keep for others. Whoever is at
    /// the machine asks over the connection of its Pylon, which has to know as well.
    fn tell_who_is_left(&self, asker: &Asker) -> Option<Effect> {
        let pylons = self.realms.get(&asker.realm)?.pylons();
        say(
            &pylons,
            PairedListResult::new(self.all_paired(&asker.realm)),
        )
    }

    /// The asker, if it may manage devices.
    fn steward(&self, asker: &Asker) -> Result<&Member, ApiError> {
        let realm = self.realms.get(&asker.realm);
        let member = realm.and_then(|realm| realm.member(asker.device));
        let steward = member.filter(|member| member.has(&Right::Admin));
        steward.ok_or_else(error_forbidden)
    }

    fn key_of(&self, asker: &Asker) -> Option<DeviceKey> {
        let realm = self.realms.get(&asker.realm)?;
        realm.member(asker.device)?.key.clone()
    }

    fn all_paired(&self, realm: &RealmName) -> Vec<PairedDevice> {
        let record = self.directory.realms().get(realm);
        let keys = record.into_iter().flat_map(|record| record.devices.keys());
        let mut devices: Vec<_> = keys.filter_map(|key| self.paired(realm, key)).collect();
        devices.sort_by(|a, b| (a.created_at, &a.device_key).cmp(&(b.created_at, &b.device_key)));
        devices
    }

    /// A device as others see it.
    pub(super) fn paired(&self, realm: &RealmName, key: &DeviceKey) -> Option<PairedDevice> {
        let record = self.directory.device(realm, key)?;
        let members = self.realms.get(realm).into_iter().flat_map(Realm::members);
        let its = members.filter(|(_, member)| member.key.as_ref() == Some(key));
        let connected = its.map(|(id, _)| id).collect();
        let (name, rights) = (record.name.clone(), record.rights.clone());
        Some(PairedDevice {
            last_seen_at: record.last_seen_at,
            expires_at: record.expires_at,
            ..PairedDevice::new(key.clone(), name, rights, record.created_at, connected)
        })
    }
}

fn error_forbidden() -> ApiError {
    error(
        ErrorCode::Forbidden,
        "managing devices needs the right `admin`",
    )
}
