//! Laws of the machine: whatever devices do, in whatever order, nobody gets what is not for them.

use std::collections::{BTreeMap, BTreeSet};

use estelle_proto::{Name, Timestamp, Token};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::registry::{NewDevice, PylonProfile};
use crate::secret;

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
                Effect::Save { then, .. } => {
                    self.saves += 1;
                    result = result.or(self.perform(then));
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

/// Something a device does.
#[derive(Debug, Clone)]
enum Act {
    Say {
        who: usize,
        kind: usize,
        address: usize,
    },
    Leave {
        who: usize,
    },
    Join {
        realm: usize,
        rights: usize,
    },
    Wait(u16),
    Revoke {
        by: usize,
        whom: usize,
    },
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => (0usize..20, 0usize..4, 0usize..9)
            .prop_map(|(who, kind, address)| Act::Say { who, kind, address }),
        1 => (0usize..20).prop_map(|who| Act::Leave { who }),
        2 => (0usize..3, 0usize..4).prop_map(|(realm, rights)| Act::Join { realm, rights }),
        1 => (0u16..200).prop_map(Act::Wait),
        1 => (0usize..20, 0usize..20).prop_map(|(by, whom)| Act::Revoke { by, whom }),
    ]
}

const REALMS: [&str; 3] = ["red", "green", "blue"];
const KINDS: [&str; 4] = [
    "workspace_list",
    "claude_send",
    "claude_permission",
    "deploy_go",
];

fn rights_of(index: usize) -> Vec<Right> {
    [
        vec![Right::View],
        vec![Right::View, Right::Prompt],
        vec![Right::Approve],
        vec![
            Right::View,
            Right::Prompt,
            Right::Approve,
            Right::Terminal,
            Right::Admin,
        ],
    ][index % 4]
        .clone()
}

/// A device as the test knows it, without asking the machine.
struct Known {
    conn: ConnId,
    realm: usize,
    rights: Option<Vec<Right>>,
    is_there: bool,
}

#[expect(
    clippy::too_many_lines,
    clippy::excessive_nesting,
    reason = "one history, act by act"
)]
/// Every message carries the realm of its sender; nobody ever hears of another, and nobody says what it may not.
fn nothing_crosses_realms_and_no_right_is_exceeded(acts: Vec<Act>) -> Result<(), TestCaseError> {
    let mut bench = Bench::new();
    let mut all: Vec<Known> = Vec::new();
    for (index, name) in REALMS.iter().enumerate() {
        let conn = bench.pylon(name, 1);
        all.push(Known {
            conn,
            realm: index,
            rights: None,
            is_there: true,
        });
    }
    let mut ids: BTreeSet<(usize, u64)> = BTreeSet::new();
    for act in acts {
        match act {
            Act::Join { realm, rights } => {
                let rights = rights_of(rights);
                let conn = bench.app(REALMS[realm], rights.clone());
                let Some(Place::Member(_, id)) = bench.machine.places.get(&conn) else {
                    panic!("not a member");
                };
                prop_assert!(ids.insert((realm, u64::from(id.0))), "an id was used twice");
                all.push(Known {
                    conn,
                    realm,
                    rights: Some(rights),
                    is_there: true,
                });
            }
            Act::Leave { who } => {
                let count = all.len();
                let known = &mut all[who % count];
                known.is_there = false;
                bench.step(Input::Closed { conn: known.conn });
            }
            Act::Wait(millis) => bench.pass(Duration::from_millis(millis.into())),
            Act::Revoke { by, whom } => {
                let (by, whom) = (by % all.len(), whom % all.len());
                let key = match bench.machine.places.get(&all[whom].conn) {
                    Some(Place::Member(realm, id)) => bench.machine.realms[realm]
                        .member(*id)
                        .and_then(|member| member.key.clone()),
                    _ => None,
                };
                let Some(key) = key else { continue };
                let may = all[by].is_there
                    && all[by].realm == all[whom].realm
                    && (by == whom
                        || all[by]
                            .rights
                            .as_ref()
                            .is_none_or(|has| has.contains(&Right::Admin)));
                bench.say(
                    all[by].conn,
                    &json!({"type": "device_revoke", "payload": {"deviceKey": key.as_str()}}),
                );
                prop_assert_eq!(bench.closed.contains_key(&all[whom].conn), may);
                all[whom].is_there &= !may;
            }
            Act::Say { who, kind, address } => {
                let who = who % all.len();
                for known in &all {
                    bench.heard(known.conn);
                }
                let address = [
                    json!({}),
                    json!({"to": 1}),
                    json!({"to": [1, 100, 101, 102]}),
                    json!({"broadcast": "all"}),
                    json!({"broadcast": "clients"}),
                    json!({"broadcast": "pylons"}),
                    json!({"to": "103"}),
                    json!({"broadcast": "app"}),
                    json!({"to": {"deviceId": 100, "deviceType": "app"}}),
                ][address]
                    .clone();
                let mut message =
                    json!({"type": KINDS[kind], "payload": {"realm": all[who].realm}});
                message
                    .as_object_mut()
                    .unwrap()
                    .extend(address.as_object().unwrap().clone());
                bench.say(all[who].conn, &message);
                let right = AppToPylon::right_of(KINDS[kind]);
                let may = all[who].is_there
                    && all[who]
                        .rights
                        .as_ref()
                        .is_none_or(|rights| rights.contains(&right));
                for (index, known) in all.iter().enumerate() {
                    for heard in bench.heard(known.conn) {
                        if heard["type"] == "error" {
                            prop_assert_eq!(index, who);
                            continue;
                        }
                        prop_assert_eq!(&heard["type"], KINDS[kind]);
                        prop_assert!(may && known.is_there);
                        prop_assert_eq!(known.realm, all[who].realm);
                        prop_assert_eq!(&heard["payload"]["realm"], all[who].realm);
                    }
                }
            }
        }
    }
    Ok(())
}

/// Five hundred histories in all; apart, so that a slow machine plays them side by side.
macro_rules! histories {
    ($($name:ident),+) => {
        mod nothing_crosses_realms {
            use super::*;

            proptest! {
                #![proptest_config(ProptestConfig { cases: 125, failure_persistence: None, ..ProptestConfig::default() })]

                $(#[test]
                fn $name(acts in prop::collection::vec(act(), 200..260)) {
                    nothing_crosses_realms_and_no_right_is_exceeded(acts)?;
                })+
            }
        }
    };
}

histories!(first, second, third, fourth);

proptest! {
    /// Strangers and members may say anything at all.
    #[test]
    fn any_text_is_survived(text in ".{0,200}", kind in "[a-z_]{0,20}", json in "[\\[\\]{}:,\"a-z0-9]{0,60}") {
        let mut bench = Bench::new();
        let member = bench.app("home", rights_of(3));
        let stranger = bench.open();
        for text in [text, format!(r#"{{"type":"{kind}","payload":{json}}}"#), json] {
            bench.step(Input::Frame { conn: member, text: text.clone() });
            bench.step(Input::Frame { conn: stranger, text });
        }
        bench.say(member, &json!({"type": "ping"}));
        let heard = bench.heard(member);
        prop_assert_eq!(&heard.last().unwrap()["type"], "pong");
    }
}

#[test]
fn codes_have_six_digits() {
    let mut entropy = entropy();
    for _ in 0..100 {
        let code = secret::code(&mut entropy).unwrap();
        assert!(code.len() == 6 && code.bytes().all(|byte| byte.is_ascii_digit()));
    }
}
