//! How a device joins a realm: a Pylon offers, a stranger knows the secret, a person at the machine says yes.
//!
//! An offer lives two minutes, serves one device and dies of the third wrong guess. Only the Pylon that made it can say
//! yes, so whoever lures somebody into scanning a code gains nothing.

use std::time::Duration;

use estelle_proto::pairing::{
    PairClosed, PairConfirm, PairConfirmResult, PairDecision, PairEnd, PairOffer, PairOfferResult,
    PairRequest, PairRequestResult, PairRequested, PairResult,
};
use estelle_proto::{
    ApiError, DeviceId, DeviceKey, ErrorCode, Name, PairId, Reply as _, Right, Timestamp, Token,
    limits,
};

use super::realm::Realm;
use super::{Asker, ConnId, Effect, Machine, Note, Now, Place, Role, Why, error, say};
use crate::registry::{IssueError, NewDevice, RealmName, checked, shown};
use crate::secret::{self, SecretHash};

/// How long an offer lives.
const LIFETIME: Duration = Duration::from_mins(2);
/// Wrong guesses that end an offer.
const TRIES: u32 = 3;
/// Offers that a realm may have open: one per Pylon and a few to spare.
const MOST_OFFERS: usize = 8;

/// A secret with which one device may join.
#[derive(Debug)]
pub(super) struct Offer {
    realm: RealmName,
    pylon: DeviceId,
    secret: SecretHash,
    pub(super) expires: Duration,
    expires_at: Timestamp,
    tries: u32,
    claimant: Option<Claimant>,
}

/// The device that knew the secret.
#[derive(Debug, Clone)]
struct Claimant {
    conn: ConnId,
    name: Name,
    code: String,
    address: Option<String>,
}

impl Machine {
    pub(super) fn pair_offer(
        &mut self,
        now: Now,
        asker: &Asker,
        wanted: &PairOffer,
        effects: &mut Vec<Effect>,
    ) {
        let result = match self.offer(now, asker) {
            Ok((id, secret, expires_at)) => {
                let realm = asker.realm.clone();
                effects.push(Effect::Note(Note::Offered { realm }));
                PairOfferResult {
                    pair_id: Some(id),
                    secret: Some(secret),
                    expires_at: Some(expires_at),
                    ..PairOfferResult::default()
                }
            }
            Err(error) => PairOfferResult::default().failed(error),
        };
        effects.extend(say(
            &[asker.conn],
            result.in_reply_to(wanted.request_id.as_ref()),
        ));
    }

    fn offer(&mut self, now: Now, asker: &Asker) -> Result<(PairId, Token, Timestamp), ApiError> {
        if self.role(asker) != Some(Role::Pylon) {
            return Err(error(
                ErrorCode::Forbidden,
                "only a Pylon may offer pairing",
            ));
        }
        let open = self
            .offers
            .values()
            .filter(|offer| offer.realm == asker.realm);
        if open.count() >= MOST_OFFERS {
            return Err(error(ErrorCode::RateLimited, "too many offers are open"));
        }
        let token = secret::token(&mut self.entropy);
        let name = secret::name("pair", &mut self.entropy);
        let id = name.and_then(|name| PairId::parse(&name).ok());
        let (Some(token), Some(id)) = (token, id) else {
            return Err(error(
                ErrorCode::Internal,
                "the system gives no random bytes",
            ));
        };
        let lifetime = i64::try_from(LIFETIME.as_millis()).unwrap_or(0);
        let expires_at = Timestamp(now.wall.0.saturating_add(lifetime));
        let offer = Offer {
            realm: asker.realm.clone(),
            pylon: asker.device,
            secret: SecretHash::of(&token),
            expires: now.elapsed + LIFETIME,
            expires_at,
            tries: TRIES,
            claimant: None,
        };
        self.offers.insert(id.clone(), offer);
        Ok((id, token, expires_at))
    }

