//! What the operator of a relay may ask: who its Pylons are, and secrets given out and taken back.
//!
//! ```text
//!   estelle relay add-pylon ──┬─ relay.json.sock ──► the relay that runs      a line of JSON each way
//!                             └─ relay.json          if none runs
//! ```
//!
//! The socket lies beside the registry, and its user alone can open it: whoever can, could write the registry as well.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, bail};
use estelle_proto::{DeviceId, DeviceKey, Name, Right, Timestamp, Token};
use estelle_relay::{ListedPylon, NewDevice, PylonProfile, RealmName, Registry, Relay};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tracing::warn;

/// How long one visitor may take; the others wait.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest line of a visitor.
const LONGEST: u64 = 64 * 1024;

/// What an operator wants.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "wish", rename_all = "snake_case")]
pub(super) enum Wish {
    Pylons,
    AddPylon {
        realm: String,
        id: u32,
        name: String,
        icon: String,
        role: String,
    },
    RemovePylon {
        realm: String,
        id: u32,
    },
    AddDevice {
        realm: String,
        name: String,
        rights: Vec<Right>,
    },
}

/// What is told back.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Done(Value),
    Refused(String),
}

/// The socket of a relay that runs.
#[derive(Debug)]
pub(crate) struct Steward {
    /// None where the path is too long for a socket: the relay runs all the same.
    listener: Option<UnixListener>,
}

impl Steward {
    /// Opens the socket beside a registry, whose lock says that we are alone.
    pub(crate) fn open(registry: &Path) -> Self {
        let path = socket(registry);
        let listener = bind(&path).inspect_err(|error| {
            warn!(path = %path.display(), %error, "Pylons can be added only while the relay does not run");
        });
        Self {
            listener: listener.ok(),
        }
    }

    /// Serves one operator after the other, for as long as the relay runs.
    pub(crate) async fn serve(&self, relay: &Relay) {
        let Some(listener) = &self.listener else {
            return std::future::pending().await;
        };
        loop {
            let Ok((visitor, _)) = listener.accept().await else {
                // No descriptor is free; there will be one when somebody has gone.
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            };
            // Whoever is too slow, or left, gets no answer.
            let _ = tokio::time::timeout(PATIENCE, receive(visitor, relay)).await;
        }
    }
}

fn socket(registry: &Path) -> PathBuf {
    let mut path = registry.as_os_str().to_owned();
    path.push(".sock");
    PathBuf::from(path)
}

fn bind(path: &Path) -> io::Result<UnixListener> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let listener = UnixListener::bind(path)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

async fn receive(visitor: UnixStream, relay: &Relay) -> anyhow::Result<()> {
    let (from, mut to) = visitor.into_split();
    let mut line = String::new();
    let mut from = BufReader::new(from.take(LONGEST));
    from.read_line(&mut line).await?;
    let done = async { carry_out(relay, serde_json::from_str(&line)?).await };
    let answer = match done.await {
        Ok(done) => Answer::Done(done),
        Err(error) => Answer::Refused(format!("{error:#}")),
    };
    let text = serde_json::to_string(&answer)?;
    to.write_all(format!("{text}\n").as_bytes()).await?;
    Ok(())
}

/// At a relay that runs.
async fn carry_out(relay: &Relay, wish: Wish) -> anyhow::Result<Value> {
    match wish {
        Wish::Pylons => Ok(shown(&relay.pylons().await?)),
        Wish::AddPylon { .. } => {
            let (realm, pylon) = profile(wish)?;
            let id = pylon.device_id;
            let token = relay.put_pylon(realm.clone(), pylon).await?;
            Ok(of_pylon(&realm, id, &token))
        }
        Wish::RemovePylon { realm, id } => {
            let realm = RealmName::parse(&realm)?;
            relay.remove_pylon(realm, DeviceId(id)).await?;
            Ok(json!({ "removed": id }))
        }
        Wish::AddDevice { .. } => {
            let (realm, device) = new_device(wish)?;
            let issued = relay.add_device(realm.clone(), device).await?;
            Ok(of_device(&realm, &issued.device_key, &issued.token))
        }
    }
}

