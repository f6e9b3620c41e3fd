//! This process as the successor of another program, and its way back.
//!
//! A deploy ends with the old program becoming the new one in the same process: the supervisor notices nothing. The new one
//! is on trial until it is ready. If it cannot start, takes too long, or has begun to start too often, it lets the link lead
//! back and becomes the old program again, which puts the database back if the new one has changed its format.

use std::convert::Infallible;
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use anyhow::Context as _;
use estelle_pylon::deploy::{DeployConfig, Succession};
use estelle_pylon::release::Release;
use estelle_pylon::store::{DATABASE, Store};

use crate::config::{Config, DeploySection};
use crate::pylon::STORE;

/// How often a new program may begin to start.
const ATTEMPTS: u32 = 3;
/// How long it may take until it is ready.
const PATIENCE: Duration = Duration::from_mins(3);
/// Names the program that the process is meant to be.
const VARIABLE: &str = "ESTELLE_SUCCESSOR";

/// A program on trial; or one that has nothing to prove.
#[derive(Debug)]
pub(crate) struct Successor {
    folder: PathBuf,
    trial: Option<Trial>,
}

#[derive(Debug)]
struct Trial {
    note: Succession,
    /// Dropped when the trial is over.
    _watch: mpsc::Sender<Infallible>,
}

impl Successor {
    /// Looks whether this process is the successor of another program. Does not return if it has to go back.
    pub(crate) fn begin(data: &Path) -> anyhow::Result<Self> {
        let folder = DeploySection::folder(data);
        let note = match Succession::load(&folder) {
            Ok(note) => note,
            Err(error) => {
                tracing::error!(%error, "the note of a deploy cannot be read; it is ignored");
                None
            }
        };
        let alone = Self {
            folder: folder.clone(),
            trial: None,
        };
        let Some(mut note) = note else {
            return Ok(alone);
        };
        if note.failure.is_some() {
            take_back(&note, data)?;
            return Ok(alone);
        }
        if !is_meant(&note.to) {
            // The switch was never made, or somebody starts another program: what is there stays there.
            return Ok(alone);
        }
        note.attempts += 1;
        if note.attempts > ATTEMPTS {
            let why = format!("it began to start {ATTEMPTS} times, and was never ready");
            return Err(go_back(note, &folder, why));
        }
        note.store(&folder).context("failed to count the attempt")?;
        let (watch, over) = mpsc::channel::<Infallible>();
        let (late, place) = (note.clone(), folder.clone());
        let patience = patience();
        std::thread::spawn(move || {
            if over.recv_timeout(patience) == Err(mpsc::RecvTimeoutError::Timeout) {
                let why = format!("it was not ready after {} s", patience.as_secs());
                let error = go_back(late, &place, why);
                tracing::error!("the former program cannot be started: {error:#}");
            }
        });
        stumble();
        Ok(Self {
            folder,
            trial: Some(Trial {
                note,
                _watch: watch,
            }),
        })
    }

    /// Everything runs: the way back is not needed any more.
    pub(crate) fn is_ready(&mut self) {
        if self.trial.take().is_some()
            && let Err(error) = Succession::remove(&self.folder)
        {
            tracing::error!(%error, "the note of the deploy is still there");
        }
    }

    /// Goes on with what could be started. One on trial that could not start becomes its predecessor again.
    pub(crate) fn judge<T>(&mut self, started: anyhow::Result<T>) -> anyhow::Result<T> {
        match (started, self.trial.take()) {
            (Err(error), Some(trial)) => {
                Err(go_back(trial.note, &self.folder, format!("{error:#}")))
            }
            (started, trial) => {
                self.trial = trial;
                started
            }
        }
    }
}

/// Whether this process is meant to be a program.
fn is_meant(program: &Path) -> bool {
    let is_named = std::env::var_os(VARIABLE).is_some_and(|named| named == program.as_os_str());
    let own = std::env::current_exe().and_then(|own| own.canonicalize());
    is_named || own.is_ok_and(|own| program.canonicalize().is_ok_and(|program| program == own))
}

/// Becomes the former program. Gives why not; it does not return otherwise.
fn go_back(mut note: Succession, folder: &Path, why: String) -> anyhow::Error {
    tracing::error!(
        why,
        "the new program does not start; the former one is started again"
    );
    note.failure = Some(why.clone());
    let back = note
        .store(folder)
        .and_then(|()| note.switch_back())
        .context("failed to go back to the former program");
    match back {
        Ok(()) => become_program(&note.program, &note.from),
        Err(error) => error.context(why),
    }
}

/// What a former program does when it is there again.
fn take_back(note: &Succession, data: &Path) -> anyhow::Result<()> {
    if is_meant(&note.to) {
        // It failed before, and somebody starts it by another way.
        tracing::warn!("this build did not start when it was deployed");
        return Ok(());
    }
    put_database_back(&data.join(STORE), &note.database)
}

/// Puts the copy of the database in place of one that the new program has changed. What was begun is finished: a copy that
/// has its name is whole, and as long as it is there the newer database may be gone already.
fn put_database_back(store: &Path, copy: &Path) -> anyhow::Result<()> {
    let whole = store.join(format!("{DATABASE}.former"));
    if !whole.exists() {
        if !Store::is_newer(store) {
            return Ok(());
        }
        tracing::warn!(
            "the new program has changed the database; the copy from before is put back"
        );
        let part = store.join(format!("{DATABASE}.former.part"));
        std::fs::copy(copy, &part).context("failed to copy the database from before")?;
        File::open(&part)?.sync_all()?;
        std::fs::rename(&part, &whole)?;
        File::open(store)?.sync_all()?;
    }
    estelle_host::failpoint("database-copied");
    for end in ["", "-wal", "-shm"] {
        let file = store.join(format!("{DATABASE}{end}"));
        let aside = store.join(format!("{DATABASE}.newer{end}"));
        if file.exists() {
            std::fs::rename(&file, aside)?;
        }
    }
    estelle_host::failpoint("database-aside");
    std::fs::rename(&whole, store.join(DATABASE)).context("failed to put it back")?;
    Ok(File::open(store)?.sync_all()?)
}

