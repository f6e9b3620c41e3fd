//! One realm: who is connected, who receives a message, and when everybody is told of a change.
//!
//! It holds only its own members and so cannot deliver to anybody else. Ids of apps come from a counter that is set
//! aside in the registry ahead of its use: an id is not used twice, not even by the next relay.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use estelle_proto::auth::DeviceStatus;
use estelle_proto::{
    Broadcast, ConnectedDevice, DeviceId, DeviceKey, DeviceType, Forward, IsoTime, Right, Sender,
    Target, Timestamp, right_to_hear,
};

use super::{ConnId, Effect, Now, Role, say_to};
use crate::registry::RealmRecord;

/// Ids that are set aside at once. A crash skips what is left of them.
const ID_BLOCK: u32 = 256;
/// A change waits this long for others, so that they are told together.
const QUIET: Duration = Duration::from_millis(20);
/// While changes go on, everybody is told this often.
const LONGEST_WAIT: Duration = Duration::from_millis(100);
/// Telling everybody of everybody grows with the square of the realm, so it may take up this much per second. A household
/// does not notice; in a realm of two thousand, changes are told together every quarter of a minute.
const STATUS_BYTES_PER_SECOND: u64 = 50_000_000;
/// Bytes of one list of devices: some two thousand of them, and with the longest names eight hundred. A frame takes four
/// times as much, but then each change of a realm of ten thousand would be told in ten gigabytes.
const LIST_BYTES: usize = 256 * 1024;
/// A Pylon that is replaced this often within a minute is two Pylons with one id.
const MOST_TAKEOVERS: usize = 3;
const TAKEOVER_MEMORY: Duration = Duration::from_mins(1);

/// A device that is connected.
#[derive(Debug, Clone)]
pub(super) struct Member {
    pub(super) conn: ConnId,
    pub(super) role: Role,
    /// How its messages are signed, with its rights.
    pub(super) sender: Sender,
    pub(super) listed: ConnectedDevice,
    /// The paired device; Pylons have none.
    pub(super) key: Option<DeviceKey>,
    pub(super) expires_at: Option<Timestamp>,
}

impl Member {
    pub(super) fn has(&self, right: &Right) -> bool {
        let rights = self.sender.rights.as_ref();
        self.role == Role::Pylon || rights.is_some_and(|rights| rights.contains(right))
    }
}

/// Who receives a message, and who of the addressees is not there.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Route {
    pub(super) to: Vec<ConnId>,
    pub(super) missing: Vec<DeviceId>,
}

/// Changes that not everybody has been told of.
#[derive(Debug, Clone, Copy)]
struct Unannounced {
    first: Duration,
    last: Duration,
}

/// The members of a realm.
#[derive(Debug)]
pub(super) struct Realm {
    members: BTreeMap<DeviceId, Member>,
    /// Members whose time ends, soonest first: looked at in every round of the hub.
    expiries: BTreeSet<(Timestamp, DeviceId)>,
    next_app_id: u32,
    /// Ids below this one are written down as used.
    set_aside: u32,
    /// More of them are being written down.
    is_writing_ids: bool,
    unannounced: Option<Unannounced>,
    /// The last announcement is paid for at this moment.
    paid_at: Duration,
    takeovers: BTreeMap<DeviceId, VecDeque<Duration>>,
}

impl Realm {
    /// An empty realm, with ids set aside in its record.
    pub(super) fn new(record: &mut RealmRecord) -> Self {
        let next_app_id = record.next_app_id;
        record.next_app_id = next_app_id.saturating_add(ID_BLOCK);
        Self {
            members: BTreeMap::new(),
            expiries: BTreeSet::new(),
            next_app_id,
            set_aside: record.next_app_id,
            is_writing_ids: false,
            unannounced: None,
            paid_at: Duration::ZERO,
            takeovers: BTreeMap::new(),
        }
    }

    /// An id that nobody had; none when those set aside are used up.
    pub(super) fn new_app_id(&mut self) -> Option<DeviceId> {
        (self.next_app_id < self.set_aside).then(|| {
            self.next_app_id += 1;
            DeviceId(self.next_app_id - 1)
        })
    }