/// At a registry that no relay has open.
fn carry_out_at_rest(registry: &mut Registry, wish: Wish) -> anyhow::Result<Value> {
    let done = match wish {
        Wish::Pylons => return Ok(shown(&registry.pylons())),
        Wish::AddPylon { .. } => {
            let (realm, pylon) = profile(wish)?;
            let id = pylon.device_id;
            let token = registry.put_pylon(&realm, pylon)?;
            of_pylon(&realm, id, &token)
        }
        Wish::RemovePylon { realm, id } => {
            registry.remove_pylon(&RealmName::parse(&realm)?, DeviceId(id))?;
            json!({ "removed": id })
        }
        Wish::AddDevice { .. } => {
            let (realm, device) = new_device(wish)?;
            let since = SystemTime::now().duration_since(UNIX_EPOCH)?;
            let now = Timestamp(i64::try_from(since.as_millis())?);
            let (key, token) = registry.add_device(&realm, device, now)?;
            of_device(&realm, &key, &token)
        }
    };
    registry.save()?;
    Ok(done)
}

/// Asks the relay of a registry, or the registry itself if no relay has it open.
pub(super) fn ask(registry: &Path, wish: Wish) -> anyhow::Result<Value> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let path = socket(registry);
    let told = runtime.block_on(async {
        let Ok(stream) = UnixStream::connect(&path).await else {
            return Ok(None);
        };
        let (from, mut to) = stream.into_split();
        let text = serde_json::to_string(&wish)?;
        to.write_all(format!("{text}\n").as_bytes()).await?;
        let mut line = String::new();
        BufReader::new(from).read_line(&mut line).await?;
        anyhow::Ok(Some(line))
    });
    let Some(line) = told.context("the relay did not answer")? else {
        return carry_out_at_rest(&mut Registry::open(registry)?, wish);
    };
    match serde_json::from_str(&line).context("the relay has ended, or was too slow")? {
        Answer::Done(done) => Ok(done),
        Answer::Refused(why) => bail!(why),
    }
}

fn profile(wish: Wish) -> anyhow::Result<(RealmName, PylonProfile)> {
    let Wish::AddPylon {
        realm,
        id,
        name,
        icon,
        role,
    } = wish
    else {
        bail!("this is no Pylon");
    };
    let profile = PylonProfile {
        device_id: DeviceId(id),
        name: Name::parse(&name).context("--name")?,
        icon,
        role,
    };
    Ok((RealmName::parse(&realm)?, profile))
}

fn new_device(wish: Wish) -> anyhow::Result<(RealmName, NewDevice)> {
    let Wish::AddDevice {
        realm,
        name,
        rights,
    } = wish
    else {
        bail!("this is no device");
    };
    let device = NewDevice {
        name: Name::parse(&name).context("--name")?,
        rights,
        expires_at: None,
    };
    Ok((RealmName::parse(&realm)?, device))
}

fn of_pylon(realm: &RealmName, id: DeviceId, token: &Token) -> Value {
    json!({"realm": realm.as_str(), "deviceId": id, "token": token.reveal()})
}

fn of_device(realm: &RealmName, key: &DeviceKey, token: &Token) -> Value {
    json!({"realm": realm.as_str(), "deviceKey": key.as_str(), "token": token.reveal()})
}

fn shown(pylons: &[ListedPylon]) -> Value {
    let each = pylons.iter().map(|pylon| {
        let profile = &pylon.profile;
        json!({
            "realm": pylon.realm.as_str(), "deviceId": profile.device_id, "name": profile.name,
            "icon": profile.icon, "role": profile.role, "connected": pylon.is_connected,
        })
    });
    each.collect()
}
