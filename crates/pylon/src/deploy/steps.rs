//! What each step of a deploy does.
//!
//! Everything happens in the folder of the deploys: the tree, what is built from it, the builds by their commit and time.
//! Outside of it only two things change, both in the last stage and both in one step each: the published `deploy.json`,
//! and the link that is started. [`undo`] puts them back.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use estelle_proto::{IsoTime, Timestamp};

use super::DeployConfig;
use super::command::{CommandError, Runner, Spec};
use super::git::{GitError, Source};
use super::machine::{Build, Found, Order};
use super::plan::Step;
use super::succession::{Succession, former};
use crate::release::{self, Place, Release, replace};
use crate::store::{BackupError, Store};

/// The name of the program in a build.
const PROGRAM: &str = "estelle";
/// What was published before.
const PUBLISHED: &str = "published.before.json";

/// Why a step failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum StepError {
    #[error("`deploy.repository` is not configured")]
    NotConfigured,
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Command(#[from] CommandError),
    #[error("the command made no program {}", path.display())]
    NoProgram { path: PathBuf },
    #[error("the new program does not start: {0}")]
    DoesNotStart(CommandError),
    #[error("the database could not be copied: {0}")]
    Backup(#[from] BackupError),
    #[error("{what}: {source}")]
    Io { what: String, source: io::Error },
    #[error("a step came too early")]
    TooEarly,
}

fn failed<'a>(what: impl ToString + 'a) -> impl FnOnce(io::Error) -> StepError + 'a {
    move |source| StepError::Io {
        what: what.to_string(),
        source,
    }
}

/// What steps work with.
#[derive(Debug, Clone)]
pub(super) struct Workshop {
    pub(super) config: Arc<DeployConfig>,
    pub(super) store: Store,
    pub(super) runner: Runner,
    pub(super) now: Timestamp,
}

impl Workshop {
    /// Takes a step.
    pub(super) async fn take(&self, order: &Order) -> Result<Found, StepError> {
        let commands = &self.config.commands;
        match order.step {
            Step::Git => self.check_out(order).await,
            Step::Apk => self.optional("apk", commands.apk.as_deref(), order).await,
            Step::Exe => self.optional("exe", commands.exe.as_deref(), order).await,
            Step::Npm => self.optional("npm", commands.npm.as_deref(), order).await,
            Step::Build => self.build(order).await,
            Step::Json => self.describe(order).await,
            Step::Upload => self.publish(order).await,
            Step::Relay => {
                self.optional("relay", commands.relay.as_deref(), order)
                    .await
            }
            Step::Copy => self.switch(order).await,
        }
    }

    async fn say(&self, text: String) {
        // Whoever reads the lines ends with us.
        let _ = self.runner.lines.send(text).await;
    }

    fn tree(&self) -> PathBuf {
        self.config.folder.join("tree")
    }

    async fn check_out(&self, order: &Order) -> Result<Found, StepError> {
        let repository = self.config.repository.as_deref();
        let tree = self.tree();
        // A build that somebody made by hand may be of no commit.
        let is_hash = |commit: &&str| commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        let running = self.config.running.commit.as_deref().filter(is_hash);
        let source = Source {
            repository: repository.ok_or(StepError::NotConfigured)?,
            branch: &self.config.branch,
            remote: self.config.remote.as_deref(),
            tree: &tree,
            running: running.filter(|_| !self.config.allow_older),
        };
        let wanted = order.commit.as_deref();
        let commit = source.check_out(&self.runner, order.role, wanted).await?;
        self.say(format!("at {commit}")).await;
        Ok(Found::Commit(commit))
    }

    /// A step that the configuration may leave out.
    async fn optional(
        &self,
        name: &str,
        command: Option<&str>,
        order: &Order,
    ) -> Result<Found, StepError> {
        match command {
            Some(command) => self.shell(name, command, order).await?,
            None => self.say(format!("{name}: not configured")).await,
        }
        Ok(Found::Nothing)
    }

