//! Who belongs to which realm, as data: records, the index of secrets, and the rules for changing them.
//!
//! It knows nothing of connections, files or clocks. A realm comes into being with its first Pylon or device.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use estelle_proto::{DeviceId, DeviceKey, Name, Right, Timestamp, Token};
use serde::{Deserialize, Serialize};

use crate::secret::{self, Entropy, SHORTEST_SECRET, SecretHash};

/// The ids of apps begin here; those below are for Pylons.
pub(crate) const FIRST_APP_ID: u32 = 100;
/// What one realm may hold, so that its file and its lists stay small.
const MAX_DEVICES: usize = 1000;

/// The name of a realm: lower-case letters, digits and dashes. A copy costs nothing: each message is handled with one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct RealmName(Arc<str>);

/// Why a text is no name of a realm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a realm has 1 to 64 lower-case letters, digits and dashes")]
pub struct RealmNameError;

impl RealmName {
    /// Checks length and characters.
    pub fn parse(text: &str) -> Result<Self, RealmNameError> {
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let is_name = (1..=64).contains(&text.len()) && text.chars().all(is_plain);
        is_name.then(|| Self(text.into())).ok_or(RealmNameError)
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for RealmName {
    type Error = RealmNameError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text)
    }
}

impl std::fmt::Display for RealmName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A Pylon as people see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PylonProfile {
    /// Its fixed id, 1 to 99.
    pub device_id: DeviceId,
    /// Its name.
    pub name: Name,
    /// Its icon, an emoji.
    pub icon: String,
    /// What it is for: `home`, `office`.
    pub role: String,
}

/// A Pylon of a registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedPylon {
    /// The realm it belongs to.
    pub realm: RealmName,
    /// What it looks like.
    pub profile: PylonProfile,
    /// Whether it is there now.
    pub is_connected: bool,
}

/// A device that is let in without pairing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDevice {
    /// Its name.
    pub name: Name,
    /// What it may do.
    pub rights: Vec<Right>,
    /// When it stops being let in.
    pub expires_at: Option<Timestamp>,
}

/// Why a secret was not issued.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IssueError {
    /// Ids of Pylons are 1 to 99.
    #[error("use an id from 1 to 99 for a Pylon, not {0}")]
    PylonId(DeviceId),
    /// Nobody to take out.
    #[error("there is no Pylon {0} in this realm; `estelle relay pylons` lists them")]
    UnknownPylon(DeviceId),
    /// A secret of somebody's own making that could be guessed.
    #[error("use a secret of at least {SHORTEST_SECRET} varied characters")]
    WeakSecret,
    /// A secret belongs to one device.
    #[error("the secret is in use already")]
    TakenSecret,
    /// An unknown right, or none at all.
    #[error("give at least one right, and only known ones")]
    Rights,
    /// The realm is full.
    #[error("the realm has {MAX_DEVICES} devices already")]
    Full,
    /// The system has no randomness.
    #[error("the system gives no random bytes")]
    NoEntropy,
}

/// A Pylon in the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PylonRecord {
    pub(crate) name: Name,
    pub(crate) icon: String,
    pub(crate) role: String,
    secret: SecretHash,
}

/// A device in the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeviceRecord {
    pub(crate) name: Name,
    pub(crate) rights: Vec<Right>,
    pub(crate) created_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) expires_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) last_seen_at: Option<Timestamp>,
    secret: SecretHash,
}

/// A Pylon that got a new secret, and what it was before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Replaced {
    realm: RealmName,
    id: DeviceId,
    /// The secret that it has now.
    given: SecretHash,
    before: Option<PylonRecord>,
}

/// A realm in the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RealmRecord {
    /// No app has had this id or a higher one.
    pub(crate) next_app_id: u32,
    pub(crate) pylons: BTreeMap<DeviceId, PylonRecord>,
    pub(crate) devices: BTreeMap<DeviceKey, DeviceRecord>,
}

impl Default for RealmRecord {
    fn default() -> Self {
        Self {
            next_app_id: FIRST_APP_ID,
            pylons: BTreeMap::new(),
            devices: BTreeMap::new(),
        }
    }
}

/// Who a secret belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Principal {
    pub(crate) realm: RealmName,
    pub(crate) who: Who,
}

/// A Pylon or a device of a realm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Who {
    Pylon(DeviceId),
    Device(DeviceKey),
}

/// All realms, with an index of their secrets.
#[derive(Debug, Clone, Default)]
pub(crate) struct Directory {
    realms: BTreeMap<RealmName, RealmRecord>,
    secrets: HashMap<SecretHash, Principal>,
    /// Secrets of devices and Pylons that were taken out, for ever.
    revoked: BTreeSet<SecretHash>,
}

