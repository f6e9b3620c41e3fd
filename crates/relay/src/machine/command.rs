//! What the program that runs the relay may ask of it: the same as the registry offers, while the relay runs.

use estelle_proto::{DeviceId, DeviceKey, Right, Token};

use super::{Effect, Machine, Note, Now, Role, Ticket};
use crate::registry::{
    IssueError, ListedPylon, NewDevice, Principal, PylonProfile, RealmName, Replaced, Who,
};
use crate::secret;

/// What the program that runs the relay wants.
#[derive(Debug)]
pub(crate) enum Command {
    /// Add a Pylon, or give it a new secret.
    PutPylon {
        realm: RealmName,
        pylon: PylonProfile,
    },
    /// Take a Pylon out.
    RemovePylon { realm: RealmName, id: DeviceId },
    /// Add a device.
    AddDevice { realm: RealmName, device: NewDevice },
    /// Name all Pylons.
    ListPylons,
    /// Say whose secret it is.
    Recognize { token: Token },
}

/// What was wanted.
#[derive(Debug, PartialEq)]
pub(crate) enum Outcome {
    /// A secret; that of a device comes with its key.
    Issued(Option<DeviceKey>, Token),
    /// It is out.
    Removed,
    /// These are all.
    Pylons(Vec<ListedPylon>),
    /// The device with that secret, if there is one.
    Recognized(Option<Recognized>),
}

/// A device that showed its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recognized {
    /// Its household.
    pub realm: RealmName,
    /// What it may do.
    pub rights: Vec<Right>,
}

/// What became of it; nothing if it could not be written down.
pub(crate) type CommandResult = Option<Result<Outcome, IssueError>>;

impl Machine {
    pub(super) fn on_command(
        &mut self,
        now: Now,
        ticket: Ticket,
        command: Command,
        effects: &mut Vec<Effect>,
    ) {
        // What is taken back if it cannot be written down.
        let mut undo = None;
        let result = match command {
            Command::PutPylon { realm, pylon } => {
                let put = self.put_pylon(now, &realm, pylon, effects);
                put.map(|(token, replaced)| {
                    undo = Some(Effect::TakeBack(Box::new(replaced)));
                    Outcome::Issued(None, token)
                })
            }
            Command::RemovePylon { realm, id } => self.remove_pylon(now, &realm, id, effects),
            Command::ListPylons => {
                let result = Some(Ok(Outcome::Pylons(self.all_pylons())));
                return effects.push(Effect::Done { ticket, result });
            }
            Command::Recognize { token } => {
                let result = Some(Ok(Outcome::Recognized(self.recognize(now, &token))));
                return effects.push(Effect::Done { ticket, result });
            }
            Command::AddDevice { realm, device } => {
                self.ensure_realm(&realm);
                let added = self
                    .directory
                    .add_device(&realm, device, now.wall, &mut self.entropy);
                added.map(|(key, token)| Outcome::Issued(Some(key), token))
            }
        };
        if result.is_err() {
            let result = Some(result);
            return effects.push(Effect::Done { ticket, result });
        }
        let result = Some(result);
        let failed = Effect::Done {
            ticket,
            result: None,
        };
        effects.push(Effect::Save {
            then: vec![Effect::Done { ticket, result }],
            otherwise: undo.into_iter().chain([failed]).collect(),
        });
    }

    /// The device with this secret, as `auth` would let it in.
    fn recognize(&self, now: Now, token: &Token) -> Option<Recognized> {
        let Principal { realm, who } = self.directory.whose(token)?;
        let Who::Device(key) = who else {
            return None;
        };
        let record = self.directory.device(realm, key)?;
        if record.expires_at.is_some_and(|at| at <= now.wall) {
            return None;
        }
        Some(Recognized {
            realm: realm.clone(),
            rights: record.rights.clone(),
        })
    }

    fn put_pylon(
        &mut self,
        now: Now,
        realm: &RealmName,
        pylon: PylonProfile,
        effects: &mut Vec<Effect>,
    ) -> Result<(Token, Replaced), IssueError> {
        let id = pylon.device_id;
        let token = secret::token(&mut self.entropy).ok_or(IssueError::NoEntropy)?;
        self.ensure_realm(realm);
        let replaced = self.directory.put_pylon(realm, pylon, &token)?;
        // Whoever is connected came with the old secret.
        self.cut_off_pylon(now, realm, id, effects);
        Ok((token, replaced))
    }

    fn remove_pylon(
        &mut self,
        now: Now,
        realm: &RealmName,
        id: DeviceId,
        effects: &mut Vec<Effect>,
    ) -> Result<Outcome, IssueError> {
        self.directory.remove_pylon(realm, id)?;
        self.cut_off_pylon(now, realm, id, effects);
        Ok(Outcome::Removed)
    }

    fn cut_off_pylon(
        &mut self,
        now: Now,
        realm: &RealmName,
        id: DeviceId,
        effects: &mut Vec<Effect>,
    ) {
        let is_it = |member: &super::realm::Member| {
            member.role == Role::Pylon && member.sender.device_id == id
        };
        self.cut_off(now, realm, is_it, effects);
        let realm = realm.clone();
        effects.push(Effect::Note(Note::Revoked { realm }));
    }

    fn all_pylons(&self) -> Vec<ListedPylon> {
        let is_there = |pylon: &ListedPylon| {
            let realm = self.realms.get(&pylon.realm);
            realm.is_some_and(|realm| realm.member(pylon.profile.device_id).is_some())
        };
        let all = self.directory.pylons().into_iter();
        all.map(|pylon| ListedPylon {
            is_connected: is_there(&pylon),
            ..pylon
        })
        .collect()
    }
}
