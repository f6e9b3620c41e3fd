//! The routing machine: every decision of the relay, without IO.
//!
//! Connections come in as numbers, frames as text, time as an argument; what is to be done goes out as effects. Who is
//! connected where is decided here alone, so that nothing can be routed by a stale copy of it.
//!
//! - [`exchange`]: what goes in and what comes out.
//! - [`realm`]: the members of one realm, and who receives a message. It cannot see other realms.
//! - [`login`]: from a stranger to a member. [`pairing`], [`devices`]: joining a realm and leaving it.
//!
//! **Invariant:** a connection that is not a member receives nothing that a device sent.

mod command;
mod devices;
mod exchange;
mod forward;
mod login;
mod pairing;
mod realm;

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use estelle_proto::auth::RelayVersionResult;
use estelle_proto::auth::{Connected, DeviceList, Pong, RelayRestarting, RelayUpdateResult};
use estelle_proto::{
    ApiError, AppToPylon, DecodeError, DeviceId, DeviceToRelay, Envelope, ErrorCode, ErrorReport,
    Hint, Message as _, PairId, RelayFrame, RelayToDevice, Reply as _, RequestId, Retry, Right,
};

pub use command::Recognized;
pub(crate) use command::{Command, CommandResult, Outcome};
pub(crate) use exchange::{ConnId, Effect, Input, Note, Now, Role, Ticket, Why};
use pairing::Offer;
use realm::Realm;

use crate::registry::{Directory, RealmName};
use crate::secret::Entropy;

/// Where a connection stands.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    /// Not authenticated.
    Stranger { address: Option<String> },
    /// Waits for the person at the machine.
    Pairing(PairId),
    /// A device of a realm.
    Member(RealmName, DeviceId),
}

/// All state of a relay.
pub(crate) struct Machine {
    directory: Directory,
    realms: BTreeMap<RealmName, Realm>,
    places: HashMap<ConnId, Place>,
    offers: BTreeMap<PairId, Offer>,
    /// The right that each type of message needs.
    rights: HashMap<&'static str, Right>,
    entropy: Entropy,
    settings: Settings,
}

/// What the machine is told about its relay.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) build: String,
    pub(crate) connections_per_device: usize,
}

impl std::fmt::Debug for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Machine")
            .field("places", &self.places.len())
            .finish_non_exhaustive()
    }
}

impl Machine {
    /// A relay to which nobody is connected.
    ///
    /// The directory must be written before anything else happens: ids for apps were set aside in it.
    pub(crate) fn new(mut directory: Directory, entropy: Entropy, settings: Settings) -> Self {
        let names: Vec<RealmName> = directory.realms().keys().cloned().collect();
        let realms = names.into_iter().map(|name| {
            let realm = Realm::new(directory.realm_mut(&name));
            (name, realm)
        });
        let realms = realms.collect();
        let kinds = AppToPylon::KINDS.iter();
        let rights = kinds.map(|kind| (*kind, AppToPylon::right_of(kind)));
        Self {
            directory,
            realms,
            places: HashMap::new(),
            offers: BTreeMap::new(),
            rights: rights.collect(),
            entropy,
            settings,
        }
    }

    /// What is to be written to the registry.
    pub(crate) fn directory(&self) -> &Directory {
        &self.directory
    }

    /// Takes one input. Never fails: what is wrong is answered.
    pub(crate) fn step(&mut self, now: Now, input: Input) -> Vec<Effect> {
        let mut effects = Vec::new();
        match input {
            Input::Opened { conn, address } => self.on_opened(conn, address, &mut effects),
            Input::Frame { conn, text } => self.on_frame(now, conn, &text, &mut effects),
            Input::Closed { conn } => self.on_closed(now, conn, &mut effects),
            Input::Command { ticket, command } => {
                self.on_command(now, ticket, command, &mut effects);
            }
            Input::Tick => self.on_tick(now, &mut effects),
            Input::Stopping => self.on_stopping(&mut effects),
            Input::IdsWritten { realm, below } => {
                if let Some(place) = self.realms.get_mut(&realm) {
                    place.ids_written(below);
                }
            }
            Input::TakeBack(replaced) => self.directory.take_back(*replaced),
        }
        effects
    }

    /// When to come back with [`Input::Tick`], if nothing else happens.
    pub(crate) fn wake_at(&self, now: Now) -> Option<Duration> {
        let offers = self.offers.values().map(|offer| offer.expires);
        let realms = self.realms.values().filter_map(|realm| realm.wake_at(now));
        offers.chain(realms).min()
    }