    async fn shell(&self, name: &str, command: &str, order: &Order) -> Result<(), StepError> {
        self.say(format!("$ {command}")).await;
        let spec = Spec {
            name: name.to_owned(),
            words: ["sh", "-c", command].map(OsString::from).into(),
            folder: self.tree(),
            environment: self.environment(order)?,
        };
        Ok(self.runner.run(spec).await?)
    }

    fn environment(&self, order: &Order) -> Result<Vec<(&'static str, OsString)>, StepError> {
        let out = self.out(order)?;
        let text = |text: Option<&str>| OsString::from(text.unwrap_or_default());
        Ok(vec![
            ("ESTELLE_DEPLOY_COMMIT", text(order.commit.as_deref())),
            ("ESTELLE_DEPLOY_BUILD_TIME", order.build_time.clone().into()),
            (
                "ESTELLE_DEPLOY_MANIFEST_FILE",
                out.join(release::FILE).into(),
            ),
            ("ESTELLE_DEPLOY_OUT", out.into()),
            ("CARGO_TARGET_DIR", self.config.folder.join("target").into()),
        ])
    }

    /// The folder of the build.
    fn out(&self, order: &Order) -> Result<PathBuf, StepError> {
        let commit = order.commit.as_deref().ok_or(StepError::TooEarly)?;
        let short = commit.get(..12).unwrap_or(commit);
        let name = format!("{short}-{}", order.build_time);
        Ok(self.config.builds().join(name))
    }

    async fn build(&self, order: &Order) -> Result<Found, StepError> {
        let out = self.out(order)?;
        let shown = out.display();
        std::fs::create_dir_all(&out).map_err(failed(&shown))?;
        self.shell("build", &self.config.commands.build, order)
            .await?;
        let program = out.join(PROGRAM);
        if !program.is_file() {
            return Err(StepError::NoProgram { path: program });
        }
        self.try_out(&program).await?;
        Ok(Found::Nothing)
    }

    /// Lets the new program start with a copy of what it will work with.
    async fn try_out(&self, program: &Path) -> Result<(), StepError> {
        let place = self.config.folder.join("trial");
        remove(&place).map_err(failed("the folder of the trial"))?;
        std::fs::create_dir_all(&place).map_err(failed("the folder of the trial"))?;
        let copy = place.join(crate::store::DATABASE);
        self.store.backup(copy).await?;
        let mut words = vec![program.into()];
        words.extend(self.config.trial.iter().cloned());
        words.push(place.clone().into());
        let spec = Spec {
            name: "trial".to_owned(),
            words,
            folder: self.config.folder.clone(),
            environment: Vec::new(),
        };
        let tried = self.runner.run(spec).await;
        remove(&place).map_err(failed("the folder of the trial"))?;
        tried.map_err(|error| {
            if matches!(error, CommandError::Cancelled) {
                StepError::Command(error)
            } else {
                StepError::DoesNotStart(error)
            }
        })
    }

    /// Writes down what was built, and looks at what is published.
    async fn describe(&self, order: &Order) -> Result<Found, StepError> {
        match Release::load(&self.config.releases.place).await {
            Ok(now) => {
                let (version, commit) = (now.version, now.commit);
                let shown = |text: Option<String>| text.unwrap_or_else(|| "unknown".to_owned());
                let text = format!("published now: {} ({})", shown(version), shown(commit));
                self.say(text).await;
            }
            Err(error) => self.say(format!("published now: {error}")).await,
        }
        let out = self.out(order)?;
        let build = Build {
            commit: order.commit.clone().ok_or(StepError::TooEarly)?,
            version: self.version(&out).await?,
            build_time: order.build_time.clone(),
        };
        let release = Release {
            commit: Some(build.commit.clone()),
            version: Some(build.version.clone()),
            build_time: Some(build.build_time.clone()),
            deployed_at: None,
        };
        let file = out.join(release::FILE);
        release.store(&file).map_err(failed(file.display()))?;
        Ok(Found::Build(build))
    }

