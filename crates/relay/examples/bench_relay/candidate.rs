//! The relays that are measured: each a process, started with whoever may join it.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use estelle_proto::{DeviceId, Name, Right, Timestamp, Token};
use estelle_relay::{NewDevice, PylonProfile, RealmName, Registry};
use serde_json::json;

use crate::Outcome;
use crate::client::Client;

/// Open connections of one device: what the relay allows, less a few.
const PER_DEVICE: usize = 50;

/// Which relay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Ours,
    /// `ws` on Node, each message written once for all its receivers.
    Ws,
    /// The same, each message written anew for each receiver.
    WsEach,
    /// The same as `Ws`, and everybody is told whenever somebody joins.
    WsStatus,
    /// Frames passed on to everybody else, unread.
    Floor,
}

/// Where things are, and on which core the relay runs.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) estelle: PathBuf,
    pub(crate) script: PathBuf,
    pub(crate) folder: PathBuf,
    pub(crate) kind: Kind,
    pub(crate) core: Option<usize>,
}

/// Who is to be let in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Guests {
    pub(crate) pylons: u32,
    pub(crate) apps: usize,
    /// Apps of one realm; a Pylon is in the first.
    pub(crate) per_realm: usize,
}

/// A relay that runs.
#[derive(Debug)]
pub(crate) struct Candidate {
    child: Child,
    pub(crate) address: SocketAddr,
    pylons: Vec<String>,
    apps: Vec<String>,
    scratch: PathBuf,
}

impl Kind {
    pub(crate) fn parse(text: &str) -> Outcome<Self> {
        match text {
            "ours" => Ok(Self::Ours),
            "ws" => Ok(Self::Ws),
            "ws-each" => Ok(Self::WsEach),
            "ws-status" => Ok(Self::WsStatus),
            "floor" => Ok(Self::Floor),
            other => Err(format!("there is no relay {other:?}").into()),
        }
    }
}

impl Place {
    /// Starts the relay and waits until it listens.
    pub(crate) fn start(&self, guests: Guests) -> Outcome<Candidate> {
        let scratch = self.folder.join(format!("relay-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&scratch);
        std::fs::create_dir_all(&scratch)?;
        let registry = scratch.join("relay.json");
        let (pylons, apps) = issue(&registry, guests)?;
        let (program, arguments) = self.program(&registry)?;
        let mut command = match self.core {
            Some(core) => {
                let mut command = Command::new("taskset");
                command.arg("-c").arg(core.to_string()).arg(program);
                command
            }
            None => Command::new(program),
        };
        let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
        let mut child = command
            .args(arguments)
            .env_clear()
            .env("PATH", path)
            .env("HOME", &scratch)
            .env("ESTELLE_LOG", "warn")
            .stdout(Stdio::piped())
            .spawn()?;
        let stdout = child.stdout.take().ok_or("the relay has no output")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let address = line.trim().strip_prefix("listening on ");
        let address = address.ok_or_else(|| format!("the relay said {line:?}"))?;
        Ok(Candidate {
            address: address.parse()?,
            child,
            pylons,
            apps,
            scratch,
        })
    }

    fn program(&self, registry: &std::path::Path) -> Outcome<(PathBuf, Vec<String>)> {
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        let script = self.script.to_string_lossy();
        Ok(match self.kind {
            Kind::Ours => {
                let registry = registry.to_string_lossy();
                let arguments = [
                    "relay",
                    "--registry",
                    &registry,
                    "serve",
                    "--listen",
                    "127.0.0.1:0",
                ];
                (self.estelle.clone(), words(&arguments))
            }
            Kind::Ws => ("node".into(), words(&[&script, "once"])),
            Kind::WsEach => ("node".into(), words(&[&script, "each"])),
            Kind::WsStatus => ("node".into(), words(&[&script, "once", "status"])),
            Kind::Floor => (std::env::current_exe()?, words(&["floor"])),
        })
    }
}

/// Secrets for all guests, as the frames with which they join.
fn issue(path: &std::path::Path, guests: Guests) -> Outcome<(Vec<String>, Vec<String>)> {
    let mut registry = Registry::open(path)?;
    let realm = |nth: usize| RealmName::parse(&format!("realm-{nth}"));
    let mut pylons = Vec::new();
    for id in 1..=guests.pylons {
        let pylon = PylonProfile {
            device_id: DeviceId(id),
            name: Name::parse("Machine")?,
            icon: "🌙".to_owned(),
            role: "home".to_owned(),
        };
        let token = registry.put_pylon(&realm(0)?, pylon)?;
        pylons.push(auth("pylon", Some(id), &token));
    }
    let (mut apps, mut last) = (Vec::new(), None);
    for nth in 0..guests.apps {
        let (realm_of, device) = (nth / guests.per_realm, nth / PER_DEVICE);
        let token = match &last {
            Some((known, token)) if *known == (realm_of, device) => Token::clone(token),
            Some(_) | None => {
                let device = NewDevice {
                    name: Name::parse("Phone")?,
                    rights: vec![Right::View, Right::Prompt],
                    expires_at: None,
                };
                registry
                    .add_device(&realm(realm_of)?, device, Timestamp(0))?
                    .1
            }
        };
        apps.push(auth("app", None, &token));
        last = Some(((realm_of, device), token));
    }
    registry.save()?;
    Ok((pylons, apps))
}

fn auth(kind: &str, id: Option<u32>, token: &Token) -> String {
    let payload = json!({"deviceType": kind, "deviceId": id, "token": token.reveal()});
    json!({"type": "auth", "payload": payload}).to_string()
}

impl Candidate {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The Pylon of this id joins.
    pub(crate) fn pylon(&self, id: usize) -> Outcome<Client> {
        let auth = self.pylons.get(id - 1).ok_or("no such Pylon")?;
        Client::join(self.address, auth)
    }

    /// The nth app joins.
    pub(crate) fn app(&self, nth: usize) -> Outcome<Client> {
        let auth = self.apps.get(nth).ok_or("no such app")?;
        Client::join(self.address, auth)
    }
}

impl Drop for Candidate {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.scratch);
    }
}

/// A message of 400 bytes, for a device or for all apps.
pub(crate) fn message(to: Option<u32>) -> String {
    let address = match to {
        Some(id) => format!(r#""to":{id}"#),
        None => r#""broadcast":"clients""#.to_owned(),
    };
    let head = format!(
        r#"{{"type":"claude_event",{address},"payload":{{"conversationId":"bench","text":""#
    );
    let tail = r#""}}"#;
    let text = "lorem ipsum ".repeat(40);
    let text = &text[..400 - head.len() - tail.len()];
    format!("{head}{text}{tail}")
}
