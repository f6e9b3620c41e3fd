//! From a stranger to a member: the secret says who it is, and of which realm.
//!
//! What a client says about itself is not believed: a Pylon must name the id that its secret belongs to, an app gets an
//! id from the relay and its rights from the registry. Every refusal of a secret reads the same.

use estelle_proto::auth::{Auth, AuthResult, ClientDisconnect};
use estelle_proto::{
    ApiError, Device, DeviceId, DeviceKey, DeviceType, ErrorCode, Reply as _, RequestId, Retry,
    Right, Sender, limits,
};

use super::realm::{Member, Realm, listed};
use super::{ConnId, Effect, Machine, Note, Now, Place, Role, Why, error, refuse, say, say_to};
use crate::registry::{Principal, RealmName, Who};

impl Machine {
    pub(super) fn login(&mut self, now: Now, conn: ConnId, auth: &Auth, effects: &mut Vec<Effect>) {
        let request = auth.request_id.clone();
        match self.admit(now, conn, auth, effects) {
            Ok(()) => {}
            Err(error) => self.refuse_login(conn, error, request.as_ref(), effects),
        }
    }

    pub(super) fn refuse_login(
        &mut self,
        conn: ConnId,
        error: ApiError,
        request: Option<&RequestId>,
        effects: &mut Vec<Effect>,
    ) {
        self.places.remove(&conn);
        let result = AuthResult::default().failed(error).in_reply_to(request);
        effects.extend(say(&[conn], result));
        effects.push(Effect::Note(Note::LoginRefused { conn }));
        let why = Why::Refused;
        effects.push(Effect::Close { conn, why });
    }

    fn admit(
        &mut self,
        now: Now,
        conn: ConnId,
        auth: &Auth,
        effects: &mut Vec<Effect>,
    ) -> Result<(), ApiError> {
        if auth
            .protocol
            .is_some_and(|version| version != limits::RELAY_PROTOCOL)
        {
            let text = format!("this relay speaks version {}", limits::RELAY_PROTOCOL);
            return Err(error(ErrorCode::ProtocolMismatch, &text));
        }
        let found = auth
            .token
            .as_ref()
            .and_then(|token| self.directory.whose(token));
        let Principal { realm, who } = found.cloned().ok_or_else(unknown)?;
        let (device, member) = match (&auth.device_type, who) {
            (DeviceType::Pylon, Who::Pylon(id)) if auth.device_id == Some(id) => {
                self.replace_pylon(now, &realm, id, effects)?;
                (id, self.pylon(now, conn, &realm, id)?)
            }
            (DeviceType::Pylon, Who::Pylon(_)) => {
                let text = "a Pylon must name the `deviceId` that its token belongs to";
                return Err(error(ErrorCode::AuthFailed, text));
            }
            (DeviceType::App, Who::Device(key)) => self.app(now, conn, &realm, key, effects)?,
            (DeviceType::App, Who::Pylon(_))
            | (DeviceType::Pylon, Who::Device(_))
            | (DeviceType::Unknown(_), _) => return Err(unknown()),
        };
        self.enter(
            now,
            &realm,
            device,
            member,
            auth.request_id.as_ref(),
            effects,
        );
        Ok(())
    }

    fn enter(
        &mut self,
        now: Now,
        realm: &RealmName,
        device: DeviceId,
        member: Member,
        request: Option<&RequestId>,
        effects: &mut Vec<Effect>,
    ) {
        let (conn, role) = (member.conn, member.role);
        effects.push(Effect::Admit { conn, role });
        let rights = match role {
            Role::Pylon => all_rights(),
            Role::App => member.sender.rights.clone().unwrap_or_default(),
        };
        let result = AuthResult {
            device: Some(public(&member)),
            rights: Some(rights),
            device_key: member.key.clone(),
            protocol: Some(limits::RELAY_PROTOCOL),
            relay_version: Some(self.settings.build.clone()),
            ..AuthResult::default()
        };
        effects.extend(say(&[conn], result.in_reply_to(request)));
        if let Some(key) = &member.key
            && let Some(record) = self.directory.device_mut(realm, key)
        {
            record.last_seen_at = Some(now.wall);
        }
        self.places
            .insert(conn, Place::Member(realm.clone(), device));
        if let Some(place) = self.realms.get_mut(realm) {
            place.insert(now, device, member);
        }
        let realm = realm.clone();
        self.remind_of_requests(&realm, device, conn, effects);
        effects.push(Effect::Note(Note::Joined {
            conn,
            realm,
            device,
            role,
        }));
    }