impl Directory {
    /// Builds the index. Devices and Pylons that were taken out stay out, even if the records come from an old copy; a secret that
    /// two devices share makes the records unusable.
    pub(crate) fn new(
        mut realms: BTreeMap<RealmName, RealmRecord>,
        revoked: BTreeSet<SecretHash>,
    ) -> Option<Self> {
        for record in realms.values_mut() {
            record
                .devices
                .retain(|_, device| !revoked.contains(&device.secret));
            record
                .pylons
                .retain(|_, pylon| !revoked.contains(&pylon.secret));
        }
        let mut directory = Self {
            realms,
            secrets: HashMap::new(),
            revoked,
        };
        let mut found = Vec::new();
        for (realm, record) in &directory.realms {
            let of = |who| Principal {
                realm: realm.clone(),
                who,
            };
            let pylons = record.pylons.iter();
            found.extend(pylons.map(|(id, pylon)| (pylon.secret, of(Who::Pylon(*id)))));
            let devices = record.devices.iter();
            found
                .extend(devices.map(|(key, device)| (device.secret, of(Who::Device(key.clone())))));
        }
        let all = found.len();
        directory.secrets.extend(found);
        (directory.secrets.len() == all).then_some(directory)
    }

    /// Secrets of devices that were taken out.
    pub(crate) fn revoked(&self) -> &BTreeSet<SecretHash> {
        &self.revoked
    }

    pub(crate) fn realms(&self) -> &BTreeMap<RealmName, RealmRecord> {
        &self.realms
    }

    pub(crate) fn realm_mut(&mut self, realm: &RealmName) -> &mut RealmRecord {
        self.realms.entry(realm.clone()).or_default()
    }

    /// Whose secret it is.
    pub(crate) fn whose(&self, token: &Token) -> Option<&Principal> {
        self.secrets.get(&SecretHash::of(token))
    }

    pub(crate) fn pylon(&self, realm: &RealmName, id: DeviceId) -> Option<&PylonRecord> {
        self.realms.get(realm)?.pylons.get(&id)
    }

    pub(crate) fn device(&self, realm: &RealmName, key: &DeviceKey) -> Option<&DeviceRecord> {
        self.realms.get(realm)?.devices.get(key)
    }

    pub(crate) fn device_mut(
        &mut self,
        realm: &RealmName,
        key: &DeviceKey,
    ) -> Option<&mut DeviceRecord> {
        self.realms.get_mut(realm)?.devices.get_mut(key)
    }

    /// Adds a Pylon, or gives it new looks and a new secret: the old one is worth nothing from now on.
    pub(crate) fn put_pylon(
        &mut self,
        realm: &RealmName,
        pylon: PylonProfile,
        token: &Token,
    ) -> Result<Replaced, IssueError> {
        let id = pylon.device_id;
        if !(1..FIRST_APP_ID).contains(&id.0) {
            return Err(IssueError::PylonId(id));
        }
        let secret = self.fresh(token)?;
        let record = PylonRecord {
            name: shown(&pylon.name),
            icon: pylon.icon,
            role: pylon.role,
            secret,
        };
        let before = self.realm_mut(realm).pylons.insert(id, record);
        if let Some(before) = &before {
            self.secrets.remove(&before.secret);
            self.revoked.insert(before.secret);
        }
        let who = Who::Pylon(id);
        let principal = Principal {
            realm: realm.clone(),
            who,
        };
        self.secrets.insert(secret, principal);
        Ok(Replaced {
            realm: realm.clone(),
            id,
            given: secret,
            before,
        })
    }

    /// Makes a Pylon what it was before it got a new secret that nobody was told. What became of it since then stays.
    pub(crate) fn take_back(&mut self, replaced: Replaced) {
        let Replaced {
            realm,
            id,
            given,
            before,
        } = replaced;
        let pylons = &mut self.realm_mut(&realm).pylons;
        if pylons.get(&id).is_none_or(|now| now.secret != given) {
            return;
        }
        pylons.remove(&id);
        self.secrets.remove(&given);
        if let Some(before) = before {
            self.revoked.remove(&before.secret);
            let who = Who::Pylon(id);
            let principal = Principal {
                realm: realm.clone(),
                who,
            };
            self.secrets.insert(before.secret, principal);
            self.realm_mut(&realm).pylons.insert(id, before);
        }
    }