    fn on_opened(&mut self, conn: ConnId, address: Option<String>, effects: &mut Vec<Effect>) {
        self.places.insert(conn, Place::Stranger { address });
        let greeting = Connected::new(conn.0.to_string(), "Estelle relay".to_owned());
        effects.extend(say(&[conn], greeting));
    }

    fn on_frame(&mut self, now: Now, conn: ConnId, text: &str, effects: &mut Vec<Effect>) {
        // A connection that was closed a moment ago may still have had frames under way.
        let Some(place) = self.places.get(&conn).cloned() else {
            return;
        };
        let frame = match RelayFrame::parse(text) {
            Ok(frame) => frame,
            Err(error) => {
                let hint = Hint::of(text);
                return self.on_bad_frame(conn, &place, &hint, &error, effects);
            }
        };
        match (place, frame) {
            (Place::Member(realm, device), RelayFrame::Forward(forward)) => {
                self.forward(&realm, device, &forward, effects);
            }
            (Place::Member(realm, device), RelayFrame::Own(own)) => {
                let asker = Asker {
                    conn,
                    realm,
                    device,
                };
                self.on_own(now, &asker, own, effects);
            }
            (Place::Stranger { .. }, RelayFrame::Own(DeviceToRelay::Auth(auth))) => {
                self.login(now, conn, &auth, effects);
            }
            (Place::Stranger { address }, RelayFrame::Own(DeviceToRelay::PairRequest(request))) => {
                self.pair_request(conn, address, &request, effects);
            }
            (Place::Stranger { .. } | Place::Pairing(_), frame) => {
                let error = error(ErrorCode::NotAuthenticated, "send `auth` first");
                let request = Hint::of(text).request_id;
                effects.extend(refuse(conn, &frame_kind(&frame), request.as_ref(), error));
            }
        }
    }

    /// What is no message, or one of ours with a bad payload.
    fn on_bad_frame(
        &mut self,
        conn: ConnId,
        place: &Place,
        hint: &Hint,
        error: &DecodeError,
        effects: &mut Vec<Effect>,
    ) {
        effects.push(Effect::Note(Note::Invalid { conn }));
        let report = ApiError::from(error);
        let about = hint.kind.as_deref().unwrap_or_default();
        let request = hint.request_id.as_ref();
        // Who waits for pairing is told and waits on: to let it go here would leave its offer open without it.
        if matches!(place, Place::Stranger { .. }) && about == "auth" {
            let code = ErrorCode::AuthFailed;
            let refused = ApiError { code, ..report };
            return self.refuse_login(conn, refused, request, effects);
        }
        effects.extend(refuse(conn, about, request, report));
    }

    /// A member asks the relay itself.
    fn on_own(&mut self, now: Now, asker: &Asker, own: DeviceToRelay, effects: &mut Vec<Effect>) {
        let conn = asker.conn;
        match own {
            DeviceToRelay::Ping(ping) => {
                let request_id = ping.request_id;
                effects.extend(say(&[conn], Pong { request_id }));
            }
            DeviceToRelay::GetDevices(wanted) => {
                let devices = self.realms.get(&asker.realm).map(Realm::devices);
                let (devices, unlisted) = devices.unwrap_or_default();
                let list = DeviceList {
                    unlisted,
                    ..DeviceList::new(devices)
                };
                effects.extend(say(&[conn], list.in_reply_to(wanted.request_id.as_ref())));
            }
            DeviceToRelay::RelayVersion(wanted) => {
                let version = RelayVersionResult::new(self.settings.build.clone());
                effects.extend(say(
                    &[conn],
                    version.in_reply_to(wanted.request_id.as_ref()),
                ));
            }
            DeviceToRelay::RelayUpdate(wanted) => {
                let refused = match self.role(asker) {
                    Some(Role::Pylon) => "this relay is updated where it was installed",
                    Some(Role::App) | None => "only a Pylon may update the relay",
                };
                let result = RelayUpdateResult::default()
                    .failed(error(ErrorCode::Forbidden, refused))
                    .in_reply_to(wanted.request_id.as_ref());
                effects.extend(say(&[conn], result));
            }
            DeviceToRelay::Auth(wanted) => {
                effects.extend(late(conn, "auth", wanted.request_id.as_ref()));
            }
            DeviceToRelay::PairRequest(wanted) => {
                effects.extend(late(conn, "pair_request", wanted.request_id.as_ref()));
            }
            DeviceToRelay::PairOffer(wanted) => self.pair_offer(now, asker, &wanted, effects),
            DeviceToRelay::PairConfirm(wanted) => self.pair_confirm(now, asker, wanted, effects),
            DeviceToRelay::PairedList(wanted) => self.paired_list(asker, &wanted, effects),
            DeviceToRelay::DeviceAdd(wanted) => self.device_add(now, asker, wanted, effects),
            DeviceToRelay::DeviceRevoke(wanted) => self.device_revoke(now, asker, &wanted, effects),
            DeviceToRelay::DeviceRights(wanted) => self.device_rights(asker, wanted, effects),
            // A type is the relay's own because it is in the table, so it is known.
            DeviceToRelay::Unknown(_) => {}
        }
    }

