//! What the machine does with offers, ids, secrets and crowds; its laws are beside it.

use std::collections::{BTreeMap, BTreeSet};

use estelle_proto::{Name, Timestamp, Token};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::registry::{NewDevice, PylonProfile};
use crate::secret;

#[path = "laws_tests.rs"]
mod laws;

/// Bytes that differ every time and are the same in every run.
fn entropy() -> Entropy {
    let mut count = 0_u64;
    Box::new(move || {
        count += 1;
        Some(*blake3::hash(&count.to_be_bytes()).as_bytes())
    })
}

fn realm(name: &str) -> RealmName {
    RealmName::parse(name).unwrap()
}

/// A machine, its clock, and what its connections were told.
pub(super) struct Bench {
    machine: Machine,
    elapsed: Duration,
    told: BTreeMap<ConnId, Vec<Value>>,
    closed: BTreeMap<ConnId, Why>,
    next: u64,
    saves: usize,
    /// The disk is slow: what waits for it is here.
    held: Option<Vec<Effect>>,
    /// The disk is full.
    is_full: bool,
}

impl Bench {
    pub(super) fn new() -> Self {
        let settings = Settings {
            build: "test".to_owned(),
            connections_per_device: 64,
        };
        Self {
            machine: Machine::new(Directory::default(), entropy(), settings),
            elapsed: Duration::ZERO,
            told: BTreeMap::new(),
            closed: BTreeMap::new(),
            next: 0,
            saves: 0,
            held: None,
            is_full: false,
        }
    }

    fn now(&self) -> Now {
        let millis = i64::try_from(self.elapsed.as_millis()).unwrap();
        Now {
            elapsed: self.elapsed,
            wall: Timestamp(1_700_000_000_000 + millis),
        }
    }

    fn step(&mut self, input: Input) -> Option<CommandResult> {
        let effects = self.machine.step(self.now(), input);
        self.perform(effects)
    }

    fn perform(&mut self, effects: Vec<Effect>) -> Option<CommandResult> {
        let mut result = None;
        for effect in effects {
            match effect {
                Effect::Send { to, text } => {
                    let distinct: BTreeSet<ConnId> = to.iter().copied().collect();
                    assert_eq!(distinct.len(), to.len(), "once each");
                    let message: Value = serde_json::from_str(&text).unwrap();
                    for conn in to {
                        assert!(!self.closed.contains_key(&conn), "{text} after the end");
                        self.told.entry(conn).or_default().push(message.clone());
                    }
                }
                Effect::Close { conn, why } => {
                    let before = self.closed.insert(conn, why);
                    assert_eq!(before, None, "closed once");
                }
                Effect::Save { otherwise, .. } if self.is_full => {
                    result = result.or(self.perform(otherwise));
                }
                Effect::TakeBack(replaced) => {
                    result = result.or(self.step(Input::TakeBack(replaced)));
                }
                Effect::Save { then, .. } => {
                    self.saves += 1;
                    match &mut self.held {
                        Some(held) => held.extend(then),
                        None => result = result.or(self.perform(then)),
                    }
                }
                Effect::IdsWritten { realm, below } => {
                    let input = Input::IdsWritten { realm, below };
                    result = result.or(self.step(input));
                }
                Effect::Done { result: done, .. } => result = Some(done),
                Effect::Admit { .. } | Effect::Deadline { .. } | Effect::Note(_) => {}
            }
        }
        result
    }

    fn pass(&mut self, time: Duration) {
        self.elapsed += time;
        self.step(Input::Tick);
    }

    pub(super) fn open(&mut self) -> ConnId {
        self.next += 1;
        let conn = ConnId(self.next);
        let address = None;
        self.step(Input::Opened { conn, address });
        conn
    }

    pub(super) fn say(&mut self, conn: ConnId, message: &Value) {
        let text = message.to_string();
        self.step(Input::Frame { conn, text });
    }

    /// What a connection was told since the last time, `device_status` excepted.
    pub(super) fn heard(&mut self, conn: ConnId) -> Vec<Value> {
        let mut heard = self.told.remove(&conn).unwrap_or_default();
        heard.retain(|message| message["type"] != "device_status");
        heard
    }

    fn command(&mut self, command: Command) -> Token {
        let ticket = Ticket(0);
        let result = self.step(Input::Command { ticket, command });
        let Outcome::Issued(_, token) = result.unwrap().unwrap().unwrap() else {
            panic!("a secret was wanted");
        };
        token
    }

    pub(super) fn pylon(&mut self, name: &str, id: u32) -> ConnId {
        let pylon = PylonProfile {
            device_id: DeviceId(id),
            name: Name::parse("Selene").unwrap(),
            icon: "🌙".to_owned(),
            role: "home".to_owned(),
        };
        let realm = realm(name);
        let token = self.command(Command::PutPylon { realm, pylon });
        let payload = json!({"deviceType": "pylon", "deviceId": id, "token": token.reveal()});
        self.log_in(&payload)
    }

