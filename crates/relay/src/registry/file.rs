//! The file of the registry: read once, written whole, owned by one relay at a time.
//!
//! Beside it stands the list of secrets that were revoked. It only grows, and belongs in no backup: with it an old copy of
//! the registry lets nobody back in who was taken out since.
//!
//! A new version is written beside the old one, made durable and renamed, so that a crash leaves one of the two. The
//! file is readable by its user alone. A lock beside it keeps a second relay, or a second command, away.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use estelle_proto::{DeviceId, DeviceKey, Timestamp, Token};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use super::directory::{
    Directory, IssueError, ListedPylon, NewDevice, Principal, PylonProfile, RealmName, RealmRecord,
    Who,
};
use crate::secret::{self, Entropy, SecretHash};

/// The format of the file.
const VERSION: u32 = 1;
/// The end of the name of the list of revoked secrets.
const REVOKED: &str = ".revoked";

/// Why the registry could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The file or its lock could not be used.
    #[error("use {path}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Another relay has it open.
    #[error("{path} belongs to a relay that is running")]
    Taken {
        /// The file.
        path: PathBuf,
    },
    /// It is not a registry.
    #[error("read {path}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
    /// It is of a newer version, or two devices have the same secret.
    #[error("{path} is of version {version}, or damaged; this build reads version {VERSION}")]
    Unusable {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
}

/// Why the registry could not be written. The old version is still there.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    /// It has no JSON form.
    #[error("write the registry as JSON")]
    Encode(#[from] serde_json::Error),
    /// The disk refused.
    #[error("write the registry")]
    Io(#[from] io::Error),
}

/// What stands in the file.
#[derive(Debug, Serialize, Deserialize)]
struct Contents {
    version: u32,
    realms: BTreeMap<RealmName, RealmRecord>,
}

/// What a version of the directory looks like on the disk.
#[derive(Debug)]
pub(crate) struct Version {
    registry: Vec<u8>,
    revoked: BTreeSet<SecretHash>,
}

/// The file, with the lock that makes it ours.
#[derive(Debug)]
pub(crate) struct RegistryFile {
    path: PathBuf,
    /// How many revoked secrets are written down. There are never fewer.
    revoked: AtomicUsize,
    _lock: File,
}

impl RegistryFile {
    /// Writes a version of the directory, durably. Blocks.
    ///
    /// Both files are written before either counts: what fails for want of room changes nothing.
    pub(crate) fn write(&self, version: &Version) -> Result<(), SaveError> {
        let count = version.revoked.len();
        let list = beside(&self.path, REVOKED);
        let is_longer = count > self.revoked.load(Ordering::Relaxed);
        if is_longer {
            prepare(&list, &serde_json::to_vec(&version.revoked)?)?;
        }
        prepare(&self.path, &version.registry)?;
        if is_longer {
            replace(&list)?;
            self.revoked.store(count, Ordering::Relaxed);
        }
        Ok(replace(&self.path)?)
    }
}

/// Writes what is to take the place of a file.
fn prepare(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(beside(path, ".new"))?;
    file.write_all(text)?;
    file.sync_all()
}

/// Puts what was prepared in the place of a file, or leaves the file as it is.
fn replace(path: &Path) -> io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    fs::rename(beside(path, ".new"), path)?;
    File::open(folder)?.sync_all()
}

/// A version of the directory as it is written.
pub(crate) fn encode(directory: &Directory) -> Result<Version, SaveError> {
    let contents = Contents {
        version: VERSION,
        realms: directory.realms().clone(),
    };
    let mut registry = serde_json::to_vec_pretty(&contents)?;
    registry.push(b'\n');
    let revoked = directory.revoked().clone();
    Ok(Version { registry, revoked })
}

/// Realms, Pylons and devices, with the file they are kept in.
pub struct Registry {
    pub(crate) directory: Directory,
    pub(crate) file: RegistryFile,
    pub(crate) entropy: Entropy,
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registry")
            .field("path", &self.file.path)
            .finish_non_exhaustive()
    }
}