    fn on_closed(&mut self, now: Now, conn: ConnId, effects: &mut Vec<Effect>) {
        match self.places.remove(&conn) {
            Some(Place::Member(realm, device)) => self.leave(now, conn, &realm, device, effects),
            Some(Place::Pairing(id)) => self.claimant_left(&id, effects),
            Some(Place::Stranger { .. }) | None => {}
        }
    }

    /// Closes a member's connection from our side.
    fn dismiss(&mut self, now: Now, conn: ConnId, why: Why, effects: &mut Vec<Effect>) {
        effects.push(Effect::Close { conn, why });
        self.on_closed(now, conn, effects);
    }

    fn on_tick(&mut self, now: Now, effects: &mut Vec<Effect>) {
        self.end_old_offers(now, effects);
        let expired: Vec<ConnId> = self
            .realms
            .values()
            .flat_map(|realm| realm.expired(now))
            .collect();
        for conn in expired {
            self.dismiss(now, conn, Why::Revoked, effects);
        }
        for realm in self.realms.values_mut() {
            effects.extend(realm.status(now));
        }
    }

    fn on_stopping(&mut self, effects: &mut Vec<Effect>) {
        let members = self.realms.values().flat_map(Realm::connections).collect();
        let notice = RelayRestarting {
            reason: Some("the relay goes down; reconnect as usual".to_owned()),
        };
        effects.extend(say_to(members, notice));
        let all: Vec<ConnId> = self.places.drain().map(|(conn, _)| conn).collect();
        let why = Why::Restarting;
        effects.extend(all.into_iter().map(|conn| Effect::Close { conn, why }));
        for (name, realm) in &self.realms {
            realm.give_back(self.directory.realm_mut(name));
        }
        self.realms.clear();
        self.offers.clear();
    }

    fn role(&self, asker: &Asker) -> Option<Role> {
        let realm = self.realms.get(&asker.realm)?;
        realm.member(asker.device).map(|member| member.role)
    }
}

/// A member that asks the relay for something.
#[derive(Debug)]
struct Asker {
    conn: ConnId,
    realm: RealmName,
    device: DeviceId,
}

fn frame_kind(frame: &RelayFrame<'_>) -> String {
    match frame {
        RelayFrame::Own(own) => own.kind().to_owned(),
        RelayFrame::Forward(forward) => forward.kind().to_owned(),
    }
}

fn error(code: ErrorCode, message: &str) -> ApiError {
    let passes = [
        ErrorCode::RateLimited,
        ErrorCode::DiskFull,
        ErrorCode::Internal,
    ];
    let retry = if passes.contains(&code) {
        Retry::Later
    } else {
        Retry::Never
    };
    ApiError::new(code, message.to_owned(), retry)
}

/// A message of the relay's own.
fn say(to: &[ConnId], message: impl Into<RelayToDevice>) -> Option<Effect> {
    say_to(to.to_vec(), message)
}

fn say_to(to: Vec<ConnId>, message: impl Into<RelayToDevice>) -> Option<Effect> {
    if to.is_empty() {
        return None;
    }
    let envelope = Envelope::<RelayToDevice>::new(message);
    Some(match envelope.to_json() {
        Ok(text) => Effect::Send { to, text },
        Err(_) => Effect::Note(Note::Unwritten {
            kind: envelope.message.kind().to_owned(),
        }),
    })
}

/// A member that wants in.
fn late(conn: ConnId, about: &str, request: Option<&RequestId>) -> Option<Effect> {
    let text = "this connection has authenticated already";
    refuse(conn, about, request, error(ErrorCode::Conflict, text))
}

/// `error`: says why a message had no effect.
fn refuse(
    conn: ConnId,
    about: &str,
    request: Option<&RequestId>,
    error: ApiError,
) -> Option<Effect> {
    // The type is the sender's text; a long one is not worth sending back.
    let about = estelle_proto::limits::cut(about, 64);
    let report = ErrorReport {
        about: (!about.is_empty()).then(|| about.to_owned()),
        request_id: request.cloned(),
        ..ErrorReport::from(error)
    };
    say(&[conn], report)
}

#[cfg(test)]
#[path = "machine_tests.rs"]
mod tests;
#[cfg(test)]
mod timing_tests;
