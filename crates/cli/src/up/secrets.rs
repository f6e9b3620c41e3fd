//! The secrets of this machine: the Pylon's, and that of the terminal commands on it.
//!
//! The registry knows hashes only, so both secrets are kept in files that their user alone can read. The registry is
//! saved before a file is written: what is found in a file without being in the registry is replaced, never the reverse.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use estelle_proto::{Name, Right, Timestamp, Token};
use estelle_relay::{NewDevice, PylonProfile, Registry};
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::pylon::{read_token, token_file};

/// The file by which the commands on this machine find their way in.
const TERMINAL: &str = "terminal.json";
/// How the commands on a machine are called among its devices.
pub(crate) const TERMINAL_NAME: &str = "Terminal";
/// Whoever can read the data folder owns the machine, so nothing is kept from them.
pub(crate) const TERMINAL_RIGHTS: [Right; 5] = [
    Right::View,
    Right::Prompt,
    Right::Approve,
    Right::Terminal,
    Right::Admin,
];

/// The secret of the Pylon, made when there is none that the registry knows.
pub(super) fn of_pylon(
    registry: &mut Registry,
    config: &Config,
    data: &Path,
) -> anyhow::Result<Token> {
    let (pylon, realm) = (&config.pylon, &config.relay.realm);
    let path = token_file(pylon, data);
    let kept = read_token(&path).ok();
    if let Some(token) =
        kept.filter(|token| registry.knows(token) && registry.has_pylon(realm, pylon.id))
    {
        return Ok(token);
    }
    let profile = PylonProfile {
        device_id: pylon.id,
        name: pylon.name(),
        icon: pylon.icon.clone(),
        role: pylon.role.clone(),
    };
    let token = registry.put_pylon(realm, profile)?;
    registry.save()?;
    put(&path, token.reveal())?;
    Ok(token)
}

/// How the commands on this machine get in.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Terminal {
    /// The relay.
    pub(crate) url: String,
    /// The page of the app.
    #[serde(default)]
    pub(crate) page: String,
    /// The certificate of the relay, if it has one of its own.
    #[serde(default)]
    pub(crate) authority: Option<PathBuf>,
    /// The secret of the device; empty until one is needed, where the relay is not ours.
    #[serde(default)]
    pub(crate) token: String,
}

impl Terminal {
    /// Reads it; nothing if there is none.
    pub(crate) fn load(data: &Path) -> Option<Self> {
        let text = std::fs::read(Self::path(data)).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Where it is.
    pub(crate) fn path(data: &Path) -> PathBuf {
        data.join(TERMINAL)
    }

    /// The way to a relay elsewhere. A secret that it gave out is kept for as long as it is the same relay.
    pub(crate) fn elsewhere(url: &str, authorities: &[PathBuf], data: &Path) -> Self {
        let kept = Self::load(data).filter(|kept| kept.url == url);
        Self {
            url: url.to_owned(),
            page: page_of(url),
            authority: authorities.first().cloned(),
            token: kept.map(|kept| kept.token).unwrap_or_default(),
        }
    }

    /// Writes it, with the address that holds now.
    pub(crate) fn store(self, data: &Path) -> anyhow::Result<()> {
        let text = serde_json::to_string(&self)?;
        put(&Self::path(data), &text)
    }
}

/// The secret of the commands on this machine, made when there is none that the registry knows.
pub(super) fn of_terminal(
    registry: &mut Registry,
    config: &Config,
    data: &Path,
) -> anyhow::Result<Terminal> {
    let known = |kept: &Terminal| {
        let token = Token::parse(&kept.token);
        token.is_ok_and(|token| registry.knows(&token))
    };
    if let Some(kept) = Terminal::load(data).filter(known) {
        return Ok(kept);
    }
    let device = NewDevice {
        name: Name::parse(TERMINAL_NAME)?,
        rights: TERMINAL_RIGHTS.to_vec(),
        expires_at: None,
    };
    let since = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let now = Timestamp(i64::try_from(since.as_millis())?);
    let (_, token) = registry.add_device(&config.relay.realm, device, now)?;
    registry.save()?;
    Ok(Terminal {
        url: String::new(),
        page: String::new(),
        authority: None,
        token: token.reveal().to_owned(),
    })
}

/// The page that a relay serves beside its socket.
fn page_of(url: &str) -> String {
    let page = url.strip_suffix("/ws").unwrap_or(url);
    let page = page.trim_end_matches('/');
    match page.split_once("://") {
        Some(("wss", rest)) => format!("https://{rest}"),
        Some(("ws", rest)) => format!("http://{rest}"),
        _ => page.to_owned(),
    }
}

/// Puts a private file in place of another, whole.
pub(crate) fn put(path: &Path, text: &str) -> anyhow::Result<()> {
    let failed = || format!("failed to write {}", path.display());
    let mut fresh = path.as_os_str().to_owned();
    fresh.push(".new");
    let fresh = PathBuf::from(fresh);
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let mut file = options.open(&fresh).with_context(failed)?;
    writeln!(file, "{text}").with_context(failed)?;
    file.sync_all().with_context(failed)?;
    std::fs::rename(&fresh, path).with_context(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_of_a_relay_elsewhere_goes_to_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let way = |url: &str| Terminal::elsewhere(url, &[], folder.path());
        let first = way("wss://e.example.org:8443/ws");
        assert_eq!(first.page, "https://e.example.org:8443");
        assert_eq!(way("ws://127.0.0.1:1/ws").page, "http://127.0.0.1:1");
        let given = Terminal {
            token: "given".to_owned(),
            ..first
        };
        given.store(folder.path()).unwrap();
        assert_eq!(way("wss://e.example.org:8443/ws").token, "given");
        assert_eq!(way("wss://other.example.org/ws").token, "");
    }

    #[test]
    fn secrets_are_kept_and_replaced_when_the_registry_does_not_know_them() {
        let folder = tempfile::tempdir().unwrap();
        let (data, config) = (folder.path(), Config::default());
        let open = || Registry::open(data.join("relay.json")).unwrap();
        let mut registry = open();
        let first = of_pylon(&mut registry, &config, data).unwrap();
        let terminal = of_terminal(&mut registry, &config, data).unwrap();
        let stored = Terminal {
            url: "ws://x/ws".to_owned(),
            ..terminal.clone()
        };
        stored.store(data).unwrap();
        drop(registry);
        let mut registry = open();
        let again = of_pylon(&mut registry, &config, data).unwrap();
        assert_eq!(again.reveal(), first.reveal());
        let kept = of_terminal(&mut registry, &config, data).unwrap();
        assert_eq!(
            (kept.token.as_str(), kept.url.as_str()),
            (terminal.token.as_str(), "ws://x/ws")
        );
        drop(registry);
        std::fs::remove_file(data.join("relay.json")).unwrap();
        let mut registry = open();
        let fresh = of_pylon(&mut registry, &config, data).unwrap();
        assert_ne!(fresh.reveal(), first.reveal());
        let fresh = of_terminal(&mut registry, &config, data).unwrap();
        assert_ne!(fresh.token, terminal.token);
    }
}