    /// Gives a Pylon other looks; its secret stays. Tells whether they are others.
    pub(crate) fn dress_pylon(
        &mut self,
        realm: &RealmName,
        pylon: PylonProfile,
    ) -> Result<bool, IssueError> {
        let id = pylon.device_id;
        let record = self.realms.get_mut(realm);
        let record = record.and_then(|record| record.pylons.get_mut(&id));
        let record = record.ok_or(IssueError::UnknownPylon(id))?;
        let dressed = PylonRecord {
            name: shown(&pylon.name),
            icon: pylon.icon,
            role: pylon.role,
            secret: record.secret,
        };
        let is_new = *record != dressed;
        *record = dressed;
        Ok(is_new)
    }

    /// Takes a Pylon out; its secret is worth nothing from now on.
    pub(crate) fn remove_pylon(
        &mut self,
        realm: &RealmName,
        id: DeviceId,
    ) -> Result<(), IssueError> {
        let record = self.realms.get_mut(realm);
        let removed = record.and_then(|record| record.pylons.remove(&id));
        let removed = removed.ok_or(IssueError::UnknownPylon(id))?;
        self.secrets.remove(&removed.secret);
        self.revoked.insert(removed.secret);
        Ok(())
    }

    /// All Pylons, by realm and id.
    pub(crate) fn pylons(&self) -> Vec<ListedPylon> {
        let all = self.realms.iter().flat_map(|(realm, record)| {
            record.pylons.iter().map(|(id, pylon)| ListedPylon {
                realm: realm.clone(),
                profile: PylonProfile {
                    device_id: *id,
                    name: pylon.name.clone(),
                    icon: pylon.icon.clone(),
                    role: pylon.role.clone(),
                },
                is_connected: false,
            })
        });
        all.collect()
    }

    /// Adds a device with a new secret.
    pub(crate) fn add_device(
        &mut self,
        realm: &RealmName,
        device: NewDevice,
        now: Timestamp,
        entropy: &mut Entropy,
    ) -> Result<(DeviceKey, Token), IssueError> {
        let rights = checked(device.rights)?;
        if self.realm_mut(realm).devices.len() >= MAX_DEVICES {
            return Err(IssueError::Full);
        }
        let token = secret::token(entropy).ok_or(IssueError::NoEntropy)?;
        let name = secret::name("dev", entropy).ok_or(IssueError::NoEntropy)?;
        let key = DeviceKey::parse(&name).map_err(|_| IssueError::NoEntropy)?;
        let secret = self.fresh(&token)?;
        let record = DeviceRecord {
            name: shown(&device.name),
            rights,
            created_at: now,
            expires_at: device.expires_at,
            last_seen_at: None,
            secret,
        };
        self.realm_mut(realm).devices.insert(key.clone(), record);
        let (realm, who) = (realm.clone(), Who::Device(key.clone()));
        self.secrets.insert(secret, Principal { realm, who });
        Ok((key, token))
    }

    /// Takes a device out; its secret is worth nothing from now on.
    pub(crate) fn remove_device(
        &mut self,
        realm: &RealmName,
        key: &DeviceKey,
    ) -> Option<DeviceRecord> {
        let removed = self.realms.get_mut(realm)?.devices.remove(key)?;
        self.secrets.remove(&removed.secret);
        self.revoked.insert(removed.secret);
        Some(removed)
    }

    /// Checks a secret before it is given to somebody.
    fn fresh(&self, token: &Token) -> Result<SecretHash, IssueError> {
        let text = token.reveal();
        let varied: BTreeSet<char> = text.chars().collect();
        if text.len() < SHORTEST_SECRET || varied.len() < 10 {
            return Err(IssueError::WeakSecret);
        }
        let hash = SecretHash::of(token);
        if self.secrets.contains_key(&hash) || self.revoked.contains(&hash) {
            return Err(IssueError::TakenSecret);
        }
        Ok(hash)
    }
}

/// Each right once; none, or an unknown one, is refused.
pub(crate) fn checked(rights: Vec<Right>) -> Result<Vec<Right>, IssueError> {
    let mut distinct: Vec<Right> = Vec::new();
    for right in rights {
        if matches!(right, Right::Unknown(_)) {
            return Err(IssueError::Rights);
        }
        if !distinct.contains(&right) {
            distinct.push(right);
        }
    }
    if distinct.is_empty() {
        return Err(IssueError::Rights);
    }
    Ok(distinct)
}

/// A name without characters that make it look like another one on a screen.
pub(crate) fn shown(name: &Name) -> Name {
    let hides = |c: char| {
        matches!(c,
            '\u{00ad}' | '\u{061c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    let text: String = name.as_str().chars().filter(|c| !hides(*c)).collect();
    let text = if text.trim().is_empty() {
        "?"
    } else {
        text.trim()
    };
    // A part of a valid name is one, so the fallback is never taken.
    Name::parse(text).unwrap_or_else(|_| name.clone())
}