    /// Up to where ids are to be written down as used, when few are left and nothing is being written already.
    pub(super) fn ids_to_write(&mut self) -> Option<u32> {
        let is_due = self.set_aside - self.next_app_id < ID_BLOCK / 2;
        if self.is_writing_ids || !is_due {
            return None;
        }
        self.is_writing_ids = true;
        Some(self.set_aside.saturating_add(ID_BLOCK))
    }

    /// That is done; if it failed, whoever comes next asks for it again.
    pub(super) fn ids_written(&mut self, below: Option<u32>) {
        self.is_writing_ids = false;
        self.set_aside = below.unwrap_or_default().max(self.set_aside);
    }

    /// Ids that were set aside and not used are free for the next relay.
    pub(super) fn give_back(&self, record: &mut RealmRecord) {
        record.next_app_id = self.next_app_id;
    }

    pub(super) fn member(&self, device: DeviceId) -> Option<&Member> {
        self.members.get(&device)
    }

    pub(super) fn members_mut(&mut self) -> impl Iterator<Item = &mut Member> {
        self.members.values_mut()
    }

    pub(super) fn members(&self) -> impl Iterator<Item = (DeviceId, &Member)> {
        self.members.iter().map(|(id, member)| (*id, member))
    }

    pub(super) fn insert(&mut self, now: Now, device: DeviceId, member: Member) {
        self.forget_expiry(device);
        self.expiries
            .extend(member.expires_at.map(|at| (at, device)));
        self.members.insert(device, member);
        self.changed(now);
    }

    pub(super) fn remove(&mut self, now: Now, device: DeviceId) -> Option<Member> {
        self.forget_expiry(device);
        let removed = self.members.remove(&device);
        self.changed(now);
        removed
    }

    fn forget_expiry(&mut self, device: DeviceId) {
        let known = self.members.get(&device);
        if let Some(at) = known.and_then(|member| member.expires_at) {
            self.expiries.remove(&(at, device));
        }
    }

    /// Notes that a Pylon connected while it was connected; false when that happens too often.
    pub(super) fn take_over(&mut self, now: Now, device: DeviceId) -> bool {
        let recent = self.takeovers.entry(device).or_default();
        recent.retain(|at| *at + TAKEOVER_MEMORY > now.elapsed);
        let is_sane = recent.len() < MOST_TAKEOVERS;
        if is_sane {
            recent.push_back(now.elapsed);
        }
        is_sane
    }

    /// All connections.
    pub(super) fn connections(&self) -> Vec<ConnId> {
        self.members.values().map(|member| member.conn).collect()
    }

    /// The connections of all Pylons.
    pub(super) fn pylons(&self) -> Vec<ConnId> {
        let pylons = self.members.values();
        let pylons = pylons.filter(|member| member.role == Role::Pylon);
        pylons.map(|member| member.conn).collect()
    }

    /// Everybody, by id and so Pylons first, as far as a list may go; and how many more there are, if there are.
    pub(super) fn devices(&self) -> (Vec<ConnectedDevice>, Option<u32>) {
        let mut room = LIST_BYTES;
        let fits = |device: &&ConnectedDevice| {
            // What has no JSON form is noted when the list is written.
            let length = serde_json::to_string(device).map_or(0, |text| text.len() + 1);
            let left = room.checked_sub(length);
            room = left.unwrap_or_default();
            left.is_some()
        };
        let all = self.members.values().map(|member| &member.listed);
        let listed: Vec<ConnectedDevice> = all.take_while(fits).cloned().collect();
        let unlisted = u32::try_from(self.members.len() - listed.len()).unwrap_or(u32::MAX);
        (listed, (unlisted > 0).then_some(unlisted))
    }