    fn app(&mut self, name: &str, rights: Vec<Right>) -> ConnId {
        let device = NewDevice {
            name: Name::parse("Phone").unwrap(),
            rights,
            expires_at: None,
        };
        let realm = realm(name);
        let token = self.command(Command::AddDevice { realm, device });
        self.log_in(&json!({"deviceType": "app", "token": token.reveal()}))
    }

    fn log_in(&mut self, payload: &Value) -> ConnId {
        let conn = self.open();
        self.say(conn, &json!({"type": "auth", "payload": payload}));
        let heard = self.heard(conn);
        assert_eq!(
            heard.last().unwrap()["payload"]["success"],
            true,
            "{heard:?}"
        );
        conn
    }
}

#[test]
fn d4_an_offer_ends_after_two_minutes() {
    let mut bench = Bench::new();
    let pylon = bench.pylon("home", 1);
    bench.say(pylon, &json!({"type": "pair_offer"}));
    let offer = bench.heard(pylon)[0]["payload"].clone();
    let payload = json!({"pairId": offer["pairId"], "secret": offer["secret"], "name": "Phone"});
    let request = json!({"type": "pair_request", "payload": payload});
    bench.pass(Duration::from_secs(119));
    assert!(bench.heard(pylon).is_empty());
    let wake = bench.machine.wake_at(bench.now());
    assert_eq!(wake, Some(Duration::from_mins(2)));
    bench.pass(Duration::from_secs(1));
    let closed = bench.heard(pylon);
    assert_eq!(closed[0]["payload"]["reason"], "expired");
    let late = bench.open();
    bench.say(late, &request);
    assert_eq!(bench.closed.get(&late), Some(&Why::Refused));
}

#[test]
fn d4_a_waiting_device_is_turned_away_when_the_time_is_over() {
    let mut bench = Bench::new();
    let pylon = bench.pylon("home", 1);
    bench.say(pylon, &json!({"type": "pair_offer"}));
    let offer = bench.heard(pylon)[0]["payload"].clone();
    let payload = json!({"pairId": offer["pairId"], "secret": offer["secret"], "name": "Phone"});
    let phone = bench.open();
    bench.say(phone, &json!({"type": "pair_request", "payload": payload}));
    bench.pass(Duration::from_mins(2));
    assert_eq!(
        bench.heard(phone).last().unwrap()["payload"]["success"],
        false
    );
    assert_eq!(bench.closed.get(&phone), Some(&Why::NotPaired));
    // A yes that comes too late lets nobody in.
    bench.heard(pylon);
    let confirm = json!({"pairId": offer["pairId"], "decision": "accept"});
    bench.say(pylon, &json!({"type": "pair_confirm", "payload": confirm}));
    assert_eq!(bench.heard(pylon)[0]["payload"]["errorCode"], "conflict");
}

/// A relay that dies before the disk has them would give the same ids away again.
#[test]
fn no_app_gets_an_id_that_is_not_written_down() {
    let mut bench = Bench::new();
    bench.pylon("home", 1);
    let device = NewDevice {
        name: Name::parse("Phone").unwrap(),
        rights: vec![Right::View],
        expires_at: None,
    };
    let realm = realm("home");
    let token = bench.command(Command::AddDevice {
        realm: realm.clone(),
        device,
    });
    let auth = json!({"type": "auth", "payload": {"deviceType": "app", "token": token.reveal()}});
    let log_in = |bench: &mut Bench| {
        let conn = bench.open();
        bench.say(conn, &auth);
        let told = bench.heard(conn).pop().unwrap()["payload"].clone();
        bench.step(Input::Closed { conn });
        told["device"]["deviceId"].as_u64()
    };
    bench.held = Some(Vec::new());
    let written = bench.machine.directory().realms()[&realm].next_app_id;
    let mut last = 0;
    while let Some(id) = log_in(&mut bench) {
        assert!(id < u64::from(written), "{id} is not written down");
        assert!(id > last, "{id} was given away before");
        last = id;
    }
    assert_eq!(last + 1, u64::from(written), "all that are written down");
    assert_eq!(bench.held.as_ref().map(Vec::len), Some(1), "asked for once");
    // The disk refuses: the next one asks again.
    bench.held = Some(Vec::new());
    bench.step(Input::IdsWritten {
        realm: realm.clone(),
        below: None,
    });
    assert_eq!(log_in(&mut bench), None);
    let held = bench.held.take().unwrap();
    assert_eq!(held.len(), 1);
    bench.perform(held);
    assert_eq!(log_in(&mut bench), Some(last + 1));
}