impl Registry {
    /// Opens the file, or begins a new one. Nobody else can open it until this is dropped. Blocks.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, OpenError> {
        let path = path.into();
        let io = |source| OpenError::Io {
            path: path.clone(),
            source,
        };
        if let Some(folder) = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
        {
            let mut builder = fs::DirBuilder::new();
            builder
                .recursive(true)
                .mode(0o700)
                .create(folder)
                .map_err(io)?;
        }
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        let lock = options.open(beside(&path, ".lock")).map_err(io)?;
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Err(OpenError::Taken { path });
        }
        let text = read(&path).map_err(io)?;
        let list = beside(&path, REVOKED);
        let revoked = match read(&list).map_err(io)? {
            None => BTreeSet::new(),
            Some(text) => parsed(&list, &text)?,
        };
        let known = AtomicUsize::new(revoked.len());
        let directory = directory(&path, text.as_deref(), revoked)?;
        let file = RegistryFile {
            path,
            revoked: known,
            _lock: lock,
        };
        Ok(Self {
            directory,
            file,
            entropy: Box::new(secret::system_entropy),
        })
    }

    /// Whether this is the secret of this Pylon.
    pub fn is_of_pylon(&self, token: &Token, realm: &RealmName, id: DeviceId) -> bool {
        let whose = self.directory.whose(token);
        whose.is_some_and(|whose| whose.realm == *realm && whose.who == Who::Pylon(id))
    }

    /// The realm that this secret lets a device into; that of a Pylon lets none in.
    pub fn realm_of_device(&self, token: &Token) -> Option<&RealmName> {
        let whose = self.directory.whose(token)?;
        matches!(whose.who, Who::Device(_)).then_some(&whose.realm)
    }

    /// Gives a Pylon other looks and leaves its secret. Tells whether they are others.
    pub fn dress_pylon(
        &mut self,
        realm: &RealmName,
        pylon: PylonProfile,
    ) -> Result<bool, IssueError> {
        self.directory.dress_pylon(realm, pylon)
    }

    /// Takes the device of a secret out of its realm.
    pub fn remove_device_of(&mut self, token: &Token) {
        let whose = self.directory.whose(token).cloned();
        if let Some(Principal {
            realm,
            who: Who::Device(key),
        }) = whose
        {
            self.directory.remove_device(&realm, &key);
        }
    }

    /// Adds a Pylon or changes it, and gives it a new secret. The old secret is worth nothing from now on.
    pub fn put_pylon(
        &mut self,
        realm: &RealmName,
        pylon: PylonProfile,
    ) -> Result<Token, IssueError> {
        let token = secret::token(&mut self.entropy).ok_or(IssueError::NoEntropy)?;
        self.directory.put_pylon(realm, pylon, &token)?;
        Ok(token)
    }

    /// The same with a secret from elsewhere, which must be a good one.
    pub fn put_pylon_with(
        &mut self,
        realm: &RealmName,
        pylon: PylonProfile,
        token: &Token,
    ) -> Result<(), IssueError> {
        self.directory.put_pylon(realm, pylon, token).map(drop)
    }

    /// Takes a Pylon out. Its secret is worth nothing from now on.
    pub fn remove_pylon(&mut self, realm: &RealmName, id: DeviceId) -> Result<(), IssueError> {
        self.directory.remove_pylon(realm, id)
    }

    /// All Pylons, by realm and id.
    pub fn pylons(&self) -> Vec<ListedPylon> {
        self.directory.pylons()
    }

    /// Adds a device without pairing.
    pub fn add_device(
        &mut self,
        realm: &RealmName,
        device: NewDevice,
        now: Timestamp,
    ) -> Result<(DeviceKey, Token), IssueError> {
        self.directory
            .add_device(realm, device, now, &mut self.entropy)
    }

    /// Writes everything, durably. Blocks.
    pub fn save(&self) -> Result<(), SaveError> {
        self.file.write(&encode(&self.directory)?)
    }
}

/// The text of a file; nothing if there is none.
fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn parsed<T: serde::de::DeserializeOwned>(path: &Path, text: &[u8]) -> Result<T, OpenError> {
    serde_json::from_slice(text).map_err(|source| OpenError::Malformed {
        path: path.to_owned(),
        source,
    })
}

