//! Laws of the machine: whatever devices do, in whatever order, nobody gets what is not for them.

use super::*;

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