    /// The newest connection of a Pylon wins: the older one is most likely dead and does not know it yet.
    fn replace_pylon(
        &mut self,
        now: Now,
        realm: &RealmName,
        id: DeviceId,
        effects: &mut Vec<Effect>,
    ) -> Result<(), ApiError> {
        let place = self.realms.get_mut(realm).ok_or_else(unknown)?;
        let Some(old) = place.member(id).map(|member| member.conn) else {
            return Ok(());
        };
        if !place.take_over(now, id) {
            let text = format!("two Pylons use the id {id}: give one of them another id");
            return Err(ApiError::new(ErrorCode::Conflict, text, Retry::Later));
        }
        let told = error(
            ErrorCode::Conflict,
            "this Pylon has connected again elsewhere",
        );
        effects.extend(refuse(old, "auth", None, told));
        self.dismiss(now, old, Why::Replaced, effects);
        Ok(())
    }

    fn pylon(
        &self,
        now: Now,
        conn: ConnId,
        realm: &RealmName,
        id: DeviceId,
    ) -> Result<Member, ApiError> {
        let record = self.directory.pylon(realm, id).ok_or_else(unknown)?;
        let sender = Sender {
            icon: Some(record.icon.clone()),
            ..Sender::new(id, DeviceType::Pylon, record.name.to_string())
        };
        Ok(Member {
            conn,
            role: Role::Pylon,
            listed: listed(&sender, record.role.clone(), now),
            sender,
            key: None,
            expires_at: None,
        })
    }

    fn app(
        &mut self,
        now: Now,
        conn: ConnId,
        realm: &RealmName,
        key: DeviceKey,
        effects: &mut Vec<Effect>,
    ) -> Result<(DeviceId, Member), ApiError> {
        let record = self
            .directory
            .device(realm, &key)
            .cloned()
            .ok_or_else(unknown)?;
        if record.expires_at.is_some_and(|at| at <= now.wall) {
            return Err(unknown());
        }
        let place = self.realms.get_mut(realm).ok_or_else(unknown)?;
        let open = place
            .members()
            .filter(|(_, member)| member.key.as_ref() == Some(&key));
        if open.count() >= self.settings.connections_per_device {
            let text = "this device has too many connections open";
            return Err(error(ErrorCode::RateLimited, text));
        }
        let device = place.new_app_id();
        self.set_ids_aside(realm, effects);
        let device =
            device.ok_or_else(|| error(ErrorCode::Internal, "no id is free; try again"))?;
        let sender = Sender {
            icon: Some("📱".to_owned()),
            rights: Some(record.rights),
            device_key: Some(key.clone()),
            ..Sender::new(device, DeviceType::App, record.name.to_string())
        };
        let member = Member {
            conn,
            role: Role::App,
            listed: listed(&sender, "client".to_owned(), now),
            sender,
            key: Some(key),
            expires_at: record.expires_at,
        };
        Ok((device, member))
    }

    /// Has further ids written down before the present ones are used up. Half a block that is written down is left for those
    /// who come meanwhile; none is given away before it is on the disk, or a relay that dies would give it away again.
    fn set_ids_aside(&mut self, realm: &RealmName, effects: &mut Vec<Effect>) {
        let place = self.realms.get_mut(realm);
        let Some(below) = place.and_then(Realm::ids_to_write) else {
            return;
        };
        self.directory.realm_mut(realm).next_app_id = below;
        let written = |below| {
            let realm = realm.clone();
            vec![Effect::IdsWritten { realm, below }]
        };
        effects.push(Effect::Save {
            then: written(Some(below)),
            otherwise: written(None),
        });
    }

    /// A member is gone: Pylons hear of an app at once, everybody with the next `device_status`.
    pub(super) fn leave(
        &mut self,
        now: Now,
        conn: ConnId,
        realm: &RealmName,
        device: DeviceId,
        effects: &mut Vec<Effect>,
    ) {
        let Some(place) = self.realms.get_mut(realm) else {
            return;
        };
        let Some(member) = place.remove(now, device) else {
            return;
        };
        let role = member.role;
        if role == Role::App {
            let notice = ClientDisconnect::new(device, member.sender.device_type);
            effects.extend(say_to(place.pylons(), notice));
        }
        let realm = realm.clone();
        effects.push(Effect::Note(Note::Left {
            conn,
            realm,
            device,
            role,
        }));
    }

    /// The realm, with its ids set aside, if it is new.
    pub(super) fn ensure_realm(&mut self, name: &RealmName) {
        if !self.realms.contains_key(name) {
            let realm = Realm::new(self.directory.realm_mut(name));
            self.realms.insert(name.clone(), realm);
        }
    }
}

/// One answer for every wrong secret, so that nothing can be learnt from it.
fn unknown() -> ApiError {
    error(ErrorCode::AuthFailed, "unknown device or wrong token")
}

fn all_rights() -> Vec<Right> {
    Right::WORDS.iter().map(|word| Right::from(*word)).collect()
}

fn public(member: &Member) -> Device {
    let listed = &member.listed;
    Device::new(
        listed.device_id,
        listed.device_type.clone(),
        listed.name.clone(),
        listed.icon.clone(),
        listed.role.clone(),
    )
}