    /// Who receives a message. The sender itself only if it is addressed by its id.
    pub(super) fn route(&self, from: DeviceId, forward: &Forward<'_>) -> Route {
        match (forward.to(), forward.broadcast()) {
            (Some(to), _) => {
                let is_pylon = self.member(from).is_some_and(|m| m.role == Role::Pylon);
                let right = right_to_hear(forward.kind()).filter(|_| is_pylon);
                self.addressed(to.targets(), right.as_ref())
            }
            (None, Some(group)) => self.group(from, group),
            (None, None) => {
                let is_pylon = self.member(from).is_some_and(|m| m.role == Role::Pylon);
                let group = if is_pylon {
                    Broadcast::Clients
                } else {
                    Broadcast::Pylons
                };
                self.group(from, &group)
            }
        }
    }

    /// Those who were named. What needs a right is kept from the others without a word: they are there, and whether the
    /// sender knows of their rights yet is a matter of moments.
    fn addressed(&self, targets: &[Target], right: Option<&Right>) -> Route {
        let mut route = Route::default();
        for target in targets {
            let is_meant = |member: &&Member| match &target.device_type {
                Some(wanted) => member.sender.device_type == *wanted,
                None => true,
            };
            match self.members.get(&target.device_id).filter(is_meant) {
                Some(member) if route.to.contains(&member.conn) => {}
                Some(member) if right.is_some_and(|right| !member.has(right)) => {}
                Some(member) => route.to.push(member.conn),
                None => route.missing.push(target.device_id),
            }
        }
        route
    }

    /// Everybody of a group but the sender. What is said to a group is for those who may see things.
    fn group(&self, from: DeviceId, group: &Broadcast) -> Route {
        let is_meant = |member: &Member| match group {
            Broadcast::All => true,
            Broadcast::Pylons => member.role == Role::Pylon,
            Broadcast::Clients | Broadcast::App => member.role == Role::App,
            Broadcast::Unknown(word) => {
                DeviceType::from(word.as_str()) == member.sender.device_type
            }
        };
        let others = self.members().filter(|(id, _)| *id != from);
        let meant = others.filter(|(_, member)| is_meant(member) && member.has(&Right::View));
        Route {
            to: meant.map(|(_, member)| member.conn).collect(),
            missing: Vec::new(),
        }
    }

    fn changed(&mut self, now: Now) {
        let last = now.elapsed;
        let first = self.unannounced.map_or(last, |changes| changes.first);
        self.unannounced = Some(Unannounced { first, last });
    }

    fn announce_at(&self) -> Option<Duration> {
        let changes = self.unannounced?;
        let together = (changes.last + QUIET).min(changes.first + LONGEST_WAIT);
        Some(together.max(self.paid_at))
    }

    /// `device_status`, if it is time for it.
    pub(super) fn status(&mut self, now: Now) -> Option<Effect> {
        self.announce_at().filter(|at| *at <= now.elapsed)?;
        self.unannounced = None;
        let (devices, unlisted) = self.devices();
        let status = DeviceStatus {
            unlisted,
            ..DeviceStatus::new(devices)
        };
        let status = say_to(self.connections(), status);
        if let Some(Effect::Send { to, text }) = &status {
            let bytes = to.len() as u64 * text.len() as u64;
            let micros = bytes.saturating_mul(1_000_000) / STATUS_BYTES_PER_SECOND;
            self.paid_at = now.elapsed + Duration::from_micros(micros);
        }
        status
    }

    /// Members whose time in the realm is over.
    pub(super) fn expired(&self, now: Now) -> Vec<ConnId> {
        let over = self.expiries.iter().take_while(|(at, _)| *at <= now.wall);
        over.filter_map(|(_, device)| Some(self.members.get(device)?.conn))
            .collect()
    }

    pub(super) fn wake_at(&self, now: Now) -> Option<Duration> {
        let next = self.expiries.first().map(|(Timestamp(at), _)| {
            let left = u64::try_from(at.saturating_sub(now.wall.0)).unwrap_or(0);
            now.elapsed + Duration::from_millis(left)
        });
        next.into_iter().chain(self.announce_at()).min()
    }
}

/// A device as it stands in lists.
pub(super) fn listed(sender: &Sender, role: String, now: Now) -> ConnectedDevice {
    ConnectedDevice::new(
        sender.device_id,
        sender.device_type.clone(),
        sender.name.clone(),
        sender.icon.clone().unwrap_or_default(),
        role,
        IsoTime::from(now.wall),
    )
}