    /// A stranger wants to join.
    pub(super) fn pair_request(
        &mut self,
        conn: ConnId,
        address: Option<String>,
        request: &PairRequest,
        effects: &mut Vec<Effect>,
    ) {
        let request_id = request.request_id.clone();
        let Some(claimant) = self.claim(conn, address, request, effects) else {
            // The same for every reason: an offer that does not exist looks like one that is guarded.
            let refused = error(ErrorCode::AuthFailed, "the code is wrong, used or too old");
            let result = PairRequestResult::default().failed(refused);
            effects.extend(say(&[conn], result.in_reply_to(request_id.as_ref())));
            effects.push(Effect::Note(Note::PairRefused { conn }));
            let why = Why::Refused;
            effects.push(Effect::Close { conn, why });
            self.places.remove(&conn);
            return;
        };
        let Some(offer) = self.offers.get_mut(&request.pair_id) else {
            return;
        };
        let result = PairRequestResult {
            code: Some(claimant.code.clone()),
            expires_at: Some(offer.expires_at),
            ..PairRequestResult::default()
        };
        effects.extend(say(&[conn], result.in_reply_to(request_id.as_ref())));
        let at = offer.expires;
        effects.push(Effect::Deadline { conn, at });
        offer.claimant = Some(claimant);
        self.places
            .insert(conn, Place::Pairing(request.pair_id.clone()));
        let (realm, pylon) = (offer.realm.clone(), offer.pylon);
        let there = self
            .realms
            .get(&realm)
            .and_then(|realm| realm.member(pylon));
        if let Some(there) = there.map(|member| member.conn) {
            self.remind_of_requests(&realm, pylon, there, effects);
        }
    }

    /// Compares the secret. A guess that fails counts, whatever else may be wrong.
    fn claim(
        &mut self,
        conn: ConnId,
        address: Option<String>,
        request: &PairRequest,
        effects: &mut Vec<Effect>,
    ) -> Option<Claimant> {
        let offer = self.offers.get_mut(&request.pair_id)?;
        if !offer.secret.fits(&request.secret) {
            offer.tries = offer.tries.saturating_sub(1);
            if offer.tries == 0 {
                self.end_offer(&request.pair_id, PairEnd::Guessed, effects);
            }
            return None;
        }
        if offer.claimant.is_some() {
            return None;
        }
        let code = secret::code(&mut self.entropy)?;
        let name = shown(&request.name);
        Some(Claimant {
            conn,
            name,
            code,
            address,
        })
    }

    /// Shows a Pylon the devices that wait for its word: at once, and again when it reconnects.
    pub(super) fn remind_of_requests(
        &self,
        realm: &RealmName,
        pylon: DeviceId,
        conn: ConnId,
        effects: &mut Vec<Effect>,
    ) {
        let is_its = |offer: &Offer| offer.realm == *realm && offer.pylon == pylon;
        for (id, offer) in self.offers.iter().filter(|(_, offer)| is_its(offer)) {
            let Some(claimant) = offer.claimant.clone() else {
                continue;
            };
            let (id, at) = (id.clone(), offer.expires_at);
            let requested = PairRequested {
                address: claimant.address,
                ..PairRequested::new(id, claimant.name, claimant.code, at)
            };
            effects.extend(say(&[conn], requested));
        }
    }

    /// The person at the machine has decided.
    pub(super) fn pair_confirm(
        &mut self,
        now: Now,
        asker: &Asker,
        wanted: PairConfirm,
        effects: &mut Vec<Effect>,
    ) {
        let request = wanted.request_id.clone();
        let answer =
            |result: PairConfirmResult| say(&[asker.conn], result.in_reply_to(request.as_ref()));
        let fail = |error: ApiError| answer(PairConfirmResult::default().failed(error));
        let offer = match self.offered_by(asker, &wanted.pair_id) {
            Ok(offer) => offer,
            Err(error) => return effects.extend(fail(error)),
        };
        let claimant = offer.claimant.clone();
        match (wanted.decision, claimant) {
            (PairDecision::Accept, Some(claimant)) => {
                let device = NewDevice {
                    name: wanted.name.unwrap_or_else(|| claimant.name.clone()),
                    rights: wanted.rights.unwrap_or_else(usual_rights),
                    expires_at: None,
                };
                let accepted = self.accept(now, &asker.realm, device);
                let (key, token) = match accepted {
                    Ok(issued) => issued,
                    Err(error) => return effects.extend(fail(error)),
                };
                self.offers.remove(&wanted.pair_id);
                let device = self.paired(&asker.realm, &key);
                let done = answer(PairConfirmResult {
                    device,
                    ..PairConfirmResult::default()
                });
                let welcome = self.welcome(now, &asker.realm, claimant.conn, key, token);
                let realm = asker.realm.clone();
                effects.push(Effect::Save {
                    then: done.into_iter().chain(welcome).collect(),
                    otherwise: fail(unsaved())
                        .into_iter()
                        .chain(turn_away(claimant.conn))
                        .collect(),
                });
                effects.push(Effect::Note(Note::Paired { realm }));
            }
            (PairDecision::Reject, claimant) => {
                self.offers.remove(&wanted.pair_id);
                effects.extend(answer(PairConfirmResult::default()));
                if let Some(claimant) = claimant {
                    self.places.remove(&claimant.conn);
                    effects.extend(turn_away(claimant.conn));
                }
            }
            (PairDecision::Accept, None) => {
                effects.extend(fail(error(ErrorCode::Conflict, "no device is waiting")));
            }
            (PairDecision::Unknown(_), _) => {
                let text = "the decision is `accept` or `reject`";
                effects.extend(fail(error(ErrorCode::InvalidMessage, text)));
            }
        }
    }