    /// What the build says in the file `version`, or what its program says.
    async fn version(&self, out: &Path) -> Result<String, StepError> {
        let written = std::fs::read_to_string(out.join("version")).unwrap_or_default();
        let written = written.lines().next().unwrap_or_default().trim();
        if !written.is_empty() {
            return Ok(written.chars().take(64).collect());
        }
        let spec = Spec {
            name: "--version".to_owned(),
            words: vec![out.join(PROGRAM).into(), "--version".into()],
            folder: out.to_owned(),
            environment: Vec::new(),
        };
        let said = self.runner.capture(spec).await?;
        let version = said.split_whitespace().last().unwrap_or("unknown");
        Ok(version.chars().take(64).collect())
    }

    async fn publish(&self, order: &Order) -> Result<Found, StepError> {
        let build = order.build.as_ref().ok_or(StepError::TooEarly)?;
        let release = Release {
            commit: Some(build.commit.clone()),
            version: Some(build.version.clone()),
            build_time: Some(build.build_time.clone()),
            deployed_at: Some(IsoTime::from(self.now).as_str().to_owned()),
        };
        let own = self.out(order)?.join(release::FILE);
        release.store(&own).map_err(failed(own.display()))?;
        if let Some(command) = self.config.commands.upload.as_deref() {
            self.shell("upload", command, order).await?;
        }
        match &self.config.releases.place {
            Place::File(file) => {
                let before = match std::fs::read(file) {
                    Ok(before) => before,
                    Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
                    // What cannot be read could not be put back.
                    Err(error) => return Err(failed(file.display())(error)),
                };
                let aside = self.config.folder.join(PUBLISHED);
                replace(&aside, &before).map_err(failed(aside.display()))?;
                release.store(file).map_err(failed(file.display()))?;
                self.say(format!("published {}", file.display())).await;
            }
            Place::Url(_) if self.config.commands.upload.is_some() => {}
            Place::Url(_) => self.say("upload: not configured".to_owned()).await,
        }
        Ok(Found::Nothing)
    }

    async fn switch(&self, order: &Order) -> Result<Found, StepError> {
        let build = order.build.as_ref().ok_or(StepError::TooEarly)?;
        let (config, program) = (&self.config, &self.config.program);
        let to = self.out(order)?.join(PROGRAM);
        if !to.is_file() {
            return Err(StepError::NoProgram { path: to });
        }
        let database = config.folder.join("before.db");
        remove(&database).map_err(failed(database.display()))?;
        self.store.backup(database.clone()).await?;
        let before = config.builds().join(format!("before-{}", order.build_time));
        let from = former(program, &before).map_err(failed(program.display()))?;
        let note = Succession {
            program: program.clone(),
            from,
            to,
            commit: build.commit.clone(),
            database,
            attempts: 0,
            failure: None,
        };
        note.store(&config.folder).map_err(failed("the note"))?;
        note.switch().map_err(failed(program.display()))?;
        let text = format!("{} is {} now", program.display(), note.to.display());
        self.say(text).await;
        Ok(Found::Nothing)
    }
}

/// Puts back what the last stage has changed.
pub(super) fn undo(config: &DeployConfig) -> io::Result<()> {
    if let Some(note) = Succession::load(&config.folder)? {
        note.switch_back()?;
        Succession::remove(&config.folder)?;
    }
    let aside = config.folder.join(PUBLISHED);
    let before = match std::fs::read(&aside) {
        Ok(before) => before,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if let Place::File(file) = &config.releases.place {
        if before.is_empty() {
            remove(file)?;
        } else {
            replace(file, &before)?;
        }
    }
    remove(&aside)
}

/// The release that was put aside is not needed any more.
pub(super) fn settle(config: &DeployConfig) -> io::Result<()> {
    remove(&config.folder.join(PUBLISHED))
}

/// Removes a file or a folder, if it is there.
fn remove(path: &Path) -> io::Result<()> {
    let removed = if path.is_dir() {
        std::fs::remove_dir_all(path)
    } else {
        std::fs::remove_file(path)
    };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// A time as `YYYYMMDDHHmmss`.
pub(super) fn compact(at: Timestamp) -> String {
    let text = IsoTime::from(at);
    let digits = text.as_str().chars().filter(char::is_ascii_digit);
    digits.take(14).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_time_has_fourteen_digits() {
        assert_eq!(compact(Timestamp(1_769_335_200_000)), "20260125100000");
    }
}