#[test]
fn what_is_not_written_is_not_acknowledged() {
    let mut bench = Bench::new();
    let pylon = bench.pylon("home", 1);
    let add = json!({"name": "Script", "rights": ["view"]});
    let text = json!({"type": "device_add", "payload": add}).to_string();
    let effects = bench
        .machine
        .step(bench.now(), Input::Frame { conn: pylon, text });
    let sent = effects
        .iter()
        .any(|effect| matches!(effect, Effect::Send { .. }));
    assert!(!sent, "{effects:?}");
    let Some(Effect::Save { then, otherwise }) = effects.into_iter().next() else {
        panic!("nothing is saved");
    };
    let text = |effects: &[Effect]| format!("{effects:?}");
    assert!(text(&then).contains("est_"));
    assert!(text(&otherwise).contains("disk_full") && !text(&otherwise).contains("est_"));
}

#[test]
fn a_pylon_keeps_its_secret_when_the_new_one_cannot_be_written_down() {
    let mut bench = Bench::new();
    let pylon = PylonProfile {
        device_id: DeviceId(1),
        name: Name::parse("Selene").unwrap(),
        icon: "🌙".to_owned(),
        role: "home".to_owned(),
    };
    let put = |id: u32| Command::PutPylon {
        realm: realm("home"),
        pylon: PylonProfile {
            device_id: DeviceId(id),
            ..pylon.clone()
        },
    };
    let token = bench.command(put(1));
    bench.is_full = true;
    for id in [1, 2] {
        let (ticket, command) = (Ticket(0), put(id));
        let refused = bench.step(Input::Command { ticket, command });
        assert_eq!(refused, Some(None), "nobody is told a secret");
    }
    assert!(
        bench
            .machine
            .directory()
            .pylon(&realm("home"), DeviceId(2))
            .is_none()
    );
    bench.log_in(&json!({"deviceType": "pylon", "deviceId": 1, "token": token.reveal()}));
    bench.is_full = false;
    let new = bench.command(put(1));
    bench.log_in(&json!({"deviceType": "pylon", "deviceId": 1, "token": new.reveal()}));
    assert!(bench.machine.directory().whose(&token).is_none());
}

/// Both ends of the relay take frames of a mebibyte.
#[test]
fn a_realm_that_no_frame_could_list_is_told_in_a_list_that_fits() {
    let mut bench = Bench::new();
    let pylon = bench.pylon("home", 1);
    let mut app = pylon;
    let device = || NewDevice {
        name: Name::parse(&"\"".repeat(256)).unwrap(),
        rights: vec![Right::View],
        expires_at: None,
    };
    for _ in 0..60 {
        let (realm, device) = (realm("home"), device());
        let token = bench.command(Command::AddDevice { realm, device });
        for _ in 0..50 {
            app = bench.log_in(&json!({"deviceType": "app", "token": token.reveal()}));
        }
    }
    bench.pass(Duration::from_mins(1));
    let told = std::mem::take(&mut bench.told);
    bench.say(app, &json!({"type": "get_devices"}));
    let asked = bench.heard(app);
    for list in [&told[&pylon][0], &told[&app][0], &asked[0]] {
        let size = list.to_string().len();
        assert!(size < estelle_proto::limits::MAX_FRAME_BYTES / 2, "{size}");
        let devices = list["payload"]["devices"].as_array().unwrap();
        assert_eq!(
            devices[0]["deviceType"], "pylon",
            "machines are always listed"
        );
        let unlisted = list["payload"]["unlisted"].as_u64().unwrap();
        assert_eq!(devices.len() as u64 + unlisted, 3001);
    }
}

/// What `device_status` costs while a crowd joins, one device every millisecond, in bytes.
fn cost_of_joining(count: u32) -> usize {
    let mut bench = Bench::new();
    let pylon = bench.pylon("home", 1);
    let (mut bytes, mut listed) = (0, 0);
    for round in 0..=count {
        if round < count {
            bench.app("home", vec![Right::View]);
            bench.pass(Duration::from_millis(1));
        } else {
            bench.pass(Duration::from_mins(1));
        }
        let told = std::mem::take(&mut bench.told);
        let statuses = told.get(&pylon).into_iter().flatten();
        for status in statuses {
            let devices = status["payload"]["devices"].as_array().unwrap();
            listed = devices.len();
        }
        if round < count {
            let all = told.into_values().flatten();
            bytes += all.map(|message| message.to_string().len()).sum::<usize>();
        }
    }
    // In the end everybody knows of everybody.
    assert_eq!(listed, 1 + count as usize);
    assert_eq!(bench.machine.wake_at(bench.now()), None);
    bytes
}

#[test]
fn a_crowd_that_joins_costs_what_was_agreed() {
    let bytes = cost_of_joining(800);
    // 40 MB in this time, and the announcement that was under way. One every 100 ms would be more than twice as much, and
    // one for each that joins almost thirty gigabytes.
    assert!(bytes < 150_000_000, "{bytes} bytes");
}

#[test]
fn codes_have_six_digits() {
    let mut entropy = entropy();
    for _ in 0..100 {
        let code = secret::code(&mut entropy).unwrap();
        assert!(code.len() == 6 && code.bytes().all(|byte| byte.is_ascii_digit()));
    }
}
