//! What the program that runs the relay may ask of it: the same as the registry offers, while the relay runs.

use estelle_proto::{DeviceKey, Token};

use super::{Effect, Machine, Note, Now, Role, Ticket};
use crate::registry::{IssueError, NewDevice, PylonProfile, RealmName};
use crate::secret;

/// What the program that runs the relay wants.
#[derive(Debug)]
pub(crate) enum Command {
    /// Add a Pylon, or give it a new secret.
    PutPylon {
        realm: RealmName,
        pylon: PylonProfile,
    },
    /// Add a device.
    AddDevice { realm: RealmName, device: NewDevice },
}

/// What became of it; nothing if it could not be written down.
pub(crate) type CommandResult = Option<Result<(Option<DeviceKey>, Token), IssueError>>;

impl Machine {
    pub(super) fn on_command(
        &mut self,
        now: Now,
        ticket: Ticket,
        command: Command,
        effects: &mut Vec<Effect>,
    ) {
        let result = match command {
            Command::PutPylon { realm, pylon } => self.put_pylon(now, &realm, pylon, effects),
            Command::AddDevice { realm, device } => {
                self.ensure_realm(&realm);
                let added = self
                    .directory
                    .add_device(&realm, device, now.wall, &mut self.entropy);
                added.map(|(key, token)| (Some(key), token))
            }
        };
        if result.is_err() {
            let result = Some(result);
            return effects.push(Effect::Done { ticket, result });
        }
        let result = Some(result);
        effects.push(Effect::Save {
            then: vec![Effect::Done { ticket, result }],
            otherwise: vec![Effect::Done {
                ticket,
                result: None,
            }],
        });
    }

    fn put_pylon(
        &mut self,
        now: Now,
        realm: &RealmName,
        pylon: PylonProfile,
        effects: &mut Vec<Effect>,
    ) -> Result<(Option<DeviceKey>, Token), IssueError> {
        let id = pylon.device_id;
        let token = secret::token(&mut self.entropy).ok_or(IssueError::NoEntropy)?;
        self.ensure_realm(realm);
        self.directory.put_pylon(realm, pylon, &token)?;
        // Whoever is connected came with the old secret.
        let is_it = |member: &super::realm::Member| {
            member.role == Role::Pylon && member.sender.device_id == id
        };
        self.cut_off(now, realm, is_it, effects);
        let realm = realm.clone();
        effects.push(Effect::Note(Note::Revoked { realm }));
        Ok((None, token))
    }
}