    fn offered_by(&self, asker: &Asker, id: &PairId) -> Result<&Offer, ApiError> {
        if self.role(asker) != Some(Role::Pylon) {
            return Err(error(ErrorCode::Forbidden, "only the machine may confirm"));
        }
        let offer = self.offers.get(id);
        let offer = offer.filter(|it| it.realm == asker.realm && it.pylon == asker.device);
        offer.ok_or_else(|| error(ErrorCode::Conflict, "there is no such offer any more"))
    }

    fn accept(
        &mut self,
        now: Now,
        realm: &RealmName,
        device: NewDevice,
    ) -> Result<(DeviceKey, Token), ApiError> {
        checked(device.rights.clone()).map_err(|error| issue_error(&error))?;
        let added = self
            .directory
            .add_device(realm, device, now.wall, &mut self.entropy);
        added.map_err(|error| issue_error(&error))
    }

    /// Hands the secret to the new device, which has the time of any stranger to use it.
    fn welcome(
        &mut self,
        now: Now,
        realm: &RealmName,
        conn: ConnId,
        key: DeviceKey,
        token: Token,
    ) -> Vec<Effect> {
        let address = None;
        self.places.insert(conn, Place::Stranger { address });
        let record = self.directory.device(realm, &key);
        let result = PairResult {
            token: Some(token),
            rights: record.map(|record| record.rights.clone()),
            device_key: Some(key),
            ..PairResult::default()
        };
        let at = now.elapsed + Duration::from_secs(u64::from(limits::AUTH_SECONDS));
        let told = say(&[conn], result).into_iter();
        told.chain([Effect::Deadline { conn, at }]).collect()
    }

    /// The device that waited has gone. Its secret may have been seen by others, so the offer is over.
    pub(super) fn claimant_left(&mut self, id: &PairId, effects: &mut Vec<Effect>) {
        self.end_offer(id, PairEnd::Left, effects);
    }

    pub(super) fn end_old_offers(&mut self, now: Now, effects: &mut Vec<Effect>) {
        let old = self
            .offers
            .iter()
            .filter(|(_, offer)| offer.expires <= now.elapsed);
        let old: Vec<PairId> = old.map(|(id, _)| id.clone()).collect();
        for id in old {
            self.end_offer(&id, PairEnd::Expired, effects);
        }
    }

    fn end_offer(&mut self, id: &PairId, reason: PairEnd, effects: &mut Vec<Effect>) {
        let Some(offer) = self.offers.remove(id) else {
            return;
        };
        let realm = self.realms.get(&offer.realm);
        let pylon = realm.and_then(|realm: &Realm| realm.member(offer.pylon));
        if let Some(pylon) = pylon {
            effects.extend(say(&[pylon.conn], PairClosed::new(id.clone(), reason)));
        }
        let waiting = offer.claimant.map(|claimant| claimant.conn);
        if let Some(conn) = waiting.filter(|conn| self.places.remove(conn).is_some()) {
            effects.extend(turn_away(conn));
        }
    }
}

/// What a device may do if the machine does not say: all but shells and the keys to the house.
fn usual_rights() -> Vec<Right> {
    vec![Right::View, Right::Prompt, Right::Approve]
}

pub(super) fn issue_error(issue: &IssueError) -> ApiError {
    let code = match issue {
        IssueError::Rights | IssueError::PylonId(_) | IssueError::WeakSecret => {
            ErrorCode::InvalidMessage
        }
        IssueError::UnknownPylon(_) => ErrorCode::UnknownDevice,
        IssueError::Full => ErrorCode::RateLimited,
        IssueError::TakenSecret | IssueError::NoEntropy => ErrorCode::Internal,
    };
    error(code, &issue.to_string())
}

pub(super) fn unsaved() -> ApiError {
    error(ErrorCode::DiskFull, "the registry could not be written")
}

fn turn_away(conn: ConnId) -> Vec<Effect> {
    let refused = error(ErrorCode::Forbidden, "not confirmed at the machine");
    let told = say(&[conn], PairResult::default().failed(refused));
    let why = Why::NotPaired;
    told.into_iter()
        .chain([Effect::Close { conn, why }])
        .collect()
}
