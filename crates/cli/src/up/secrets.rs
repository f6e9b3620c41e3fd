//! The secrets of this machine: the Pylon's, and that of the terminal commands on it.
//!
//! The registry knows hashes only, so both secrets are kept in files that their user alone can read. The registry is
//! saved before a file is written: what is found in a file without being in the registry is replaced, never the reverse.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
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

/// The secret of the Pylon, made when there is none by which the registry knows this very Pylon. It looks as the
/// configuration says now.
pub(super) fn of_pylon(
    registry: &mut Registry,
    config: &Config,
    data: &Path,
) -> anyhow::Result<Token> {
    let (pylon, realm) = (&config.pylon, &config.relay.realm);
    let path = token_file(pylon, data);
    let profile = PylonProfile {
        device_id: pylon.id,
        name: pylon.name(),
        icon: pylon.icon.clone(),
        role: pylon.role.clone(),
    };
    let kept = read_token(&path).ok();
    if let Some(token) = kept.filter(|token| registry.is_of_pylon(token, realm, pylon.id)) {
        if registry.dress_pylon(realm, profile)? {
            registry.save()?;
        }
        return Ok(token);
    }
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

/// The secret of the commands on this machine, made when there is none that lets them into its realm. One of another realm
/// is taken back there.
pub(super) fn of_terminal(
    registry: &mut Registry,
    config: &Config,
    data: &Path,
) -> anyhow::Result<Terminal> {
    let realm = &config.relay.realm;
    if let Some(kept) = Terminal::load(data)
        && let Ok(token) = Token::parse(&kept.token)
    {
        match registry.realm_of_device(&token) {
            Some(known) if known == realm => return Ok(kept),
            Some(_) => registry.remove_device_of(&token),
            None => {}
        }
    }
    let device = NewDevice {
        name: Name::parse(TERMINAL_NAME)?,
        rights: TERMINAL_RIGHTS.to_vec(),
        expires_at: None,
    };
    let since = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let now = Timestamp(i64::try_from(since.as_millis())?);
    let (_, token) = registry.add_device(realm, device, now)?;
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

/// Puts a private file in place of another, whole. One that says the same already stays, so that a start needs no room on
/// the disk for what has not changed.
pub(crate) fn put(path: &Path, text: &str) -> anyhow::Result<()> {
    if is_kept(path, text) {
        return Ok(());
    }
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

/// Whether a file of our own says just this.
fn is_kept(path: &Path, text: &str) -> bool {
    let is_private = std::fs::symlink_metadata(path)
        .is_ok_and(|found| found.is_file() && found.mode() & 0o777 == 0o600);
    let kept = std::fs::read(path).unwrap_or_default();
    is_private && kept.strip_suffix(b"\n") == Some(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_not_changed_needs_no_room_on_the_disk() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        put(&path, "one").unwrap();
        // Where the fresh copy would be written something is in the way, as on a disk without room.
        std::fs::create_dir(folder.path().join("secret.new")).unwrap();
        put(&path, "one").unwrap();
        put(&path, "two").unwrap_err();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\n");
    }

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

    fn registry(data: &Path) -> Registry {
        Registry::open(data.join("relay.json")).unwrap()
    }

    #[test]
    fn a_pylon_looks_as_its_configuration_says_now() {
        let folder = tempfile::tempdir().unwrap();
        let (data, mut config) = (folder.path(), Config::default());
        let mut registry = registry(data);
        let first = of_pylon(&mut registry, &config, data).unwrap();
        config.pylon.icon = "🌊".to_owned();
        config.pylon.role = "office".to_owned();
        let again = of_pylon(&mut registry, &config, data).unwrap();
        assert_eq!(again.reveal(), first.reveal(), "it stays the same Pylon");
        drop(registry);
        let kept = self::registry(data).pylons().remove(0).profile;
        assert_eq!((kept.icon.as_str(), kept.role.as_str()), ("🌊", "office"));
    }

    #[test]
    fn a_pylon_that_changes_its_id_and_back_has_a_secret_of_its_own_each_time() {
        let folder = tempfile::tempdir().unwrap();
        let (data, mut config) = (folder.path(), Config::default());
        let mut registry = registry(data);
        for id in [1, 2, 1] {
            config.pylon.id = estelle_proto::DeviceId(id);
            let token = of_pylon(&mut registry, &config, data).unwrap();
            assert!(registry.is_of_pylon(&token, &config.relay.realm, config.pylon.id));
        }
    }

    #[test]
    fn the_terminal_goes_along_into_another_realm() {
        let folder = tempfile::tempdir().unwrap();
        let (data, mut config) = (folder.path(), Config::default());
        let mut registry = registry(data);
        let old = of_terminal(&mut registry, &config, data).unwrap();
        old.clone().store(data).unwrap();
        config.relay.realm = estelle_relay::RealmName::parse("elsewhere").unwrap();
        let new = of_terminal(&mut registry, &config, data).unwrap();
        let realm = |kept: &Terminal| {
            let token = Token::parse(&kept.token).unwrap();
            registry.realm_of_device(&token).cloned()
        };
        assert_eq!(realm(&new), Some(config.relay.realm.clone()));
        assert_eq!(realm(&old), None, "it lets nobody into the old one");
    }
}