/// How long a new program has to be ready; tests wait less.
fn patience() -> Duration {
    let wanted = std::env::var("ESTELLE_SUCCESSOR_PATIENCE_MS").ok();
    let wanted = wanted.and_then(|wanted| wanted.parse().ok());
    wanted.map_or(PATIENCE, Duration::from_millis)
}

/// A place at which a program on trial dies or hangs, for tests.
fn stumble() {
    estelle_host::failpoint("successor");
    if std::env::var("ESTELLE_FAILPOINT").is_ok_and(|place| place == "successor:hang") {
        loop {
            std::thread::park();
        }
    }
}

/// Becomes a program, with the arguments of this one. Gives why not.
pub(crate) fn become_program(link: &Path, program: &Path) -> anyhow::Error {
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    let mut command = Command::new(program);
    let error = command.arg0(link).args(args).env(VARIABLE, program).exec();
    anyhow::Error::new(error).context(format!("failed to become {}", program.display()))
}

/// Becomes what the link leads to now.
pub(crate) fn become_new(link: &Path) -> anyhow::Error {
    match link.canonicalize() {
        Ok(program) => become_program(link, &program),
        Err(error) => {
            anyhow::Error::new(error).context(format!("failed to find {}", link.display()))
        }
    }
}

/// The way by which this process was started: a link stays a link.
pub(crate) fn started_as() -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe().context("failed to find out where this program is")?;
    let own = own.canonicalize().unwrap_or(own);
    let called = std::env::args_os().next().map(PathBuf::from);
    let called = called.unwrap_or_else(|| own.clone());
    let places: Vec<PathBuf> = if called.components().count() == 1 {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::env::split_paths(&path);
        folders.map(|folder| folder.join(&called)).collect()
    } else {
        vec![std::path::absolute(&called)?]
    };
    let is_own = |place: &PathBuf| place.canonicalize().is_ok_and(|place| place == own);
    Ok(places.into_iter().find(is_own).unwrap_or(own))
}

/// The build that runs.
pub(crate) fn running() -> Release {
    let own = std::env::current_exe().and_then(|own| own.canonicalize());
    let release = own.ok().and_then(|own| Release::beside(&own));
    release.unwrap_or_else(|| Release {
        version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        ..Release::default()
    })
}

/// How a Pylon gets a successor.
#[derive(Debug, Clone)]
pub(crate) struct Way {
    /// Who becomes the program that is sent.
    pub(crate) becoming: tokio::sync::mpsc::Sender<PathBuf>,
    /// The configuration file that was named.
    pub(crate) config_file: Option<PathBuf>,
}

impl Way {
    /// How deploys are made.
    pub(crate) fn deploys(&self, config: &Config, data: &Path) -> anyhow::Result<DeployConfig> {
        let deploy = &config.deploy;
        let mut trial: Vec<OsString> = vec!["trial".into()];
        if let Some(file) = &self.config_file {
            trial.extend(["--config".into(), std::path::absolute(file)?.into()]);
        }
        let program = deploy.program.clone().map_or_else(started_as, Ok)?;
        Ok(DeployConfig {
            device_id: config.pylon.id,
            folder: DeploySection::folder(data),
            repository: deploy.repository.clone(),
            branch: deploy.branch.clone(),
            remote: deploy.remote.clone(),
            allow_older: deploy.allow_older,
            commands: deploy.commands(),
            step_limit: deploy.step_limit(),
            releases: deploy.releases(data),
            language: deploy.language,
            program,
            running: running(),
            // The program that runs, even if its file is gone.
            leash: ["/proc/self/exe", "leash", "--"].map(OsString::from).into(),
            trial,
            becoming: self.becoming.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A newer database and a copy from before it; nothing is a database but by its first bytes.
    async fn changed(place: &Path) -> PathBuf {
        let store = place.join("store");
        Store::open(&store).unwrap().close().await;
        let copy = place.join("before.db");
        std::fs::copy(store.join(DATABASE), &copy).unwrap();
        let mut bytes = std::fs::read(store.join(DATABASE)).unwrap();
        bytes[60..64].copy_from_slice(&99_u32.to_be_bytes());
        std::fs::write(store.join(DATABASE), bytes).unwrap();
        copy
    }

    #[tokio::test]
    async fn a_database_is_put_back_whole_wherever_it_was_interrupted() {
        let place = tempfile::tempdir().unwrap();
        let (store, copy) = (place.path().join("store"), changed(place.path()).await);
        let at = |name: &str| store.join(format!("{DATABASE}{name}"));
        let before = std::fs::read(&copy).unwrap();
        assert!(Store::is_newer(&store));
        // A copy that was not finished counts for nothing.
        std::fs::write(at(".former.part"), "half").unwrap();
        put_database_back(&store, &copy).unwrap();
        assert_eq!(std::fs::read(at("")).unwrap(), before);
        assert!(at(".newer").exists() && !at(".former").exists());
        // Twice is as good as once.
        put_database_back(&store, &copy).unwrap();
        assert_eq!(std::fs::read(at("")).unwrap(), before);

        // The newer one was put aside, and nothing else was done.
        std::fs::remove_file(at("")).unwrap();
        std::fs::copy(&copy, at(".former")).unwrap();
        std::fs::remove_file(&copy).unwrap();
        put_database_back(&store, &copy).unwrap();
        assert_eq!(std::fs::read(at("")).unwrap(), before);
    }
}