fn directory(
    path: &Path,
    text: Option<&[u8]>,
    revoked: BTreeSet<SecretHash>,
) -> Result<Directory, OpenError> {
    let none = Contents {
        version: VERSION,
        realms: BTreeMap::new(),
    };
    let contents = text.map_or(Ok(none), |text| parsed(path, text))?;
    let version = contents.version;
    Some(contents.realms)
        .filter(|_| version == VERSION)
        .and_then(|realms| Directory::new(realms, revoked))
        .ok_or_else(|| OpenError::Unusable {
            path: path.to_owned(),
            version,
        })
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use estelle_proto::{Name, Right};

    use super::*;

    fn pylon(id: u32) -> PylonProfile {
        PylonProfile {
            device_id: DeviceId(id),
            name: Name::parse("Selene").unwrap(),
            icon: "🌙".to_owned(),
            role: "home".to_owned(),
        }
    }

    fn home() -> RealmName {
        RealmName::parse("home").unwrap()
    }

    #[test]
    fn what_was_saved_is_there_again_and_no_secret_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/relay.json");
        let mut registry = Registry::open(&path).unwrap();
        let token = registry.put_pylon(&home(), pylon(1)).unwrap();
        let device = NewDevice {
            name: Name::parse("Phone").unwrap(),
            rights: vec![Right::View],
            expires_at: None,
        };
        let (key, secret) = registry.add_device(&home(), device, Timestamp(5)).unwrap();
        registry.save().unwrap();
        drop(registry);
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains(token.reveal()) && !text.contains(secret.reveal()));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(path.parent().unwrap()), 0o700);
        let registry = Registry::open(&path).unwrap();
        assert!(registry.directory.whose(&token).is_some());
        assert_eq!(
            registry.directory.whose(&secret).map(|found| &found.who),
            Some(&super::super::Who::Device(key))
        );
    }

    #[test]
    fn d14_an_old_copy_lets_nobody_back_in() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("relay.json");
        let mut registry = Registry::open(&path).unwrap();
        let device = |name: &str| NewDevice {
            name: Name::parse(name).unwrap(),
            rights: vec![Right::View],
            expires_at: None,
        };
        let (gone, lost) = registry
            .add_device(&home(), device("Lost phone"), Timestamp(5))
            .unwrap();
        let (_, kept) = registry
            .add_device(&home(), device("Phone"), Timestamp(5))
            .unwrap();
        registry.save().unwrap();
        let backup = fs::read(&path).unwrap();
        registry.directory.remove_device(&home(), &gone).unwrap();
        registry.save().unwrap();
        drop(registry);
        fs::write(&path, backup).unwrap();
        let registry = Registry::open(&path).unwrap();
        assert!(registry.directory.whose(&lost).is_none());
        assert!(registry.directory.whose(&kept).is_some());
    }

    #[test]
    fn an_old_copy_does_not_bring_a_replaced_secret_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("relay.json");
        let mut registry = Registry::open(&path).unwrap();
        let old = registry.put_pylon(&home(), pylon(1)).unwrap();
        registry.save().unwrap();
        let backup = fs::read(&path).unwrap();
        let new = registry.put_pylon(&home(), pylon(1)).unwrap();
        registry.save().unwrap();
        assert!(registry.is_of_pylon(&new, &home(), DeviceId(1)));
        drop(registry);
        fs::write(&path, backup).unwrap();
        let registry = Registry::open(&path).unwrap();
        assert!(registry.directory.whose(&old).is_none());
    }

    #[test]
    fn what_cannot_be_written_whole_is_not_written_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("relay.json");
        let mut registry = Registry::open(&path).unwrap();
        let old = registry.put_pylon(&home(), pylon(1)).unwrap();
        registry.save().unwrap();
        let in_the_way = beside(&path, ".new");
        fs::create_dir(&in_the_way).unwrap();
        registry.put_pylon(&home(), pylon(1)).unwrap();
        registry.save().unwrap_err();
        drop(registry);
        fs::remove_dir(&in_the_way).unwrap();
        let registry = Registry::open(&path).unwrap();
        assert!(registry.is_of_pylon(&old, &home(), DeviceId(1)));
    }

    #[test]
    fn one_relay_owns_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("relay.json");
        let first = Registry::open(&path).unwrap();
        assert!(matches!(
            Registry::open(&path),
            Err(OpenError::Taken { .. })
        ));
        drop(first);
        assert!(Registry::open(&path).is_ok());
    }

    #[test]
    fn r5_a_secret_that_could_be_guessed_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut registry = Registry::open(folder.path().join("relay.json")).unwrap();
        for weak in ["changeme", "secret", &"a".repeat(64), &"ab".repeat(30)] {
            let token = Token::parse(weak).unwrap();
            let refused = registry.put_pylon_with(&home(), pylon(1), &token);
            assert_eq!(refused, Err(IssueError::WeakSecret), "{weak}");
        }
    }

    #[test]
    fn a_newer_or_broken_file_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("relay.json");
        for text in [
            r#"{"version":2,"realms":{}}"#,
            r#"{"version":1,"realms":{"Home Sweet":{}}}"#,
            "{",
        ] {
            fs::write(&path, text).unwrap();
            assert!(Registry::open(&path).is_err(), "{text}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }
}
